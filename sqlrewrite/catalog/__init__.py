"""Loaders: files that say what is known of the warehouse, each to a ``schema.Catalog``.

``load`` takes any mix of DDL and snapshots and merges them in order. A new kind of file is a new
module here and a line in ``_read``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sqlrewrite.catalog import snapshot
from sqlrewrite.catalog.files import read_text
from sqlrewrite.schema import DEFAULT_NAMESPACE, Catalog, CatalogError, Name, Table

_DDL = frozenset({".sql", ".ddl", ".hql"})
_SUPPORTED = "a DDL file (.sql, .ddl, .hql), a directory of them, or a snapshot (.json)"


def load(paths: Sequence[str], *, schema: str | None = None) -> Catalog:
    """The catalog of all ``paths``: later definitions of a table win, and what snapshots tell of
    sizes and counts completes a definition that lacks them, whichever comes first.

    ``schema`` is the namespace of short names, in DDL files until they say USE, and at the end.
    Raises CatalogError.
    """
    start = Catalog() if schema is None else Catalog().use(schema)
    catalog = start
    counted: dict[Name, Table] = {}
    namespace = start.namespace
    for path in paths:
        place = Path(path)
        if not place.exists():
            raise CatalogError(f"{path}: no such file or directory; a catalog is {_SUPPORTED}")
        if place.is_dir() or place.suffix.lower() in _DDL:
            from sqlrewrite.catalog import ddl  # brings the parser, which a snapshot does not need

            catalog = ddl.read(place, replace(catalog, namespace=start.namespace))
        elif place.suffix.lower() == ".json":
            pulled = _read_json(place)
            tables = [r for r in pulled.relations.values() if isinstance(r, Table)]
            counted.update({table.name: table for table in tables})
            catalog = _merged(catalog, pulled)
            if schema is None and pulled.namespace != DEFAULT_NAMESPACE:
                namespace = pulled.namespace
        else:
            raise CatalogError(
                f"{path}: not a kind of file that is read; a catalog is {_SUPPORTED}"
            )
    relations = {
        name: _completed(relation, counted[name])
        if isinstance(relation, Table) and name in counted
        else relation
        for name, relation in catalog.relations.items()
    }
    return Catalog(relations, namespace, tuple(paths))


def _read_json(path: Path) -> Catalog:
    text = read_text(path)
    if '"dbt_schema_version"' in text and _is_dbt(text):
        raise CatalogError(
            f"{path}: a dbt manifest, which is not supported yet: "
            "give the tables' DDL, or a snapshot made by `dpp-rewrite catalog pull`"
        )
    return snapshot.read(text, str(path))


def _is_dbt(text: str) -> bool:
    try:
        data = json.loads(text)
    except ValueError:
        return False
    metadata = data.get("metadata") if isinstance(data, dict) else None
    return isinstance(metadata, dict) and "dbt_schema_version" in metadata


def _merged(catalog: Catalog, later: Catalog) -> Catalog:
    """All relations of both; a snapshot of sizes alone takes no columns from a table."""
    relations = dict(catalog.relations)
    for name, relation in later.relations.items():
        known = relations.get(name)
        counts_only = isinstance(relation, Table) and not relation.columns
        if not (counts_only and isinstance(known, Table) and known.columns):
            relations[name] = relation
    return replace(catalog, relations=relations)


def _completed(table: Table, counted: Table) -> Table:
    """A table with the numbers it lacks taken from another account of it."""
    columns = []
    for column in table.columns:
        other = counted.column(column.name)
        if column.distinct_count is None and other is not None:
            columns.append(replace(column, distinct_count=other.distinct_count))
        else:
            columns.append(column)
    size = table.size_in_bytes if table.size_in_bytes is not None else counted.size_in_bytes
    rows = table.row_count if table.row_count is not None else counted.row_count
    partitions = table.partition_count
    return replace(
        table,
        columns=tuple(columns),
        size_in_bytes=size,
        row_count=rows,
        partition_count=counted.partition_count if partitions is None else partitions,
    )


__all__ = ["load"]
