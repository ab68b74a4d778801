"""Tables whose columns come from another relation: CREATE TABLE … AS a query, LIKE, CLONE.

They are completed when all definitions have been read, each after those that it reads.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from sqlrewrite.copies import replace
from sqlrewrite.plan.facts.types import ExactSettings, SessionSettings
from sqlrewrite.sql.ddl import definitions
from sqlrewrite.sql.ddl.clauses import find_column
from sqlrewrite.sql.ddl.created_table import in_star_order
from sqlrewrite.sql.parse.statements import Statement
from sqlrewrite.warehouse import (
    Column,
    Name,
    PartitionField,
    Table,
    TableOrView,
    Warehouse,
    has_template,
)

ANY_SETTINGS = tuple(SessionSettings().possible())
_TEMPLATE_ROUNDS = 5
"""How often a statement is read again if a template in it may be the name of another table."""
_PLAIN = re.compile(r"\w+")
_WORD = re.compile(r"`([^`]*)`|([^\s`'\",;()\[\]=.]+)")


class ColumnlessTable(Struct, frozen=True, eq=False):
    """A table that was created without a list of columns: its statement, text and namespace."""

    statement: Statement
    text: str
    name: Name
    namespace: Name
    created: Table
    where: str
    settings: Sequence[ExactSettings] = ANY_SETTINGS

    @property
    def written(self) -> str:
        """The text of its statement."""
        return self.text[self.statement.start : self.statement.end + 1]

    @property
    def why(self) -> str:
        """Why its columns are not known, for people."""
        if definitions.created_query(self.statement.tokens, self.text)[1]:
            return "its query is not understood, or reads an unknown table"
        return "the statement does not list all of them"


def completed(catalog: Warehouse, tables: Iterable[ColumnlessTable]) -> Warehouse:
    """The catalog with the columns of ``tables``, as far as they follow: each is read after the
    tables that its statement names. If tables name each other (a column's name may be a table's),
    those that are not fully known are read again after what they name."""
    waiting = {
        table.name: table for table in tables if catalog.relations.get(table.name) is table.created
    }
    order, readers = _dependence(waiting, catalog)
    catalog, unknown = _read(order, readers, waiting, catalog)
    for _ in range(_TEMPLATE_ROUNDS):
        again = [name for name in unknown if has_template(waiting[name].written)]
        before = catalog
        catalog, unknown = _read(again, readers, waiting, catalog)
        if catalog is before:
            break
    return catalog


def _read(
    names: Iterable[Name],
    readers: Mapping[Name, Sequence[Name]],
    waiting: Mapping[Name, ColumnlessTable],
    catalog: Warehouse,
) -> tuple[Warehouse, list[Name]]:
    """The catalog with the columns of the tables, read in the order of ``names``, and the names of
    the tables whose columns are still not all known."""
    todo, unknown = deque(names), dict[Name, None]()
    while todo:
        name = todo.popleft()
        table = _completed(waiting[name], catalog)
        after = _share_of_known_types(table)
        unknown.pop(name, None)
        if after < 1:
            unknown[name] = None
        if table is not None and after > _share_of_known_types(catalog.relations[name]):
            catalog = catalog.with_relation(table)
            todo += (reader for reader in _all_readers(name, readers, waiting) if reader in unknown)
    return catalog, list(unknown)


def _share_of_known_types(relation: TableOrView | None) -> float:
    """The share of a relation's columns whose type is known; -1 if no columns are known."""
    if not isinstance(relation, Table) or not relation.names:
        return -1
    return sum(column.type is not None for column in relation.columns) / len(relation.columns)


def _all_readers(
    name: Name, readers: Mapping[Name, Sequence[Name]], waiting: Mapping[Name, ColumnlessTable]
) -> Iterator[Name]:
    """The tables whose definitions name a relation, or a view over it."""
    todo, seen = [name], {name}
    while todo:
        for reader in readers.get(todo.pop(), ()):
            if reader not in seen:
                seen.add(reader)
                if reader in waiting:
                    yield reader
                else:
                    todo.append(reader)


def _dependence(
    waiting: Mapping[Name, ColumnlessTable], catalog: Warehouse
) -> tuple[list[Name], Mapping[Name, Sequence[Name]]]:
    """The tables, each after those that it names; and for each table and view those that name
    it."""
    order: list[Name] = []
    readers: dict[Name, list[Name]] = {}
    seen: set[Name] = set()
    for first in waiting:
        path = [] if first in seen else [(first, _named(first, waiting, catalog))]
        seen.add(first)
        while path:
            name, others = path[-1]
            for other in others:
                readers.setdefault(other, []).append(name)
                if other not in seen:
                    seen.add(other)
                    path.append((other, _named(other, waiting, catalog)))
                    break
            else:
                path.pop()
                if name in waiting:
                    order.append(name)
    return order, readers


def _named(
    name: Name, waiting: Mapping[Name, ColumnlessTable], catalog: Warehouse
) -> Iterator[Name]:
    """The columnless tables and the views that the definition of ``name`` may name: the last part
    of their name is a word in it."""
    text = waiting[name].written if name in waiting else catalog.relations[name].query
    written = [quoted or plain for quoted, plain in _WORD.findall(text.lower())]
    for word in dict.fromkeys([*written, *_PLAIN.findall(text.lower())]):
        for other in catalog.relations.named(word):
            if other != name and (other in waiting or catalog.relations[other].query):
                yield other


def followed(
    statement: Statement,
    text: str,
    before: Warehouse,
    source: str,
    behind: str | None = None,
    settings: Sequence[ExactSettings] = ANY_SETTINGS,
) -> Warehouse:
    """The catalog after a statement of a script; ``before`` is the one before it. A table made by a
    query has the query's columns as far as they are the same under all of the ``settings``, and its
    count of rows if the query returns one. ``behind`` is the text after the statement: columns of
    tables that it does not name are not worked out."""
    after = definitions.apply(statement, text, before, source)
    if after is before:
        return after
    name = definitions.created_name(statement.tokens, text, before)
    table = after.relations.get(name)
    if not isinstance(table, Table) or table.names:
        return after
    if behind is not None and name[-1] not in behind.lower():
        return after
    columnless = ColumnlessTable(statement, text, name, before.namespace, table, source, settings)
    completed_table = _completed(columnless, after)
    if completed_table is None:
        return after
    return after.with_relation(_counted(completed_table, statement, text, after))


def _counted(table: Table, statement: Statement, text: str, catalog: Warehouse) -> Table:
    """The table that a statement has made, with a count of one row if its query returns one. With
    IF NOT EXISTS the count stays unknown: the table may have been there before."""
    query = definitions.created_query(statement.tokens, text)[1]
    if not query or "exists" in {token.text.lower() for token in statement.tokens[:7]}:
        return table
    from sqlrewrite.sql.outputs.output_binder import returns_one_row

    one = returns_one_row(query, catalog.without(table.name))
    return replace(table, row_count=1) if one else table


def recounted(catalog: Warehouse, changes: Iterable[str]) -> Warehouse:
    """The catalog after a statement that may change the tables with these words as names: one that
    had a single row now has an unknown number."""
    for word in changes:
        for name in ((word,), *catalog.relations.named(word)):
            relation = catalog.relations.get(name)
            if isinstance(relation, Table) and relation.row_count == 1:
                catalog = catalog.with_relation(replace(relation, row_count=None))
    return catalog


def _completed(waiting: ColumnlessTable, catalog: Warehouse) -> Table | None:
    """The table with its columns as the catalog has them, None if they are not known."""
    here = replace(catalog, namespace=waiting.namespace)
    query = definitions.created_query(waiting.statement.tokens, waiting.text)[1]
    if not query:
        without = here.without(waiting.name)
        after = definitions.apply(waiting.statement, waiting.text, without, waiting.created.source)
        again = after.relations.get(waiting.name)
        return again if isinstance(again, Table) and again.names else None
    columns = query_columns(query, here.without(waiting.name), waiting.settings)
    if columns is None:
        return None
    fields = (
        field if find_column(columns, field.column) else PartitionField(field.column, "unknown")
        for field in waiting.created.partitioned_by
    )
    return in_star_order(
        replace(waiting.created, columns=columns, partitioned_by=tuple(fields)), here
    )


def query_columns(
    query: str, catalog: Warehouse, settings: Sequence[ExactSettings], names: Sequence[str] = ()
) -> tuple[Column, ...] | None:
    """The columns that a query gives a table or view, under ``names`` if any; None if unknown."""
    from sqlrewrite.sql.outputs.output_binder import query_output

    output = query_output(query, catalog, settings, lambda kind: kind.ddl)
    if output is None or len(names or output) != len(output):
        return None
    written: Sequence[str | None] = names or [name for name, _ in output]
    pairs = zip(written, output, strict=True)
    columns = [Column(name, kind) for name, (_, kind) in pairs if name is not None]
    distinct = {column.name.lower() for column in columns}
    return tuple(columns) if len(columns) == len(output) == len(distinct) else None
