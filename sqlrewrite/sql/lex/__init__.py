"""How Spark cuts a text into lexemes, by its own rules, and what sqlglot's parser gets of them."""
