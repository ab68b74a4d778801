"""DPP004 and DPP007: partitioned tables that a query reads without giving the engine a bound, and
conditions on what a function or cast makes of a partition column.

Conditions are looked for under any AND, OR and NOT of those that reach a scan: from any other
place no condition rules out a partition, however it is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlrewrite.decision.statement_decision import PairDecision
from sqlrewrite.find.reducers import all_restrictions, conditions_reaching, own_conditions
from sqlrewrite.find.restrictions import Conjunct
from sqlrewrite.frozen import dataclass
from sqlrewrite.judge.benefit.already_pruned import binds_to_one_value
from sqlrewrite.linting.findings import Finding
from sqlrewrite.linting.statement import CheckedStatement
from sqlrewrite.plan.algebra import (
    Block,
    Call,
    Cast,
    ColumnRef,
    Expression,
    Join,
    Plan,
    Scan,
    Subquery,
)
from sqlrewrite.plan.columns import expression_type
from sqlrewrite.plan.expressions import columns, relations
from sqlrewrite.plan.memo import remembered
from sqlrewrite.plan.relations import conditions_of, leaves
from sqlrewrite.results import Outcome, Verdict
from sqlrewrite.rulebook import Engine
from sqlrewrite.settings.options import ALONE
from sqlrewrite.text.edits import Span

_PRESERVED, _UNFILTERED = "DPP101", "DPP120"
"""Rejections that hold for the engine's own pruning, too: all rows of the fact are preserved; or
the other side is not filtered, and no other condition is there that the engine might carry over."""


def unbounded_scan(checked: CheckedStatement) -> Iterator[Finding]:
    """DPP007: a scan of a partitioned table with no condition at all on a partition column."""
    for scan in scans(checked.plan):
        if _changed_whole(checked.plan, scan):
            continue
        names = partitions(scan, checked.engine)
        if scan.span is None or not names or not read_whole(checked, scan, names):
            continue
        shown = ", ".join(sorted(names))
        yield checked.finding(
            "DPP007",
            checked.original(scan.span),
            scan.alias or scan.parts[-1],
            f"{'.'.join(scan.parts)} is read whole: no condition bounds its partition "
            f"column{'s' * (len(names) > 1)} {shown}{_because(checked, scan)}",
            f"add a condition on {shown}, or suppress this where all of it is wanted",
        )


def read_whole(checked: CheckedStatement, scan: Scan, names: frozenset[str]) -> bool:
    """Whether nothing in a query bounds a scan's partition columns, which have those names."""
    plan, tied = checked.plan, checked.decisions_by_scan.get(scan, ())
    words = [token.text.upper() for token in checked.decided.reading.statement.tokens[:6]]
    if words[0] == "CREATE" and "VIEW" in words:
        return False  # how much is read depends on the queries of the view
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


_COMPARISONS = frozenset(
    {"=", "<=>", "<>", "<", "<=", ">", ">=", "between", "in", "like", "ilike", "rlike", "isnull"}
)


@dataclass(frozen=True, slots=True)
class _Wrapped:
    """A partition column inside an expression: its name and place, and ``by`` which it is wrapped.
    ``idle``: an OR around it keeps the column itself from pruning, too. ``tied``: it is compared
    with another relation's values."""

    name: str
    place: Span
    by: str
    idle: bool
    tied: bool


def wrapped_partition_column(checked: CheckedStatement) -> Iterator[Finding]:
    """DPP004: each comparison of an expression on a partition column of a scan."""
    for scan in scans(checked.plan):
        names = partitions(scan, checked.engine)
        if scan.span is None or not names:
            continue
        found = list(_all(checked.plan, scan, names))
        if any(it.tied for it in found):  # another relation's values add nothing to one value
            found = [it for it in found if not (it.tied and _bound(checked.plan, scan, it))]
        idle_too = any(it.idle for it in found) and read_whole(checked, scan, names)
        yield from (_finding(checked, scan, it) for it in found if idle_too or not it.idle)


def _all(plan: Plan, scan: Scan, names: frozenset[str]) -> Iterator[_Wrapped]:
    for condition in conditions_reaching(plan, scan.relation):
        expression = condition.expression
        found = [
            (*inside, in_or)
            for operand, in_or in _operands(expression, scan.relation)
            for inside in _inside(plan, operand, scan.relation, names)
        ]
        prunes = not found or bounds(expression, scan.relation, names)
        for name, place, by, in_or in found:
            tied = condition.relations != {scan.relation}
            yield _Wrapped(name, place, by, in_or and not prunes, tied)


def _bound(plan: Plan, scan: Scan, it: _Wrapped) -> bool:
    """Whether another condition binds a column to one value."""
    own = own_conditions(plan, scan.relation, ALONE)
    return any(
        isinstance(item, Conjunct) and binds_to_one_value(item.expression, it.name) for item in own
    )


def _finding(checked: CheckedStatement, scan: Scan, it: _Wrapped) -> Finding:
    assert scan.span is not None
    about = f"{scan.alias}.{it.name}"
    line, column = checked.lines.place(checked.original(it.place).start)
    beside = f", in an OR with a branch that does not bound {it.name}" if it.idle else ""
    return checked.finding(
        "DPP004",
        checked.original(scan.span),
        about,
        f"{about} is inside {it.by} (line {line}, column {column}){beside}: partitions are found "
        f"by the values of {it.name} alone, not by what is computed of them",
        f"bound {it.name} itself, in each branch of the OR"
        if it.idle
        else f"compare {it.name} itself, if need be with a range of its values",
    )


def _operands(
    expression: Expression, relation: int, negated: bool = False, in_or: bool = False
) -> Iterator[tuple[Expression, bool]]:
    """The sides of the comparisons in a condition, or its negation, that might rule out partitions
    of a relation, and whether an OR stands above each. ``<>`` and NOT IN of a query rule
    out none by another relation's values, IS NOT NULL none at all."""
    match expression:
        case Call(name="not", args=(inner,)):
            yield from _operands(inner, relation, not negated, in_or)
        case Call(name="and" | "or" as name, args=args):
            for arg in args:
                below = in_or or (name == "or") is not negated
                yield from _operands(arg, relation, negated, below)
        case Call(name="isnull") | Subquery() if negated:
            return
        case Call(name=name, args=args) if name in _COMPARISONS:
            if not (negated or name == "<>") or relations(expression) == {relation}:
                yield from ((it, in_or) for arg in args for it in _values(arg))
        case Subquery(kind="in", operand=operand) if operand is not None:
            yield from ((it, in_or) for it in _values(operand))
        case _:
            return


def _values(operand: Expression) -> tuple[Expression, ...]:
    """The values that an operand compares, which are several for ``(a, b)``."""
    return operand.args if isinstance(operand, Call) and operand.name == "tuple" else (operand,)


def _inside(
    plan: Plan, operand: Expression, relation: int, names: frozenset[str]
) -> list[tuple[str, Span, str]]:
    """The partition columns inside an operand that is more than a column: the name, its first
    place, and what it is wrapped by."""
    if not isinstance(operand, Call | Cast):
        return []
    by = "a cast" if isinstance(operand, Cast) else _shown(operand.name)
    if isinstance(operand, Cast) and isinstance(operand.operand, ColumnRef):
        if expression_type(plan, operand.operand) == operand.type:
            return []  # a cast to its own type changes nothing
        by = f"a cast to {operand.type}"
    found: dict[str, Span] = {}
    for ref in columns(operand):
        if ref.relation == relation and ref.name in names and ref.span is not None:
            first = found.get(ref.name, ref.span)
            found[ref.name] = min(first, ref.span, key=lambda span: span.start)
    return [(name, span, by) for name, span in found.items()]


def _shown(name: str) -> str:
    return f"{name}()" if name.isidentifier() else f"an expression with {name}"
