"""The only folder that knows sqlglot: text to trees, trees to plans, offsets to places."""
