"""Judges a history of queries: the verdict on each text, and the summary of all.

No Spark here: ``spark/audit/shapes.py`` brings the texts and does the counting.
"""
