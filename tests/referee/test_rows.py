"""Random queries, as written and as rewritten, give the same rows, names and types on Spark."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.referee.generator_world import random_world
from tests.referee.harness import answer, classic, differ, quick
from tests.referee.rows import query_of, run
from tests.referee.shrink import shrunk


@pytest.fixture
def session(spark: Any) -> Any:
    """A session that other tests share nothing with."""
    return spark.newSession()


SEED, FIRST, QUERIES = 14, 147_989_600, 200
"""Five worlds, in one of which an alias was once a column that a subquery reads; the long runs,
``python -m tests.referee.rows``, have other seeds."""


@pytest.mark.spark
@pytest.mark.long
def test_rewritten_queries_give_the_same_rows(session: Any) -> None:
    counted, _ = run(session, SEED, FIRST, QUERIES)
    assert not counted.wrong, "\n".join(one.told() for one in counted.wrong)
    assert counted.rewritten >= 30, counted.told(0)
    assert counted.refused * 5 < counted.sent, counted.told(0)
    assert counted.empty * 2 < counted.rewritten, counted.told(0)


@pytest.mark.spark
def test_the_referee_leaves_the_active_session_as_it_was(session: Any, spark: Any) -> None:
    active = classic(spark._jvm).SparkSession.getActiveSession
    before = active().toString()
    answer(quick(session), "SELECT 1 AS a")
    assert active().toString() == before


@pytest.mark.spark
def test_the_harness_sees_what_differs(session: Any) -> None:
    quick(session, **{"spark.sql.ansi.enabled": "true"})
    one = answer(session, "SELECT 1 AS a")
    assert not differ(one, answer(session, "SELECT 1 AS a"))
    for other in (
        "SELECT 2 AS a",
        "SELECT 1 AS A",
        "SELECT 1L AS a",
        "SELECT 1 AS a UNION ALL SELECT 1",
        "SELECT 1 AS a WHERE false",
        "SELECT 1 / 0 AS a",
        "SELECT a",
    ):
        assert differ(one, answer(session, other)), other
    zeros = answer(session, "SELECT 0.0D AS a")
    assert differ(zeros, answer(session, "SELECT -0.0D AS a"))
    assert answer(session, "SELECT 1 / 0").condition == "DIVIDE_BY_ZERO"


def test_a_query_depends_on_its_number_alone() -> None:
    world = random_world(random.Random("1/world/0"))
    assert query_of(1, 7, world) == query_of(1, 7, world)
    assert len({query_of(1, number, world)[0] for number in range(50)}) == 50


def test_a_failing_text_is_shrunk_to_what_fails() -> None:
    text = "SELECT f.a , max( b ) -- c\n FROM f JOIN d ON ( f.p <= d.k ) WHERE f.x IN ( '(' , 2 )"
    assert shrunk(text, lambda one: "p <= d" in one) == "p <= d"
    assert shrunk(text, lambda one: "IN (" in one and one.count("(") == one.count(")") + 1) == (
        "IN ( '(' )"
    )
    assert shrunk(text, lambda one: "-- c" in one) == "-- c\n"
    assert shrunk(text, lambda one: one == text) == text
