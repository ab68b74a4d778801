"""Definitions: what CREATE, DROP, ALTER, USE and SET make of the catalog, read from tokens."""
