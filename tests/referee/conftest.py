"""The Spark that referees is the one of the other Spark tests."""

from tests.spark.conftest import spark

__all__ = ["spark"]
