"""A Spark with Delta and Iceberg, and what its scans said they read.

In comes a statement, out come the rows of its target and the sums over all scans of a table, from
the metrics that Spark keeps of each execution: those that a commit runs inside are among them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

from sqlrewrite.settings.spark_conf import VERSION
from sqlrewrite.spark.catalog import read_relations
from sqlrewrite.spark.session import Session
from sqlrewrite.spark.target import Target
from sqlrewrite.warehouse import Warehouse

FILES = ("number of files read", "number of file splits read")
"""What Spark's own scan and what Iceberg's calls the files that were read, filters at run time
included."""
BYTES = ("size of files read", "total data file size (bytes)")
"""Bytes of files; Iceberg's are those it planned, before a filter at run time."""

_UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


class Read(NamedTuple):
    """What all scans of a table read in one statement; None is what the format does not count."""

    files: int = 0
    partitions: int | None = None
    rows: int = 0
    bytes: int = 0

    def __str__(self) -> str:
        """As a row of the page shows it."""
        partitions = "" if self.partitions is None else f"{self.partitions} | "
        return f"{self.files} | {partitions or '- | '}{self.rows:,} | {self.bytes:,}"


class Lake:
    """A session with the two formats: ``spark_catalog`` holds Delta tables, ``ice`` Iceberg's."""

    def __init__(self, jars: Path, folder: Path) -> None:
        builder = SparkSession.builder.master("local[1]")
        for key, value in _settings(jars, folder).items():
            builder = builder.config(key, value)
        self.spark = builder.getOrCreate()
        self.spark.sparkContext.setLogLevel("ERROR")

    def run(self, text: str) -> list[Any]:
        """The rows of a statement."""
        return list(self.spark.sql(text).collect())

    def generate(self, table: str, column: str, expression: str) -> None:
        """Makes a Delta table of ``id`` and ``a``, partitioned by what is generated from them:
        there is no SQL for that."""
        jvm, gateway = self.spark._jvm, self.spark.sparkContext._gateway
        assert jvm is not None
        assert gateway is not None
        tables, session = jvm.io.delta.tables.DeltaTable, self.spark._jsparkSession
        builder = tables.columnBuilder(session, column).dataType("BIGINT")
        new = tables.create(session).tableName(table)
        new = new.addColumn("id", "INT").addColumn("a", "INT")
        new = new.addColumn(builder.generatedAlwaysAs(expression).build())
        columns = gateway.new_array(jvm.java.lang.String, 1)
        columns[0] = column
        new.partitionedBy(columns).execute()

    def rows(self, table: str) -> list[str]:
        """All rows of a table, in an order."""
        return sorted(map(str, self.run(f"SELECT * FROM {table}")))

    def measured(self, text: str, table: str) -> tuple[list[Any], Read]:
        """The rows of a statement, and what it read of a table."""
        store = self.spark._jsparkSession.sharedState().statusStore()
        before = store.executionsCount()
        rows = self.run(text)
        self.spark._jsc.sc().listenerBus().waitUntilEmpty()
        return rows, _sum(_scans(store, before, table))

    def warehouse(self, *tables: str) -> Warehouse:
        """What ``catalog pull`` reads of tables."""
        session = Session(self.spark, Target(), classic=True)
        names = [_qualified(table) for table in tables]
        counts = {
            read_relation.name: read_relation.relation
            for read_relation in read_relations(session, names)
            if read_relation.relation is not None
        }
        assert set(counts) == set(names), set(names) - set(counts)
        settings = {VERSION: self.spark.version}
        return Warehouse(settings=settings).with_relations(counts)


def _qualified(table: str) -> tuple[str, ...]:
    parts = tuple(table.split("."))
    return parts if len(parts) == 3 else ("spark_catalog", *parts)


def _settings(jars: Path, folder: Path) -> dict[str, str]:
    delta, iceberg = "io.delta.sql.DeltaSparkSessionExtension", "org.apache.iceberg.spark"
    return {
        "spark.jars": ",".join(sorted(str(path) for path in jars.glob("*.jar"))),
        "spark.driver.memory": "2g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.warehouse.dir": str(folder / "delta"),
        "spark.sql.extensions": f"{delta},{iceberg}.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.ice": f"{iceberg}.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": str(folder / "ice"),
    }


def _scans(store: Any, before: int, table: str) -> Iterator[dict[str, str]]:
    """The metrics of each scan of a table in the executions since so many."""
    executions = store.executionsList()
    for index in range(before, executions.size()):
        number = executions.apply(index).executionId()
        values, nodes = store.executionMetrics(number), store.planGraph(number).allNodes()
        for node in (nodes.apply(at) for at in range(nodes.size())):
            if "Scan" not in node.name() or not node.name().endswith(f" {table}"):
                continue
            metrics = [node.metrics().apply(at) for at in range(node.metrics().size())]
            by_name = {metric.name(): values.get(metric.accumulatorId()) for metric in metrics}
            yield {name: value.get() for name, value in by_name.items() if value.isDefined()}


def _sum(scans: Iterator[dict[str, str]]) -> Read:
    reading = Read()
    for scan in scans:
        partitions = scan.get("number of partitions read")
        count = None if partitions is None else _number(partitions)
        reading = Read(
            reading.files + next((_number(scan[file]) for file in FILES if file in scan), 0),
            reading.partitions if count is None else (reading.partitions or 0) + count,
            reading.rows + _number(scan.get("number of output rows", "0")),
            reading.bytes + next((_number(scan[data]) for data in BYTES if data in scan), 0),
        )
    return reading


def _number(shown: str) -> int:
    """A metric as Spark shows it: ``4,000``, ``44.7 KiB``."""
    value, _, unit = shown.split("\n")[-1].partition(" (")[0].partition(" ")
    return round(float(value.replace(",", "")) * _UNITS.get(unit, 1))
