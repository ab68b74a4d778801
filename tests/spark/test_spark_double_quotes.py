"""Text in double quotes under both settings of Spark: what is written is right, whichever holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from sqlrewrite import Catalog, rewrite

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

DDL = """
CREATE TABLE fq (p INT, x STRING) USING parquet PARTITIONED BY (p);
CREATE TABLE dq (k INT, c STRING, e STRING) USING parquet;
"""
VIEWS = (
    "CREATE OR REPLACE TEMPORARY VIEW fq AS SELECT * FROM VALUES "
    "(1, 'x'), (2, 'a'), (3, 'x'), (4, 'z') AS v(p, x)",
    "CREATE OR REPLACE TEMPORARY VIEW dq AS SELECT * FROM VALUES "
    "(1, 'x', 'a'), (2, 'x', 'a'), (3, 'a', 'a'), (4, 'z', 'x'), (9, 'a', 'x') AS v(k, c, e)",
)
SETTINGS = ("spark.sql.ansi.doubleQuotedIdentifiers", "spark.sql.ansi.enabled")

JOINED = "SELECT fq.p, fq.x FROM fq JOIN dq ON fq.p = dq.k WHERE "
REWRITTEN = [
    JOINED + "dq.c = \"x\" AND dq.e = 'a'",
    JOINED + "dq.e IN ('a', 'b') AND (dq.c = \"e\" OR fq.x = \"c\")",
    "SELECT coalesce(fq.x, \"x\") AS y FROM fq JOIN dq ON fq.p = dq.k WHERE dq.e = 'a'",
    'SELECT q.p FROM (SELECT p, x FROM fq WHERE x = "x") q JOIN dq ON q.p = dq.k '
    "WHERE dq.e = 'a'",
]
LEFT_ALONE = [
    JOINED + 'dq.c = "x"',
    JOINED + 'dq.c IS DISTINCT FROM "x"',
    JOINED + 'dq.k IN (SELECT g.k FROM dq g WHERE g.c = "e")',
]


@contextmanager
def _names(spark: SparkSession, on: bool) -> Iterator[None]:
    before = {name: str(spark.conf.get(name)) for name in SETTINGS}
    for name, value in zip(SETTINGS, (on, True), strict=True):
        spark.conf.set(name, str(value).lower())
    try:
        yield
    finally:
        for name, earlier in before.items():
            spark.conf.set(name, earlier)


def _rows(spark: SparkSession, sql: str, on: bool) -> list[tuple[object, ...]]:
    with _names(spark, on):
        return sorted((tuple(row) for row in spark.sql(sql).collect()), key=str)


@pytest.fixture
def tables(spark: SparkSession) -> Iterator[SparkSession]:
    for view in VIEWS:
        spark.sql(view)
    yield spark
    for name in ("fq", "dq"):
        spark.catalog.dropTempView(name)


def test_the_same_rows_under_both_settings(tables: SparkSession) -> None:
    catalog = Catalog.from_ddl(DDL)
    for sql in REWRITTEN:
        result = rewrite(sql, catalog)
        assert result.changed, sql
        for on in (False, True):
            assert _rows(tables, result.sql, on) == _rows(tables, sql, on), (sql, on)


def test_what_is_left_alone_would_lose_rows(tables: SparkSession) -> None:
    catalog = Catalog.from_ddl(DDL)
    assert not any(rewrite(sql, catalog).changed for sql in LEFT_ALONE)
    repeated = LEFT_ALONE[0] + ' AND fq.p IN (SELECT k FROM dq WHERE c = "x")'
    assert _rows(tables, repeated, False) == _rows(tables, LEFT_ALONE[0], False)
    misread = LEFT_ALONE[0] + " AND fq.p IN (SELECT k FROM dq WHERE c = 'x')"
    assert _rows(tables, misread, True) != _rows(tables, LEFT_ALONE[0], True)


def test_a_name_that_nothing_has_is_an_error_where_it_is_read_as_one(tables: SparkSession) -> None:
    sql = JOINED + 'dq.c = "winter"'
    assert rewrite(sql, Catalog.from_ddl(DDL)).changed
    with _names(tables, True), pytest.raises(Exception, match="UNRESOLVED_COLUMN"):
        tables.sql(sql)
