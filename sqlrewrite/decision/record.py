"""The decision on a statement as people and machines read it: candidates, and the explain diff."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sqlrewrite.copies import replace
from sqlrewrite.decision.statement_decision import StatementDecision
from sqlrewrite.find.pairs import Pair
from sqlrewrite.find.reading import guarded
from sqlrewrite.judge.benefit.cost import estimate
from sqlrewrite.judge.benefit.missed_by_engine import engine_alone
from sqlrewrite.judge.proposal import Proposal, relation_name
from sqlrewrite.plan.algebra import ColumnRef, Derived, Plan
from sqlrewrite.plan.render import Filters, diff
from sqlrewrite.results import (
    Candidate,
    EngineAlone,
    JoinUse,
    PlanDiff,
    PlanLine,
    PrunesAlone,
    TableUse,
    Verdict,
)
from sqlrewrite.sql.parse.statements import Failure

_MOST_LITERALS = 10

Locate = Callable[[int], tuple[int, int]]
"""An offset to a line and a column."""


def candidates(result: StatementDecision, place: Locate) -> list[Candidate]:
    """The candidates of a statement."""
    return [_candidate(result, proposal, place) for proposal in result.proposals]


def plan_diff(result: StatementDecision, place: Locate) -> PlanDiff | None:
    """The explain diff of a statement; None where nothing is inserted."""
    filters: dict[int, dict[str, str]] = {}
    for proposal in result.proposals:
        own = filters.setdefault(proposal.pair.target.relation, {})
        for predicate in proposal.predicates:
            own.setdefault(_shown(predicate.text), " " if proposal.stands else "+")
    if not any("+" in own.values() for own in filters.values()):
        return None
    line, _ = place(result.reading.statement.start)
    index = result.reading.statement.index
    # Without all that was asked of the plan: a result that is kept would keep that, too.
    plan = replace(result.plan, memo={})
    return PlanDiff(index, line, draw=partial(_drawn, plan, filters))


def _shown(predicate: str) -> str:
    """A predicate, shortened if it has very many literals."""
    literals = predicate.split(", ")
    if len(literals) <= _MOST_LITERALS or "(SELECT" in predicate.upper():
        return predicate
    return f"{', '.join(literals[:_MOST_LITERALS])}, … {len(literals)} in all)"


def _drawn(plan: Plan, filters: Filters) -> tuple[PlanLine, ...]:
    try:
        return diff(plan, filters)
    except RecursionError:
        return (PlanLine(" ", "a plan that is nested too deeply to be drawn"),)


def _candidate(result: StatementDecision, proposal: Proposal, place: Locate) -> Candidate:
    pair, plan = proposal.pair, result.plan
    verdict = proposal.verdict
    predicate = " AND ".join(written.text for written in proposal.predicates) or None
    if verdict is Verdict.REWRITTEN and proposal.stands:
        verdict = Verdict.ALREADY_PRUNED
    at_fact = _offset(pair.target, pair.fact, result)
    at_dimension = _offset(pair.dimension, pair.key, result)
    at_join = next(
        (ref.span.start for ref in (pair.fact, pair.key) if ref.span is not None), at_fact
    )
    shown = relation_name(pair.target) if isinstance(pair.target, Derived) else None
    name = ".".join(pair.scan.parts) if shown is None else shown
    key_relation = plan.relations[pair.key.relation]
    return Candidate(
        statement=result.reading.statement.index,
        fact=TableUse(name, pair.target.alias, pair.target_column, *place(at_fact)),
        dimension=TableUse(
            proposal.dimension_name, key_relation.alias, pair.key.name, *place(at_dimension)
        ),
        join=JoinUse(_join_name(pair), *place(at_join)),
        verdict=verdict,
        rules=proposal.rules,
        predicate=predicate,
        estimate=estimate(proposal),
        engine=_engine_alone(proposal, result.reading.statement.start),
    )


def _engine_alone(proposal: Proposal, at: int) -> EngineAlone:
    """How the engine prunes by itself; unknown if that takes too many steps to find out."""
    alone = guarded(partial(engine_alone, proposal), at, proposal.options.limits)
    if isinstance(alone, Failure):
        return EngineAlone(proposal.engine.name, PrunesAlone.UNKNOWN, alone.message)
    return alone


def _join_name(pair: Pair) -> str:
    """The join in the words of SQL."""
    join = pair.edge.join
    if join is not None and pair.side in ("left", "right"):
        return join.declared.value
    return pair.edge.kind


def _offset(relation: object, ref: ColumnRef, result: StatementDecision) -> int:
    """Where a relation stands in the text: its name, its alias, or a column of it."""
    span = getattr(relation, "span", None)
    if span is not None:
        return int(span.start)
    anchor = getattr(relation, "anchor", None)
    if anchor is not None:
        return int(anchor)
    return ref.span.start if ref.span is not None else result.reading.statement.start
