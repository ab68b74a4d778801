"""Trino's dialect and engine, judged by Trino itself: rows, and the filters in its plans."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from pathlib import Path

import duckdb
import pytest
import sqlglot
from duckdb_extensions import import_extension
from sqlglot.errors import SqlglotError

from sqlrewrite import Catalog, rewrite
from sqlrewrite.plan.facts.functions import names_of
from tests.engines.process import EngineError

from ..engines.functions import scalars, wrong
from ..fixtures_data import database
from ..fixtures_support import FIXTURES, Case, catalog, query_cases, retail_cases
from .server import Trino, fill

SEED = 1
FEWEST = 200
"""So many queries are compared, by the issue that asks for it."""

pytestmark = pytest.mark.trino


def _texts(case: Case) -> list[str]:
    """The statements of a fixture in Trino's words, by sqlglot; none where it has no words."""
    try:
        return sqlglot.transpile(case.text(), read="spark", write="trino")
    except (SqlglotError, RecursionError):
        return []


def test_rows_stay(trino: Trino) -> None:
    """Each fixture as texts of Trino's: read, written and run by Trino, its rows stay. What Trino
    refuses of the originals is no text of its own."""
    done: Counter[str] = Counter()
    made: dict[Path, str] = {}
    wrong = []
    names = ("templates/", "text/managed_no_longer_sound")  # there a predicate goes, and rows come
    cases = [it for it in (*query_cases(), *retail_cases()) if not it.name.startswith(names)]
    for case, text in ((it, text) for it in cases for text in _texts(it)):
        result = rewrite(text, catalog(case.ddl), dialect="trino", engine="trino")
        if not result.changed:
            done["left alone"] += 1
            continue
        assert result.original == text
        again = rewrite(result.sql, catalog(case.ddl), dialect="trino", engine="trino")
        assert again.sql == result.sql, case.name
        assert sqlglot.parse(result.sql, read="trino")
        new = case.ddl not in made
        trino.catalog(made.setdefault(case.ddl, f"fixtures{len(made)}"))
        if new:
            with suppress(duckdb.Error):  # types that DuckDB does not have: no tables
                fill(trino, catalog(case.ddl), database(case.ddl, SEED))
        try:
            before = trino.rows(text)
        except EngineError as error:
            done["not run by Trino"] += 1
            print(case.name, str(error)[:120])
            continue
        try:
            after = trino.rows(result.sql)
        except EngineError as error:
            after = str(error)
        done["compared"] += 1
        if after != before:
            wrong.append((case.name, result.sql, before, after))
    print(dict(done))
    assert [it[0] for it in wrong] == [], wrong
    assert done["compared"] >= FEWEST


@pytest.mark.parametrize(("when", "changed"), [("eligible", 83), ("missed", 9)])
def test_tpcds_in_its_words(when: str, changed: int) -> None:
    """As many of the 99 queries are rewritten as in Spark's words, and most are left to Trino."""
    known, found = Catalog.load(str(FIXTURES / "tpcds" / "ddl.sql")), 0
    connection = duckdb.connect()
    import_extension("tpcds", con=connection)
    for (query,) in connection.execute("SELECT query FROM tpcds_queries()").fetchall():
        text = sqlglot.transpile(query, read="duckdb", write="trino")[0]
        result = rewrite(text, known, dialect="trino", engine="trino", when=when)
        assert len(sqlglot.parse(result.sql, read="trino")) == 1
        found += result.changed
    assert found == changed


# --- what it prunes by itself ---------------------------------------------------------------------

DDL = """
CREATE TABLE f (v BIGINT, k BIGINT, x BIGINT) PARTITIONED BY (k);
CREATE TABLE d (k BIGINT, n STRING, b BOOLEAN);
CREATE TABLE e (k BIGINT, n STRING, c BOOLEAN);
"""
ROWS = "SELECT x AS v, x % 20 AS k, x % 3 AS x FROM UNNEST(sequence(1, 200)) AS t(x)"
OF = """SELECT x AS k, 'n' || CAST(x AS varchar) AS n, x IN (3, 5) AS {}
FROM UNNEST(sequence(0, 19)) AS t(x)"""
JOINS = {
    "SELECT * FROM f JOIN d ON f.k = d.k WHERE d.b": True,
    "SELECT * FROM d JOIN f ON f.k = d.k WHERE d.b": False,
    "SELECT * FROM f, d WHERE f.k = d.k AND d.b": True,
    "SELECT * FROM d, f WHERE f.k = d.k AND d.b": False,
    "SELECT * FROM f RIGHT JOIN d ON f.k = d.k AND d.b": True,
    "SELECT * FROM d LEFT JOIN f ON f.k = d.k AND d.b": False,
    "SELECT * FROM d LEFT JOIN f ON f.k = d.k WHERE d.b": False,
    "SELECT * FROM f LEFT JOIN d ON f.k = d.k WHERE d.b": True,
    "SELECT * FROM f WHERE k IN (SELECT k FROM d WHERE b)": True,
    "SELECT * FROM f WHERE EXISTS (SELECT 1 FROM d WHERE d.k = f.k AND d.b)": True,
    "SELECT * FROM f JOIN d ON f.k = d.k + 1 WHERE d.b": True,
    "SELECT * FROM f JOIN d ON f.k + 1 = d.k WHERE d.b": False,
    "SELECT * FROM (SELECT k, sum(v) AS v FROM f GROUP BY k) f JOIN d ON f.k = d.k WHERE d.b": True,
    "SELECT * FROM (SELECT k, v FROM f UNION ALL SELECT k, v FROM f) f"
    " JOIN d ON f.k = d.k WHERE d.b": True,
    "SELECT * FROM f JOIN d ON f.k = d.k JOIN e ON d.n = e.n WHERE e.c": True,
    "SELECT * FROM e JOIN d ON d.n = e.n JOIN f ON f.k = d.k WHERE e.c": False,
}
"""Joins, and whether Trino's plan filters the fact's scan dynamically."""


@pytest.fixture(scope="module")
def tables(trino: Trino) -> Trino:
    """A fact and two dimensions, of whose rows nothing is known but how many they are."""
    trino.catalog("joins")
    for table, query in (("f", ROWS), ("d", OF.format("b")), ("e", OF.format("c"))):
        trino.rows(f"CREATE TABLE {table} AS {query}")
    return trino


@pytest.mark.parametrize(("query", "prunes"), JOINS.items())
def test_what_is_left_to_it_it_prunes(tables: Trino, query: str, prunes: bool) -> None:
    """``--when missed`` leaves to Trino only joins for which its plan has a dynamic filter on the
    fact; and what we write gives it one, wherever the fact stands."""
    known = Catalog.from_ddl(DDL)
    assert _filtered(tables, query) == prunes
    every = rewrite(query, known, dialect="trino", engine="trino")
    missed = rewrite(query, known, dialect="trino", engine="trino", when="missed")
    if every.changed:
        assert _filtered(tables, every.sql)
        assert tables.rows(every.sql) == tables.rows(query)
    if not missed.changed and every.changed:
        assert prunes


def _filtered(trino: Trino, query: str) -> bool:
    """Whether the scan of the fact, the first table that was made, has a dynamic filter."""
    plan = trino.rows(f"EXPLAIN {query}")
    return re.search(r"\[table = joins:0\b[^\n]*dynamicFilters", plan) is not None


# --- what its functions do ------------------------------------------------------------------------


def test_its_functions_are_as_the_table_says(trino: Trino) -> None:
    def ask(expression: str) -> object:
        try:
            rows = trino.rows(f"SELECT CAST({expression} IS NULL AS varchar)")
        except EngineError as error:
            raise ValueError(str(error)) from error
        return None if rows == "[true]" else rows

    asked, found = wrong("trino", ask)
    print(f"{asked} arguments asked about")
    assert found == []
    assert asked > 60
    listed = trino.rows("SHOW FUNCTIONS").splitlines()
    said = [re.match(r"\[(\w+), .*?, (\w+), (true|false), ", line) for line in listed]
    deterministic = {it[1]: it[3] == "true" for it in said if it}
    names = names_of("trino")
    assert sorted((names.same | names.own) - deterministic.keys() - _SYNTAX) == []
    told = {name: it for name, it in scalars("trino") if it.deterministic}
    # Of what takes a lambda Trino never says so: its body may not be, at which we look.
    plain = {name for name, it in told.items() if "=>" not in it.signature}
    assert {name for name in plain if not deterministic.get(name, True)} == set()


_SYNTAX = frozenset("coalesce grouping if nullif try unnest table listagg format".split())
"""What its grammar has, and SHOW FUNCTIONS has not."""
