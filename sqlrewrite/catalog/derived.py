"""Puts the derived columns that the settings declare into a catalog.

A declaration may name a table that is not in the catalog: a text may create it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from sqlrewrite.catalog.names import parsed_name
from sqlrewrite.sql.bind.formulas import why_unreadable
from sqlrewrite.warehouse import CatalogError, Name, Table, Warehouse

W = TypeVar("W", bound=Warehouse)


def declaring(catalog: W, derived: Mapping[str, Mapping[str, str]]) -> W:
    """The catalog with derived columns: by the names of table and column, the expression over other
    columns of the row.

    Raises CatalogError for an invalid name or expression, and for a column that its table lacks.
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
            if (why := why_unreadable(expression)) is not None:
                shown = f"{'.'.join(name)}.{column} = {expression!r}"
                raise CatalogError(f"derived: {shown}: {why}")
        declared[name] = {**declared.get(name, {}), **columns}
    return replace(catalog, declared=declared)


def _check(table: Table, columns: Mapping[str, str]) -> None:
    for column in columns:
        if table.column(column) is None:
            shown, names = ".".join(table.name), ", ".join(it.name for it in table.columns)
            raise CatalogError(f"derived: {shown} has no column {column}: it has {names}")
