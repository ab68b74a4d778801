"""``--when missed`` with Spark at hand: its own plan of the query says what it prunes by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sqlrewrite import Catalog, Rewrite, rewrite
from sqlrewrite.run.file_rewriting import Request
from sqlrewrite.settings.table import Settings
from sqlrewrite.spark.plans.explain import missed
from sqlrewrite.spark.session import Session
from sqlrewrite.spark.target import Target
from tests.referee.harness import spark_since

from .test_spark_explain import GB, MB, QUERY, catalog, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BY_PLAN = ("--when", "missed", "--explain", "spark")
THRESHOLD = "spark.sql.autoBroadcastJoinThreshold"
JOINS = f"SET {THRESHOLD} = "


@pytest.mark.turns(3)
@pytest.mark.spark
@pytest.mark.parametrize(
    ("text", "days", "written"),
    [
        (QUERY, MB, False),
        (QUERY, GB, True),
        # What is set counts, which no catalog knows.
        (f"{JOINS}-1;\n{QUERY}", MB, True),
        (f"{JOINS}2147483648;\n{QUERY}", GB, False),
        # The plan's filter has the keys of all winter days, the predicate follows the neighbour.
        (f"{QUERY} AND d.season IN (SELECT e.season FROM days e WHERE e.day > '2024-01-01')", MB,
         False),
        ("SELECT c.amount FROM clicks c JOIN days d ON c.day = d.day JOIN days e "
         "ON d.season = e.season WHERE e.day = DATE'2024-01-01'", MB, True),
        # Two scans of one table, of which Spark prunes one: nobody knows which.
        (f"{QUERY} UNION ALL SELECT c.amount FROM clicks c", MB, True),
        (f"{QUERY} UNION ALL {QUERY.replace('c.amount', 'c.amount + 1')}", MB, False),
        ("CREATE TEMPORARY VIEW seen_here AS SELECT day, amount FROM clicks;\n"
         + QUERY.replace("clicks c", "seen_here c"), MB, False),
    ],
    ids="broadcast sort-merge set-off set-on subquery neighbour one-of-two both temporary".split(),
)  # fmt: skip
def test_what_is_planned_is_left_out(
    spark: SparkSession, tmp_path: Path, text: str, days: int, written: bool
) -> None:
    file = tmp_path / "q.sql"
    file.write_text(text, "utf-8")
    args = ("rewrite", "-c", catalog(tmp_path, days=days), *BY_PLAN, str(file))
    outcome = run(*args, "--format", "json")
    assert outcome.exit_code == 0, outcome.output
    (result,) = json.loads(outcome.stdout)["files"]
    assert result["changed"] is written
    codes = {
        (rule["outcome"], rule["message"])
        for candidate in result["candidates"]
        for rule in candidate["rules"]
        if rule["code"] == "DPP125"
    }
    by_itself = ("fail", "Spark prunes by the join with `days` by itself: read from its plan")
    assert (by_itself in codes) is not written


@pytest.mark.spark
@pytest.mark.parametrize(("conf", "written"), [((), True), (("--conf", f"{THRESHOLD}=10m"), False)])
def test_it_is_planned_under_the_catalog_s_settings(
    spark: SparkSession, tmp_path: Path, conf: tuple[str, ...], written: bool
) -> None:
    """Those of a session that a catalog was pulled from, but for what --conf says."""
    file, snapshot = tmp_path / "q.sql", Path(catalog(tmp_path, days=MB))
    file.write_text(QUERY, "utf-8")
    pulled = {**json.loads(snapshot.read_text("utf-8")), "settings": {THRESHOLD: "-1"}}
    snapshot.write_text(json.dumps(pulled), "utf-8")
    options = ("--when", "auto", "--explain", "spark", "--format", "json")
    result = run("rewrite", "-c", str(snapshot), *options, *conf, str(file))
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["files"][0]["changed"] is written


@pytest.mark.spark
def test_one_line_each(spark: SparkSession, tmp_path: Path) -> None:
    """As a person sees it, and into the file."""
    file = tmp_path / "q.sql"
    file.write_text(QUERY, "utf-8")
    small = run("rewrite", "-c", catalog(tmp_path, days=MB), *BY_PLAN, "-w", str(file))
    assert file.read_text("utf-8") == QUERY
    assert "by itself: read from its plan" in small.stderr
    large = run("rewrite", "-c", catalog(tmp_path, days=GB), *BY_PLAN, "-w", str(file))
    assert file.read_text("utf-8").endswith("/* dpp-rewrite */")
    assert "1 rewritten" in large.stderr
    again = run("rewrite", "-c", catalog(tmp_path, days=GB), *BY_PLAN, "--check", str(file))
    assert again.exit_code == 0, again.output
    # What an earlier run has written is not in the plan that is asked, and goes once needless.
    run("rewrite", "-c", catalog(tmp_path, days=MB), *BY_PLAN, "-w", str(file))
    assert file.read_text("utf-8") == QUERY


@pytest.mark.spark
def test_explain(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "q.sql"
    file.write_text(QUERY, "utf-8")
    for days, changed in ((MB, False), (GB, True)):
        args = ("explain", "-c", catalog(tmp_path, days=days), "--when", "missed", str(file))
        result = run(*args, "--format", "json")
        assert json.loads(result.stdout)["statements"][0]["changed"] is changed


@pytest.mark.spark
@pytest.mark.parametrize(
    ("options", "since"), [((), "4.0"), (("--spark-version", "3.5"), "99.0")], ids=["own", "given"]
)
def test_it_is_of_the_session_s_version(
    spark: SparkSession, tmp_path: Path, options: tuple[str, ...], since: str
) -> None:
    """Where none is known: what reads a date by a pattern can fail before 4.0."""
    file = tmp_path / "q.sql"
    by_pattern = "to_date(d.season, 'yyyy-MM-dd') > DATE'2024-01-01'"
    file.write_text(QUERY.replace("d.season = 'winter'", by_pattern), "utf-8")
    arguments = ("-c", catalog(tmp_path, days=MB), *options, str(file), "--format", "json")
    result = run("explain", *arguments)
    assert json.loads(result.stdout)["statements"][0]["changed"] is spark_since(since)
    verified = json.loads(run("verify", *arguments).stdout)
    assert bool(verified["statements"]) is spark_since(since)
    # An embedded Spark is not the one that runs what is written.
    written = run("rewrite", *arguments, "--explain", "spark")
    assert not json.loads(written.stdout)["files"][0]["changed"]


# Without a Spark: plans as it prints them

SCAN = "Scan parquet spark_catalog.default.clicks"
FILTER = "dynamicpruningexpression(day#5 IN dynamicpruning#7)"
PLAN = """== Physical Plan ==
AdaptiveSparkPlan (5)
+- {join} (4)
   :- {scan} (1)
   +- {exchange} (3)
      +- Scan parquet spark_catalog.default.days (2)

(1) {scan}
PartitionFilters: [isnotnull(day#5), {filter}]

(2) Scan parquet spark_catalog.default.days
Output [1]: [day#4]

===== Subqueries =====

Subquery:1 Hosting operator id = 1 Hosting Expression = day#5 IN dynamicpruning#7
AdaptiveSparkPlan (7)
+- Scan parquet spark_catalog.default.{source} (6)

(6) Scan parquet spark_catalog.default.{source}
Output [1]: [day#4]
"""
BROADCAST = {
    "join": "BroadcastHashJoin Inner BuildRight",
    "exchange": "BroadcastExchange",
    "scan": SCAN,
    "filter": FILTER,
    "source": "days",
}


class Told:
    """A Spark that says the same of every query."""

    def __init__(self, plan: str) -> None:
        self.plan = plan
        self.asked: list[str] = []
        self.conf = {"spark.sql.optimizer.dynamicPartitionPruning.reuseBroadcastOnly": "true"}

    def newSession(self) -> Told:  # noqa: N802 - Spark's name
        return self

    def sql(self, text: str) -> Told:
        self.asked.append(text)
        return self

    def collect(self) -> list[tuple[str]]:
        return [(self.plan,)]


def by_plan(folder: Path, spark: Any, text: str, engine: str = "spark") -> Rewrite:
    loaded = Catalog.load(catalog(folder, days=GB))
    request = Request(loaded, Settings(engine=engine, when="missed"))
    result = rewrite(text, loaded, engine=engine, when="missed")
    return missed(Session(spark, Target("local"), classic=True), "q.sql", result, request)


@pytest.mark.parametrize(
    ("change", "left"),
    [
        ({}, True),
        ({"join": "SortMergeJoin Inner", "exchange": "Exchange"}, False),
        ({"filter": "true"}, False),
        ({"filter": FILTER.replace("day#5", "cast(day#5 as bigint)")}, False),
        ({"source": "other_days"}, False),
        ({"scan": SCAN.replace("default", "other")}, False),
    ],
    ids="broadcast sort-merge dropped cast another-dimension another-table".split(),
)
def test_plans(tmp_path: Path, change: dict[str, str], left: bool) -> None:
    spark = Told(PLAN.format(**{**BROADCAST, **change}))
    assert by_plan(tmp_path, spark, QUERY).changed is not left
    assert spark.asked == [f"EXPLAIN FORMATTED {QUERY}"]


@pytest.mark.parametrize(
    "text",
    [
        f"{QUERY} AND d.day IN (SELECT e.day FROM days e WHERE e.season = 'snow')",
        "SELECT c.amount FROM clicks c JOIN days d ON c.day = d.day JOIN days e "
        "ON d.season = e.season WHERE d.season = 'winter' AND e.day = DATE'2024-01-01'",
        QUERY.replace("JOIN", "JOIN days f ON c.day = f.day AND f.season = 'snow' JOIN"),
    ],
    ids=["subquery", "neighbour", "two-dimensions"],
)
def test_keys_that_would_be_fewer(tmp_path: Path, text: str) -> None:
    """The plan's one filter has the keys of one reading of the days, the predicate follows two."""
    assert by_plan(tmp_path, Told(PLAN.format(**BROADCAST)), text).changed


@pytest.mark.parametrize(
    ("text", "engine"),
    [
        (QUERY, "duckdb"),
        (QUERY, "trino"),
        (QUERY, "flink"),
        (f"-- dpp-rewrite: ignore-file\n{QUERY}", "spark"),
    ],
)
def test_where_spark_is_not_asked(tmp_path: Path, text: str, engine: str) -> None:
    """Each engine's own planner says that the join prunes."""
    spark = Told("")
    result = by_plan(tmp_path, spark, text, engine)
    assert not result.changed
    assert spark.asked == []
