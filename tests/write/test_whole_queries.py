"""The key that is the output of an author's whole IN subquery is asked of that subquery, in each
form: an aggregate over other rows is another value. Rows are compared in DuckDB."""

from __future__ import annotations

from collections import Counter
from typing import Any

import duckdb
import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.settings.options import Keys
from tests.support.duckdb_text import as_duckdb, spark_like

DDL = """
CREATE TABLE buckets (id INT, n INT, b INT GENERATED ALWAYS AS (pmod(n, 4))) USING delta
  PARTITIONED BY (b);
CREATE TABLE events (id INT, ts TIMESTAMP, dt DATE GENERATED ALWAYS AS (CAST(ts AS DATE)))
  USING delta PARTITIONED BY (dt);
CREATE TABLE f (id INT, p INT) USING parquet PARTITIONED BY (p);
CREATE TABLE d (k INT, c STRING, at TIMESTAMP) USING parquet;
CREATE TABLE e (k INT, z STRING) USING parquet;
"""
OF_A_JOIN = "(SELECT max(d.k) FROM d JOIN e ON d.k < e.k WHERE d.c = 'a')"


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.from_ddl(DDL)


@pytest.fixture(scope="module")
def database() -> duckdb.DuckDBPyConnection:
    connection = spark_like()
    for text in (
        "CREATE TABLE buckets AS SELECT n AS id, n, n % 4 AS b FROM range(60) AS r(n)",
        "CREATE TABLE f AS SELECT n AS id, n AS p FROM range(60) AS r(n)",
        "CREATE TABLE d AS SELECT * FROM (VALUES (6, 'a'), (43, 'a'), (59, 'b')) AS v(k, c)",
        "CREATE TABLE e AS SELECT * FROM (VALUES (9, 'u'), (3, 'v')) AS v(k, z)",
    ):
        connection.execute(text)
    return connection


def _rows(database: duckdb.DuckDBPyConnection, sql: str) -> Counter[Any]:
    return Counter(database.execute(as_duckdb(sql)).fetchall())


@pytest.mark.parametrize("form", ["in", "set", "auto"])
@pytest.mark.parametrize(
    "query",
    [
        f"SELECT id FROM buckets WHERE n IN {OF_A_JOIN}",
        "SELECT id FROM buckets WHERE n IN (SELECT max(k) - 1 FROM d WHERE c = 'a')",
        "SELECT q.id FROM (SELECT id, n FROM buckets) q WHERE q.n IN (SELECT min(k) FROM d "
        "WHERE c = 'a')",
        f"SELECT id FROM f WHERE p IN {OF_A_JOIN}",
    ],
)
def test_rows_stay(
    database: duckdb.DuckDBPyConnection, catalog: Catalog, query: str, form: str
) -> None:
    result = rewrite(query, catalog, predicate=form)
    assert result.changed
    rows = _rows(database, query)
    assert rows
    assert _rows(database, result.sql) == rows


def test_constants_are_those_of_the_whole_query(
    database: duckdb.DuckDBPyConnection, catalog: Catalog
) -> None:
    def resolve(query: str, namespace: tuple[str, ...]) -> Keys:
        keys = sorted(row[0] for row in _rows(database, query))
        return Keys(tuple(map(str, keys)), "int", "2026-01-31T09:30:00Z")

    query = f"SELECT id FROM f WHERE p IN {OF_A_JOIN}"
    result = rewrite(query, catalog, predicate="values", resolve=resolve)
    assert result.changed
    assert _rows(database, result.sql) == _rows(database, query) != Counter()


def test_an_aggregate_stands_in_no_other(catalog: Catalog) -> None:
    """Nor beside the generator of the days around it: both are errors in Spark."""
    query = "SELECT id FROM events WHERE ts IN (SELECT max(at) FROM d WHERE c = 'a')"
    whole = "FROM (SELECT max(at) FROM d WHERE c = 'a') AS q(k)"
    for form in ("in", "set", "range"):
        written = rewrite(query, catalog, predicate=form).sql.removeprefix(query)
        assert whole in written
        assert written.count("max(at)") == written.count(whole)
