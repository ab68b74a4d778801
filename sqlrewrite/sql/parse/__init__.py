"""Text to statements, and statements to trees, by a parser of Spark's grammar on sqlglot's."""
