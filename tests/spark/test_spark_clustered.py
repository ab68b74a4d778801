"""Rows in an order: the ends of the keys reach the scan, also where Spark would ask for both at
once. Facts in docs/spark.md, "Files and row groups"."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from sqlrewrite import Catalog, rewrite
from sqlrewrite.report.explain import explained_lines
from sqlrewrite.report.verify import verified_json
from sqlrewrite.spark.plans.explain import By, Explained, explain_text
from sqlrewrite.spark.plans.scans import class_name, fact_scans, metric, plan_nodes
from sqlrewrite.spark.rows.verify import Verified, VerifyOutcome, verify_text
from sqlrewrite.spark.session import Session
from sqlrewrite.spark.target import Target

pytestmark = pytest.mark.spark

ROWS, KEYS, WANTED = 400_000, 400, 30
DDL = """
CREATE TABLE ordered_facts (k INT, a INT) USING parquet CLUSTER BY (k);
CREATE TABLE key_months (k INT, month INT) USING parquet;
CREATE TABLE key_numbers (k INT NOT NULL, month INT) USING delta;
"""


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[SparkSession]:
    spark.sql("DROP TABLE IF EXISTS ordered_facts")
    spark.sql(
        "CREATE TABLE ordered_facts USING parquet OPTIONS ('parquet.block.size' = '100000') AS "
        f"SELECT CAST(id DIV {ROWS // KEYS} AS INT) "
        f"AS k, CAST(id % 7 AS INT) AS a FROM range(0, {ROWS}, 1, 1)"
    )
    keys = f"SELECT CAST(id AS INT) AS k, CAST(id DIV {WANTED} AS INT) AS month FROM range({KEYS})"
    spark.sql("DROP TABLE IF EXISTS key_months")
    spark.sql(f"CREATE TABLE key_months USING parquet AS {keys} UNION ALL SELECT NULL, 5")
    spark.sql(f"CREATE OR REPLACE TEMP VIEW key_numbers AS {keys}")
    yield spark
    spark.sql("DROP TABLE ordered_facts")
    spark.sql("DROP TABLE key_months")
    spark.sql("DROP VIEW key_numbers")


reaches_row_groups = pytest.mark.since("4.0", "the ends reach no row group: all rows are read")


@reaches_row_groups
@pytest.mark.turns(3)
@pytest.mark.parametrize(
    ("dimension", "condition"),
    [
        pytest.param("key_months", "d.month = 5", id="IS NOT NULL sets them apart"),
        pytest.param("key_months", "d.month = 5 AND d.k < 1000", id="it is inferred for both"),
        pytest.param("key_numbers", "d.month = 5", id="the key is never NULL"),
    ],
)
def test_fewer_rows_come_out_of_the_scan(
    tables: SparkSession, dimension: str, condition: str
) -> None:
    sql = f"SELECT sum(f.a), count(*) FROM ordered_facts f JOIN {dimension} d ON f.k = d.k WHERE "
    rewritten = rewrite(sql + condition, Catalog.from_ddl(DDL)).sql
    before, after = _ran(tables, sql + condition), _ran(tables, rewritten)
    assert before[0] == after[0]
    assert before[1] == ROWS
    assert after[1] * 5 <= ROWS


SQL = "SELECT f.a FROM ordered_facts f JOIN key_months d ON f.k = d.k WHERE d.month = 5"


@reaches_row_groups
def test_verify_tells_of_rows_where_nothing_is_partitioned(tables: SparkSession) -> None:
    catalog, pairs = Catalog.from_ddl(DDL), list[Verified]()
    verify_text(_session(tables), "q.sql", rewrite(SQL, catalog), catalog, pairs.append)
    (verified,) = pairs
    assert verified.outcome is VerifyOutcome.SAME
    (scan,) = [scan for scan in verified.scans if scan.table.endswith("ordered_facts")]
    assert scan.before is not None
    assert scan.after is not None
    assert scan.before.partitions is scan.after.partitions is None
    assert scan.after.rows * 5 <= scan.before.rows == ROWS
    assert scan.before.row_groups is not None
    assert scan.after.row_groups is not None
    assert 1 <= scan.after.row_groups < scan.before.row_groups
    (line,) = (
        load
        for load in json.loads(verified_json(pairs))["statements"][0]["scans"]
        if load["partitions"] is None and load["table"].endswith("ordered_facts")
    )
    assert (line["before"]["rows"], line["after"]["rows"]) == (ROWS, scan.after.rows)
    assert line["after"]["row_groups"] == scan.after.row_groups


@reaches_row_groups
def test_explain_tells_what_reaches_the_files(tables: SparkSession) -> None:
    catalog, pairs = Catalog.from_ddl(DDL), list[Explained]()
    explain_text(_session(tables), "q.sql", rewrite(SQL, catalog), catalog, pairs.append)
    (scan,) = [scan for scan in pairs[0].scans if scan.table.endswith("ordered_facts")]
    assert scan.before is not None
    assert scan.after is not None
    assert not scan.before.pruned_by
    assert [pruning.by for pruning in scan.after.pruned_by] == [By.OURS]
    assert [filter_.partition("(")[0] for filter_ in scan.after.filters] == [
        "GreaterThanOrEqual",
        "LessThanOrEqual",
    ]
    # Before all of the files is read; after, it depends on subqueries that nobody has run.
    whole = scan.before.row_groups
    assert whole is not None
    assert whole.read == whole.total > 1
    assert whole.rows == ROWS
    assert scan.after.row_groups is None
    lines = ["".join(text for text, _ in line).strip() for line in explained_lines(pairs[0])]
    assert f"row groups of its files: {whole.total} of {whole.total}, with 400,000 rows" in lines
    assert "row groups and rows: known only after a run (see `dpp-rewrite verify`)" in lines


def test_explain_counts_what_constants_leave_of_the_files(tables: SparkSession) -> None:
    catalog, pairs = Catalog.from_ddl(DDL), list[Explained]()
    sql = f"{SQL} AND f.k BETWEEN 150 AND 179"
    explain_text(_session(tables), "q.sql", rewrite(sql, catalog), catalog, pairs.append)
    (scan,) = [scan for scan in pairs[0].scans if scan.table.endswith("ordered_facts")]
    assert scan.before is not None
    groups = scan.before.row_groups
    assert groups is not None
    assert 1 <= groups.read < groups.total
    frame = tables.sql("SELECT count(a) FROM ordered_facts WHERE k BETWEEN 150 AND 179")
    frame.collect()
    (read,) = fact_scans(frame, frozenset({"ordered_facts"}), lambda scan: None)
    assert groups.rows == read.rows


def _session(spark: SparkSession) -> Session:
    return Session(spark, Target(master="local[2]"), classic=True)


def _ran(spark: SparkSession, sql: str) -> tuple[list[object], int]:
    """The rows of a query, and how many came out of the scan of the facts."""
    frame = spark.sql(sql)
    rows: list[object] = list(frame.collect())
    plan = frame._jdf.queryExecution().executedPlan()
    scans = [
        plan_node
        for plan_node in plan_nodes(plan, set())
        if class_name(plan_node) == "FileSourceScanExec"
    ]
    facts = [scan for scan in scans if scan.tableIdentifier().get().table() == "ordered_facts"]
    return rows, sum(metric(fact, "numOutputRows") for fact in facts)
