"""Conditions on the fact's column that Spark copies to the keys, which the query never tests.

Spark optimizes a correlated scalar or LATERAL subquery, a view and a SQL function first, by itself:
an IN in it is already a semi-join when the outer query is optimized, so that a condition on the
fact's column is copied to the key (docs/soundness.md, "What Spark copies"). ``alike`` gives the
columns that equalities, derived tables, CTEs and views equate with a column.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from sqlrewrite.judge.errors.raising import is_boolean, raising_in, total
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.judge.soundness.join_type import ClauseKind, clause_for
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import column_names
from sqlrewrite.plan.expressions import columns, relations, walk
from sqlrewrite.plan.joins import OUTER, inner_late
from sqlrewrite.plan.memo import remembered, shared
from sqlrewrite.plan.relations import direct_readers, joins, numbers, relations_of
from sqlrewrite.text.limits import SPARK


def raising_for_keys(proposal: Proposal) -> ra.Expression | None:
    """What can raise an error in a condition on the fact's column that Spark may copy to the keys
    of an IN; None if nothing can."""
    plan, pair = proposal.plan, proposal.pair
    if not blocks_inside(plan) or proposal.options.limits.dialect != SPARK:
        return None
    same = alike(plan, pair.scan.relation, pair.path.column)
    if pair.pruned != pair.path.column:
        same |= alike(plan, pair.scan.relation, pair.pruned)
    return _raising_for_keys(proposal, same)  # answered once for all columns in ``same``


def raising_where_tested(proposal: Proposal) -> ra.Expression | None:
    """``raising_for_keys``, if an outer condition may test the result of the scalar or LATERAL
    subquery; else None. Spark then makes an inner join of the subquery and copies conditions on the
    fact to the dimension, so that no form of predicate avoids the error."""
    culprit = raising_for_keys(proposal)
    if culprit is None:
        return None
    owner = proposal.plan.owner[proposal.pair.scan.relation]
    return culprit if owner in blocks_tested(proposal.plan) else None


def raising_where_extended(proposal: Proposal) -> ra.Expression | None:
    """What can raise an error in a condition on columns of an outer join that becomes an inner one
    only because of other joins; None if nothing can. Usually Spark copies conditions before it
    makes that inner join. With a predicate above (other than an IN) it copies them afterwards, and
    then to the dimension too."""
    plan, pair = proposal.plan, proposal.pair
    if proposal.options.limits.dialect != SPARK:
        return None
    block, source = proposal.target_block, None
    if block.number == pair.edge.block.number and clause_for(pair) is ClauseKind.ON:
        join = pair.edge.join
        if join is not None:  # the predicate goes to the fact's side alone
            source = join.left if pair.target.relation in numbers(join.left) else join.right
    outer = _blocks_with_outer_joins(plan)
    late: frozenset[int] = frozenset()
    if block.number in outer:
        late = inner_late(block.source if source is None else source, pair.target.relation)
    path = pair.path.relations
    for relation in path[path.index(pair.target) + 1 :] if pair.target in path else path:
        number = plan.owner[relation.relation]
        if number in outer:
            late |= inner_late(plan.blocks[number].source, relation.relation)
    return _raising_beside(proposal, late) if late else None


@remembered
def _blocks_with_outer_joins(plan: ra.Plan) -> frozenset[int]:
    return frozenset(
        block.number
        for block in plan.blocks
        if any((join.at_first or join.declared) in OUTER for join in joins(block.source))
    )


@shared
def _raising_beside(proposal: Proposal, extended: frozenset[int]) -> ra.Expression | None:
    plan = proposal.plan
    own = [column for column in conditions_on(plan) if column[0] in extended]
    same = frozenset[ColumnId]().union(*(alike(plan, *column) for column in own))
    return _raising_on_all(proposal, same)


def raising_for_constant(proposal: Proposal) -> ra.Expression | None:
    """What can raise an error in a condition on the fact's column that Spark evaluates when it
    plans, if a predicate equates the column with a constant; None if nothing can."""
    pair = proposal.pair
    if proposal.options.limits.dialect != SPARK:
        return None
    return _raising_in_class(proposal, alike(proposal.plan, pair.scan.relation, pair.pruned))


@shared
def _raising_for_keys(proposal: Proposal, same: frozenset[ColumnId]) -> ra.Expression | None:
    plan = proposal.plan
    if blocks_inside(plan).isdisjoint(plan.owner.get(relation) for relation, _ in same):
        return None
    return _raising_on_all(proposal, same)


def _raising_on_all(proposal: Proposal, same: frozenset[ColumnId]) -> ra.Expression | None:
    """What can raise an error in a condition that names no other columns; None if nothing can."""
    conditions = _conditions_among(proposal.plan, same)
    alone = (condition for condition in conditions if same.issuperset(named(condition)))
    return next(_raising_among(proposal, alone), None)


@shared
def _raising_in_class(proposal: Proposal, same: frozenset[ColumnId]) -> ra.Expression | None:
    return next(_raising_among(proposal, _conditions_among(proposal.plan, same)), None)


def _conditions_among(plan: ra.Plan, same: frozenset[ColumnId]) -> Iterator[ra.Expression]:
    """The conditions that name one of the columns."""
    on = conditions_on(plan)
    yield from (condition for column in sorted(same) for _, _, condition in on.get(column, ()))


def _raising_among(
    proposal: Proposal, conditions: Iterable[ra.Expression]
) -> Iterator[ra.Expression]:
    """The nodes of conditions that can raise an error, or are unknown."""
    for condition in conditions:
        culprit = raising_in(proposal, condition) or _unknown_in(proposal, condition)
        if culprit is not None or not is_boolean(proposal, condition):
            yield culprit or condition


def _unknown_in(proposal: Proposal, condition: ra.Expression) -> ra.Expression | None:
    """A function that is in no table, or an unknown part of a condition; None if there is none."""
    for node in walk(condition):
        unknown = isinstance(node, ra.Call) and proposal.options.function(node.name) is None
        if isinstance(node, ra.Unknown) or (unknown and not total(proposal, node)):
            return node
    return None


@remembered
def blocks_inside(plan: ra.Plan) -> frozenset[int]:
    """The blocks of scalar and LATERAL subqueries, which Spark optimizes before the query around
    them; all blocks, if other statements may read the query."""
    if plan.read_elsewhere:
        return frozenset(block.number for block in plan.blocks)
    return _all_inside(plan, (block for block in plan.blocks if block.role in _ITSELF_FIRST))


@remembered
def blocks_tested(plan: ra.Plan) -> frozenset[int]:
    """The blocks of ``blocks_inside`` whose subquery's result an outer condition may test."""
    if plan.read_elsewhere:
        return frozenset(block.number for block in plan.blocks)
    subqueries = (block for block in plan.blocks if block.role in _ITSELF_FIRST)
    return _all_inside(plan, (block for block in subqueries if _is_tested(plan, block)))


_ITSELF_FIRST = ("scalar", "lateral")
"""The roles of the blocks that Spark optimizes before the block around them."""


def _is_tested(plan: ra.Plan, subquery: ra.Block) -> bool:
    """Whether an outer condition may test a subquery's value, or a column of a derived table that
    contains it."""
    if subquery.role == "scalar":
        around = [subquery.parent] if subquery.parent is not None else []
        conditions = (
            condition for number in around for condition in conditions_in(plan.blocks[number])
        )
        if any(_holds(condition, subquery.number) for _, _, condition in conditions):
            return True
    else:
        around = [subquery.number]
    seen: set[int] = set()
    while around:
        for relation in direct_readers(plan).get(around.pop(), ()):
            for _, join, _ in conditions_of(plan).get(relation, ()):
                if join is None or not _is_extended(join, relation):
                    return True
            if relation not in seen:
                seen.add(relation)
                around.append(plan.owner[relation])
    return False


def _is_extended(join: ra.Join, relation: int) -> bool:
    """Whether a join extends a relation by NULLs."""
    return join.type is ra.JoinType.LEFT and relation in numbers(join.right)


def _holds(condition: ra.Expression, block: int) -> bool:
    return any(
        isinstance(node, ra.Subquery) and block in node.query.blocks for node in walk(condition)
    )


def _all_inside(plan: ra.Plan, blocks: Iterable[ra.Block]) -> frozenset[int]:
    """Blocks, with all blocks that they read."""
    within: dict[int | None, list[int]] = defaultdict(list)
    for block in plan.blocks:
        within[block.parent].append(block.number)
    stack = [block.number for block in blocks]
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


ColumnId = tuple[int, str]
"""A relation's number and the name of a column of it."""

_Edges = dict[ColumnId, list[ColumnId]]

Placed = tuple[ra.Block, ra.Join | None, ra.Expression]
"""A condition with its place: the ON of a join, or the WHERE or HAVING of a block."""


def alike(plan: ra.Plan, relation: int, name: str) -> frozenset[ColumnId]:
    """The columns that may equal a column in the same row, including itself; all of them give the
    same set."""
    return _classes(plan).get((relation, name)) or frozenset({(relation, name)})


@remembered
def _classes(plan: ra.Plan) -> dict[ColumnId, frozenset[ColumnId]]:
    edges = _edges(plan)
    classes: dict[ColumnId, frozenset[ColumnId]] = {}
    for first in edges:
        if first in classes:
            continue
        same: set[ColumnId] = set()
        stack = [first]
        while stack:
            column = stack.pop()
            if column not in same:
                same.add(column)
                stack += edges[column]
        classes |= dict.fromkeys(same, frozenset(same))
    return classes


@remembered
def _edges(plan: ra.Plan) -> _Edges:
    """The columns connected with each column: compared with it by an equality, or one computed from
    the other in a derived table, CTE or view."""
    edges: _Edges = defaultdict(list)
    for block in plan.blocks:
        for _, _, condition in conditions_in(block):
            for one, other in _equalities(plan, condition):
                _connect(edges, [*named(one), *named(other)])
    for number, relation in plan.relations.items():
        if isinstance(relation, ra.Derived | ra.CteReference):
            names = column_names(relation) or ()
            for outputs in (plan.blocks[top].outputs for top in relation.query.top):
                if len(outputs) == len(names):
                    for name, output in zip(names, outputs, strict=True):
                        _connect(edges, [(number, name), *named(output.expression)])
    return edges


def _connect(edges: _Edges, same: list[ColumnId]) -> None:
    for column in same[1:]:
        edges[same[0]].append(column)
        edges[column].append(same[0])


def _equalities(
    plan: ra.Plan, condition: ra.Expression
) -> Iterator[tuple[ra.Expression, ra.Expression]]:
    """The two sides of each equality in a condition; an IN equates its operand with the outputs of
    its subquery."""
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
    """The conditions by the columns that they name."""
    on: dict[ColumnId, list[Placed]] = defaultdict(list)
    for block in plan.blocks:
        for placed in conditions_in(block):
            for column in dict.fromkeys(named(placed[2])):
                on[column].append(placed)
    return on


@remembered
def conditions_of(plan: ra.Plan) -> dict[int, list[Placed]]:
    """The conditions by the relations that they name."""
    of: dict[int, list[Placed]] = defaultdict(list)
    for block in plan.blocks:
        for placed in conditions_in(block):
            for relation in relations(placed[2]):
                of[relation].append(placed)
    return of


def conditions_in(block: ra.Block) -> Iterator[Placed]:
    """The conditions of a block's WHERE, HAVING and ONs."""
    for condition in (*block.where, *block.having):
        yield block, None, condition.expression
    for join in joins(block.source):
        for condition in join.conditions:
            yield block, join, condition.expression


def named(expression: ra.Expression) -> list[ColumnId]:
    """The columns that an expression names."""
    return [(ref.relation, ref.name) for ref in columns(expression)]
