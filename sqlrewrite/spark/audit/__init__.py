"""``audit`` on Spark: reads a history, judges each distinct shape once, and sums up the result."""
