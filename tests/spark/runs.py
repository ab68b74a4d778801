"""A query on Spark: its rows, and what its scans of partitioned tables really read."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sqlrewrite.spark.plans.scans import TableScan, fact_scans

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

THRESHOLD = "spark.sql.autoBroadcastJoinThreshold"
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Run:
    """The rows of a query that has run, and its scans."""

    rows: list[tuple[Any, ...]]
    scans: list[TableScan]

    def partitions(self, table: str | None = None) -> int:
        """The partitions read, of one table or of all."""
        return sum(scan.partitions or 0 for scan in self.scans if table in (None, scan.table))


def run(spark: SparkSession, sql: str) -> Run:
    frame = spark.sql(sql)
    rows = [tuple(row) for row in frame.collect()]
    return Run(rows, fact_scans(frame))


def temporary_views(spark: SparkSession) -> set[str]:
    """The names of the session's temporary views."""
    return {row.viewName for row in spark.sql("SHOW VIEWS").collect() if row.isTemporary}


@contextmanager
def in_database(
    spark: SparkSession, name: str, statements: Iterable[str]
) -> Iterator[SparkSession]:
    """A new database of that name, current while a module's tests run, with what is made in it."""
    before = spark.catalog.currentDatabase()
    spark.sql(f"CREATE DATABASE {name}")
    spark.sql(f"USE {name}")
    for statement in statements:
        spark.sql(statement)
    yield spark
    spark.sql(f"USE {before}")


@contextmanager
def broadcast_joins(spark: SparkSession, enabled: bool) -> Iterator[None]:
    """Switches off the broadcast joins that Spark chooses by size, as for large dimensions."""
    before = spark.conf.get(THRESHOLD)
    if not enabled:
        spark.conf.set(THRESHOLD, "-1")
    try:
        yield
    finally:
        spark.conf.set(THRESHOLD, str(before))


NEEDS_CONNECT = (
    pytest.mark.connect,
    pytest.mark.skipif(
        find_spec("grpc") is None or find_spec("pandas") is None,
        reason="Spark Connect's packages are not installed: pip install -e '.[connect]'",
    ),
)
REMOTE = pytest.param("--remote=sc://127.0.0.1:", marks=NEEDS_CONNECT)
"""A server of Spark Connect where nobody listens, as a parameter; a port is to follow."""


def needs_connect(test: Any) -> Any:
    """Marks a test that needs the packages of Spark Connect, which .ci/connect installs."""
    for mark in NEEDS_CONNECT:
        test = mark(test)
    return test


def in_connect_session(code: str, folder: Path, *args: str) -> tuple[str, str]:
    """What a process writes to stdout and stderr whose code begins a session of Spark Connect, with
    a server of its own."""
    result = subprocess.run(
        [sys.executable, "-c", code, *args],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    return result.stdout, result.stderr
