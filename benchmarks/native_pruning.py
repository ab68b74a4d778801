"""Which fact tables of the 99 TPC-DS queries does Spark prune by itself?

Generates TPC-DS with DuckDB as Parquet, every fact table partitioned by its date key, runs the
queries on a local Spark with its defaults, and reads from each executed plan how many partitions
the fact scans really read. Only a plan that has run says so: under adaptive execution a dynamic
filter may still turn into `true` (SPARK_FACTS.md).

    python benchmarks/native_pruning.py [--work FOLDER] [--scale 1] [--memory 6g]

Needs duckdb, duckdb-extensions, duckdb-extension-tpcds, sqlglot, pyspark and Java. Writes
`ddl.sql` (the tables, as Spark DDL) and `native_pruning.json` (the pruned query and fact pairs) to
`fixtures/tpcds`. A run that was interrupted goes on where it stopped; to measure again, delete
`scans-*.jsonl` in the work folder.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyspark
import sqlglot
from duckdb_extensions import import_extension
from pyspark.sql import SparkSession
from sqlglot import exp

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "tpcds"

PARTITION_COLUMN = {
    "catalog_returns": "cr_returned_date_sk",
    "catalog_sales": "cs_sold_date_sk",
    "inventory": "inv_date_sk",
    "store_returns": "sr_returned_date_sk",
    "store_sales": "ss_sold_date_sk",
    "web_returns": "wr_returned_date_sk",
    "web_sales": "ws_sold_date_sk",
}

QUERY_STAGES = {"ShuffleQueryStageExec", "BroadcastQueryStageExec", "ResultQueryStageExec"}


@dataclass(frozen=True)
class FactScan:
    """What one scan of a fact table read; `static_files` is without the dynamic filter."""

    table: str
    partitions: int
    table_partitions: int
    files: int
    static_files: int
    dynamic_filter: bool

    @property
    def pruned(self) -> bool:
        # In files, because `isnotnull(key)` takes the null partition off before any dynamic filter.
        return self.dynamic_filter and self.files < self.static_files


@dataclass(frozen=True)
class QueryRun:
    query: int
    seconds: float
    scans: tuple[FactScan, ...]

    @property
    def pruned_tables(self) -> list[str]:
        return sorted({scan.table for scan in self.scans if scan.pruned})


def main() -> None:
    options = parse_options()
    work: Path = options.work.resolve()
    data = work / f"sf{options.scale:g}"
    work.mkdir(parents=True, exist_ok=True)
    FIXTURES.mkdir(parents=True, exist_ok=True)

    with duckdb.connect() as tpcds:
        load_tpcds(tpcds, 0)
        ddl = table_ddl(tpcds)
        queries = spark_queries(tpcds)
    write_ddl(ddl, FIXTURES / "ddl.sql")
    generate_data(data, options.scale)

    log = work / f"scans-{pyspark.__version__}-sf{options.scale:g}.jsonl"
    runs = read_runs(log)
    spark = start_spark(work, options.memory)
    try:
        table_partitions = register_tables(spark, ddl, data)
        for number, sql in queries.items():
            if number not in runs:
                runs[number] = run_query(spark, number, sql, table_partitions)
                append_run(log, runs[number])
                print(summary_line(runs[number]), flush=True)
    finally:
        spark.stop()
    write_pairs(runs, options.scale, FIXTURES / "native_pruning.json")
    print_totals(runs)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    default = Path(tempfile.gettempdir()) / "dpp-rewrite-tpcds"
    parser.add_argument(
        "--work", type=Path, default=default, help="data and log (default: %(default)s)"
    )
    parser.add_argument("--scale", type=float, default=1.0, help="TPC-DS scale factor (default: 1)")
    parser.add_argument("--memory", default="6g", help="of Spark's driver (default: %(default)s)")
    return parser.parse_args()


# TPC-DS, from DuckDB


def load_tpcds(connection: duckdb.DuckDBPyConnection, scale: float) -> None:
    import_extension("tpcds")
    connection.execute("LOAD tpcds")
    connection.execute(f"CALL dsdgen(sf={scale})")


def table_ddl(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Each table's CREATE TABLE for Spark, by name in alphabetical order."""
    columns: dict[str, list[str]] = {}
    for table, column, duckdb_type in connection.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns() "
        "WHERE NOT internal ORDER BY table_name, column_index"
    ).fetchall():
        spark_type = exp.DataType.build(duckdb_type, dialect="duckdb").sql("spark")
        columns.setdefault(table, []).append(f"  {column} {spark_type}")
    return {table: create_table(table, lines) for table, lines in columns.items()}


def create_table(table: str, columns: list[str]) -> str:
    text = f"CREATE TABLE {table} (\n" + ",\n".join(columns) + "\n)\nUSING parquet"
    if key := PARTITION_COLUMN.get(table):
        text += f"\nPARTITIONED BY ({key})"
    return text


def spark_queries(connection: duckdb.DuckDBPyConnection) -> dict[int, str]:
    rows = connection.execute("SELECT query_nr, query FROM tpcds_queries() ORDER BY 1").fetchall()
    return {
        number: sqlglot.transpile(sql, read="duckdb", write="spark", pretty=True)[0]
        for number, sql in rows
    }


def generate_data(folder: Path, scale: float) -> None:
    """Writes the tables as Parquet, once: the marker file comes last."""
    marker = folder / "_COMPLETE"
    if marker.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as connection:
        load_tpcds(connection, scale)
        connection.execute("SET threads = 1")  # one file a partition
        for (table,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            copy_table(connection, table, folder / table)
    marker.touch()


def copy_table(connection: duckdb.DuckDBPyConnection, table: str, folder: Path) -> None:
    if key := PARTITION_COLUMN.get(table):
        connection.execute(
            f"COPY (FROM {table} ORDER BY {key}) TO '{folder}' "
            f"(FORMAT parquet, PARTITION_BY ({key}), OVERWRITE)"
        )
    else:
        folder.mkdir(exist_ok=True)
        connection.execute(f"COPY {table} TO '{folder / 'data.parquet'}' (FORMAT parquet)")


# Spark


def start_spark(work: Path, memory: str) -> SparkSession:
    spark = (
        SparkSession.builder.master("local[2]")
        .appName("native-pruning")
        .config("spark.driver.memory", memory)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.local.dir", str(work / "spark"))
        .config("spark.sql.warehouse.dir", str(work / "warehouse"))
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def register_tables(spark: SparkSession, ddl: Mapping[str, str], data: Path) -> dict[str, int]:
    """Makes the tables known to the session's catalog; returns each fact table's partitions."""
    for table, create in ddl.items():
        spark.sql(f"{create}\nLOCATION '{data / table}'")
    for table in PARTITION_COLUMN:
        spark.sql(f"MSCK REPAIR TABLE {table}")
    return {table: spark.sql(f"SHOW PARTITIONS {table}").count() for table in PARTITION_COLUMN}


def run_query(
    spark: SparkSession, number: int, sql: str, table_partitions: Mapping[str, int]
) -> QueryRun:
    start = time.perf_counter()
    frame = spark.sql(sql)
    frame.collect()
    seconds = round(time.perf_counter() - start, 1)
    plan = frame._jdf.queryExecution().executedPlan()
    scans = tuple(
        fact_scan(node, table_partitions)
        for node in plan_nodes(plan, set())
        if scanned_table(node) in table_partitions
    )
    return QueryRun(number, seconds, scans)


def plan_nodes(node: Any, seen: set[int]) -> Iterator[Any]:
    """Every node of an executed plan, once: a reused exchange or subquery is the same object.

    A query stage's `id` counts stages, any other node's counts nodes, so stages are looked through.
    """
    if class_name(node) in QUERY_STAGES:
        yield from plan_nodes(node.plan(), seen)
    elif node.id() not in seen:
        seen.add(node.id())
        yield node
        for below in nodes_below(node):
            yield from plan_nodes(below, seen)


def nodes_below(node: Any) -> Iterator[Any]:
    match class_name(node):
        case "AdaptiveSparkPlanExec":
            yield node.executedPlan()
        case "ReusedExchangeExec" | "ReusedSubqueryExec":
            yield node.child()
        case "EmptyRelationExec":  # adaptive execution saw that the result is empty
            yield from executed_stages(node.logical())
        case _:
            yield from elements(node.children())
            yield from elements(node.subqueries())


def executed_stages(logical: Any) -> Iterator[Any]:
    """The stages that had run below a logical plan when adaptive execution replaced it."""
    match class_name(logical):
        case "LogicalQueryStage":
            yield logical.physicalPlan()
        case "EmptyRelation":
            yield from executed_stages(logical.logical())
        case _:
            for child in elements(logical.children()):
                yield from executed_stages(child)


def scanned_table(node: Any) -> str | None:
    if class_name(node) != "FileSourceScanExec":
        return None
    return str(node.tableIdentifier().get().table())


def fact_scan(scan: Any, table_partitions: Mapping[str, int]) -> FactScan:
    table = scanned_table(scan)
    assert table is not None
    files = metric(scan, "numFiles")
    dynamic_filter = any(is_live_dynamic_filter(f) for f in elements(scan.partitionFilters()))
    return FactScan(
        table=table,
        partitions=metric(scan, "numPartitions"),
        table_partitions=table_partitions[table],
        files=files,
        static_files=metric(scan, "staticFilesNum") if dynamic_filter else files,
        dynamic_filter=dynamic_filter,
    )


def is_live_dynamic_filter(expression: Any) -> bool:
    """Whether it is a DynamicPruningExpression that adaptive execution has not made `true`."""
    return (
        class_name(expression) == "DynamicPruningExpression"
        and class_name(expression.child()) != "Literal"
    )


def metric(scan: Any, name: str) -> int:
    return int(scan.metrics().apply(name).value())


def elements(sequence: Any) -> Iterator[Any]:
    return (sequence.apply(i) for i in range(sequence.size()))


def class_name(node: Any) -> str:
    return str(node.getClass().getSimpleName())


# Files and reports


def write_ddl(ddl: Mapping[str, str], path: Path) -> None:
    path.write_text("\n\n".join(f"{create};" for create in ddl.values()) + "\n", "utf-8")


def read_runs(log: Path) -> dict[int, QueryRun]:
    if not log.exists():
        return {}
    records = (json.loads(line) for line in log.read_text("utf-8").splitlines())
    return {
        record["query"]: QueryRun(
            record["query"], record["seconds"], tuple(FactScan(**scan) for scan in record["scans"])
        )
        for record in records
    }


def append_run(log: Path, run: QueryRun) -> None:
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(run)) + "\n")


def write_pairs(runs: Mapping[int, QueryRun], scale: float, path: Path) -> None:
    """One query a line, so that a diff between two Spark versions reads well."""
    pruned = ",\n".join(
        f'    "{number}": {json.dumps(run.pruned_tables)}'
        for number, run in sorted(runs.items())
        if run.pruned_tables
    )
    path.write_text(
        f'{{\n  "spark": "{pyspark.__version__}",\n  "scale": {scale:g},\n'
        f'  "pruned": {{\n{pruned}\n  }}\n}}\n',
        "utf-8",
    )


def summary_line(run: QueryRun) -> str:
    pruned = sum(scan.pruned for scan in run.scans)
    read = sum(scan.partitions for scan in run.scans)
    total = sum(scan.table_partitions for scan in run.scans)
    return (
        f"q{run.query:02}  {pruned} of {len(run.scans)} scans pruned, "
        f"{read:,} of {total:,} partitions, {run.seconds} s"
    )


def print_totals(runs: Mapping[int, QueryRun]) -> None:
    scans = [scan for run in runs.values() for scan in run.scans]
    print(
        f"{len(scans)} scans, {sum(scan.pruned for scan in scans)} pruned, "
        f"{sum(len(run.pruned_tables) for run in runs.values())} pairs, "
        f"{sum(scan.partitions for scan in scans):,} of "
        f"{sum(scan.table_partitions for scan in scans):,} partitions, "
        f"{sum(run.seconds for run in runs.values()):.0f} s"
    )


if __name__ == "__main__":
    main()
