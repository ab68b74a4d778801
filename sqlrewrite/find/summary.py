"""Summarizes every statement of a text: what it reads, and whether that is in the catalog.

In: the statements of a text, and the places of its candidates. Out: one entry a statement, with the
reason where a statement has neither a candidate nor a failure.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from sqlrewrite.find.reading import Reading
from sqlrewrite.results import Verdict
from sqlrewrite.settings.options import ALONE
from sqlrewrite.sql.lex.computed_names import names_unread
from sqlrewrite.sql.parse.statement_kinds import first_join
from sqlrewrite.sql.parse.statements import Statement
from sqlrewrite.warehouse import Table, Warehouse, has_template

if TYPE_CHECKING:
    from sqlrewrite.plan.algebra import Expression

NO_BOUND = "no join bounds a partition column"
NO_CONSTANTS = "no constants for the ON of a MERGE can be taken from its source"
NOT_PARTITIONED = "no table in it is partitioned"
HELD = f"{Verdict.ALREADY_PRUNED.value}: the query restricts a partition column of each table"
_QUERIES = frozenset({"select", "with", "(", "from", "values", "table"})


class StatementSummary(Struct, frozen=True):
    """One statement: its lines, its kind, whether it was understood, the relations that it reads,
    each with whether it is in the catalog, and whether it joins. If it has no candidate: the
    ``reason``, the same reason without names (``alike``), by which statements are counted, and what
    a person can do (``remedy``)."""

    line: int
    end_line: int
    kind: str
    understood: bool
    relations: tuple[tuple[str, bool], ...] = ()
    reason: str = ""
    joins: bool = False
    alike: str = ""
    remedy: str = ""


def summarize(
    readings: Iterable[Reading],
    text: str,
    place: Callable[[int], tuple[int, int]],
    candidates: Iterable[tuple[int, int]],
) -> Iterator[StatementSummary]:
    """Summaries of statements that were read with their names. ``place`` gives the line and column
    of an offset, ``candidates`` are the places of candidates."""
    at = sorted(candidates)
    for reading in readings:
        if reading.statement.tokens:
            start, end = reading.statement.start, reading.statement.tokens[-1].end + 1
            place_of_start, place_of_end = place(start), place(end)
            first, last = place_of_start[0], place_of_end[0]
            index = bisect_left(at, place_of_start)
            has_candidate = index < len(at) and at[index] <= place_of_end
            joins = first_join(text, start, end) is not None
            kind, failure = _kind(reading.statement), reading.statement.failure
            if failure is not None:
                yield StatementSummary(first, last, kind, False, (), failure.message, joins)
                continue
            resolve = reading.catalog.resolve
            relations = tuple((".".join(name), resolve(name) is not None) for name in reading.names)
            reason, alike, remedy = ("", "", "") if has_candidate else _reason(reading, joins)
            yield StatementSummary(first, last, kind, True, relations, reason, joins, alike, remedy)


def _kind(statement: Statement) -> str:
    words = [token.text.lower() for token in statement.tokens]
    if words[0] in _QUERIES:
        return "insert" if "insert" in words else "query"
    if words[0] in ("create", "replace"):
        noun = next((word for word in words[1:6] if word in ("table", "view", "function")), "")
        return f"create {noun}".strip()
    return words[0] if words[0] in ("insert", "merge", "cache", "update", "delete") else "other"


def remedy_for_unknown(name: str, catalog: Warehouse) -> str:
    """How to make a table known: by its DDL, or by the schema that the catalog has it in."""
    if has_template(name):
        return f"give the variable in `{name}` a value, in [tool.dpp-rewrite.variables]"
    others = catalog.relations.named(name.lower())
    schemas = sorted({other[-2] for other in others if len(other) > 1})
    if schemas:
        return f"say which schema is meant, with --schema: {' or '.join(schemas)}"
    return f"declare `{name}` in the catalog, with what it is partitioned by"


def _reason(reading: Reading, joins: bool) -> tuple[str, str, str]:
    """Why a statement has no candidate; the same without names; and a remedy."""
    names, catalog = reading.names, reading.catalog
    named = [".".join(name) for name in names if catalog.resolve(name) is None]
    unknown = [f"`{name}`" for name in named]
    if "identifier" in reading.words and names_unread(reading.statement.tokens):
        unknown.append("the table that IDENTIFIER(…) names")
    if unknown:
        verb = "is" if len(unknown) == 1 else "are"
        remedy = f"{remedy_for_unknown(named[0], catalog)} (-c)" if named else ""
        reason = f"{', '.join(unknown)} {verb} not in the catalog"
        return reason, "tables that are not in the catalog", remedy
    parted = [relation for name in names if isinstance(relation := catalog.resolve(name), Table)]
    parted = [table for table in parted if table.partitioned_by]
    if len(names) < 2 and not joins:
        reason = "it joins nothing" if names else ""
        return reason, reason, ""
    if not parted:
        return NOT_PARTITIONED, NOT_PARTITIONED, ""
    tied = [pair for pair in reading.pairs if pair.constants_only]
    if tied:
        reason = (
            "a MERGE prunes its target by constants in the ON alone, and none for "
            f"`{tied[0].target_column}` can be taken from its source"
        )
        return reason, NO_CONSTANTS, "`--predicate values` looks up the source's keys"
    restricted = _restricted_columns(reading)
    by_itself = "; ".join(
        f"the query restricts `{column}` of `{name}` itself" for name, column in restricted.items()
    )
    joined = _joined_columns(reading)
    shown = "; ".join(
        f"`{table.name[-1]}` is partitioned by "
        f"{', '.join(f'`{field.column}`' for field in table.partitioned_by)}"
        f"{_joined_on(joined.get(table.name[-1], ()))}"
        for table in dict.fromkeys(parted)
        if table.name[-1] not in restricted
    )
    if not shown:
        return f"{Verdict.ALREADY_PRUNED.value}: {by_itself}", HELD, ""
    return f"{NO_BOUND}: {shown}{'; ' * bool(restricted)}{by_itself}", NO_BOUND, ""


def _joined_on(columns: Sequence[str]) -> str:
    return f", the join is on {', '.join(f'`{column}`' for column in columns)}" if columns else ""


def _joined_columns(reading: Reading) -> dict[str, tuple[str, ...]]:
    """The columns of each partitioned table that conditions compare with another relation's."""
    from sqlrewrite.plan.algebra import Scan  # only where a plan was made
    from sqlrewrite.plan.expressions import columns
    from sqlrewrite.plan.relations import joins

    if reading.bound is None:
        return {}
    plan, by_table = reading.bound.plan, dict[str, list[str]]()
    for block in plan.blocks:
        conditions = (*block.where, *(on for join in joins(block.source) for on in join.conditions))
        for condition in conditions:
            refs = columns(condition.expression)
            if len({ref.relation for ref in refs}) < 2:
                continue
            for ref in refs:
                scan = plan.relations.get(ref.relation)
                if isinstance(scan, Scan) and scan.table.partitioned_by:
                    by_table.setdefault(scan.table.name[-1], []).append(ref.name)
    return {name: tuple(dict.fromkeys(columns)) for name, columns in by_table.items()}


def _restricted_columns(reading: Reading) -> dict[str, str]:
    """A partition column of each partitioned table whose scans all have a condition on partition
    columns alone: Spark reads no other partitions."""
    from sqlrewrite.find.reducers import conditions_on  # only where a plan was made
    from sqlrewrite.find.restrictions import Conjunct
    from sqlrewrite.plan.algebra import Scan

    if reading.bound is None:
        return {}
    plan, restricted, free = reading.bound.plan, dict[str, str](), set[str]()
    for scan in plan.relations.values():
        if not isinstance(scan, Scan) or not scan.table.partitioned_by:
            continue
        fields = {field.column.lower(): field.column for field in scan.table.partitioned_by}
        conjuncts = (
            condition
            for condition in conditions_on(plan, scan.relation, ALONE)
            if isinstance(condition, Conjunct)
        )
        column = next(
            (name for item in conjuncts if (name := _narrowed(item.expression, fields))), None
        )
        if column is None:
            free.add(scan.table.name[-1])
        else:
            restricted[scan.table.name[-1]] = column
    return {name: column for name, column in restricted.items() if name not in free}


def _narrowed(condition: Expression, fields: Mapping[str, str]) -> str | None:
    """The partition column that a condition narrows, if it names no other columns."""
    from sqlrewrite.plan.algebra import Call, Subquery, Unknown
    from sqlrewrite.plan.expressions import columns, walk

    names = {column.name for column in columns(condition)}
    if not names or not names <= fields.keys():
        return None
    nodes = list(walk(condition))
    if any(isinstance(node, Subquery | Unknown) for node in nodes):
        return None
    if {node.name for node in nodes if isinstance(node, Call)} == {"not", "isnull"}:
        return None
    return fields[min(names)]
