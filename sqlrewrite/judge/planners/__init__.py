"""What each engine prunes by itself (the table is in ``benefit/missed_by_engine.py``)."""
