"""Soundness rules that DuckDB cannot show to be needed, as it compares otherwise than Spark."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from sqlrewrite import Catalog, rewrite
from tests.support.rule_witnesses import DDL, IN_OF_AN_OUTER_JOIN, TEXT_AGAINST_NUMBER

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ROWS = (
    ("facts", "p, v", "(1, 10), (2, 20), (3, 30), (NULL, 50)"),
    ("texts", "p, v", "('1', 10), ('01', 20), ('2', 30)"),
    ("dim", "k, x, label", "(1, 1, '7'), (2, 2, 'none'), (3, 1, '8')"),
    ("other", "v, name", "(1, 'one'), (3, 'three')"),
)


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    """A session of its own, over the rows of the named cases."""
    own = spark.newSession()
    own.conf.set("spark.sql.ansi.enabled", "false")
    for name, columns, rows in ROWS:
        own.sql(f"SELECT * FROM VALUES {rows} AS t({columns})").createOrReplaceTempView(name)
    return own


@pytest.mark.parametrize(
    ("sql", "code", "also"),
    [
        pytest.param(TEXT_AGAINST_NUMBER, "DPP112", (), id="DPP112: text against a number"),
        pytest.param(
            IN_OF_AN_OUTER_JOIN, "DPP101", ("DPP122",), id="DPP101: in (not required), outside"
        ),
    ],
)
def test_switched_off_a_named_case_goes_wrong(
    session: SparkSession, sql: str, code: str, also: tuple[str, ...]
) -> None:
    def rows(text: str) -> Counter[tuple[Any, ...]]:
        return Counter(map(tuple, session.sql(text).collect()))

    catalog = Catalog.from_ddl(DDL)
    off = rewrite(sql, catalog, disabled=frozenset({code, *also}))
    assert off.changed, [candidate.reason for candidate in off.candidates]
    assert rows(off.sql) != rows(sql)
    assert rows(rewrite(sql, catalog, disabled=frozenset(also)).sql) == rows(sql)


BELOW = (
    "SELECT f.v FROM (SELECT make_date(2024, p, 31) AS q, v FROM parted WHERE v > 10) f "
    "JOIN days d ON f.q = d.day WHERE d.x = 1"
)


def test_what_is_computed_below_the_join_could_fail_for_a_partition(
    spark: SparkSession, tmp_path: Path
) -> None:
    """DPP103: Spark computes it once a partition, also for one of which no row is asked."""
    own = spark.newSession()
    own.conf.set("spark.sql.ansi.enabled", "true")
    own.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    own.conf.set("spark.sql.constraintPropagation.enabled", "false")  # which asks for it, too
    own.sql("SELECT * FROM VALUES (1, 20), (2, 10) AS t(p, v)").write.partitionBy("p").parquet(
        str(tmp_path / "parted")
    )
    own.read.parquet(str(tmp_path / "parted")).createOrReplaceTempView("parted")
    days = "VALUES (DATE '2024-01-31', 1), (DATE '2024-03-31', 1), (DATE '2024-05-31', 2) v(day, x)"
    own.sql(f"SELECT * FROM {days}").write.parquet(str(tmp_path / "days"))
    own.read.parquet(str(tmp_path / "days")).createOrReplaceTempView("days")
    ddl = (
        "CREATE TABLE parted (v INT, p INT) USING parquet PARTITIONED BY (p);"
        "CREATE TABLE days (day DATE, x INT) USING parquet"
    )
    catalog = Catalog.from_ddl(ddl)
    assert own.sql(BELOW).collect() == own.sql(rewrite(BELOW, catalog).sql).collect() != []
    off = rewrite(BELOW, catalog, disabled=frozenset({"DPP103"}))
    with pytest.raises(Exception, match=r"DATETIME_FIELD_OUT_OF_BOUNDS|Invalid date"):
        own.sql(off.sql).collect()
