"""A history of queries as a DataFrame: one row for each run, with the same columns for every
source.

In: the inputs as a person names them. Out: a frame of ``COLUMNS``. Files of SQL give a row for each
statement, dbt's ``run_results.json`` one for each node.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlrewrite.audit.columns import columns
from sqlrewrite.catalog.names import literal_name
from sqlrewrite.spark import functions as f
from sqlrewrite.spark.session import Session, spark_errors
from sqlrewrite.spark.target import SparkError
from sqlrewrite.sql.statements.execution import statement_texts
from sqlrewrite.text.limits import Limits

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
    session: Session, inputs: Sequence[str], given: Mapping[str, str | None], form: str | None
) -> DataFrame:
    """All inputs as one frame. ``form`` says how they are read, None: by the name of each.
    ``given`` are the history's own columns, by part. Raises SparkError, and ConfigError for a
    column that does not exist."""
    return reduce(
        lambda one, other: one.unionByName(other),
        (_read(session.spark, it, given, form or _form(it)) for it in inputs),
    )


def _form(name: str) -> str:
    """How an input is read, by its suffix, or by that of the files in it."""
    path = Path(name)
    if path.name == _RUN_RESULTS:
        return "dbt"
    found = _ENDINGS.get("".join(path.suffixes[:1]).lower())
    if found is None and path.is_dir():
        inside = (_ENDINGS.get(it.suffix.lower()) for it in sorted(path.rglob("*")))
        found = next((it for it in inside if it is not None), None)
        if found is None:
            raise SparkError(f"{name}: nothing in it is known to be a history: say --input-format")
    return found or "table"


def _read(spark: SparkSession, name: str, given: Mapping[str, str | None], form: str) -> DataFrame:
    with spark_errors(f"{name}: cannot be read"):
        if form == "dbt":
            return spark.createDataFrame(list(_of_dbt(name)), COLUMNS)
        if form == "sql":
            return _of_files(spark, name)
        reader = spark.read
        if form == "csv":
            reader = reader.options(header=True, multiLine=True, escape='"')
        frame = spark.table(name) if form == "table" else reader.format(form).load(name)
        return _named(frame, given)


def _named(frame: DataFrame, given: Mapping[str, str | None]) -> DataFrame:
    """A history's own columns as ours; a value that cannot be cast becomes NULL."""
    found = columns(list(_names(frame.schema)), given)

    def column(name: str | None, kind: str) -> str:
        value = "NULL" if name is None else literal_name(tuple(name.split(".")))
        return f"try_cast({value} AS {kind})"

    runtime = f"round({column(found.runtime, 'double')} * {_MILLION // found.seconds})"
    begun, ended = (f"unix_micros({column(it, 'timestamp')})" for it in (found.time, found.end))
    return frame.selectExpr(
        f"{column(found.text, 'string')} AS text",
        f"{column(found.schema, 'string')} AS schema",
        f"{column(found.time, 'timestamp')} AS at",
        f"{column(found.user, 'string')} AS user",
        f"{column(found.bytes, 'bigint')} AS bytes",
        f"coalesce(try_cast({runtime} AS bigint), {ended} - {begun}) AS micros",
    )


def _names(schema: StructType, before: str = "") -> Iterator[str]:
    """The names of all columns; a field of a struct is ``struct.field``."""
    for it in schema.fields:
        yield before + it.name
        if it.dataType.typeName() == "struct":
            yield from _names(it.dataType, f"{before}{it.name}.")  # type: ignore[arg-type]


def _of_files(spark: SparkSession, name: str) -> DataFrame:
    """The statements of files of SQL."""
    split = f.udf(_statements, "array<string>", useArrow=False)
    reader = spark.read.options(wholetext=True, recursiveFileLookup=True, pathGlobFilter="*.sql")
    texts = reader.text(name).select(f.explode(split("value")).alias("text"))
    return _named(texts, {})


def _statements(text: str | None) -> list[str]:
    """The statements of a text; the whole text if it is too large to be split, or if our code
    fails."""
    if len(text or "") > Limits().file:
        return [text or ""]
    try:
        return [it.text for it in statement_texts(text or "")]
    except Exception:
        return [text or ""]


def _of_dbt(name: str) -> Iterator[tuple[Any, ...]]:
    """The rows of a ``run_results.json``. Raises SparkError."""
    try:
        found = json.loads(Path(name).read_text("utf-8"))["results"]
        for it in found:
            text = it.get("compiled_code") or it.get("compiled_sql") or ""
            runtime = it.get("adapter_response") or {}
            seconds = round(float(it.get("execution_time") or 0) * _MILLION)
            size = runtime.get("bytes_processed") or runtime.get("data_scanned_in_bytes")
            yield text, None, None, None, None if size is None else int(size), seconds
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SparkError(f"{name}: not a run_results.json of dbt: {error}") from error
