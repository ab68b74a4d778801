"""Whether Spark may evaluate the fact's own conditions for the keys of an IN.

What a correlated scalar or LATERAL subquery holds, and what a view or a SQL function does that is
read in one, Spark optimizes by itself first. An IN in it is a semi-join by the time that the query
around is optimized, and what is said of the fact's column is then said of the key, too: ``10 / f.p
> 1`` is evaluated for keys that the query never tested (docs/soundness.md, "What Spark copies").
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.judge.raising import is_boolean, raising_in, total
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import column_names, computed_as
from sqlrewrite.plan.expressions import columns, walk
from sqlrewrite.plan.memo import remembered
from sqlrewrite.plan.relations import conditions_of, relations_of
from sqlrewrite.text.limits import SPARK

_Column = tuple[int, str]
"""A relation's number and the name of a column of it."""

_Edges = dict[_Column, list[_Column]]


@remembered
def raising_for_keys(proposal: Proposal) -> ra.Expression | None:
    """A condition on the fact's column that Spark may copy to the keys of an IN and that can raise
    an error; None where there is none."""
    plan, pair = proposal.plan, proposal.pair
    inside = _blocks_inside(plan)
    if not inside or proposal.options.limits.dialect != SPARK:
        return None
    same = _alike(plan, pair.scan.relation, pair.path.column)
    if pair.pruned != pair.path.column:
        same |= _alike(plan, pair.scan.relation, pair.pruned)
    if inside.isdisjoint(plan.owner.get(relation) for relation, _ in same):
        return None
    on = _conditions_on(plan)
    for condition in (it for column in sorted(same) for it in on.get(column, ())):
        if same.issuperset(_named(condition)):
            culprit = raising_in(proposal, condition) or _unknown_in(proposal, condition)
            if culprit is not None or not is_boolean(proposal, condition):
                return culprit or condition
    return None


def _unknown_in(proposal: Proposal, condition: ra.Expression) -> ra.Expression | None:
    """A function in a condition that no table has, or a part that is not understood."""
    for node in walk(condition):
        unknown = isinstance(node, ra.Call) and proposal.options.function(node.name) is None
        if isinstance(node, ra.Unknown) or (unknown and not total(proposal, node)):
            return node
    return None


@remembered
def _blocks_inside(plan: ra.Plan) -> frozenset[int]:
    """The blocks that Spark optimizes, with what a scalar or LATERAL subquery reads, before the
    block around it: all of them, if other statements may read the query."""
    if plan.read_elsewhere:
        return frozenset(block.number for block in plan.blocks)
    within: dict[int | None, list[int]] = defaultdict(list)
    for block in plan.blocks:
        within[block.parent].append(block.number)
    stack = [block.number for block in plan.blocks if block.role in ("scalar", "lateral")]
    inside: set[int] = set()
    while stack:
        number = stack.pop()
        if number not in inside:
            inside.add(number)
            stack += within[number]
            for relation in relations_of(plan, number):
                if isinstance(relation, ra.Derived | ra.CteReference):
                    stack += relation.query.blocks
    return frozenset(inside)


@remembered
def _alike(plan: ra.Plan, relation: int, name: str) -> frozenset[_Column]:
    """The columns that may have the values of a column in the same row, and the column itself."""
    edges = _edges(plan)
    alike: set[_Column] = set()
    stack = [(relation, name)]
    while stack:
        column = stack.pop()
        if column not in alike:
            alike.add(column)
            stack += edges.get(column, ())
    return frozenset(alike)


@remembered
def _edges(plan: ra.Plan) -> _Edges:
    """For each column those that it is compared with by equality, and those that derived tables,
    CTEs and views make of it or make it of."""
    edges: _Edges = defaultdict(list)
    for block in plan.blocks:
        for condition in _conditions(block):
            for one, other in _equalities(plan, condition):
                _connect(edges, [*_named(one), *_named(other)])
    for number, relation in plan.relations.items():
        if isinstance(relation, ra.Derived | ra.CteReference):
            for name in column_names(relation) or ():
                for expression in computed_as(plan, ra.ColumnRef(number, name, None)):
                    _connect(edges, [(number, name), *_named(expression)])
    return edges


def _connect(edges: _Edges, alike: list[_Column]) -> None:
    for column in alike[1:]:
        edges[alike[0]].append(column)
        edges[column].append(alike[0])


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
                    for output in plan.blocks[number].outputs[:1]:
                        yield operand, output.expression
            case _:
                pass


@remembered
def _conditions_on(plan: ra.Plan) -> dict[_Column, list[ra.Expression]]:
    """The conditions that name each column."""
    on: dict[_Column, list[ra.Expression]] = defaultdict(list)
    for block in plan.blocks:
        for condition in _conditions(block):
            for column in dict.fromkeys(_named(condition)):
                on[column].append(condition)
    return on


def _conditions(block: ra.Block) -> Iterator[ra.Expression]:
    for condition in (*conditions_of(block), *block.having):
        yield condition.expression


def _named(expression: ra.Expression) -> list[_Column]:
    return [(ref.relation, ref.name) for ref in columns(expression)]
