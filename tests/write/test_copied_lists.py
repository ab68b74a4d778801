"""A list of constants that is copied from another clause, behind an author's IN that looks like a
predicate of ours: the check after the work and the next run know the copy by the whole text."""

from __future__ import annotations

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.stripping import stripped

DDL = """
CREATE TABLE g (id INT, p INT, ts TIMESTAMP, dt DATE GENERATED ALWAYS AS (CAST(ts AS DATE)))
  USING delta PARTITIONED BY (dt, p);
CREATE TABLE f (id INT, p INT, x INT) USING parquet PARTITIONED BY (p);
CREATE TABLE d (k INT, ts TIMESTAMP) USING parquet;
"""
LEAST = "ts IN (SELECT min(q.ts) FROM d AS q WHERE q.k > 3)"
BENEFIT = frozenset({"DPP120", "DPP121", "DPP122"})


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.from_ddl(DDL)


@pytest.mark.parametrize(
    ("constants", "copied"),
    [
        ("(9, 9)", "(9, 9)"),
        ("(9,8)", "(9,8)"),
        ("(9)", "(9)"),
        ("( 9, 8 )", "(9, 8)"),
        ("(\n  9,\n  8\n)", "(9, 8)"),
        ("(9, /* at most */ 8)", "(9, 8)"),
        ("(9, -- at most\n 8)", "(9, 8)"),
    ],
)
@pytest.mark.parametrize(
    ("query", "column"),
    [
        ("o.k IN (SELECT g.p FROM g WHERE {least})", "g.p"),
        ("EXISTS (SELECT 1 FROM g WHERE g.p = o.k AND {least})", "g.p"),
    ],
)
def test_a_copied_list_is_known_by_the_whole_text(
    catalog: Catalog, query: str, column: str, constants: str, copied: str
) -> None:
    author = f"SELECT o.k FROM d o WHERE o.k IN {constants} AND {query.format(least=LEAST)}"
    result = rewrite(author, catalog)
    assert not result.errors
    assert f"{LEAST} AND {column} IN {copied} /* dpp-rewrite */" in result.sql
    assert rewrite(result.sql, catalog).sql == result.sql
    assert stripped(result.sql).sql == author


@pytest.mark.parametrize("least", ["x IN (SELECT z.k FROM d AS z WHERE z.k = 2)", "x = 4"])
def test_nor_is_it_behind_a_plain_in(catalog: Catalog, least: str) -> None:
    query = (
        f"SELECT o.id FROM d JOIN (SELECT id, p FROM f WHERE {least}) o ON o.p = d.k "
        "WHERE d.k IN (9, 9)"
    )
    result = rewrite(query, catalog, disabled=BENEFIT)
    assert not result.errors
    assert f"{least} AND p IN (9, 9) /* dpp-rewrite */" in result.sql
    assert rewrite(result.sql, catalog, disabled=BENEFIT).sql == result.sql


def test_an_authors_list_before_a_marker_that_came_away_stays(catalog: Catalog) -> None:
    """No other place in the text has it: it is no copy."""
    query = f"SELECT id FROM g WHERE {LEAST} AND p IN (7, 8) /* dpp-rewrite */"
    assert f"{LEAST} AND p IN (7, 8) /* dpp-rewrite */" in rewrite(query, catalog).sql
