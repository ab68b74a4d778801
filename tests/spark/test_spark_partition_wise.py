"""Bucketed tables of Spark's own: what DPP013 says of a join is what Spark's plan shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from sqlrewrite import Catalog
from sqlrewrite.linting.linter import lint

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

DDL = tuple(
    f"CREATE TABLE buckets_{name} (k INT, j INT, b BIGINT, p INT) USING parquet "
    f"PARTITIONED BY (p) CLUSTERED BY ({columns}) INTO {count} BUCKETS"
    for name, columns, count in (
        ("k8", "k", 8),
        ("l8", "k", 8),
        ("k4", "k", 4),
        ("k1", "k", 1),
        ("b8", "b", 8),
        ("kj", "k, j", 8),
        ("jk", "j, k", 8),
    )
)
ON = {
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.sources.bucketing.autoBucketedScan.enabled": "true",
}


@pytest.fixture(scope="module")
def bucketed(spark: SparkSession) -> Iterator[SparkSession]:
    """The tables, each with a row, so that Spark does not see that they are empty."""
    before = {key: str(spark.conf.get(key)) for key in ON}
    for key, value in ON.items():
        spark.conf.set(key, value)
    for statement in DDL:
        name = statement.split()[2]
        spark.sql(f"DROP TABLE IF EXISTS {name}")
        spark.sql(statement)
        spark.sql(f"INSERT INTO {name} VALUES (1, 1, 1, 1)")
    yield spark
    for statement in DDL:
        spark.sql(f"DROP TABLE {statement.split()[2]}")
    for key, value in before.items():
        spark.conf.set(key, value)


@pytest.mark.turns(3)
@pytest.mark.parametrize(
    ("tables", "on", "is_exchanged"),
    [
        ("k8 x JOIN l8 y", "x.k = y.k", "never"),
        ("kj x JOIN kj y", "x.k = y.k AND x.j = y.j", "never"),
        ("k8 x LEFT ANTI JOIN l8 y", "x.k = y.k AND x.p = y.p", "without the settings"),
        ("k8 x FULL JOIN l8 y", "x.k = y.k AND x.j = y.j", "without the settings"),
        ("k8 x JOIN k4 y", "x.k = y.k", "without the settings"),
        ("k4 x LEFT JOIN k8 y", "x.k = y.k AND x.j = y.j", "always"),
        ("k8 x JOIN k1 y", "x.k = y.k", "always"),
        ("kj x JOIN kj y", "x.k = y.k", "always"),
        ("kj x JOIN jk y", "x.k = y.k AND x.j = y.j", "always"),
        ("k8 x JOIN b8 y", "x.k = y.b", "always"),
    ],
)
def test_the_exchange_falls_away_with_what_is_said(
    tables: str, on: str, is_exchanged: str, bucketed: SparkSession
) -> None:
    """Settings are said where there is an exchange without them, and none with them."""
    one, _, rest = tables.partition(" ")
    text = f"SELECT * FROM buckets_{one} {rest.replace('JOIN ', 'JOIN buckets_')} ON {on}"
    findings, failures = lint(text, Catalog.from_ddl(";\n".join(DDL)))
    assert failures == ()
    helps = [finding.help for finding in findings if finding.code == "DPP013"]
    settings = [part for help in helps for part in help.split("; ") if part.startswith("SET ")]
    assert bool(settings) == (is_exchanged == "without the settings")
    assert bool(_exchanges(bucketed, text)) == (is_exchanged != "never")
    try:
        for setting in settings:
            bucketed.sql(setting)
        assert bool(_exchanges(bucketed, text)) == (is_exchanged == "always")
    finally:
        for name in settings:
            bucketed.conf.unset(name.split()[1])


def _exchanges(spark: SparkSession, text: str) -> int:
    plan = str(spark.sql(f"EXPLAIN {text}").collect()[0][0])
    return plan.count("Exchange hashpartitioning")
