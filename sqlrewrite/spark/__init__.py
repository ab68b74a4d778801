"""All that needs a Spark: the only folder that knows pyspark, which is imported when a session
starts and not before."""
