"""Queries written by hand against each soundness condition, in every form, on random rows.

``by_hand.sql`` holds them, each under a comment that says what it is about. A query that
DuckDB refuses would show nothing, and fails.
"""

from __future__ import annotations

import random
import re
from functools import cache
from pathlib import Path

import pytest

from sqlrewrite import rewrite
from sqlrewrite.settings.forms import CHOICES
from sqlrewrite.settings.options import Resolve
from tests.support.random_warehouse import BEYOND_DUCKDB, Database, random_data, warehouse

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
    return [Database(random_data(random.Random(f"by hand/{number}"))) for number in range(DATA)]


def _rewritten(sql: str, form: str, resolve: Resolve | None = None) -> str:
    """What the rewriter makes of a query, which is the same when it is run again."""
    text = rewrite(sql, warehouse(), predicate=form, resolve=resolve).sql
    if text != sql:
        again = rewrite(text, warehouse(), predicate=form, resolve=resolve).sql
        assert again == text, f"{form}: a second run changes it"
    return text


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", QUERIES)
def test_a_query_by_hand_gives_the_same_rows(name: str) -> None:
    sql = QUERIES[name]
    texts = {_rewritten(sql, form) for form in CHOICES if form != "values"} - {sql}
    for database in _databases() if texts else ():
        rows = database.bag(sql)
        literals = _rewritten(sql, "values", database.keys)
        for text in texts | {literals}:
            try:
                problem = database.difference(rows, text)
            except BEYOND_DUCKDB:
                continue
            assert not problem, f"{text}\n{problem}"


def test_most_queries_by_hand_are_rewritten() -> None:
    changed = [name for name, sql in QUERIES.items() if rewrite(sql, warehouse()).changed]
    assert len(changed) >= REWRITTEN
