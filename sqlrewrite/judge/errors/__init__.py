"""Errors that a predicate might add: what can raise one, forms that raise none, what Spark
copies."""
