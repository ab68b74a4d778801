"""A history of queries as a DataFrame: a row for each run, with the same columns for every source.

SQL files give a row for each statement, dbt's ``run_results.json`` one for each node. Spark's event
logs have plans and no texts: ``scanned`` counts what pruned the scans of each table. From Spark 4
on a log may be compressed and in several files, which Spark's own reader unpacks.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlrewrite.audit.audit_summary import ScanCounts
from sqlrewrite.audit.history_columns import columns
from sqlrewrite.spark import column_functions as f
from sqlrewrite.spark.session import Session, spark_errors
from sqlrewrite.spark.target import SparkError
from sqlrewrite.sql.statements.effects import statement_texts
from sqlrewrite.text.limits import Limits
from sqlrewrite.warehouse import literal_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


COLUMNS = "text string, schema string, at timestamp, user string, bytes bigint, micros bigint"

_ENDINGS = {
    ".parquet": "parquet",
    ".orc": "orc",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".csv": "csv",
    ".sql": "sql",
}
_RUN_RESULTS = "run_results.json"
_MILLION = 1_000_000


def history(
    session: Session, inputs: Sequence[str], named: Mapping[str, str | None], form: str | None
) -> DataFrame:
    """All inputs as one frame. ``form`` is their format, None to tell it from their names.
    ``named`` maps parts to columns of the history. Raises SparkError, and ConfigError for a missing
    column."""
    return reduce(
        lambda one, other: one.unionByName(other),
        (_read(session.spark, name, named, form or _form(name)) for name in inputs),
    )


def _form(name: str) -> str:
    """The format of an input by its suffix; of a folder by those of its files."""
    path = Path(name)
    if path.name == _RUN_RESULTS:
        return "dbt"
    form = _ENDINGS.get("".join(path.suffixes[:1]).lower())
    if form is None and path.is_dir():
        inside = (_ENDINGS.get(file.suffix.lower()) for file in sorted(path.rglob("*")))
        form = next((form_inside for form_inside in inside if form_inside is not None), None)
        if form is None:
            raise SparkError(f"{name}: nothing in it is known to be a history: say --input-format")
    return form or "table"


def _read(spark: SparkSession, name: str, named: Mapping[str, str | None], form: str) -> DataFrame:
    with spark_errors(f"{name}: cannot be read"):
        if form == "dbt":
            return spark.createDataFrame(list(_of_dbt(name)), COLUMNS)
        if form == "sql":
            return _of_files(spark, name)
        reader = spark.read
        if form == "csv":
            reader = reader.options(header=True, multiLine=True, escape='"')
        frame = spark.table(name) if form == "table" else reader.format(form).load(name)
        return _named(frame, named)


def _named(frame: DataFrame, named: Mapping[str, str | None]) -> DataFrame:
    """The columns of a history under our names; a value that cannot be cast becomes NULL."""
    known_columns = columns(list(_names(frame.schema)), named)

    def column(name: str | None, kind: str) -> str:
        value = "NULL" if name is None else literal_name(tuple(name.split(".")))
        return f"try_cast({value} AS {kind})"

    runtime = (
        f"round({column(known_columns.runtime, 'double')} * {_MILLION // known_columns.seconds})"
    )
    begun, ended = (
        f"unix_micros({column(time, 'timestamp')})"
        for time in (known_columns.time, known_columns.end)
    )
    return frame.selectExpr(
        f"{column(known_columns.text, 'string')} AS text",
        f"{column(known_columns.schema, 'string')} AS schema",
        f"{column(known_columns.time, 'timestamp')} AS at",
        f"{column(known_columns.user, 'string')} AS user",
        f"{column(known_columns.bytes, 'bigint')} AS bytes",
        f"coalesce(try_cast({runtime} AS bigint), {ended} - {begun}) AS micros",
    )


def _names(schema: StructType, before: str = "") -> Iterator[str]:
    """The names of all columns; a field of a struct is ``struct.field``."""
    for field in schema.fields:
        yield before + field.name
        if field.dataType.typeName() == "struct":
            yield from _names(field.dataType, f"{before}{field.name}.")  # type: ignore[arg-type]


def _of_files(spark: SparkSession, name: str) -> DataFrame:
    """The statements of files of SQL."""
    split = f.udf(_statements, "array<string>", useArrow=False)
    reader = spark.read.options(wholetext=True, recursiveFileLookup=True, pathGlobFilter="*.sql")
    texts = reader.text(name).select(f.explode(split("value")).alias("text"))
    return _named(texts, {})


def _statements(text: str | None) -> list[str]:
    """The statements of a text; the whole text if it is too large or cannot be split."""
    if len(text or "") > Limits().file:
        return [text or ""]
    try:
        return [statement_text.text for statement_text in statement_texts(text or "")]
    except Exception:
        return [text or ""]


def _of_dbt(name: str) -> Iterator[tuple[Any, ...]]:
    """The rows of a ``run_results.json``. Raises SparkError."""
    try:
        nodes = json.loads(Path(name).read_text("utf-8"))["results"]
        for node in nodes:
            text = node.get("compiled_code") or node.get("compiled_sql") or ""
            runtime = node.get("adapter_response") or {}
            seconds = round(float(node.get("execution_time") or 0) * _MILLION)
            size = runtime.get("bytes_processed") or runtime.get("data_scanned_in_bytes")
            yield text, None, None, None, None if size is None else int(size), seconds
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SparkError(f"{name}: not a run_results.json of dbt: {error}") from error


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
    session: Session, inputs: Sequence[str], partitioned: Iterable[str]
) -> tuple[ScanCounts, ...]:
    """The counts for the partitioned tables in event logs. Raises SparkError."""
    with spark_errors("the event logs cannot be read"), tempfile.TemporaryDirectory() as folder:
        plain = [path for name in inputs for path in _plain(session, name, Path(folder))]
        lines = session.spark.read.text(plain, recursiveFileLookup=True)
        rows = lines.where(f.col("value").contains(_PLANS)).select(
            f.input_file_name().alias("log"),
            f.monotonically_increasing_id().alias("row"),
            f.udf(_plan_of, _PLAN, useArrow=False)("value").alias("plan"),
        )
        return tuple(_counted(rows, {table.lower() for table in partitioned}))


def _logs(path: Path) -> Iterator[Sequence[Path]]:
    """The logs at a path, each as the sequence of its files."""
    if not path.is_dir():
        yield (path,)
        return
    inside = sorted(file for file in path.iterdir() if file.name[0] not in "._")
    parts = [(int(match[1]), file) for file in inside if (match := _PART.match(file.name))]
    if parts:
        yield tuple(file for _, file in sorted(parts))
        return
    for file in inside:
        yield from _logs(file)


def _plain(session: Session, name: str, folder: Path) -> Iterator[str]:
    """The logs of an input as uncompressed files; files on another file system are assumed to be
    so."""
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
    for row in each.groupBy("table", "kind").count().collect():
        counted.setdefault(row["table"], dict.fromkeys(_KINDS, 0))[row["kind"]] = row["count"]
    order = sorted(counted.items(), key=lambda row: (-row[1]["dropped"], -row[1]["none"], row[0]))
    for table, kinds in order:
        partitioned = table in known or sum(kinds.values()) > kinds["none"]
        if partitioned:
            yield ScanCounts(table, sum(kinds.values()), *(kinds[kind] for kind in _KINDS))


def _plan_of(line: str) -> tuple[int | None, list[tuple[str, str]]]:
    """The execution and the scans in an event with a plan; nothing for an incomplete line."""
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
    rest = filters.replace(_DROPPED, "")
    if _DYNAMIC in rest:
        return "dynamic"
    if _SAYS_NOTHING.sub("", rest):
        return "static"
    return "dropped" if rest != filters else "none"
