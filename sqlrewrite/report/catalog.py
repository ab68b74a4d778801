"""The tables of a catalog, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from sqlrewrite.report import Printer, counted, print_table, size
from sqlrewrite.warehouse import Table, TableOrView, Warehouse

_HEADINGS = ("name", "kind", ">columns", "partitioned by", ">rows", ">size", "source")


def print_catalog(printer: Printer, catalog: Warehouse) -> None:
    """Prints a line for each relation, then their number and the schema of short names."""
    relations = [catalog.relations[name] for name in sorted(catalog.relations)]
    if relations:
        print_table(printer, _HEADINGS, [_row(relation, catalog) for relation in relations])
        printer.print([()])
    tables = [relation for relation in relations if isinstance(relation, Table)]
    views = len(relations) - len(tables)
    partitioned = sum(bool(table.partitioned_by) for table in tables)
    counts = (
        f"{counted(len(tables), 'table')} ({partitioned} partitioned), {counted(views, 'view')}"
    )
    printer.line((f"{counts}; current schema {'.'.join(catalog.namespace)}", ""))
    if catalog.settings:
        conf = ", ".join(f"{name} = {value}" for name, value in catalog.settings.items())
        printer.line((f"under {conf}", ""))
    print_left_out(printer, catalog)


def print_left_out(printer: Printer, catalog: Warehouse) -> None:
    """Prints a line for each part of a catalog that could not be read: its place, and why."""
    for remark in catalog.left_out:
        printer.line((f"{remark.where}: ", "bold"), (remark.why, "yellow"))


def _row(relation: TableOrView, catalog: Warehouse) -> tuple[str, ...]:
    name = _short(relation, catalog)
    if not isinstance(relation, Table):
        return (name, "view", str(len(relation.columns) or ""), "", "", "", relation.source)
    kind = "stream" if relation.streaming else "table"
    partitions = ", ".join(
        field.column if field.transform == "identity" else f"{field.transform}({field.column})"
        for field in relation.partitioned_by
    )
    if relation.partition_count is not None:
        partitions += f" ({counted(relation.partition_count, 'partition')})"
    rows = "" if relation.row_count is None else f"{relation.row_count:,}"
    columns = f"{len(relation.columns)}{'' if relation.complete else '+'}"
    return (name, kind, columns, partitions, rows, size(relation.size_in_bytes), relation.source)


def _short(relation: TableOrView, catalog: Warehouse) -> str:
    """The name as a query in the current schema can write it."""
    if relation.name[:-1] == catalog.namespace:
        return relation.name[-1]
    if relation.name[0] == catalog.namespace[0]:
        return ".".join(relation.name[1:])
    return ".".join(relation.name)


def print_origin(printer: Printer, path: str, origin: Mapping[str, str], now: datetime) -> None:
    """Prints where a snapshot comes from and how old it is: old sizes and types mislead."""
    words = [f"pulled from {origin['from']}"] if origin.get("from") else []
    if age := _age(origin.get("at", ""), now):
        words.append(age)
    if by := origin.get("by") or origin.get("tool"):
        words.append(f"by {by}")
    if words:
        printer.line((f"{path}: ", "bold"), (", ".join(words), ""))


def _age(at: str, now: datetime) -> str:
    """``3 days ago (2026-11-21 19:40 UTC)``; empty for a time that cannot be read."""
    try:
        then = datetime.fromisoformat(at).astimezone(UTC)
    except ValueError:
        return ""
    seconds = max(0, int((now - then).total_seconds()))
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            ago = f"{counted(seconds // length, unit)} ago"
            break
    else:
        ago = "just now"
    return f"{ago} ({then:%Y-%m-%d %H:%M} UTC)"
