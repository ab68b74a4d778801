"""Trino's dialect, judged by Trino itself: rows, words, functions."""

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
from sqlrewrite.plan.facts.functions import dialect_names
from sqlrewrite.stripping import stripped
from sqlrewrite.text.limits import Limits
from tests.engines.process import EngineError
from tests.support.cases import FIXTURES, Case, catalog, query_cases, retail_cases
from tests.support.fixture_rows import database

from ..engines.functions import scalars, wrong
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
    counts: Counter[str] = Counter()
    ddls: dict[Path, str] = {}
    wrong = []
    # Texts of other languages; any three rows.
    names = ("templates/", "text/new_where_before_limit")
    cases = [case for case in (*query_cases(), *retail_cases()) if not case.name.startswith(names)]
    for case, text in ((case_, text) for case_ in cases for text in _texts(case_)):
        result = rewrite(text, catalog(case.ddl), dialect="trino", engine="trino")
        if not result.changed:
            counts["left alone"] += 1
            continue
        assert result.original == text
        again = rewrite(result.sql, catalog(case.ddl), dialect="trino", engine="trino")
        assert again.sql == result.sql, case.name
        assert sqlglot.parse(result.sql, read="trino")
        new = case.ddl not in ddls
        schema = ddls.setdefault(case.ddl, f"fixtures{len(ddls)}")
        trino.session("hive", schema, "hive.dynamic_filtering_wait_timeout=1s")
        if new:
            with suppress(duckdb.Error):  # types that DuckDB does not have: no tables
                fill(trino, catalog(case.ddl), database(case.ddl, SEED))
        try:
            before = _rows(trino, _without_ours(text))
        except EngineError as error:
            counts["not run by Trino"] += 1
            print(case.name, str(error)[:120])
            continue
        counts["rows"] += bool(before)
        try:
            after = _rows(trino, result.sql)
        except EngineError as error:
            after = str(error)
        counts["compared"] += 1
        if counts["compared"] % 25 == 0:
            print(dict(counts), flush=True)
        if after != before:
            wrong.append((case.name, result.sql, before, after))
            print("WRONG", wrong[-1], flush=True)
    print(dict(counts))
    assert [row[0] for row in wrong] == [], wrong
    assert counts["compared"] >= FEWEST


def _without_ours(text: str) -> str:
    """The text without an earlier run's predicates, which may be out of date."""
    return stripped(text, Limits(dialect="trino")).sql


_MADE = re.compile(r"\bCREATE (TABLE|VIEW) (?!IF\b)(\w+)")


def _rows(trino: Trino, text: str) -> str:
    """The rows of a statement; of one that makes a relation, the rows of that, which goes again."""
    rows = trino.rows(text)
    if match := _MADE.search(text):
        rows = trino.rows(f"TABLE {match[2]}")
        trino.rows(f"DROP {match[1]} {match[2]}")
    return rows


@pytest.mark.parametrize(("when", "changed"), [("eligible", 83), ("missed", 9)])
def test_tpcds_in_its_words(when: str, changed: int) -> None:
    """As many of the 99 queries are rewritten as in Spark's words, and most are left to Trino."""
    loaded, count = Catalog.load(str(FIXTURES / "tpcds" / "ddl.sql")), 0
    connection = duckdb.connect()
    import_extension("tpcds", con=connection)
    for (query,) in connection.execute("SELECT query FROM tpcds_queries()").fetchall():
        text = sqlglot.transpile(query, read="duckdb", write="trino")[0]
        result = rewrite(text, loaded, dialect="trino", engine="trino", when=when)
        assert len(sqlglot.parse(result.sql, read="trino")) == 1
        count += result.changed
    assert count == changed


# --- what its functions do ------------------------------------------------------------------------


def test_its_functions_are_as_the_table_says(trino: Trino) -> None:
    def ask(expression: str) -> object:
        try:
            rows = trino.rows(f"SELECT CAST({expression} IS NULL AS varchar)")
        except EngineError as error:
            raise ValueError(str(error)) from error
        return None if rows == "[true]" else rows

    count, problems = wrong("trino", ask)
    print(f"{count} arguments asked about")
    assert problems == []
    assert count > 60
    listed = trino.rows("SHOW FUNCTIONS").splitlines()
    matches = [re.match(r"\[(\w+), .*?, (\w+), (true|false), ", line) for line in listed]
    # A function that gives a table may have the name of one that gives a value: sequence.
    deterministic = {line[1]: line[3] == "true" for line in matches if line and line[2] != "table"}
    names = dialect_names("trino")
    assert sorted((names.same | names.own) - deterministic.keys() - _SYNTAX) == []
    functions = {name: function for name, function in scalars("trino") if function.deterministic}
    # Of what takes a lambda Trino never says so: its body may not be, at which we look.
    plain = {name for name, function in functions.items() if "=>" not in function.signature}
    assert {name for name in plain if not deterministic.get(name, True)} == set()


_SYNTAX = frozenset("coalesce grouping if nullif try unnest table listagg format".split())
"""What its grammar has, and SHOW FUNCTIONS has not."""
