"""Joins of two tables that are partitioned alike: as they are, by groups, by buckets, by storage.

    python -m benchmarks.partition_wise [--rows 2000000,500000 …] [--groups 2,4] [--iceberg JARS]

Each text runs in a Spark of its own, on two cores, without broadcast joins of whole tables: the
threshold is a third more than a group's share of the smaller table. Reported are the
processor seconds of the JVM, which other work on the machine changes least, the seconds on the
clock, the exchanges in the plan and the bytes shuffled. JARS is a folder with Iceberg's runtime for
the Spark that runs this (``.ci/formats`` gets it): then the same on Iceberg's tables, with and
without a storage-partitioned join. The table is in docs/partition-wise.md.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.progress import say
from sqlrewrite import Catalog, rewrite
from sqlrewrite.spark.plans.scans import shuffled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARTITIONS = 32
JOIN = "SELECT x.k, x.a, y.b FROM {big} x JOIN {small} y ON x.p = y.p AND x.k = y.k WHERE x.a >= 0"
JOINS = {"inner": JOIN, "left": JOIN.replace(" JOIN ", " LEFT JOIN ")}
GROUPING = "spark.sql.iceberg.planning.preserve-data-grouping"
ALL_KEYS = "spark.sql.requireAllClusterKeysForCoPartition"
THRESHOLD = "spark.sql.autoBroadcastJoinThreshold"


def main() -> None:
    """Prints a table for the sizes that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rows",
        nargs="+",
        default=["2000000,500000"],
        help="of the larger and smaller table; several pairs are measured one after the other",
    )
    parser.add_argument("--groups", default="2,4,8,16")
    parser.add_argument("--joins", default="inner,left,buckets", help="which of these are measured")
    parser.add_argument("--iceberg", metavar="JARS", help="a folder with Iceberg's runtime")
    parser.add_argument("--runs", type=int, default=2)
    arguments = parser.parse_args()
    sizes = [[int(part) for part in pair.split(",")] for pair in arguments.rows]
    groups = [int(part) for part in arguments.groups.split(",")]
    folder = Path(tempfile.mkdtemp(prefix="partition-wise-"))
    spark = _session(folder, arguments.iceberg)
    try:
        print(f"{PARTITIONS} partitions, Spark {spark.version}")
        print("| rows | join | CPU s | s | exchanges | shuffled MB |")
        print("|---|---|---|---|---|---|")
        for rows in sizes:
            joins = arguments.joins.split(",")
            iceberg = arguments.iceberg is not None
            cases = _iceberg(spark, rows, joins) if iceberg else _own(spark, rows, groups, joins)
            shown = f"{rows[0]:,} x {rows[1]:,}"
            say(f"making tables of {shown} rows")
            for name, text, settings in cases:
                measured = _measured(spark, text, settings, arguments.runs)
                print(f"| {shown} | {name} | {measured} |", flush=True)
    finally:
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _session(folder: Path, jars: str | None) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "2g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "8")
        .config("spark.local.dir", str(folder / "local"))
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.sql.catalogImplementation", "in-memory")
    )
    if jars:
        text = ",".join(str(path) for path in sorted(Path(jars).glob("iceberg*.jar")))
        builder = (
            builder.config("spark.jars", text)
            .config("spark.sql.catalog.ice", "org.apache.iceberg.spark.SparkCatalog")
            .config("spark.sql.catalog.ice.type", "hadoop")
            .config("spark.sql.catalog.ice.warehouse", str(folder / "ice"))
        )
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


Case = tuple[str, str, dict[str, str]]
"""What is measured: its name, its text, and the settings that it is run with."""


def _own(
    spark: SparkSession, rows: Sequence[int], groups: Sequence[int], joins: Sequence[str]
) -> Iterator[Case]:
    """Tables of Spark's own: partitioned, and partitioned and bucketed."""
    columns, name = ("a", "b"), ("big", "small")
    ddl = []
    for table, column, count in zip(name, columns, rows, strict=True):
        data = _data(spark, column, count)
        for each in (table, f"{table}_buckets"):
            spark.sql(f"DROP TABLE IF EXISTS {each}")
        data.repartition(4, "p").write.partitionBy("p").saveAsTable(table)
        if "buckets" in joins:
            data.repartition(8, "k").write.bucketBy(8, "k").saveAsTable(f"{table}_buckets")
        spark.sql(f"ANALYZE TABLE {table} COMPUTE STATISTICS NOSCAN")
        ddl.append(
            f"CREATE TABLE {table} (k BIGINT, {column} BIGINT, p INT) USING parquet "
            "PARTITIONED BY (p)"
        )
    catalog = Catalog.from_ddl(";\n".join(ddl))
    size = _size(spark, "small")
    for kind in (join for join in joins if join in JOINS):
        text = JOINS[kind].format(big="big", small="small")
        yield f"{kind}, as it is", text, {THRESHOLD: str(size // 2)}
        for count in groups:
            result = rewrite(text, catalog, strategy="partition-wise", groups=count)
            assert result.changed, result.notes
            yield f"{kind}, {count} groups", result.sql, {THRESHOLD: str(int(size / count * 1.3))}
    if "buckets" in joins:
        text = JOINS["inner"].format(big="big_buckets", small="small_buckets")
        yield "inner, buckets by k", text, {THRESHOLD: "-1", ALL_KEYS: "false"}


def _iceberg(spark: SparkSession, rows: Sequence[int], joins: Sequence[str]) -> Iterator[Case]:
    """Iceberg's tables, partitioned."""
    for table, column, count in zip(("big", "small"), ("a", "b"), rows, strict=True):
        data = _data(spark, column, count).repartition(4, "p").sortWithinPartitions("p")
        data.writeTo(f"ice.db.{table}").using("iceberg").partitionedBy(data["p"]).createOrReplace()
    for kind in (join for join in joins if join in JOINS):
        text = JOINS[kind].format(big="ice.db.big", small="ice.db.small")
        yield f"{kind}, Iceberg as it is", text, {THRESHOLD: "-1"}
        settings = {THRESHOLD: "-1", GROUPING: "true", ALL_KEYS: "false"}
        yield f"{kind}, storage-partitioned", text, settings


def _data(spark: SparkSession, column: str, count: int):  # type: ignore[no-untyped-def]
    from pyspark.sql import functions as f

    return spark.range(count).select(
        f.col("id").alias("k"),
        (f.col("id") * 3).alias(column),
        (f.col("id") % PARTITIONS).cast("int").alias("p"),
    )


def _size(spark: SparkSession, table: str) -> int:
    """Its bytes, as Spark plans with them."""
    rows = spark.sql(f"DESCRIBE EXTENDED {table}").collect()
    return int(next(str(row[1]) for row in rows if row[0] == "Statistics").split()[0])


def _measured(spark: SparkSession, text: str, settings: dict[str, str], runs: int) -> str:
    """The least of several runs, after one that warms up."""
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        plan = str(spark.sql(f"EXPLAIN {text}").collect()[0][0])
        best: tuple[float, float, float] | None = None
        for number in range(runs + 1):
            before, start = _processor(spark), time.perf_counter()
            frame = spark.sql(text)
            frame._jdf.queryExecution().toRdd().count()
            seconds = time.perf_counter() - start
            costs = _processor(spark) - before, seconds, shuffled(frame) / 1e6
            if number and (best is None or costs < best):
                best = costs
    finally:
        for key in settings:
            spark.conf.unset(key)
    assert best is not None
    return f"{best[0]:.1f} | {best[1]:.1f} | {plan.count('Exchange hash')} | {best[2]:.1f}"


def _processor(spark: SparkSession) -> float:
    """The processor seconds that the JVM has taken, as Linux counts them."""
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    stat = Path(f"/proc/{gateway.proc.pid}/stat").read_text()
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    os.environ.pop("SPARK_HOME", None)
    main()
