"""What Spark copies from one side of a join to the other, where the query never computes it.

What a correlated scalar or LATERAL subquery holds, and what a view or a SQL function does that is
read in one, Spark optimizes by itself first. An IN in it is a semi-join by the time that the query
around is optimized, and what is said of the fact's column is then said of the key, too: ``10 / f.p
> 1`` is evaluated for keys that the query never tested (docs/soundness.md, "What Spark copies").
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.judge.raising import is_boolean, raising_in, total
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import column_names, computed_as
from sqlrewrite.plan.expressions import columns, relations, walk
from sqlrewrite.plan.facts.coercion import is_integral
from sqlrewrite.plan.facts.types import BIGINT
from sqlrewrite.plan.memo import remembered, shared
from sqlrewrite.plan.relations import direct_readers, joins, numbers, relations_of
from sqlrewrite.text.limits import SPARK

_Column = tuple[int, str]
"""A relation's number and the name of a column of it."""

_Edges = dict[_Column, list[_Column]]

_Placed = tuple[ra.Block, ra.Join | None, ra.Expression]
"""A condition in the ON of a join, or in the WHERE or HAVING of a block."""

_Raising = tuple[ra.Expression, ra.Relation | ra.Generate]
"""What can raise an error, and the relation of whose columns it is computed."""

_TEXTS = ("string", "char", "varchar")

_PRESERVED = {
    ra.JoinType.LEFT: ("left",),
    ra.JoinType.RIGHT: ("right",),
    ra.JoinType.FULL: ("left", "right"),
}
"""The sides of a join that keep all of their rows."""


def raising_for_keys(proposal: Proposal) -> ra.Expression | None:
    """A condition on the fact's column that Spark may copy to the keys of an IN and that can raise
    an error; None where there is none."""
    plan, pair = proposal.plan, proposal.pair
    if not _blocks_inside(plan) or proposal.options.limits.dialect != SPARK:
        return None
    # The same for every pair of a column, and there may be many.
    return _raising_for_keys(proposal, pair.scan.relation, pair.path.column, pair.pruned)


def raising_where_tested(proposal: Proposal) -> ra.Expression | None:
    """A condition as of ``raising_for_keys``, if a condition around may test what the scalar or
    LATERAL subquery gives. Spark makes an inner join of that one, says of the dimension what is
    said of the fact, and then no form keeps the error away from rows that it would not have met
    (random texts, seed 72). None where there is none."""
    culprit = raising_for_keys(proposal)
    if culprit is None:
        return None
    owner = proposal.plan.owner[proposal.pair.scan.relation]
    return culprit if owner in _blocks_tested(proposal.plan) else None


def raising_for_constant(proposal: Proposal) -> ra.Expression | None:
    """A condition on the fact's column that Spark computes beforehand if the column is said to be
    one constant, and that can raise an error; None where there is none."""
    pair = proposal.pair
    if proposal.options.limits.dialect != SPARK:
        return None
    return _raising_for_constant(proposal, pair.scan.relation, pair.path.column, pair.pruned)


@shared
def _raising_for_keys(
    proposal: Proposal, relation: int, column: str, pruned: str
) -> ra.Expression | None:
    plan = proposal.plan
    same = _alike(plan, relation, column) | _alike(plan, relation, pruned)
    if _blocks_inside(plan).isdisjoint(plan.owner.get(relation) for relation, _ in same):
        return None
    conditions = (it for it in _conditions_among(plan, same) if same.issuperset(_named(it)))
    return next(_raising_among(proposal, conditions), None)


@shared
def _raising_for_constant(
    proposal: Proposal, relation: int, column: str, pruned: str
) -> ra.Expression | None:
    plan = proposal.plan
    same = _alike(plan, relation, column) | _alike(plan, relation, pruned)
    return next(_raising_among(proposal, _conditions_among(plan, same)), None)


def _conditions_among(plan: ra.Plan, same: frozenset[_Column]) -> Iterator[ra.Expression]:
    """The conditions that name one of some columns."""
    on = _conditions_on(plan)
    yield from (condition for it in sorted(same) for _, _, condition in on.get(it, ()))


def _raising_among(
    proposal: Proposal, conditions: Iterable[ra.Expression]
) -> Iterator[ra.Expression]:
    """What can raise an error in conditions, or is not known not to."""
    for condition in conditions:
        culprit = raising_in(proposal, condition) or _unknown_in(proposal, condition)
        if culprit is not None or not is_boolean(proposal, condition):
            yield culprit or condition


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
    return _all_inside(plan, (block for block in plan.blocks if block.role in _ITSELF_FIRST))


@remembered
def _blocks_tested(plan: ra.Plan) -> frozenset[int]:
    """Those of ``_blocks_inside`` around which a condition may test what the subquery gives."""
    if plan.read_elsewhere:
        return frozenset(block.number for block in plan.blocks)
    subqueries = (block for block in plan.blocks if block.role in _ITSELF_FIRST)
    return _all_inside(plan, (block for block in subqueries if _is_tested(plan, block)))


_ITSELF_FIRST = ("scalar", "lateral")
"""The roles of the blocks that Spark optimizes before the block around them."""


def _is_tested(plan: ra.Plan, subquery: ra.Block) -> bool:
    """Whether a condition around a subquery may test its value, or a column of the derived tables
    that hold it."""
    if subquery.role == "scalar":
        around = [subquery.parent] if subquery.parent is not None else []
        conditions = (it for number in around for it in _conditions(plan.blocks[number]))
        if any(_holds(condition, subquery.number) for _, _, condition in conditions):
            return True
    else:
        around = [subquery.number]
    seen: set[int] = set()
    while around:
        for relation in direct_readers(plan).get(around.pop(), ()):
            for _, join, _ in _conditions_of(plan).get(relation, ()):
                if join is None or not _is_extended(join, relation):
                    return True
            if relation not in seen:
                seen.add(relation)
                around.append(plan.owner[relation])
    return False


def _is_extended(join: ra.Join, relation: int) -> bool:
    """Whether a join keeps rows for which a relation has none."""
    return join.type is ra.JoinType.LEFT and relation in numbers(join.right)


def _holds(condition: ra.Expression, block: int) -> bool:
    return any(isinstance(it, ra.Subquery) and block in it.query.blocks for it in walk(condition))


def _all_inside(plan: ra.Plan, blocks: Iterable[ra.Block]) -> frozenset[int]:
    """Blocks, and all that they read."""
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
        for _, _, condition in _conditions(block):
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
def _conditions_on(plan: ra.Plan) -> dict[_Column, list[_Placed]]:
    """The conditions that name each column."""
    on: dict[_Column, list[_Placed]] = defaultdict(list)
    for block in plan.blocks:
        for placed in _conditions(block):
            for column in dict.fromkeys(_named(placed[2])):
                on[column].append(placed)
    return on


@remembered
def _conditions_of(plan: ra.Plan) -> dict[int, list[_Placed]]:
    """The conditions that name each relation."""
    of: dict[int, list[_Placed]] = defaultdict(list)
    for block in plan.blocks:
        for placed in _conditions(block):
            for relation in relations(placed[2]):
                of[relation].append(placed)
    return of


def _conditions(block: ra.Block) -> Iterator[_Placed]:
    for condition in (*block.where, *block.having):
        yield block, None, condition.expression
    for join in joins(block.source):
        for condition in join.conditions:
            yield block, join, condition.expression


def _named(expression: ra.Expression) -> list[_Column]:
    return [(ref.relation, ref.name) for ref in columns(expression)]


def raising_for_rows(proposal: Proposal) -> _Raising | None:
    """What can raise an error and is joined to the fact's column, with its relation, of which Spark
    may compute it for rows that a join leaves out first: what is said of ``p`` is said of ``CAST(
    d.k AS INT)``, too, and goes below the other joins of ``d``. None where there is nothing."""
    if proposal.options.limits.dialect != SPARK:
        return None
    # The same for every pair of a column, and there may be many.
    return _raising_for_rows(proposal, proposal.pair.scan.relation, proposal.pair.path.column)


@shared
def _raising_for_rows(proposal: Proposal, relation: int, column: str) -> _Raising | None:
    plan = proposal.plan
    facts = _above(plan, relation)
    on = _conditions_on(plan)
    for alike in sorted(_alike(plan, relation, column)):
        for placed in on.get(alike, ()):
            for ref, culprit in _computed(proposal, alike, placed[2]):
                if (
                    ref.relation not in facts
                    and _is_copied(plan, placed, ref)
                    and _is_narrowed(plan, ref, facts)
                ):
                    return culprit, plan.relations[ref.relation]
    return None


def _computed(
    proposal: Proposal, column: _Column, condition: ra.Expression
) -> Iterator[tuple[ra.ColumnRef, ra.Expression]]:
    """The column that an equality casts, or that is computed in a derived table, to compare it with
    a plain column, and what can raise an error in that."""
    match condition:
        case ra.Call(name="=" | "<=>", args=(one, other)):
            pass
        case _:
            return
    for plain, side in ((one, other), (other, one)):
        if not isinstance(plain, ra.ColumnRef) or (plain.relation, plain.name) != column:
            continue
        ref = side.operand if isinstance(side, ra.Cast) else side
        if isinstance(ref, ra.ColumnRef):
            culprit = raising_in(proposal, side)
            if culprit is None and side is ref and _is_cast(proposal, plain, ref):
                culprit = condition
            if culprit is not None:
                yield ref, culprit


def _is_cast(proposal: Proposal, plain: ra.ColumnRef, ref: ra.ColumnRef) -> bool:
    """Whether Spark casts a text to compare it with a column. Beside a shorter integer it casts
    both to BIGINT, which copies nothing."""
    stored, given = proposal.type_of(plain), proposal.type_of(ref)
    if stored is None or given is None or given.name not in _TEXTS or stored.name in _TEXTS:
        return False
    return not is_integral(stored) or stored == BIGINT


def _is_copied(plan: ra.Plan, placed: _Placed, ref: ra.ColumnRef) -> bool:
    """Whether Spark says of one side of an equality what is said of the other: not of the side of
    an outer join that keeps all rows, nor of the rows around a scalar subquery."""
    block, join, _ = placed
    if plan.owner[ref.relation] != block.number:
        inside = block.number in _blocks_inside(plan)
        return block.role == "lateral" or (block.role in ("exists", "in") and inside)
    return join is None or not _is_preserved(join, ref.relation)


def _is_preserved(join: ra.Join, relation: int) -> bool:
    sides = _PRESERVED.get(join.type, ())
    return any(relation in numbers(getattr(join, side)) for side in sides)


def _is_narrowed(plan: ra.Plan, ref: ra.ColumnRef, facts: frozenset[int]) -> bool:
    """Whether a join, an IN or an EXISTS may leave out rows of a column's relation, or of those
    that it is computed from, before they meet the fact."""
    stack: list[ra.ColumnRef] = [ref]
    seen: set[_Column] = set()
    while stack:
        ref = stack.pop()
        if (ref.relation, ref.name) in seen:
            continue
        seen.add((ref.relation, ref.name))
        for block, join, condition in _conditions_of(plan).get(ref.relation, ()):
            here = plan.owner[ref.relation] == block.number or block.role == "lateral"
            kept = join is not None and _is_preserved(join, ref.relation)
            if here and not kept and _meets(plan, condition, ref.relation, facts):
                return True
        stack += [it for part in computed_as(plan, ref) for it in columns(part)]
    return False


def _meets(plan: ra.Plan, condition: ra.Expression, relation: int, facts: frozenset[int]) -> bool:
    """Whether a condition joins a relation with another that is not the fact."""
    for node in walk(condition):
        if isinstance(node, ra.Subquery) and node.kind in ("in", "exists"):
            within = set(node.query.blocks)
            if all(plan.owner[fact] not in within for fact in facts):
                return True
    return not relations(condition) <= facts | {relation}


@remembered
def _above(plan: ra.Plan, relation: int) -> frozenset[int]:
    """A relation, and the derived tables, CTE references and views that read it."""
    above: set[int] = set()
    stack = [relation]
    while stack:
        number = stack.pop()
        if number not in above:
            above.add(number)
            stack += direct_readers(plan).get(plan.owner[number], ())
    return frozenset(above)
