"""Whether the pairs of a statement become predicates: rules, and what they ask (``rules.py``)."""
