"""Runs the rules on a pair: the proposal with the restrictions to repeat, and its verdict."""

from __future__ import annotations

from dataclasses import replace

from sqlrewrite.find.context import StatementContext
from sqlrewrite.find.pairs import Pair
from sqlrewrite.find.rank_pairs import conditions_on_ranked_rows
from sqlrewrite.find.reducers import restrictions, restrictions_on_fact
from sqlrewrite.find.restrictions import Conjunct
from sqlrewrite.judge import conditions
from sqlrewrite.judge.attempted_dimension import attempted_aggregates
from sqlrewrite.judge.benefit.estimate import estimate, has_statistics, pays
from sqlrewrite.judge.benefit.selective_predicate import is_filtered
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.judge.repeatable import objections_to_copying, objections_to_relation
from sqlrewrite.judge.rules import (
    DECIDED,
    FOR_FILTERS,
    FOR_RANKS,
    MISSED,
    NOT_YET_PRUNED,
    RULES,
    UNBOUNDED,
    Rule,
)
from sqlrewrite.plan.algebra import Plan
from sqlrewrite.results import Outcome, RuleResult, Verdict
from sqlrewrite.settings.options import Options, Reach


def examine(
    plan: Plan, pair: Pair, pairs: tuple[Pair, ...], options: Options, context: StatementContext
) -> Examined:
    """Runs all rules on one of a statement's ``pairs``: the proposal with its restrictions, the
    rules' results, and the verdict. Where a rule is not decided, ``DECIDED`` fails.
    """
    proposal = Proposal(plan, pair, pairs, options, context)
    if pair.filtered:
        return _examined(proposal, FOR_FILTERS)
    if pair.first:
        its = {pair.key.relation}
        found = (it for it in conditions_on_ranked_rows(plan, pair) if it.relations == its)
        repeated = tuple(Conjunct(it, it.expression) for it in found)
        return _examined(replace(proposal, restrictions=repeated), FOR_RANKS)
    asked = options.reach.through_facts
    near = _followed(proposal, options.reach._replace(through_facts=False))
    if asked is False or (asked is None and not has_statistics(near[0])):
        return near
    far = _followed(proposal, options.reach._replace(through_facts=True))
    if far[2] is not Verdict.REWRITTEN:
        return near if asked is None or near[2] is Verdict.REWRITTEN else far
    return far if asked or _pays(far, near) else near


Examined = tuple[Proposal, tuple[RuleResult, ...], Verdict]


def _followed(proposal: Proposal, reach: Reach) -> Examined:
    """All rules on a proposal whose neighbours are followed so far."""
    repeated, dropped = conditions.sift(proposal, restrictions(proposal.plan, proposal.pair, reach))
    proposal = replace(proposal, restrictions=repeated, dropped=dropped)
    if not is_filtered(proposal):
        more, others = conditions.sift(
            proposal, restrictions_on_fact(proposal.plan, proposal.pair, reach)
        )
        proposal = replace(proposal, restrictions=repeated + more, dropped=dropped + others)
    dimension = proposal.pair.dimension
    whole = objections_to_relation(
        proposal, dimension, frozenset(map(id, attempted_aggregates(proposal)))
    )
    objections = (*whole, *objections_to_copying(dimension))
    return _examined(replace(proposal, objections=tuple(dict.fromkeys(objections))), RULES)


def _pays(far: Examined, near: Examined) -> bool:
    """Whether following neighbours through facts saves more than it reads, beside what is saved
    without: by a predicate, or by the engine, which reads nothing for it."""
    proposal, results, verdict = near
    failing = {it.code for it in results if it.outcome is not Outcome.PASS}
    before = (
        estimate(proposal) if verdict is Verdict.REWRITTEN or failing == {MISSED.code} else None
    )
    reads = before.reads if before and verdict is Verdict.REWRITTEN else 0
    return pays(estimate(far[0]), before.saves if before else 0, reads)


def _examined(proposal: Proposal, rules: tuple[Rule, ...]) -> Examined:
    off = (Outcome.PASS, "switched off")
    judged = [
        (it, off if it.code in proposal.options.disabled else it.judge(proposal)) for it in rules
    ]
    results = tuple([RuleResult(it.code, it.name, *found) for it, found in judged])
    undecided = next((r for r in results if r.outcome is Outcome.UNKNOWN), None)
    if undecided is not None:
        why = f"{undecided.name} is not decided: {undecided.message}"
        results += (RuleResult(DECIDED.code, DECIDED.name, Outcome.FAIL, why),)
    failing = {result.code for result in results if result.outcome is not Outcome.PASS}
    if failing & {UNBOUNDED.code, NOT_YET_PRUNED.code}:
        return proposal, results, Verdict.ALREADY_PRUNED
    return proposal, results, Verdict.REJECTED if failing else Verdict.REWRITTEN
