"""Names and types of what a query returns, read by Spark's own grammar (``SqlBaseParser.g4``)."""
