"""Guesses the tables from the texts that use them, for a project that has no DDL.

In: files of SQL. Out: the tables that they create, as of any DDL, and those that they write into:
``INSERT INTO t PARTITION (dt = '…')``, ``ALTER TABLE t ADD PARTITION (…)`` and ``LOAD DATA`` show
which columns partition a table, and their order, but no type and no other column. So no predicate
follows whose soundness needs the type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from sqlrewrite.catalog import ddl
from sqlrewrite.catalog.files import Where, decoded, read_bytes, texts
from sqlrewrite.frozen import dataclass
from sqlrewrite.sql.ddl import definitions
from sqlrewrite.sql.ddl.cursor import Cursor
from sqlrewrite.sql.ddl.definition_statements import definition_statements
from sqlrewrite.text.variables import in_force
from sqlrewrite.warehouse import CatalogError, Column, Name, PartitionField, Table, Warehouse

# What stands before the name of a table whose partition a statement names.
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
class Shown:
    """A partition as a statement names it: the table, its columns in order, each with the value
    that is written, and where."""

    name: Name
    columns: tuple[tuple[str, str], ...]
    where: str


def infer(files: Iterable[str], start: Warehouse) -> tuple[Warehouse, dict[Name, Shown]]:
    """The catalog that files show, over ``start``, and by name the tables in it that are guessed.

    A file that cannot be read, or that says nothing of tables, is passed over."""
    telling = [Path(file) for file in files if _tells(Path(file))]
    catalog = ddl.read_files(telling, start)
    guessed: dict[Name, Shown] = {}
    contradicted: set[Name] = set()
    for file in telling:
        for shown in _shown(file, start):
            known = catalog.resolve(shown.name)
            if known is not None and (not isinstance(known, Table) or known.names):
                continue
            before = guessed.setdefault(shown.name, shown)
            if _names(before) != _names(shown):  # a partition is named by all columns
                contradicted.add(shown.name)
    guessed = {name: it for name, it in guessed.items() if name not in contradicted}
    tables = {name: _table(it, catalog.relations.get(name)) for name, it in guessed.items()}
    return replace(catalog, relations={**catalog.relations, **tables}), guessed


def _tells(file: Path) -> bool:
    try:
        text = read_bytes(file).lower()
    except CatalogError:
        return False  # the one who reads it says so
    return any(word in text for word in _WORDS)


def _names(shown: Shown) -> list[str]:
    return [name.lower() for name, _ in shown.columns]


def _table(shown: Shown, known: object) -> Table:
    names = [name for name, _ in shown.columns]
    base = known if isinstance(known, Table) else Table(shown.name)
    kept = [it for it in base.columns if it.name.lower() not in _names(shown)]
    columns = (*kept, *(base.column(name) or Column(name) for name in names))
    fields = tuple(PartitionField(name) for name in names)
    return replace(base, columns=columns, partitioned_by=fields, complete=False, source=shown.where)


def _shown(file: Path, start: Warehouse) -> Iterator[Shown]:
    """The partitions that a file's statements name."""
    for text, where in texts(decoded(read_bytes(file))[0], str(file)):
        yield from _of_text(text, where, start)


def _of_text(text: str, where: Where, start: Warehouse) -> Iterator[Shown]:
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
                yield Shown(here.qualify(parts), columns, where(statement.start))


def _columns(cursor: Cursor) -> Iterator[tuple[str, str]]:
    """The columns of a partition with their values, empty where it is told by the rows."""
    inner = cursor.group()
    for item in inner.items() if inner is not None else ():
        name = item.name_part()
        value = item.rest().lstrip("=").strip() if not item.done else ""
        if name:
            yield name, value
