"""A small relational algebra over one statement, and what can be read off it."""
