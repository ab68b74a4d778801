"""Key queries resolved to literals: caps, order, types, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlrewrite.spark.session import Session
from sqlrewrite.spark.target import SparkError, Target
from sqlrewrite.spark.values import resolve

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def session(spark: SparkSession) -> Session:
    return Session(spark, Target("local"), classic=True)


@pytest.mark.parametrize(
    ("keys", "literals"),
    [
        ("(3), (1), (NULL), (3), (-2)", ("-2", "1", "3")),
        ("('b'), ('a;--'), ('ä')", ("'a;--'", "'b'", "'ä'")),
        ("(DATE'2024-02-01'), (DATE'0999-01-01')", ("DATE '0999-01-01'", "DATE '2024-02-01'")),
        ("(1.50BD), (-2.25BD)", ("-2.25", "1.50")),
        ("(CAST(NULL AS INT))", ()),
    ],
)
def test_literals(session: Session, keys: str, literals: tuple[str, ...]) -> None:
    query = f"SELECT k FROM VALUES {keys} AS t(k)"
    found = resolve(session, query)
    assert (found.literals, found.collapsed, found.key_query) == (literals, False, query)
    if literals:  # they mean to Spark what they were made of
        again = session.spark.sql(f"{query} WHERE k IN ({', '.join(literals)})")
        assert again.distinct().count() == len(literals) == found.count


def test_caps(session: Session) -> None:
    query = "SELECT id % 10 AS k FROM range(100)"
    assert len(resolve(session, query, collapse_over=10).literals) == 10
    found = resolve(session, query, collapse_over=9)
    assert (found.literals, found.collapsed, found.count) == (("0", "9"), True, 10)
    with pytest.raises(SparkError, match="gives 10 keys; more than 9 are refused"):
        resolve(session, query, collapse_over=5, refuse_over=9)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT 1.5D AS k", "type double"),
        ("SELECT current_timestamp() AS k", "type timestamp"),
        ("SELECT 'it\\'s' AS k", "cannot be written as a literal"),
        ("SELECT 'a\\\\b' AS k", "cannot be written as a literal"),
        ("SELECT 1, 2", "has one column, this one 2"),
        ("SELECT nothing FROM nowhere", "the key query cannot be run: [TABLE_OR_VIEW_NOT_FOUND]"),
    ],
)
def test_what_is_refused(session: Session, query: str, why: str) -> None:
    with pytest.raises(SparkError) as error:
        resolve(session, query)
    assert why in str(error.value)
