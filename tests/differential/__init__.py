"""Random star queries, original against rewritten, on DuckDB; ``__main__`` says how to run it."""
