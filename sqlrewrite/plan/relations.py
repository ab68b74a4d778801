"""Which relations a block, a query or a join tree reads."""

from __future__ import annotations

from collections.abc import Iterator

from sqlrewrite.plan.algebra import (
    Aggregate,
    Block,
    Condition,
    CteReference,
    Derived,
    Expression,
    Filter,
    Generate,
    Inline,
    Join,
    Limit,
    Node,
    Opaque,
    Plan,
    Project,
    Query,
    Relation,
    Scan,
    SetOperation,
    Window,
)
from sqlrewrite.plan.facts.functions import function


def relations_of(plan: Plan, block: int) -> tuple[Relation, ...]:
    """The relations that stand in a block's own FROM."""
    found: dict[int, list[Relation]] | None = plan.memo.get("relations of")
    if found is None:
        found = plan.memo["relations of"] = {}
        for number, owner in plan.owner.items():
            relation = plan.relations.get(number)
            if isinstance(relation, Relation):
                found.setdefault(owner, []).append(relation)
    return tuple(found.get(block, ()))


def read_by(plan: Plan, query: Query) -> Iterator[Relation]:
    """The relations that a query reads, however deep, through CTEs (each once) and views too."""
    seen: set[int] = set()
    stack = [query]
    while stack:
        for number in stack.pop().blocks:
            for relation in relations_of(plan, number):
                yield relation
                if isinstance(relation, CteReference) and relation.cte not in seen:
                    seen.add(relation.cte)
                    stack.append(relation.query)


def one_row(plan: Plan, query: Query) -> bool:
    """Whether a query has a single row, or none: an aggregate over all rows, or LIMIT 1."""
    tops = [plan.blocks[number] for number in query.top]
    if len(tops) == 1 and isinstance(query.node, Limit) and query.node.one:
        return True
    return len(tops) == 1 and tops[0].aggregate == "global" and not generates(tops[0])


def generates(block: Block) -> bool:
    """Whether what a block calls may make several rows of one."""
    found = (function(name) for name in block.functions)
    return any(it is None or it.generator for it in found)


def leaves(node: Node | None) -> Iterator[Relation | Generate]:
    """The relations of a join tree from left to right, generators included."""
    # Without recursion: hundreds of joins are one deep left spine.
    stack: list[tuple[Node | None, bool]] = [(node, False)]
    while stack:
        found, below = stack.pop()
        match found:
            case Scan() | Derived() | CteReference() | Inline() | Opaque():
                yield found
            case Generate(child=child):
                if below:
                    yield found
                else:
                    stack += [(found, True), (child, False)]
            case Join(left=left, right=right):
                stack += [(right, False), (left, False)]
            case _:
                pass


def numbers(node: Node | None) -> frozenset[int]:
    """The relation numbers in a join tree."""
    return frozenset(leaf.relation for leaf in leaves(node))


def joins(node: Node) -> Iterator[Join]:
    """The joins of a join tree, outermost first."""
    stack = [node]
    while stack:
        found = stack.pop()
        match found:
            case Join(left=left, right=right):
                yield found
                stack += [right, left]
            case Generate(child=child):
                stack.append(child)
            case _:
                pass


def conditions_of(block: Block) -> Iterator[Condition]:
    """The conditions of a block's WHERE, and of the ONs in its FROM."""
    yield from block.where
    for join in joins(block.source):
        yield from join.conditions


def deciding(query: Query) -> Iterator[tuple[Expression, bool]]:
    """The expressions that decide which rows a query has, and whether each is a condition: keys of
    groups and windows, and columns of which each row is kept once, are none."""
    stack: list[tuple[Node, bool]] = [(query.node, False)]
    while stack:
        node, once = stack.pop()
        found: tuple[Expression, ...] = ()
        conditions: tuple[Condition, ...] = ()
        match node:
            case Filter(child=child, conditions=conditions):
                stack.append((child, once))
            case Join(left=left, right=right, conditions=conditions):
                stack += [(left, False), (right, False)]
            case Generate(child=child, expression=expression):
                found = (expression,)
                stack.append((child, False))
            case Aggregate(child=child, keys=found, kind=kind):
                stack.append((child, kind == "distinct"))
            case Window(child=child, partitions=partitions):
                found = tuple(key for keys in partitions for key in keys)
                stack.append((child, once))
            case Limit(child=child, order=found):
                stack.append((child, once))
            case Project(child=child, outputs=outputs):
                found = tuple(it.expression for it in outputs) if once else ()
                stack.append((child, False))
            case SetOperation(left=left, right=right, all=every):
                stack += [(left, once or not every), (right, once or not every)]
            case _:
                pass  # a relation, or what is not read again at all
        yield from ((it, False) for it in found)
        yield from ((it.expression, True) for it in conditions)
