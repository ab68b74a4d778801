"""The rows of a query before and after, compared: ``verify``."""
