"""DPP121 unbounded and DPP122 not-yet-pruned: the query itself does not bound the column yet."""

from __future__ import annotations

from collections.abc import Iterator

from sqlrewrite.find.pairs import Pair, by_day
from sqlrewrite.find.reducers import conditions_on, own_conditions
from sqlrewrite.find.restrictions import Conjunct
from sqlrewrite.judge.benefit.carried import carries_constants
from sqlrewrite.judge.benefit.selective_predicate import selective
from sqlrewrite.judge.form import chosen_form
from sqlrewrite.judge.keys import has_few_keys
from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed
from sqlrewrite.plan.algebra import Call, ColumnRef, Expression, Scan, Subquery, Unknown
from sqlrewrite.plan.expressions import canonical, columns, walk
from sqlrewrite.plan.facts.functions import function
from sqlrewrite.plan.lineage import same_column
from sqlrewrite.settings.forms import IN, RANGE, SET, SINGLE, VALUES

# Spark infers no condition for the fact's side of these joins (measured on 4.3).
_NOT_INFERRED = frozenset({"left anti", "not exists", "not in (correlated)"})


def judge_bound(proposal: Proposal) -> Judgement:
    """Whether the query does not bind the column of the scan to one value."""
    if proposal.pair.edge.kind in _NOT_INFERRED:
        items = own_conditions(proposal.plan, proposal.pair.scan.relation, proposal.options.reach)
    else:
        items = conditions_on(proposal.plan, proposal.pair.scan.relation, proposal.options.reach)
    for expression in (item.expression for item in items if isinstance(item, Conjunct)):
        if binds_to_one_value(expression, proposal.pair.pruned):
            return failed(f"the query binds {proposal.pair.pruned} to one value by itself")
    return passed(f"{proposal.pair.pruned} is not bound to one value")


def judge_pruned(proposal: Proposal) -> Judgement:
    """Whether the query does not have the same IN already."""
    pair = proposal.pair
    if pair.derived is not None:
        return passed("the query says nothing of the derived column itself")
    if is_authors_in(pair):
        return _judge_in(proposal)
    if carries_constants(proposal):
        key = proposal.label(pair.key)
        return failed(
            f"{proposal.engine.title} carries the constants on {key} over to {pair.pruned} by "
            "itself"
        )
    for expression in _conditions(proposal, pair.scan):
        if isinstance(expression, Subquery) and _same_keys(proposal, expression):
            return failed("the query has this predicate already, or a tighter one")
    return passed("the query has no such predicate yet")


def is_authors_in(pair: Pair) -> bool:
    """Whether the pair comes from an IN that the author wrote."""
    return (pair.edge.kind, pair.side) == ("in", "outside") and pair.derived is None


def _judge_in(proposal: Proposal) -> Judgement:
    """Whether a predicate prunes where the author's IN does not: Spark prunes by an IN only where
    it broadcasts the subquery, and only a hint makes it surely do so (docs/spark.md)."""
    query, form = proposal.pair.edge.query, chosen_form(proposal)
    if form == SINGLE:
        return passed("= to the one value prunes, where the author's IN does not")
    if has_few_keys(proposal) and form == SET:
        return passed("a set of the few keys prunes, where the author's IN does not")
    if form == RANGE and proposal.clustered:
        return passed("the ends of the keys rule out row groups, which the author's IN does not")
    assert query is not None
    hinted = any(proposal.plan.blocks[number].hints for number in query.blocks)
    if form == VALUES and (proposal.clustered or by_day(proposal.pair) or not hinted):
        return passed("constants prune, where the author's IN does not, or not always")
    better = form == SET or (form == IN and proposal.options.hint)
    if hinted or not better or not proposal.engine.reuse_broadcast_only:
        return failed("the query has this IN already")
    return passed("the author's IN has no hint: it prunes only where the subquery is broadcast")


def _conditions(proposal: Proposal, scan: Scan) -> Iterator[Expression]:
    """The conditions that reach a scan, over its own columns."""
    for item in conditions_on(proposal.plan, scan.relation, proposal.options.reach):
        if isinstance(item, Conjunct):
            yield item.expression


def binds_to_one_value(expression: Expression, column: str) -> bool:
    """Whether a condition lets a column have one value only."""
    match expression:
        case Call(name="=" | "<=>" | "in", args=(one, other)):
            return any(
                isinstance(a, ColumnRef) and a.name == column and _constant(b)
                for a, b in ((one, other), (other, one))
            )
        case _:
            return False


def _constant(expression: Expression) -> bool:
    """Whether an expression has one value for the whole query: no columns, nothing unknown, and
    only functions that give the same value each time."""
    return not columns(expression) and not any(
        isinstance(node, Unknown) or (isinstance(node, Call) and not _repeats(node.name))
        for node in walk(expression)
    )


def _repeats(name: str) -> bool:
    found = function(name)
    return found is not None and found.repeatable


def _same_keys(proposal: Proposal, condition: Subquery) -> bool:
    """Whether the author's ``p IN (SELECT k FROM D WHERE …)`` keeps no key that ours would drop:
    the same column of the same table under at least the same conditions."""
    pair, plan = proposal.pair, proposal.plan
    ours = pair.dimension
    operand = condition.operand
    if condition.kind != "in" or not isinstance(operand, ColumnRef) or not isinstance(ours, Scan):
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
    written = {canonical(found.expression) for found in block.where}
    repeated = proposal.restrictions
    return all(isinstance(it, Conjunct) and canonical(it.expression) in written for it in repeated)


def has_selective_condition(proposal: Proposal, scan: Scan) -> bool:
    """Whether a condition that is likely to leave few rows applies to a scan."""
    return any(selective(proposal.engine, expression) for expression in _conditions(proposal, scan))


def binds_partition(proposal: Proposal, scan: Scan) -> bool:
    """Whether the query binds one of a scan's own partition columns to one value."""
    fields = scan.table.partitioning
    conditions = _conditions(proposal, scan)
    return any(binds_to_one_value(it, column) for it in conditions for column in fields)
