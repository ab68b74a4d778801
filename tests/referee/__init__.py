"""Our reading of SQL against Spark itself, which decides."""
