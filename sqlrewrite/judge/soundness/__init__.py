"""The soundness rules: whether a predicate would keep the query's result."""
