"""Spark's plans of a query before and after: ``explain --spark``, and ``--when missed``."""
