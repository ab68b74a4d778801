"""Join trees: outer joins simplified, and the conditions that reach a relation.

Two tables say what is legal, in the terms of DataFusion's push_down_filter: a side of a join is
*preserved* where each of its rows comes out, so that a condition from above may be applied below;
and a side is *restricted by ON* where only rows that satisfy ON matter.

``simplify`` works within a block. ``simplify_inner_blocks`` carries the conditions of a block into
the derived tables, CTEs and views that it reads: ``SELECT … FROM (SELECT f.x, d.c FROM f LEFT JOIN
d ON …) q WHERE q.c = 'a'`` keeps no null-extended row, so the join is an inner one
(docs/soundness.md, "Joins").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from sqlrewrite.copies import replace
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import column_names
from sqlrewrite.plan.expressions import columns, relations, substitute, walk
from sqlrewrite.plan.lineage import steps
from sqlrewrite.plan.null_rejection import rejects_null
from sqlrewrite.plan.relations import joins, numbers, readers, relation_numbers

LEFT, RIGHT = "left", "right"

# Sides below which a condition from above the join (WHERE) may be applied.
PRESERVED: dict[ra.JoinType, tuple[str, ...]] = {
    ra.JoinType.INNER: (LEFT, RIGHT),
    ra.JoinType.CROSS: (LEFT, RIGHT),
    ra.JoinType.LEFT: (LEFT,),
    ra.JoinType.RIGHT: (RIGHT,),
    ra.JoinType.FULL: (),
    ra.JoinType.SEMI: (LEFT,),
    ra.JoinType.ANTI: (LEFT,),
    ra.JoinType.UNKNOWN: (),
}

# Sides below which a condition of the join's own ON may be applied.
RESTRICTED_BY_ON: dict[ra.JoinType, tuple[str, ...]] = {
    ra.JoinType.INNER: (LEFT, RIGHT),
    ra.JoinType.CROSS: (LEFT, RIGHT),
    ra.JoinType.LEFT: (RIGHT,),
    ra.JoinType.RIGHT: (LEFT,),
    ra.JoinType.FULL: (),
    ra.JoinType.SEMI: (LEFT, RIGHT),
    ra.JoinType.ANTI: (RIGHT,),
    ra.JoinType.UNKNOWN: (),
}

OUTER = (ra.JoinType.LEFT, ra.JoinType.RIGHT, ra.JoinType.FULL)
# What an outer join becomes where a condition above rejects the NULLs of (left, right).
_REJECTING: dict[tuple[ra.JoinType, bool, bool], ra.JoinType] = {
    (ra.JoinType.LEFT, False, True): ra.JoinType.INNER,
    (ra.JoinType.LEFT, True, True): ra.JoinType.INNER,
    (ra.JoinType.RIGHT, True, False): ra.JoinType.INNER,
    (ra.JoinType.RIGHT, True, True): ra.JoinType.INNER,
    (ra.JoinType.FULL, True, False): ra.JoinType.LEFT,
    (ra.JoinType.FULL, False, True): ra.JoinType.RIGHT,
    (ra.JoinType.FULL, True, True): ra.JoinType.INNER,
}


def simplify(
    node: ra.Node,
    above: tuple[ra.Condition, ...],
    at_first: tuple[ra.Condition, ...] | None = None,
) -> ra.Node:
    """The join tree with outer joins simplified by conditions from ``above`` that reject NULLs.
    ``at_first``: those that Spark pushes there before it infers new ones (default: all)."""
    at_first = above if at_first is None else at_first
    if isinstance(node, ra.Generate):
        return replace(node, child=simplify(node.child, above, at_first))
    if not isinstance(node, ra.Join):
        return node
    first = node.declared
    if first in OUTER:
        kind = _simplified(node, node.type, above)
        first = _simplified(
            node,
            first,
            [condition for condition in at_first if _is_tested_at_first(condition)],
            True,
        )
        if kind is not node.type or first is not node.at_first:
            node = replace(node, type=kind, at_first=first)
    sides = []
    for side, child in ((LEFT, node.left), (RIGHT, node.right)):
        below = conditions_below(node, side, above)
        sides.append(simplify(child, below, conditions_below(node, side, at_first, first)))
    if sides[0] is node.left and sides[1] is node.right:
        return node
    return replace(node, left=sides[0], right=sides[1])


def _simplified(
    join: ra.Join, kind: ra.JoinType, above: Sequence[ra.Condition], one_side: bool = False
) -> ra.JoinType:
    """The type of a join under the conditions ``above``. With ``one_side`` a condition counts only
    if all its relations are on the side whose NULLs it rejects."""
    rejects_left, rejects_right = (
        any(
            (not one_side or condition.relations <= side) and _rejects(condition, side)
            for condition in above
        )
        for side in (numbers(join.left), numbers(join.right))
    )
    return _REJECTING.get((kind, rejects_left, rejects_right), kind)


def _rejects(condition: ra.Condition, side: frozenset[int]) -> bool:
    """Whether a condition rejects the NULLs of a side."""
    if condition.relations.isdisjoint(side):  # true of most, if joins are many
        return _never_holds(condition)
    return rejects_null(condition.expression, side)


@lru_cache(1024)
def _never_holds(condition: ra.Condition) -> bool:
    return rejects_null(condition.expression, frozenset())


@lru_cache(1024)
def _is_tested_at_first(condition: ra.Condition) -> bool:
    """Whether Spark filters by a condition from the beginning; one with a subquery becomes a
    join."""
    subqueries = (node for node in walk(condition.expression) if isinstance(node, ra.Subquery))
    return all(subquery.kind == "scalar" and not subquery.outer for subquery in subqueries)


def conditions_below(
    join: ra.Join,
    side: str,
    above: tuple[ra.Condition, ...],
    kind: ra.JoinType | None = None,
) -> tuple[ra.Condition, ...]:
    """The conditions that hold for all rows of one side that contribute to the result of a join.
    ``kind`` stands in for the join's own type."""
    kind = join.type if kind is None else kind
    kept = above if side in PRESERVED[kind] else ()
    return kept + (join.conditions if side in RESTRICTED_BY_ON[kind] else ())


def reaching_conditions(
    node: ra.Node, above: tuple[ra.Condition, ...]
) -> Iterator[tuple[int, tuple[ra.Condition, ...]]]:
    """Each relation of a join tree, with the conditions of WHERE (``above``) and ON that name it
    and hold for all its rows that contribute to the result."""
    match node:
        case ra.Generate(child=child, relation=relation):
            yield relation, ()
            yield from reaching_conditions(child, above)
        case ra.Join(left=left, right=right):
            yield from reaching_conditions(left, conditions_below(node, LEFT, above))
            yield from reaching_conditions(right, conditions_below(node, RIGHT, above))
        case ra.Scan() | ra.Derived() | ra.CteReference() | ra.Inline() | ra.Opaque():
            number = node.relation
            yield number, tuple(c for c in above if number in c.relations)
        case _:
            return


def required_conditions(node: ra.Node, above: tuple[ra.Condition, ...]) -> tuple[ra.Condition, ...]:
    """The conditions that hold for all rows of the result: WHERE, and the ONs of joins that are
    never null-extended."""
    match node:
        case ra.Generate(child=child):
            return required_conditions(child, above)
        case ra.Join(type=kind, left=left, right=right, conditions=conditions):
            required = above
            if kind in (ra.JoinType.INNER, ra.JoinType.CROSS, ra.JoinType.SEMI):
                required += conditions
            for side, child in ((LEFT, left), (RIGHT, right)):
                if side in PRESERVED[kind]:
                    required += required_conditions(child, ())
            return required
        case _:
            return above


def null_extended(node: ra.Node | None, relation: int) -> bool:
    """Whether a join of the tree may give NULLs for a relation's columns in place of its rows, or
    is of unknown type."""
    return any(side not in PRESERVED[join.type] for join, side in _joins_down_to(node, relation))


def inner_late(node: ra.Node | None, relation: int) -> frozenset[int]:
    """The relations on the side of an outer join that Spark extends by NULLs until it has inferred
    what is not NULL; the outermost such join over ``relation`` counts. Empty if there is none."""
    for join, side in _joins_down_to(node, relation):
        kind = join.at_first or join.declared
        if kind in OUTER and side not in PRESERVED[kind]:
            return numbers(join.left if side == LEFT else join.right)  # with all below
    return frozenset()


def _joins_down_to(node: ra.Node | None, relation: int) -> Iterator[tuple[ra.Join, str]]:
    """The joins from a node down to a relation, each with the side that has the relation: the right
    one for a relation made by a generator, or not in the tree."""
    below = relation in relation_numbers(node)
    while isinstance(node, ra.Join | ra.Generate):
        if isinstance(node, ra.Generate):
            below = below and node.relation != relation
            node = node.child
            continue
        side = side_of(node, relation) if below else RIGHT
        yield node, side
        node = node.left if side == LEFT else node.right


def side_of(join: ra.Join, relation: int) -> str:
    """The side of a join that has a relation. Both are searched at once, so that it takes no longer
    than to walk the smaller one."""
    sides = relation_numbers(join.left), relation_numbers(join.right)
    while True:
        for numbers_of_side, side, other in zip(sides, (LEFT, RIGHT), (RIGHT, LEFT), strict=True):
            number = next(numbers_of_side, None)
            if number is None:
                return other
            if number == relation:
                return side


def simplify_inner_blocks(plan: ra.Plan) -> ra.Plan:
    """The plan, with the outer joins of inner blocks simplified by conditions of their readers."""
    inner = [
        block
        for block in plan.blocks
        if any(join.type in OUTER for join in joins(block.source))
        and readers(plan, block.number) is not None
    ]
    if not inner:
        return plan
    carried = _Carried(plan)
    sources = {
        block.number: source
        for block in inner
        if (source := carried.source(block)) is not block.source
    }
    if not sources:
        return plan
    blocks = tuple(
        replace(block, source=sources[block.number]) if block.number in sources else block
        for block in plan.blocks
    )
    return replace(plan, blocks=blocks, memo={})


class _Carried:
    """The conditions that the query reading a block puts on its rows, computed once per block."""

    def __init__(self, plan: ra.Plan) -> None:
        self.plan = plan
        self._of: dict[int, tuple[ra.Condition, ...]] = {}

    def source(self, block: ra.Block) -> ra.Node:
        """The join tree of a block, simplified by its own conditions and its reader's."""
        return simplify(block.source, (*block.where, *self.conditions(block)))

    def conditions(self, block: ra.Block) -> tuple[ra.Condition, ...]:
        """The conditions of the only block that reads this one, in terms of its own relations."""
        number, plan = block.number, self.plan
        if number not in self._of:
            self._of[number] = ()
            reading = readers(plan, number) or ()
            if len(reading) == 1 and block.limit is None:
                self._of[number] = tuple(self._down(block, reading[0]))
        return self._of[number]

    def _down(self, block: ra.Block, reader: int) -> Iterator[ra.Condition]:
        around = self.plan.blocks[self.plan.owner[reader]]
        above = (*around.where, *self.conditions(around))
        for relation, conditions in reaching_conditions(self.source(around), above):
            for condition in conditions if relation == reader else ():
                inside = self._below(condition.expression, block, reader)
                if inside is not None:
                    yield ra.Condition(inside, relations(inside))

    def _below(
        self, expression: ra.Expression, block: ra.Block, reader: int
    ) -> ra.Expression | None:
        """A condition on the columns of ``reader`` in terms of the block that it reads; None if a
        barrier is between them. Columns of other relations stay as they are."""
        plan, relation = self.plan, self.plan.relations[reader]
        assert isinstance(relation, ra.Derived | ra.CteReference)
        names = column_names(relation)
        if names is None or relation.sampled or not block.complete:
            return None
        of: dict[str, ra.Expression] = {}
        for name in {ref.name for ref in columns(expression) if ref.relation == reader}:
            if names.count(name) != 1 or len(names) != len(block.outputs):
                return None
            below = [
                step
                for step in steps(plan, relation, name)
                if plan.owner[step.end.relation] == block.number
            ]
            if any(step.barriers for step in below):
                return None
            of[name] = block.outputs[names.index(name)].expression
        return substitute(expression, lambda ref: of[ref.name] if ref.relation == reader else ref)
