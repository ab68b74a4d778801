"""Facts about expressions and columns, as Spark's analyzer sees them."""
