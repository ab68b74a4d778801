"""A small relational algebra of one statement, and functions that answer questions about it."""
