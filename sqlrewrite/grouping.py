"""``--strategy partition-wise``: joins of tables with the same partitioning, by groups of
partitions.

In: a text, the catalog and the options. Out: a ``Rewrite`` whose ``notes`` say for each such join
what the engine would need to join partition by partition by itself, and what was written or why
not. What an earlier run wrote is removed first, so that a second run changes nothing.
"""

from __future__ import annotations

from functools import partial

from sqlrewrite.document import Document, read
from sqlrewrite.find.join_edges import ScanJoin
from sqlrewrite.find.reading import Reading, guarded, in_dialect
from sqlrewrite.judge.partition_wise.aggregates import Unsplit
from sqlrewrite.judge.partition_wise.postgresql import partition_joins
from sqlrewrite.judge.partition_wise.split import Split, partition_columns, split
from sqlrewrite.judge.partition_wise.storage import group_count, joins_with_storage, remedies
from sqlrewrite.plan.algebra import Plan, Scan
from sqlrewrite.results import Problem, Rewrite
from sqlrewrite.settings.options import Options
from sqlrewrite.settings.spark_conf import engine_under
from sqlrewrite.sql.lex.tokens import comparable
from sqlrewrite.sql.managed.groups import GROUPS, GroupInsertions, find_groups
from sqlrewrite.sql.parse.statements import Failure, Statement, lex, statements
from sqlrewrite.sql.places import NoPlaceError, Places
from sqlrewrite.text.edits import Edit, apply, cut
from sqlrewrite.text.limits import SPARK
from sqlrewrite.text.markers import group_insertions
from sqlrewrite.warehouse import Warehouse
from sqlrewrite.write.groups import Cut, by_bounds, by_hash, edits

Note = tuple[int, str]
"""An offset in the text, and the message about it."""


def by_groups(sql: str, catalog: Warehouse, options: Options) -> Rewrite:
    """The rewrite of joins by groups of partitions. Raises nothing for bad SQL."""
    groups = find_groups(sql, lex(sql).tokens)
    if groups.why:
        return Rewrite(sql, sql, 1, skipped=(Problem(GROUPS, groups.why, 1, 1),))
    document = read(cut(sql, groups.spans), catalog, options.limits, whole=True)
    text, insertions, notes = document.stripped.original, list[Edit](), list[Note]()
    grouped: list[int] = []
    for reading in document.statements:
        if reading.failure is None and reading.bound is not None:
            decide = partial(_statement, document, reading, options)
            outcome = guarded(decide, reading.statement.start, options.limits)
            if isinstance(outcome, Failure):
                notes.append((outcome.offset, outcome.message))
                continue
            insertions += outcome[0]
            notes += outcome[1]
            grouped += [reading.statement.index] if outcome[0] else []
    after = apply(text, insertions)
    if _stands(sql, groups, after):
        after = sql
    failures = [
        statement.failure for statement in document.statements if statement.failure is not None
    ]
    rewrite = Rewrite(
        original=sql,
        sql=after,
        statements=len(document.statements),
        errors=tuple(document.problem(failure) for failure in failures if not failure.parsed),
        skipped=tuple(document.problem(failure) for failure in failures if failure.parsed),
        notes=tuple(Problem(GROUPS, message, *document.place(at)) for at, message in notes),
        grouped=tuple(grouped),
    )
    return in_dialect(rewrite, options.limits)


def missing(sql: str, catalog: Warehouse, options: Options) -> dict[int, dict[str, str]]:
    """The settings that an engine needs to join partition by partition, by the number of the
    statement."""
    settings: dict[int, dict[str, str]] = {}
    text = cut(sql, find_groups(sql, lex(sql).tokens).spans)
    for reading in read(text, catalog, options.limits).statements:
        if reading.bound is None:
            continue
        plan, conf = reading.bound.plan, reading.catalog.settings
        for _, storage in joins_with_storage(plan, options.engine, conf):
            if storage is not None and storage.settings:
                settings.setdefault(reading.statement.index, {}).update(storage.settings)
    return settings


def _statement(
    document: Document, reading: Reading, options: Options
) -> tuple[list[Edit], list[Note]]:
    """The insertions into one statement, and the notes on its joins."""
    assert reading.bound is not None
    plan, conf, notes = reading.bound.plan, reading.catalog.settings, list[Note]()
    found_meetings = list(joins_with_storage(plan, options.engine, conf))
    for join, storage in found_meetings:
        at = reading.statement.start if join.other.span is None else join.other.span.start
        names = f"`{join.one.parts[-1]}` and `{join.other.parts[-1]}`"
        if storage is not None:
            need = "; ".join(remedies(storage))
            does = (
                f"could join them partition by partition with {need}"
                if need
                else "joins them partition by partition"
            )
            notes.append((at, f"{names} are both {storage.layout}: Spark {does}"))
        elif join.one.table.parts is not None and join.other.table.parts is not None:
            notes.append((at, f"{names}: {_of_postgresql(plan, join)}"))
    parted = [
        relation
        for relation in plan.relations.values()
        if isinstance(relation, Scan) and partition_columns(relation)
    ]
    if not found_meetings and len(parted) < 2:
        return [], notes
    try:
        if options.limits.dialect != SPARK:
            raise Unsplit(
                f"groups are written for Spark alone, not in {options.limits.dialect}'s SQL"
            )
        if document.stripped.predicates:
            raise Unsplit("the text has predicates of an earlier run: remove them by `--strip`")
        found_split = split(plan, options)
        count = group_count(found_split.joins, engine_under(options.engine, conf), options.groups)
        tokens = reading.statement.tokens
        places = Places(document.stripped.text, tokens, reading.bound)
        insertions = edits(found_split, count, _cut(found_split, count), places)
        wrong = _wrong(reading.statement, document.stripped.original, insertions)
        if wrong:
            raise Unsplit(wrong)
    except (Unsplit, NoPlaceError) as whole:
        return [], [*notes, (reading.statement.start, f"not written by groups: {whole}")]
    names = " and ".join(f"`{scan.parts[-1]}`" for scan, _ in found_split.scans)
    return insertions, [*notes, (reading.statement.start, f"written by {count} groups of {names}")]


def _stands(sql: str, groups: GroupInsertions, after: str) -> bool:
    """Whether a text already has the same insertions, white space aside."""
    same = len(groups.spans) == len(group_insertions(after))
    return same and comparable(sql) == comparable(after)


def _of_postgresql(plan: Plan, join: ScanJoin) -> str:
    joins_of_parts = partition_joins(plan, join)
    if joins_of_parts.why:
        return f"PostgreSQL does not join them partition by partition: {joins_of_parts.why}"
    return (
        f"PostgreSQL joins them partition by partition, in {joins_of_parts.joins} joins, with "
        "SET enable_partitionwise_join = on"
    )


def _cut(found_split: Split, count: int) -> Cut:
    parts = [scan.table.parts for scan, _ in found_split.scans]
    if all(part is None for part in parts):
        return by_hash(count, cast=found_split.cast)
    bounds = [part for part in parts if part is not None]
    if len(bounds) < len(parts) or found_split.cast:
        raise Unsplit("the bounds of its tables' partitions have different types")
    return by_bounds(bounds, count)


def _wrong(statement: Statement, text: str, insertions: list[Edit]) -> str:
    """Why the insertions are wrong, or ``""``: the result must parse, and without them be the
    author's text."""
    after = apply(text, insertions)
    if cut(after, find_groups(after, lex(after).tokens).spans) != text:
        return "the insertions could not be removed again, please report this"
    shift = sum(len(edit.text) for edit in insertions)
    piece = after[statement.start : statement.end + 1 + shift]
    if any(part.failure is not None or part.tree is None for part in statements(piece)):
        return "the rewritten text would not parse, please report this"
    return ""
