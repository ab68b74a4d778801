"""Queries written by hand against each soundness condition, in every form, on random rows.

``by_hand.sql`` holds them, each under a comment that says what it is about. The rows are those of
the random test; a query that DuckDB refuses would show nothing, and fails.
"""

from __future__ import annotations

import random
import re
from functools import cache
from pathlib import Path

import pytest

from sqlrewrite.settings.forms import CHOICES

from .check import BEYOND_DUCKDB, Database, Manner, difference, library
from .schema import random_data

DATA = 3
"""Sets of random rows."""

REWRITTEN = 90
"""Queries that are rewritten at least, with IN: with fewer, the file shows less than it did."""


def _queries() -> dict[str, str]:
    text = Path(__file__).with_name("by_hand.sql").read_text(encoding="utf-8")
    return dict(re.findall(r"^-- ([^#\n]+)\n([^;]+);$", text, re.M))


QUERIES = _queries()


@cache
def _databases() -> list[Database]:
    """One for each set of rows."""
    found = []
    for number in range(DATA):
        found.append(Database())
        found[-1].fill(random_data(random.Random(f"by hand/{number}")))
    return found


def _rewritten(sql: str, manner: Manner) -> str:
    """What the rewriter makes of a query, which is the same when it is run again."""
    once = library(sql, manner).sql
    assert once == sql or library(once, manner).sql == once, (
        f"{manner.predicate}: a second run changes it"
    )
    return once


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_by_hand_gives_the_same_rows(name: str) -> None:
    sql = QUERIES[name]
    texts = {_rewritten(sql, Manner(predicate=form)) for form in CHOICES if form != "values"} - {
        sql
    }
    for database in _databases() if texts else ():
        rows = database.bag(sql)
        literals = _rewritten(sql, Manner(predicate="values", resolve=database.keys))
        for text in texts | {literals}:
            try:
                problem = difference(database, rows, text)
            except BEYOND_DUCKDB:
                continue
            assert not problem, f"{text}\n{problem}"


def test_most_queries_by_hand_are_rewritten() -> None:
    rewritten = [name for name, sql in QUERIES.items() if library(sql, Manner()).sql != sql]
    assert len(rewritten) >= REWRITTEN
