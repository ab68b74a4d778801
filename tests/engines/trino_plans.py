"""Joins, and whether Trino prunes their fact by itself: what its rules say, and Trino 483 itself of
tables of Hive's connector and Iceberg's (tests/trino), by the splits that it reads."""

DDL = """
CREATE TABLE f (v BIGINT, x BIGINT, k BIGINT) PARTITIONED BY (k);
CREATE TABLE fi (v BIGINT, k INT) PARTITIONED BY (k);
CREATE TABLE fd (v BIGINT, k DOUBLE) PARTITIONED BY (k);
CREATE TABLE fc (v BIGINT, k DECIMAL(9, 2)) PARTITIONED BY (k);
CREATE TABLE fs (v BIGINT, k STRING) PARTITIONED BY (k);
CREATE TABLE ft (v BIGINT, k DATE) PARTITIONED BY (k);
CREATE TABLE d (k BIGINT, n STRING, b BOOLEAN, m BIGINT, i INT, r DOUBLE, c DECIMAL(9, 2),
  p DATE, t TIMESTAMP);
CREATE TABLE e (k BIGINT, n STRING, b BOOLEAN);
CREATE TABLE g (k BIGINT);
"""
"""Each fact has 20 partitions; ``b`` is true of two rows of a dimension, and g has two."""

_OF = "SELECT * FROM f JOIN d ON f.k = d.k"

PRUNED = (
    f"{_OF} WHERE d.b",
    f"{_OF} AND d.b",
    "SELECT * FROM f JOIN g ON f.k = g.k",
    "SELECT * FROM f, d WHERE f.k = d.k AND d.b",
    "SELECT * FROM f RIGHT JOIN d ON f.k = d.k WHERE d.b",
    "SELECT * FROM f LEFT JOIN d ON f.k = d.k WHERE d.b",
    "SELECT * FROM f FULL JOIN d ON f.k = d.k WHERE d.b",
    "SELECT * FROM f WHERE k IN (SELECT k FROM d WHERE b)",
    "SELECT * FROM f WHERE EXISTS (SELECT 1 FROM d WHERE d.k = f.k AND d.b)",
    "SELECT * FROM f WHERE EXISTS (SELECT 1 FROM d WHERE d.k = f.k AND d.m < f.v AND d.b)",
    "SELECT * FROM f CROSS JOIN LATERAL (SELECT * FROM d WHERE f.k = d.k) d WHERE d.b",
    "SELECT * FROM f JOIN d ON f.k <= d.m WHERE d.b",
    "SELECT * FROM f JOIN d ON f.k < d.m + 1 WHERE d.b",
    "SELECT * FROM f JOIN d ON f.k >= d.m + 16 WHERE d.b",
    "SELECT * FROM f JOIN d ON f.k > d.m + 17 WHERE d.b",
    "SELECT * FROM f JOIN d ON f.k IS NOT DISTINCT FROM d.k WHERE d.b",
    "SELECT * FROM f JOIN d ON f.k = d.k + 1 WHERE d.b",
    "SELECT * FROM f JOIN d ON f.k = CAST(d.n AS bigint) WHERE d.b",
    "SELECT * FROM fi JOIN d ON fi.k = d.k WHERE d.b",
    "SELECT * FROM f JOIN d ON f.k = d.i WHERE d.b",
    "SELECT * FROM f JOIN d ON f.k = d.c WHERE d.b",
    "SELECT * FROM fc JOIN d ON fc.k = d.k WHERE d.b",
    "SELECT * FROM fd JOIN d ON fd.k = d.r WHERE d.b",
    "SELECT * FROM fs JOIN d ON fs.k = d.n WHERE d.b",
    "SELECT * FROM fs JOIN d ON fs.k = CAST(d.k AS varchar) WHERE d.b",
    "SELECT * FROM ft JOIN d ON ft.k = d.p WHERE d.b",
    "SELECT * FROM ft JOIN d ON ft.k = CAST(d.t AS date) WHERE d.b",
    "SELECT * FROM (SELECT k, sum(v) AS v FROM f GROUP BY k) f JOIN d ON f.k = d.k WHERE d.b",
    "SELECT * FROM (SELECT DISTINCT k FROM f) f JOIN d ON f.k = d.k WHERE d.b",
    "SELECT * FROM (SELECT k, v FROM f UNION ALL SELECT k, v FROM f) f JOIN d ON f.k = d.k "
    "WHERE d.b",
    "SELECT * FROM (SELECT k, v FROM f UNION SELECT k, v FROM f) f JOIN d ON f.k = d.k WHERE d.b",
    "SELECT * FROM (SELECT k AS kk, v FROM f WHERE v > 3) f JOIN d ON f.kk = d.k WHERE d.b",
    "SELECT * FROM (SELECT k, rank() OVER (PARTITION BY k ORDER BY v) AS r FROM f) f "
    "JOIN d ON f.k = d.k WHERE d.b",
    "SELECT * FROM f JOIN d ON f.k = d.k JOIN e ON f.x = e.k WHERE d.b",
    "SELECT * FROM f JOIN e ON f.x = e.k JOIN d ON f.k = d.k WHERE d.b",
    "SELECT * FROM e JOIN f ON f.x = e.k JOIN d ON f.k = d.k WHERE d.b",
    "SELECT * FROM f LEFT JOIN e ON f.x = e.k JOIN d ON f.k = d.k WHERE d.b",
    "SELECT * FROM e LEFT JOIN f ON f.x = e.k JOIN d ON f.k = d.k WHERE d.b",
    "SELECT * FROM e LEFT JOIN f ON f.x = e.k RIGHT JOIN d ON f.k = d.k WHERE d.b",
    "SELECT * FROM e LEFT JOIN f ON f.x = e.k WHERE f.k IN (SELECT k FROM d WHERE b)",
    "WITH c AS (SELECT k FROM d WHERE b) SELECT * FROM f JOIN c ON f.k = c.k",
    "SELECT * FROM f JOIN (SELECT k, count(*) AS n FROM d WHERE b GROUP BY k) d ON f.k = d.k",
    "SELECT * FROM f JOIN (SELECT k FROM d WHERE b ORDER BY n LIMIT 2) d ON f.k = d.k",
    "SELECT * FROM f JOIN (SELECT k FROM d WHERE b UNION ALL SELECT k FROM e WHERE b) d "
    "ON f.k = d.k",
    "SELECT * FROM f JOIN (VALUES (BIGINT '3', 'x'), (5, 'y')) AS d(k, n) ON f.k = d.k "
    "WHERE d.n = 'x'",
)
"""Left to Trino: it reads no more than the partitions that are wanted."""

_KIND = "with the fact "
_BUILT = '"f" is on the build side of its join with "d"'
_HIDDEN = "a cast may hide the fact's column"
_NONE = "no comparison joins the fact's own column"
_ITSELF = "does not reach the join unchanged"

MISSED = {
    "SELECT * FROM d JOIN f ON f.k = d.k WHERE d.b": _BUILT,
    "SELECT * FROM d, f WHERE f.k = d.k AND d.b": _BUILT,
    "SELECT * FROM d RIGHT JOIN f ON f.k = d.k WHERE d.b": _BUILT,
    "SELECT * FROM d JOIN f ON f.k <= d.m WHERE d.b": _BUILT,
    "SELECT * FROM d JOIN f ON f.k IS NOT DISTINCT FROM d.k WHERE d.b": _BUILT,
    "SELECT * FROM e JOIN d ON d.n = e.n JOIN f ON f.k = d.k WHERE e.b": _BUILT,
    "SELECT * FROM d LEFT JOIN f ON f.k = d.k WHERE d.b": _KIND,
    "SELECT * FROM d LEFT JOIN f ON f.k = d.k AND d.b": _KIND,
    "SELECT * FROM f LEFT JOIN d ON f.k = d.k AND d.b": _KIND,
    "SELECT * FROM d RIGHT JOIN f ON f.k = d.k AND d.b": _KIND,
    "SELECT * FROM f RIGHT JOIN d ON f.k = d.k AND d.b": "the ON of a RIGHT JOIN",
    "SELECT * FROM f FULL JOIN d ON f.k = d.k AND d.b": _KIND,
    "SELECT * FROM d FULL JOIN f ON f.k = d.k WHERE d.b": _KIND,
    "SELECT * FROM f WHERE k NOT IN (SELECT k FROM d WHERE b)": _KIND,
    "SELECT * FROM f WHERE NOT EXISTS (SELECT 1 FROM d WHERE d.k = f.k AND d.b)": _KIND,
    "SELECT * FROM d WHERE b AND k IN (SELECT k FROM f)": _KIND,
    "SELECT * FROM d WHERE b AND EXISTS (SELECT 1 FROM f WHERE d.k = f.k)": _KIND,
    "SELECT * FROM d CROSS JOIN LATERAL (SELECT * FROM f WHERE f.k = d.k) f WHERE d.b": _KIND,
    "SELECT * FROM f JOIN d ON f.k + 1 = d.k WHERE d.b": _NONE,
    "SELECT * FROM f JOIN d ON CAST(f.k AS integer) = d.i WHERE d.b": _NONE,
    "SELECT * FROM fs JOIN d ON CAST(fs.k AS bigint) = d.k WHERE d.b": _NONE,
    "SELECT * FROM f JOIN d ON f.k = d.r WHERE d.b": _HIDDEN,
    "SELECT * FROM fd JOIN d ON fd.k IS NOT DISTINCT FROM d.r WHERE d.b": _HIDDEN,
    "SELECT * FROM ft JOIN d ON ft.k = d.t WHERE d.b": _HIDDEN,
    "SELECT * FROM (SELECT k, rank() OVER (ORDER BY v) AS r FROM f) f JOIN d ON f.k = d.k "
    "WHERE d.b": _ITSELF,
    "SELECT * FROM (SELECT k, v FROM f ORDER BY v LIMIT 100) f JOIN d ON f.k = d.k "
    "WHERE d.b": _ITSELF,
}
"""Not left to Trino, which reads all, with the reason."""

NO_TIE = (
    "SELECT * FROM f JOIN d ON f.k <> d.k WHERE d.b",
    "SELECT * FROM f WHERE k IN (SELECT k FROM d WHERE b) OR v = 3",
    "SELECT v, k IN (SELECT k FROM d WHERE b) FROM f",
)
"""Trino reads all, and there is nothing to write either."""

CHAINED = "SELECT * FROM f JOIN d ON f.k = d.k JOIN e ON d.n = e.n WHERE e.b"
"""Not left to Trino, as the keys of d are fewer only if its scan waits for those of e."""

FLOATS = "SELECT * FROM fi JOIN d ON fi.k = d.r WHERE d.b"
"""Pruned, by a saturated floor cast; floating-point keys are never written, and not told apart."""
