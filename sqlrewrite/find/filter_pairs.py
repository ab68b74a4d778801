"""What constants bound: pairs for filters on a column that a partition column is computed from, and
bounds for the target of a MERGE.

``find_filter_pairs`` gives a ``Pair`` for each comparison with a constant that filters a scan
(``ts >= '2024-03-01'``), and each partition column that is computed from the compared column. There
is no join: the scan is its own dimension, and the author's condition bounds its partitions.

A MERGE prunes its target only by constants in its ON. If that equates a partition column of the
target with a column of the source, ``with_constants`` gives the pair the ``bounds`` that constants
in the text put on the source's column, and so on the target's in each row that matches: ``WHERE day
= '2024-03-01'``, ``'{{ ds }}' AS day``, VALUES.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from sqlrewrite.copies import replace
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
from sqlrewrite.find.pairs import MOST_PATHS, KeyBound, Pair, derived_target
from sqlrewrite.find.reducers import own_conditions
from sqlrewrite.find.restrictions import Conjunct
from sqlrewrite.plan.algebra import (
    Block,
    Call,
    Cast,
    ColumnRef,
    Condition,
    CteReference,
    Derived,
    Expression,
    Inline,
    Literal,
    Plan,
    Scan,
    Subquery,
    Unknown,
)
from sqlrewrite.plan.columns import column_names, keeps_type, type_of
from sqlrewrite.plan.expressions import columns, walk
from sqlrewrite.plan.facts.types import DATE, MOMENTS, STRING, TIMESTAMP
from sqlrewrite.plan.joins import null_extended
from sqlrewrite.plan.lineage import LineagePath, same_column, trace
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


_MOST_CONSTANTS = 100
"""The largest number of constants that are written for one column."""

_MOST_STEPS = 1000
_COMPARISONS = frozenset(FLIPPED) - {"<=>"}


def with_constants(plan: Plan, pair: Pair) -> Pair:
    """The pair with the ``bounds`` that constants of a MERGE's source put on its key, if any do."""
    join = pair.edge.join
    if not pair.constants_only or join is None or pair.operator != "=":
        return pair
    plain = pair.fact_plain and pair.key_plain and pair.derived is None
    if not plain or pair.target is not pair.scan or pair.edge.condition.clause is None:
        return pair
    own = _bounds_in(join.conditions, pair.key)
    bounds = (*own, *_of_column(plan, pair.key, [_MOST_STEPS]))
    return replace(pair, bounds=bounds) if bounds else pair


def _of_column(plan: Plan, ref: ColumnRef, steps: list[int]) -> tuple[KeyBound, ...]:
    """The bounds that constants of the text put on a relation's column, NULL aside; ``steps`` holds
    the number of columns that may still be looked at."""
    steps[0] -= 1
    relation = plan.relations[ref.relation]
    names = column_names(relation)
    if steps[0] < 0 or names is None or names.count(ref.name) != 1:
        return ()
    place = names.index(ref.name)
    match relation:
        case Inline(rows=rows):
            values = tuple([row[place] for row in rows])
            return _one_of(values, listed=True) if all(map(_is_constant, values)) else ()
        case Derived(query=query) | CteReference(query=query) if query.top:
            branches = [
                _of_output(plan, plan.blocks[number], ref, place, steps) for number in query.top
            ]
            return _of_any(branches)
        case _:
            return ()


def _of_output(
    plan: Plan, block: Block, ref: ColumnRef, place: int, steps: list[int]
) -> tuple[KeyBound, ...]:
    """The bounds on the column of a relation that stands at a ``place`` of a SELECT list in it;
    none unless all columns of the list are known."""
    count = len(column_names(plan.relations[ref.relation]) or ())
    if not block.complete or block.unknown_syntax or len(block.outputs) != count:
        return ()
    output = block.outputs[place].expression
    if not isinstance(output, ColumnRef):
        return _one_of((output,)) if _is_constant(output) else ()
    if plan.owner.get(output.relation) != block.number or not keeps_type(plan, ref, output):
        return ()
    return (*_bounds_in(block.where, output), *_of_column(plan, output, steps))


def _of_any(branches: Sequence[tuple[KeyBound, ...]]) -> tuple[KeyBound, ...]:
    """The bounds on a column if one of several branches holds, each with its own: a UNION or an
    OR."""
    if len(branches) == 1:
        return branches[0]
    values: list[Expression] = []
    listed = False
    for bounds in branches:
        lists = [bound for bound in bounds if bound.operator == "in"]
        if not lists:
            return ()
        values += lists[0].constants
        listed = listed or lists[0].listed
    return _one_of(tuple(values), listed=listed)


def _one_of(values: tuple[Expression, ...], *, listed: bool = False) -> tuple[KeyBound, ...]:
    """The bound on a column that has one of some values; empty if they are too many."""
    some = tuple([value for value in values if not _is_null(value)])  # a NULL matches no row
    return (KeyBound("in", some, listed),) if 0 < len(some) <= _MOST_CONSTANTS else ()


def _bounds_in(conditions: Sequence[Condition], ref: ColumnRef) -> tuple[KeyBound, ...]:
    """The bounds that conditions put on a column by constants; those in an OR branch are passed
    over."""
    return tuple(
        bound
        for condition in conditions
        if not condition.in_or
        for bound in _bounds(condition.expression, ref)
    )


def _bounds(condition: Expression, ref: ColumnRef) -> Iterator[KeyBound]:
    """The bounds that a condition puts on a column by constants."""
    match condition:
        case Call(name="or", args=args):
            yield from _of_any([tuple(_bounds(arg, ref)) for arg in args])
        case Call(name="and", args=args):
            for arg in args:
                yield from _bounds(arg, ref)
        case Call(name="in", args=(one, *values)) if same_column(one, ref):
            yield from _one_of(tuple(values)) if all(map(_is_constant, values)) else ()
        case Call(name="between", args=(one, low, high)) if same_column(one, ref):
            yield from (
                KeyBound(operator, (end,))
                for operator, end in ((">=", low), ("<=", high))
                if _is_constant(end)
            )
        case Call(name=name, args=(one, other)) if name in _COMPARISONS:
            if same_column(other, ref):
                name, one, other = FLIPPED[name], other, one
            if same_column(one, ref) and _is_constant(other):
                yield KeyBound("in" if name == "=" else name, (other,))
        case _:
            return


def _is_null(value: Expression) -> bool:
    return isinstance(value, Literal) and value.kind == "null"


def _is_constant(expression: Expression) -> bool:
    """Whether an expression has one value that may stand in the ON of a MERGE: no subquery."""
    return is_constant(expression) and not any(
        isinstance(node, Subquery) for node in walk(expression)
    )
