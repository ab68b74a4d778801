"""Queries of the fourteen kinds (docs/soundness.md) and of others, in spellings that no fixture
has: what is rewritten answers on Spark what it did before, and what is left alone stays so.

``kinds.sql`` says of each what becomes of it, with all rules off that are about speed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sqlrewrite import Catalog, rewrite

from .harness import answer, differ, laid, quick, texts_of
from .rows import SPEED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DDL = """
CREATE TABLE f (id INT, v INT, t STRING, p INT) USING parquet PARTITIONED BY (p);
CREATE TABLE g (id INT, v INT, w INT, p INT) USING parquet PARTITIONED BY (p);
CREATE TABLE fs (id INT, v INT, p STRING) USING parquet PARTITIONED BY (p);
CREATE TABLE fd (id INT, v INT, p DATE) USING parquet PARTITIONED BY (p);
CREATE TABLE ft (id INT, v INT, p TIMESTAMP) USING parquet PARTITIONED BY (p);
CREATE TABLE fc (id INT, v DECIMAL(9,2), arr ARRAY<INT>, s STRUCT<k: INT, d: INT>, p DECIMAL(5,1))
  USING parquet PARTITIONED BY (p);
CREATE TABLE d (k INT, c STRING, n INT, b BOOLEAN) USING parquet;
CREATE TABLE e (k INT, z INT, c STRING) USING parquet;
CREATE TABLE ds (k STRING, c STRING, h CHAR(4)) USING parquet;
CREATE TABLE dd (k DATE, ts TIMESTAMP, c STRING) USING parquet;
CREATE TABLE dn (k DECIMAL(7,2), x DOUBLE, c STRING) USING parquet;
"""
ROWS = {
    "f": "(1, 10, 'a', 1), (2, 20, 'b', 2), (3, 30, NULL, 3), (4, NULL, 'a', NULL), "
    "(5, 50, 'd', 0), (6, 60, 'a', 2), (7, 70, 'c', 5), (8, 80, 'a', 1) AS t(id, v, t, p)",
    "g": "(1, 11, 1, 1), (2, NULL, 2, 2), (3, 33, 0, 2), (4, 44, 3, NULL), (5, 55, NULL, 7), "
    "(6, 60, 1, 0) AS t(id, v, w, p)",
    "fs": "(1, 1, '1'), (2, 2, '01'), (3, 3, '1 '), (4, 4, '2'), (5, 5, NULL), (6, 6, 'x'), "
    "(7, 7, ''), (8, 8, 'A'), (9, 9, 'a'), (10, 10, '2024-01-01'), (11, 11, '1.0') AS t(id, v, p)",
    "fd": "(1, 1, DATE'2024-01-01'), (2, 2, DATE'2024-01-02'), (3, 3, NULL), "
    "(4, 4, DATE'2023-12-31') AS t(id, v, p)",
    "ft": "(1, 1, TIMESTAMP'2024-01-01 00:00:00'), (2, 2, TIMESTAMP'2024-01-02 12:00:00'), "
    "(3, 3, NULL) AS t(id, v, p)",
    "fc": "(1, 1.50BD, array(1, 2), named_struct('k', 1, 'd', 2), 1.0BD), "
    "(2, 2.50BD, array(), named_struct('k', 2, 'd', 3), 2.5BD), (3, NULL, NULL, NULL, NULL), "
    "(4, 1.00BD, array(5), named_struct('k', 5, 'd', 1), 0.0BD) AS t(id, v, arr, s, p)",
    "d": "(1, 'a', 1, true), (2, 'b', 2, false), (2, 'a', 0, NULL), (3, NULL, 3, true), "
    "(NULL, 'a', 4, false), (9, 'a', 9, true), (5, 'z', 5, false) AS t(k, c, n, b)",
    "e": "(1, 5, 'a'), (2, 0, 'b'), (4, 1, NULL), (NULL, 2, 'a'), (0, 3, 'a') AS t(k, z, c)",
    "ds": "('1', 'a', 'a   '), ('01', 'b', '1   '), ('2 ', 'a', 'x   '), ('a', 'a', 'a   '), "
    "(NULL, 'a', NULL), ('x', 'b', 'x   ') AS t(k, c, h)",
    "dd": "(DATE'2024-01-01', TIMESTAMP'2024-01-01 00:00:00', 'a'), "
    "(DATE'2024-01-02', TIMESTAMP'2024-01-02 12:00:00', 'a'), (NULL, NULL, 'a'), "
    "(DATE'2023-12-31', TIMESTAMP'2023-12-31 23:00:00', 'b') AS t(k, ts, c)",
    "dn": "(1.00BD, 1.0D, 'a'), (2.50BD, 2.5D, 'a'), (2.54BD, double('NaN'), 'a'), "
    "(0.00BD, -0.0D, 'b'), (NULL, NULL, 'a') AS t(k, x, c)",
}
CATALOG = Catalog.from_ddl(DDL)

KINDS = Path(__file__).with_name("kinds.sql")
REWRITTEN, LEFT_ALONE = texts_of(KINDS, "rewritten"), texts_of(KINDS, "left alone")


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> Iterator[SparkSession]:
    with laid(spark, ROWS) as laid_out:
        yield laid_out


@pytest.mark.turns(3)
@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("text", REWRITTEN)
def test_it_answers_the_same(session: Any, text: str) -> None:
    result = rewrite(text, CATALOG, disabled=SPEED)
    assert result.changed
    for ansi in ("true", "false"):
        quick(session, **{"spark.sql.ansi.enabled": ansi})
        before = answer(session, text)
        assert before.columns, before.error
        assert differ(before, answer(session, result.sql)) == ""


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_it_is_left_alone(text: str) -> None:
    assert rewrite(text, CATALOG, disabled=SPEED).sql == text


def test_each_kind_has_its_share() -> None:
    """What Spark itself refuses is not among them; of the fourteenth, which is about markers,
    ``tests/rewriting/test_foreign_markers.py`` has the cases."""
    kinds = [str(case.id).split(":")[0] for case in (*REWRITTEN, *LEFT_ALONE)]
    assert len(kinds) == KINDS.read_text("utf-8").count("\n-- ") + 1
    assert all(kinds.count(f"kind {number}") >= 9 for number in range(1, 14))
