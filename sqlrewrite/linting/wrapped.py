"""DPP004: conditions on what a function or cast makes of a partition column.

They are looked for under any AND, OR and NOT of the conditions that reach a scan: from any other
place no condition rules out a partition, however it is written.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlrewrite.decision.statement_decision import StatementDecision
from sqlrewrite.find.reducers import conditions_reaching, own_conditions
from sqlrewrite.find.restrictions import Conjunct
from sqlrewrite.frozen import dataclass
from sqlrewrite.judge.benefit.already_pruned import binds_to_one_value
from sqlrewrite.linting.findings import Finding
from sqlrewrite.linting.scans import bounds, partitions, read_whole, scans
from sqlrewrite.linting.statement import Subject
from sqlrewrite.plan.algebra import Call, Cast, ColumnRef, Expression, Plan, Scan, Subquery
from sqlrewrite.plan.columns import expression_type
from sqlrewrite.plan.expressions import columns, relations
from sqlrewrite.settings.options import ALONE
from sqlrewrite.text.edits import Span

_COMPARISONS = frozenset(
    {"=", "<=>", "<>", "<", "<=", ">", ">=", "between", "in", "like", "ilike", "rlike", "isnull"}
)


@dataclass(frozen=True, slots=True)
class _Wrapped:
    """A partition column, where it stands and what it is in; ``idle`` where an OR around that would
    not rule out partitions by the column itself either, ``tied`` to another relation's values."""

    name: str
    place: Span
    by: str
    idle: bool
    tied: bool


def wrapped(subject: Subject, decided: StatementDecision) -> Iterator[Finding]:
    """DPP004: each comparison of what is made of a partition column of a scan."""
    for scan in scans(decided.plan):
        names = partitions(scan, subject.engine)
        if scan.span is None or not names:
            continue
        found = list(_all(decided.plan, scan, names))
        if any(it.tied for it in found):  # to one value another relation's add nothing
            found = [it for it in found if not (it.tied and _bound(decided.plan, scan, it))]
        idle_too = any(it.idle for it in found) and read_whole(subject, decided, scan, names)
        yield from (_finding(subject, scan, it) for it in found if idle_too or not it.idle)


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
    """Whether a column has one value by another condition."""
    own = own_conditions(plan, scan.relation, ALONE)
    return any(
        isinstance(item, Conjunct) and binds_to_one_value(item.expression, it.name) for item in own
    )


def _finding(subject: Subject, scan: Scan, it: _Wrapped) -> Finding:
    assert scan.span is not None
    about = f"{scan.alias}.{it.name}"
    line, column = subject.lines.place(subject.original(it.place).start)
    beside = f", in an OR with a branch that does not bound {it.name}" if it.idle else ""
    return subject.finding(
        "DPP004",
        subject.original(scan.span),
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
    """The partition columns inside an operand that is not just one: the name, where it stands
    first, and what it is in."""
    if not isinstance(operand, Call | Cast):
        return []
    by = "a cast" if isinstance(operand, Cast) else _shown(operand.name)
    if isinstance(operand, Cast) and isinstance(operand.operand, ColumnRef):
        if expression_type(plan, operand.operand) == operand.type:
            return []  # a cast to its own type is none
        by = f"a cast to {operand.type}"
    found: dict[str, Span] = {}
    for ref in columns(operand):
        if ref.relation == relation and ref.name in names and ref.span is not None:
            first = found.get(ref.name, ref.span)
            found[ref.name] = min(first, ref.span, key=lambda span: span.start)
    return [(name, span, by) for name, span in found.items()]


def _shown(name: str) -> str:
    return f"{name}()" if name.isidentifier() else f"an expression with {name}"
