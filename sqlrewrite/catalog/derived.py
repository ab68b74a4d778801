"""Derived columns that the settings declare, put into a catalog.

In: a catalog, and by the names of tables and columns what each is computed by. Out: the catalog
that knows it. A table that is not there may be one that a text makes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from sqlrewrite.catalog.names import parsed_name
from sqlrewrite.sql.bind.formulas import unreadable
from sqlrewrite.warehouse import CatalogError, Name, Table, Warehouse

W = TypeVar("W", bound=Warehouse)


def declaring(catalog: W, derived: Mapping[str, Mapping[str, str]]) -> W:
    """The catalog, where these columns are computed from others of their row.

    Raises CatalogError for what is no name of a table, for a column that its table lacks, and for
    what is no expression.
    """
    declared: dict[Name, Mapping[str, str]] = dict(catalog.declared)
    for text, columns in derived.items():
        name = parsed_name(text)
        if name is None:
            raise CatalogError(f"derived: not a table: {text!r}; separate its parts with dots")
        for other, table in catalog.relations.items():
            if other[-len(name) :] == name and isinstance(table, Table) and table.names:
                _check(table, columns)
        for column, expression in columns.items():
            if (why := unreadable(expression)) is not None:
                shown = f"{'.'.join(name)}.{column} = {expression!r}"
                raise CatalogError(f"derived: {shown}: {why}")
        declared[name] = {**declared.get(name, {}), **columns}
    return replace(catalog, declared=declared)


def _check(table: Table, columns: Mapping[str, str]) -> None:
    for column in columns:
        if table.column(column) is None:
            shown, names = ".".join(table.name), ", ".join(it.name for it in table.columns)
            raise CatalogError(f"derived: {shown} has no column {column}: it has {names}")
