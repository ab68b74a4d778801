"""What each engine prunes by itself, one module for each; ``judge.native`` has the table."""
