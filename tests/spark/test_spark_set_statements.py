"""What SET and RESET of one setting, or of all, change for the query behind them, on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.referee.harness import spark_since
from tests.support.set_statements import SET_TEXTS, SetText

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def _type(session: SparkSession, it: SetText) -> str | None:
    """The type of the query's column in a session of its own; None where Spark refuses."""
    from pyspark.errors import PySparkException

    own = session.newSession()
    own.conf.set("spark.sql.ansi.enabled", "true")
    own.sql("CREATE TEMPORARY VIEW sales AS SELECT 1 AS day")
    try:
        for statement in it.text.split("; "):
            own.sql(statement)
        return own.sql(it.query).schema["x"].dataType.simpleString()
    except PySparkException:
        return None


@pytest.mark.parametrize("it", SET_TEXTS, ids=lambda it: it.text)
def test_a_query_has_the_type_that_outputs_gives(spark: SparkSession, it: SetText) -> None:
    assert _type(spark, it) == (it.type if spark_since("4.0") else it.older or it.type)
