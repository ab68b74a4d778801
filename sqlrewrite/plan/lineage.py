"""Follows a column down to the scans that it comes from, with the barriers in between.

As Catalyst's ``findExpressionAndTrackLineageDown``, but a barrier on the way is part of the answer,
so that a rule can name it (docs/soundness.md, "Operators between the join and the scan").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import assert_never

from msgspec import Struct

from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import column_names
from sqlrewrite.plan.expressions import columns
from sqlrewrite.plan.memo import count_steps, remembered

_AGGREGATIONS = {
    "global": "a global aggregate",
    "grouping sets": "grouping sets",
    "distinct": "a DISTINCT inside a SELECT",
    "unknown": "a function that may be an aggregate, or GROUP BY ALL over unknown columns",
}


class LineagePath(Struct, frozen=True, eq=False):
    """A path down from a relation's column to a column of a relation below it.

    ``relations``: those on the path, the top one first.
    ``barriers``: why no predicate may be moved down this path.
    ``computed``: the column is only part of an expression.
    """

    relations: tuple[ra.Relation, ...]
    column: str
    barriers: tuple[str, ...] = ()
    computed: bool = False

    @property
    def end(self) -> ra.Relation:
        """The relation reached."""
        return self.relations[-1]


def trace(plan: ra.Plan, ref: ra.ColumnRef) -> Iterator[LineagePath]:
    """All paths down from a column through derived tables and both sides of set operations, with
    every prefix of a path; the first ends at the column itself."""
    relation = plan.relations[ref.relation]
    if isinstance(relation, ra.Relation):
        yield from _from(plan, LineagePath((relation,), ref.name, _sampled(relation)))


def trace_query(
    plan: ra.Plan, query: ra.Query, position: int, relation: ra.Relation | ra.Generate
) -> Iterator[LineagePath]:
    """The paths of ``trace`` for a column of a query's result that lead through ``relation`` in its
    FROM."""
    for step in _through(plan, query.node, position):
        if step.end is relation:
            yield from _from(plan, _further(LineagePath((), ""), step))


def ends_along(
    plan: ra.Plan, ref: ra.ColumnRef, way: tuple[ra.Relation, ...]
) -> frozenset[tuple[str, bool]]:
    """The columns at the end of the path ``way`` down from a column, each with whether it is only
    part of an expression. ``trace`` gives the same, but follows all other paths too."""
    if plan.relations[ref.relation] is not way[0]:
        return frozenset()
    ends = frozenset({(ref.name, False)})
    for above, below in pairwise(way):
        ends = frozenset(
            (step.column, computed or step.computed)
            for column, computed in ends
            for step in steps(plan, above, column)
            if step.end is below
        )
    return ends


@remembered
def steps(plan: ra.Plan, relation: ra.Relation, column: str) -> tuple[LineagePath, ...]:
    """The columns directly below a column of a derived table or CTE reference."""
    if not isinstance(relation, ra.Derived | ra.CteReference):
        return ()
    names = column_names(relation)
    if names is None or names.count(column) != 1:
        return ()
    return tuple(_through(plan, relation.query.node, names.index(column)))


def same_column(one: ra.Expression, other: ra.Expression) -> bool:
    """Whether two expressions are references to the same column."""
    return (
        isinstance(one, ra.ColumnRef)
        and isinstance(other, ra.ColumnRef)
        and one.relation == other.relation
        and one.name == other.name
    )


def _from(plan: ra.Plan, path: LineagePath) -> Iterator[LineagePath]:
    waiting = [path]
    while waiting:
        count_steps()
        path = waiting.pop()
        yield path
        end = path.relations[-1]
        if not isinstance(end, ra.Scan):
            below = [_further(path, step) for step in steps(plan, end, path.column)]
            waiting += reversed(below)


def _further(path: LineagePath, step: LineagePath) -> LineagePath:
    return LineagePath(
        path.relations + step.relations,
        step.column,
        path.barriers + step.barriers + _sampled(step.end),
        path.computed or step.computed,
    )


def _sampled(relation: ra.Relation) -> tuple[str, ...]:
    sampled = not isinstance(relation, ra.Opaque) and relation.sampled
    return ("TABLESAMPLE",) if sampled else ()


def _through(plan: ra.Plan, node: ra.Node, position: int) -> Iterator[LineagePath]:
    """The paths of one step from a column of a query, by position, to the relations of its
    blocks."""
    stack: list[tuple[ra.Node, tuple[str, ...]]] = [(node, ())]
    while stack:
        top, above = stack.pop()
        match top:
            case ra.SetOperation(left=left, right=right):
                stack += [(right, above), (left, above)]
            case ra.Limit(child=child):
                stack.append((child, (*above, "LIMIT or OFFSET")))
            case ra.Aggregate(child=child, kind="distinct"):
                stack.append((child, above))
            case ra.Project(outputs=outputs, complete=True) if position < len(outputs):
                expression = outputs[position].expression
                computed = not isinstance(expression, ra.ColumnRef)
                for ref in columns(expression):
                    below = plan.relations[ref.relation]
                    if plan.owner[ref.relation] == top.block and isinstance(below, ra.Relation):
                        barriers = (*above, *_barriers(top.child, ref))
                        yield LineagePath((below,), ref.name, barriers, computed)
            case _:
                pass  # no path, so nothing is bounded


def _barriers(node: ra.Node, ref: ra.ColumnRef) -> Iterator[str]:
    """The barriers between a SELECT list and its FROM."""
    while True:
        match node:
            case ra.Filter(child=child):
                pass
            case ra.Window(child=child, partitions=partitions):
                if not all(among(ref, keys) for keys in partitions):
                    yield f"a window function without {ref.name} in PARTITION BY"
            case ra.Aggregate(child=child, keys=keys, kind="group by"):
                if not among(ref, keys):
                    yield f"a GROUP BY without {ref.name}"
            case ra.Aggregate(child=child, kind=kind):
                yield _AGGREGATIONS.get(kind, f"an aggregation of the kind {kind}")
            case (
                ra.Scan()
                | ra.Derived()
                | ra.CteReference()
                | ra.Inline()
                | ra.Opaque()
                | ra.Join()
                | ra.Generate()
            ):
                return
            case ra.Project() | ra.Limit() | ra.SetOperation() | ra.Unreadable():
                yield "an operator that is not understood"
                return
            case _:
                assert_never(node)
        node = child


def among(ref: ra.Expression, keys: Iterable[ra.Expression]) -> bool:
    """Whether an expression is the same column as one of ``keys``."""
    return any(same_column(ref, key) for key in keys)
