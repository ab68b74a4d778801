"""Each statement of a text, with what it reads and whether that is known: nothing is passed over.

In: a text, its catalog and the candidates that were found in it. Out: one entry a statement, in
order, with the reason where there is neither a candidate nor a failure to show for a join.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlrewrite.frozen import dataclass
from sqlrewrite.sql import definitions
from sqlrewrite.sql.kinds import first_join
from sqlrewrite.sql.parse import Statement, lex, statements
from sqlrewrite.sql.references import relations_of
from sqlrewrite.text.limits import Limits
from sqlrewrite.text.source import Lines
from sqlrewrite.text.variables import in_force
from sqlrewrite.warehouse import Name, Table, Warehouse

_QUERIES = frozenset({"select", "with", "(", "from", "values", "table"})


@dataclass(frozen=True, slots=True)
class Surveyed:
    """One statement: its lines, what kind it is, whether it was understood, the relations that it
    reads with whether each is known, why nothing is to be done, if nothing is, and whether it
    joins."""

    line: int
    end_line: int
    kind: str
    understood: bool
    relations: tuple[tuple[str, bool], ...] = ()
    reason: str = ""
    joins: bool = False


def survey(
    text: str,
    catalog: Warehouse,
    limits: Limits,
    candidates: Sequence[int],
    lines: Lines | None = None,
) -> Iterator[Surveyed]:
    """The statements of a text; ``candidates`` are the lines at which candidates stand, ``lines``
    those of the file that the text is a part of, where it is no more."""
    lines, at = lines or Lines(text), sorted(candidates)
    catalog = in_force(catalog, text)
    for statement in statements(text, lex(text, catalog.refer), limits):
        if statement.tokens:
            first = lines.place(statement.start)[0]
            last = lines.place(statement.tokens[-1].end)[0]
            index = bisect_left(at, first)
            has = index < len(at) and at[index] <= last
            end = statement.tokens[-1].end + 1
            joins = first_join(text, statement.start, end) is not None
            found = _surveyed(statement, catalog, first, last, has_candidate=has)
            yield replace(found, joins=joins)
        catalog = definitions.apply(statement, text, catalog, "the text")


def _surveyed(
    statement: Statement, catalog: Warehouse, first: int, last: int, *, has_candidate: bool
) -> Surveyed:
    kind = _kind(statement)
    if statement.failure is not None:
        return Surveyed(first, last, kind, False, reason=statement.failure.message)
    names = relations_of(statement.tree, read=True) if statement.tree is not None else ()
    known = tuple((".".join(name), catalog.resolve(name) is not None) for name in names)
    reason = "" if has_candidate else _reason(names, catalog)
    return Surveyed(first, last, kind, True, known, reason)


def _kind(statement: Statement) -> str:
    words = [token.text.lower() for token in statement.tokens]
    if words[0] in _QUERIES:
        return "insert" if "insert" in words else "query"
    if words[0] in ("create", "replace"):
        made = next((word for word in words[1:6] if word in ("table", "view", "function")), "")
        return f"create {made}".strip()
    return words[0] if words[0] in ("insert", "merge", "cache", "update", "delete") else "other"


def _reason(names: Sequence[Name], catalog: Warehouse) -> str:
    """Why a statement without a candidate has none."""
    unknown = [".".join(name) for name in names if catalog.resolve(name) is None]
    if unknown:
        verb = "is" if len(unknown) == 1 else "are"
        return f"{', '.join(unknown)} {verb} not in the catalog"
    parted = [found for name in names if isinstance(found := catalog.resolve(name), Table)]
    parted = [table for table in parted if table.partitioned_by]
    if len(names) < 2:
        return "it joins nothing" if names else ""
    if not parted:
        return "no table in it is partitioned"
    shown = "; ".join(
        f"{table.name[-1]} is partitioned by "
        f"{', '.join(field.column for field in table.partitioned_by)}"
        for table in dict.fromkeys(parted)
    )
    return f"no join bounds a partition column: {shown}"
