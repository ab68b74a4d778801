"""ALTER TABLE: each action that is understood, as a function from a table to the altered table.

After any other action nothing is known of the table.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlrewrite.copies import replace
from sqlrewrite.sql.ddl.clauses import column_list, find_column, read_column
from sqlrewrite.sql.ddl.created_table import STREAMING, in_star_order, partition_field
from sqlrewrite.sql.ddl.cursor import Cursor
from sqlrewrite.warehouse import Column, Table, View, Warehouse


def _actions(listed: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(action.split()) for action in listed.split(", "))


# Actions that leave columns, keys and partition fields as they are.
_HARMLESS = _actions(
    "set tblproperties, set location, set serde, set serdeproperties, set fileformat, set owner,"
    " set tags, unset tblproperties, unset tags, add partition, add if not exists partition,"
    " add constraint, drop partition, drop if exists partition, partition, recover partitions,"
    " owner to, touch, compact, concatenate, enable, disable"
)
# … but the same words begin Iceberg's ADD PARTITION FIELD and DROP PARTITION FIELD.
_FIELD = _actions("add partition field, drop partition field")


def altered(relation: Table | View, cursor: Cursor, catalog: Warehouse) -> Table | View | None:
    """The relation after the action of ALTER TABLE at the cursor; None if nothing is known of it
    then."""
    words = {token.text.lower() for token in cursor.tokens}
    harmless = any(cursor.peek(*action) for action in _HARMLESS)
    if harmless and not any(cursor.peek(*words) for words in _FIELD):
        return None if STREAMING in words else relation
    if not isinstance(relation, Table):
        return None
    for action, change in _CHANGES:
        if cursor.take(*action):
            after = change(relation, cursor)
            return (
                None if after is None else in_star_order(_still_derived(relation, after), catalog)
            )
    return None


def _write_ordered_by(table: Table, cursor: Cursor) -> Table:
    """The table after Iceberg's WRITE … ORDERED BY a, b: clustered by ``a`` alone, since files are
    sorted by ``b`` only where ``a`` is equal."""
    ordered = cursor.skip_to("ordered", "by")
    return replace(table, clustered_by=(cursor.name_part().lower(),) if ordered else ())


def _add_columns(table: Table, cursor: Cursor) -> Table | None:
    """The table with more columns; their order is unknown if one has a position or is a struct's
    field."""
    cursor.take("if", "not", "exists")
    declared = cursor.group() if cursor.opens else cursor
    if declared is None:
        return None
    columns, complete = list(table.columns), table.complete and bool(table.columns)
    for item in declared.items():
        moved = not _MOVED.isdisjoint(item.words())
        nested = item.word_at(item.index + 1) == "."
        read = None if nested else read_column(item)
        if read is None and not nested:
            return None
        complete = complete and not moved and not nested
        if read is not None and find_column(columns, read[0].name) is None:
            columns.append(read[0])
    return replace(table, columns=tuple(columns), complete=complete)


def _replace_columns(table: Table, cursor: Cursor) -> Table | None:
    """The table after REPLACE COLUMNS of Hive and Spark, which keeps only the partition columns."""
    declared = cursor.group()
    if declared is None:
        return None
    read = [read_column(item) for item in declared.items()]
    columns = [each[0] for each in read if each is not None]
    if len(columns) != len(read):
        return None
    partitions = {field.column.lower() for field in table.partitioned_by}
    kept = [column for column in table.columns if column.name.lower() in partitions]
    kept = [column for column in kept if find_column(columns, column.name) is None]
    return replace(table, columns=(*columns, *kept), primary_key=())


def _rename_column(table: Table, cursor: Cursor) -> Table | None:
    old = cursor.name_part()
    return _with_column(table, old, cursor.name_part()) if cursor.take("to") else None


def _with_column(table: Table, old: str, new: str, column: Column | None = None) -> Table | None:
    """The table with one column renamed or declared anew."""
    before = find_column(table.columns, old)
    if before is None or not new:
        return None if table.columns else table
    after = replace(before, name=new) if column is None else replace(column, name=new)

    def called(name: str) -> str:
        return new if name.lower() == old.lower() else name

    fields = (replace(field, column=called(field.column)) for field in table.partitioned_by)
    return replace(
        table,
        columns=tuple(after if column is before else column for column in table.columns),
        partitioned_by=tuple(fields),
        primary_key=tuple(map(called, table.primary_key)),
    )


def _change_column(table: Table, cursor: Cursor) -> Table | None:
    """The table after Hive's CHANGE [COLUMN] old new type …; without a type Spark's ALTER
    COLUMN."""
    cursor.take("column")
    start, old = cursor.index, cursor.name_part()
    if cursor.word in _ASPECTS:
        cursor.index = start
        return _alter_column(table, cursor)
    moved, new = not _MOVED.isdisjoint(cursor.words()), cursor.copy().name_part()
    read = read_column(cursor)
    if read is None or not new:
        return None
    after = _with_column(table, old, new, read[0])
    return replace(after, complete=False) if after is not None and moved else after


_MOVED = frozenset({"first", "after"})
_ASPECTS = frozenset({"type", "set", "drop", "comment", *_MOVED})
_HARMLESS_TO_COLUMN = _actions("comment, set default, drop default, set mask, drop mask, set tags")


def _alter_column(table: Table, cursor: Cursor) -> Table | None:
    """The table after ALTER [COLUMN] name TYPE … | SET NOT NULL | DROP NOT NULL | COMMENT …"""
    cursor.take("column")
    old = cursor.name_part()
    before = find_column(table.columns, old)
    if before is None:  # a struct's field, or not among the known columns
        return None
    if cursor.peek("type"):
        read = read_column(cursor)  # reads TYPE as a name, then the type
        return read and _with_column(table, old, old, replace(before, type=read[0].type))
    if cursor.peek("set", "not", "null"):
        return _with_column(table, old, old, replace(before, nullable=False))
    if cursor.peek("drop", "not", "null"):
        return _with_column(table, old, old, replace(before, nullable=True))
    if cursor.word in _MOVED:
        return replace(table, complete=False)
    return table if any(cursor.peek(*words) for words in _HARMLESS_TO_COLUMN) else None


def _still_derived(before: Table, after: Table) -> Table:
    """The altered table, without derived columns that have changed or are computed from a changed
    column."""
    old, new = (
        {column.name.lower(): column.type for column in table.columns} for table in (before, after)
    )
    kept = tuple(
        derived
        for derived in after.derived
        if all(
            old.get(name) == new.get(name, "")
            for name in (derived.column.lower(), *derived.sources)
        )
    )
    return after if len(kept) == len(after.derived) else replace(after, derived=kept)


def _drop_columns(table: Table, cursor: Cursor) -> Table | None:
    cursor.take("if", "exists")
    inner = cursor.group() if cursor.opens else cursor
    if inner is None:
        return None
    parts = [(item.name_part().lower(), item.done) for item in inner.items()]
    names = [name for name, plain in parts if plain]
    fields = {field.column.lower() for field in table.partitioned_by}
    if not names or fields & set(names) or any(name in table.primary_key for name in names):
        return None
    kept = tuple(column for column in table.columns if column.name.lower() not in names)
    return replace(table, columns=kept)


def _add_partition_field(table: Table, cursor: Cursor) -> Table:
    """The table after Iceberg's ADD PARTITION FIELD; older files are not partitioned by it."""
    field = partition_field(_before_as(cursor), table.columns)
    return replace(table, partitioned_by=(*table.partitioned_by, field))


def _drop_partition_field(table: Table, cursor: Cursor) -> Table:
    field = partition_field(_before_as(cursor), table.columns)
    kept = tuple(
        other for other in table.partitioned_by if other.column.lower() != field.column.lower()
    )
    return replace(table, partitioned_by=kept)


def _before_as(cursor: Cursor) -> Cursor:
    end = next(
        (n for n in range(cursor.index, cursor.end) if cursor.word_at(n) == "as"), cursor.end
    )
    return cursor.between(cursor.index, end)


_Change = Callable[[Table, Cursor], Table | None]
_CHANGES: tuple[tuple[tuple[str, ...], _Change], ...] = tuple(
    (action, change)
    for several, change in (
        ("add partition field", _add_partition_field),
        ("drop partition field", _drop_partition_field),
        ("add columns, add column", _add_columns),
        ("replace columns", _replace_columns),
        ("rename column", _rename_column),
        ("change", _change_column),
        ("alter", _alter_column),
        ("drop columns, drop column", _drop_columns),
        # the constraint may be the primary key
        ("drop constraint, drop primary key", lambda table, _: replace(table, primary_key=())),
        # Delta's; empty for NONE and for anything that is not a list of columns
        ("cluster by", lambda table, cursor: replace(table, clustered_by=column_list(cursor))),
        ("write", _write_ordered_by),
    )
    for action in _actions(several)
)
