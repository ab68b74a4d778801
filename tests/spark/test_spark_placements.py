"""Each place that a predicate may go to, on a local Spark: no error, same rows, fewer files.

The fact has 20 partitions of one file each, the dimension keeps six of their days; what Spark reads
by itself is in docs/spark.md. All is run with broadcast joins and, as for large dimensions,
without.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from sqlrewrite import Catalog, Rewrite, rewrite
from sqlrewrite.run.file_rewriting import Request
from sqlrewrite.settings.table import Settings
from sqlrewrite.spark.plans.explain import By, Pruning, explain, missed
from sqlrewrite.spark.script import pairs
from sqlrewrite.spark.session import Session
from sqlrewrite.spark.target import Target
from sqlrewrite.text.markers import MARKER
from tests.support.compare_rows import difference

from .runs import THRESHOLD, broadcast_joins, in_database, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

DAYS, KEPT = 20, 6

DDL = """
CREATE TABLE clicks (visitor INT, amount INT, day INT) USING parquet PARTITIONED BY (day);
CREATE TABLE orders (visitor INT, amount INT, day INT) USING parquet PARTITIONED BY (day);
CREATE TABLE days (day INT, season STRING, weekday INT) USING parquet;
CREATE VIEW all_clicks AS SELECT day AS click_day, amount FROM clicks;
"""

ROWS = [
    f"INSERT INTO clicks SELECT id % 7, id, id % {DAYS} FROM range(0, 200, 1, 1)",
    f"INSERT INTO orders SELECT id % 5, id, id % {DAYS} FROM range(0, 100, 1, 1)",
    f"""INSERT INTO days
    SELECT id, CASE WHEN id < {KEPT} THEN 'winter' ELSE 'summer' END, id % 7
    FROM range(0, {DAYS + 3}, 1, 1)""",
    "INSERT INTO days VALUES (NULL, 'winter', 1), (3, 'winter', 3)",
]


@dataclass(frozen=True, slots=True)
class Case:
    """A query, what its predicate follows, and whether Spark prunes by itself where it broadcasts.

    ``reads_less`` names the fact whose predicate makes it read less where Spark cannot broadcast.
    """

    sql: str
    before: str
    natively: bool
    reads_less: str = "clicks"


CASES = {
    "inner": Case(
        "SELECT c.amount FROM clicks c JOIN days d ON c.day = d.day WHERE d.season = 'winter'",
        "WHERE d.season = 'winter' AND c.day IN",
        natively=True,
    ),
    "cross": Case(
        "SELECT c.amount FROM clicks c CROSS JOIN days d WHERE c.day = d.day AND d.weekday = 3",
        "AND d.weekday = 3 AND c.day IN",
        natively=False,
    ),
    "using": Case(
        "SELECT day, amount FROM clicks c JOIN days d USING (day) WHERE d.season = 'winter'",
        "WHERE d.season = 'winter' AND c.day IN",
        natively=True,
    ),
    "left-join-on": Case(
        "SELECT d.day, c.amount FROM days d LEFT JOIN clicks c ON d.day = c.day AND c.amount > 50 "
        "WHERE d.season = 'winter'",
        "AND c.amount > 50 AND c.day IN",
        natively=False,
    ),
    "right-join-on": Case(
        "SELECT d.day, c.amount FROM clicks c RIGHT JOIN days d ON d.day = c.day "
        "WHERE d.season = 'winter'",
        "ON d.day = c.day AND c.day IN",
        natively=False,
    ),
    "left-anti-on": Case(
        "SELECT d.day FROM days d LEFT ANTI JOIN clicks c ON d.day = c.day AND c.visitor = 3 "
        "WHERE d.season = 'winter'",
        "AND c.visitor = 3 AND c.day IN",
        natively=False,
    ),
    "left-semi-on": Case(
        "SELECT d.day FROM days d LEFT SEMI JOIN clicks c ON d.day = c.day AND c.visitor = 3 "
        "WHERE d.season = 'winter'",
        "AND c.visitor = 3 AND c.day IN",
        natively=False,
    ),
    "exists": Case(
        "SELECT d.day FROM days d WHERE d.season = 'winter' "
        "AND EXISTS (SELECT 1 FROM clicks c WHERE c.day = d.day AND c.visitor = 3)",
        "AND c.visitor = 3 AND c.day IN",
        natively=False,
    ),
    "not-exists": Case(
        "SELECT d.day FROM days d WHERE d.season = 'winter' "
        "AND NOT EXISTS (SELECT 1 FROM clicks c WHERE c.day = d.day AND c.visitor = 3)",
        "AND c.visitor = 3 AND c.day IN",
        natively=False,
    ),
    "scalar-subquery": Case(
        "SELECT d.day, (SELECT sum(c.amount) FROM clicks c WHERE c.day = d.day) AS total "
        "FROM days d WHERE d.season = 'winter'",
        "WHERE c.day = d.day AND c.day IN",
        natively=False,
    ),
    "union-branch": Case(
        "SELECT sum(u.amount) FROM (SELECT day, amount FROM clicks UNION ALL "
        "SELECT day, amount FROM orders WHERE amount > 3) u "
        "JOIN days d ON u.day = d.day WHERE d.season = 'winter'",
        "WHERE amount > 3 AND day IN",
        natively=True,
    ),
    "union-branch-orders": Case(
        "SELECT sum(u.amount) FROM (SELECT day, amount FROM clicks UNION ALL "
        "SELECT day, amount FROM orders) u JOIN days d ON u.day = d.day WHERE d.season = 'winter'",
        "FROM clicks WHERE day IN",
        natively=True,
        reads_less="orders",
    ),
    "cte": Case(
        "WITH daily AS (SELECT day, sum(amount) AS total FROM clicks GROUP BY day) "
        "SELECT daily.total FROM daily JOIN days d ON daily.day = d.day WHERE d.season = 'winter'",
        "FROM clicks WHERE day IN",
        natively=True,
    ),
    "view": Case(
        "SELECT v.amount FROM all_clicks v JOIN days d ON v.click_day = d.day "
        "WHERE d.season = 'winter'",
        "WHERE d.season = 'winter' AND v.click_day IN",
        natively=True,
    ),
    "or-in-where": Case(
        "SELECT c.amount FROM clicks c JOIN days d ON c.day = d.day "
        "WHERE d.season = 'winter' AND d.weekday = 1 OR d.season = 'winter' AND d.weekday > 3",
        "WHERE c.day IN",
        natively=True,
    ),
}


@pytest.fixture(scope="module")
def shop(spark: SparkSession) -> Iterator[SparkSession]:
    with in_database(spark, "placements", (*DDL.split(";")[:-1], *ROWS)):
        yield spark


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.from_ddl(DDL, schema="placements")


def _rewritten(case: Case, catalog: Catalog) -> Rewrite:
    result = rewrite(case.sql, catalog)
    assert MARKER in result.sql
    assert case.before in result.sql
    return result


@pytest.mark.turns(3)
@pytest.mark.parametrize("broadcast", [True, False], ids=["broadcast", "sort-merge"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_placement_keeps_rows_and_reads_less(
    shop: SparkSession, catalog: Catalog, case: Case, broadcast: bool
) -> None:
    sql = _rewritten(case, catalog).sql
    shop.sql("USE placements")
    with broadcast_joins(shop, broadcast):
        before, after = run(shop, case.sql), run(shop, sql)
    assert before.rows
    assert difference(before.rows, after.rows) is None
    pruned = before.partitions(case.reads_less) < DAYS
    assert pruned == (broadcast and case.natively)
    assert 0 < after.partitions(case.reads_less) <= KEPT


@pytest.mark.turns(3)
@pytest.mark.parametrize("broadcast", [True, False], ids=["broadcast", "sort-merge"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_the_plan_tells_what_is_read(
    shop: SparkSession, catalog: Catalog, case: Case, broadcast: bool
) -> None:
    """What ``explain`` calls planned is what a run prunes, and nothing else is."""
    shop.sql("USE placements")
    result = _rewritten(case, catalog)
    (pair,) = pairs("q.sql", result)
    with broadcast_joins(shop, broadcast):
        explained = explain(
            Session(shop, Target("local"), True), pair, frozenset({"clicks", "orders"})
        )
    scans = [scan for scan in explained.scans if scan.table.endswith(case.reads_less)]
    assert scans
    for scan in scans:
        assert scan.before is not None
        assert scan.after is not None
        natively = any(pruning.planned for pruning in scan.before.pruned_by)
        assert natively == (broadcast and case.natively)
        assert Pruning(By.OURS) in scan.after.pruned_by


@pytest.mark.turns(3)
@pytest.mark.parametrize("broadcast", [True, False], ids=["broadcast", "sort-merge"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_what_the_plan_has_is_left_to_spark(
    shop: SparkSession, catalog: Catalog, case: Case, broadcast: bool
) -> None:
    session = Session(shop, Target("local"), True)
    threshold = f"SET {THRESHOLD} = {10 << 20 if broadcast else -1};\n"
    everything = rewrite(threshold + case.sql, catalog)
    result = missed(session, "q.sql", everything, Request(catalog, Settings(when="missed")))
    assert result.changed is not (broadcast and case.natively)
    assert result.sql == (everything.sql if result.changed else everything.original)


FUNCTIONS = """
CREATE TEMPORARY FUNCTION tabled(least INT) RETURNS TABLE (amount INT) LANGUAGE SQL RETURN
  SELECT c.amount FROM clicks c JOIN days d ON c.day = d.day
  WHERE d.season = 'winter' AND d.weekday >= least;
CREATE TEMPORARY FUNCTION scalar(least INT) RETURNS INT RETURN
  (SELECT max(c.amount) FROM clicks c JOIN days d ON c.day = d.day
   WHERE d.season = 'winter' AND d.weekday >= least);
CREATE TEMPORARY FUNCTION shadowed(weekday INT) RETURNS TABLE (amount INT) RETURN
  SELECT c.amount FROM clicks c JOIN days d ON c.day = d.day WHERE d.day < weekday + 3;
"""


@pytest.mark.since("4.0", "there are no functions in SQL")
def test_a_function_returns_what_it_did(shop: SparkSession, catalog: Catalog) -> None:
    """Called with a constant, and with a column of what stands around it; a parameter gives way to
    a column of its name, and would be no name at all in a subquery."""
    shop.sql("USE placements")
    result = rewrite(FUNCTIONS, catalog)
    assert result.sql.count(MARKER) == 3
    calls = (
        "SELECT * FROM tabled(3)",
        "SELECT d.day, t.amount FROM days d, LATERAL tabled(d.weekday) t",
        "SELECT day, scalar(weekday) FROM days",
        "SELECT * FROM shadowed(-1)",
    )
    rows = []
    for text in (result.original, result.sql):
        for statement in text.split(";")[:-1]:
            shop.sql(statement.replace("TEMPORARY", "OR REPLACE TEMPORARY"))
        rows.append([run(shop, call).rows for call in calls])
    assert all(rows[0])
    for before, after in zip(*rows, strict=True):
        assert difference(before, after) is None
    with pytest.raises(Exception, match="UNRESOLVED_COLUMN"):
        shop.sql(FUNCTIONS.split(";")[0].replace("least;", "") + " AND c.day IN (SELECT least)")
