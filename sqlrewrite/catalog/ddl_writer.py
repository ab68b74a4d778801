"""Writes a catalog as DDL, to be corrected and kept; a comment marks each guess."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sqlrewrite.catalog.infer import PartitionMention
from sqlrewrite.catalog.names import quoted
from sqlrewrite.warehouse import (
    DEFAULT_NAMESPACE,
    GENERATED,
    Column,
    Name,
    PartitionField,
    Table,
    View,
    Warehouse,
)

_PLAIN = re.compile(r"[A-Za-z_]\w*|\$\{[^}`]*\}|\$\w+")
_HEAD = """\
-- What the texts show of their tables, written by `dpp-rewrite catalog infer`.
-- Correct what a comment calls a guess, and give the file to --catalog. A type UNKNOWN is one that
-- no text shows: no predicate follows from it until it is declared.
"""
SOME = "dpp.columns"
"""The table property that says that only ``some`` of the columns are listed."""


def ddl(catalog: Warehouse, guessed: Mapping[Name, PartitionMention]) -> str:
    """The definitions of all relations, views last, each view in its own namespace."""
    found = [catalog.relations[name] for name in sorted(catalog.relations) if len(name) > 1]
    tables = [_table(it, guessed.get(it.name)) for it in found if isinstance(it, Table)]
    views = [_view(it) for it in found if isinstance(it, View)]
    return "\n".join([_HEAD, *tables, *views])


def _view(view: View) -> str:
    columns = f" ({', '.join(map(_quoted, view.columns))})" if view.columns else ""
    return (
        f"-- {view.source}\nUSE {_dotted(view.namespace)};\n"
        f"CREATE OR REPLACE VIEW {_dotted(view.name)}{columns} AS\n{view.query}\n;\n"
    )


def _table(table: Table, mention: PartitionMention | None) -> str:
    lines = [f"-- {table.source}"]
    if mention is not None:
        lines.append("-- A guess: no CREATE TABLE was found, and which other columns there are.")
    elif not table.complete or not table.columns:
        lines.append("-- Not all of its columns are known.")
    values = {name.lower(): value for name, value in mention.columns} if mention is not None else {}
    name = table.name[1:] if table.name[0] == DEFAULT_NAMESPACE[0] else table.name
    lines.append(f"CREATE TABLE {_dotted(name)}{' (' if table.columns else ''}")
    key = f"PRIMARY KEY ({', '.join(map(_quoted, table.primary_key))})" if table.primary_key else ""
    count = len(table.columns) + bool(key)
    for index, column in enumerate(table.columns, 1):
        comma = "," if index < count else ""
        lines.append(f"  {_column(column, table)}{comma}{_remark(column, values, table)}")
    lines += [f"  {key}"] if key else []
    lines += [")"] if table.columns else []
    lines += _clauses(table)
    return "\n".join(lines) + "\n;\n"


def _column(column: Column, table: Table) -> str:
    computed = (it for it in table.derived if it.column.lower() == column.name.lower())
    by = [f" {GENERATED} ({it.expression})" for it in computed if it.origin == GENERATED]
    not_null = "" if column.nullable else " NOT NULL"
    kind = column.type or "UNKNOWN"
    shown = kind if "struct" in kind else kind.upper()  # the names of fields are the author's
    return f"{_quoted(column.name)} {shown}{''.join(by)}{not_null}"


def _remark(column: Column, values: Mapping[str, str], table: Table) -> str:
    if column.type is not None:
        return ""
    value = values.get(column.name.lower())
    example = f", of values as {' '.join(value.split())}" if value else ""
    partition = any(it.column.lower() == column.name.lower() for it in table.partitioned_by)
    what = f"a guess: declare the type of {column.name}{example}"
    return f" -- {what if partition else 'its type is not mention'}"


def _clauses(table: Table) -> Iterator[str]:
    if table.provider is not None and _PLAIN.fullmatch(table.provider):
        yield "STORED AS TEXTFILE" if table.provider == "hive" else f"USING {table.provider}"
    if table.partitioned_by:
        yield f"PARTITIONED BY ({', '.join(map(_field, table.partitioned_by))})"
    if table.buckets is not None:
        columns = ", ".join(map(_quoted, table.buckets.columns))
        yield f"CLUSTERED BY ({columns}) INTO {table.buckets.count} BUCKETS"
    if table.clustered_by:
        yield f"CLUSTER BY ({', '.join(map(_quoted, table.clustered_by))})"
    properties = []
    if not table.complete or not table.columns:
        properties.append(f"'{SOME}' = 'some'")
    if table.streaming or table.unsteady:
        properties.append("'dpp.streaming' = 'true'")
    if properties:
        yield f"TBLPROPERTIES ({', '.join(properties)})"


def _field(field: PartitionField) -> str:
    if field.transform == "identity":
        return _quoted(field.column)
    if field.transform == "unknown":
        return field.column
    number = "" if field.number is None else f"{field.number}, "
    return f"{field.transform}({number}{_quoted(field.column)})"


def _dotted(name: Name) -> str:
    return ".".join(map(_quoted, name))


def _quoted(part: str) -> str:
    return part if _PLAIN.fullmatch(part) else quoted(part)
