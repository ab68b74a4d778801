"""Which fact tables of the 99 TPC-DS queries does Spark prune by itself?

Generates TPC-DS with DuckDB as Parquet, every fact table partitioned by its date key, runs the
queries on a local Spark with its defaults, and reads from each executed plan how many partitions
the fact scans really read. Only a plan that has run says so: under adaptive execution a dynamic
filter may still turn into `true` (SPARK_FACTS.md).

    python -m benchmarks.native_pruning [--work FOLDER] [--scale 1] [--memory 6g]

Needs duckdb, duckdb-extensions, duckdb-extension-tpcds, sqlglot, pyspark and Java. Writes
`ddl.sql` (the tables, as Spark DDL) and `native_pruning.json` (the pruned query and fact pairs) to
`fixtures/tpcds`. A run that was interrupted goes on where it stopped; to measure again, delete
`scans-*.jsonl` in the work folder.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import duckdb
import pyspark
from pyspark.sql import SparkSession

from benchmarks.tpcds import FIXTURES, load_tpcds, spark_queries, table_ddl, write_ddl
from benchmarks.warehouse import generate_data, register_tables, start_spark
from sqlrewrite.spark.scans import TableScan, partitioned_scans


@dataclass(frozen=True)
class FactScan(TableScan):
    """What one scan of a fact table read, and how many partitions that table has."""

    table_partitions: int


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
    spark = start_spark(work, options.memory, "native-pruning")
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


# Spark


def run_query(
    spark: SparkSession, number: int, sql: str, table_partitions: Mapping[str, int]
) -> QueryRun:
    start = time.perf_counter()
    frame = spark.sql(sql)
    frame.collect()
    seconds = round(time.perf_counter() - start, 1)
    scans = tuple(
        FactScan(**asdict(scan), table_partitions=table_partitions[scan.table])
        for scan in partitioned_scans(frame)
        if scan.table in table_partitions
    )
    return QueryRun(number, seconds, scans)


# Files and reports


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
