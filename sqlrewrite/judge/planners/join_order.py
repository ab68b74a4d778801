"""Which relations stand across the join from a fact, in the order in which the planner joins them.

In: a pair. Out: its filtering side. Inner joins, commas among them, are one list to Spark, from
which ``ReorderJoin`` makes a left-deep tree: always the next relation of the list that a condition
ties to those before it. (Its cost-based and star-schema orders are off by default.)
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlrewrite.find.pairs import Pair
from sqlrewrite.plan.algebra import Block, Condition, Join, JoinType, Node, Plan
from sqlrewrite.plan.relations import conditions_of, numbers

_INNER = (JoinType.INNER, JoinType.CROSS)

Input = tuple[Node, bool]
"""One of the relations that inner joins combine, and whether an explicit CROSS JOIN adds it."""


def filtering_side(plan: Plan, pair: Pair) -> tuple[Node, ...]:
    """The relations and joins across the join from the fact, at which the key arrives; none where
    no single equality ties the two, or where they stand is not certain."""
    block, query = pair.edge.block, pair.edge.query
    if query is not None and pair.side == "outside":
        return (plan.blocks[query.top[0]].source,) if len(query.top) == 1 else ()
    tied = pair.edge.condition.relations
    if pair.fact.relation not in tied or pair.key.relation not in tied:
        return ()  # a third relation stands between them
    inside = numbers(block.source)
    if pair.side == "outside":
        return (block.source,) if pair.key.relation in inside else ()
    if not {pair.fact.relation, pair.key.relation} <= inside:
        return ()
    return _across(block, pair.fact.relation, pair.key.relation)


def _across(block: Block, fact: int, key: int) -> tuple[Node, ...]:
    node: Node = block.source
    while isinstance(node, Join):
        if node.type in _INNER:
            inputs = _ordered(_inputs(node), list(conditions_of(block)))
            at, to = _place(inputs, fact), _place(inputs, key)
            if at != to:
                # PartitionPruning matches inner joins, and an explicit CROSS JOIN stays one.
                crossed = inputs[max(at, to)][1]
                found = inputs[to : to + 1] if to > at else inputs[:at]
                return () if crossed else tuple(it for it, _ in found)
            node = inputs[at][0]
        else:
            left = numbers(node.left)
            if (fact in left) != (key in left):
                return (node.right if fact in left else node.left,)
            node = node.left if fact in left else node.right
    return ()


def _inputs(node: Node) -> list[Input]:
    """What a spine of inner joins combines, from left to right."""
    found: list[Input] = []
    while isinstance(node, Join) and node.type in _INNER:
        found.append((node.right, node.type is JoinType.CROSS and not node.comma))
        node = node.left
    return [(node, False), *reversed(found)]


def _ordered(inputs: list[Input], conditions: Sequence[Condition]) -> list[Input]:
    """The inputs in the order in which they are joined."""
    first, *rest = inputs
    done, joined = [first], numbers(first[0])
    while rest:
        tied = (it for it in rest if _tied(joined, numbers(it[0]), conditions))
        chosen = next(tied, rest[0])
        rest.remove(chosen)
        done.append(chosen)
        joined |= numbers(chosen[0])
    return done


def _tied(joined: frozenset[int], other: frozenset[int], conditions: Sequence[Condition]) -> bool:
    return any(
        it.relations <= joined | other and it.relations & joined and it.relations & other
        for it in conditions
    )


def _place(inputs: Sequence[Input], relation: int) -> int:
    return next(at for at, (node, _) in enumerate(inputs) if relation in numbers(node))
