"""Partition columns that the statements which write a table compute from another of its columns.

In: files of SQL and the catalog of their tables. Out: for each table the derivations that every
statement which writes it agrees on. They are proposed to a person and never assumed: another
program may write the table too. One statement that writes the column otherwise, or that cannot be
read, and nothing is proposed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sqlrewrite.catalog.sources import decoded, read_bytes, texts
from sqlrewrite.plan.expressions import canonical
from sqlrewrite.sql.ddl import definitions
from sqlrewrite.sql.parse.statements import lex, statements
from sqlrewrite.sql.statements.written_columns import TARGET, Write, writes_of
from sqlrewrite.text.blocks import renderings
from sqlrewrite.text.variables import in_force
from sqlrewrite.warehouse import CatalogError, Derivation, Name, Table, Warehouse, derivation

_COMPUTES = re.compile(
    r"\b(?:trunc|date_trunc|date_format|to_date|date|cast|year|quarter|month|day|dayofmonth|hour"
    r"|extract|date_part|substring|substr|left)\s*\(",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")


def computed_columns(
    files: Iterable[str], catalog: Warehouse
) -> dict[Name, tuple[Derivation, ...]]:
    """The derivations that the statements in files propose, by table; ``origin`` is the file and
    line of the first statement. A file that cannot be read is passed over."""
    tables = [table for table in catalog.tables if _undeclared(table)]
    words = {word for table in tables for word in _WORD.findall(table.name[-1])[-1:]}
    contents = [
        _Content(text, file, _model(file, catalog))
        for file in dict.fromkeys(files if words else ())
        if (text := _read(file))
    ]
    contents = [content for content in contents if not words.isdisjoint(content.targets)]
    computing = [content for content in contents if _COMPUTES.search(content.text)]
    proposing = {target for content in computing for target in content.targets & words}
    by_table: dict[Name, list[Write]] = {}
    for content in contents:
        if not proposing.isdisjoint(content.targets):
            for write in _writes(content, catalog):
                by_table.setdefault(write.table.name, []).append(write)
    agreed = ((name, tuple(_agreed(writes))) for name, writes in by_table.items())
    return {name: derivations for name, derivations in agreed if derivations}


def _undeclared(table: Table) -> bool:
    """Whether a table has a partition column that is not declared as derived."""
    declared = {derived.column.lower() for derived in table.derived}
    return bool(table.names) and not declared.issuperset(table.identities)


@dataclass(frozen=True)
class _Content:
    """A file's text; ``model`` is the table that dbt fills by the file's query, if any."""

    text: str
    file: str
    model: Table | None = None

    @cached_property
    def targets(self) -> frozenset[str]:
        """The last words of the names that its statements may write."""
        names = (_WORD.findall(match[1].lower())[-1:] for match in TARGET.finditer(self.text))
        own = () if self.model is None else _WORD.findall(self.model.name[-1])[-1:]
        return frozenset((*own, *(word for words in names for word in words)))


def _model(file: str, catalog: Warehouse) -> Table | None:
    """The table of the dbt model with a file's name; None if the file is no model."""
    path = Path(file)
    name = catalog.references.get(("ref", path.stem)) if path.suffix == ".sql" else None
    relation = None if name is None else catalog.resolve(name)
    return relation if isinstance(relation, Table) else None


def _read(file: str) -> str:
    try:
        return decoded(read_bytes(Path(file)))[0]
    except CatalogError:
        return ""


def _agreed(writes: Sequence[Write]) -> Iterator[Derivation]:
    """The derivations on which all statements that write a table agree."""
    first = next((write for write in writes if write.formulas), None)
    if first is None:
        return
    table = first.table
    declared = {derived.column.lower() for derived in table.derived}
    for column, of in first.formulas.items():
        if column in declared:
            continue
        pair = {column, of.source}
        relevant = [
            write for write in writes if write.changes is None or not pair.isdisjoint(write.changes)
        ]
        if all(
            (other := write.formulas.get(column)) is not None
            and canonical(other.expression) == canonical(of.expression)
            for write in relevant
        ):
            name = next(one.name for one in table.columns if one.name.lower() == column)
            yield derivation(name, of.text, first.where, table.names)


def _writes(content: _Content, catalog: Warehouse) -> Iterator[Write]:
    """The statements of a file that write a table. A model of dbt has a query for each way in which
    its blocks may render."""
    model = content.model
    ways = renderings(content.text) if model is not None and "{%" in content.text else ()
    for text, where in (
        each
        for way in ([way.text for way in ways] or [content.text])
        for each in texts(way, content.file)
    ):
        here = in_force(catalog, text, runs_once=False)
        for statement in statements(text, lex(text, here.refer)):
            if not statement.tokens:
                continue
            word = statement.tokens[0].text.lower()
            if word in ("use", "set"):
                here = definitions.apply(statement, text, here, where.source)
                continue
            place = where(statement.start).rpartition(":")[0]
            yield from writes_of(statement, text, here, place, model)
