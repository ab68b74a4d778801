"""``enable(spark)``: rewrites the queries of a running session (docs/pipeline.md)."""
