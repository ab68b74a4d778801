"""What a table is after an ALTER TABLE: the actions that are understood, each to a new table.

An action that is not in these tables, or one that says more than is read of it, leaves nothing
known of the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlrewrite.sql.ddl.clauses import named
from sqlrewrite.sql.ddl.columns import find, read_column
from sqlrewrite.sql.ddl.cursor import Cursor
from sqlrewrite.sql.ddl.table import ordered, partition_field
from sqlrewrite.warehouse import Column, Table, View, Warehouse


def _actions(listed: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(action.split()) for action in listed.split(", "))


# Actions after which columns, keys and partition fields are what they were.
_HARMLESS = _actions(
    "set tblproperties, set location, set serde, set serdeproperties, set fileformat, set owner,"
    " set tags, unset tblproperties, unset tags, add partition, add if not exists partition,"
    " add constraint, drop partition, drop if exists partition, partition, recover partitions,"
    " owner to, touch, compact, concatenate, enable, disable"
)
# … though the same words open Iceberg's ADD PARTITION FIELD and DROP PARTITION FIELD.
_FIELD = _actions("add partition field, drop partition field")
_STREAMING = "dpp.streaming"


def altered(relation: Table | View, at: Cursor, catalog: Warehouse) -> Table | View | None:
    """The relation after the action that ``at`` stands before; None where it is not known then."""
    words = {token.text.lower() for token in at.tokens}
    harmless = any(at.follow(*action) for action in _HARMLESS)
    if harmless and not any(at.follow(*words) for words in _FIELD):
        return None if _STREAMING in words else relation
    if not isinstance(relation, Table):
        return None
    for action, change in _CHANGES:
        if at.take(*action):
            after = change(relation, at)
            return None if after is None else ordered(_still_derived(relation, after), catalog)
    return None


def _written(table: Table, at: Cursor) -> Table:
    """Iceberg's WRITE … ORDERED BY a, b: the first alone is an order, b is one only within a."""
    while not at.done and not at.take("ordered", "by"):
        at.at += 1
    return replace(table, clustered_by=() if at.done else (at.part().lower(),))


def _added(table: Table, at: Cursor) -> Table | None:
    """Columns behind the others. Where FIRST or AFTER puts one elsewhere, or a field is added to a
    struct, it is not followed which columns there are in which order."""
    at.take("if", "not", "exists")
    declared = at.group() if at.opens else at
    if declared is None:
        return None
    columns, complete = list(table.columns), table.complete and bool(table.columns)
    for item in declared.items():
        words = {item.word_at(n) for n in range(item.at, item.end)}
        moved = bool(words & {"first", "after"})
        nested = item.word_at(item.at + 1) == "."
        read = None if nested else read_column(item)
        if read is None and not nested:
            return None
        complete = complete and not moved and not nested
        if read is not None and find(columns, read[0].name) is None:
            columns.append(read[0])
    return replace(table, columns=tuple(columns), complete=complete)


def _replaced(table: Table, at: Cursor) -> Table | None:
    """Hive's and Spark's REPLACE COLUMNS: all but the partition columns."""
    declared = at.group()
    if declared is None:
        return None
    read = [read_column(item) for item in declared.items()]
    columns = [each[0] for each in read if each is not None]
    if len(columns) != len(read):
        return None
    partitions = {field.column.lower() for field in table.partitioned_by}
    kept = [it for it in table.columns if it.name.lower() in partitions]
    kept = [it for it in kept if find(columns, it.name) is None]
    return replace(table, columns=(*columns, *kept), primary_key=())


def _renamed_column(table: Table, at: Cursor) -> Table | None:
    old = at.part()
    return _changed(table, old, at.part()) if at.take("to") else None


def _changed(table: Table, old: str, new: str, column: Column | None = None) -> Table | None:
    """The table with another name, or another declaration, for one of its columns."""
    before = find(table.columns, old)
    if before is None or not new:
        return None if table.columns else table
    after = replace(before, name=new) if column is None else replace(column, name=new)

    def called(name: str) -> str:
        return new if name.lower() == old.lower() else name

    fields = (replace(field, column=called(field.column)) for field in table.partitioned_by)
    return replace(
        table,
        columns=tuple(after if it is before else it for it in table.columns),
        partitioned_by=tuple(fields),
        primary_key=tuple(map(called, table.primary_key)),
    )


def _redeclared(table: Table, at: Cursor) -> Table | None:
    """Hive's CHANGE [COLUMN] old new type …; without a type it is Spark's ALTER COLUMN."""
    at.take("column")
    start, old = at.at, at.part()
    if at.word in _ASPECTS:
        at.at = start
        return _altered_column(table, at)
    words = {at.word_at(n) for n in range(at.at, at.end)}
    new = at.between(at.at, at.end).part()
    read = read_column(at)
    if read is None or not new:
        return None
    after = _changed(table, old, new, read[0])
    moved = bool(words & {"first", "after"})
    return replace(after, complete=False) if after is not None and moved else after


_ASPECTS = frozenset({"type", "set", "drop", "comment", "first", "after"})


def _altered_column(table: Table, at: Cursor) -> Table | None:
    """ALTER [COLUMN] name TYPE … | SET NOT NULL | DROP NOT NULL | COMMENT …"""
    at.take("column")
    old = at.part()
    before = find(table.columns, old)
    if before is None:  # a field of a struct, or a table of which less is known
        return None
    if at.follow("type"):
        read = read_column(at)  # TYPE stands where a name would
        return read and _changed(table, old, old, replace(before, type=read[0].type))
    if at.follow("set", "not", "null"):
        return _changed(table, old, old, replace(before, nullable=False))
    if at.follow("drop", "not", "null"):
        return _changed(table, old, old, replace(before, nullable=True))
    if at.word in ("first", "after"):
        return replace(table, complete=False)
    harmless = at.word == "comment" or at.follow("set", "default") or at.follow("drop", "default")
    tagged = at.follow("set", "mask") or at.follow("drop", "mask") or at.follow("set", "tags")
    return table if harmless or tagged else None


def _still_derived(before: Table, after: Table) -> Table:
    """The altered table, with those of its derived columns of which nothing was changed."""
    old, new = (
        {column.name.lower(): column.type for column in it.columns} for it in (before, after)
    )
    kept = tuple(
        it
        for it in after.derived
        if all(old.get(name) == new.get(name, "") for name in (it.column.lower(), *it.sources))
    )
    return after if len(kept) == len(after.derived) else replace(after, derived=kept)


def _dropped(table: Table, at: Cursor) -> Table | None:
    at.take("if", "exists")
    inner = at.group() if at.opens else at
    if inner is None:
        return None
    parts = [(item.part().lower(), item.done) for item in inner.items()]
    names = [name for name, plain in parts if plain]
    fields = {field.column.lower() for field in table.partitioned_by}
    if not names or fields & set(names) or any(name in table.primary_key for name in names):
        return None
    kept = tuple(it for it in table.columns if it.name.lower() not in names)
    return replace(table, columns=kept)


def _field_added(table: Table, at: Cursor) -> Table:
    """Iceberg's evolution: files written before are not laid out by the new field."""
    field = partition_field(_up_to_as(at), table.columns)
    return replace(table, partitioned_by=(*table.partitioned_by, field))


def _field_dropped(table: Table, at: Cursor) -> Table:
    field = partition_field(_up_to_as(at), table.columns)
    kept = tuple(it for it in table.partitioned_by if it.column.lower() != field.column.lower())
    return replace(table, partitioned_by=kept)


def _up_to_as(at: Cursor) -> Cursor:
    end = next((n for n in range(at.at, at.end) if at.word_at(n) == "as"), at.end)
    return at.between(at.at, end)


_Change = Callable[[Table, Cursor], Table | None]
_CHANGES: tuple[tuple[tuple[str, ...], _Change], ...] = tuple(
    (action, change)
    for several, change in (
        ("add partition field", _field_added),
        ("drop partition field", _field_dropped),
        ("add columns, add column", _added),
        ("replace columns", _replaced),
        ("rename column", _renamed_column),
        ("change", _redeclared),
        ("alter", _altered_column),
        ("drop columns, drop column", _dropped),
        # a dropped constraint may have been the primary key
        ("drop constraint, drop primary key", lambda table, _: replace(table, primary_key=())),
        # Delta's; none for NONE, and for what is not understood
        ("cluster by", lambda table, at: replace(table, clustered_by=named(at))),
        ("write", _written),
    )
    for action in _actions(several)
)
