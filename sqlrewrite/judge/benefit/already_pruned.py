"""DPP121 unbounded and DPP122 not-yet-pruned: the query does not already prune the fact itself.

Spark infers ``f.k > 3`` from ``f.k = d.k`` and ``d.k > 3`` (``InferFiltersFromConstraints``;
docs/spark.md, "Constants on the key"): if nothing else restricts the keys, an IN adds nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlrewrite.find.pairs import Pair, by_day
from sqlrewrite.find.reducers import conditions_on, own_conditions
from sqlrewrite.find.restrictions import Conjunct, Restriction, plain_conditions
from sqlrewrite.judge.benefit.keys import has_few_keys, is_constant, repeats, selective
from sqlrewrite.judge.form import chosen_form
from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.algebra import Call, ColumnRef, Expression, Scan, Subquery
from sqlrewrite.plan.columns import type_of
from sqlrewrite.plan.expressions import canonical, columns, walk
from sqlrewrite.plan.facts.coercion import identical
from sqlrewrite.plan.lineage import same_column
from sqlrewrite.plan.memo import count_steps, remembered, shared
from sqlrewrite.plan.relations import relations_of
from sqlrewrite.settings.forms import HINTED, IN, RANGE, SET, SINGLE, VALUES
from sqlrewrite.settings.options import ALONE

# Joins for which Spark infers no condition on the fact (measured on 4.3).
_NOT_INFERRED = frozenset({"left anti", "not exists", "not in (correlated)"})


def judge_bound(proposal: Proposal) -> Judgement:
    """Whether the query does not restrict the column to one value."""
    pruned, inferred = proposal.pair.pruned, proposal.pair.edge.kind not in _NOT_INFERRED
    if _has_one_value(proposal, proposal.pair.scan.relation, pruned, inferred):
        return failed(f"the query restricts `{pruned}` to one value already")
    return passed(f"the query does not restrict `{pruned}` to one value")


@shared
def _has_one_value(proposal: Proposal, relation: int, column: str, inferred: bool) -> bool:
    """Whether the query restricts a relation's column to one value, with or without the conditions
    that an equality carries over."""
    conditions = conditions_on if inferred else own_conditions
    items = conditions(proposal.plan, relation, proposal.options.reach)
    return any(binds_to_one_value(expression, column) for expression in plain_conditions(items))


def judge_pruned(proposal: Proposal) -> Judgement:
    """Whether the query lacks the predicate, and any tighter one."""
    pair = proposal.pair
    if pair.derived is not None:
        return passed("the query has no condition on the derived column itself")
    if is_authors_in(pair):
        return _judge_in(proposal)
    if carries_constants(proposal):
        key = proposal.label(pair.key)
        return failed(
            f"{proposal.engine.title} infers the condition on `{pair.pruned}` from that on {key} "
            "by itself"
        )
    if any(_same_keys(proposal, written) for written in _in_queries(proposal, pair.scan.relation)):
        return failed("the query has this predicate already, or a tighter one")
    return passed("the query has no such predicate yet")


def is_authors_in(pair: Pair) -> bool:
    """Whether the pair is that of an author's ``p IN (SELECT k …)``."""
    return (pair.edge.kind, pair.side) == ("in", "outside") and pair.derived is None


def _judge_in(proposal: Proposal) -> Judgement:
    """Whether a predicate prunes where the author's IN does not: Spark prunes by an IN only if it
    broadcasts the subquery, which only a hint ensures (docs/spark.md)."""
    query, form = proposal.pair.edge.query, chosen_form(proposal)
    if form == HINTED:
        return passed("a hinted IN with a filter prunes Iceberg's files, and the author's does not")
    if form == SINGLE:
        return passed("`=` with the one key prunes, and the author's IN does not")
    if has_few_keys(proposal) and form == SET:
        return passed("a set of the few keys prunes, and the author's IN does not")
    if form == RANGE and proposal.clustered:
        return passed(
            "a range from the smallest to the largest key skips row groups, and the "
            "author's IN does not"
        )
    assert query is not None
    hinted = any(proposal.plan.blocks[number].hints for number in query.blocks)
    if form == VALUES and (proposal.clustered or by_day(proposal.pair) or not hinted):
        return passed("constants always prune, and the author's IN does not")
    better = form == SET or (form == IN and proposal.options.hint)
    if hinted or not better or not proposal.engine.reuse_broadcast_only:
        return failed("the query has this IN already")
    return passed("the author's IN has no hint: it prunes only where the subquery is broadcast")


def _conditions(proposal: Proposal, relation: int) -> Iterator[Expression]:
    """The conditions that apply to a relation, over its own columns."""
    return plain_conditions(conditions_on(proposal.plan, relation, proposal.options.reach))


@shared
def _in_queries(proposal: Proposal, relation: int) -> tuple[Subquery, ...]:
    """The author's ``IN (SELECT …)`` among the conditions that apply to a relation."""
    return tuple(
        condition
        for condition in _conditions(proposal, relation)
        if isinstance(condition, Subquery) and condition.kind == "in"
    )


def binds_to_one_value(expression: Expression, column: str) -> bool:
    """Whether a condition restricts a column to one value."""
    match expression:
        case Call(name="=" | "<=>" | "in", args=(one, other)):
            return any(
                isinstance(a, ColumnRef) and a.name == column and is_constant(b)
                for a, b in ((one, other), (other, one))
            )
        case _:
            return False


def _same_keys(proposal: Proposal, condition: Subquery) -> bool:
    """Whether the author's ``p IN (SELECT k FROM D WHERE …)`` is as tight as ours: the same column
    of the same table under at least the same conditions."""
    pair, plan = proposal.pair, proposal.plan
    ours = pair.dimension
    operand = condition.operand
    if not isinstance(operand, ColumnRef) or not isinstance(ours, Scan):
        return False
    if operand.name != pair.path.column or len(condition.query.top) != 1:
        return False
    block = plan.blocks[condition.query.top[0]]
    theirs = block.source
    if not isinstance(theirs, Scan) or theirs.table.name != ours.table.name:
        return False
    key = ColumnRef(theirs.relation, pair.key.name, None)
    if (
        len(block.outputs) != 1
        or not block.complete
        or not same_column(block.outputs[0].expression, key)
    ):
        return False
    written = {canonical(own.expression) for own in block.where}
    repeated = proposal.restrictions
    return all(
        isinstance(item, Conjunct) and canonical(item.expression) in written for item in repeated
    )


@shared
def has_selective_condition(proposal: Proposal, relation: int) -> bool:
    """Whether a selective condition applies to a relation."""
    return any(selective(proposal, expression) for expression in _conditions(proposal, relation))


def binds_partition(proposal: Proposal, scan: Scan) -> bool:
    """Whether the query restricts one of a scan's partition columns to one value."""
    columns = scan.table.partitioning
    return any(_has_one_value(proposal, scan.relation, column, True) for column in columns)


_INTEGERS = ("tinyint", "smallint", "int", "bigint")
"""Types that the engine widens in a comparison, and still prunes by the cast column; narrowest
first."""


@remembered
def carries_constants(proposal: Proposal) -> bool:
    """Whether the keys are restricted only by conditions that the engine infers for the fact."""
    pair = proposal.pair
    direct = pair.operator == "=" and pair.fact_plain and pair.key_side.operand is not None
    if f"{pair.edge.kind} {pair.side}" not in proposal.engine.carries_constants or not direct:
        return False
    if pair.first or pair.derived is not None or chosen_form(proposal) == VALUES:
        return False  # the keys themselves may be fewer
    if not pair.key_plain or not _alike(proposal.plan, pair.fact, pair.key):
        return False
    constants = _on_key(proposal.plan, pair.dimension, pair.key.name, proposal.restrictions)
    if constants is None:
        return False
    plan, relation = proposal.plan, pair.dimension.relation
    ours = {
        id(own_condition.condition)
        for own_condition in own_conditions(plan, relation, ALONE)
        if isinstance(own_condition, Conjunct)
        and (
            relation in own_condition.condition.relations
            or plan.owner[relation] not in _right_of_joins(plan)
        )
    }
    ours |= {id(condition) for condition in (pair.edge.join.conditions if pair.edge.join else ())}
    # A condition that is itself inferred over an equality is carried no further.
    outside = [
        restriction for restriction in proposal.restrictions if isinstance(restriction, Conjunct)
    ]
    return bool(constants) and all(id(item.condition) in ours for item in outside)


@remembered
def _right_of_joins(plan: ra.Plan) -> frozenset[int]:
    """The blocks that are, or may be, on the right of an INTERSECT or EXCEPT without ALL, with all
    that is read there: Spark makes a join of it, and pushes conditions above it down to its left
    side alone."""
    right: set[int] = set()
    for relation in plan.relations.values():
        if not isinstance(relation, ra.Derived | ra.CteReference):
            continue
        nodes = [(relation.query.node, False)]
        while nodes:
            count_steps()
            node, beside = nodes.pop()
            match node:
                case ra.SetOperation(left=one, right=other, kind=kind, all=every):
                    nodes += [(one, beside), (other, beside or (kind != "union" and not every))]
                case ra.Limit(child=child) | ra.Aggregate(child=child):
                    nodes.append((child, beside))
                case ra.Project(block=block):
                    right |= {block} if beside else set()
                case ra.Unreadable():
                    pass  # nothing is known of it, and nothing concluded
                case _:
                    right |= {*relation.query.top}
    blocks = [*right]
    while blocks:
        for relation in relations_of(plan, blocks.pop()):
            top = relation.query.top if isinstance(relation, ra.Derived | ra.CteReference) else ()
            blocks += {*top} - right
            right |= {*top}
    return frozenset(right)


def _alike(plan: ra.Plan, fact: ra.ColumnRef, key: ra.ColumnRef) -> bool:
    """Whether two columns are compared without a cast, or by widening the fact's integer: if the
    key itself is cast, Spark infers nothing for the fact's column."""
    kinds = type_of(plan, fact), type_of(plan, key)
    if kinds[0] is None or kinds[1] is None:
        return False
    if kinds[0] == kinds[1]:
        return identical(kinds[0])
    fact_kind, key_kind = map(str, kinds)
    return key_kind in _INTEGERS and fact_kind in _INTEGERS[: _INTEGERS.index(key_kind)]


def _on_key(
    plan: ra.Plan, relation: ra.Node, key: str, restrictions: tuple[Restriction, ...]
) -> list[ra.Expression] | None:
    """The conditions on a relation's rows, nested ones included, if each compares only its key with
    constants; else None."""
    if not all(isinstance(item, Conjunct) and not item.condition.in_or for item in restrictions):
        return None
    here = [*plain_conditions(restrictions)]
    if not all(_constants_on(expression, key) for expression in here):
        return None
    match relation:
        case ra.Scan(sampled=False):
            return here
        case ra.Derived(sampled=False, query=query) | ra.CteReference(sampled=False, query=query):
            below = list(_inside(plan, query, relation, key))
            return None if len(below) != 1 or below[0] is None else [*here, *below[0]]
        case _:
            return None


def _inside(
    plan: ra.Plan, query: ra.Query, relation: ra.Derived | ra.CteReference, key: str
) -> Iterator[list[ra.Expression] | None]:
    """Yields once, for the only relation that a derived table or CTE reads, what ``_on_key``
    returns; yields nothing if its query is more than a filtered SELECT."""
    names = relation.columns or query.names
    if len(query.top) != 1 or names is None or names.count(key) != 1:
        return
    block = plan.blocks[query.top[0]]
    column = block.outputs[names.index(key)].expression if block.complete else None
    if block.limit is not None or block.having or not isinstance(column, ra.ColumnRef):
        return
    if isinstance(block.source, ra.Relation) and column.relation == block.source.relation:
        conditions = tuple(Conjunct(condition, condition.expression) for condition in block.where)
        yield _on_key(plan, block.source, column.name, conditions)


def _constants_on(condition: ra.Expression, key: str) -> bool:
    """Whether a condition is on the key alone and the same each time it is evaluated."""
    return {ref.name for ref in columns(condition)} == {key} and all(
        not isinstance(node, ra.Subquery | ra.Unknown)
        and (not isinstance(node, ra.Call) or repeats(node.name))
        for node in walk(condition)
    )
