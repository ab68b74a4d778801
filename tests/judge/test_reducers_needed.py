"""Every condition of the semi-join reducers is needed: without it, a query loses rows.

They are no rules with codes, so each is taken out by a patch of the function or table that holds
it. The tables are those of ``support.rule_witnesses``; DuckDB runs the queries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.copies import replace
from sqlrewrite.decision import decide
from sqlrewrite.find import pairs, reducers, restrictions
from sqlrewrite.find.pairs import Pair
from sqlrewrite.find.restrictions import AnyOf, Restriction
from sqlrewrite.plan import joins, lineage
from sqlrewrite.plan.algebra import JoinType
from tests.support.duckdb_text import as_duckdb
from tests.support.rule_witnesses import DATA, DDL

MORE_TABLES = """
CREATE TABLE near (k INT, w INT, label STRING) USING parquet;
CREATE TABLE words (k INT, w STRING) USING parquet;
"""
MORE_DATA = """
CREATE TABLE near (k INT, w INT, label VARCHAR);
CREATE TABLE words (k INT, w VARCHAR);
INSERT INTO near VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'b'), (NULL, 40, 'a');
INSERT INTO words VALUES (1, '01'), (2, '02');
"""


def any_branch(branches: Sequence[tuple[Restriction, ...]]) -> tuple[Restriction, ...]:
    """``any_of`` that passes over a branch which asks for nothing."""
    return (AnyOf(tuple(branch for branch in branches if branch)),) if any(branches) else ()


def any_covering(plan: Any, way: Any, ways: Any) -> list[Pair] | None:
    """``_cover`` that passes over a reference without a bound."""
    return list(ways.values())


def barred(steps: Callable[..., Any]) -> Callable[..., Any]:
    """``steps`` that see no barriers."""
    return lambda *given: tuple(replace(step, barriers=()) for step in steps(*given))


LEFT_ON = {**joins.RESTRICTED_BY_ON, JoinType.LEFT: (joins.LEFT, joins.RIGHT)}


@dataclass(frozen=True)
class Patched:
    """A query that goes wrong with ``name`` of ``module`` replaced."""

    what: str
    module: Any
    name: str
    by: Any
    sql: str


CASES = (
    Patched(
        "an OR bounds only what each branch speaks of",
        reducers,
        "any_of",
        any_branch,
        "SELECT f.v FROM facts f JOIN dim d ON f.p = d.k WHERE (d.x = 1 AND f.v > 0) OR f.v = 20",
    ),
    Patched(
        "a CTE is bounded by what all its references ask of the dimension inside it",
        reducers,
        "any_of",
        any_branch,
        "WITH c AS (SELECT d.x, sum(f.v) AS v FROM facts f JOIN dim d ON f.p = d.k GROUP BY d.x) "
        "SELECT a.v, b.v FROM c a CROSS JOIN c b WHERE a.x = 1",
    ),
    Patched(
        "a CTE is bounded from outside only if each reference is",
        pairs,
        "_cover",
        any_covering,
        "WITH c AS (SELECT p, v FROM facts) SELECT c.v FROM c JOIN dim d ON c.p = d.k "
        "WHERE d.x = 1 UNION ALL SELECT c.v FROM c JOIN dim d ON c.p = d.k WHERE d.x = 2 "
        "UNION ALL SELECT v FROM c",
    ),
    Patched(
        "references that ask for keys of different tables share no key query",
        decide,
        "same_rows",
        lambda one, other: True,
        "WITH c AS (SELECT p, v FROM facts) SELECT c.v FROM c JOIN dim d ON c.p = d.k "
        "WHERE d.label = '7' UNION ALL SELECT c.v FROM c JOIN near n ON c.p = n.k "
        "WHERE n.label = 'b'",
    ),
    Patched(
        "semi-joins with different neighbours are not one",
        restrictions,
        "same_rows",
        lambda one, other: True,
        "WITH c AS (SELECT d.x, sum(f.v) AS v FROM facts f JOIN dim d ON f.p = d.k GROUP BY d.x) "
        "SELECT c.v FROM c JOIN near n ON c.x = n.k WHERE n.label = 'a' "
        "UNION ALL SELECT c.v FROM c JOIN words n ON c.x = n.k WHERE n.w = '02'",
    ),
    Patched(
        "a neighbour restricts only where the join keeps no row without it",
        joins,
        "RESTRICTED_BY_ON",
        LEFT_ON,
        "SELECT f.v, n.w FROM facts f JOIN dim d ON f.p = d.k "
        "LEFT JOIN near n ON d.x = n.k AND n.label = 'a' WHERE d.label <> '9'",
    ),
    Patched(
        "what is asked above a window is not asked below it",
        reducers,
        "steps",
        barred(lineage.steps),
        "SELECT q.v, q.n FROM (SELECT f.v, d.x, count(*) OVER () AS n FROM facts f "
        "JOIN dim d ON f.p = d.k) q WHERE q.x = 2",
    ),
)


def _rows(sql: str) -> Counter[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        connection.execute(DATA + MORE_DATA)
        return Counter(connection.execute(as_duckdb(sql)).fetchall())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_without_it_a_query_goes_wrong(case: Patched, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = Catalog.from_ddl(DDL + MORE_TABLES)
    original = _rows(case.sql)
    assert _rows(rewrite(case.sql, catalog).sql) == original
    monkeypatch.setattr(case.module, case.name, case.by)
    without = rewrite(case.sql, catalog)
    assert without.changed, [candidate.reason for candidate in without.candidates]
    assert _rows(without.sql) != original, without.sql
