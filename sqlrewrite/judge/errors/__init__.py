"""Errors that a predicate might bring: what raises one, forms that do not, what Spark copies."""
