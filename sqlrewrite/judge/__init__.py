"""The rules that decide whether a pair becomes a predicate (``rules.py``)."""
