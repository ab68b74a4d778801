"""What stands between a fact and the join that would prune it, and what restricts the keys beyond
that join: questions that each engine's planner asks."""

from __future__ import annotations

from collections.abc import Iterator

from sqlrewrite.find.pairs import Pair
from sqlrewrite.find.restrictions import neighbours
from sqlrewrite.judge.planners.join_order import filtering_side
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import expression_type
from sqlrewrite.plan.relations import leaves, numbers
from sqlrewrite.rulebook import Engine

_READ = (ra.Scan, ra.Derived, ra.CteReference, ra.Inline, ra.Opaque, ra.Join, ra.Generate)
_CLAUSES = (ra.Project, ra.Limit, ra.Aggregate, ra.Filter, ra.Window)


def unlisted_join(engine: Engine, pair: Pair) -> str | None:
    """That the engine prunes nothing by joins of this kind, if so: they are not in its table."""
    if engine.enabled and f"{pair.edge.kind} {pair.side}" in engine.native_joins:
        return None
    return f"a join of this kind ({pair.edge.kind}, the fact {pair.side}) prunes nothing there"


def restricted_further(proposal: Proposal) -> str | None:
    """That the keys are restricted by more than what stands across the join, if they are."""
    inside = {
        leaf.relation
        for node in filtering_side(proposal.plan, proposal.pair)
        for leaf in leaves(node)
    }
    more = any(it.relation not in inside for it in neighbours(proposal.restrictions))
    return "a neighbour of the dimension restricts the keys further" if more else None


def hidden_column(proposal: Proposal) -> str | None:
    """What hides the partition column from the join, if something does."""
    pair, plan = proposal.pair, proposal.plan
    if pair.path.barriers or pair.path.computed:
        return f"{pair.path.column} does not come up to the join as itself"
    above = pair.path.relations[:-1]
    for relation in above:
        if not isinstance(relation, ra.Derived | ra.CteReference) or not only_unions(
            relation.query
        ):
            return f"{pair.path.column} does not come up to the join as itself"
    if any(len(it.query.top) > 1 for it in above if isinstance(it, ra.Derived | ra.CteReference)):
        column = pair.scan.table.column(pair.path.column)
        kinds = {expression_type(plan, pair.fact), expression_type(plan, pair.key)}
        plain = pair.fact_plain and pair.key_plain
        if not plain or column is None or kinds != {column.type} or None in kinds:
            return "above the union a cast hides the column"
    return None


def only_unions(query: ra.Query) -> bool:
    """Whether the set operations at the top of a query, if any, are unions."""
    return all(
        it.kind == "union" if isinstance(it, ra.SetOperation) else isinstance(it, _CLAUSES)
        for it in operators(query)
    )


def operators(query: ra.Query) -> Iterator[ra.Node]:
    """What stands in a query above all that it reads and joins, from the top. Who looks for what is
    in the way of a key takes any kind that it has no case for to be in the way."""
    stack = [query.node]
    while stack:
        node = stack.pop()
        if not isinstance(node, _READ):
            yield node
        if isinstance(node, ra.SetOperation):
            stack += [node.left, node.right]
        elif isinstance(node, _CLAUSES):
            stack.append(node.child)


def join_of(node: ra.Node, one: int, other: int) -> ra.Join | None:
    """The join that brings two relations together; none where they are not in one FROM."""
    found = None
    while isinstance(node, ra.Join) and {one, other} <= numbers(node):
        found, left = node, numbers(node.left)
        if (one in left) != (other in left):
            return found
        node = node.left if one in left else node.right
    return None
