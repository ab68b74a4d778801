"""The names and types of the columns that a query returns."""
