"""Join trees: outer joins simplified, and the conditions that reach a relation.

Two tables say what is legal, in the terms of DataFusion's push_down_filter: a side of a join is
*preserved* where each of its rows comes out, so that a condition from above may be applied below;
and a side is *restricted by ON* where only rows that satisfy ON matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlrewrite.plan.algebra import (
    Condition,
    CteReference,
    Derived,
    Generate,
    Inline,
    Join,
    JoinType,
    Node,
    Opaque,
    Scan,
)
from sqlrewrite.plan.nulls import rejects_null
from sqlrewrite.plan.relations import numbers

LEFT, RIGHT = "left", "right"

# Sides below which a condition from above the join (WHERE) may be applied.
PRESERVED: dict[JoinType, tuple[str, ...]] = {
    JoinType.INNER: (LEFT, RIGHT),
    JoinType.CROSS: (LEFT, RIGHT),
    JoinType.LEFT: (LEFT,),
    JoinType.RIGHT: (RIGHT,),
    JoinType.FULL: (),
    JoinType.SEMI: (LEFT,),
    JoinType.ANTI: (LEFT,),
    JoinType.UNKNOWN: (),
}

# Sides below which a condition of the join's own ON may be applied.
RESTRICTED_BY_ON: dict[JoinType, tuple[str, ...]] = {
    JoinType.INNER: (LEFT, RIGHT),
    JoinType.CROSS: (LEFT, RIGHT),
    JoinType.LEFT: (RIGHT,),
    JoinType.RIGHT: (LEFT,),
    JoinType.FULL: (),
    JoinType.SEMI: (LEFT, RIGHT),
    JoinType.ANTI: (RIGHT,),
    JoinType.UNKNOWN: (),
}

# What an outer join becomes where a condition above rejects the NULLs of (left, right).
_OUTER = (JoinType.LEFT, JoinType.RIGHT, JoinType.FULL)
_REJECTING: dict[tuple[JoinType, bool, bool], JoinType] = {
    (JoinType.LEFT, False, True): JoinType.INNER,
    (JoinType.LEFT, True, True): JoinType.INNER,
    (JoinType.RIGHT, True, False): JoinType.INNER,
    (JoinType.RIGHT, True, True): JoinType.INNER,
    (JoinType.FULL, True, False): JoinType.LEFT,
    (JoinType.FULL, False, True): JoinType.RIGHT,
    (JoinType.FULL, True, True): JoinType.INNER,
}


def simplify(node: Node, above: tuple[Condition, ...]) -> Node:
    """The join tree with each outer join made what the conditions above it make of it."""
    if isinstance(node, Generate):
        return replace(node, child=simplify(node.child, above))
    if not isinstance(node, Join):
        return node
    kind = node.type
    if kind in _OUTER:
        left, right = numbers(node.left), numbers(node.right)
        rejects_left, rejects_right = (
            any(rejects_null(condition.expression, side) for condition in above)
            for side in (left, right)
        )
        kind = _REJECTING.get((kind, rejects_left, rejects_right), kind)
    if kind is not node.type:
        node = replace(node, type=kind)
    one = simplify(node.left, below(node, LEFT, above))
    other = simplify(node.right, below(node, RIGHT, above))
    if one is node.left and other is node.right:
        return node
    return replace(node, left=one, right=other)


def below(join: Join, side: str, above: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """The conditions that hold for the rows that matter of one side of a join."""
    kept = above if side in PRESERVED[join.type] else ()
    return kept + (join.conditions if side in RESTRICTED_BY_ON[join.type] else ())


def reaching(
    node: Node, above: tuple[Condition, ...]
) -> Iterator[tuple[int, tuple[Condition, ...]]]:
    """For each relation of a join tree the conditions, of WHERE (``above``) and of the ONs, that
    hold wherever a row of it matters, and speak of it, alone or with others."""
    match node:
        case Generate(child=child, relation=relation):
            yield relation, ()
            yield from reaching(child, above)
        case Join(left=left, right=right):
            yield from reaching(left, below(node, LEFT, above))
            yield from reaching(right, below(node, RIGHT, above))
        case Scan() | Derived() | CteReference() | Inline() | Opaque():
            number = node.relation
            yield number, tuple(c for c in above if number in c.relations)
        case _:
            return


def required(node: Node, above: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """The conditions of all rows of the tree: WHERE, and the ONs of joins never null-extended."""
    match node:
        case Generate(child=child):
            return required(child, above)
        case Join(type=kind, left=left, right=right, conditions=conditions):
            found = above
            if kind in (JoinType.INNER, JoinType.CROSS, JoinType.SEMI):
                found += conditions
            for side, child in ((LEFT, left), (RIGHT, right)):
                if side in PRESERVED[kind]:
                    found += required(child, ())
            return found
        case _:
            return above


def extended(node: Node | None, relation: int) -> bool:
    """Whether a join of the tree may null-extend a relation of it, or one whose type is not known:
    then a row above it can be one of NULLs that the relation does not have."""
    while isinstance(node, Join | Generate):
        if isinstance(node, Generate):
            node = node.child
            continue
        side = LEFT if relation in numbers(node.left) else RIGHT
        if side not in PRESERVED[node.type]:
            return True
        node = node.left if side == LEFT else node.right
    return False
