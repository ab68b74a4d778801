"""What a Spark catalog says of its tables and views: ``catalog pull`` and ``catalog check``."""
