"""DDL files to a catalog: each statement's definitions folded over the catalog before it.

A directory is searched for the suffixes below and read in the order of the paths. What cannot be
read costs only itself and is listed in the catalog's ``left_out``; statements that define nothing
are passed over. The files are an account of what there is, and not a script: a DROP in one of them
makes way for the CREATE behind it, and takes nothing out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from sqlrewrite.catalog.files import DDL_SUFFIXES, decoded, place, read_bytes
from sqlrewrite.catalog.queried import Poor, completed
from sqlrewrite.sql import definitions, script
from sqlrewrite.sql.parse import Statement
from sqlrewrite.text.readable import readable
from sqlrewrite.warehouse import CatalogError, LeftOut, Name, Table, Warehouse


def read(path: Path, catalog: Warehouse) -> Warehouse:
    """The catalog after the definitions in a file, or in all files of a directory.

    USE holds to the end of its file; each file begins in the namespace of the catalog given.
    Raises CatalogError where there is no file that could be read.
    """
    files = _files(path) if path.is_dir() else [path]
    if not files:
        suffixes = ", ".join(f"*{suffix}" for suffix in DDL_SUFFIXES)
        raise CatalogError(f"{path}: no file of SQL ({suffixes}) in this directory")
    after = read_files(files, catalog)
    if after.relations == catalog.relations and not path.is_dir():
        read_bytes(path)  # raises for a file that is not there to be read
    return after


def read_files(files: Iterable[Path], catalog: Warehouse) -> Warehouse:
    """The catalog after the definitions in files. What cannot be read is left out."""
    namespace, poor, left_out = catalog.namespace, list[Poor](), list[LeftOut]()
    for file in files:
        try:
            text, encoding = decoded(read_bytes(file))
        except CatalogError as error:
            left_out.append(LeftOut(str(file), str(error).removeprefix(f"{file}: ")))
            continue
        if encoding in ("gb18030", "latin-1"):
            left_out.append(LeftOut(str(file), f"not UTF-8: read as {encoding.upper()}"))
        catalog = replace(catalog, namespace=namespace)
        catalog = _folded(text, str(file), catalog, poor, left_out)
    catalog = completed(replace(catalog, namespace=namespace), poor)
    left_out += _vague(poor, catalog)
    return replace(catalog, left_out=(*catalog.left_out, *left_out))


def read_ddl(text: str, source: str, catalog: Warehouse) -> Warehouse:
    """The catalog after the definitions in a text. Raises nothing."""
    poor, left_out = list[Poor](), list[LeftOut]()
    after = completed(_folded(text, source, catalog, poor, left_out), poor)
    left_out += _vague(poor, after)
    return replace(after, left_out=(*after.left_out, *left_out))


def _files(directory: Path) -> list[Path]:
    found = (it for it in directory.rglob("*") if it.name.lower().endswith(DDL_SUFFIXES))
    return sorted(path for path in found if path.is_file())


def _folded(
    text: str, source: str, catalog: Warehouse, poor: list[Poor], left_out: list[LeftOut]
) -> Warehouse:
    text = readable(text)
    for statement in script.statements(text, catalog.refer):
        if statement.tokens[0].text.lower() == "drop":
            continue
        before = catalog
        catalog = definitions.apply(statement, text, catalog, source)
        left_out += _left_out(statement, text, before, catalog, source)
        if definitions.defines_relation(statement, text):
            name = catalog.qualify(definitions.defined_name(statement, text))
            made = catalog.relations.get(name)
            if (
                isinstance(made, Table)
                and not made.names
                and made is not before.relations.get(name)
            ):
                where = place(text, statement.start, source)
                poor.append(Poor(statement, text, name, catalog.namespace, made, where))
    return catalog


def _left_out(
    statement: Statement, text: str, before: Warehouse, after: Warehouse, source: str
) -> Iterator[LeftOut]:
    """What of a definition could not be read."""
    where = place(text, statement.start, source)
    if after.namespace == definitions.UNKNOWN_NAMESPACE != before.namespace:
        yield LeftOut(where, "a USE that cannot be read: write the schema's name")
    written = definitions.defined_name(statement, text)
    shown = ".".join(written)
    if definitions.defines_relation(statement, text):
        known = after.relations.get(after.qualify(written)) if written else None
        known = known or after.relations.get(written[-1:])
        if not written:
            yield LeftOut(where, "a table whose name is not written out")
        elif known is None:
            yield LeftOut(where, f"{shown} cannot be read: {definitions.unread(statement, text)}")
        elif isinstance(known, Table) and known is not before.relations.get(known.name):
            yield from (LeftOut(where, f"{shown}: {why}") for why in _doubts(known))
    elif statement.tokens[0].text.lower() == "alter" and after is not before:
        name = before.qualify(written)
        if name not in after.relations and len(after.relations) < len(before.relations):
            yield LeftOut(where, f"{shown} is not known behind this ALTER TABLE")


def _doubts(table: Table) -> Iterator[str]:
    for field in table.partitioned_by:
        if table.names and field.column.isidentifier() and table.column(field.column) is None:
            yield f"partitioned by {field.column}, which is not one of its columns: declare it"
    for column in table.columns:
        if column.type is None and table.names:
            yield f"the type of {column.name} is not one of Spark's: it is not known"


def _vague(poor: Iterable[Poor], catalog: Warehouse) -> Iterator[LeftOut]:
    """The tables of which still no columns are known."""
    for it in poor:
        known = catalog.relations.get(it.name)
        if known is it.made:
            shown = ".".join(_short(it.name, catalog))
            yield LeftOut(it.where, f"{shown}: its columns are not known: {it.why}")


def _short(name: Name, catalog: Warehouse) -> Name:
    return name[1:] if name[:1] == catalog.namespace[:1] else name
