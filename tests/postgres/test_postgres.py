"""PostgreSQL is the judge: which joins are joins of partitions, and what rows our text returns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.document import read
from sqlrewrite.find.join_edges import scan_joins
from sqlrewrite.judge.partition_wise.postgresql import PartitionJoins, partition_joins
from sqlrewrite.text.limits import Limits
from tests.postgres.tables import DDL, queries

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.postgres

QUERIES = [pytest.param(text, id=name) for name, text in queries()]


@cache
def _catalog() -> Catalog:
    return Catalog.from_ddl(DDL)


def _ours(text: str) -> PartitionJoins:
    """Our verdict on the one join of a query."""
    bound = read(text, _catalog(), Limits()).statements[0].bound
    assert bound is not None
    (scan_join,) = scan_joins(bound.plan)
    return partition_joins(bound.plan, scan_join)


@pytest.mark.parametrize("text", QUERIES)
def test_our_verdict_is_postgresqls(text: str, postgres: Connection[Any]) -> None:
    """As many joins of partitions as in its plan, or none in both."""
    assert _ours(text).joins == _joins(postgres, text)


def _joins(connection: Connection[Any], text: str) -> int:
    """How many joins of partitions a plan has; none where one joins whole tables."""
    ((plan,),) = connection.execute(f"EXPLAIN (FORMAT JSON) {text}").fetchall()[0]
    joins = [node for node in _walk(plan["Plan"]) if "Join Type" in node]
    top = plan["Plan"] if "Join Type" in plan["Plan"] else None
    whole = top is not None and any(_is_append(plan) for plan in top["Plans"])
    return 0 if whole or not joins else len(joins)


def _is_append(node: dict[str, Any]) -> bool:
    while node["Node Type"] in ("Hash", "Materialize", "Aggregate", "Unique", "Sort"):
        node = node["Plans"][0]
    return bool(node["Node Type"] == "Append")


def _walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", ()):
        yield from _walk(child)


@pytest.mark.parametrize("text", QUERIES)
def test_our_text_returns_postgresqls_rows(text: str, postgres: Connection[Any]) -> None:
    """By two and three groups, where there are bounds to cut at and the type is one."""
    _same_rows(text, postgres)


AGGREGATES = (
    "SELECT x.j, count(*) AS n, sum(y.v) AS s, sum(CAST(x.v AS BIGINT)) AS b, max(y.v) AS m, "
    "bool_or(x.v > y.v) AS o FROM {} GROUP BY x.j HAVING count(x.v) <> 3"
)
AGGREGATED = [
    pytest.param(AGGREGATES.format(text.partition(" FROM ")[2]), id=name)
    for name, text in queries()
    if " y.v AS v2 " in text
]


@pytest.mark.parametrize("text", AGGREGATED)
def test_our_aggregates_over_groups_are_postgresqls(text: str, postgres: Connection[Any]) -> None:
    """Those of all rows, put together of those of each group."""
    _same_rows(text, postgres)


def _same_rows(text: str, postgres: Connection[Any]) -> None:
    written = [
        rewrite(text, _catalog(), strategy="partition-wise", groups=count) for count in (2, 3)
    ]
    expected = None
    for result in written:
        if not result.changed:
            assert result.notes[-1].message.startswith("not written by groups: ")
            continue
        if expected is None:
            expected = Counter(postgres.execute(text).fetchall())
        assert Counter(postgres.execute(result.sql).fetchall()) == expected


def test_most_of_them_are_written() -> None:
    rewritten_ones = [
        rewrite(text, _catalog(), strategy="partition-wise", groups=2).changed
        for _, text in queries()
    ]
    assert rewritten_ones.count(True) > 80
