"""Columns that may have the same value in a row, and the conditions that name them.

In: a plan. Out: for a column those that equalities, derived tables, CTEs and views tie it to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import column_names, computed_as
from sqlrewrite.plan.expressions import columns, relations, walk
from sqlrewrite.plan.memo import remembered
from sqlrewrite.plan.relations import joins

ColumnId = tuple[int, str]
"""A relation's number and the name of a column of it."""

_Edges = dict[ColumnId, list[ColumnId]]

Placed = tuple[ra.Block, ra.Join | None, ra.Expression]
"""A condition in the ON of a join, or in the WHERE or HAVING of a block."""


@remembered
def alike(plan: ra.Plan, relation: int, name: str) -> frozenset[ColumnId]:
    """The columns that may have the values of a column in the same row, and the column itself."""
    edges = _edges(plan)
    same: set[ColumnId] = set()
    stack = [(relation, name)]
    while stack:
        column = stack.pop()
        if column not in same:
            same.add(column)
            stack += edges.get(column, ())
    return frozenset(same)


@remembered
def _edges(plan: ra.Plan) -> _Edges:
    """For each column those that it is compared with by equality, and those that derived tables,
    CTEs and views make of it or make it of."""
    edges: _Edges = defaultdict(list)
    for block in plan.blocks:
        for _, _, condition in conditions_in(block):
            for one, other in _equalities(plan, condition):
                _connect(edges, [*named(one), *named(other)])
    for number, relation in plan.relations.items():
        if isinstance(relation, ra.Derived | ra.CteReference):
            for name in column_names(relation) or ():
                for expression in computed_as(plan, ra.ColumnRef(number, name, None)):
                    _connect(edges, [(number, name), *named(expression)])
    return edges


def _connect(edges: _Edges, same: list[ColumnId]) -> None:
    for column in same[1:]:
        edges[same[0]].append(column)
        edges[column].append(same[0])


def _equalities(
    plan: ra.Plan, condition: ra.Expression
) -> Iterator[tuple[ra.Expression, ra.Expression]]:
    """The two sides of each equality in a condition; an IN is one with what its query returns."""
    for node in walk(condition):
        match node:
            case ra.Call(name="=" | "<=>", args=(one, other)):
                yield one, other
            case ra.Subquery(operand=operand, query=query) if operand is not None:
                for number in query.top:
                    for output in plan.blocks[number].outputs:
                        yield operand, output.expression
            case _:
                pass


@remembered
def conditions_on(plan: ra.Plan) -> dict[ColumnId, list[Placed]]:
    """The conditions that name each column."""
    on: dict[ColumnId, list[Placed]] = defaultdict(list)
    for block in plan.blocks:
        for placed in conditions_in(block):
            for column in dict.fromkeys(named(placed[2])):
                on[column].append(placed)
    return on


@remembered
def conditions_of(plan: ra.Plan) -> dict[int, list[Placed]]:
    """The conditions that name each relation."""
    of: dict[int, list[Placed]] = defaultdict(list)
    for block in plan.blocks:
        for placed in conditions_in(block):
            for relation in relations(placed[2]):
                of[relation].append(placed)
    return of


def conditions_in(block: ra.Block) -> Iterator[Placed]:
    """The conditions of a block's WHERE and HAVING, and of the ONs in its FROM."""
    for condition in (*block.where, *block.having):
        yield block, None, condition.expression
    for join in joins(block.source):
        for condition in join.conditions:
            yield block, join, condition.expression


def named(expression: ra.Expression) -> list[ColumnId]:
    """The columns that an expression names."""
    return [(ref.relation, ref.name) for ref in columns(expression)]
