"""Which conditions undo a LEFT JOIN: nothing is written by one that is kept for rows without a
partner, or of which that is not known (docs/soundness.md, "Joins")."""

from __future__ import annotations

import pytest

from sqlrewrite import Catalog, rewrite

CATALOG = Catalog.from_ddl(
    "CREATE TABLE f (a INT, p INT) USING parquet PARTITIONED BY (p);"
    "CREATE TABLE d (k INT, n INT, c STRING, t TIMESTAMP, b BOOLEAN) USING parquet"
)
JOIN = "f LEFT JOIN d ON f.p = d.k AND d.n = 1"

UNDONE = ["coalesce(d.c, 'none') = 'summer'", "nvl(d.n, 0) > 5", "if(d.c = 'a', 1, 0) = 1"]

KEPT = [
    # What is put in the place of NULL meets the condition, or might by another type or collation.
    *("coalesce(d.c, 'a') = 'a'", "coalesce(d.c, 'A') = 'a'", "coalesce(d.c, '0') = '00'"),
    *("coalesce(d.c, 'f') = 'n'", "coalesce(d.n, 1.0) = 1", "coalesce(d.b, false) = (1 = 2)"),
    # Of these values nothing is known, nor of functions and words that nobody has met.
    *("coalesce(d.c, '${x}') = 'a'", "coalesce(d.c, :x) = 'a'", "coalesce(d.c, mine(1)) = 'a'"),
    *("mine(d.c) = 'a'", "coalesce(d.t, TIMESTAMP '2024-01-01') = TIMESTAMP '2024-01-01 00:00:00'"),
    *(
        "coalesce(d.c, X'61') = X'61'",
        "coalesce(d.c, 'é') = 'e'",
        "coalesce(d.c, concat('a')) = 'b'",
    ),
]

COUNTED = [
    # Rows without a partner change what is counted, ranked or cut off in the rows that come out.
    f"SELECT q.n FROM (SELECT f.a, max(d.c) AS c, count(*) AS n FROM {JOIN} GROUP BY f.a) q",
    f"SELECT q.n FROM (SELECT any_value(d.c) AS c, count(*) AS n FROM {JOIN}) q",
    f"SELECT q.n FROM (SELECT d.c, count(*) AS n FROM {JOIN} GROUP BY ROLLUP(d.c, f.a)) q",
    f"SELECT q.n FROM (SELECT d.c || 'x' AS c, count(*) OVER () AS n FROM {JOIN}) q",
    f"SELECT q.a FROM (SELECT f.a, max(d.c) OVER (PARTITION BY f.a) AS c FROM {JOIN}) q",
    f"SELECT q.a FROM (SELECT f.a, d.c FROM {JOIN} QUALIFY rank() OVER (ORDER BY f.a) = 1) q",
    f"SELECT q.a FROM (SELECT f.a, d.c, row_number() OVER (ORDER BY f.a) AS r FROM {JOIN}) q",
    f"SELECT q.a FROM (SELECT f.a, d.c FROM {JOIN} LIMIT 5) q",
    f"SELECT q.a FROM (SELECT f.a, d.c FROM {JOIN}) q TABLESAMPLE (50 PERCENT)",
    f"SELECT q.a FROM (SELECT f.a, explode(array(d.c, 'a')) AS c FROM {JOIN}) q",
]


@pytest.mark.parametrize("condition", UNDONE)
def test_a_condition_that_no_row_of_nulls_meets_undoes_the_join(condition: str) -> None:
    assert rewrite(f"SELECT f.a FROM {JOIN} WHERE {condition}", CATALOG).changed


@pytest.mark.parametrize("condition", KEPT)
def test_any_other_condition_leaves_it(condition: str) -> None:
    assert not rewrite(f"SELECT f.a FROM {JOIN} WHERE {condition}", CATALOG).changed


@pytest.mark.parametrize("query", COUNTED)
def test_rows_that_count_elsewhere_stay(query: str) -> None:
    assert not rewrite(f"{query} WHERE q.c = 'a'", CATALOG).changed


def test_a_condition_around_a_plain_derived_table_undoes_the_join() -> None:
    query = f"SELECT q.a FROM (SELECT f.a, d.c FROM {JOIN}) q WHERE q.c = 'a'"
    assert rewrite(query, CATALOG).changed
