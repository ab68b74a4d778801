"""Queries with the syntax that the closed world understands and that no other named case has.

Each is rewritten, and Spark must give the same rows both ways (``test_closed_world.py``). With the
cases of ``fixtures/`` that are rewritten, each row of ``sql/bind/closed_world.py``, a kind of node
or an argument of one, is then read by the rewriter and refereed.
"""

from __future__ import annotations

DDL = """
CREATE TABLE f (x INT, s STRING, a ARRAY<INT>, p INT) USING parquet PARTITIONED BY (p);
CREATE TABLE d (k INT, c STRING, n INT, t STRUCT<i: INT>, v DATE) USING parquet;
"""

VIEWS = (
    "CREATE TEMPORARY VIEW f AS SELECT * FROM VALUES (1, 'x', array(1), 1), "
    "(2, 'y', array(2, 3), 2), (3, NULL, NULL, 5), (4, 'x', array(), 9), "
    "(5, 'y', array(5), NULL), (6, 'x', array(6), 2) "
    "AS v(x, s, a, p)",
    "CREATE TEMPORARY VIEW d AS SELECT * FROM VALUES "
    "(1, 'a', 1, struct(1 AS i), DATE'2024-01-01'), (2, 'b', 2, struct(2 AS i), DATE'2024-02-01'), "
    "(2, 'a', 3, NULL, NULL), (5, 'A', NULL, struct(5 AS i), DATE'2023-01-01'), "
    "(NULL, 'a', 5, struct(1 AS i), DATE'2024-01-01'), (7, 'a', 0, struct(7 AS i), NULL) "
    "AS v(k, c, n, t, v)",
)

_JOIN = "SELECT f.x FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' AND "

CONDITIONS = (
    "d.n % 7 > 0 AND d.n DIV 2 >= 0",
    "d.c || 'b' = 'ab' AND d.n & 3 = d.n AND d.n | 1 > 0 AND d.n ^ 1 < 9 AND ~d.n < 0",
    "d.n >> 1 >= 0 AND d.n << 1 > 1 AND d.t.i = 1 AND d.t['i'] = 1",
    "d.c ILIKE 'A' AND d.c NOT LIKE 'b%' AND d.c NOT ILIKE 'B'",
    "d.c LIKE ANY ('a%', 'x') AND d.c LIKE ALL ('a', 'a%') AND NOT d.c LIKE 'a/%' ESCAPE '/'",
    "CASE d.c WHEN 'a' THEN true ELSE false END AND d.n IS DISTINCT FROM 2",
    "CASE d.c WHEN 'a' THEN d.n END > 0 AND TRY_CAST(d.c AS INT) IS NULL",
    "EXTRACT(YEAR FROM d.v) = 2024 AND d.v + INTERVAL '1' DAY > DATE'2024-01-01'",
    "d.v > DATE'2024-02-01' - INTERVAL '2-1' YEAR TO MONTH",
    "POSITION('a' IN d.c) = 1 AND TRIM(LEADING 'x' FROM d.c) = 'a'",
    "d.c COLLATE UTF8_LCASE = 'A' AND CAST(d.c AS STRING COLLATE UTF8_LCASE) = 'A'",
    "CAST(NULL AS STRUCT<i: INT, j: DECIMAL(5, 2)>) IS NULL AND concat(d.c, 'b') = 'ab'",
    "named_struct('q', d.n).q > 0 AND d.v + INTERVAL '1.5' SECOND > DATE'2020-01-01'",
    "exists(f.a, v -> v > 0) AND mask(d.c, lowerChar => 'q') = 'q'",
    "parse_json('{\"a\": 1}'):a::int = 1 AND d.c = 'a' 'a' IS NOT TRUE",
)

QUERIES = (
    *(_JOIN + condition for condition in CONDITIONS),
    "SELECT f.x FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' CLUSTER BY f.x",
    "SELECT f.x, sum(f.x) OVER (PARTITION BY f.p ORDER BY f.x ROWS BETWEEN 1 PRECEDING AND 1 "
    "FOLLOWING) FROM f JOIN d ON f.p = d.k WHERE d.c = 'a'",
    "SELECT lag(f.x) RESPECT NULLS OVER (ORDER BY f.x) FROM f JOIN d ON f.p = d.k WHERE d.c = 'a'",
    "SELECT f.p, f.s, count(*) FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' GROUP BY CUBE (f.p, f.s)",
    "SELECT f.p, count(*) FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' GROUP BY f.p WITH ROLLUP",
    "SELECT f.p, count(*) FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' GROUP BY f.p WITH CUBE",
    "SELECT f.p, f.s, count(*) FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' "
    "GROUP BY f.p, f.s GROUPING SETS ((f.p), (f.s))",
    "SELECT f.p, f.s, count(*) FROM f JOIN d ON f.p = d.k WHERE d.c = 'a' "
    "GROUP BY f.p, GROUPING SETS ((f.s), ()), ROLLUP (f.x)",
    "SELECT count(*) FILTER (WHERE f.x > 1), listagg(f.s) WITHIN GROUP (ORDER BY f.x) "
    "FROM f JOIN d ON f.p = d.k WHERE d.c = 'a'",
    "SELECT stack(2, f.x, f.p) AS (y) FROM f JOIN d ON f.p = d.k WHERE d.c = 'a'",
    "SELECT inline(array(struct(f.x AS a, f.p AS b))) AS (y, z) FROM f JOIN d ON f.p = d.k "
    "WHERE d.c = 'a'",
)
