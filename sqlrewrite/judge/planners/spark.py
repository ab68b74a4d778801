"""What Spark prunes by itself. It prunes a fact if (``PartitionPruning``, ``JoinSelection``;
docs/spark.md, "Where native dynamic partition pruning stops"):

1. the engine's table lists the join type and the fact's side: the other one, the filtering side,
can be broadcast; 2. an equality, `=`, is between the fact's side and the filtering side, in one
join of the tree as the planner orders it (``ReorderJoin``); 3. the partition column reaches that
join unchanged: no barrier, and no cast above a union; 4. the filtering side has a selective
condition: one that is written, or inferred over an equality (``InferFiltersFromConstraints``), but
not one of a neighbour that the planner joins elsewhere; 5. the filtering side is small enough to be
broadcast: mostly a single relation, as the size of a join is the product of its sides; 6. no hint
says how to join, except one to broadcast the filtering side, of whatever size; 7. no neighbour
outside the filtering side restricts the keys further, so that our predicate would be tighter.

If one of these is not certain, Spark counts as missing it: a needless predicate costs little.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, prod

from sqlrewrite.find.rank_pairs import window_function
from sqlrewrite.find.reducers import all_restrictions
from sqlrewrite.find.restrictions import AnyOf, Conjunct, Restriction, SemiJoin, plain_conditions
from sqlrewrite.judge.benefit.keys import selective
from sqlrewrite.judge.planners.join_order import (
    filtering_side,
    hidden_column,
    restricted_further,
    unlisted_join,
)
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import computed_as
from sqlrewrite.plan.expressions import walk
from sqlrewrite.plan.facts.functions import tagged
from sqlrewrite.plan.memo import remembered, shared
from sqlrewrite.plan.relations import leaves, operators, read_by
from sqlrewrite.settings.options import ALONE

_ROWS = "4.3"
"""The version since which Spark prunes by literal rows (SPARK-54593)."""

_BROADCASTS = ("broadcast", "broadcastjoin", "mapjoin")


def missed(proposal: Proposal) -> str | None:
    """Why Spark does not find as good a bound by itself; None if it does."""
    return unpruned(proposal) or restricted_further(proposal)


def unpruned(proposal: Proposal) -> str | None:
    """Why Spark does not prune the fact by this join; None if it does."""
    pair, engine = proposal.pair, proposal.engine
    why = unlisted_join(engine, pair)
    if why is not None:
        return why
    side = filtering_side(proposal.plan, pair)
    if pair.operator != "=" or not side:
        return "no equality joins the fact with the dimension itself"
    why = hidden_column(proposal)
    if why is not None:
        return why
    if not any(_filtered(proposal, leaf) for node in side for leaf in leaves(node)):
        if _is_rows(proposal, side):
            return None if engine.since(_ROWS) else f"before {_ROWS} it does not prune by VALUES"
        return f"nothing filters {proposal.quoted_dimension} in its join with the fact"
    if any(_ranked(proposal, leaf) for node in side for leaf in leaves(node)):
        return f"{proposal.quoted_dimension} keeps only the first rows of a window"
    if engine.reuse_broadcast_only:
        if any(_tests_for_rows(proposal, leaf) for node in side for leaf in leaves(node)):
            return f"a subquery under OR makes a join of {proposal.quoted_dimension}"
        size = prod(_bytes(proposal, node) for node in side)
        hinted = [block for block in proposal.plan.blocks if block.hints]
        if hinted and not _broadcast(side, pair.edge.block, hinted):
            return "a join hint rules out a broadcast of the dimension alone"
        if not hinted and size > engine.broadcast_threshold:
            return f"{proposal.quoted_dimension} may be too large to be broadcast"
    return None


@shared
def _ranked(proposal: Proposal, leaf: ra.Node) -> bool:
    """Whether the query keeps only the first rows of a window: Spark limits the rows below the
    window (``InferWindowGroupLimit``), and then the join does not prune."""
    if not isinstance(leaf, ra.Derived | ra.CteReference) or not _numbers_rows(proposal.plan):
        return False
    items = all_restrictions(proposal.plan, leaf.relation, ALONE)
    outside = any(_is_first(proposal, condition) for condition in plain_conditions(items))
    return outside or _ranked_inside(proposal, leaf.query)


@shared
def _tests_for_rows(proposal: Proposal, leaf: ra.Node) -> bool:
    """Whether an IN or EXISTS decides beside something else which rows of a relation there are: to
    the planner a join of the relation with the subquery, of the size of their product."""
    if not isinstance(leaf, ra.Relation):
        return False
    items = all_restrictions(proposal.plan, leaf.relation, ALONE)
    if any(isinstance(item, Conjunct) and _is_tested(item.expression) for item in items):
        return True
    if not isinstance(leaf, ra.Derived | ra.CteReference):
        return False
    blocks = [proposal.plan.blocks[number] for number in leaf.query.top]
    return any(_tests_for_rows(proposal, inner) for one in blocks for inner in leaves(one.source))


def _is_tested(expression: ra.Expression) -> bool:
    match expression:
        case ra.Subquery() | ra.Call(name="not", args=(ra.Subquery(),)):
            return False
        case _:
            subqueries = (part for part in walk(expression) if isinstance(part, ra.Subquery))
            return any(subquery.kind in ("in", "exists") for subquery in subqueries)


@remembered
def _numbers_rows(plan: ra.Plan) -> bool:
    """Whether the statement calls a function that numbers or ranks rows. Most do not."""
    return any(not block.functions.isdisjoint(tagged("numbers")) for block in plan.blocks)


@shared
def _ranked_inside(proposal: Proposal, query: ra.Query) -> bool:
    blocks = [proposal.plan.blocks[number] for number in query.top]
    return any(
        any(_is_first(proposal, having.expression) for having in block.having)
        or any(_ranked(proposal, leaf) for leaf in leaves(block.source))
        for block in blocks
    )


def _is_first(proposal: Proposal, expression: ra.Expression) -> bool:
    match expression:
        case ra.Call(name="=" | "<" | "<=", args=(ra.ColumnRef() as column, ra.Literal())):
            values = computed_as(proposal.plan, column)
        case ra.Call(name="=" | "<" | "<=", args=(value, ra.Literal())):
            values = (value,)
        case _:
            return False
    return any(window_function(value) in tagged("numbers") for value in values)


def _broadcast(side: Sequence[ra.Node], block: ra.Block, hinted: Sequence[ra.Block]) -> bool:
    """Whether the only join hint broadcasts the filtering side."""
    names = {getattr(node, "alias", "").lower() for node in side}
    hints = {(kind in _BROADCASTS, name) for kind, name in block.hints}
    return list(hinted) == [block] and hints == {(True, name) for name in names}


# --- the filtering side ---------------------------------------------------------------------------


@shared
def _filtered(proposal: Proposal, leaf: ra.Node) -> bool:
    """Whether a relation has a selective filter on it or inside."""
    if not isinstance(leaf, ra.Relation):
        return False
    if _reads_rows(proposal, leaf):
        return False  # the conditions on literal rows are gone when pruning is planned
    items = all_restrictions(proposal.plan, leaf.relation, ALONE)
    if any(_selects(proposal, item) for item in items):
        return True
    return isinstance(leaf, ra.Derived | ra.CteReference) and _filters(proposal, leaf.query)


@shared
def _reads_rows(proposal: Proposal, node: ra.Node) -> bool:
    """Whether a relation reads nothing but literal rows."""
    match node:
        case ra.Derived(query=query) | ra.CteReference(query=query):
            sources = [proposal.plan.blocks[number].source for number in query.top]
            return all(_reads_rows(proposal, leaf) for source in sources for leaf in leaves(source))
        case _:
            return isinstance(node, ra.Inline)


def _is_rows(proposal: Proposal, side: Sequence[ra.Node]) -> bool:
    """Whether the filtering side is literal rows when pruning is planned: Spark computes conditions
    and expressions over them before, but no aggregate (``ConvertToLocalRelation``)."""
    pair = proposal.pair
    query = pair.edge.query if pair.side == "outside" else None
    return len(side) == 1 and _computed(proposal, side[0]) and (query is None or _plain(query))


@shared
def _computed(proposal: Proposal, node: ra.Node) -> bool:
    plan = proposal.plan
    match node:
        case ra.Inline(sampled=False):
            sources = []
        case (
            ra.Derived(sampled=False, lateral=False, query=query)
            | ra.CteReference(sampled=False, query=query)
        ) if query.top and _plain(query):
            sources = [plan.blocks[number].source for number in query.top]
        case _:
            return False
    return all(_computed(proposal, source) for source in sources) and all(
        isinstance(item, Conjunct)
        and not any(isinstance(part, ra.Subquery) for part in walk(item.expression))
        for item in all_restrictions(plan, node.relation, ALONE)
    )


def _plain(query: ra.Query) -> bool:
    """Whether a query only selects rows and computes columns, or is a UNION ALL of such queries."""
    return all(
        isinstance(operator, ra.Project | ra.Filter)
        or (isinstance(operator, ra.SetOperation) and operator.kind == "union" and operator.all)
        for operator in operators(query)
    )


@shared
def _filters(proposal: Proposal, query: ra.Query) -> bool:
    """Whether a query has a selective filter somewhere."""
    blocks = [proposal.plan.blocks[number] for number in query.top]
    return any(
        any(_selective(proposal, having.expression) for having in block.having)
        or any(_filtered(proposal, leaf) for leaf in leaves(block.source))
        for block in blocks
    )


def _selects(proposal: Proposal, item: Restriction) -> bool:
    match item:
        case Conjunct(expression=expression):
            return _selective(proposal, expression)
        case AnyOf(branches=branches):
            return all(any(_selects(proposal, inner) for inner in branch) for branch in branches)
        case SemiJoin():
            return False


def _selective(proposal: Proposal, expression: ra.Expression) -> bool:
    """Whether a condition is selective (``isLikelySelective``) in the form that the optimizer gives
    it: a subquery as a semi-join, `x = true` as `x`."""
    match expression:
        case ra.Subquery(kind="in" | "exists", query=query):
            return _filters(proposal, query)
        case ra.Call(name="not", args=(ra.Subquery(query=query),)):
            return _filters(proposal, query)
        case ra.Call(name="and", args=args):
            return any(_selective(proposal, arg) for arg in args)
        case ra.Call(name="or", args=args):
            return not any(isinstance(arg, ra.Subquery) for arg in args) and all(
                _selective(proposal, arg) for arg in args
            )
        case ra.Call(name="not", args=(inner,)):
            return _selective(proposal, inner)
        case _:
            return selective(proposal, expression)


def _bytes(proposal: Proposal, node: ra.Node) -> float:
    """The planner's upper estimate of a relation's or join's bytes
    (``SizeInBytesOnlyStatsPlanVisitor``). Without sizes, a table without partitions, or a union of
    such tables, counts as just small enough to be broadcast."""
    match node:
        case ra.Inline() | ra.Generate(expression=ra.Call(name="range")):
            return 1
        case ra.Generate(child=child):
            return _bytes(proposal, child)
        case ra.Scan(table=table):
            if table.size_in_bytes is not None:
                return float(table.size_in_bytes)  # the product of floats does not overflow
            return (
                inf
                if table.partitioned_by
                else max(1.0, float(proposal.engine.broadcast_threshold))
            )
        case ra.Derived(lateral=True):
            return inf
        case ra.Derived(query=query) | ra.CteReference(query=query) if query.top:
            return _bytes_of_query(proposal, query)
        case ra.Join(type=ra.JoinType.SEMI | ra.JoinType.ANTI, left=left):
            return _bytes(proposal, left)
        case ra.Join(left=left, right=right):
            return _bytes(proposal, left) * _bytes(proposal, right)
        case _:
            return inf


@shared
def _bytes_of_query(proposal: Proposal, query: ra.Query) -> float:
    sizes = [_bytes(proposal, proposal.plan.blocks[number].source) for number in query.top]
    read = [relation for relation in read_by(proposal.plan, query) if isinstance(relation, ra.Scan)]
    any_size = any(scan.table.size_in_bytes is not None for scan in read)
    return sum(sizes) if any_size else max(sizes)
