"""What pruned the scans of partitioned tables, as Spark's event logs show it.

An event log has no text of a query, but its plans as they were run. With adaptive execution the
last plan shows ``dynamicpruningexpression(true)`` where Spark dropped a filter of join keys because
the join did not become a broadcast join. In: logs. Out: a row for each table. From Spark 4 a log
may be compressed and a folder of files; such logs are first unpacked by Spark's own reader.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlrewrite.audit.summary import ScanCounts
from sqlrewrite.spark import functions as f
from sqlrewrite.spark.session import Session, spark_errors
from sqlrewrite.spark.target import SparkError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_BEGINS = '{"Event":"SparkListenerLogStart"'
_PACKED = frozenset({".zstd", ".lz4", ".lzf", ".snappy"})
_PART = re.compile(r"events_(\d+)_")
_PLANS = "sparkPlanInfo"
_SCAN = re.compile(r"(?:Scan|BatchScan) (?:\w+ )?(\S+)")
_DYNAMIC = "dynamicpruningexpression("
_DROPPED = f"{_DYNAMIC}true)"
_SAYS_NOTHING = re.compile(r"isnotnull\([^()]*\)|[\[\], ]")
_PLAN = "struct<execution: bigint, scans: array<struct<table: string, kind: string>>>"
_KINDS = ("static", "dynamic", "dropped", "none")


def is_event_log(name: str) -> bool:
    """Whether a file here, or the first one in a folder, is an event log."""
    path = Path(name)
    first = next(_logs(path), ()) if path.exists() else ()
    if not first or first[0].suffix in _PACKED or len(first) > 1:
        return bool(first)
    try:
        with first[0].open(encoding="utf-8", errors="replace") as file:
            return file.read(len(_BEGINS)) == _BEGINS
    except OSError:
        return False


def scanned(
    session: Session, inputs: Sequence[str], known: Iterable[str]
) -> tuple[ScanCounts, ...]:
    """The counts for the partitioned tables in event logs: those ``known`` to be partitioned, and
    those with a filter on partitions in some scan. Raises SparkError."""
    with spark_errors("the event logs cannot be read"), tempfile.TemporaryDirectory() as folder:
        plain = [path for name in inputs for path in _plain(session, name, Path(folder))]
        lines = session.spark.read.text(plain, recursiveFileLookup=True)
        rows = lines.where(f.col("value").contains(_PLANS)).select(
            f.input_file_name().alias("log"),
            f.monotonically_increasing_id().alias("row"),
            f.udf(_plan, _PLAN, useArrow=False)("value").alias("plan"),
        )
        return tuple(_counted(rows, {it.lower() for it in known}))


def _logs(path: Path) -> Iterator[Sequence[Path]]:
    """The logs at a path, each as the sequence of its files."""
    if not path.is_dir():
        yield (path,)
        return
    inside = sorted(it for it in path.iterdir() if it.name[0] not in "._")
    parts = [(int(match[1]), it) for it in inside if (match := _PART.match(it.name))]
    if parts:
        yield tuple(it for _, it in sorted(parts))
        return
    for it in inside:
        yield from _logs(it)


def _plain(session: Session, name: str, folder: Path) -> Iterator[str]:
    """The logs of an input as plain files; files on another file system are taken to be plain."""
    path = Path(name)
    if not path.exists():
        yield name
        return
    for parts in _logs(path):
        if len(parts) == 1 and parts[0].suffix not in _PACKED:
            yield str(parts[0])
        else:
            yield _unpacked(session, parts, folder / str(len(list(folder.iterdir()))))


def _unpacked(session: Session, parts: Sequence[Path], to: Path) -> str:
    """One file with the decompressed content of a log's files. Raises SparkError."""
    master = session.spark.conf.get("spark.master", "") or ""
    if not (session.classic and master.startswith("local")):
        why = "compressed or in parts, and is read by a local Spark alone: leave out --master"
        raise SparkError(f"{parts[0]}: this event log is {why} and --remote")
    jvm: Any = session.spark._jvm
    hadoop = jvm.org.apache.hadoop
    files = hadoop.fs.FileSystem.getLocal(hadoop.conf.Configuration())
    out = jvm.java.io.FileOutputStream(str(to))
    for part in parts:
        log = hadoop.fs.Path(part.resolve().as_uri())
        stream = jvm.org.apache.spark.deploy.history.EventLogFileReader.openEventLog(log, files)
        stream.transferTo(out)
        stream.close()
    out.close()
    return str(to)


def _counted(rows: DataFrame, known: set[str]) -> Iterator[ScanCounts]:
    final = rows.groupBy("log", "plan.execution").agg(f.max_by("plan.scans", "row").alias("scans"))
    each = final.select(f.explode("scans").alias("scan")).select("scan.*")
    counted: dict[str, dict[str, int]] = {}
    for it in each.groupBy("table", "kind").count().collect():
        counted.setdefault(it["table"], dict.fromkeys(_KINDS, 0))[it["kind"]] = it["count"]
    order = sorted(counted.items(), key=lambda it: (-it[1]["dropped"], -it[1]["none"], it[0]))
    for table, kinds in order:
        partitioned = table in known or sum(kinds.values()) > kinds["none"]
        if partitioned:
            yield ScanCounts(table, sum(kinds.values()), *(kinds[kind] for kind in _KINDS))


def _plan(line: str) -> tuple[int | None, list[tuple[str, str]]]:
    """The execution of an event with a plan, and its scans; nothing for a line that is cut off."""
    try:
        event = json.loads(line)
        return int(event["executionId"]), list(_scans(event[_PLANS]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None, []


def _scans(plan: Any) -> Iterator[tuple[str, str]]:
    nodes = [plan]
    while nodes:
        node = nodes.pop()
        nodes += node.get("children") or ()
        filters = (node.get("metadata") or {}).get("PartitionFilters")
        match = _SCAN.match(node.get("nodeName") or "")
        if match is not None and filters is not None:
            yield match[1].lower(), _kind(filters)


def _kind(filters: str) -> str:
    """What prunes a scan, by its filters on partitions."""
    left = filters.replace(_DROPPED, "")
    if _DYNAMIC in left:
        return "dynamic"
    if _SAYS_NOTHING.sub("", left):
        return "static"
    return "dropped" if left != filters else "none"
