"""What ``--when missed`` leaves to Spark is pruned in the plan of the Spark that runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from benchmarks.versions import left_to_spark, read_whole
from sqlrewrite import Catalog, rewrite
from sqlrewrite.spark.plans.empty_tables import warehouse
from sqlrewrite.spark.plans.planned import plan, planned
from sqlrewrite.spark.script import partitioned
from sqlrewrite.spark.session import Session
from sqlrewrite.spark.target import Target
from tests.referee.harness import spark_since

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DDL = """
CREATE TABLE sales (id INT, store INT, item INT, amount INT, at TIMESTAMP, day DATE, hour INT)
    USING parquet PARTITIONED BY (day, hour);
CREATE TABLE stock (item INT, pieces INT, day DATE) USING parquet PARTITIONED BY (day);
CREATE TABLE visits (who STRING, month STRING) USING parquet PARTITIONED BY (month);
CREATE TABLE days (day DATE, year INT, week INT, holiday BOOLEAN, label STRING, hour INT)
    USING parquet;
CREATE TABLE weeks (week INT, season STRING, first DATE) USING parquet;
CREATE TABLE stores (store INT, region INT, opened DATE, name STRING) USING parquet;
CREATE TABLE regions (region INT, name STRING, since DATE) USING parquet;
CREATE TABLE closings (store INT, day DATE, why STRING) USING parquet PARTITIONED BY (day);
CREATE VIEW holidays AS SELECT day, label FROM days WHERE holiday AND year = 2024;
CREATE VIEW all_sales AS SELECT amount, day FROM sales UNION ALL SELECT pieces, day FROM stock;
"""

F = "SELECT f.amount FROM sales f "
STAR = F + "JOIN days d ON f.day = d.day "

EVERY, NEVER = "3.5", "99.0"

SHAPES = {
    # A version: Spark prunes it by itself, and we leave it to Spark, since then.
    "a filter": (EVERY, STAR + "WHERE d.year = 2024"),
    "a comma": (EVERY, "SELECT f.amount FROM sales f, days d WHERE f.day = d.day AND d.week < 9"),
    "USING": (EVERY, "SELECT amount FROM sales JOIN days USING (day) WHERE label = 'x'"),
    "LEFT, the dimension on the right": (
        NEVER,
        F + "LEFT JOIN days d ON f.day = d.day AND d.year = 2024",
    ),
    "RIGHT, the dimension kept": (
        NEVER,
        F + "RIGHT JOIN days d ON f.day = d.day WHERE d.year = 2024",
    ),
    "FULL": (NEVER, F + "FULL JOIN days d ON f.day = d.day AND d.year = 2024"),
    "LEFT SEMI": (EVERY, F + "LEFT SEMI JOIN days d ON f.day = d.day AND d.year = 2024"),
    "LEFT ANTI": (NEVER, F + "LEFT ANTI JOIN days d ON f.day = d.day AND d.year = 2024"),
    "IN": (EVERY, F + "WHERE f.day IN (SELECT d.day FROM days d WHERE d.holiday AND d.week = 1)"),
    "EXISTS": (
        EVERY,
        F + "WHERE EXISTS (SELECT 1 FROM days d WHERE d.day = f.day AND d.year = 2024)",
    ),
    "NOT EXISTS": (
        NEVER,
        F + "WHERE NOT EXISTS (SELECT 1 FROM days d WHERE d.day = f.day AND d.year = 2024)",
    ),
    "two dimensions": (
        EVERY,
        STAR + "JOIN stores s ON f.store = s.store WHERE d.year = 2024 AND s.name = 'x'",
    ),
    "two keys": (
        EVERY,
        F + "JOIN days d ON f.day = d.day AND f.hour = d.hour WHERE d.label LIKE 'a%'",
    ),
    "a snowflake": (
        NEVER,
        STAR + "JOIN weeks w ON d.week = w.week WHERE w.season = 'snow'",
    ),
    "a snowflake inside": (
        EVERY,
        F + "JOIN (SELECT d.day FROM days d WHERE d.week IN (SELECT w.week FROM weeks w "
        "WHERE w.season = 'snow')) d ON f.day = d.day",
    ),
    "three facts' worth of joins": (
        EVERY,
        STAR + "JOIN stock g ON g.day = d.day AND g.item = f.item WHERE d.year = 2024",
    ),
    "two facts by one key": (
        EVERY,
        F + "JOIN stock g ON f.day = g.day JOIN days d ON g.day = d.day WHERE d.year = 2024",
    ),
    "a self-join of a CTE": (
        EVERY,
        "WITH c AS (SELECT f.store, sum(f.amount) AS total, d.week FROM sales f JOIN days d "
        "ON f.day = d.day WHERE d.year = 2024 GROUP BY f.store, d.week) "
        "SELECT a.total, b.total FROM c a JOIN c b ON a.week = b.week - 1 AND a.store = b.store",
    ),
    "a dimension that is a CTE twice": (
        EVERY,
        "WITH c AS (SELECT day, week FROM days WHERE year = 2024) SELECT f.amount, g.pieces "
        "FROM sales f JOIN c ON f.day = c.day JOIN stock g ON g.item = f.item "
        "JOIN c e ON g.day = e.day",
    ),
    "a union": (
        EVERY,
        "SELECT u.n FROM (SELECT amount AS n, day FROM sales UNION ALL SELECT pieces, day FROM "
        "stock) u JOIN days d ON u.day = d.day WHERE d.year = 2024",
    ),
    "a union with a cast": (
        NEVER,
        "SELECT u.n FROM (SELECT amount AS n, day FROM sales UNION ALL SELECT 1, label FROM "
        "days) u JOIN weeks w ON u.day = w.season WHERE w.week = 1",
    ),
    "a view of a union": (
        EVERY,
        "SELECT u.amount FROM all_sales u JOIN days d ON u.day = d.day WHERE d.year = 2024",
    ),
    "a union of dimensions": (
        EVERY,
        F + "JOIN (SELECT day FROM days WHERE year = 2024 UNION SELECT first FROM weeks "
        "WHERE week = 1) d ON f.day = d.day",
    ),
    "a view": (EVERY, F + "JOIN holidays h ON f.day = h.day"),
    "a view with a filter": (EVERY, F + "JOIN holidays h ON f.day = h.day WHERE h.label = 'x'"),
    "nested derived tables": (
        EVERY,
        "SELECT y.n FROM (SELECT x.amount AS n, x.day FROM (SELECT amount, day FROM sales WHERE "
        "amount > 1) x) y JOIN (SELECT z.day FROM (SELECT day, year FROM days) z WHERE "
        "z.year = 2024) d ON y.day = d.day",
    ),
    "a grouped fact": (
        EVERY,
        "SELECT g.n FROM (SELECT day, count(*) AS n FROM sales GROUP BY day) g JOIN days d "
        "ON g.day = d.day WHERE d.year = 2024",
    ),
    "a fact behind a LIMIT": (
        NEVER,
        "SELECT g.amount FROM (SELECT amount, day FROM sales LIMIT 9) g JOIN days d "
        "ON g.day = d.day WHERE d.year = 2024",
    ),
    "a fact behind a window": (
        NEVER,
        "SELECT g.n FROM (SELECT day, row_number() OVER (PARTITION BY store ORDER BY id) AS n "
        "FROM sales) g JOIN days d ON g.day = d.day WHERE d.year = 2024",
    ),
    "a DISTINCT dimension": (
        EVERY,
        F + "JOIN (SELECT DISTINCT day FROM days WHERE year = 2024) d ON f.day = d.day",
    ),
    "a grouped dimension": (
        EVERY,
        F + "JOIN (SELECT day FROM days GROUP BY day HAVING count(*) > 3) d ON f.day = d.day",
    ),
    "a dimension of a maximum": (
        EVERY,
        F + "JOIN (SELECT max(day) AS day FROM days WHERE year < 2024) d ON f.day = d.day",
    ),
    "a dimension with a LIMIT": (
        NEVER,
        F + "JOIN (SELECT day FROM days ORDER BY day DESC LIMIT 3) d ON f.day = d.day",
    ),
    "a filtered dimension with a LIMIT": (
        EVERY,
        F + "JOIN (SELECT day FROM days WHERE year = 2024 ORDER BY day LIMIT 3) d ON f.day = d.day",
    ),
    "the first rows of a window": (
        NEVER,
        F + "JOIN (SELECT * FROM (SELECT day, rank() OVER (ORDER BY year) AS r FROM days) "
        "WHERE r <= 2) d ON f.day = d.day",
    ),
    "VALUES": ("4.3", F + "JOIN (VALUES (DATE'2024-01-01')) AS d(day) ON f.day = d.day"),
    "VALUES with a filter": (
        "4.3",
        F + "JOIN (VALUES (DATE'2024-01-01', 1), (DATE'2024-01-02', 2)) AS d(day, n) "
        "ON f.day = d.day WHERE d.n = 1",
    ),
    "DISTINCT VALUES": (
        NEVER,
        F + "JOIN (SELECT DISTINCT k FROM VALUES (1), (2) AS v(k)) v ON f.hour = v.k",
    ),
    "VALUES joined before": (
        NEVER,
        F + "JOIN (SELECT d.day FROM days d JOIN VALUES (1), (2) AS v(k) ON d.week = v.k) d "
        "ON f.day = d.day",
    ),
    "a CTE of VALUES": (
        "4.3",
        "WITH v(k, c) AS (VALUES (3, 'a'), (4, 'b'), (9, 'a')) SELECT f.amount FROM sales f "
        "JOIN v ON f.hour = v.k WHERE v.c = 'a'",
    ),
    "EXISTS in VALUES": (
        "4.3",
        F + "WHERE EXISTS (SELECT 1 FROM VALUES (1), (2) AS v(k) WHERE v.k = f.hour)",
    ),
    "a filter of an expression": (EVERY, STAR + "WHERE upper(d.label) = 'X'"),
    "a filter of nullif": (NEVER, STAR + "WHERE nullif(d.year, 1) = 2024"),
    "a filter of a CASE": (
        NEVER,
        STAR + "WHERE CASE WHEN d.week > 9 THEN d.year END = 2024",
    ),
    "a filter of decode": (NEVER, STAR + "WHERE decode(d.label, 'a', 1, 'b', 2, 0) = 1"),
    "a filter of decode, two columns": (
        EVERY,
        STAR + "WHERE decode(d.label, 'a', d.week, d.year) = 1",
    ),
    "a filter of regexp_substr": (NEVER, STAR + "WHERE regexp_substr(d.label, 'D.') = 'DE'"),
    "a filter of nullif inside": (
        NEVER,
        F + "JOIN (SELECT day, nullif(label, '') AS label FROM days) d ON f.day = d.day "
        "WHERE d.label = 'x'",
    ),
    "a filter of nullif inside, two values": (
        EVERY,
        F + "JOIN (SELECT day, nullif(label, '') AS label FROM days) d ON f.day = d.day "
        "WHERE d.label IN ('x', 'y')",
    ),
    "a filter of nullif two levels inside": (
        NEVER,
        F + "JOIN (SELECT day FROM (SELECT day, nullif(label, '') AS label FROM days) "
        "WHERE label = 'x') d ON f.day = d.day",
    ),
    "a filter of a CASE in a CTE": (
        NEVER,
        "WITH d AS (SELECT day, CASE WHEN week > 9 THEN year END AS year FROM days) "
        + STAR.replace("days d", "d")
        + "WHERE d.year = 2024",
    ),
    "a filter of nullif in one branch": (
        EVERY,
        F + "JOIN (SELECT day, nullif(label, '') AS label FROM days UNION ALL "
        "SELECT first, season FROM weeks) d ON f.day = d.day WHERE d.label = 'x'",
    ),
    "a filter of nullif in both branches": (
        NEVER,
        F + "JOIN (SELECT day, nullif(label, '') AS label FROM days UNION ALL "
        "SELECT first, nullif(season, 'x') FROM weeks) d ON f.day = d.day WHERE d.label = 'x'",
    ),
    "a filter of groups of nullif": (
        NEVER,
        F + "JOIN (SELECT day, nullif(label, '') AS label FROM days GROUP BY day, "
        "nullif(label, '')) d ON f.day = d.day WHERE d.label = 'x'",
    ),
    "a filter of a maximum of nullif": (
        EVERY,
        F + "JOIN (SELECT day, max(nullif(label, '')) AS label FROM days GROUP BY day) d "
        "ON f.day = d.day WHERE d.label = 'x'",
    ),
    "a maximum of nullif in HAVING": (
        EVERY,
        F + "JOIN (SELECT day FROM days GROUP BY day HAVING max(nullif(label, '')) = 'x') d "
        "ON f.day = d.day",
    ),
    "a condition as a column": (
        EVERY,
        F + "JOIN (SELECT day, year = 2024 AS current FROM days) d ON f.day = d.day "
        "WHERE d.current",
    ),
    "not a condition as a column": (
        EVERY,
        F + "JOIN (SELECT day, year = 2024 AS current FROM days) d ON f.day = d.day "
        "WHERE NOT d.current",
    ),
    "a boolean inside": (
        NEVER,
        F + "JOIN (SELECT day, holiday AS current FROM days) d ON f.day = d.day WHERE d.current",
    ),
    "IN beside OR": (
        NEVER,
        STAR + "WHERE d.year = 2024 AND (d.week IN (SELECT w.week FROM weeks w WHERE "
        "w.season = 'snow') OR d.label = 'x')",
    ),
    "EXISTS in a CASE, inside": (
        NEVER,
        F + "JOIN (SELECT day, year FROM days d WHERE CASE WHEN EXISTS (SELECT 1 FROM weeks w "
        "WHERE w.week = d.week) THEN d.label = 'x' ELSE true END) d ON f.day = d.day "
        "WHERE d.year = 2024",
    ),
    "NOT IN beside AND": (
        EVERY,
        STAR + "WHERE d.year = 2024 AND d.week NOT IN (SELECT w.week FROM weeks w)",
    ),
    "a list of one boolean": (NEVER, STAR + "WHERE d.holiday NOT IN (false, false)"),
    "a list of two booleans": (EVERY, STAR + "WHERE d.holiday IN (true, false)"),
    "a column beside itself": (NEVER, STAR + "WHERE d.label = d.label AND d.week <= d.week"),
    "constants": (
        NEVER,
        F + "JOIN (SELECT day FROM days WHERE 1 = 1 AND current_date() > DATE'2020-01-01') d "
        "ON f.day = d.day",
    ),
    "OR": (EVERY, STAR + "WHERE d.year = 2024 OR d.week = 3"),
    "OR with a boolean": (NEVER, STAR + "WHERE d.year = 2024 OR d.holiday"),
    "a boolean": (NEVER, STAR + "WHERE d.holiday"),
    "IS NULL": (NEVER, STAR + "WHERE d.label IS NULL"),
    "a cast of the key": (
        EVERY,
        "SELECT v.who FROM visits v JOIN days d ON v.month = CAST(d.week AS STRING) "
        "WHERE d.year = 2024",
    ),
    "a function of the key": (
        EVERY,
        "SELECT v.who FROM visits v JOIN days d ON v.month = date_format(d.day, 'yyyy-MM') "
        "WHERE d.year = 2024",
    ),
    "a function of the fact's column": (
        EVERY,
        F + "JOIN days d ON year(f.day) = d.year WHERE d.label = 'x'",
    ),
    "another type of key": (
        EVERY,
        F + "JOIN (SELECT CAST(hour AS BIGINT) AS h FROM days WHERE year = 2024) d ON f.hour = d.h",
    ),
    "a null-safe key": (NEVER, F + "JOIN days d ON f.day <=> d.day WHERE d.year = 2024"),
    "a range of keys": (NEVER, F + "JOIN days d ON f.day > d.day WHERE d.year = 2024"),
    "a scalar subquery as a filter": (
        EVERY,
        STAR + "WHERE d.week = (SELECT max(w.week) FROM weeks w)",
    ),
    "a scalar subquery as the key": (
        NEVER,
        F + "WHERE f.day = (SELECT max(d.day) FROM days d WHERE d.year = 2024)",
    ),
    "constants on the key": (NEVER, STAR + "WHERE d.day > DATE'2024-01-01'"),
    "a broadcast hint": (
        EVERY,
        "SELECT /*+ BROADCAST(d) */ f.amount FROM sales f JOIN days d ON f.day = d.day "
        "WHERE d.year = 2024",
    ),
    "a broadcast hint for the fact": (
        NEVER,
        "SELECT /*+ BROADCAST(f) */ f.amount FROM sales f JOIN days d ON f.day = d.day "
        "WHERE d.year = 2024",
    ),
    "a merge hint": (
        NEVER,
        "SELECT /*+ MERGE(d) */ f.amount FROM sales f JOIN days d ON f.day = d.day "
        "WHERE d.year = 2024",
    ),
    "a hash hint": (
        NEVER,
        "SELECT /*+ SHUFFLE_HASH(d) */ f.amount FROM sales f JOIN days d ON f.day = d.day "
        "WHERE d.year = 2024",
    ),
    "a partitioned dimension": (
        NEVER,
        F + "JOIN closings c ON f.day = c.day WHERE c.why = 'snow'",
    ),
    "LATERAL": (
        NEVER,
        "SELECT x.amount FROM days d, LATERAL (SELECT f.amount FROM sales f WHERE "
        "f.day = d.day) x WHERE d.year = 2024",
    ),
    "a cross join": (
        NEVER,
        F + "CROSS JOIN days d WHERE f.day = d.day AND d.year = 2024",
    ),
    "in a subquery": (
        EVERY,
        "SELECT s.name FROM stores s WHERE s.store IN (SELECT f.store FROM sales f JOIN days d "
        "ON f.day = d.day WHERE d.year = 2024)",
    ),
}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.from_ddl(DDL)


@pytest.fixture(scope="module")
def empty(spark: SparkSession, catalog: Catalog) -> Iterator[Session]:
    """A session with the tables, empty, of the sizes that are assumed where none are known."""
    session = Session(spark.newSession(), Target(), classic=True)
    with warehouse(session, catalog, [sql for _, sql in SHAPES.values()]):
        yield session


@pytest.mark.spark
@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_left_to_spark_is_planned(shape: str, empty: Session, catalog: Catalog) -> None:
    since, sql = SHAPES[shape]
    candidates = rewrite(sql, catalog, when="missed", spark_version=empty.spark.version).candidates
    scans = planned(empty, plan(empty, sql, shape), partitioned(catalog)).scans
    assert not read_whole(candidates, scans), scans
    assert bool(left_to_spark(candidates)) is spark_since(since)
    # Where the version is not known, only what every version prunes is left to it.
    unknown = rewrite(sql, catalog, when="missed").candidates
    assert bool(left_to_spark(unknown)) is (since == EVERY)
