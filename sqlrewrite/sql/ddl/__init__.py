"""Definitions: the catalog after CREATE, DROP, ALTER, USE and SET, read from tokens."""
