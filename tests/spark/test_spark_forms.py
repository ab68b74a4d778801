"""Each form and each reducer on a local Spark: the same rows, and the partitions that are read in
three settings: broadcast joins, none (large dimensions), no dynamic pruning at all.

What Spark reads by itself is in docs/spark.md; the fact has 20 partitions, the filters keep three
of them, or four by way of the neighbour.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from sqlrewrite import Catalog, rewrite
from tests.support.compare_rows import difference

from .runs import broadcast_joins, in_database, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PARTITIONS = 20

DDL = """
CREATE TABLE visits (amount INT, half INT, day INT) USING parquet PARTITIONED BY (half, day);
CREATE TABLE spans (day INT, wide BIGINT, half INT, week INT, lo INT, hi INT, open BOOLEAN,
  label STRING) USING parquet;
CREATE TABLE weeks (week INT, name STRING) USING parquet;
"""

ROWS = (
    f"INSERT INTO visits SELECT id, id % 2, id % {PARTITIONS} FROM range(0, 200, 1, 1)",
    """INSERT INTO spans SELECT id, id, id % 2, id div 4, id, id + 1, id < 3,
    CASE WHEN id < 3 THEN 'in' ELSE 'out' END FROM range(0, 23, 1, 1)""",
    "INSERT INTO spans VALUES (NULL, NULL, 1, 1, NULL, NULL, true, 'in')",
    """INSERT INTO weeks SELECT id, CASE WHEN id = 1 THEN 'easter' ELSE 'plain' END
    FROM range(0, 6, 1, 1)""",
)

BY_LABEL = "SELECT v.amount FROM visits v JOIN spans s ON v.day = s.day WHERE s.label = 'in'"
BY_WEEK = (
    "SELECT v.amount FROM visits v JOIN spans s ON v.day = s.day "
    "JOIN weeks w ON s.week = w.week WHERE w.name = 'easter'"
)
SHARED = (
    "WITH c AS (SELECT amount, day FROM visits) "
    "SELECT c.amount FROM c JOIN spans s ON c.day = s.day WHERE s.label = 'in' UNION ALL "
    "SELECT c.amount FROM c JOIN spans s ON c.day = s.day WHERE s.week = 1"
)
RANGE = (
    "SELECT v.amount FROM visits v JOIN spans s ON v.day BETWEEN s.lo AND s.hi WHERE s.label = 'in'"
)
ALL = PARTITIONS


@dataclass(frozen=True, slots=True)
class Case:
    """A query, the form, what the rewritten text holds, and the partitions that it reads with
    broadcast joins, without them, and without dynamic pruning."""

    sql: str
    form: str
    holds: str
    reads: tuple[int, int, int]


CASES = {
    "in": Case(BY_LABEL, "in", "v.day IN (SELECT", (3, 3, ALL)),
    "set": Case(BY_LABEL, "set", "array_contains((SELECT collect_set(", (3, 3, 3)),
    "range": Case(BY_LABEL, "range", "v.day <= (SELECT max(", (3, 3, 3)),
    "set-wider-key": Case(
        BY_LABEL.replace("v.day = s.day", "v.day = s.wide"), "set", "collect_set(", (3, 3, 3)
    ),
    "auto-boolean": Case(
        "SELECT v.amount FROM visits v JOIN spans s ON v.day = s.day WHERE s.open",
        "auto",
        "array_contains((",
        (3, 3, 3),
    ),
    "auto": Case(BY_LABEL, "auto", "v.day IN (SELECT", (3, 3, ALL)),
    "neighbour": Case(BY_WEEK, "in", "IN (SELECT w2.week FROM weeks AS w2", (4, 4, ALL)),
    "neighbour-set": Case(BY_WEEK, "set", "collect_set(", (4, 4, 4)),
    "tuple": Case(
        "SELECT v.amount FROM visits v JOIN spans s ON v.day = s.day AND v.half = s.half "
        "WHERE s.label = 'in'",
        "in",
        "(v.day, v.half) IN (SELECT",
        (3, 3, ALL),
    ),
    "between": Case(RANGE, "in", "v.day >= (SELECT min(", (4, 4, 4)),
    "between-null-extended": Case(
        "SELECT s.lo, v.amount FROM spans s LEFT JOIN visits v ON v.day BETWEEN s.lo AND s.hi "
        "WHERE s.label = 'in'",
        "in",
        "AND v.day <= (SELECT max(",
        (4, 4, 4),
    ),
    "shared-cte": Case(SHARED, "in", "s2.label = 'in' OR s2.week = 1", (7, 7, 2 * ALL)),
    "computed-column": Case(
        BY_LABEL.replace("v.day = s.day", "coalesce(v.day, 0) = s.day"),
        "in",
        "coalesce(v.day, 0) IN (SELECT",
        (3, 3, ALL),
    ),
    "constants-below-anti-join": Case(
        "SELECT s.day FROM spans s LEFT ANTI JOIN visits v ON v.day = s.day AND v.amount = 181 "
        "WHERE s.day IN (1, 2)",
        "in",
        "v.day IN (1, 2)",
        (2, 2, 2),
    ),
}


@pytest.fixture(scope="module")
def visits(spark: SparkSession) -> Iterator[SparkSession]:
    with in_database(spark, "forms", (*DDL.split(";")[:-1], *ROWS)):
        yield spark


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.from_ddl(DDL)


@contextmanager
def no_dynamic_pruning(spark: SparkSession) -> Iterator[None]:
    name = "spark.sql.optimizer.dynamicPartitionPruning.enabled"
    spark.conf.set(name, "false")
    try:
        yield
    finally:
        spark.conf.unset(name)


@pytest.mark.turns(3)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_form_keeps_rows_and_reads_less(
    visits: SparkSession, catalog: Catalog, case: Case
) -> None:
    sql = rewrite(case.sql, catalog, predicate=case.form).sql
    assert case.holds in sql
    visits.sql("USE forms")
    settings = (
        broadcast_joins(visits, True),
        broadcast_joins(visits, False),
        no_dynamic_pruning(visits),
    )
    before = run(visits, case.sql)
    assert before.rows
    reads: list[int] = []
    for setting in settings:
        with setting:
            after = run(visits, sql)
        assert difference(before.rows, after.rows) is None
        reads.append(after.partitions("visits"))
    assert tuple(reads) == case.reads


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT v.amount FROM visits v JOIN (SELECT max(day) AS m FROM spans WHERE open) s "
        "ON v.day = s.m",
        "SELECT amount FROM visits WHERE day IN (SELECT DISTINCT day FROM spans ORDER BY day "
        "LIMIT 3)",
        "SELECT amount FROM visits WHERE day IN (SELECT max(day) FROM spans WHERE day > 100)",
    ],
)
def test_the_hinted_in_of_one_or_a_few_keys(visits: SparkSession, sql: str) -> None:
    """What is written for Iceberg before Spark 4.3 gives the same rows; what it reads there is
    counted by ``tests/formats``."""
    lake = Catalog.from_ddl(DDL.replace("USING parquet", "USING iceberg"))
    rewritten = rewrite(sql, lake, spark_version="4.1").sql
    assert "IN (SELECT /*+ BROADCAST(q) */ q.k FROM (SELECT " in rewritten
    visits.sql("USE forms")
    before = run(visits, sql)
    for on in (True, False):
        with broadcast_joins(visits, on):
            assert difference(before.rows, run(visits, rewritten).rows) is None


def test_a_table_of_one_row_that_gets_more(visits: SparkSession, catalog: Catalog) -> None:
    visits.sql("USE forms")
    creation = "CREATE TABLE newest USING parquet AS SELECT max(day) AS m FROM spans WHERE open"
    for on, partitions in (("v.day = n.m", (1, 2)), ("v.day >= n.m", (18, 19))):
        sql = f"SELECT v.amount FROM visits v JOIN newest n ON {on}"
        rewritten = rewrite(f"{creation};\n{sql}", catalog).sql
        assert rewritten.startswith(f"{creation};\n{sql} WHERE ")
        visits.sql(creation)
        try:
            for count in partitions:
                before, after = run(visits, sql), run(visits, rewritten.partition(";\n")[2])
                assert difference(before.rows, after.rows) is None
                assert after.partitions("visits") == count
                visits.sql("INSERT INTO newest VALUES (1), (NULL)")  # by another session
        finally:
            visits.sql("DROP TABLE newest")
