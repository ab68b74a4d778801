"""Each row of the closed world stands in a query that is rewritten, and Spark referees it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from sqlglot import exp

from sqlrewrite import Catalog, rewrite
from sqlrewrite.sql.bind.closed_world import UNDERSTOOD
from sqlrewrite.sql.parse.statements import statements
from tests.referee.closed_world import DDL, QUERIES, VIEWS
from tests.referee.harness import answer, differ, quick
from tests.support.cases import query_cases, read, retail_cases

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CATALOG = Catalog.from_ddl(DDL)

UNREACHED = {
    "Join.pivots",  # behind a join it makes its relation unknown
    # What sqlglot sets for other dialects, or leaves false for Spark.
    *("Interval.fraction_in_string", "TryCast.requires_string", "Concat.coalesce"),
    "JSONExtract.requires_json",
    # FETCH FIRST, which Spark's grammar lacks.
    *("Fetch.", "Fetch.direction", "Fetch.count", "Fetch.limit_options"),
    *("LimitOptions.", "LimitOptions.rows"),
}


def rows_of(text: str) -> Iterator[tuple[type[exp.Expr], str]]:
    """The kinds of nodes in a text, with the arguments that are set on them."""
    for statement in statements(text):
        for node in statement.tree.walk() if statement.tree is not None else ():
            yield type(node), ""
            for name, value in node.args.items():
                if value is not None and value is not False and value != []:
                    yield type(node), name


def test_each_row_stands_in_a_query_that_is_rewritten() -> None:
    cases = [*query_cases(), *retail_cases()]
    texts = [case.text() for case in cases if read(case.golden) != case.text()]
    used = {row for text in (*texts, *QUERIES) for row in rows_of(text)}
    rows = {(kind, name) for kind, names in UNDERSTOOD.items() for name in ("", *names)}
    missing = {f"{kind.__name__}.{name}" for kind, name in rows - used}
    assert missing == UNREACHED  # add a query to closed_world.py, or say why there is none


@pytest.mark.parametrize("text", QUERIES)
def test_it_is_rewritten(text: str) -> None:
    assert rewrite(text, CATALOG).changed


@pytest.mark.spark
@pytest.mark.long
def test_spark_gives_the_same_rows(spark: SparkSession) -> None:
    session = spark.newSession()
    for view in VIEWS:
        session.sql(view)
    wrong, empty = [], 0
    for number, text in enumerate(QUERIES):
        quick(session, **{"spark.sql.ansi.enabled": str(number % 2 == 0).lower()})
        before = answer(session, text)
        assert not before.error, (text, before.error[:300])
        empty += not before.rows
        problem = differ(before, answer(session, rewrite(text, CATALOG).sql))
        wrong += [(text, problem)] if problem else []
    assert not wrong
    assert empty < len(QUERIES) // 2
