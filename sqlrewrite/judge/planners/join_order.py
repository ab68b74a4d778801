"""Questions of all planners: which relations are on the other side of the fact's join, whether its
column reaches that join, and whether anything further restricts the keys.

Inner joins, commas included, are one list to Spark, of which ``ReorderJoin`` makes a left-deep
tree: next is always the first relation that a condition connects with those before it. (Its
cost-based and star-schema orders are off by default.)
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlrewrite.find.pairs import Pair
from sqlrewrite.find.restrictions import neighbours
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import expression_type
from sqlrewrite.plan.memo import remembered
from sqlrewrite.plan.relations import conditions_of, leaves, numbers, operators
from sqlrewrite.rulebook import Engine

_CLAUSES = (ra.Project, ra.Limit, ra.Aggregate, ra.Filter, ra.Window)
_INNER = (ra.JoinType.INNER, ra.JoinType.CROSS)

Input = tuple[ra.Node, bool]
"""An input of a chain of inner joins, and whether an explicit CROSS JOIN adds it."""


def unlisted_join(engine: Engine, pair: Pair) -> str | None:
    """Why the engine prunes by no join of this kind; None if its table lists the kind."""
    if engine.enabled and f"{pair.edge.kind} {pair.side}" in engine.native_joins:
        return None
    if pair.side in ("outside", "inside"):
        where = f"{pair.edge.kind.upper()} with the fact {pair.side} the subquery"
    else:
        where = f"{pair.edge.kind.upper()} JOIN with the fact on its {pair.side}"
    return f"it does not prune by {where}"


def restricted_further(proposal: Proposal) -> str | None:
    """The reason if a neighbour beyond the other side of the join restricts the keys; else None."""
    side = filtering_side(proposal.plan, proposal.pair)
    inside = {leaf.relation for node in side for leaf in leaves(node)}
    more = any(neighbour.relation not in inside for neighbour in neighbours(proposal.restrictions))
    return "a neighbour of the dimension restricts the keys further" if more else None


def hidden_column(proposal: Proposal) -> str | None:
    """Why the partition column does not reach the join unchanged; None if it does."""
    pair, plan = proposal.pair, proposal.plan
    if pair.path.barriers or pair.path.computed:
        return f"`{pair.path.column}` does not reach the join unchanged"
    above = pair.path.relations[:-1]
    for relation in above:
        if not isinstance(relation, ra.Derived | ra.CteReference) or not only_unions(
            relation.query
        ):
            return f"`{pair.path.column}` does not reach the join unchanged"
    if any(
        len(reader.query.top) > 1
        for reader in above
        if isinstance(reader, ra.Derived | ra.CteReference)
    ):
        column = pair.scan.table.column(pair.path.column)
        kinds = {expression_type(plan, pair.fact), expression_type(plan, pair.key)}
        plain = pair.fact_plain and pair.key_plain
        if not plain or column is None or kinds != {column.type} or None in kinds:
            return "a cast above the UNION hides the column"
    return None


def only_unions(query: ra.Query) -> bool:
    """Whether all set operations at the top of a query are unions."""
    return all(
        operator.kind == "union"
        if isinstance(operator, ra.SetOperation)
        else isinstance(operator, _CLAUSES)
        for operator in operators(query)
    )


def join_of(node: ra.Node, one: int, other: int) -> ra.Join | None:
    """The join between two relations of one FROM; None if there is none."""
    join = None
    while isinstance(node, ra.Join) and {one, other} <= numbers(node):
        join, below = node, numbers(node.left)
        if (one in below) != (other in below):
            return join
        node = node.left if one in below else node.right
    return None


# --- the order of joins ---------------------------------------------------------------------------


def filtering_side(plan: ra.Plan, pair: Pair) -> tuple[ra.Node, ...]:
    """The relations and joins on the other side of the fact's join, the dimension among them; none
    if no single equality joins the two, or the order of the joins is not certain."""
    block, query = pair.edge.block, pair.edge.query
    if query is not None and pair.side == "outside":
        return (plan.blocks[query.top[0]].source,) if len(query.top) == 1 else ()
    tied = pair.edge.condition.relations
    if pair.fact.relation not in tied or pair.key.relation not in tied:
        return ()  # the equality is with a third relation
    inside = numbers(block.source)
    if pair.side == "outside":
        return (block.source,) if pair.key.relation in inside else ()
    if not {pair.fact.relation, pair.key.relation} <= inside:
        return ()
    return _across(plan, block, pair.fact.relation, pair.key.relation)


def _across(plan: ra.Plan, block: ra.Block, fact: int, key: int) -> tuple[ra.Node, ...]:
    node: ra.Node = block.source
    while isinstance(node, ra.Join):
        if node.type in _INNER:
            inputs, places = _ordered(plan, block, node), _places(plan, block, node)
            at, to = places[fact], places[key]
            if at != to:
                # PartitionPruning matches inner joins, and an explicit CROSS JOIN stays one.
                crossed = inputs[max(at, to)][1]
                across = inputs[to : to + 1] if to > at else inputs[:at]
                return () if crossed else tuple(node for node, _ in across)
            node = inputs[at][0]
        else:
            on_left = numbers(node.left)
            if (fact in on_left) != (key in on_left):
                return (node.right if fact in on_left else node.left,)
            node = node.left if fact in on_left else node.right
    return ()


def _inputs(node: ra.Node) -> list[Input]:
    """The inputs of a left-deep chain of inner joins, from left to right."""
    inputs: list[Input] = []
    while isinstance(node, ra.Join) and node.type in _INNER:
        inputs.append((node.right, node.type is ra.JoinType.CROSS and not node.comma))
        node = node.left
    return [(node, False), *reversed(inputs)]


@remembered
def _ordered(plan: ra.Plan, block: ra.Block, node: ra.Join) -> list[Input]:
    """The inputs of a chain of inner joins in the order in which Spark joins them."""
    conditions: dict[int, list[ra.Condition]] = {}
    for condition in conditions_of(block):
        for relation in condition.relations:
            conditions.setdefault(relation, []).append(condition)
    first, *rest = _inputs(node)
    ordered, joined = [first], numbers(first[0])
    while rest:
        tied = (other for other in rest if _tied(joined, numbers(other[0]), conditions))
        chosen = next(tied, rest[0])
        rest.remove(chosen)
        ordered.append(chosen)
        joined |= numbers(chosen[0])
    return ordered


@remembered
def _places(plan: ra.Plan, block: ra.Block, node: ra.Join) -> dict[int, int]:
    """The place in ``_ordered`` of the input that has a relation, by its number."""
    inputs = enumerate(_ordered(plan, block, node))
    return {relation: at for at, (tree, _) in inputs for relation in numbers(tree)}


def _tied(
    joined: frozenset[int], other: frozenset[int], conditions: Mapping[int, list[ra.Condition]]
) -> bool:
    """Whether a condition ties the relations of an input to those that are joined before."""
    return any(
        not condition.relations.isdisjoint(joined)
        and all(number in joined or number in other for number in condition.relations)
        for relation in other
        for condition in conditions.get(relation, ())
    )
