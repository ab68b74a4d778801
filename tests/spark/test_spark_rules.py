"""Soundness rules that DuckDB cannot show to be needed, as it compares otherwise than Spark."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from sqlrewrite import Catalog, rewrite
from tests.rule_cases import DDL, IN_OF_AN_OUTER_JOIN, TEXT_AGAINST_NUMBER

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ROWS = (
    ("facts", "p, v", "(1, 10), (2, 20), (3, 30), (NULL, 50)"),
    ("texts", "p, v", "('1', 10), ('01', 20), ('2', 30)"),
    ("dim", "k, x, label", "(1, 1, '7'), (2, 2, 'none'), (3, 1, '8')"),
    ("other", "v, name", "(1, 'one'), (3, 'three')"),
)


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    """A session of its own, over the rows of the named cases."""
    own = spark.newSession()
    own.conf.set("spark.sql.ansi.enabled", "false")
    for name, columns, rows in ROWS:
        own.sql(f"SELECT * FROM VALUES {rows} AS t({columns})").createOrReplaceTempView(name)
    return own


@pytest.mark.parametrize(
    ("sql", "code", "also"),
    [
        pytest.param(TEXT_AGAINST_NUMBER, "DPP112", (), id="DPP112: text against a number"),
        pytest.param(
            IN_OF_AN_OUTER_JOIN, "DPP101", ("DPP122",), id="DPP101: in (not required), outside"
        ),
    ],
)
def test_switched_off_a_named_case_goes_wrong(
    session: SparkSession, sql: str, code: str, also: tuple[str, ...]
) -> None:
    def rows(text: str) -> Counter[tuple[Any, ...]]:
        return Counter(map(tuple, session.sql(text).collect()))

    known = Catalog.from_ddl(DDL)
    off = rewrite(sql, known, disabled=frozenset({code, *also}))
    assert off.changed, [candidate.reason for candidate in off.candidates]
    assert rows(off.sql) != rows(sql)
    assert rows(rewrite(sql, known, disabled=frozenset(also)).sql) == rows(sql)
