"""Statements that only Spark and Hive write: each answers on Spark what it did before, whatever was
inserted, and is rewritten where ``statements.sql`` says so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sqlrewrite import Catalog, rewrite

from .harness import answer, differ, laid, texts_of, understands

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.long]

DDL = """
CREATE TABLE f (p INT, x INT, s STRING) USING parquet PARTITIONED BY (p);
CREATE TABLE g (p INT, y INT) USING parquet PARTITIONED BY (p);
CREATE TABLE one (a INT) USING parquet;
CREATE TABLE d (k INT, c STRING) USING parquet;
"""
ROWS = {
    "f": "(1, 10, 'x'), (2, 20, 'y'), (2, 30, 'y'), (9, 90, 'z'), (NULL, 5, 'n') AS f(p, x, s)",
    "g": "(1, 100), (2, 200), (9, 900) AS g(p, y)",
    "one": "(1) AS one(a)",
    "d": "(1, 'a'), (1, 'a'), (2, 'b'), (90, 'a'), (NULL, 'a') AS d(k, c)",
}

CATALOG = Catalog.from_ddl(DDL)

STATEMENTS = Path(__file__).with_name("statements.sql")


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> Iterator[SparkSession]:
    with laid(spark, ROWS) as laid_out:
        laid_out.sql("CREATE DATABASE IF NOT EXISTS statements")
        yield laid_out
        laid_out.sql("DROP DATABASE statements CASCADE")


@pytest.mark.turns(3)
@pytest.mark.parametrize("text", texts_of(STATEMENTS, "rewritten"))
def test_it_is_rewritten_and_answers_the_same(session: Any, text: str) -> None:
    result = rewrite(text, CATALOG)
    assert result.changed
    before = answer(session, text)
    assert not before.error
    assert differ(before, answer(session, result.sql)) == ""


@pytest.mark.parametrize("text", texts_of(STATEMENTS, "left alone"))
def test_it_is_left_alone(session: Any, text: str) -> None:
    assert understands(session, text) == ""
    result = rewrite(text, CATALOG)
    assert not result.changed
    assert not result.errors
    assert result.skipped or result.candidates


@pytest.mark.turns(3)
@pytest.mark.parametrize("text", texts_of(STATEMENTS, "inserts"))
def test_the_same_rows_are_inserted(session: SparkSession, text: str) -> None:
    result = rewrite(text, CATALOG)
    rows: list[list[Counter[Any]]] = []
    for sql in (text, result.sql):
        for table, partitions in (("statements.one", ""), ("statements.two", "PARTITIONED BY (n)")):
            session.sql(f"DROP TABLE IF EXISTS {table}")
            columns = "a INT, n INT" if partitions else "a INT"
            session.sql(f"CREATE TABLE {table} ({columns}) USING parquet {partitions}")
        session.sql(sql)
        rows.append(
            [Counter(session.table(f"statements.{name}").collect()) for name in ("one", "two")]
        )
    assert result.changed
    assert rows[0] == rows[1]
    assert any(rows[0])
