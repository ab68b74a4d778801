"""What each engine prunes by itself; ``benefit/missed_by_engine.py`` has the table."""
