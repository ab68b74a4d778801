"""PostgreSQL's partitions, read from its DDL: how a table is partitioned, and the bounds of each.

That is PARTITION BY LIST|RANGE|HASH (…), CREATE TABLE … PARTITION OF … and ALTER TABLE … ATTACH and
DETACH PARTITION. If a bound cannot be read, all parts of the table become unknown: an unknown part
may hold any row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from math import inf

from sqlrewrite.copies import replace
from sqlrewrite.sql.ddl.cursor import Cursor
from sqlrewrite.sql.parse.statements import Statement
from sqlrewrite.warehouse import (
    BoundValue,
    Column,
    Name,
    Part,
    PartitionBound,
    Parts,
    Table,
    Warehouse,
)

_STRATEGIES = ("list", "range", "hash")
_TYPES = {  # the types as which Spark reads such values
    "text": "string",
    "varchar": "string",
    "character varying": "string",
    "int2": "smallint",
    "int4": "int",
    "int8": "bigint",
    "numeric": "decimal",
    "timestamp": "timestamp_ntz",
    "timestamp without time zone": "timestamp_ntz",
    "timestamptz": "timestamp",
    "timestamp with time zone": "timestamp",
}
_TYPE = re.compile(r"([a-z]\w*(?: (?:varying|with(?:out)? time zone))?) ?(\([\d, ]+\))?")


def declared(statement: Statement, text: str, catalog: Warehouse, name: Name) -> Warehouse:
    """The catalog after a CREATE TABLE, with the partitioning that it declares, if any."""
    table = catalog.relations.get(name)
    parts = _partitioned_by(Cursor(statement.tokens, text))
    if parts is None or not isinstance(table, Table):
        return catalog
    columns = tuple(_typed(column, statement, text) for column in table.columns)
    return catalog.with_relation(replace(table, columns=columns, parts=parts))


def apply(statement: Statement, text: str, catalog: Warehouse, source: str) -> Warehouse | None:
    """The catalog after a statement about partitions; None for any other statement."""
    cursor = Cursor(statement.tokens, text)
    if cursor.take("create", "table") or cursor.take("create", "unlogged", "table"):
        cursor.take("if", "not", "exists")
        name = cursor.name()
        if not name or not cursor.take("partition", "of"):
            return None
        return _made(cursor, catalog.qualify(name), catalog, source)
    if cursor.take("alter", "table"):
        cursor.take("if", "exists")
        cursor.take("only")
        parent = _table(cursor.name(), catalog)
        attached, detached = cursor.take("attach", "partition"), cursor.take("detach", "partition")
        if parent is None or not (attached or detached):
            return None
        name = catalog.qualify(cursor.name())
        if attached and name in _around(parent, catalog):
            return catalog  # a circle, which PostgreSQL refuses
        kept = _without(parent, name)
        child = catalog.relations.get(name)
        below = child.parts if isinstance(child, Table) else None
        if isinstance(child, Table) and below is not None:
            below = replace(below, of=() if detached else parent.name)
            catalog = catalog.with_relation(replace(child, parts=below))
        changed = kept if detached else _with(kept, name, _bound(cursor), below)
        return _with_table(catalog, changed, parent)
    return None


def _around(table: Table, catalog: Warehouse) -> Iterator[Name]:
    """The names of a table and of the tables around it, of which it is a partition."""
    yield table.name
    above = catalog.relations.get(table.parts.of) if table.parts is not None else None
    if isinstance(above, Table):
        yield from _around(above, catalog)


def _made(cursor: Cursor, name: Name, catalog: Warehouse, source: str) -> Warehouse | None:
    """The catalog after CREATE TABLE … PARTITION OF …, whose columns are those of its table."""
    parent = _table(cursor.name(), catalog)
    if parent is None:
        return None
    cursor.group()  # constraints of its own
    bound, below = _bound(cursor), _partitioned_by(cursor)
    if below is not None:
        below = replace(below, of=parent.name)
    child = replace(parent, name=name, parts=below, source=source, size_in_bytes=None)
    return _with_table(catalog.with_relation(child), _with(parent, name, bound, below), parent)


def _table(parts: Name, catalog: Warehouse) -> Table | None:
    table = catalog.relations.get(catalog.qualify(parts)) if parts else None
    return table if isinstance(table, Table) and table.parts is not None else None


def _with(table: Table, name: Name, bound: PartitionBound | None, below: Parts | None) -> Table:
    """The table with one more partition; without any if its bound is not understood."""
    if table.parts is None or bound is None:
        return replace(table, parts=None)
    parts = replace(table.parts, parts=(*table.parts.parts, Part(name, bound, below)))
    return replace(table, parts=parts)


def _without(table: Table, name: Name) -> Table:
    assert table.parts is not None
    kept = tuple(part for part in table.parts.parts if part.name != name)
    return replace(table, parts=replace(table.parts, parts=kept))


def _with_table(catalog: Warehouse, table: Table, before: Table) -> Warehouse:
    """The catalog with a changed table, and with the tables of which it is a partition changed
    accordingly."""
    catalog = catalog.with_relation(table)
    other = catalog.relations.get(before.parts.of) if before.parts is not None else None
    if not isinstance(other, Table) or other.parts is None:
        return catalog
    mine = next((part for part in other.parts.parts if part.name == table.name), None)
    if mine is None or mine.below == table.parts:
        return catalog
    kept = _without(other, table.name)
    return _with_table(catalog, _with(kept, table.name, mine.bound, table.parts), other)


# --- clauses


def _partitioned_by(cursor: Cursor) -> Parts | None:
    """The PARTITION BY clause somewhere behind the cursor."""
    cursor = cursor.copy()
    if not cursor.skip_to("partition", "by"):
        return None
    strategy = cursor.word
    cursor.index += 1
    inner = cursor.group() if strategy in _STRATEGIES else None
    if inner is None:
        return None
    keys = [(item.name_part().lower(), item.done) for item in inner.items()]
    return Parts(strategy, tuple(name if plain else "" for name, plain in keys))


def _bound(cursor: Cursor) -> PartitionBound | None:
    """The bound in FOR VALUES … or DEFAULT; None if it is not understood."""
    if cursor.take("default"):
        return PartitionBound(default=True)
    if cursor.take("for", "values", "in"):
        values = _values(cursor)
        return None if values is None else PartitionBound(values=values)
    if cursor.take("for", "values", "from"):
        low = _values(cursor)
        high = _values(cursor) if cursor.take("to") else None
        if low is None or high is None or None in (*low, *high):
            return None
        return PartitionBound(low=_range_end(low, -inf), high=_range_end(high, inf))
    if cursor.take("for", "values", "with"):
        inner = cursor.group()
        words = inner.rest().lower().replace(",", " ").split() if inner is not None else []
        with suppress(ValueError, IndexError):
            numbers = dict(zip(words[::2], map(int, words[1::2]), strict=True))
            return PartitionBound(values=(numbers["modulus"], numbers["remainder"]))
    return None


def _values(cursor: Cursor) -> tuple[BoundValue | None, ...] | None:
    inner = cursor.group()
    if inner is None:
        return None
    values = [_value(item) for item in inner.items()]
    return None if any(value is _NOTHING for value in values) else tuple(values)  # type: ignore[arg-type]


_NOTHING = object()
_QUOTE = re.compile(r"['\\]")  # Spark and PostgreSQL read these in different ways
_WORDS: dict[str, BoundValue | None] = {
    "null": None,
    "minvalue": -inf,
    "maxvalue": inf,
    "true": "true",
    "false": "false",
}


def _value(item: Cursor) -> object:
    """A constant: NULL, a number, a text, an infinity; ``_NOTHING`` for an expression."""
    text = item.string()
    if text is not None:
        return text if item.done and not _QUOTE.search(text) else _NOTHING
    written = item.rest().replace(" ", "").lower()
    if written in _WORDS:
        return _WORDS[written]
    with suppress(ValueError):
        return int(written)
    return _NOTHING


def _range_end(values: tuple[BoundValue | None, ...], usual: float) -> tuple[BoundValue, ...]:
    """The values of one end of a range, ``usual`` in place of None; all values after an infinity
    are that infinity, too."""
    ends: list[BoundValue] = []
    for value in values:
        last = ends[-1] if ends else None
        ends.append(last if isinstance(last, float) else usual if value is None else value)
    return tuple(ends)


# --- types


def _typed(column: Column, statement: Statement, text: str) -> Column:
    """The column with Spark's type for the type name that PostgreSQL uses."""
    cursor = Cursor(statement.tokens, text)
    while not cursor.done and not cursor.opens:
        cursor.index += 1
    for item in cursor.group_items():
        name = item.name_part().lower()
        match = _TYPE.match(" ".join(item.rest().lower().split()))
        if name != column.name.lower() or match is None or match[1] not in _TYPES:
            continue
        kind: str | None = _TYPES[match[1]]
        if kind == "decimal":  # without a scale it holds any
            kind = f"{kind}{match[2]}".replace(" ", "") if match[2] else None
        return replace(column, type=kind)
    return column
