"""How Spark cuts a text into tokens, by its own rules, and where sqlglot does otherwise.

``lexemes`` is the lexer: text in, stretches of text out, each with its kind. ``agreement`` lays
sqlglot's tokens against them.
"""
