"""Rows of the table of functions, refereed by Spark; the whole table is asked by
``python -m benchmarks.functions``. And whether the referee sees a row whose flag is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.functions import Seen, Spark, judged, look
from sqlrewrite.copies import replace
from sqlrewrite.plan.facts.functions import Function, function, names
from tests.support.turns import turn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.long]

EVERY = 101
"""Of so many rows one is asked in CI."""

SEEN = turn(
    ("abs", "sum", "first", "concat_ws", "element_at", "hour", "rand", "upper", "+", "explode"), 3
)

# Each flag of a row, turned into what it is not.
FLIPS = (
    ("upper", {"nulls": "-"}),
    ("upper", {"nulls": "never"}),
    ("concat_ws", {"nulls": "all"}),
    ("sum", {"nulls": "never"}),
    ("abs", {"raises": "never"}),
    ("abs", {"raises": "always"}),
    ("element_at", {"raises": "ansi"}),
    ("upper", {"raises": "ansi"}),
    ("+", {"raises": "never"}),
    ("rand", {"again": "same"}),
    ("rand", {"again": "order"}),
    ("upper", {"again": "varies"}),
    ("first", {"again": "same"}),
    ("sum", {"again": "same"}),
    ("sum", {"again": "order"}),
    ("hour", {"again": "same"}),
    ("upper", {"again": "order"}),
    ("upper", {"kind": "aggregate"}),
    ("sum", {"kind": "scalar"}),
    ("explode", {"kind": "scalar"}),
    ("upper", {"signature": "string -> int"}),
    ("sum", {"signature": "number -> double"}),
)


def _row(name: str) -> Function:
    row = function(name)
    assert row is not None
    return row


@pytest.fixture(scope="module")
def referee(spark: SparkSession) -> Spark:
    return Spark(spark.newSession())


@pytest.fixture(scope="module")
def seen(referee: Spark) -> dict[str, Seen]:
    """What Spark does of the functions whose flags are turned."""
    return {name: look(referee, _row(name)) for name in SEEN}


def test_spark_has_no_function_without_a_row(spark: SparkSession) -> None:
    listed = {row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    rows = {name for name in names() if _row(name).kind != "syntax"}
    assert listed == rows


@pytest.mark.parametrize("name", names()[::EVERY])
def test_a_row_is_true(referee: Spark, name: str) -> None:
    assert judged(_row(name), look(referee, _row(name))) == []


@pytest.mark.parametrize("name", SEEN)
def test_a_row_whose_flags_are_turned_was_true(seen: dict[str, Seen], name: str) -> None:
    assert judged(_row(name), seen[name]) == []


@pytest.mark.parametrize(("name", "flip"), [flip for flip in FLIPS if flip[0] in SEEN])
def test_a_turned_flag_is_seen(seen: dict[str, Seen], name: str, flip: dict[str, str]) -> None:
    assert judged(replace(_row(name), **flip), seen[name]) != []
