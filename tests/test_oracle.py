"""The oracle's probes, on a small schema in DuckDB.

What a query needs is known by trying: without the rows of a partition that matters, the result is
another. Every such partition must be among those the probe finds, however the query is shaped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import duckdb
import pytest

from benchmarks.oracle import UNTIED, Database, Measured, as_json, measure, measure_scan, sentences
from benchmarks.probes import NULL_PARTITION, Reach, fact_scans, kept, outward, own_block, parse
from benchmarks.tpcds_data import load_tpcds, spark_queries
from sqlrewrite import Catalog

COLUMNS = {"sales": "day", "refunds": "day"}
DDL = """
CREATE TABLE sales (item INT, amount INT, day INT) PARTITIONED BY (day);
CREATE TABLE refunds (item INT, amount INT, day INT) PARTITIONED BY (day);
CREATE TABLE calendar (day INT, week INT, year INT);
CREATE TABLE item (item INT, kind STRING);
"""
ROWS = """
INSERT INTO sales VALUES
  (1, 10, 0), (2, 21, 0), (1, 32, 1), (3, 43, 2), (2, 54, 3), (4, 65, 4), (1, 76, 5), (5, 87, 6),
  (9, 98, 7), (2, 109, NULL);
INSERT INTO refunds VALUES (1, 3, 1), (2, 4, 2), (3, 5, 4), (7, 6, 5), (1, 7, NULL);
INSERT INTO calendar VALUES
  (0, 0, 1), (1, 0, 1), (2, 1, 1), (3, 1, 1), (4, 2, 2), (5, 2, 2), (6, 3, 2), (8, 4, 2);
INSERT INTO item VALUES (1, 'a'), (2, 'a'), (3, 'b'), (4, 'b'), (5, 'c'), (6, 'c');
"""

# The scan to look at is the first of sales.
CASES = {
    "join": """
        SELECT sum(amount) FROM sales s JOIN calendar c ON s.day = c.day WHERE c.year = 1""",
    "no join": "SELECT day, sum(amount) FROM sales GROUP BY day",
    "null-extended": """
        SELECT c.day, s.amount FROM calendar c LEFT JOIN sales s ON s.day = c.day AND c.year = 2""",
    "preserved": """
        SELECT s.amount, c.year FROM sales s LEFT JOIN calendar c ON s.day = c.day""",
    "grouped, restricted by its key": """
        SELECT * FROM (SELECT day, sum(amount) AS total FROM sales GROUP BY day) t
        JOIN calendar c ON t.day = c.day WHERE c.week = 1""",
    "CTE with two readers": """
        WITH weekly AS (SELECT week, sum(amount) AS total FROM sales JOIN calendar
                        ON sales.day = calendar.day GROUP BY week)
        SELECT a.total, b.total FROM weekly a JOIN weekly b ON a.week = b.week - 1
        WHERE a.week = 0""",
    "CTE of a CTE": """
        WITH one AS (SELECT day AS d, amount FROM sales),
             two AS (SELECT d AS e, amount FROM one UNION ALL SELECT day, amount FROM refunds)
        SELECT x.e, sum(x.amount) FROM two x JOIN calendar c ON x.e = c.day AND c.year = 1
        GROUP BY x.e""",
    "DISTINCT and a star": """
        SELECT * FROM (SELECT DISTINCT s.* FROM sales s WHERE amount > 30) t WHERE item = 1""",
    "HAVING": """
        SELECT item, sum(amount) FROM sales GROUP BY item HAVING sum(amount) > 100""",
    "ROLLUP": """
        SELECT * FROM (SELECT item, day, sum(amount) AS total FROM sales WHERE amount < 60
                       GROUP BY ROLLUP (item, day)) t WHERE item < 3""",
    "EXISTS": """
        SELECT i.item FROM item i WHERE EXISTS (
          SELECT * FROM sales s WHERE s.item = i.item AND i.kind = 'b')""",
    "NOT EXISTS": """
        SELECT i.item FROM item i WHERE i.kind = 'b' AND NOT EXISTS (
          SELECT * FROM sales s WHERE s.item = i.item)""",
    "EXISTS or": """
        SELECT i.item FROM item i WHERE i.kind < 'c' AND (
          EXISTS (SELECT 1 FROM sales s, calendar c WHERE s.item = i.item AND s.day = c.day)
          OR EXISTS (SELECT 1 FROM refunds r WHERE r.item = i.item))""",
    "IN": """
        SELECT c.week FROM calendar c WHERE c.year = 1 AND c.day IN (SELECT day FROM sales)""",
    "NOT IN": """
        SELECT c.week FROM calendar c WHERE c.year = 2
          AND c.day NOT IN (SELECT day FROM sales WHERE day IS NOT NULL)""",
    "IN, the fact outside": """
        SELECT sum(amount) FROM sales WHERE item IN (SELECT item FROM refunds)""",
    "scalar": """
        SELECT i.item FROM item i WHERE i.kind = 'a'
          AND 100 < (SELECT sum(amount) FROM sales s WHERE s.item = i.item)""",
    "scalar in the SELECT list": """
        SELECT i.item, (SELECT max(amount) FROM sales s WHERE s.item = i.item AND s.day < 4) AS most
        FROM item i WHERE i.kind = 'a'""",
    "scalar in a HAVING": """
        SELECT r.item FROM refunds r GROUP BY r.item
        HAVING sum(r.amount) * 10 < (SELECT avg(s.amount) FROM sales s WHERE s.day < 3)""",
    "INTERSECT": "SELECT item, day FROM sales INTERSECT SELECT item, day FROM refunds",
    "EXCEPT": "SELECT item, day FROM sales EXCEPT SELECT item, day FROM refunds",
    "EXCEPT, the right side": "SELECT item FROM item EXCEPT SELECT item FROM sales WHERE day > 2",
    "UNION": """
        SELECT sum(item) FROM (SELECT item FROM refunds UNION SELECT item FROM sales) t
        WHERE item < 6""",
    "FULL JOIN": """
        SELECT s.amount, r.amount FROM sales s FULL JOIN refunds r ON s.day = r.day""",
}

# Several rows say the same, or a total has room to spare: no single partition would be missed.
SEVERAL = {it for it in CASES if it.startswith(("EXISTS", "UNION", "EXCEPT, the", "scalar"))}


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    with duckdb.connect() as connection:
        connection.execute(DDL.replace("PARTITIONED BY (day)", "").replace("STRING", "VARCHAR"))
        connection.execute(ROWS)
        yield Database(connection, limit=30)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.from_ddl(DDL)


def needed(database: Database, sql: str) -> set[int]:
    """The partitions of the first scan of sales that the result needs."""
    tree = parse(sql)
    scan = next(it for it in fact_scans(tree, COLUMNS) if it.table == "sales")
    return {p for way in outward(tree, scan) for p in database.partitions(way[-1].query)}


def influential(database: Database, sql: str) -> set[int]:
    """The partitions of sales without which the result is another."""
    connection = database.connection
    whole = sorted(connection.execute(sql).fetchall(), key=repr)
    found = set()
    for day in [*range(9), NULL_PARTITION]:
        connection.execute("BEGIN")
        connection.execute(f"DELETE FROM sales WHERE coalesce(day, {NULL_PARTITION}) = {day}")
        if sorted(connection.execute(sql).fetchall(), key=repr) != whole:
            found.add(day)
        connection.execute("ROLLBACK")
    return found


@pytest.mark.parametrize("sql", CASES.values(), ids=CASES)
def test_a_partition_that_matters_is_needed(database: Database, sql: str) -> None:
    assert influential(database, sql) <= needed(database, sql)


@pytest.mark.parametrize("case", [it for it in CASES if it not in SEVERAL])
def test_a_partition_that_does_not_matter_is_not_needed(database: Database, case: str) -> None:
    found = needed(database, CASES[case])
    assert found
    assert found == influential(database, CASES[case])


@pytest.mark.parametrize("sql", CASES.values(), ids=CASES)
def test_each_count_is_a_part_of_the_one_before(
    database: Database, catalog: Catalog, sql: str
) -> None:
    for scan in measure(database, 1, sql, columns=COLUMNS, catalog=catalog):
        assert scan.block
        assert scan.joins
        assert scan.result
        assert not scan.problems
        assert scan.partitions >= scan.block.partitions >= scan.joins.partitions
        assert scan.joins.partitions >= scan.result.partitions
        assert scan.lost == 0


def first(database: Database, catalog: Catalog, sql: str) -> Measured:
    return next(measure(database, 1, sql, columns=COLUMNS, catalog=catalog))


@pytest.mark.parametrize(
    ("case", "why"),
    [
        ("join", "bounded by a predicate (1 scans): 4 partitions"),
        ("no join", f"{UNTIED} (1 scans): 9 partitions"),
        ("preserved", "its rows come out without a partner too (1 scans): 9 partitions"),
    ],
)
def test_why_partitions_are_kept(database: Database, catalog: Catalog, case: str, why: str) -> None:
    assert any(why in it for it in sentences([first(database, catalog, CASES[case])]))


def test_null_is_a_partition_and_no_partner_is_none(database: Database, catalog: Catalog) -> None:
    assert first(database, catalog, CASES["no join"]).partitions == 9
    assert needed(database, CASES["no join"]) == {*range(8), NULL_PARTITION}
    assert needed(database, CASES["null-extended"]) == {4, 5, 6}


def test_a_total_restricts_the_result_and_not_the_joins(
    database: Database, catalog: Catalog
) -> None:
    scan = first(database, catalog, CASES["HAVING"])
    assert scan.joins is not None
    assert scan.result is not None
    assert (scan.joins.partitions, scan.result.partitions) == (9, 5)
    ranked = """
        SELECT item FROM (SELECT item, day, rank() OVER (ORDER BY amount DESC) AS place FROM sales)
        WHERE place <= 2 AND item < 9"""
    scan = first(database, catalog, ranked)
    assert scan.joins is not None
    assert scan.result is not None
    assert (scan.joins.partitions, scan.result.partitions) == (8, 1)


def test_an_equality_of_totals_is_a_join(database: Database, catalog: Catalog) -> None:
    sql = """
        WITH ranked AS (SELECT item, rank() OVER (ORDER BY amount) AS place FROM sales)
        SELECT a.item FROM ranked a, ranked b WHERE a.place = b.place + 8"""
    scan = first(database, catalog, sql)
    assert scan.joins is not None
    assert scan.joins.partitions == 3


def test_what_the_predicates_keep(database: Database, catalog: Catalog) -> None:
    scan = first(database, catalog, CASES["join"])
    assert len(scan.predicates) == 1
    assert (scan.kept, scan.gap, scan.lost) == (4, 0, 0)
    without = first(database, catalog, CASES["no join"])
    assert (without.predicates, without.kept, without.gap) == ((), 9, 0)


def test_a_predicate_may_read_a_cte(database: Database) -> None:
    tree = parse("WITH c AS (SELECT day FROM calendar WHERE year = 1) SELECT * FROM sales s, c")
    (scan,) = fact_scans(tree, COLUMNS)
    assert database.partitions(kept(tree, scan, ["s.day IN (SELECT c.day FROM c)"])) == {0, 1, 2, 3}


def test_a_wrong_predicate_loses_partitions(database: Database) -> None:
    tree = parse(CASES["join"])
    (scan,) = fact_scans(tree, COLUMNS)
    measured = measure_scan(database, 7, tree, scan, (1, 1), ("s.day % 2 = 0",), COLUMNS)
    assert measured.lost == 2
    assert any("wrong predicates" in it and "q7 s (2)" in it for it in sentences([measured]))


def test_a_predicate_that_cannot_be_read_is_no_number(database: Database) -> None:
    tree = parse(CASES["join"])
    (scan,) = fact_scans(tree, COLUMNS)
    measured = measure_scan(database, 7, tree, scan, (1, 1), ("s.nothing = 0",), COLUMNS)
    assert (measured.kept, measured.gap) == (None, None)
    assert "nothing" in measured.problems[0]


def test_out_of_time_falls_back_to_the_block(database: Database) -> None:
    """The block around never ends; what the scan's own says is a bound from above."""
    sql = """
        SELECT count(*) FROM (SELECT day FROM sales WHERE day < 3) t, range(100000) a,
        range(100000) b, range(100000) c WHERE (a.range * b.range * c.range + t.day) % 7 = 8"""
    tree = parse(sql)
    (scan,) = fact_scans(tree, COLUMNS)
    hurried = Database(database.connection, limit=0.5)
    measured = measure_scan(hurried, 1, tree, scan, (1, 1), (), COLUMNS)
    assert measured.result is not None
    assert (measured.result.partitions, measured.result.reach) == (3, Reach.BLOCK)


def test_a_correlated_block_is_asked_with_the_one_around(database: Database) -> None:
    tree = parse(CASES["NOT EXISTS"])
    (scan,) = fact_scans(tree, COLUMNS)
    measured = measure_scan(database, 1, tree, scan, (1, 1), (), COLUMNS)
    assert measured.block is not None
    assert measured.block.reach is Reach.OUTER
    assert own_block(tree, scan).reach is Reach.BLOCK


def test_the_json_report(database: Database, catalog: Catalog) -> None:
    measured = list(measure(database, 1, CASES["join"], columns=COLUMNS, catalog=catalog))
    report = json.loads(as_json(measured, 0.5, "in"))
    assert {name: report[name] for name in ("version", "scale", "predicate")} == {
        "version": 1,
        "scale": 0.5,
        "predicate": "in",
    }
    (scan,) = report["scans"]
    assert scan["table"] == "sales"
    assert scan["alias"] == "s"
    assert (scan["line"], scan["partitions"], scan["kept"], scan["gap"]) == (2, 9, 4, 0)
    assert scan["joins"] == {"partitions": 4, "reach": "query"}
    assert scan["predicates"] == list(measured[0].predicates)


@pytest.mark.long
@pytest.mark.parametrize("number", [2, 34, 59, 72, 93])
def test_tpcds(tpcds: Database, number: int) -> None:
    scans = list(measure(tpcds, number, spark_queries(tpcds.connection)[number]))
    assert scans
    for scan in scans:
        assert not scan.problems
        assert scan.lost == 0


@pytest.fixture(scope="module")
def tpcds() -> Iterator[Database]:
    with duckdb.connect() as connection:
        load_tpcds(connection, 0.01)
        yield Database(connection, limit=60)
