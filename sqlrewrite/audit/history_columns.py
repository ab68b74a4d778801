"""Which columns of a history have the text, the user, the bytes read and the time.

In: the names of the history's columns, and those that the user has chosen. Out: the column for each
part, and how it is converted to bytes or seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlrewrite.results import ConfigError

PARTS = ("text", "schema", "time", "user", "bytes", "runtime")

# The names of columns by part, in order of preference: Databricks' system.query.history,
# Snowflake's QUERY_HISTORY, Trino's event listeners, BigQuery's INFORMATION_SCHEMA.JOBS, and other
# common names. Names are compared in lower case.
_KNOWN: Mapping[str, Sequence[str]] = {
    "text": (
        *("statement_text", "query_text", "metadata.query", "query", "sql_text", "sql"),
        *("statement", "text"),
    ),
    "schema": ("schema_name", "context.schema", "schema", "default_schema"),
    "time": ("start_time", "createtime", "create_time", "creation_time", "created_at", "time"),
    "user": ("executed_by", "user_name", "user_email", "context.user", "user"),
    "bytes": (
        *("read_bytes", "bytes_scanned", "statistics.physicalinputbytes", "physical_input_bytes"),
        *("total_bytes_processed", "bytes_read", "bytes"),
    ),
    "runtime": (
        *("execution_duration_ms", "total_duration_ms", "total_elapsed_time", "wall_time_millis"),
        *("statistics.walltime", "runtime_ms", "runtime", "seconds", "duration"),
    ),
}
_END = ("end_time", "endtime")
_MILLISECONDS = ("_ms", "_millis", "total_elapsed_time")


@dataclass(frozen=True, slots=True)
class Columns:
    """The column for each part, None if there is none. The runtime divided by ``seconds`` is in
    seconds. ``end``: when a run ended, from which the runtime is computed if it is not a number, as
    in BigQuery's histories and Trino's (``PT1.2S``)."""

    text: str
    schema: str | None = None
    time: str | None = None
    user: str | None = None
    bytes: str | None = None
    runtime: str | None = None
    seconds: int = 1
    end: str | None = None


def columns(names: Sequence[str], by_user: Mapping[str, str | None]) -> Columns:
    """The columns of a history. ``names``: all its columns, fields of a struct as ``struct.field``.
    ``by_user``: the user's choices, by part. Raises ConfigError if no column has the text, or a
    chosen one does not exist."""
    by_lower_name = {name.lower(): name for name in names}
    columns: dict[str, str | None] = {}
    for part in PARTS:
        chosen = by_user.get(part)
        if chosen is not None and chosen.lower() not in by_lower_name:
            raise ConfigError(f"no column is called {chosen!r}; there are: {', '.join(names)}")
        candidates = (chosen.lower(),) if chosen is not None else _KNOWN[part]
        columns[part] = next(
            (by_lower_name[name] for name in candidates if name in by_lower_name), None
        )
    if columns["text"] is None:
        raise ConfigError(f"which column has the texts? say --text; there are: {', '.join(names)}")
    runtime = (columns["runtime"] or "").lower()
    text = columns.pop("text")
    assert text is not None
    end = next((by_lower_name[name] for name in _END if name in by_lower_name), None)
    divided = 1000 if runtime.endswith(_MILLISECONDS) else 1
    return Columns(text, **columns, seconds=divided, end=end)
