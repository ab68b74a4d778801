"""DPP001, DPP005, DPP006, DPP011 to DPP013: joins that could prune or be cheaper, or whose type
misleads.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from sqlrewrite.find.join_edges import ScanJoin
from sqlrewrite.find.reducers import all_restrictions, own_conditions
from sqlrewrite.find.restrictions import plain_conditions
from sqlrewrite.judge.benefit.already_pruned import is_authors_in
from sqlrewrite.judge.benefit.cost import read_again
from sqlrewrite.judge.benefit.keys import (
    has_few_keys,
    has_one_key,
    is_filtered,
    is_one_row_table,
)
from sqlrewrite.judge.benefit.missed_by_engine import BUILT
from sqlrewrite.judge.form import chosen_form
from sqlrewrite.judge.partition_wise.storage import Storage, joins_with_storage, remedies
from sqlrewrite.judge.proposal import Proposal, relation_name
from sqlrewrite.linting.checked_statement import CheckedStatement
from sqlrewrite.linting.findings import Finding, Severity
from sqlrewrite.linting.predicate_checks import ASK
from sqlrewrite.linting.scan_checks import bounds, partitions
from sqlrewrite.plan.algebra import Block, Join, JoinType, Node, Scan, Subquery
from sqlrewrite.plan.expressions import columns, walk
from sqlrewrite.plan.null_rejection import rejects_null
from sqlrewrite.plan.relations import joins, leaves, numbers
from sqlrewrite.results import Candidate, EngineAlone, Outcome, PrunesAlone, Verdict
from sqlrewrite.settings.forms import HINTED, SINGLE
from sqlrewrite.settings.options import ALONE
from sqlrewrite.settings.spark_conf import since
from sqlrewrite.text.edits import Span


def missing_predicate(checked: CheckedStatement) -> Iterator[Finding]:
    """DPP001: a predicate that a rewrite would insert, and that was not there before."""
    predicates = checked.stripped.removed_predicates if checked.replaced else {}
    replaced = {predicates[span].value for span in checked.replaced}
    for candidate, proposal in zip(checked.candidates, checked.decided.proposals, strict=True):
        inserts = candidate.verdict is Verdict.REWRITTEN and bool(proposal.predicates)
        if not inserts and proposal.unasked is None:
            continue
        about = {predicate.bounded for predicate in proposal.predicates} or {proposal.unasked or ""}
        sides = (candidate.fact, candidate.dimension)
        if replaced & about or sides in checked.already_written:
            continue  # DPP002 reports it, or it is in the text
        if proposal.pair.bounds:
            continue  # DPP010 reports it
        if _one_value(checked, candidate, proposal):
            continue  # DPP011 reports it, with this predicate as its advice
        fact, why = _fact(candidate), checked.refusals.get(sides)
        added = " ".join((candidate.predicate or "").split())
        does = f"; `dpp-rewrite --write` does not: {why}" if why else _WRITES
        needless = _needless(candidate.engine) or _doubtful(proposal)
        yield checked.finding(
            "DPP001",
            _span(checked, proposal),
            fact,
            _lacks(fact, candidate, proposal) + needless,
            f"add `{added}`{does}" if inserts else ASK,
            checked.fix if inserts and not why else None,
            Severity.NOTE if needless else None,
        )


def _needless(engine: EngineAlone | None) -> str:
    """The part of the message that says that the engine prunes, or may prune, by itself."""
    if engine is None or engine.pruning not in (PrunesAlone.PRUNES, PrunesAlone.MAY_PRUNE):
        return ""
    may = engine.pruning is PrunesAlone.MAY_PRUNE and engine.name == "Spark"
    where = " if the join is a broadcast join" if may else ""
    return f"; {engine.name} prunes by that without a predicate{where}"


def _doubtful(proposal: Proposal) -> str:
    """The part of the message that says that the predicate reads all partitions of the fact's own
    table again, whose size is not known."""
    fact = proposal.pair.scan.table
    if fact.size_in_bytes is not None or has_one_key(proposal) or has_few_keys(proposal):
        return ""
    for scan in read_again(proposal):
        if scan.table.name == fact.name and not _restricted(proposal, scan):
            return (
                "; it would read the same table again, which pays if few partitions have the keys"
            )
    return ""


def _restricted(proposal: Proposal, scan: Scan) -> bool:
    """Whether a condition on a scan alone names one of its partition columns."""
    own = plain_conditions(own_conditions(proposal.plan, scan.relation, ALONE))
    return any(
        ref.name in scan.table.partitioning for condition in own for ref in columns(condition)
    )


def _lacks(fact: str, candidate: Candidate, proposal: Proposal) -> str:
    """What a fact needs to be pruned; with an author's own IN, only a hint."""
    few = has_few_keys(proposal)
    if is_authors_in(proposal.pair) and chosen_form(proposal) not in (SINGLE, HINTED) and not few:
        return f"the IN on `{fact}` has no hint: it prunes only if its subquery is broadcast"
    by = f"the join with `{candidate.dimension.table}`"
    if proposal.pair.first:
        other = proposal.pair.dimension is not proposal.pair.target
        by = _NO_OTHER if other else f"the rank by `{candidate.fact.column}`"
    if proposal.pair.filtered:
        by = f"the filter on `{candidate.dimension.column}`"
    return f"`{fact}` has no pruning predicate, though {by} bounds it"


def key_types_differ(checked: CheckedStatement) -> Iterator[Finding]:
    """DPP005: a join that would prune if its two keys were of one type."""
    for candidate, proposal in zip(checked.candidates, checked.decided.proposals, strict=True):
        outcomes = {rule.code: rule for rule in proposal.rules}
        reason = candidate.reason
        if reason is None or (reason.code, reason.outcome) != ("DPP112", Outcome.FAIL):
            continue
        if proposal.pair.filtered or proposal.pair.bounds:
            continue  # compared with a constant, not a column
        if outcomes["DPP120"].outcome is not Outcome.PASS:
            continue  # no loss: the other side is not filtered
        fact = _fact(candidate)
        yield checked.finding(
            "DPP005",
            _span(checked, proposal),
            fact,
            f"the join with `{candidate.dimension.table}` cannot prune `{fact}`: {reason.message}",
            "give both columns the same type, or cast the dimension's column",
        )


_NO_OTHER = "the anti-join for the first or last row"
_WRITES = ", as `dpp-rewrite --write` does"
_PRESERVED = "DPP101"


def latest_partition(checked: CheckedStatement) -> Iterator[Finding]:
    """DPP011: a partition column that a join or IN compares with one value (of an aggregate or of a
    table with one row) or with the first few (of a LIMIT), or by which a window ranks all rows."""
    for candidate, proposal in zip(checked.candidates, checked.decided.proposals, strict=True):
        scan = proposal.pair.scan
        if scan.span is None or not _one_value(checked, candidate, proposal):
            continue
        few = has_few_keys(proposal)
        refused = checked.refusals.get((candidate.fact, candidate.dimension))
        column = f"{scan.alias}.{proposal.pair.path.column}"
        by = (
            "IN"
            if proposal.pair.edge.query is not None
            else f"the join with `{proposal.dimension_name}`"
        )
        # Flink makes a join of a subquery behind = as well, and prunes by few of those.
        sign = proposal.pair.operator
        first = proposal.pair.first
        what = "a single value" if first < 2 else f"its {first} first values"
        if first:
            own = proposal.pair.dimension is proposal.pair.target
            by = "a window over all rows" if own else f"{_NO_OTHER} in `{proposal.dimension_name}`"
        help_ = f"compare it with a scalar subquery: `{column} {sign} (SELECT …)`"
        if few:
            what = what if is_one_row_table(proposal) else "the first rows of a LIMIT"
            help_ = f"compare it with an array of them: `array_contains((SELECT …), {column})`"
        if proposal.engine.takes_keys:
            help_ = f"write the value itself: {proposal.other_form}"
        elif proposal.predicates:
            written = " AND ".join(
                " ".join(predicate.text.split()) for predicate in proposal.predicates
            )
            does = f"; `dpp-rewrite --write` does not: {refused}" if refused else _WRITES
            help_ = f"add `{written}`{does}"
        within = _bounded_by_others(checked, scan)
        yield checked.finding(
            "DPP011",
            scan.span,
            column,
            f"`{column}` is compared with {what} by {by}, which prunes nothing: every partition "
            + ("that the other conditions leave is read" if within else "is read"),
            help_ + _on_iceberg(checked, proposal),
            checked.fix if proposal.predicates and not refused else None,
            Severity.NOTE if within else None,
        )


def _bounded_by_others(checked: CheckedStatement, scan: Scan) -> bool:
    """Whether a condition on the fact alone, and without a subquery, bounds a partition column."""
    names = partitions(scan, checked.engine)
    conditions = plain_conditions(all_restrictions(checked.plan, scan.relation, ALONE))
    return any(
        bounds(condition, scan.relation, names)
        and not any(isinstance(part, Subquery) for part in walk(condition))
        for condition in conditions
    )


def _on_iceberg(checked: CheckedStatement, proposal: Proposal) -> str:
    """The advice for an Iceberg table if Spark may be older than 4.3, as the end of a sentence;
    empty for other tables."""
    scan, column = proposal.pair.scan, proposal.pair.path.column
    conf = checked.decided.reading.catalog.settings
    if scan.table.provider != "iceberg" or proposal.engine.planner != "spark":
        return ""
    if proposal.pair.operator != "=" or not has_one_key(proposal) or since(conf, "4.3"):
        return ""
    table = ".".join(scan.parts)
    other = ""
    if chosen_form(proposal) != HINTED:
        other = (
            "; before Spark 4.3 Iceberg's tables are not pruned by `=`, but by an IN with a hint "
            "and a filter: give the version as `spark-version`, and it is written"
        )
    return (
        f"{other}; `SELECT max(partition.{column}) FROM {table}.partitions` finds it without "
        "opening a data file"
    )


def _one_value(checked: CheckedStatement, candidate: Candidate, proposal: Proposal) -> bool:
    """Whether a fact is compared with one value, or the first few, of a query that reads all
    partitions."""
    single = proposal.pair.first or has_few_keys(proposal) or has_one_key(proposal)
    if proposal.pair.scan.span is None or proposal.verdict is Verdict.ALREADY_PRUNED or not single:
        return False
    if (candidate.fact, candidate.dimension) in checked.already_written:
        return False
    # A join that preserves all rows of the fact needs all partitions.
    return not any(
        rule.code == _PRESERVED and rule.outcome is Outcome.FAIL for rule in proposal.rules
    )


def build_side(checked: CheckedStatement) -> Iterator[Finding]:
    """DPP012: a join that would prune the fact if its two sides were swapped."""
    for proposal in checked.decided.proposals:
        scan = proposal.pair.scan
        built = BUILT.get(proposal.engine.planner)
        if built is None or scan.span is None or proposal.verdict is Verdict.ALREADY_PRUNED:
            continue
        inner = proposal.pair.edge.kind == "inner"
        why = built(proposal) if inner and is_filtered(proposal) else None
        if why is None:
            continue
        yield checked.finding(
            "DPP012",
            scan.span,
            f"{scan.alias}.{proposal.pair.path.column}",
            f"{why}: {proposal.engine.title}'s dynamic filter prunes only the other side",
            f"swap the sides: `FROM {scan.parts[-1]} JOIN {proposal.dimension_name}`",
        )


def outer_join_undone(checked: CheckedStatement) -> Iterator[Finding]:
    """DPP006: an outer join over a partitioned table that a condition above turns into another."""
    for block in checked.plan.blocks:
        if block.in_view:
            continue
        scans = (leaf for leaf in leaves(block.source) if isinstance(leaf, Scan))
        partitioned = {scan.relation for scan in scans if scan.table.partitioned_by}
        for join in joins(block.source):
            if join.type is not join.declared and not partitioned.isdisjoint(numbers(join)):
                yield from _undone(checked, block, join)


def _undone(checked: CheckedStatement, block: Block, join: Join) -> Iterator[Finding]:
    """The finding for an outer join that a condition undoes, placed at the side whose NULLs the
    condition rejects."""
    sides = {
        JoinType.LEFT: (join.right,),
        JoinType.RIGHT: (join.left,),
        JoinType.FULL: (join.left, join.right),
    }[join.declared]
    for side in sides:
        where, relations = _rejecting(block, side), leaves(side)
        first = next(relations, None)  # far down, in a chain of joins
        spans = (getattr(leaf, "span", None) for leaf in chain((first,), relations))
        span = next(filter(None, spans), None)
        if where is None or first is None or span is None:
            continue
        was, now = join.declared.value.upper(), join.type.value.upper()
        a = "an" if now.startswith("I") else "a"
        name = relation_name(first)
        line, column = checked.lines.place(where.start)
        yield checked.finding(
            "DPP006",
            span,
            name,
            f"the {was} JOIN is in effect {a} {now} JOIN: a condition in WHERE (line {line}, "
            f"column {column}) removes the rows that have no match in `{name}`",
            f"write {now} JOIN, or move the condition into ON",
        )
        return


def _rejecting(block: Block, side: Node) -> Span | None:
    """The place of a condition in WHERE that cannot hold for the rows that an outer join adds."""
    inside = numbers(side)
    for condition in block.where:
        if rejects_null(condition.expression, inside):
            for ref in columns(condition.expression, inside=False):
                if ref.relation in inside and ref.span is not None:
                    return ref.span
    return None


def _fact(candidate: Candidate) -> str:
    """A fact's column as the query names it."""
    fact = candidate.fact
    return f"{fact.alias or fact.table}.{fact.column}"


def _span(checked: CheckedStatement, proposal: Proposal) -> Span:
    """The fact's table reference in the author's text."""
    target = proposal.pair.target
    if target.span is not None:
        return target.span
    start = checked.decided.reading.statement.start
    return Span(start, start)


def exchanged_alike(checked: CheckedStatement) -> Iterator[Finding]:
    """DPP013: what Spark lacks to join two tables partition by partition."""
    conf = checked.decided.reading.catalog.settings
    for join, storage in joins_with_storage(checked.plan, checked.engine, conf):
        span = join.other.span
        if storage is None or span is None or not (storage.settings or storage.ddl):
            continue
        yield checked.finding(
            "DPP013",
            span,
            f"{join.one.alias} {join.other.alias}",
            message(join, storage),
            "; ".join(remedies(storage)),
        )


def message(join: ScanJoin, storage: Storage) -> str:
    """The message: the join shuffles both tables, and need not."""
    names = f"`{join.one.parts[-1]}` and `{join.other.parts[-1]}`"
    return f"{names} are both {storage.layout}, but the join shuffles their rows all the same"
