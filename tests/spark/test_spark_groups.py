"""Joins by groups of partitions: the rows are those of the query, whatever join it is.

The tables have NULL among their partitions, partitions that the other side lacks, and keys that are
NULL; what is refused is refused for rows that would differ (docs/soundness.md, "Groups of
partitions").
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.spark.plans.scans import shuffled
from sqlrewrite.text.markers import GROUPS_BEGIN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TABLES = {
    "group_a": ("k INT, v INT, p INT", "(1, 1, 1), (2, 2, 1), (3, 3, 2), (4, 4, NULL), (5, 5, 7)"),
    "group_b": (
        "k INT, w INT, p INT",
        "(1, 10, 1), (1, 11, 2), (3, 3, 2), (4, 4, NULL), (6, 6, 8)",
    ),
    "group_l": ("k INT, x INT, p BIGINT", "(1, 1, 1), (3, 3, 2), (9, 9, NULL), (7, 7, 5000000000)"),
}
DDL = ";\n".join(
    f"CREATE TABLE {name} ({columns}) USING parquet PARTITIONED BY (p)"
    for name, (columns, _) in TABLES.items()
)
CATALOG = Catalog.from_ddl(f"{DDL};\nCREATE TABLE group_d (k INT, n STRING) USING parquet")


@pytest.fixture(scope="module")
def grouped(spark: SparkSession) -> Iterator[SparkSession]:
    """The tables with their rows."""
    spark.sql(
        "CREATE OR REPLACE TEMP VIEW group_d AS "
        "SELECT * FROM VALUES (1, 'one'), (9, 'nine') AS (k, n)"
    )
    for name, ddl in zip(TABLES, DDL.split(";\n"), strict=True):
        spark.sql(f"DROP TABLE IF EXISTS {name}")
        spark.sql(ddl)
        spark.sql(f"INSERT INTO {name} VALUES {TABLES[name][1]}")
    yield spark
    for name in TABLES:
        spark.sql(f"DROP TABLE {name}")


def _rows(spark: SparkSession, text: str) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row) for row in spark.sql(text).collect())


def _joins() -> Iterator[str]:
    for kind in ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"):
        shown = "SELECT a.k, a.v, a.p AS pa, b.k AS kb, b.w, b.p AS pb FROM group_a a"
        for on in ("a.p = b.p", "a.p = b.p AND a.k = b.k", "a.p <=> b.p AND a.k = b.k"):
            yield f"{shown} {kind} group_b b ON {on}"
        yield f"SELECT * FROM group_a {kind} group_b USING (p)"
        yield f"{shown} {kind} group_b b ON a.p = b.p WHERE coalesce(a.v, 0) < 4"
        yield f"SELECT a.v, l.x FROM group_a a {kind} group_l l ON a.p = l.p"
    for kind in ("SEMI", "ANTI"):
        for on in ("a.p = b.p", "a.p <=> b.p AND a.k < b.k"):
            yield f"SELECT * FROM group_a a LEFT {kind} JOIN group_b b ON {on}"
    inner = "SELECT 1 FROM group_b b WHERE b.p = a.p AND b.w > a.v"
    yield f"SELECT a.* FROM group_a a WHERE EXISTS ({inner})"
    yield f"SELECT a.* FROM group_a a WHERE NOT EXISTS ({inner})"
    of_both = "group_a a LEFT JOIN group_b b ON a.p = b.p AND a.k = b.k"
    for tied in ("b.p = l.p", "a.p <=> l.p"):  # an outer join gives b.p other NULLs
        yield f"SELECT a.* FROM {of_both} WHERE NOT EXISTS (SELECT 1 FROM group_l l WHERE {tied})"
    yield "SELECT a.k FROM group_a a WHERE a.p IN (SELECT p FROM group_b)"
    yield "SELECT a.k FROM group_a a WHERE (a.p, a.k) IN (SELECT b.p, b.k FROM group_b b)"
    yield "SELECT a.k, b.w FROM group_a a, group_b b WHERE a.p = b.p ORDER BY w DESC, 1"
    both = "group_a a JOIN group_b b ON a.p = b.p"
    changed = both.replace("JOIN", "LEFT JOIN")
    yield f"SELECT a.p, count(*) AS n, sum(b.w) FROM {both} GROUP BY a.p"
    yield f"SELECT a.p, a.k FROM {changed} GROUP BY a.p, a.k HAVING count(b.k) < 2"
    yield f"SELECT DISTINCT a.p FROM {both}"
    yield f"SELECT a.k, max(b.w) OVER (PARTITION BY a.p) AS m FROM {both}"
    three = (
        "SELECT a.k, b.w, l.x FROM group_a a {} group_b b ON a.p = b.p {} group_l l ON {}.p = l.p"
    )
    for first, second, at in (
        ("JOIN", "JOIN", "b"),
        ("LEFT JOIN", "FULL JOIN", "b"),
        ("FULL JOIN", "LEFT JOIN", "a"),
    ):
        yield three.format(first, second, at)
    yield f"SELECT d.n, a.k FROM {both} LEFT JOIN group_d d ON d.k = a.k"
    yield f"SELECT d.n, a.k FROM group_d d RIGHT JOIN ({both}) ON d.k = a.k"
    yield f"WITH q AS (SELECT a.k FROM {both}) SELECT count(*) FROM q"
    yield f"SELECT max(x.k) FROM (SELECT a.k FROM {changed} -- all\n) x"
    yield "SELECT a.k FROM group_a a JOIN group_a b ON a.p = b.p"
    yield from _put_together(both, changed)


def _put_together(both: str, left: str) -> Iterator[str]:
    """Aggregates and DISTINCT over all groups."""
    full = both.replace("JOIN", "FULL JOIN")
    yield f"SELECT count(*), count(b.w), SUM(a.v), Max(`w`) FROM {both} WHERE a.v < 0"
    yield f"SELECT a.k AS c1, count(*) AS c2 FROM {left} GROUP BY a.k HAVING c2 < 3 ORDER BY c2, 1"
    yield f"SELECT a.p, count(*) FROM {full} GROUP BY a.p"
    yield (
        "SELECT a.k, sum(l.p) AS s, sum(l.p) FILTER (WHERE l.x > 1) AS f, bool_and(x > 1) AS y, "
        "bit_xor(l.x) AS b FROM group_a a JOIN group_l l ON a.p = l.p GROUP BY a.k"
    )
    yield (  # keys and aggregates that the list lacks, comments, what is computed of aggregates
        f"SELECT -- list\n coalesce(sum(b.w), 0) / count(*) AS m /* ; */ FROM {left} -- from\n"
        "GROUP BY a.k, b.k HAVING sum(a.v) > 0 AND b.k IS NOT NULL OR every(a.v > 1) -- end\n"
    )
    yield (
        f"SELECT a.k DIV 2 AS half, sum(CAST(a.v AS DECIMAL(28, 2))) AS s FROM {both} GROUP BY 1 "
        "HAVING s <> 5"
    )
    yield f"SELECT max(q.n) FROM (SELECT b.k, count_if(a.v > 1) AS n FROM {full} GROUP BY ALL) q"
    yield f"SELECT DISTINCT a.k FROM {both}"
    yield f"SELECT DISTINCT b.p FROM {left}"


QUERIES = list(_joins())
FEW = ("FULL JOIN", "<=>", "ANTI", " IN (", "ORDER BY", "GROUP BY a.p,", "RIGHT JOIN (")


@pytest.mark.turns(2)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            query,
            marks=()
            if query in {next(q for q in QUERIES if w in q) for w in FEW}
            else pytest.mark.long,
        )
        for query in QUERIES
    ],
)
def test_the_rows_are_the_same(text: str, grouped: SparkSession) -> None:
    result = rewrite(text, CATALOG, strategy="partition-wise", groups=3)
    assert result.changed, result.notes
    assert rewrite(result.sql, CATALOG, strategy="partition-wise", groups=3).sql == result.sql
    assert _rows(grouped, result.sql) == _rows(grouped, text)
    assert grouped.sql(result.sql).dtypes == grouped.sql(text).dtypes


REFUSED = (
    # What each would give instead: see docs/soundness.md.
    "SELECT avg(a.v) AS m FROM group_a a JOIN group_b b ON a.p = b.p",
    "SELECT min(CAST(a.v AS DOUBLE)) AS m FROM group_a a JOIN group_b b ON a.p = b.p",
    "SELECT sum(CAST(a.v AS DOUBLE)) AS s FROM group_a a JOIN group_b b ON a.p = b.p",
    "SELECT sum(CAST(a.v AS DECIMAL(29, 0))) AS s FROM group_a a JOIN group_b b ON a.p = b.p",
    "SELECT count(DISTINCT a.v) AS n FROM group_a a JOIN group_b b ON a.p = b.p",
    "SELECT first(a.v) AS f FROM group_a a JOIN group_b b ON a.p = b.p",
    "SELECT try_sum(a.v) AS s FROM group_a a JOIN group_b b ON a.p = b.p",
    "SELECT sum(a.v) IGNORE NULLS AS s FROM group_a a JOIN group_b b ON a.p = b.p",
    "SELECT sum(count(*)) OVER () AS s FROM group_a a JOIN group_b b ON a.p = b.p GROUP BY a.k",
    "SELECT DISTINCT count(*) AS n FROM group_a a JOIN group_b b ON a.p = b.p GROUP BY a.k",
    "SELECT a.k, count(*) + 1 FROM group_a a JOIN group_b b ON a.p = b.p GROUP BY a.k",
    "SELECT count(*) FROM group_a a JOIN group_b b ON a.p = b.p GROUP BY a.k + 1",
    "SELECT a.k, count(*) AS n FROM group_a a JOIN group_b b ON a.p = b.p GROUP BY a.k LIMIT 2",
    "SELECT count(*) AS n FROM group_a a JOIN group_b b ON a.p = b.p GROUP BY ROLLUP (a.k, b.k)",
    "SELECT row_number() OVER (ORDER BY a.k) FROM group_a a JOIN group_b b ON a.p = b.p",
    "SELECT a.k FROM group_a a JOIN group_b b ON a.p = b.p LIMIT 2",
    "SELECT a.k FROM group_a a JOIN group_b b ON a.p = b.p ORDER BY a.v",
    "SELECT rand() FROM group_a a JOIN group_b b ON a.p = b.p",
    "SELECT a.k FROM group_a a WHERE a.p NOT IN (SELECT b.p FROM group_b b)",
    "SELECT a.k FROM group_a a LEFT JOIN group_b b ON a.p = b.p WHERE EXISTS (SELECT 1 FROM "
    "group_l l WHERE l.p <=> b.p)",
    "SELECT a.k FROM group_a a JOIN group_b b ON a.p < b.p",
    "SELECT a.k FROM group_a a JOIN group_b b ON a.k = b.k",
    "SELECT d.n FROM group_d d LEFT JOIN (group_a a JOIN group_b b ON a.p = b.p) ON d.k = a.k",
    "SELECT d.n FROM group_a a JOIN group_b b ON a.p = b.p RIGHT JOIN group_d d ON d.k = a.k",
    "SELECT a.k FROM group_a a LEFT JOIN group_b b ON a.k = b.k AND a.p = 1 WHERE a.v = 1",
    "SELECT a.k FROM group_a a JOIN group_b b ON a.p = b.p UNION SELECT 1",
    "SELECT 1 FROM group_a a JOIN group_b b ON a.p = b.p JOIN (SELECT max(rand()) FROM group_d) x",
    "SELECT a.k FROM group_a a JOIN group_b b ON a.p = b.p JOIN (SELECT k FROM group_d LIMIT 1) x",
)


@pytest.mark.parametrize("text", REFUSED)
def test_what_would_give_other_rows_is_refused(text: str) -> None:
    result = rewrite(text, CATALOG, strategy="partition-wise", groups=3)
    assert not result.changed
    assert GROUPS_BEGIN not in result.sql
    assert any("not written by groups" in note.message for note in result.notes)


def test_what_goes_through_exchanges_is_counted(grouped: SparkSession) -> None:
    text = "SELECT /*+ MERGE(b) */ a.k, b.w FROM group_a a JOIN group_b b ON a.p = b.p"
    frame = grouped.sql(text)
    frame.collect()
    assert shuffled(frame) > 0
    alone = grouped.sql("SELECT k FROM group_a")
    alone.collect()
    assert shuffled(alone) == 0


def test_each_group_reads_its_own_partitions(grouped: SparkSession) -> None:
    text = "SELECT a.k, b.w FROM group_a a JOIN group_b b ON a.p = b.p"
    sql = rewrite(text, CATALOG, strategy="partition-wise", groups=2).sql
    plan = str(grouped.sql(f"EXPLAIN {sql}").collect()[0][0])
    matches = re.findall(r"PartitionFilters: \[.*?pmod\(hash\(p#\d+, 42\), 2\) = (\d)", plan)
    assert sorted(set(matches)) == ["0", "1"]
    assert len(matches) == plan.count("PartitionFilters: [") >= 4
