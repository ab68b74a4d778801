"""The Spark that referees is the one of the other Spark tests."""

from tests.spark.conftest import (
    its_settings_hold,
    pytest_collection_modifyitems,
    settings_kept,
    spark,
)

__all__ = ["its_settings_hold", "pytest_collection_modifyitems", "settings_kept", "spark"]
