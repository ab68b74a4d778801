"""DuckDB's dialect and engine, judged by DuckDB itself: rows, and the files that it reads."""

from __future__ import annotations

from functools import cache

import duckdb
import pytest

from sqlrewrite import Catalog, Rewrite, Verdict, rewrite
from sqlrewrite.plan.facts.functions import dialect_names
from tests.support.cases import BEYOND_DUCKDB, Case, catalog, query_cases, read, retail_cases
from tests.support.duckdb_text import as_duckdb
from tests.support.fixture_rows import database
from tests.support.render_templates import rendered
from tests.support.strip_by_markers import without_predicates
from tests.support.turns import turn

from .functions import scalars, wrong

SEEDS = (0, 1)
PORTABLE = turn(
    [
        case
        for case in (*query_cases(), *retail_cases())
        if BEYOND_DUCKDB not in read(case.sql).split("\n", 1)[0]
    ],
    3,
)
FEWEST = 140
"""So many of them are rewritten: as many as are under Spark's dialect, but for what DuckDB has no
words for (try_divide), and what it prunes by an IN without a hint."""


@cache
def _result(case: Case) -> Rewrite:
    """What becomes of a case as a text of DuckDB's."""
    return rewrite(
        as_duckdb(rendered(case.text())), catalog(case.ddl), dialect="duckdb", engine="duckdb"
    )


@pytest.mark.turns(2)
@pytest.mark.parametrize("case", PORTABLE, ids=lambda case: case.name)
def test_rows_of_a_text_of_its_own(case: Case) -> None:
    """Each fixture as a text of DuckDB's, rewritten as one: its rows stay, and a second run too."""
    result = _result(case)
    text = result.original
    assert text == as_duckdb(rendered(case.text()))
    assert without_predicates(result.sql) == without_predicates(text)
    if not result.changed:
        return
    assert (
        rewrite(result.sql, catalog(case.ddl), dialect="duckdb", engine="duckdb").sql == result.sql
    )
    for seed in SEEDS:
        try:
            before = _rows(case, text, seed)
        except duckdb.Error:
            return  # what is Spark's alone, such as `datediff`
        assert _rows(case, result.sql, seed) == before


def test_as_many_are_rewritten() -> None:
    assert sum(_result(case).changed for case in PORTABLE) >= FEWEST


def _rows(case: Case, text: str, seed: int) -> list[str]:
    return sorted(map(repr, database(case.ddl, seed).execute(text).fetchall()))


# --- what it prunes by itself ---------------------------------------------------------------------

DDL = """
CREATE TABLE f (v BIGINT, k BIGINT) PARTITIONED BY (k);
CREATE TABLE d (k BIGINT, n STRING, b BOOLEAN);
CREATE TABLE e (k BIGINT, n STRING, c BOOLEAN);
"""
FILES = 20
JOINS = (
    "SELECT * FROM f JOIN d ON f.k = d.k WHERE d.b",
    "SELECT * FROM d JOIN f ON f.k = d.k WHERE d.b",
    "SELECT * FROM f, d WHERE f.k = d.k AND d.b",
    "SELECT * FROM d LEFT JOIN f ON f.k = d.k WHERE d.b",
    "SELECT * FROM f RIGHT JOIN d ON f.k = d.k WHERE d.b",
    "SELECT * FROM f SEMI JOIN d ON f.k = d.k AND d.b",
    "SELECT * FROM f WHERE EXISTS (SELECT 1 FROM d WHERE d.k = f.k AND d.b)",
    "SELECT * FROM d WHERE d.b AND EXISTS (SELECT 1 FROM f WHERE d.k = f.k)",
    "SELECT * FROM d WHERE d.b AND d.k IN (SELECT k FROM f)",
    "SELECT * FROM (SELECT k, row_number() OVER (PARTITION BY k ORDER BY v) AS s FROM f) f"
    " JOIN d ON f.k = d.k WHERE d.b",
    "SELECT * FROM (SELECT k, v FROM f UNION ALL SELECT k, v FROM f) f"
    " JOIN d ON f.k = d.k WHERE d.b",
    "SELECT * FROM f JOIN d ON f.k = d.k JOIN e ON d.n = e.n WHERE e.c",
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    """A table of a file a partition, and two dimensions that select two of them."""
    folder = tmp_path_factory.mktemp("hive")
    connection = duckdb.connect()
    connection.execute(
        f"COPY (SELECT range AS v, range % {FILES} AS k FROM range({FILES * 10}))"
        f" TO '{folder}' (FORMAT parquet, PARTITION_BY (k))"
    )
    connection.execute(
        f"CREATE VIEW f AS FROM read_parquet('{folder}/**/*.parquet', hive_partitioning = true)"
    )
    of = f"SELECT range AS k, 'n' || range AS n, range IN (3, 5) AS {{}} FROM range({FILES})"
    connection.execute(f"CREATE TABLE d AS {of.format('b')}")
    connection.execute(f"CREATE TABLE e AS {of.format('c')}")
    return connection


def _read(connection: duckdb.DuckDBPyConnection, query: str) -> int:
    """How many files a query reads, of the scan that reads most of them."""
    rows = connection.execute(f"EXPLAIN (ANALYZE, FORMAT json) {query}").fetchall()
    counts, marked = [], '"Total Files Read":'
    for _, plan in rows:
        counts += [int(part.strip(' "').split('"')[0]) for part in plan.split(marked)[1:]]
    return max(counts)


@pytest.mark.parametrize("query", JOINS)
def test_what_is_left_to_it_it_prunes(files: duckdb.DuckDBPyConnection, query: str) -> None:
    """``--when missed`` leaves out only joins by which DuckDB reads no more files than with our
    predicate."""
    tables = Catalog.from_ddl(DDL)
    every = rewrite(query, tables, dialect="duckdb", engine="duckdb")
    missed = rewrite(query, tables, dialect="duckdb", engine="duckdb", when="missed")
    assert [candidate.verdict for candidate in every.candidates].count(Verdict.REWRITTEN)
    alone, with_ours = _read(files, query), _read(files, every.sql)
    assert with_ours == 2 or "EXISTS" in query
    if not missed.changed:
        assert alone == with_ours
    assert _sorted(files, query) == _sorted(files, every.sql)


def _sorted(connection: duckdb.DuckDBPyConnection, query: str) -> list[str]:
    return sorted(map(repr, connection.execute(query).fetchall()))


def test_its_own_words() -> None:
    """A name in quotes, a function of DuckDB's own, a string with a backslash."""
    tables = Catalog.from_ddl(
        "CREATE TABLE s (p INT, x STRING) PARTITIONED BY (p);"
        "CREATE TABLE d (p INT, `group` STRING, y STRING)"
    )
    text = """SELECT strftime(now(), '%Y') FROM s JOIN d USING (p) WHERE d."group" = 'a\\'"""
    result = rewrite(text, tables, dialect="duckdb", engine="duckdb")
    assert result.sql == (
        text
        + """ AND s.p IN (SELECT d2.p FROM d AS d2 WHERE d2."group" = 'a\\') /* dpp-rewrite */"""
    )


# --- what its functions do ------------------------------------------------------------------------


def test_its_functions_are_as_the_table_says() -> None:
    connection = duckdb.connect()

    def ask(expression: str) -> object:
        try:
            row = connection.execute(f"SELECT {expression}").fetchone()
        except duckdb.Error as error:
            raise ValueError(str(error)) from error
        return row and row[0]

    count, problems = wrong("duckdb", ask)
    assert problems == []
    assert count > 40
    query = "SELECT DISTINCT function_name, stability FROM duckdb_functions()"
    stable = dict(connection.execute(query).fetchall())
    names = dialect_names("duckdb")
    unknown = [
        name for name in names.same | names.own if name not in stable and name not in _SYNTAX
    ]
    assert unknown == []
    volatile = [
        name
        for name, function in scalars("duckdb")
        if stable.get(name) == "VOLATILE" and function.deterministic
    ]
    assert volatile == []


_SYNTAX = frozenset("coalesce grouping if ifnull nullif".split())
"""What its grammar has, and no catalog."""
