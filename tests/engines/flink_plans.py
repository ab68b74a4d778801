"""Joins, and whether Flink prunes their fact by itself: what its rules say, and Flink 2.3 itself
with Paimon's connector (tests/flink), where the two agree."""

DDL = """
CREATE TABLE f (v BIGINT, x BIGINT, k BIGINT) PARTITIONED BY (k);
CREATE TABLE fi (v BIGINT, k INT) PARTITIONED BY (k);
CREATE TABLE f2 (v BIGINT, h BIGINT, k BIGINT) PARTITIONED BY (k, h);
CREATE TABLE d (k BIGINT, n STRING, b BOOLEAN, m BIGINT);
CREATE TABLE e (k BIGINT, n STRING, b BOOLEAN, m BIGINT);
CREATE TABLE dp (k BIGINT, n STRING, q STRING) PARTITIONED BY (q);
"""

_OF = "SELECT * FROM f JOIN d ON f.k = d.k WHERE "
_SUITABLE = (
    "d.n = 'x'",
    "d.n <> 'x'",
    "d.m < 3",
    "d.m <= 3",
    "d.m > 3",
    "d.m >= 3",
    "d.m IN (3, 5)",
    "d.n NOT IN ('a', 'b')",
    "d.m BETWEEN 3 AND 5",
    "d.n LIKE 'x%y'",
    "d.n NOT LIKE 'x%y'",
    "d.b IS NOT TRUE",
    "d.b IS NOT FALSE",
    "(d.m = 3) IS TRUE",
    "NOT (d.m = 3)",
    "UPPER(d.n) = 'X'",
    "d.b AND d.m = 3 AND d.n IS NULL",
    "d.m = 3 AND d.b AND d.n IS NULL",
    "d.m = 3 OR d.n = 'x'",
    "d.m = 3 OR d.n = 'x' OR d.b",
    "d.k < 3",
    "f.k < 3",
)
_UNSUITABLE = (
    "d.b",
    "NOT d.b",
    "d.b = TRUE",
    "d.b IS TRUE",
    "d.b IS FALSE",
    "d.n IS NULL",
    "d.k IS NOT DISTINCT FROM d.m",
    "REGEXP(d.n, 'x')",
    "STARTSWITH(d.n, 'x')",
    "COALESCE(d.b, FALSE)",
    "d.b OR d.m = 3",
    "d.m = 3 OR d.b OR d.n = 'x'",
)
_X = "d.n = 'x'"

USELESS = tuple(_OF + query for query in _UNSUITABLE)
"""Not pruned by Flink, nor would an IN with such a filter be."""

PRUNED = (
    *(_OF + query for query in _SUITABLE),
    f"SELECT * FROM d JOIN f ON f.k = d.k WHERE {_X}",
    f"SELECT * FROM f, d WHERE f.k = d.k AND {_X}",
    f"SELECT * FROM d LEFT JOIN f ON f.k = d.k WHERE {_X}",
    f"SELECT * FROM f RIGHT JOIN d ON f.k = d.k WHERE {_X}",
    f"SELECT * FROM f LEFT JOIN d ON f.k = d.k WHERE {_X}",
    f"SELECT * FROM f WHERE f.k IN (SELECT k FROM d WHERE {_X})",
    f"SELECT * FROM d WHERE {_X} AND d.k IN (SELECT k FROM f)",
    f"SELECT * FROM f WHERE EXISTS (SELECT 1 FROM d WHERE d.k = f.k AND {_X})",
    f"SELECT * FROM d WHERE {_X} AND EXISTS (SELECT 1 FROM f WHERE d.k = f.k)",
    f"SELECT * FROM f2 JOIN d ON f2.k = d.k WHERE {_X}",
    f"SELECT * FROM f JOIN d ON f.k = d.k JOIN e ON f.x = e.k WHERE {_X}",
    f"SELECT * FROM f JOIN e ON f.x = e.k JOIN d ON f.k = d.k WHERE {_X}",
    f"SELECT * FROM e LEFT JOIN f ON f.x = e.k JOIN d ON f.k = d.k WHERE {_X}",
    f"SELECT * FROM (SELECT k AS kk, v FROM f WHERE v > 3) f JOIN d ON f.kk = d.k WHERE {_X}",
    "SELECT * FROM (SELECT k, v FROM f UNION ALL SELECT k, v FROM f2) f JOIN d ON f.k = d.k "
    f"WHERE {_X}",
    "SELECT * FROM f JOIN (SELECT k, n FROM d WHERE n = 'x' UNION ALL "
    "SELECT k, n FROM d WHERE n = 'y') d ON f.k = d.k",
    "SELECT * FROM f JOIN (SELECT d.k FROM d JOIN d AS d2 ON d.k = d2.m WHERE d.n = 'x') d "
    "ON f.k = d.k",
    "WITH c AS (SELECT k FROM d WHERE n = 'x') SELECT * FROM f JOIN c ON f.k = c.k",
)
"""Left to Flink: it collects the keys beside the join."""

_KIND = "with the fact "
_FILTER = "no filter on `d` is of a kind"
_SORTED = "a window, LIMIT, grouping or set operation"
_ALONE = "by the keys of a single table"
_ITSELF = "does not reach the join unchanged"

MISSED = {
    "SELECT * FROM f JOIN d ON f.k = d.k": _FILTER,
    "SELECT * FROM f LEFT JOIN d ON f.k = d.k AND d.n = 'x'": _KIND,
    "SELECT * FROM d RIGHT JOIN f ON f.k = d.k AND d.n = 'x'": _KIND,
    "SELECT * FROM f FULL JOIN d ON f.k = d.k AND d.n = 'x'": _KIND,
    "SELECT * FROM d LEFT JOIN f ON f.k = d.k AND d.n = 'x'": _FILTER,
    "SELECT * FROM f WHERE f.k NOT IN (SELECT k FROM d WHERE n = 'x')": _KIND,
    "SELECT * FROM f WHERE NOT EXISTS (SELECT 1 FROM d WHERE d.k = f.k AND d.n = 'x')": _KIND,
    "SELECT * FROM d WHERE d.n = 'x' AND d.k NOT IN (SELECT k FROM f)": _KIND,
    "SELECT * FROM d WHERE d.n = 'x' AND NOT EXISTS (SELECT 1 FROM f WHERE d.k = f.k)": _KIND,
    "SELECT * FROM d FULL JOIN f ON f.k = d.k AND d.n = 'x'": _KIND,
    "SELECT * FROM f RIGHT JOIN d ON f.k = d.k AND d.n = 'x'": _FILTER,
    "SELECT * FROM f JOIN d ON f.k > d.k WHERE d.n = 'x'": "no equality",
    "SELECT * FROM f JOIN d ON f.k + 1 = d.k WHERE d.n = 'x'": "no equality",
    "SELECT * FROM fi JOIN d ON fi.k = d.k WHERE d.n = 'x'": "a cast may hide the column",
    "SELECT * FROM f JOIN dp ON f.k = dp.k WHERE dp.n = 'x'": "`dp` is partitioned",
    "SELECT * FROM f JOIN f AS g ON f.k = g.k WHERE g.v = 3": "`f` is partitioned",
    "SELECT * FROM d, e, f WHERE f.k = d.k AND f.x = e.k AND d.n = 'x'": _ALONE,
    "SELECT * FROM f JOIN (SELECT k FROM d WHERE n = 'x' UNION ALL "
    "SELECT k FROM e WHERE n = 'y') d ON f.k = d.k": _ALONE,
    "SELECT * FROM f JOIN d ON f.k = d.k WHERE d.n = 'x' AND d.m IN (SELECT m FROM e)": _ALONE,
    "SELECT * FROM f JOIN (VALUES (CAST(1 AS BIGINT), 'x')) AS d(k, n) ON f.k = d.k "
    "WHERE d.n = 'x'": _ALONE,
    "SELECT * FROM (SELECT k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS s FROM f) f "
    "JOIN d ON f.k = d.k WHERE d.n = 'x'": _SORTED,
    "SELECT * FROM (SELECT k, SUM(v) OVER (PARTITION BY k) AS s FROM f) f "
    "JOIN d ON f.k = d.k WHERE d.n = 'x'": _SORTED,
    "SELECT * FROM f JOIN (SELECT k, SUM(m) OVER (PARTITION BY n) AS s FROM d WHERE n = 'x') d "
    "ON f.k = d.k": _SORTED,
    "SELECT * FROM f JOIN (SELECT k, RANK() OVER (ORDER BY n) AS r FROM d WHERE n = 'x') d "
    "ON f.k = d.k": _SORTED,
    "SELECT * FROM f JOIN (SELECT k, n FROM d WHERE n = 'x' ORDER BY n LIMIT 5) d "
    "ON f.k = d.k": _SORTED,
    "SELECT * FROM (SELECT k, sum(v) AS v FROM f GROUP BY k) f JOIN d ON f.k = d.k "
    "WHERE d.n = 'x'": _SORTED,
    "SELECT * FROM (SELECT DISTINCT k FROM f) f JOIN d ON f.k = d.k WHERE d.n = 'x'": _SORTED,
    "SELECT * FROM f JOIN (SELECT k, count(*) AS n FROM d WHERE n = 'x' GROUP BY k) d "
    "ON f.k = d.k": _SORTED,
    "SELECT * FROM f JOIN (SELECT k FROM d WHERE n = 'x' INTERSECT "
    "SELECT k FROM d WHERE m = 3) d ON f.k = d.k": _SORTED,
    "SELECT * FROM (SELECT CAST(k AS BIGINT) AS k FROM fi) f JOIN d ON f.k = d.k "
    "WHERE d.n = 'x'": _ITSELF,
    "SELECT * FROM f JOIN d ON f.k = d.k JOIN e ON f.k = e.k WHERE e.m = 3 AND d.m = 3": (
        "it prunes `f` by one join only"
    ),
    "SELECT * FROM f JOIN d ON f.k = d.k JOIN e ON d.n = e.n WHERE e.m = 3": _FILTER,
}
"""Not left to Flink, with the reason."""
