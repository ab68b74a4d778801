"""What Flink prunes by itself in batch mode: partitions of the fact without a key (FLIP-248,
``DynamicPartitionPruningUtils``; checked on Flink 2.3 with Paimon's connector, plan by plan:
docs/engines.md, "Flink"):

1. the join is inner, semi, or an outer one that preserves the dimension;
2. an equality is on the fact's own partition column, which has exactly the key's type;
3. the fact's connector takes keys, and between scan and join is no window, LIMIT or grouping, for
   which Flink may sort;
4. the other side of the join reads one table, which is not partitioned, without a window, LIMIT or
   grouping; a second table does not occur, not even in a subquery;
5. that table has a filter of the listed kinds, among the first two operands of an AND or OR;
6. no join above prunes the same scan: Flink takes the uppermost one.

Further joins of the dimension restrict no keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlrewrite.find.pairs import Pair
from sqlrewrite.find.reducers import conditions_on
from sqlrewrite.find.restrictions import AnyOf, Conjunct, Restriction, flattened, neighbours
from sqlrewrite.judge.planners.join_order import hidden_column, join_of, unlisted_join
from sqlrewrite.judge.proposal import Proposal, quoted_relation, takes_keys
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import expression_type
from sqlrewrite.plan.expressions import walk
from sqlrewrite.plan.relations import leaves, numbers, operators, read_by
from sqlrewrite.rulebook import Engine
from sqlrewrite.settings.options import ALONE

_FIRST = 2
"""The number of operands of an AND or OR that Flink looks at."""


def missed(proposal: Proposal) -> str | None:
    """Why Flink does not find as good a bound by itself; None if it does."""
    pair, engine = proposal.pair, proposal.engine
    why = unpruned(proposal.plan, engine, pair) or hidden_column(proposal)
    if why is not None:
        return why
    inside = {relation.relation for relation in _across(proposal.plan, pair)}
    if any(neighbour.relation not in inside for neighbour in neighbours(proposal.restrictions)):
        return "a neighbour of the dimension restricts the keys further"
    others = (
        other_pair
        for other_pair in proposal.pairs
        if other_pair.scan.relation == pair.scan.relation
    )
    for other in others:
        if other.dimension.relation in inside or unpruned(proposal.plan, engine, other) is not None:
            continue
        if not _above(pair, other):
            return f"it prunes `{pair.scan.alias}` by one join only, that with another dimension"
    return None


def unpruned(plan: ra.Plan, engine: Engine, pair: Pair) -> str | None:
    """Why Flink does not prune the fact by this join; None if it does."""
    why = unlisted_join(engine, pair)
    if why is not None:
        return why
    side = _across(plan, pair)
    if pair.operator != "=" or not pair.fact_plain or not side:
        return "no equality joins the fact's own column with the dimension itself"
    kinds = {expression_type(plan, its.expression) for its in (pair.fact_side, pair.key_side)}
    if len(kinds) != 1 or None in kinds:
        return "a cast may hide the column, as the two are not known to have the same type"
    if not takes_keys(engine, pair.scan, pair.path.column):
        return f"the connector of `{pair.scan.alias}` takes no keys for `{pair.path.column}`"
    if not passed(pair.path.relations[:-1]):
        why = "a window, LIMIT, grouping or set operation"
        return f"{why} is between the join and `{pair.scan.alias}`"
    why = _unfit(plan, side, pair)
    if why is None and not any(_filtered(plan, engine, relation) for relation in side):
        return f"no filter on {quoted_relation(pair.dimension)} is of a kind that it looks at"
    return why


# --- the dimension's side -------------------------------------------------------------------------


def _across(plan: ra.Plan, pair: Pair) -> tuple[ra.Relation, ...]:
    """The relations that the other side of the join reads, nested ones included, in the order of
    the text, which Flink keeps; none if no join is between fact and key."""
    fact, key = pair.fact.relation, pair.key.relation
    if pair.edge.query is not None and pair.side == "outside":
        return tuple(read_by(plan, pair.edge.query))
    if pair.edge.query is None and not {fact, key} <= pair.edge.condition.relations:
        return ()  # the key's table is not in this join
    node: ra.Node = plan.blocks[plan.owner[key]].source
    join = join_of(node, fact, key)
    if join is not None:
        node = join.right if fact in numbers(join.left) else join.left
    elif fact in numbers(node):
        return ()
    return tuple(_read(plan, node))


def _above(pair: Pair, other: Pair) -> bool:
    """Whether a pair's join surely is above another one with the same fact."""
    if pair.edge.block is not other.edge.block or pair.edge.query or other.edge.query:
        return False
    source = pair.edge.block.source
    ours, theirs = (join_of(source, of.fact.relation, of.key.relation) for of in (pair, other))
    return ours is not None and theirs is not None and numbers(theirs) < numbers(ours)


def _read(plan: ra.Plan, node: ra.Node) -> Iterator[ra.Relation]:
    for leaf in leaves(node):
        if isinstance(leaf, ra.Relation):
            yield leaf
        if isinstance(leaf, ra.Derived | ra.CteReference):
            yield from read_by(plan, leaf.query)


def _unfit(plan: ra.Plan, side: tuple[ra.Relation, ...], pair: Pair) -> str | None:
    """Why Flink collects no keys on a side of the join; None if it does."""
    relations = list(side)
    for relation in side:
        for item in conditions_on(plan, relation.relation, ALONE):
            for query in _subqueries(item):
                inner = list(read_by(plan, query))
                if pair.scan not in inner:
                    relations += inner
    tables = {scan.table.name: scan for scan in relations if isinstance(scan, ra.Scan)}
    all_read = all(isinstance(scan, ra.Scan | ra.Derived | ra.CteReference) for scan in relations)
    if len(tables) != 1 or not all_read:
        return "it prunes only by the keys of a single table"
    (table,) = tables.values()
    if table.table.partitioned_by:
        return f"{quoted_relation(table)} is partitioned: it collects no keys of such a table"
    queries = () if pair.edge.query is None or pair.side == "inside" else (pair.edge.query,)
    if not passed(relations, *queries):
        return "it collects no keys through a window, LIMIT, grouping or set operation"
    return None


def passed(relations: Iterable[ra.Relation], *queries: ra.Query) -> bool:
    """Whether relations and queries have no grouping, window or LIMIT, and no set operation except
    UNION ALL."""
    inner = [
        relation.query
        for relation in relations
        if isinstance(relation, ra.Derived | ra.CteReference)
    ]
    return all(_unsorted(operator) for query in (*inner, *queries) for operator in operators(query))


def _unsorted(node: ra.Node) -> bool:
    match node:
        case ra.SetOperation(kind="union", all=True) | ra.Aggregate(kind="global"):
            return True
        case _:
            return isinstance(node, ra.Project | ra.Filter)


def _subqueries(item: Restriction) -> Iterator[ra.Query]:
    for part in flattened([item]):
        for node in walk(part.expression) if isinstance(part, Conjunct) else ():
            if isinstance(node, ra.Subquery):
                yield node.query


# --- its filter -----------------------------------------------------------------------------------


def _filtered(plan: ra.Plan, engine: Engine, relation: ra.Relation) -> bool:
    conditions = conditions_on(plan, relation.relation, ALONE)
    return any(_suits(engine, item) for item in conditions[:_FIRST])


def _suits(engine: Engine, item: Restriction) -> bool:
    match item:
        case Conjunct(expression=expression):
            return suitable(engine, expression)
        case AnyOf(branches=branches):
            return all(
                any(_suits(engine, part) for part in each[:_FIRST]) for each in branches[:_FIRST]
            )
        case _:
            return False


def suitable(engine: Engine, expression: ra.Expression) -> bool:
    """Whether Flink counts a condition as a filter, in the form that its planner gives it."""
    match expression:
        case ra.Call(name="and" | "or" as name, args=args):
            first = [suitable(engine, operand) for operand in _flat(name, args)[:_FIRST]]
            return any(first) if name == "and" else all(first)
        case ra.Call(name="not", args=(ra.Call(name="is", args=(_, ra.Literal(kind="boolean"))),)):
            return True  # IS NOT TRUE, IS NOT FALSE
        case ra.Call(name="not", args=(inner,)):
            return suitable(engine, inner)
        case ra.Call(name="is" | "=" | "<>", args=(inner, ra.Literal(kind="boolean"))):
            return suitable(engine, inner)
        case ra.Call(name=name, args=args):
            constant = all(isinstance(arg, ra.Literal) for arg in args)
            return not constant and name in engine.predicates
        case _:
            return False


def _flat(name: str, args: Sequence[ra.Expression]) -> list[ra.Expression]:
    operands: list[ra.Expression] = []
    for arg in args:
        inside = isinstance(arg, ra.Call) and arg.name == name
        operands += _flat(name, arg.args) if isinstance(arg, ra.Call) and inside else [arg]
    return operands
