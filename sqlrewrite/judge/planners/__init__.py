"""What each engine prunes by itself, a module an engine; ``judge.native`` has the table."""
