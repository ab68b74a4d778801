"""The clauses of a CREATE TABLE as a ``warehouse.Table``: columns, keys, partitioning, statistics.

What is not understood is unknown: a type is None, a partition expression the transform ``unknown``.
A Flink table must not be read twice if its scan never ends, or returns other rows each time; the
rules of each connector are in ``rules/connectors.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from sqlrewrite.copies import replace
from sqlrewrite.plan.facts.functions import dialect_names, function
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.rulebook import rules_folder
from sqlrewrite.sql.ddl.clauses import UNKNOWN, Definition, find_column, read_column, spark_type
from sqlrewrite.sql.ddl.cursor import Cursor
from sqlrewrite.text.data_files import read_toml
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

STREAMING = "dpp.streaming"
"""The property with which our own snapshots mark a stream."""
_COLUMNS = "dpp.columns"  # 'some': there are other such columns, not listed
_STATISTICS = "spark.sql.statistics."
_COLUMN_STATISTICS = "spark.sql.statistics.colstats."
_DISTINCT_COUNT = ".distinctcount"

# Formats of Spark's own session catalog, which moves partition columns to the end
# (PreprocessTableCreation); Delta and Iceberg keep the declared order.
_PARTITIONS_LAST = frozenset({None, "hive", "parquet", "orc", "csv", "json", "text", "avro"})
_SESSION_CATALOG = "spark_catalog"

# Iceberg's transforms, by their older spellings too.
_TRANSFORMS = {
    **{
        name: name
        for name in ("identity", "years", "months", "days", "hours", "bucket", "truncate")
    },
    **{name: f"{name}s" for name in ("year", "month", "day", "hour")},
    "date": "days",
    "date_hour": "hours",
}
NUMBERED = frozenset({"bucket", "truncate"})
_DIGITS = re.compile(r"(?<![\w`])\d+(?![\w`])")
_SORT_ORDER = re.compile(r"`?(\w+)`?\s+(?:asc|desc)\b", re.IGNORECASE)


def created_table(definition: Definition, name: Name, catalog: Warehouse, source: str) -> Table:
    """The table that a CREATE TABLE makes. A STREAMING TABLE is read as a batch, like any table; a
    query that reads it as a stream says so (``STREAM(t)``)."""
    relation = catalog.resolve(definition.like) if definition.like else None
    model = relation if isinstance(relation, Table) else None
    properties, provider = definition.properties, _provider(definition, model)
    columns, fields, key = _with_inherited(definition, model)
    complete = definition.complete and (
        not definition.extends_model or _takes_all_columns(definition, model)
    )
    declared = columns if complete else ()
    for item in definition.partitions:
        typed = _partition_column(item)
        if typed is None:
            fields = (*fields, partition_field(item, declared))
        else:
            columns = columns if find_column(columns, typed.name) else (*columns, typed)
            fields = (*fields, PartitionField(typed.name))
    columns = tuple(_collated(column, definition.collation) for column in _keyed(columns, key))
    names = [column.name for column in columns]
    stream, unsteady = _unsteadiness(definition, model, provider)
    # Columns from a query or a file come in addition to those of PARTITIONED BY.
    listed = definition.lists_columns or model is not None or not columns
    table = Table(
        name=name,
        columns=tuple(_with_statistics(column, properties) for column in columns),
        partitioned_by=fields,
        primary_key=tuple(column.name for name in key if (column := find_column(columns, name))),
        streaming=stream or properties.get(STREAMING, "false") != "false",
        unsteady=unsteady,
        provider=provider,
        size_in_bytes=_whole_number(properties.get(_STATISTICS + "totalsize")),
        row_count=_whole_number(properties.get(_STATISTICS + "numrows")),
        source=source,
        complete=complete and listed and properties.get(_COLUMNS) != "some",
        clustered_by=definition.clustered or sorted_by(properties.get("sort-order", "")),
        derived=tuple(
            derivation(column, text, GENERATED, names) for column, text in definition.generated
        ),
        buckets=_buckets(definition, model),
    )
    if provider != UNKNOWN:
        return in_star_order(table, catalog)
    moved = in_star_order(replace(table, provider=None), catalog).columns != table.columns
    return replace(table, complete=False) if moved else table


def _provider(definition: Definition, model: Table | None) -> str | None:
    """The format or connector of a table; by default that of the table after LIKE."""
    hive = "hive" if definition.hive else None
    own = definition.provider or hive or connector_name(definition.properties)
    inherits = model is not None and definition.takes_over("options")
    return own or (model.provider if model is not None and inherits else None)


def _with_inherited(
    definition: Definition, model: Table | None
) -> tuple[tuple[Column, ...], tuple[PartitionField, ...], tuple[str, ...]]:
    """The columns, partition fields and key, those of the table after LIKE included; PARTITIONED BY
    is applied later."""
    columns, key, extends = definition.columns, definition.key, definition.extends_model
    if model is None or (columns and not extends):
        return columns, (), key
    inherited = model.columns if model.complete else ()
    columns = (*(replace(column, distinct_count=None) for column in inherited), *columns)
    if extends and definition.takes_over("constraints"):
        key = (*model.primary_key, *key)
    return columns, model.partitioned_by if definition.takes_over("partitions") else (), key


def _takes_all_columns(definition: Definition, model: Table | None) -> bool:
    """Whether the new table surely has all columns of the table after LIKE."""
    takes = definition.takes_over("generated") and definition.takes_over("metadata")
    return model is not None and model.complete and takes


def _buckets(definition: Definition, model: Table | None) -> Buckets | None:
    """The declared buckets, by default those of the table after LIKE."""
    if definition.bucketed and definition.buckets:
        return Buckets(definition.bucketed, definition.buckets)
    return model.buckets if model is not None and not definition.columns else None


def _unsteadiness(
    definition: Definition, model: Table | None, connector: str | None
) -> tuple[bool, str]:
    """Whether a Flink table is a stream, and why its scans may return other rows each time; that is
    empty if they cannot."""
    options = definition.properties
    inherited = model.unsteady if model is not None and definition.takes_over("options") else ""
    endless = other_rows = None
    if connector is not None and (connector_name(options) or (options and inherited)):
        endless = why_endless(connector, options)
        other_rows = why_other_rows(connector, options, len(definition.columns))
    elif model is not None and inherited and inherited != WATERMARK:
        endless, other_rows = (inherited, None) if model.streaming else (None, inherited)
    marked = model is not None and model.unsteady == WATERMARK
    if definition.watermark or (marked and definition.takes_over("watermarks")):
        endless = endless or WATERMARK
    recomputed = (why for column in definition.computed if (why := why_recomputed(*column)))
    return endless is not None, endless or other_rows or next(recomputed, "")


def in_star_order(table: Table, catalog: Warehouse) -> Table:
    """The table with its columns in the order of ``SELECT *``."""
    if catalog.qualify(table.name)[0] != _SESSION_CATALOG or table.provider not in _PARTITIONS_LAST:
        return table
    fields = [each for each in table.partitioned_by if each.transform == "identity"]
    last = [each.column.lower() for each in fields]
    behind = [column for name in last if (column := find_column(table.columns, name)) is not None]
    before = [column for column in table.columns if column.name.lower() not in last]
    return replace(table, columns=(*before, *behind))


def sorted_by(order: str) -> tuple[str, ...]:
    """The first column of an order in Iceberg's words: ``cust ASC NULLS FIRST, id DESC …``."""
    match = _SORT_ORDER.match(order.strip())
    return (match[1].lower(),) if match else ()


def _partition_column(item: Cursor) -> Column | None:
    """The column that PARTITIONED BY declares, ``dt DATE``; None for a name or an expression."""
    ahead = item.copy()
    name = ahead.name_part()
    if not name or ahead.done or ahead.opens or ahead.tokens[ahead.index].text == ".":
        return None
    column = read_column(item.copy())
    return column[0] if column is not None else None


def partition_field(item: Cursor, columns: Sequence[Column]) -> PartitionField:
    """The partition field that an item of PARTITIONED BY means: a column itself, or a transform of
    one column; anything else is ``unknown``."""
    written, called = item.rest(), item.name_part()
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
    """The columns among the arguments of a transform, numbers left out; two empty names for an
    expression."""
    for argument in item.copy().group_items():
        name = argument.name_part()
        if not argument.done:
            yield from ("", "")  # an expression: not one column
        elif not name.isdigit():
            yield name


def _field_of(name: str, transform: str, columns: Sequence[Column]) -> PartitionField:
    """The partition field, with its column spelled as declared; ``unknown`` for an undeclared
    column."""
    column = find_column(columns, name)
    if column is not None:
        return PartitionField(column.name, transform)
    return PartitionField(name, UNKNOWN if columns else transform)


def _keyed(columns: Sequence[Column], key: Sequence[str]) -> tuple[Column, ...]:
    """The columns, with NOT NULL for those of the primary key."""
    names = {name.lower() for name in key}
    return tuple(replace(c, nullable=False) if c.name.lower() in names else c for c in columns)


def _collated(column: Column, collation: str | None) -> Column:
    """The column with the table's collation if it is a string without its own."""
    if collation is None or column.type is None:
        return column
    if column.type == "string":
        return replace(column, type=spark_type(f"string collate {collation}"))
    kind = parse(column.type)
    plain = kind is not None and not kind.items and kind.name not in ("char", "varchar")
    return column if plain else replace(column, type=None)


def _with_statistics(column: Column, properties: dict[str, str]) -> Column:
    key = f"{_COLUMN_STATISTICS}{column.name.lower()}{_DISTINCT_COUNT}"
    count = _whole_number(properties.get(key))
    return column if count is None else replace(column, distinct_count=count)


def _whole_number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None


WATERMARK = "its DDL declares a watermark"
_ANY_VALUE = "*"
_CALL = re.compile(r"`(?:[^`]|``)*+`|'(?:[^']|'')*+'|(\w++)\s*+\(")
_NOT_FUNCTIONS = frozenset(
    "and as between case cast else if in like not or then try_cast when".split()
)


def connector_name(options: Mapping[str, str]) -> str | None:
    """The connector in the options of a table; None if there is none."""
    return options.get("connector") or options.get("connector.type")


def why_endless(name: str, options: Mapping[str, str]) -> str | None:
    """Why a scan of this connector may never end; None if it surely ends."""
    rules = _rules().get(name)
    if rules is None:
        return f"the connector {name!r} reads without an end, as far as is known"
    for key, values in rules.get("unless", {}).items():
        if _has(options, key, values):
            return f"the connector {name!r} with {key!r} reads without an end"
    required = rules.get("if")
    if required and not any(_has(options, key, values) for key, values in required.items()):
        without = " or ".join(map(repr, required))
        return f"the connector {name!r} without {without} reads without an end"
    return None


def why_other_rows(name: str | None, options: Mapping[str, str], columns: int) -> str | None:
    """Why a connector returns other rows for each scan; None if it does not."""
    if name != "datagen":
        return None
    kinds = [kind for key, kind in options.items() if re.fullmatch(r"fields\..*\.kind", key)]
    whole = len(kinds) == columns and all(kind == "sequence" for kind in kinds)
    return None if whole else "datagen makes other rows for each scan"


def why_recomputed(column: str, expression: str) -> str | None:
    """Why a computed column may differ between scans; None if it cannot."""
    for match in _CALL.finditer(expression):
        name = (match[1] or "").lower()
        if name and name not in _NOT_FUNCTIONS and not _is_deterministic(name):
            return f"{column} is computed by {name}(), which may give another value each time"
    return None


def _is_deterministic(name: str) -> bool:
    names = dialect_names("flink")
    if name not in names.same | names.own:
        return False
    first = names.alphabet[ord(name[0]) - ord("a")] if name in names.own else name[0]
    row = function(first + name[1:])
    return row is not None and row.deterministic


def _has(options: Mapping[str, str], key: str, values: list[str]) -> bool:
    value = options.get(key)
    return value is not None and (_ANY_VALUE in values or value in values)


@cache
def _rules() -> Mapping[str, Any]:
    return read_toml(rules_folder() / "connectors.toml")
