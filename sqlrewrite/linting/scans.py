"""DPP007: partitioned tables that a query reads without giving the engine a bound.

What is not understood might bound: then there is no finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlrewrite.decision.statement_decision import PairDecision
from sqlrewrite.find.reducers import all_restrictions
from sqlrewrite.find.restrictions import Conjunct
from sqlrewrite.linting.each_partition import each_partition
from sqlrewrite.linting.findings import Finding, Severity
from sqlrewrite.linting.not_known import (
    is_view,
    may_be_bounded,
    reads_keys_alone,
    reads_nothing,
)
from sqlrewrite.linting.statement import CheckedStatement
from sqlrewrite.plan.algebra import (
    Block,
    Call,
    ColumnRef,
    Expression,
    Join,
    Plan,
    Scan,
)
from sqlrewrite.plan.expressions import columns
from sqlrewrite.plan.memo import remembered
from sqlrewrite.plan.relations import conditions_of, leaves
from sqlrewrite.results import Outcome, Verdict
from sqlrewrite.rulebook import Engine
from sqlrewrite.settings.options import ALONE

_PRESERVED, _UNFILTERED = "DPP101", "DPP120"
"""Rejections that hold for the engine's own pruning, too: all rows of the fact are preserved; or
the other side is not filtered, and no other condition is there that the engine might carry over."""


def unbounded_scan(checked: CheckedStatement) -> Iterator[Finding]:
    """DPP007: a scan of a partitioned table with no condition at all on a partition column."""
    for scan in scans(checked.plan):
        names = partitions(scan, checked.engine)
        if _changed_whole(checked.plan, scan) or scan.streaming:
            continue
        if reads_keys_alone(checked.plan, scan, names) or may_be_bounded(checked.plan, scan, names):
            continue
        if reads_nothing(checked.plan, scan) or _in_two(scan):
            continue
        if scan.span is None or not names or not read_whole(checked, scan, names):
            continue
        shown, meant = ", ".join(sorted(names)), each_partition(checked, scan, names)
        yield checked.finding(
            "DPP007",
            checked.original(scan.span),
            scan.alias or scan.parts[-1],
            f"{'.'.join(scan.parts)} is read whole: no condition bounds its partition "
            f"column{'s' * (len(names) > 1)} {shown}{meant or _because(checked, scan)}",
            f"add a condition on {shown} where not all of it is wanted"
            if meant
            else f"add a condition on {shown}, or suppress this where all of it is wanted",
            severity=Severity.NOTE if meant else None,
        )


def _in_two(scan: Scan) -> bool:
    """Whether a table is partitioned by BOOLEAN columns alone: it has two parts, and to read both
    is nothing that somebody forgot."""
    found = (scan.table.column(field.column) for field in scan.table.partitioned_by)
    return all(column is not None and column.type == "boolean" for column in found)


def read_whole(checked: CheckedStatement, scan: Scan, names: frozenset[str]) -> bool:
    """Whether nothing in a query bounds a scan's partition columns, which have those names."""
    plan, tied = checked.plan, checked.decisions_by_scan.get(scan, ())
    words = [token.text.upper() for token in checked.decided.reading.statement.tokens[:6]]
    if words[0] == "CREATE" and "VIEW" in words:
        return False  # how much is read depends on the queries of the view
    if is_view(checked.document.original):
        return False
    if _bounded(plan, scan, names):
        return False
    plain = all(_plain(it.proposal.pair.edge.block, scan) for it in tied)
    return all(_rules_nothing_out(it, plain) for it in tied) and not _compared(
        plan, scan, names, tied
    )


def _changed_whole(plan: Plan, scan: Scan) -> bool:
    """Whether a scan is the target of a MERGE, which is DPP010's matter, or of a DELETE or UPDATE
    of all rows."""
    block = plan.blocks[plan.owner[scan.relation]]
    if block.role == "merge" and isinstance(block.source, Join):
        return block.source.right is scan
    return block.role == "change" and not block.where


def scans(plan: Plan) -> Iterator[Scan]:
    """The tables that the author's text reads, without those that only an unknown part reads."""
    for block in plan.blocks:
        if not block.in_view:
            yield from (leaf for leaf in leaves(block.source) if isinstance(leaf, Scan))


def partitions(scan: Scan, engine: Engine) -> frozenset[str]:
    """The columns that partition a table by their own values."""
    return frozenset(
        field.column.lower()
        for field in scan.table.partitioned_by
        if field.transform in engine.transforms
    )


def _bounded(plan: Plan, scan: Scan, names: frozenset[str]) -> bool:
    """Whether a condition on the scan alone bounds a partition column."""
    return any(
        not isinstance(item, Conjunct) or bounds(item.expression, scan.relation, names)
        for item in all_restrictions(plan, scan.relation, ALONE)
    )


def bounds(
    expression: Expression, relation: int, names: frozenset[str], negated: bool = False
) -> bool:
    """Whether a condition, or its negation, restricts a relation's columns of those names so that
    engines make a partition filter of it: of an AND one operand must, of an OR each (Spark's
    ``extractPredicatesWithinOutputSet``)."""
    match expression:
        case Call(name="not", args=(inner,)):
            return bounds(inner, relation, names, not negated)
        case Call(name="and" | "or" as name, args=args):
            every = all if (name == "or") is not negated else any
            return every(bounds(arg, relation, names, negated) for arg in args)
        case Call(name="isnull") if negated:
            return False
        case _:
            refs = columns(expression)
            alone = all(ref.relation == relation for ref in refs)
            return alone and any(ref.name in names for ref in refs)


def _compared(plan: Plan, scan: Scan, names: frozenset[str], tied: Sequence[PairDecision]) -> bool:
    """Whether a condition that made no candidate compares a partition column with a relation."""
    paired = {id(it.proposal.pair.edge.condition) for it in tied}
    ties = _tying(plan)
    return any(it not in paired for name in names for it in ties.get((scan.relation, name), ()))


@remembered
def _tying(plan: Plan) -> dict[tuple[int, str], list[int]]:
    """The identities of the conditions that compare each column with another relation."""
    found: dict[tuple[int, str], list[int]] = {}
    own = (block for block in plan.blocks if not block.in_view)
    for condition in (it for block in own for it in conditions_of(block)):
        for ref in columns(condition.expression) if len(condition.relations) > 1 else ():
            found.setdefault((ref.relation, ref.name), []).append(id(condition))
    return found


def _plain(block: Block, scan: Scan) -> bool:
    """Whether a block filters no relation but the scan, and else only joins tables by equality."""
    return all(isinstance(leaf, Scan) for leaf in leaves(block.source)) and all(
        _equates(it.expression) or it.relations == {scan.relation} for it in conditions_of(block)
    )


def _equates(expression: Expression) -> bool:
    """Whether a condition is an equality of two columns of two relations."""
    match expression:
        case Call(name="=", args=(ColumnRef() as one, ColumnRef() as other)):
            return one.relation != other.relation
        case _:
            return False


def _rules_nothing_out(judged: PairDecision, plain: bool) -> bool:
    """Whether with a join the engine still has to read all partitions of the scan."""
    failing = {rule.code for rule in judged.rules if rule.outcome is Outcome.FAIL}
    if judged.verdict is not Verdict.REJECTED:
        return False
    return _PRESERVED in failing or (plain and _UNFILTERED in failing)


def _because(checked: CheckedStatement, scan: Scan) -> str:
    """Why the first join that might have bounded the scan does not."""
    for judged in checked.decisions_by_scan.get(scan, ()):
        for rule in judged.rules:
            if rule.code in (_PRESERVED, _UNFILTERED) and rule.outcome is Outcome.FAIL:
                return f"; the join with {judged.proposal.dimension_name} does not: {rule.message}"
    return ""
