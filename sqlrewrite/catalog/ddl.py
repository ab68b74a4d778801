"""Reads DDL files to a catalog: each statement changes the catalog before it.

The files describe what exists, they are not run as a script: DROP removes nothing, a renamed table
is known by both names, a name with a variable means what all files say of it. A statement that
cannot be read is listed in ``left_out``. Tables whose columns come from another relation (AS, LIKE,
CLONE) are completed after all others, since files are read in any order (``columnless.py``).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from sqlrewrite.catalog import postgres_partitions
from sqlrewrite.catalog.columnless import ColumnlessTable, completed
from sqlrewrite.catalog.sources import Where, decoded, in_folder, may_define, read_bytes, texts
from sqlrewrite.copies import replace
from sqlrewrite.relation_maps import PersistentMap
from sqlrewrite.sql.ddl import definitions
from sqlrewrite.sql.ddl.created_table import in_star_order
from sqlrewrite.sql.ddl.definition_statements import definition_statements
from sqlrewrite.sql.parse.statements import Statement
from sqlrewrite.text.hosts import SUFFIXES as HOST_SUFFIXES
from sqlrewrite.text.source import SQL_SUFFIXES
from sqlrewrite.text.variables import in_force, is_variable
from sqlrewrite.warehouse import (
    CatalogError,
    Column,
    LeftOut,
    Name,
    Table,
    TableOrView,
    Warehouse,
)


def read(path: Path, catalog: Warehouse) -> Warehouse:
    """The catalog after the definitions in a file, or in all files of a directory.

    USE holds to the end of its file; each file begins in the namespace of ``catalog``. Raises
    CatalogError if no file can be read.
    """
    every = in_folder(path) if path.is_dir() else [path]
    files = [file for file in every if may_define(file)] if path.is_dir() else every
    if not every:
        if path.is_dir() and not os.access(path, os.R_OK | os.X_OK):
            raise CatalogError(f"{path}: cannot be read: permission denied")
        suffixes = ", ".join(f"*{suffix}" for suffix in (*SQL_SUFFIXES, *HOST_SUFFIXES))
        raise CatalogError(f"{path}: no file with SQL ({suffixes}) in this directory")
    after = read_files(files, catalog)
    if after.relations == catalog.relations and not path.is_dir():
        read_bytes(path)  # raises CatalogError if the file cannot be read
    return after


def read_files(files: Iterable[Path], catalog: Warehouse) -> Warehouse:
    """The catalog after the definitions in files; a file that cannot be read is left out."""
    namespace, findings = catalog.namespace, _Findings()
    for file in files:
        try:
            text, encoding = decoded(read_bytes(file))
        except CatalogError as error:
            why = str(error).removeprefix(f"{file}: ")
            findings.left_out.append(LeftOut(str(file), why))
            continue
        if encoding in ("gb18030", "latin-1"):
            why = f"not UTF-8: read as {encoding.upper()}"
            findings.left_out.append(LeftOut(str(file), why))
        catalog = replace(catalog, namespace=namespace, schema_named=False)
        for part, where in texts(text, str(file)):
            catalog = _folded(part, where, catalog, findings)
    return findings.completed(replace(catalog, namespace=namespace))


def read_ddl(text: str, source: str, catalog: Warehouse) -> Warehouse:
    """The catalog after the definitions in a text. Raises nothing."""
    findings = _Findings()
    for part, where in texts(text, source):
        catalog = _folded(part, where, catalog, findings)
    return findings.completed(catalog)


class _Findings(Struct):
    """The findings over all files: defined names, tables without columns, what is left out."""

    defined: set[Name] = field(default_factory=set)
    columnless: list[ColumnlessTable] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def completed(self, catalog: Warehouse) -> Warehouse:
        """The catalog with the columns of the tables that were created without a list of them, as
        far as they follow from the catalog."""
        catalog = completed(catalog, self.columnless)
        left_out = (*catalog.left_out, *self.left_out, *_without_columns(self.columnless, catalog))
        return replace(catalog, left_out=left_out, hidden=PersistentMap(), schema_named=False)


def _folded(text: str, at: Where, catalog: Warehouse, findings: _Findings) -> Warehouse:
    variables, catalog = catalog.variables, in_force(catalog, text, runs_once=False)
    for statement in definition_statements(text, catalog.refer):
        if statement.tokens[0].text.lower() in ("drop", "cache"):
            continue
        partitioned = postgres_partitions.apply(statement, text, catalog, at.source)
        if partitioned is not None:
            catalog = partitioned
        elif definitions.defines_relation(statement, text):
            catalog = _defined(statement, text, at, catalog, findings)
        else:
            after = definitions.apply(statement, text, catalog, at.source)
            if definitions.sets_variable(statement, text):
                after = replace(after, relations=catalog.relations)
            elif definitions.renames(statement, text):
                for _, old, new in catalog.relations.changes(after.relations):
                    if old is not None and new is None:
                        after = after.with_relation(old)
                after = replace(after, forgotten=catalog.forgotten, hidden=catalog.hidden)
            findings.left_out += _forgotten(statement, text, catalog, after, at)
            catalog = after
    return replace(catalog, variables=variables, open_names=())


def _defined(
    statement: Statement, text: str, at: Where, catalog: Warehouse, findings: _Findings
) -> Warehouse:
    """The catalog after a CREATE TABLE or VIEW, with or without IF NOT EXISTS."""
    name = definitions.created_name(statement.tokens, text, catalog)
    if not name:
        why = "a table whose name is missing or computed: write it out"
        findings.left_out.append(LeftOut(at(statement.start), why))
        return catalog
    if is_variable(name[-1]):  # it is another table in each file
        why = f"a table whose name is a variable, {name[-1]}: it may be any table"
        findings.left_out.append(LeftOut(at(statement.start), why))
        return catalog
    if len(name) == 1:
        return _defined_temporarily(statement, text, at, catalog, findings)
    old = catalog.relations.get(name) if name in findings.defined else None
    after = definitions.apply(statement, text, catalog.without(name), at.source)
    after = postgres_partitions.declared(statement, text, after, name)
    relation, where = after.relations.get(name), at(statement.start)
    findings.left_out += (
        LeftOut(where, doubt) for doubt in _doubts(name, relation, statement, text)
    )
    findings.defined.add(name)
    if isinstance(relation, Table) and isinstance(old, Table):
        relation, contradicted = agreed(old, relation)
        findings.left_out += (LeftOut(where, f"{_shown(name)}: {why}") for why in contradicted)
        return after.with_relation(in_star_order(relation, after))
    if isinstance(relation, Table) and not relation.names:
        findings.columnless.append(
            ColumnlessTable(statement, text, name, catalog.namespace, relation, where)
        )
    return after


def _defined_temporarily(
    statement: Statement, text: str, at: Where, catalog: Warehouse, findings: _Findings
) -> Warehouse:
    """The catalog after a temporary view, which is kept like any view, unless a table has its
    name."""
    temporary = definitions.created_name(statement.tokens, text, catalog)
    name = catalog.qualify(temporary)
    if isinstance(catalog.relations.get(name), Table):
        return catalog
    relation = definitions.apply(statement, text, catalog, at.source).relations.get(temporary)
    findings.left_out += (
        LeftOut(at(statement.start), doubt) for doubt in _doubts(name, relation, statement, text)
    )
    if relation is None:
        return catalog.without(name)
    return catalog.with_relation(replace(relation, name=name))


def agreed(old: Table, new: Table) -> tuple[Table, list[str]]:
    """Two definitions of a table as one (the later wins), and their contradictions."""
    base, other = (new, old) if new.names else (old, new)
    contradicted: list[str] = []
    columns: list[Column] = []
    for column in base.columns:
        again = other.column(column.name)
        if again is not None and again.type != column.type:
            contradicted.append(
                f"another definition gives {column.name} the type {again.type}, and this one "
                f"{column.type}: its type counts as unknown"
            )
            column = replace(column, type=None)
        columns.append(column)
    fields = new.partitioned_by or tuple(
        field for field in old.partitioned_by if not base.names or base.column(field.column)
    )
    either = ("provider", "derived", "buckets")
    changes: dict[str, Any] = {name: getattr(base, name) or getattr(other, name) for name in either}
    changes |= {"columns": tuple(columns), "partitioned_by": fields, "source": new.source}
    return replace(base, **changes), contradicted


def _doubts(
    name: Name, relation: TableOrView | None, statement: Statement, text: str
) -> Iterator[str]:
    """The parts of a definition that could not be read."""
    if relation is None:
        yield f"{_shown(name)} cannot be read: {definitions.why_unreadable(statement, text)}"
    elif isinstance(relation, Table) and relation.names:
        for column in relation.columns:
            if column.type is None:
                written = definitions.written_types(statement, text).get(column.name, "")
                which = f"{column.name} {written}".rstrip()
                yield (
                    f"{_shown(name)}: Spark has no such type as that of column `{which}`: nothing "
                    "is written that depends on it"
                )
        for part in relation.partitioned_by:
            if part.column.isidentifier() and relation.column(part.column) is None:
                yield (
                    f"{_shown(name)}: partitioned by {part.column}, which is not one of its "
                    "columns: declare it"
                )


def _forgotten(
    statement: Statement, text: str, before: Warehouse, after: Warehouse, at: Where
) -> Iterator[LeftOut]:
    """The relations that become unknown by a statement that creates none."""
    where = at(statement.start)
    if after.namespace == definitions.UNKNOWN_NAMESPACE != before.namespace:
        yield LeftOut(where, "a USE that cannot be read: write the schema's name")
    elif len(after.relations) < len(before.relations):
        shown = ".".join(definitions.defined_name(statement.tokens, text))
        yield LeftOut(where, f"{shown or 'a table'} is not known after this statement")


def _without_columns(
    columnless: Iterable[ColumnlessTable], catalog: Warehouse
) -> Iterator[LeftOut]:
    """The tables whose columns are still not known."""
    for table in columnless:
        relation = catalog.relations.get(table.name)
        if relation is table.created:
            yield LeftOut(
                table.where, f"{_shown(table.name)}: its columns are not known: {table.why}"
            )


def _shown(name: Name) -> str:
    return ".".join(name[1:])
