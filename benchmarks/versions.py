"""What depends on the version of Spark, asked of the one that is installed: ``.ci/spark`` makes an
environment for each.

    python -m benchmarks.versions [--only PART] [--json FILE]

- ``facts``: defaults of settings, syntax, and what conditions on a fact of 20 partitions read, by
  the plan (docs/spark.md, "By version");
- ``tpcds``: the fact tables of the 99 TPC-DS queries that Spark plans to prune, over empty tables
  of assumed sizes, against the prediction of ``--when missed`` for that version;
- ``suite``: the same for the queries of ``benchmarks.pruning_suite``, scan by scan.

The exit status is 1 where a table is predicted to be pruned that Spark reads whole. Needs PySpark,
and duckdb for the queries of TPC-DS.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from benchmarks import pruning_suite
from benchmarks.native_score import Use, score
from benchmarks.progress import with_progress
from benchmarks.tpcds_data import FIXTURES, load_tpcds, spark_queries
from sqlrewrite import Candidate, Catalog, rewrite
from sqlrewrite.settings.spark_conf import VERSION
from sqlrewrite.spark.plans.empty_tables import warehouse
from sqlrewrite.spark.plans.planned import PlannedScan, plan, planned
from sqlrewrite.spark.plans.scans import class_name, metric, plan_nodes
from sqlrewrite.spark.script import partitioned
from sqlrewrite.spark.session import Session
from sqlrewrite.spark.target import SparkError, Target

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = """
    spark.sql.ansi.enabled spark.sql.legacy.timeParserPolicy spark.sql.legacy.ctePrecedencePolicy
    spark.sql.storeAssignmentPolicy spark.sql.sources.v2.bucketing.enabled
    spark.sql.sources.v2.bucketing.pushPartValues.enabled spark.sql.scripting.enabled
    spark.sql.autoBroadcastJoinThreshold spark.sql.adaptive.enabled spark.sql.exchange.reuse
    spark.sql.optimizer.dynamicPartitionPruning.enabled
    spark.sql.optimizer.dynamicPartitionPruning.reuseBroadcastOnly
    spark.sql.optimizer.dynamicPartitionPruning.fallbackFilterRatio
""".split()

SYNTAX = {
    "|> SELECT": "SELECT 1 AS a |> SELECT a",
    "QUALIFY": "SELECT * FROM VALUES (1) t(a) QUALIFY row_number() OVER (ORDER BY a) = 1",
    "a::int": "SELECT a::int FROM VALUES (1) t(a)",
    "COLLATE": "SELECT 'a' COLLATE UTF8_LCASE",
    "IDENTIFIER(…) of a CTE": "WITH c AS (SELECT 1 AS a) SELECT a FROM IDENTIFIER('c')",
    "EXECUTE IMMEDIATE": "EXECUTE IMMEDIATE 'SELECT 1'",
    "DECLARE": "DECLARE OR REPLACE VARIABLE x INT DEFAULT 3",
    "CREATE FUNCTION … RETURN": "CREATE OR REPLACE TEMPORARY FUNCTION one() RETURNS INT RETURN 1",
    "BEGIN … END": "BEGIN SELECT 1; END",
    "session.v": "SELECT * FROM session.v",
    "DESCRIBE v AS JSON": "DESCRIBE TABLE EXTENDED v AS JSON",
    "a text that two parsers read otherwise": (
        "SELECT try_to_timestamp(s, 'yyyy-MM-dd') FROM VALUES ('2024-1-1') t(s)"
    ),
}

TABLES = (
    "CREATE TABLE f (x INT, s STRING, day DATE, n INT) USING parquet PARTITIONED BY (s, day, n)",
    "CREATE TABLE d (k INT, label STRING, day DATE, x INT) USING parquet",
    "INSERT INTO f SELECT CAST(id AS INT), CAST(date_add(DATE'2024-01-01', CAST(id AS INT)) AS "
    "STRING), date_add(DATE'2024-01-01', CAST(id AS INT)), CAST(id AS INT) FROM range(20)",
    "INSERT INTO d SELECT CAST(id AS INT), CAST(date_add(DATE'2024-01-01', CAST(id AS INT)) AS "
    "STRING), date_add(DATE'2024-01-01', CAST(id AS INT)), CAST(id % 4 AS INT) FROM range(20)",
    "CREATE TABLE sorted USING parquet OPTIONS ('parquet.block.size' = '100000') AS SELECT "
    "CAST(id DIV 1000 AS INT) AS k, CAST(id % 7 AS INT) AS a FROM range(0, 400000, 1, 1)",
    "CREATE OR REPLACE TEMPORARY VIEW v AS SELECT 1 AS a",
)

FUNCTIONS = """
    CAST(s AS DATE) = DATE'2024-01-05'
    to_date(s) = DATE'2024-01-05'
    substr(s, 1, 9) = '2024-01-0'
    s LIKE '2024-01-0%'
    date_format(day, 'yyyy-MM-dd') = '2024-01-05'
    date_trunc('MONTH', day) = TIMESTAMP'2024-01-01'
    year(day) = 2024 AND day(day) = 5
    date_add(day, 1) = DATE'2024-01-05'
    n div 10 = 1
    n % 10 = 3
    CAST(n AS STRING) = '3'
    coalesce(n, 0) = 3
    CASE WHEN n = 3 THEN 1 ELSE 0 END = 1
    concat(s, day) = '2024-01-052024-01-05'
    concat(s, x) = '2024-01-054'
    n = 3 OR x = 4
    1 = 0
""".strip().splitlines()

JOINS = {
    "f JOIN d": "f JOIN d ON f.n = d.k WHERE {}",
    "f LEFT JOIN d, in WHERE": "f LEFT JOIN d ON f.n = d.k WHERE {}",
    "d LEFT JOIN f, in ON": "d LEFT JOIN f ON f.n = d.k AND {}",
    "f LEFT SEMI JOIN d": "f LEFT SEMI JOIN d ON f.n = d.k AND {}",
    "d LEFT ANTI JOIN f": "d LEFT ANTI JOIN f ON f.n = d.k AND {}",
    "f JOIN d grouped": "f JOIN (SELECT k FROM d GROUP BY k) d ON f.n = d.k WHERE {}",
    "IN": "f WHERE n IN (SELECT k FROM d WHERE {})",
    "<=>": "f JOIN d ON f.n <=> d.k WHERE {}",
    "f INT, d BIGINT": "f JOIN (SELECT CAST(k AS BIGINT) k FROM d) d ON f.n = d.k WHERE {}",
}
CONSTANTS = ("d.k IN (3, 4)", "d.k > 15", "d.k BETWEEN 3 AND 4")

KEYS = "(SELECT /*+ BROADCAST(q) */ q.k FROM d AS q WHERE q.x = 1)"
FORMS = {
    "no predicate": "f JOIN d ON f.n = d.k WHERE d.x = 1",
    "IN": f"f JOIN d ON f.n = d.k WHERE d.x = 1 AND f.n IN {KEYS}",
    "set": "f JOIN d ON f.n = d.k WHERE d.x = 1 AND array_contains("
    "(SELECT collect_set(q.k) FROM d AS q WHERE q.x = 1), f.n)",
    "range": "f JOIN d ON f.n = d.k WHERE d.x = 1 AND f.n >= (SELECT min(q.k) FROM d AS q WHERE "
    "q.x = 1) AND f.n <= (SELECT max(q.k) FROM d AS q WHERE q.x = 1 AND q.k < 9)",
}

SMALLEST = "k >= (SELECT min(k) FROM d WHERE k BETWEEN 15 AND 19)"
SORTED = {
    "constants": "k BETWEEN 15 AND 19",
    "one end as a subquery": "k <= (SELECT max(k) FROM d WHERE k < 5)",
    "both ends as subqueries": (
        f"{SMALLEST} AND k <= (SELECT max(k) FROM d WHERE k BETWEEN 15 AND 19)"
    ),
    "both, the largest as array_max(collect_set(k))": (
        f"{SMALLEST} AND k <= (SELECT array_max(collect_set(k)) FROM d WHERE k BETWEEN 15 AND 19)"
    ),
}


def facts(spark: SparkSession) -> Iterator[tuple[str, str, str]]:
    """What is asked, by its kind, and what Spark does."""
    for name in SETTINGS:
        yield "default", name, _tried(_second, spark, f"SET {name}")
    spark.sql("CREATE DATABASE by_version")
    spark.sql("USE by_version")
    for statement in TABLES:
        spark.sql(statement)
    for name, sql in SYNTAX.items():
        yield "syntax", name, _tried(_runs, spark, sql)
    for condition in map(str.strip, FUNCTIONS):
        sql = f"SELECT count(x) FROM f WHERE {condition}"
        yield "partitions", condition, _tried(_read, spark, sql)
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    for join, source in JOINS.items():
        for condition in CONSTANTS:
            sql = f"SELECT count(*) FROM {source.format(condition)}"
            name = f"{join}, {condition}"
            yield "constants", name, _tried(_read, spark, sql)
    for broadcast in (True, False):
        spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "10m" if broadcast else "-1")
        for form, source in FORMS.items():
            name = f"{form}, {'' if broadcast else 'no '}broadcast joins"
            sql = f"SELECT count(f.x) FROM {source}"
            yield "forms", name, _tried(_read, spark, sql)
    for name, condition in SORTED.items():
        sql = f"SELECT sum(a) FROM sorted WHERE {condition}"
        yield "rows", name, _tried(_read, spark, sql, "numOutputRows", "sorted")
    spark.sql("USE default")
    spark.sql("DROP DATABASE by_version CASCADE")


def _tried(ask: Callable[..., object], *args: object) -> str:
    try:
        return str(ask(*args))
    except Exception as error:
        lines = [line for line in str(error).splitlines() if line.strip()]
        return f"error: {lines[0][:80] if lines else type(error).__name__}"


def _second(spark: SparkSession, sql: str) -> object:
    return spark.sql(sql).collect()[0][1]


def _runs(spark: SparkSession, sql: str) -> str:
    spark.sql(sql).collect()
    return "yes"


def _read(spark: SparkSession, sql: str, counted: str = "numPartitions", table: str = "f") -> int:
    """What the scans of a table count, of a query that has run."""
    frame = spark.sql(sql)
    frame.collect()
    scans = [
        node
        for node in plan_nodes(frame._jdf.queryExecution().executedPlan(), set())
        if class_name(node) == "FileSourceScanExec"
        and node.tableIdentifier().get().table() == table
    ]
    return sum(metric(scan, counted) for scan in scans)


def tpcds(spark: SparkSession) -> dict[str, Any]:
    """The fact tables that are planned to be pruned, and those that are predicted to be."""
    with duckdb.connect() as connection:
        load_tpcds(connection, 0)
        queries = spark_queries(connection)
    catalog = Catalog.load(str(FIXTURES / "ddl.sql"))
    session, names = Session(spark, Target(), classic=True), partitioned(catalog)
    pruned: set[Use] = set()
    with warehouse(session, catalog, queries.values()):
        for number in with_progress(list(queries), "queries"):
            scans = planned(session, plan(session, queries[number], f"q{number}"), names).scans
            pruned |= {(number, scan.short_name[-1]) for scan in scans if prunes(scan)}
    catalog = _for(spark, catalog)
    prediction = score(queries, catalog, frozenset(pruned))
    written = {
        (number, candidate.fact.table.rpartition(".")[2])
        for number, sql in queries.items()
        for candidate in rewrite(sql, catalog).candidates
        if candidate.predicate
    }
    return {
        "read": len(prediction.uses),
        "pruned": len(pruned),
        "written": len(written),
        "predicted": len(prediction.predicted),
        "wrongly pruned": sorted(prediction.predicted - pruned),
        "wrongly missed": sorted(pruned - prediction.predicted),
    }


def _for(spark: SparkSession, catalog: Catalog) -> Catalog:
    """The catalog for this Spark's version."""
    return replace(catalog, settings={**catalog.settings, VERSION: spark.version})


def suite(spark: SparkSession) -> dict[str, Any]:
    """The queries of the pruning suite, over empty tables: those that Spark plans to prune, those
    that we write, and what is left to Spark."""
    catalog = _for(spark, Catalog.load(str(pruning_suite.FOLDER / "tables.sql")))
    session, names = Session(spark, Target(), classic=True), partitioned(catalog)
    pruned, refused, written, unwritten, whole = (set[str]() for _ in range(5))
    queries = pruning_suite.queries()
    with warehouse(session, catalog, queries.values()):
        for name in with_progress(list(queries), "queries"):
            sql = queries[name]
            try:
                scans = planned(session, plan(session, sql, name), names).scans
            except SparkError:
                refused.add(name)
                continue
            pruned |= {name} if any(map(prunes, scans)) else set()
            written |= {name} if rewrite(sql, catalog).changed else set()
            candidates = rewrite(sql, catalog, when="missed").candidates
            unwritten |= {name} if left_to_spark(candidates) else set()
            whole |= {name} if read_whole(candidates, scans) else set()
    return {
        "queries": len(queries),
        "refused": len(refused),
        "pruned": len(pruned),
        "written": len(written),
        "written of those pruned": len(written & pruned),
        "pruned, and not written": sorted(pruned - written),
        "left to Spark": len(unwritten),
        "wrongly pruned": sorted(whole),
    }


def prunes(scan: PlannedScan) -> bool:
    """Whether keys that are known at run time will surely prune a scan."""
    return any(filter_.dynamic and filter_.planned for filter_ in scan.filters)


def left_to_spark(candidates: Iterable[Candidate]) -> Counter[str]:
    """How many scans of each table get no predicate because Spark prunes them by itself."""
    scans = {
        (candidate.fact.table.rpartition(".")[2], candidate.fact.alias, candidate.fact.line)
        for candidate in candidates
        if candidate.reason is not None and candidate.reason.code == "DPP125"
    }
    return Counter(table for table, *_ in scans)


def read_whole(candidates: Iterable[Candidate], scans: Sequence[PlannedScan]) -> list[str]:
    """The tables that are left to Spark of which its plan prunes fewer scans, by keys or constants
    (of VALUES of one row). What a view reads is not told apart."""
    names = {scan.short_name[-1] for scan in scans}
    pruned = [
        scan.short_name[-1]
        for scan in scans
        if prunes(scan) or not all(filter_.dynamic or filter_.trivial for filter_ in scan.filters)
    ]
    return [
        table
        for table, count in left_to_spark(candidates).items()
        if count > (pruned.count(table) if table in names else len(pruned))
    ]


PARTS: Mapping[str, Callable[[SparkSession], Any]] = {
    "facts": lambda spark: list(facts(spark)),
    "tpcds": tpcds,
    "suite": suite,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.versions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", choices=PARTS, help="default: all parts")
    parser.add_argument("--json", type=Path, help="where the results go, too")
    arguments = parser.parse_args()
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    results: dict[str, Any] = {"version": spark.version}
    for name, part in PARTS.items():
        if arguments.only in (None, name):
            results[name] = part(spark.newSession())
    for kind, name, answer in results.get("facts", ()):
        print(f"{kind:<10}  {answer:<20}  {name}")
    for name in ("tpcds", "suite"):
        for key, value in results.get(name, {}).items():
            print(f"{name}: {key} {value}")
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1), "utf-8")
    sys.exit(any(results.get(name, {}).get("wrongly pruned") for name in ("tpcds", "suite")))


if __name__ == "__main__":
    main()
