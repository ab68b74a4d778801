"""A CREATE TABLE's tokens to a ``warehouse.Table``: columns, types, keys, partitioning, numbers.

What says nothing of these is passed over. What is not understood is unknown: a type is None, a
partition expression the transform ``unknown``; a table whose columns come from a query, a template
or an unknown table has none, or is not ``complete``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlrewrite.patterns import pattern
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.sql.ddl import flink_connectors as connectors
from sqlrewrite.sql.ddl.clauses import UNKNOWN, Definition
from sqlrewrite.sql.ddl.columns import find, read_column, spark_type
from sqlrewrite.sql.ddl.cursor import Cursor
from sqlrewrite.warehouse import (
    GENERATED,
    Buckets,
    Column,
    Name,
    PartitionField,
    Table,
    Warehouse,
    derivation,
)

_STREAMING = "dpp.streaming"
_SOME = "dpp.columns"  # 'some': there are others, which nobody has listed
_STATISTICS = "spark.sql.statistics."
_COLUMN_STATISTICS = "spark.sql.statistics.colstats."
_DISTINCT_COUNT = ".distinctcount"

# What Spark keeps in its own session catalog with the partition columns moved behind the others
# (PreprocessTableCreation); Delta and Iceberg keep the order of the declaration.
_PARTITIONS_LAST = frozenset({None, "hive", "parquet", "orc", "csv", "json", "text", "avro"})
_SESSION_CATALOG = "spark_catalog"

# Iceberg's transforms and their older spellings.
_TRANSFORMS = {
    **{it: it for it in ("identity", "years", "months", "days", "hours", "bucket", "truncate")},
    **{it: f"{it}s" for it in ("year", "month", "day", "hour")},
    "date": "days",
    "date_hour": "hours",
}
NUMBERED = frozenset({"bucket", "truncate"})
_DIGITS = pattern(r"(?<![\w`])\d+(?![\w`])")
_SORT_ORDER = pattern(r"`?(\w+)`?\s+(?:asc|desc)\b", re.IGNORECASE)


def created_table(
    said: Definition, parts: Name, catalog: Warehouse, source: str, *, streaming: bool
) -> Table:
    """The table that a definition makes, under the name given. Raises nothing."""
    relation = catalog.resolve(said.model) if said.model else None
    model = relation if isinstance(relation, Table) else None
    provider = (
        said.provider or ("hive" if said.hive else None) or connectors.connector(said.settings)
    )
    left_out = said.excluding or frozenset()
    kept = model if left_out.isdisjoint({"all", "options"}) else None
    provider = provider or (kept.provider if kept is not None else None)
    columns, key = said.columns, said.key
    fields: list[PartitionField] = []
    extends = said.excluding is not None and bool(columns or left_out)
    if model is not None and (extends or not columns):
        known = model.columns if model.complete else ()
        columns = (*(replace(column, distinct_count=None) for column in known), *columns)
        fields = list(model.partitioned_by) if left_out.isdisjoint({"all", "partitions"}) else []
        inherits = extends and left_out.isdisjoint({"all", "constraints"})
        key = (*model.primary_key, *key) if inherits else key
    whole = said.complete and (not extends or _whole(model, left_out))
    declared = columns if whole else ()
    for item in said.partitions:
        typed = _partition_column(item)
        if typed is not None:
            if not find(columns, typed.name):
                columns = (*columns, typed)
            fields.append(PartitionField(typed.name))
        else:
            fields.append(partition_field(item, declared))
    sorts = said.clustered or sorted_by(said.settings.get("sort-order", ""))
    columns = tuple(_collated(column, said.collation) for column in _keyed(columns, key))
    names = [column.name for column in columns]
    stream, unsteady = _of_connector(said, model, provider)
    table = Table(
        name=parts,
        columns=tuple(_with_statistics(column, said.settings) for column in columns),
        partitioned_by=tuple(fields),
        primary_key=tuple(found.name for name in key if (found := find(columns, name))),
        streaming=streaming or stream or said.settings.get(_STREAMING, "false") != "false",
        unsteady=unsteady,
        provider=provider,
        size_in_bytes=_number(said.settings.get(_STATISTICS + "totalsize")),
        row_count=_number(said.settings.get(_STATISTICS + "numrows")),
        source=source,
        # Of a table whose columns are a query's or in a file, its partition columns are a part.
        complete=whole
        and (said.listed or model is not None or not columns)
        and said.settings.get(_SOME) != "some",
        clustered_by=sorts,
        derived=tuple(derivation(it, text, GENERATED, names) for it, text in said.generated),
        buckets=_buckets(said, model),
    )
    if provider != UNKNOWN:
        return ordered(table, catalog)
    moved = ordered(replace(table, provider=None), catalog).columns != table.columns
    return replace(table, complete=False) if moved else table


def _buckets(said: Definition, model: Table | None) -> Buckets | None:
    """The buckets that are declared, or those of the table that it is made like."""
    if said.bucketed and said.buckets:
        return Buckets(said.bucketed, said.buckets)
    return model.buckets if model is not None and not said.columns else None


def _whole(model: Table | None, left_out: frozenset[str]) -> bool:
    """Whether all columns are known that a table has from the one it is LIKE: computed columns and
    those of metadata, which may be left out, are not told apart there."""
    some = left_out & {"all", "generated", "metadata"}
    return model is not None and model.complete and not some


def _of_connector(said: Definition, model: Table | None, name: str | None) -> tuple[bool, str]:
    """Whether a table of Flink's is a stream, and why, or why else its rows are others for each
    scan. ``model`` is the table that it is LIKE, ``name`` its connector."""
    left_out = said.excluding or frozenset()
    inherits = model is not None and model.unsteady and left_out.isdisjoint({"all", "options"})
    why = others = None
    if name is not None and (connectors.connector(said.settings) or (said.settings and inherits)):
        why = connectors.endless(name, said.settings)
        others = connectors.others_each_time(name, said.settings, len(said.columns))
    elif inherits and model is not None and model.unsteady != connectors.WATERMARK:
        why, others = (model.unsteady, None) if model.streaming else (None, model.unsteady)
    marked = model is not None and model.unsteady == connectors.WATERMARK
    if said.watermark or (marked and left_out.isdisjoint({"all", "watermarks"})):
        why = why or connectors.WATERMARK
    anew = (found for it in said.computed if (found := connectors.computed_anew(*it)))
    return why is not None, why or others or next(anew, "")


def ordered(table: Table, catalog: Warehouse) -> Table:
    """The table with its columns in the order of ``SELECT *``."""
    if catalog.qualify(table.name)[0] != _SESSION_CATALOG or table.provider not in _PARTITIONS_LAST:
        return table
    fields = [each for each in table.partitioned_by if each.transform == "identity"]
    last = [each.column.lower() for each in fields]
    behind = [column for name in last if (column := find(table.columns, name)) is not None]
    before = [column for column in table.columns if column.name.lower() not in last]
    return replace(table, columns=(*before, *behind))


def sorted_by(order: str) -> tuple[str, ...]:
    """The first column of an order as Iceberg tells it: ``cust ASC NULLS FIRST, id DESC …``."""
    match = _SORT_ORDER.match(order.strip())
    return (match[1].lower(),) if match else ()


def _partition_column(item: Cursor) -> Column | None:
    """The column that a partition declares, ``dt DATE``; None for a name or an expression."""
    ahead = item.between(item.at, item.end)
    name = ahead.part()
    if not name or ahead.done or ahead.opens or ahead.tokens[ahead.at].text == ".":
        return None
    column = read_column(item.between(item.at, item.end))
    return column[0] if column is not None else None


def partition_field(item: Cursor, columns: Sequence[Column]) -> PartitionField:
    """A column itself, or a transform of one column; anything else is ``unknown``."""
    written, called = item.rest(), item.part()
    if item.done and called:
        return _field_of(called, "identity", columns)
    names = list(_names(item))
    transform = _TRANSFORMS.get(called.lower()) if item.opens else None
    numbers = [int(each) for each in _DIGITS.findall(written)]
    inner = item.group() if item.opens else None
    if inner is None or transform is None or not item.done or len(names) != 1:
        return PartitionField(names[0] if inner and len(names) == 1 else written, UNKNOWN)
    number = numbers[0] if len(numbers) == 1 and transform in NUMBERED else None
    return replace(_field_of(names[0], transform, columns), number=number)


def _names(item: Cursor) -> Iterator[str]:
    """The columns among the arguments of a transform, numbers left out."""
    inner = item.between(item.at, item.end).group()
    for each in inner.items() if inner is not None else ():
        name = ".".join(part for part in [each.part()] if part)
        if not name.isdigit() and each.done:
            yield name
        elif not each.done:
            yield from ("", "")  # an expression: not one column


def _field_of(name: str, transform: str, columns: Sequence[Column]) -> PartitionField:
    """The field in the declared column's spelling; a column that is not declared is not known."""
    column = find(columns, name)
    if column is not None:
        return PartitionField(column.name, transform)
    return PartitionField(name, UNKNOWN if columns else transform)


def _keyed(columns: Sequence[Column], key: Sequence[str]) -> tuple[Column, ...]:
    """The columns, those of the primary key NOT NULL."""
    names = {name.lower() for name in key}
    return tuple(replace(c, nullable=False) if c.name.lower() in names else c for c in columns)


def _collated(column: Column, collation: str | None) -> Column:
    """The column with the table's own collation, which a string without one has."""
    if collation is None or collation.lower() == "utf8_binary" or column.type is None:
        return column
    if column.type == "string":
        return replace(column, type=spark_type(f"string collate {collation}"))
    kind = parse(column.type)
    plain = kind is not None and not kind.items and kind.name not in ("char", "varchar")
    return column if plain else replace(column, type=None)


def _with_statistics(column: Column, settings: dict[str, str]) -> Column:
    key = f"{_COLUMN_STATISTICS}{column.name.lower()}{_DISTINCT_COUNT}"
    count = _number(settings.get(key))
    return column if count is None else replace(column, distinct_count=count)


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None
