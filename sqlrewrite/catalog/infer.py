"""Guesses tables from the texts that use them, for a project without DDL.

In: files of SQL. Out: the tables that they create, as from DDL, and those that they write to:
``INSERT INTO t PARTITION (dt = '…')``, ``ALTER TABLE t ADD PARTITION (…)`` and ``LOAD DATA`` show
which columns partition a table, in order, but no type and no other column. So no predicate is
written whose soundness needs the type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from sqlrewrite.catalog import ddl
from sqlrewrite.catalog.files import Where, decoded, read_bytes, texts
from sqlrewrite.sql.ddl import definitions
from sqlrewrite.sql.ddl.cursor import Cursor
from sqlrewrite.sql.ddl.definition_statements import definition_statements
from sqlrewrite.text.variables import in_force
from sqlrewrite.warehouse import CatalogError, Column, Name, PartitionField, Table, Warehouse

# The words before the name of a table whose partition a statement names.
_BEFORE = (
    ("insert", "overwrite", "table"),
    ("insert", "into", "table"),
    ("insert", "overwrite"),
    ("insert", "into"),
    ("into", "table"),
    ("alter", "table"),
    ("truncate", "table"),
)
_BETWEEN = frozenset({"add", "drop", "if", "not", "exists"})
_WORDS = (b"create", b"partition")


@dataclass(frozen=True, slots=True)
class PartitionMention:
    """A partition in a statement: the table, the partition columns in order, each with its value as
    written, and the place."""

    name: Name
    columns: tuple[tuple[str, str], ...]
    where: str


def infer(files: Iterable[str], start: Warehouse) -> tuple[Warehouse, dict[Name, PartitionMention]]:
    """The catalog that files show, beginning with ``start``, and the mentions of the tables in it
    that are guessed, by name. Files that cannot be read are skipped."""
    files_with_tables = [Path(file) for file in files if _may_show_tables(Path(file))]
    catalog = ddl.read_files(files_with_tables, start)
    guessed: dict[Name, PartitionMention] = {}
    contradicted: set[Name] = set()
    for file in files_with_tables:
        for mention in _shown(file, start):
            known = catalog.resolve(mention.name)
            if known is not None and (not isinstance(known, Table) or known.names):
                continue
            before = guessed.setdefault(mention.name, mention)
            if _names(before) != _names(mention):  # a statement must name all partition columns
                contradicted.add(mention.name)
    guessed = {name: it for name, it in guessed.items() if name not in contradicted}
    tables = {name: _table(it, catalog.relations.get(name)) for name, it in guessed.items()}
    return replace(catalog, relations={**catalog.relations, **tables}), guessed


def _may_show_tables(file: Path) -> bool:
    try:
        text = read_bytes(file).lower()
    except CatalogError:
        return False  # reading it will report the error
    return any(word in text for word in _WORDS)


def _names(mention: PartitionMention) -> list[str]:
    return [name.lower() for name, _ in mention.columns]


def _table(mention: PartitionMention, known: object) -> Table:
    names = [name for name, _ in mention.columns]
    base = known if isinstance(known, Table) else Table(mention.name)
    kept = [it for it in base.columns if it.name.lower() not in _names(mention)]
    columns = (*kept, *(base.column(name) or Column(name) for name in names))
    fields = tuple(PartitionField(name) for name in names)
    return replace(
        base, columns=columns, partitioned_by=fields, complete=False, source=mention.where
    )


def _shown(file: Path, start: Warehouse) -> Iterator[PartitionMention]:
    """The partitions that a file's statements name."""
    for text, where in texts(decoded(read_bytes(file))[0], str(file)):
        yield from _of_text(text, where, start)


def _of_text(text: str, where: Where, start: Warehouse) -> Iterator[PartitionMention]:
    here = in_force(start, text)
    for statement in definition_statements(text, here.refer):
        if statement.tokens[0].text.lower() in ("use", "set"):
            here = definitions.apply(statement, text, here, where.source)
            continue
        cursor = Cursor(statement.tokens, text)
        while not cursor.done:
            if not any(cursor.take(*words) for words in _BEFORE):
                cursor.index += 1
                continue
            parts = cursor.name()
            while cursor.word in _BETWEEN:
                cursor.index += 1
            columns = tuple(_columns(cursor)) if parts and cursor.take("partition") else ()
            if columns:
                yield PartitionMention(here.qualify(parts), columns, where(statement.start))


def _columns(cursor: Cursor) -> Iterator[tuple[str, str]]:
    """The columns of a partition with their values, empty for a dynamic partition."""
    inner = cursor.group()
    for item in inner.items() if inner is not None else ():
        name = item.name_part()
        value = item.rest().lstrip("=").strip() if not item.done else ""
        if name:
            yield name, value
