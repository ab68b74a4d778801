"""Keys computed from integers: what the predicate computes is what the join did, at both ends of
the range, with an error on overflow and without."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.warehouse import Column, PartitionField, Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.long,
    pytest.mark.usefixtures("settings_kept"),
]

LEAST, MOST = -(2**31), 2**31 - 1
KEYS = (LEAST, LEAST + 1, -2, -1, 0, 1, 1 << 16, MOST - 1, MOST)
EXPRESSIONS = (
    "{} + 3",
    "3 - {}",
    "- {}",
    "{} * 65536",
    "2 * ({} - -2)",
    "{} - 2147483647 - 2",
    "{} + 1 + 2147483647",
    "{} * {}",
)
SCHEMA = "computed_keys"


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[tuple[SparkSession, Catalog]]:
    """A partitioned fact and a dimension, as files: over VALUES Spark computes in its own way."""
    spark.conf.set("spark.sql.ansi.enabled", "false")
    spark.sql(f"CREATE DATABASE IF NOT EXISTS {SCHEMA}")
    spark.sql(f"USE {SCHEMA}")
    for name in ("f", "d"):
        spark.sql(f"DROP TABLE IF EXISTS {name}")
    keys = ", ".join(f"({key}, {number % 2})" for number, key in enumerate(KEYS))
    view = f"VALUES {keys} t(k, y)"
    spark.sql(f"CREATE TABLE d USING parquet AS SELECT /*+ COALESCE(1) */ * FROM {view}")
    images = " UNION ".join(
        f"SELECT {expression.replace('{}', 'k')} AS p FROM d" for expression in EXPRESSIONS
    )
    spark.sql(
        "CREATE TABLE f USING parquet PARTITIONED BY (p) AS"
        f" SELECT /*+ REPARTITION(1) */ 1 AS id, p FROM (SELECT k AS p FROM d UNION {images})"
    )
    names = {name: ("spark_catalog", SCHEMA, name) for name in ("f", "d")}
    fact = Table(names["f"], (Column("id", "int"), Column("p", "int")), (PartitionField("p"),))
    dimension = Table(names["d"], (Column("k", "int"), Column("y", "int")))
    catalog = (
        Catalog(namespace=("spark_catalog", SCHEMA)).with_relation(fact).with_relation(dimension)
    )
    yield spark, catalog
    spark.sql("USE default")
    spark.sql(f"DROP DATABASE {SCHEMA} CASCADE")


@pytest.mark.parametrize(("form", "of_fact"), [("in", False), ("set", True)])
def test_without_ansi_mode_the_sum_wraps_around_in_both(
    tables: tuple[SparkSession, Catalog], form: str, of_fact: bool
) -> None:
    spark, catalog = tables
    spark.conf.set("spark.sql.ansi.enabled", "false")
    texts = [_query(expression, of_fact) for expression in EXPRESSIONS]
    results = [rewrite(text, catalog, predicate=form) for text in texts]
    assert all(result.changed for result in results)
    assert _rows(spark, [result.sql for result in results]) == _rows(spark, texts)


@pytest.mark.parametrize("of_fact", [False, True])
def test_in_ansi_mode_the_predicate_raises_no_error(
    tables: tuple[SparkSession, Catalog], of_fact: bool
) -> None:
    """The join is left out here: the predicate alone computes every key and every partition."""
    spark, catalog = tables
    spark.conf.set("spark.sql.ansi.enabled", "true")
    keys = {row.k for row in spark.sql("SELECT k FROM d WHERE y = 1").collect()}
    partitions = {row.p for row in spark.sql("SELECT p FROM f").collect()}
    texts = [_query(expression, of_fact) for expression in EXPRESSIONS]
    alone = [
        rewrite(text, catalog, predicate="set").sql.removeprefix(f"{text} AND ") for text in texts
    ]
    rows = _rows(spark, [f"SELECT f.p FROM f WHERE {predicate}" for predicate in alone])
    for number, expression in enumerate(EXPRESSIONS):
        if of_fact:
            expected = {p for p in partitions if _value(expression, p) in keys}
        else:
            expected = {value for key in keys if _fits(value := _value(expression, key))}
        assert {(number, p) for p in expected} <= {*rows}, expression


def _rows(spark: SparkSession, texts: list[str]) -> list[tuple[int, ...]]:
    """The rows of all queries, each behind the number of its query, in order."""
    parts = [f"SELECT {number} AS n, q.* FROM ({text}) q" for number, text in enumerate(texts)]
    return sorted(tuple(row) for row in spark.sql(" UNION ALL ".join(parts)).collect())


def _query(expression: str, of_fact: bool) -> str:
    one, other = ("f.p", "d.k") if of_fact else ("d.k", "f.p")
    computed = expression.replace("{}", one)
    return f"SELECT f.p, d.k FROM f JOIN d ON {other} = {computed} WHERE d.y = 1"


def _value(expression: str, key: int) -> int:
    value = eval(expression.replace("{}", f"({key})"))
    assert isinstance(value, int)
    return value


def _fits(value: int) -> bool:
    return LEAST <= value <= MOST
