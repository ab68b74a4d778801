"""Tables whose columns come from another relation: CREATE TABLE … AS, LIKE and CLONE.

Files are read in any order, so these tables are completed after all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlrewrite.plan.facts.session import ExactSettings, SessionSettings
from sqlrewrite.sql.ddl import definitions
from sqlrewrite.sql.ddl.columns import find_column
from sqlrewrite.sql.ddl.table import in_star_order
from sqlrewrite.sql.parse.statements import Statement
from sqlrewrite.warehouse import Column, Name, PartitionField, Table, Warehouse

ANY_SETTINGS = tuple(SessionSettings().possible())
_ROUNDS = 5
"""How many such tables in a row are completed, each created from the one before."""


@dataclass(frozen=True, slots=True, eq=False)
class ColumnlessTable:
    """A table that was created without a list of columns: its statement, text and namespace."""

    statement: Statement
    text: str
    name: Name
    namespace: Name
    made: Table
    where: str
    settings: Sequence[ExactSettings] = ANY_SETTINGS

    @property
    def why(self) -> str:
        """Why its columns are not known, for people."""
        if definitions.created_query(self.statement.tokens, self.text)[1]:
            return "its query reads what is not known"
        return "the statement lists none, or not all"


def completed(catalog: Warehouse, columnless: Sequence[ColumnlessTable]) -> Warehouse:
    """The catalog with the columns of these tables, as far as they can be found."""
    left = list(columnless)
    for _ in range(_ROUNDS):
        found = {it.name: table for it in left if (table := _completed(it, catalog)) is not None}
        if not found:
            break
        catalog = replace(catalog, relations={**catalog.relations, **found})
        left = [it for it in left if it.name not in found]
    return catalog


def followed(
    statement: Statement,
    text: str,
    before: Warehouse,
    source: str,
    behind: str | None = None,
    settings: Sequence[ExactSettings] = ANY_SETTINGS,
) -> Warehouse:
    """The catalog after a statement of a script, where ``before`` holds. A table that a query
    gives its columns has them, as far as they are the same under all of the ``settings``; where
    ``behind`` is the text behind it, only one that it names."""
    after = definitions.apply(statement, text, before, source)
    if after is before:
        return after
    name = definitions.created_name(statement.tokens, text, before)
    made = after.relations.get(name)
    if not isinstance(made, Table) or made.names or len(name) == 1:
        return after
    if behind is not None and name[-1] not in behind.lower():
        return after
    columnless = ColumnlessTable(statement, text, name, before.namespace, made, source, settings)
    return completed(after, [columnless])


def _completed(it: ColumnlessTable, catalog: Warehouse) -> Table | None:
    if catalog.relations.get(it.name) is not it.made:
        return None
    here = replace(catalog, namespace=it.namespace)
    query = definitions.created_query(it.statement.tokens, it.text)[1]
    if not query:
        without = here.without(it.name)
        made = definitions.apply(it.statement, it.text, without, it.made.source)
        again = made.relations.get(it.name)
        return again if isinstance(again, Table) and again.names else None
    columns = query_columns(query, here.without(it.name), it.settings)
    if columns is None:
        return None
    fields = (
        field if find_column(columns, field.column) else PartitionField(field.column, "unknown")
        for field in it.made.partitioned_by
    )
    return in_star_order(replace(it.made, columns=columns, partitioned_by=tuple(fields)), here)


def query_columns(
    query: str, catalog: Warehouse, settings: Sequence[ExactSettings], names: Sequence[str] = ()
) -> tuple[Column, ...] | None:
    """The columns of a table or view that a query creates, under other ``names`` if there are any;
    None if they are not known."""
    from sqlrewrite.sql.types.query_output import query_output

    found = query_output(query, catalog, settings, lambda kind: kind.ddl)
    if found is None or len(names or found) != len(found):
        return None
    given: Sequence[str | None] = names or [name for name, _ in found]
    pairs = zip(given, found, strict=True)
    columns = [Column(name, kind) for name, (_, kind) in pairs if name is not None]
    distinct = {column.name.lower() for column in columns}
    return tuple(columns) if len(columns) == len(found) == len(distinct) else None
