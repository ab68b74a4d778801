"""The benefit rules: whether a predicate would pay."""
