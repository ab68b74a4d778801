"""An audit of a history of queries: the judgement of one text, and the summary as plain values.

No Spark here: ``spark/audit.py`` reads histories, has Spark judge and count, and fills the summary.
"""
