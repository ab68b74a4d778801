"""Spark's grammar of queries: a text to the tree of what its author wrote."""
