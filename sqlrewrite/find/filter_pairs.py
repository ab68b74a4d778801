"""Pairs for filters on a column that a partition column is computed from: ``ts >= '2024-03-01'``.

In: a plan. Out: a ``Pair`` for each comparison with a constant that filters a scan, and each
partition column that is computed from the compared column. There is no join: the scan is its own
dimension, and the author's condition bounds its partitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from sqlrewrite.find.derived_columns import (
    DAY,
    SAME,
    SOURCE,
    THROUGH,
    DerivedColumn,
    columns_with_ends,
    derived_columns,
    stands_for,
)
from sqlrewrite.find.implied_ranges import (
    day_range,
    end_comparisons,
    is_part,
    narrowed,
    prefix_bounds,
)
from sqlrewrite.find.join_edges import FILTER, FLIPPED, JoinEdge, Side
from sqlrewrite.find.pairs import MOST_PATHS, Pair, derived_target
from sqlrewrite.find.reducers import own_conditions
from sqlrewrite.find.restrictions import Conjunct
from sqlrewrite.plan.algebra import Call, Cast, ColumnRef, Expression, Plan, Scan, Subquery, Unknown
from sqlrewrite.plan.columns import type_of
from sqlrewrite.plan.expressions import columns, walk
from sqlrewrite.plan.facts.types import DATE, MOMENTS, STRING, TIMESTAMP
from sqlrewrite.plan.joins import null_extended
from sqlrewrite.plan.lineage import LineagePath, trace
from sqlrewrite.settings.options import ALONE


def find_filter_pairs(plan: Plan) -> tuple[Pair, ...]:
    """All pairs of a plan for filters, scan by scan."""
    pairs: list[Pair] = []
    for number, scan in plan.relations.items():
        if not isinstance(scan, Scan) or not scan.table.laid_out:
            continue
        block = plan.blocks[plan.owner[number]]
        if scan.sampled or scan.streaming or (scan.span is None and not block.in_view):
            continue
        if block.role == "merge" or (block.role == "change" and scan.table.provider != "iceberg"):
            continue  # nothing is written into their conditions
        derived = (*derived_columns(plan, scan), *columns_with_ends(plan, scan))
        if not derived:
            continue
        own = [
            own_condition
            for own_condition in own_conditions(plan, number, ALONE)
            if isinstance(own_condition, Conjunct)
        ]
        for item in own:
            if item.condition.clause is None:
                continue
            beside = [
                other.expression for other in own if other is not item and _in_same_and(other, item)
            ]
            for column in derived:
                path = _source_path(plan, scan, item, column)
                if path is not None:
                    pairs += _pairs(plan, path, item, column, beside)
    return tuple(pairs)


def _in_same_and(one: Conjunct, other: Conjunct) -> bool:
    """Whether two conditions stand in the same AND."""
    first, second = one.condition, other.condition
    return first.clause == second.clause and not (first.in_or or second.in_or)


def _source_path(
    plan: Plan, scan: Scan, item: Conjunct, derived: DerivedColumn
) -> LineagePath | None:
    """The path from the relation that the author's condition names down to the source column of the
    scan; None if something on it is computed or a barrier."""
    if item.condition.relations == {scan.relation}:
        return LineagePath((scan,), derived.source)
    for ref in columns(item.condition.expression):
        for path in islice(trace(plan, ref), MOST_PATHS):
            plain = not path.barriers and not path.computed
            if path.end is scan and path.column == derived.source and plain:
                return path
    return None


def _pairs(
    plan: Plan,
    path: LineagePath,
    item: Conjunct,
    derived: DerivedColumn,
    beside: Sequence[Expression],
) -> Iterator[Pair]:
    scan = path.end
    target, name, shown = derived_target(plan, path, derived)
    block = plan.blocks[plan.owner[target.relation]]
    if item.condition.relations != {target.relation} and null_extended(
        block.source, target.relation
    ):
        return  # the predicate is right only beside the condition, which is in another block
    kind = type_of(plan, ColumnRef(scan.relation, derived.source, None))
    comparisons = [
        comparison
        for comparison in _comparisons(item.expression)
        if _is_of(derived.source, comparison)
    ]
    steps = {stands_for(side, derived, kind) for _, side, _, _, _ in comparisons} - {None, THROUGH}
    apart = kind == TIMESTAMP and steps == {SAME}  # two time zones may disagree on the value
    timed = kind != DATE
    days = day_range(item.expression, derived.source, kind=kind) if kind in MOMENTS else None
    if derived.ends:  # the engine itself uses filters on the column or its day
        if days is None or steps or not any(map(is_part, walk(item.expression))):
            return
        days = narrowed(days, beside, derived.source)
    if days is not None and (apart or not steps):
        column = next(iter(columns(item.expression)))
        day = Cast(column, "date") if timed else column
        comparisons = comparisons if steps else []
        comparisons += [(op, day, 0, end, None) for op, end in end_comparisons(days)]
    begins = list(prefix_bounds(item.expression, derived)) if kind == STRING and not steps else []
    comparisons = [(op, side, 0, text, None) for op, side, text in begins] or comparisons
    for operator, side, fact_operand, constant, key_operand in comparisons:
        refs = columns(side)
        edge = JoinEdge(block, item.condition, operator, FILTER, None, True)
        yield Pair(
            edge=edge,
            operator=operator,
            side=FILTER,
            path=path,
            fact=refs[0],
            fact_side=Side(side, fact_operand),
            target=target,
            target_column=name,
            dimension=scan,
            key=refs[0],
            key_side=Side(constant, key_operand),
            derived=shown,
        )


def restricts(plan: Plan, condition: Expression, pair: Pair) -> bool:
    """Whether a condition bounds the source column of a filter's pair, or its day, in the same
    direction."""
    derived, operators = pair.derived, (pair.operator[0], "=", "in")
    kind = type_of(plan, pair.stored)
    return derived is not None and any(
        (operator in operators or operator[0] in operators)
        and _is_of(derived.source, compared)
        and stands_for(side, derived, kind) in (SOURCE, DAY)
        for compared in _comparisons(condition)
        for operator, side in [compared[:2]]
    )


def _is_of(column: str, comparison: ColumnComparison) -> bool:
    """Whether a comparison is between a column and an expression with one value for all rows."""
    _, side, _, constant, _ = comparison
    refs = columns(side)
    return bool(refs) and all(ref.name == column for ref in refs) and is_constant(constant)


ColumnComparison = tuple[str, Expression, int, Expression, int | None]
"""Operator, the column's side, its operand number, the other side, its operand number."""


def _comparisons(condition: Expression) -> Iterator[ColumnComparison]:
    """The comparisons in a condition, read from each side."""
    match condition:
        case Call(name="=" | "<" | "<=" | ">" | ">=" as name, args=(one, other)):
            yield name, one, 0, other, 1
            yield FLIPPED[name], other, 1, one, 0
        case Call(name="between", args=(one, low, high)):
            yield ">=", one, 0, low, 1
            yield "<=", one, 0, high, 2
        case Call(name="in", args=(one, *_)):
            yield "in", one, 0, condition, 1
        case _:
            return


def is_constant(expression: Expression) -> bool:
    """Whether an expression has one value for all rows; for an IN, each item of its list."""
    if isinstance(expression, Call) and expression.name == "in":
        return all(map(is_constant, expression.args[1:]))
    return not columns(expression) and not any(
        isinstance(node, Unknown | ColumnRef)
        or (isinstance(node, Subquery) and (node.kind != "scalar" or node.outer))
        for node in walk(expression)
    )
