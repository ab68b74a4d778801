"""Names and types of what a query returns, as Spark's analyzer gives them: ``query_output`` reads a
text by ``syntax`` and gives its tree to ``queries``, which asks the modules beside it."""
