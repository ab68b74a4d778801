"""The relations that a block, a query or a join tree reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.facts.functions import function
from sqlrewrite.plan.memo import count_steps, remembered

LEFT_ONLY = (ra.JoinType.SEMI, ra.JoinType.ANTI)
"""Joins above which only the columns of the left side can be named."""


def relations_of(plan: ra.Plan, block: int) -> tuple[ra.Relation, ...]:
    """The relations in a block's own FROM."""
    count_steps()
    by_block: dict[int, list[ra.Relation]] | None = plan.memo.get("relations of")
    if by_block is None:
        by_block = plan.memo["relations of"] = {}
        for number, owner in plan.owner.items():
            relation = plan.relations.get(number)
            if isinstance(relation, ra.Relation):
                by_block.setdefault(owner, []).append(relation)
    return tuple(by_block.get(block, ()))


@remembered
def read_by(plan: ra.Plan, query: ra.Query) -> tuple[ra.Relation, ...]:
    """The relations that a query reads at any depth, also through CTEs (each once) and views."""
    reading: list[ra.Relation] = []
    seen: set[int] = set()
    stack = [query]
    while stack:
        for number in stack.pop().blocks:
            for relation in relations_of(plan, number):
                reading.append(relation)
                if isinstance(relation, ra.CteReference) and relation.cte not in seen:
                    seen.add(relation.cte)
                    stack.append(relation.query)
    return tuple(reading)


def readers(plan: ra.Plan, block: int) -> list[int] | None:
    """The relations that read a block's rows directly. None if not all are known: the block is the
    statement's or a subquery's result, or its CTE has a reference that is not bound."""
    if plan.blocks[block].role not in ("derived", "cte", "view"):
        return None
    if any(block in plan.ctes[cte].query.top for cte in plan.unbound):
        return None
    return direct_readers(plan).get(block, [])


@remembered
def direct_readers(plan: ra.Plan) -> dict[int, list[int]]:
    """The derived tables and references that return the rows of each block."""
    by_block: dict[int, list[int]] = {}
    for number, relation in plan.relations.items():
        if isinstance(relation, ra.Derived | ra.CteReference):
            for block in relation.query.top:
                by_block.setdefault(block, []).append(number)
    return by_block


@remembered
def reference_counts(plan: ra.Plan) -> Counter[int]:
    """How many references each CTE has, by its number."""
    references = (item for item in plan.relations.values() if isinstance(item, ra.CteReference))
    return Counter(reference.cte for reference in references)


def one_row(plan: ra.Plan, query: ra.Query) -> bool:
    """Whether a query certainly returns at most one row: by a global aggregate, or by LIMIT 1."""
    tops = [plan.blocks[number] for number in query.top]
    if len(tops) == 1 and isinstance(query.node, ra.Limit) and query.node.most == 1:
        return True
    return len(tops) == 1 and tops[0].aggregate == "global" and not generates(tops[0])


def generates(block: ra.Block) -> bool:
    """Whether a function in a block may make several rows of one."""
    rows = (function(name) for name in block.functions)
    return any(row is None or row.generator for row in rows)


def leaves(node: ra.Node | None, *, named: bool = False) -> Iterator[ra.Relation | ra.Generate]:
    """The relations and generators of a join tree from left to right; with ``named`` only those
    whose columns can be named above it, so not the right side of a semi-join."""
    # Without recursion: hundreds of joins are one deep left spine.
    stack: list[tuple[ra.Node | None, bool]] = [(node, False)]
    while stack:
        top, below = stack.pop()
        count_steps()
        match top:
            case ra.Scan() | ra.Derived() | ra.CteReference() | ra.Inline() | ra.Opaque():
                yield top
            case ra.Generate(child=child):
                if below:
                    yield top
                else:
                    stack += [(top, True), (child, False)]
            case ra.Join(left=left, right=right, type=kind):
                if not named or kind not in LEFT_ONLY:
                    stack.append((right, False))
                stack.append((left, False))
            case _:
                pass


def operators(query: ra.Query) -> Iterator[ra.Node]:
    """The operators of a query above its FROM, from the top. Callers treat kinds that they do not
    list as barriers."""
    stack = [query.node]
    while stack:
        node = stack.pop()
        if not isinstance(node, ra.Relation | ra.Join | ra.Generate):
            yield node
        if isinstance(node, ra.SetOperation):
            stack += [node.left, node.right]
        elif isinstance(node, ra.Project | ra.Limit | ra.Aggregate | ra.Filter | ra.Window):
            stack.append(node.child)


def named(node: ra.Node | None) -> tuple[ra.Relation | ra.Generate, ...]:
    """The relations and generators of a join tree whose columns can be named above it, computed
    once for each join."""

    def joined(left: tuple[Any, ...], join: ra.Join) -> tuple[Any, ...]:
        both = left if join.type in LEFT_ONLY else left + named(join.right)
        count_steps(len(both))
        return both

    return _of_spine(node, "named", lambda one: tuple(leaves(one, named=True)), joined)


def numbers(node: ra.Node | None) -> frozenset[int]:
    """The relation numbers in a join tree."""
    return _of_spine(
        node,
        "numbers",
        lambda one: frozenset(relation_numbers(one)),
        lambda left, join: left | numbers(join.right),
    )


T = TypeVar("T")


def _of_spine(
    node: ra.Node | None,
    key: str,
    of: Callable[[ra.Node | None], T],
    joined: Callable[[T, ra.Join], T],
) -> T:
    """A value of a join tree: ``of`` gives the value of its leftmost relation, and ``joined`` that
    of each join from the value of its left side. Without recursion, as a FROM of hundreds of joins
    is a deep tree."""
    waiting: list[ra.Join] = []
    while isinstance(node, ra.Join) and key not in node.memo:
        waiting.append(node)
        node = node.left
    inside: T = node.memo[key] if isinstance(node, ra.Join) else of(node)
    for join in reversed(waiting):
        inside = join.memo[key] = joined(inside, join)
    return inside


def relation_numbers(node: ra.Node | None) -> Iterator[int]:
    """The relation numbers in a join tree, one after the other."""
    stack = [node]
    while stack:
        top = stack.pop()
        if isinstance(top, ra.Join):
            stack += (top.left, top.right)
        elif isinstance(top, ra.Generate):
            yield top.relation
            stack.append(top.child)
        elif isinstance(top, ra.Relation):
            yield top.relation


def joins(node: ra.Node) -> Iterator[ra.Join]:
    """The joins of a join tree, outermost first."""
    stack = [node]
    while stack:
        top = stack.pop()
        match top:
            case ra.Join(left=left, right=right):
                yield top
                stack += [right, left]
            case ra.Generate(child=child):
                stack.append(child)
            case _:
                pass


def conditions_of(block: ra.Block) -> Iterator[ra.Condition]:
    """The conditions of a block's WHERE, and of the ONs in its FROM."""
    yield from block.where
    for join in joins(block.source):
        yield from join.conditions


def deciding_expressions(query: ra.Query) -> Iterator[tuple[ra.Expression, bool]]:
    """The expressions that decide which rows a query returns, each with whether it is a condition:
    keys of groups and windows, and the columns of a DISTINCT, are none."""
    stack: list[tuple[ra.Node, bool]] = [(query.node, False)]
    while stack:
        node, once = stack.pop()
        others: tuple[ra.Expression, ...] = ()
        conditions: tuple[ra.Condition, ...] = ()
        match node:
            case ra.Filter(child=child, conditions=conditions):
                stack.append((child, once))
            case ra.Join(left=left, right=right, conditions=conditions):
                stack += [(left, False), (right, False)]
            case ra.Generate(child=child, expression=expression):
                others = (expression,)
                stack.append((child, False))
            case ra.Aggregate(child=child, keys=others, kind=kind):
                stack.append((child, kind == "distinct"))
            case ra.Window(child=child, partitions=partitions):
                others = tuple(key for keys in partitions for key in keys)
                stack.append((child, once))
            case ra.Limit(child=child, order=others):
                stack.append((child, once))
            case ra.Project(child=child, outputs=outputs):
                others = tuple(output.expression for output in outputs) if once else ()
                stack.append((child, False))
            case ra.SetOperation(left=left, right=right, all=every):
                stack += [(left, once or not every), (right, once or not every)]
            case _:
                pass  # a relation, or a node that is not understood
        yield from ((other, False) for other in others)
        yield from ((condition.expression, True) for condition in conditions)
