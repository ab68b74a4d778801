"""Constants in the source of a MERGE that bound the partitions of its target.

A MERGE prunes its target only by constants in its ON. In: a plan and one of its pairs, in which the
ON equates a partition column of the target with a column of the source. Out: the pair with the
``bounds`` that constants in the text put on the source's column, and so on the target's in each row
that matches: ``WHERE day = '2024-03-01'``, ``'{{ ds }}' AS day``, VALUES.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlrewrite.copies import replace
from sqlrewrite.find.filter_pairs import is_constant
from sqlrewrite.find.join_edges import FLIPPED
from sqlrewrite.find.pairs import KeyBound, Pair
from sqlrewrite.plan.algebra import (
    Block,
    Call,
    ColumnRef,
    Condition,
    CteReference,
    Derived,
    Expression,
    Inline,
    Literal,
    Plan,
    Subquery,
)
from sqlrewrite.plan.columns import column_names, keeps_type
from sqlrewrite.plan.expressions import walk
from sqlrewrite.plan.lineage import same_column

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
    """The bounds on a relation's column at a ``place`` in a SELECT list of it; none unless the list
    is known and has all its columns."""
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
