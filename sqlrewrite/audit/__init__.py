"""A history of queries, judged: what a text comes to, and what all of them come to together.

No Spark here: ``spark/audit.py`` brings the texts and does the counting.
"""
