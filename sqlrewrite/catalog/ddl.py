"""DDL files to a catalog: each statement's definitions folded over the catalog before it.

A directory is searched for ``*.sql``, ``*.ddl`` and ``*.hql`` and read in the order of the paths.
Only a CREATE TABLE or VIEW that cannot be read is an error; any other statement is passed over.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sqlrewrite.catalog.files import place, read_text
from sqlrewrite.sql import definitions, parse
from sqlrewrite.warehouse import CatalogError, Table, Warehouse

SUFFIXES = frozenset({".sql", ".ddl", ".hql"})


def read(path: Path, catalog: Warehouse) -> Warehouse:
    """The catalog after the definitions in a file, or in all files of a directory.

    USE holds to the end of its file; each file begins in the namespace of the catalog given.
    Raises CatalogError.
    """
    namespace = catalog.namespace
    files = _files(path) if path.is_dir() else [path]
    if not files:
        raise CatalogError(f"{path}: no *.sql, *.ddl or *.hql file in this directory")
    before = catalog.relations
    for file in files:
        catalog = read_ddl(read_text(file), str(file), replace(catalog, namespace=namespace))
    if catalog.relations == before:
        raise CatalogError(f"{path}: no CREATE TABLE or CREATE VIEW that could be read")
    return replace(catalog, namespace=namespace)


def read_ddl(text: str, source: str, catalog: Warehouse) -> Warehouse:
    """The catalog after the definitions in a text. Raises CatalogError."""
    for statement in parse.statements(text):
        after = definitions.apply(statement, text, catalog, source)
        if definitions.defines_relation(statement):
            _check(statement, text, after, source)
        elif after.namespace == definitions.UNKNOWN_NAMESPACE:
            where = place(text, statement.start, source)
            raise CatalogError(f"{where}: a USE that cannot be read: write the schema's name")
        catalog = after
    return catalog


def _files(directory: Path) -> list[Path]:
    found = (path for path in directory.rglob("*") if path.suffix.lower() in SUFFIXES)
    return sorted(path for path in found if path.is_file())


def _check(statement: parse.Statement, text: str, catalog: Warehouse, source: str) -> None:
    name = definitions.defined_name(statement)
    if any(part.startswith(("{{", "${")) for part in name):
        where = place(text, statement.start, source)
        raise CatalogError(f"{where}: a table whose name is a template: write the name out")
    relation = catalog.resolve(name)
    if relation is None and definitions.unread(statement):
        failure = statement.failure
        reason = failure.message if failure is not None else "a clause is not supported"
        offset = failure.offset if failure is not None else statement.start
        raise CatalogError(
            f"{place(text, offset, source)}: {'.'.join(name)} cannot be read: {reason}; "
            "simplify the statement, or describe the table in a JSON snapshot"
        )
    if not isinstance(relation, Table) or not relation.columns:
        return
    for field in relation.partitioned_by:
        if field.column.isidentifier() and relation.column(field.column) is None:
            raise CatalogError(
                f"{place(text, statement.start, source)}: {'.'.join(name)} is partitioned by "
                f"{field.column}, which is not one of its columns; declare the column"
            )
