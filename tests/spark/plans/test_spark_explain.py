"""``explain``: plans of empty tables that have the catalog's sizes, and what is read from them."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from sqlrewrite.catalog import Catalog
from sqlrewrite.cli.commands import program
from sqlrewrite.spark.plans.empty_tables import ASSUMED_LARGE, Stock, warehouse
from sqlrewrite.spark.plans.explain import By, Explained, Pruning, explain
from sqlrewrite.spark.plans.planned import items, parse, plain
from sqlrewrite.spark.script import QueryPair
from sqlrewrite.spark.session import Session
from sqlrewrite.spark.target import Target
from sqlrewrite.sql.statements.effects import StatementKind, statement_texts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MB, GB = 1 << 20, 1 << 30

QUERY = "SELECT c.amount FROM clicks c JOIN days d ON c.day = d.day WHERE d.season = 'winter'"
KEYS = "SELECT /*+ BROADCAST(k) */ k.day FROM days k WHERE k.season = 'winter'"
SET = "SELECT collect_set(k.day) FROM days k WHERE k.season = 'winter'"

NATIVE, POSSIBLY_NATIVE = Pruning(By.NATIVE), Pruning(By.NATIVE, planned=False)
OURS = Pruning(By.OURS)


def snapshot(days: int | None, clicks: int | None = 50 * GB) -> dict[str, Any]:
    """The tables as a snapshot, with sizes; a view, and a table that is partitioned by a
    transform."""
    return {
        "version": 1,
        "tables": [
            {
                "name": "spark_catalog.default.clicks",
                "columns": [{"name": "amount", "type": "int"}, {"name": "day", "type": "date"}],
                "partitioned_by": ["day"],
                "size_in_bytes": clicks,
            },
            {
                "name": "spark_catalog.default.days",
                "columns": [{"name": "day", "type": "date"}, {"name": "season", "type": "string"}],
                "size_in_bytes": days,
            },
            {
                "name": "lake.raw.events",
                "columns": [{"name": "ts", "type": "timestamp"}],
                "partitioned_by": [{"column": "ts", "transform": "days"}],
                "size_in_bytes": 7 * GB,
            },
        ],
        "views": [
            {
                "name": "mart.top",
                "query": "SELECT * FROM seen",
                "namespace": "spark_catalog.mart",
            },
            {
                "name": "mart.seen",
                "query": "SELECT day AS seen_on, amount FROM clicks",
                "namespace": "spark_catalog.default",
            },
        ],
    }


def catalog(folder: Path, **sizes: int | None) -> str:
    path = folder / "warehouse.json"
    path.write_text(json.dumps(snapshot(**sizes)), "utf-8")
    return str(path)


def run(*args: str) -> Result:
    return CliRunner().invoke(program, args, prog_name="dpp-rewrite", catch_exceptions=False)


def explained(spark: SparkSession, folder: Path, before: str, after: str, days: int) -> Explained:
    """A query and a rewriting of it, explained on empty tables."""
    loaded = Catalog.load(catalog(folder, days=days))
    session = Session(spark.newSession(), Target(), classic=True)
    old, new = statement_texts(before)[0], statement_texts(after)[0]
    with warehouse(session, loaded, [before]) as stock:
        assert stock == Stock()
        return explain(session, QueryPair("q.sql", old, new), frozenset({"clicks"}))


@pytest.mark.spark
def test_sizes_of_the_catalog_decide_the_join(spark: SparkSession, tmp_path: Path) -> None:
    """docs/spark.md: over a sort-merge join the dynamic filter stands in the plan and comes to
    nothing; a hinted IN is a broadcast whatever the size."""
    after = f"{QUERY} AND c.day IN ({KEYS})"
    small = explained(spark, tmp_path, QUERY, after, days=MB)
    assert "BroadcastHashJoin Inner" in small.before
    assert "SortMergeJoin" not in small.before
    large = explained(spark, tmp_path, QUERY, after, days=GB)
    assert "SortMergeJoin Inner" in large.before
    assert "BroadcastHashJoin" not in large.before
    assert "BroadcastHashJoin LeftSemi" in large.after
    pruned = [(pair.before.pruned_by, pair.after.pruned_by) for pair in _both(small, large)]
    assert pruned == [((NATIVE,), (NATIVE, OURS)), ((POSSIBLY_NATIVE,), (POSSIBLY_NATIVE, OURS))]


def _both(*found: Explained) -> list[Any]:
    for scan in found:
        assert len(scan.scans) == 1
    return [scan.scans[0] for scan in found]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("after", "pruned"),
    [
        (f"{QUERY} AND array_contains(({SET}), c.day)", (POSSIBLY_NATIVE, OURS)),
        (f"{QUERY} AND c.day = DATE'2024-01-01'", (Pruning(By.STATIC),)),
        (QUERY.replace("JOIN", "LEFT JOIN").partition(" WHERE")[0], ()),
        (f"{QUERY} AND c.day IN ({KEYS.replace('BROADCAST(k)', 'MERGE(k)')})", None),
    ],
    ids=["set", "static", "none", "sort-merge"],
)
def test_what_prunes(
    spark: SparkSession, tmp_path: Path, after: str, pruned: tuple[Pruning, ...] | None
) -> None:
    scan = explained(spark, tmp_path, QUERY, after, days=GB).scans[0]
    assert scan.after is not None
    if pruned is None:  # an IN that is no broadcast: it may prune, for all that the plan says
        pruned = (POSSIBLY_NATIVE, Pruning(By.OURS, planned=False))
    assert tuple(
        pruning
        for pruning in scan.after.pruned_by
        if pruning.by is not By.STATIC or pruning in pruned
    ) == (pruned)


@pytest.mark.spark
def test_nothing_is_left_behind(spark: SparkSession, tmp_path: Path) -> None:
    def here() -> tuple[list[str], list[str], list[str]]:
        return (
            [row[0] for row in spark.sql("SHOW SCHEMAS").collect()],
            [row[1] for row in spark.sql("SHOW TABLES IN default").collect()],
            [
                name
                for name in os.listdir(tempfile.gettempdir())
                if name.startswith("dpp-rewrite-ware")
            ],
        )

    before = here()
    loaded = Catalog.load(catalog(tmp_path, days=None, clicks=None))
    session = Session(spark.newSession(), Target(), classic=True)
    with warehouse(session, loaded, ["SELECT * FROM mart.top, raw.events, days"]) as stock:
        assert here() != before
        assert stock.assumed == ("spark_catalog.default.clicks", "spark_catalog.default.days")
        assert [name for name, _ in stock.missing] == ["lake.raw.events"]
        cost = session.spark.sql("EXPLAIN COST SELECT * FROM mart.top WHERE seen_on > '2024-01-01'")
        assert f"sizeInBytes={ASSUMED_LARGE / GB:.1f} GiB" in cost.collect()[0][0]
    assert here() == before


@pytest.mark.spark
def test_the_command(spark: SparkSession, tmp_path: Path) -> None:
    file, page = tmp_path / "q.sql", tmp_path / "q.html"
    file.write_text(f"SELECT 1;\nSET spark.sql.shuffle.partitions = 3;\n{QUERY}", "utf-8")
    args = ("explain", "-c", catalog(tmp_path, days=GB, clicks=None), str(file))
    result = run(*args, "--html", str(page))
    assert result.exit_code == 0
    assert f"{file}:3: scans of partitioned tables" in result.stdout
    assert "before  pruned by dynamic pruning, possible" in result.stdout
    assert "our predicate, planned" in result.stdout
    assert "\n+       │  └─ " in result.stdout or "\n+ " in result.stdout
    assert "hashpartitioning(day, 3)" in result.stdout  # SET counts for what comes after it
    assert "the catalog has no size of clicks" in result.stderr
    html = page.read_text("utf-8")
    assert html.startswith("<!doctype html>")
    assert '<span class="add">' in html

    data = json.loads(run(*args, "--format", "json").stdout)
    (statement,) = data["statements"]
    assert statement["scans"][0]["after"]["pruned_by"] == [
        {"by": "dynamic pruning", "certainty": "possible"},
        {"by": "our predicate", "certainty": "planned"},
    ]
    assert data["assumed_sizes"] == ["spark_catalog.default.clicks"]

    result = run("rewrite", "--explain", "spark", *args[1:])
    assert result.stdout.endswith("/* dpp-rewrite */")
    assert "our predicate, planned" in result.stderr


@pytest.mark.spark
def test_a_query_that_spark_refuses(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "q.sql"
    file.write_text(QUERY.replace("c.amount", "c.amuont"), "utf-8")
    result = run("explain", "-c", catalog(tmp_path, days=MB), str(file))
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"Error: {file}:1: Spark cannot plan the query: [UNRESOLVED_COLUMN" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    beside = run("rewrite", "--explain", "spark", "-c", catalog(tmp_path, days=MB), str(file))
    assert (beside.exit_code, "[UNRESOLVED_COLUMN" in beside.stderr) == (2, True)


# Without a Spark

FORMATTED = """== Physical Plan ==
AdaptiveSparkPlan (4)
+- BroadcastHashJoin Inner BuildRight (3)
   :- Scan parquet spark_catalog.default.f (1)
   +- * BroadcastExchange (2)


(1) Scan parquet spark_catalog.default.f
Output [2]: [a#39L, p#5]
PartitionFilters: [isnotnull(p#5), (p#5 IN (1,2) OR (p#5 = 4)), p#5 IN dynamicpruning#7]

(2) BroadcastExchange
Arguments: HashedRelationBroadcastMode(List(input[0])), [plan_id=220]

(3) BroadcastHashJoin
Left keys [1]: [p#5]
Right keys [1]: [k#4]
Join condition: None

===== Subqueries =====

Subquery:1 Hosting operator id = 1 Hosting Expression = p#5 IN dynamicpruning#7
AdaptiveSparkPlan (6)
+- Scan parquet spark_catalog.default.d (5)
"""


def test_reading_a_plan() -> None:
    plan = parse(FORMATTED)
    join = plan.root.children[0]
    scan, exchange = join.children
    assert (join.name, scan.table) == (
        "BroadcastHashJoin Inner BuildRight",
        "spark_catalog.default.f",
    )
    assert (exchange.name, exchange.number, exchange.table) == ("BroadcastExchange", 2, None)
    assert items(scan.details["PartitionFilters"]) == (
        "isnotnull(p#5)",
        "(p#5 IN (1,2) OR (p#5 = 4))",
        "p#5 IN dynamicpruning#7",
    )
    (subquery,) = plan.subqueries
    assert (subquery.host, subquery.expression) == (1, "p#5 IN dynamicpruning#7")
    assert subquery.root.children[0].table == "spark_catalog.default.d"
    assert plan.lines()[0] == ("", "BroadcastHashJoin Inner BuildRight: [p] = [k]")


def test_numbers_are_taken_off() -> None:
    assert plain("hash(a#39L, b#5), X, [plan_id=22]") == "hash(a, b), X"
    assert plain("f(Subquery subquery#40, [id=#367], p#1)") == "f((subquery), p)"


def test_what_is_no_plan() -> None:
    with pytest.raises(ValueError, match="Table or view not found"):
        parse("Table or view not found: x\nat …")


@pytest.mark.parametrize(
    ("text", "kind", "endless"),
    [
        ("SELECT a FROM t ORDER BY a LIMIT 3", StatementKind.QUERY, "SELECT a FROM t ORDER BY a"),
        ("SELECT a FROM t LIMIT 3 OFFSET 1", StatementKind.QUERY, "SELECT a FROM t"),
        ("SELECT a FROM t OFFSET 1", StatementKind.QUERY, "SELECT a FROM t"),
        ("SELECT a FROM (SELECT a FROM t LIMIT 3)", StatementKind.QUERY, None),
        ("(SELECT a FROM t LIMIT 3)", StatementKind.QUERY, None),
        (
            "(SELECT 1 LIMIT 1) UNION SELECT 2 LIMIT 2",
            StatementKind.QUERY,
            "(SELECT 1 LIMIT 1) UNION SELECT 2",
        ),
        ("WITH x AS (SELECT 1) SELECT * FROM x", StatementKind.QUERY, None),
        ("WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x LIMIT 2", StatementKind.OTHER, None),
        ("INSERT INTO t SELECT 1", StatementKind.OTHER, None),
        ("CREATE TABLE t AS SELECT 1", StatementKind.OTHER, None),
        ("CREATE VIEW v AS SELECT 1", StatementKind.OTHER, None),
        ("CREATE OR REPLACE TEMP VIEW v AS SELECT 1", StatementKind.SESSION, None),
        ("create temporary view v as select 1", StatementKind.SESSION, None),
        ("CREATE GLOBAL TEMPORARY VIEW v AS SELECT 1", StatementKind.OTHER, None),
        ("USE x", StatementKind.SESSION, None),
        ("SET a = b", StatementKind.SESSION, None),
        ("DELETE FROM t", StatementKind.OTHER, None),
        ("{{ x }}", StatementKind.OTHER, None),
        ("CREATE TEMPORARY FUNCTION f AS 'x'", StatementKind.SESSION, None),
    ],
)
def test_what_running_a_statement_does(text: str, kind: StatementKind, endless: str | None) -> None:
    (statement_text,) = statement_texts(text)
    assert (statement_text.kind, statement_text.endless, statement_text.text) == (
        kind,
        endless,
        text,
    )
