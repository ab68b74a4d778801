"""Partition-wise joins: whether an engine does them by itself, and how to write them."""
