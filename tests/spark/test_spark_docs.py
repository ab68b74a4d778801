"""docs/soundness.md, "The fourteen kinds", on Spark: what it calls unsound is so, and a neighbour
that is rewritten gives the same rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlrewrite import Catalog, rewrite
from tests.test_docs import block, kinds

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.long]

ANSI = "spark.sql.ansi.enabled"


@pytest.fixture(scope="module")
def views(spark: SparkSession) -> SparkSession:
    if spark.version < "4":
        pytest.skip("the counter-examples are those of Spark 4")
    own = spark.newSession()
    for statement in block("rows").split(";"):
        if statement.strip():
            own.sql(statement)
    return own


def _rows(spark: SparkSession, sql: str) -> list[str]:
    """The rows in some order, or the class of the error."""
    from pyspark.errors import PySparkException

    try:
        return sorted(map(repr, spark.sql(sql).collect()))
    except PySparkException as error:
        return [type(error).__name__]


@pytest.mark.parametrize(
    "examples", [pytest.param(examples, id=f"{number}") for number, _, examples in kinds()]
)
def test_the_examples_of_a_kind_lose_rows_or_keep_them(
    views: SparkSession, examples: dict[str, str]
) -> None:
    neighbour = examples["neighbour"]
    after = rewrite(neighbour, Catalog.from_ddl(block("tables"))).sql
    assert _rows(views, after) == _rows(views, neighbour) != []
    for kind, unsound in examples.items():
        if not kind.startswith("unsound"):
            continue
        views.conf.set(ANSI, "ansi=false" not in kind)
        assert _rows(views, unsound) != _rows(views, examples["counter-example"])
