"""Runs the rules on a pair: the proposal with the restrictions to repeat, and its verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

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


class Examination(NamedTuple):
    """A proposal with what every rule said of it."""

    proposal: Proposal
    results: tuple[RuleResult, ...]
    verdict: Verdict


def examine(
    plan: Plan, pair: Pair, pairs: tuple[Pair, ...], options: Options, context: StatementContext
) -> Examination:
    """Runs all rules on one of a statement's ``pairs``. Where a rule is not decided, ``DECIDED``
    fails. Neighbours are followed through facts where that is asked for, or pays."""
    proposal = Proposal(plan, pair, pairs, options, context)
    if pair.filtered:
        return _run(FOR_FILTERS, proposal)
    if pair.first:
        asked, own = conditions_on_ranked_rows(plan, pair), {pair.key.relation}
        repeated = tuple([Conjunct(it, it.expression) for it in asked if it.relations == own])
        return _run(FOR_RANKS, replace(proposal, restrictions=repeated))
    through_facts = options.reach.through_facts
    near = _examine_join(proposal, options.reach._replace(through_facts=False))
    if through_facts is False or (through_facts is None and not has_statistics(near.proposal)):
        return near
    far = _examine_join(proposal, options.reach._replace(through_facts=True))
    if far.verdict is not Verdict.REWRITTEN:
        return near if through_facts is None or near.verdict is Verdict.REWRITTEN else far
    return far if through_facts or _pays(far, near) else near


def _examine_join(proposal: Proposal, reach: Reach) -> Examination:
    """Runs all rules on a join whose neighbours are followed as far as ``reach`` says."""
    plan, pair = proposal.plan, proposal.pair
    repeated, dropped = conditions.sift(proposal, restrictions(plan, pair, reach))
    proposal = replace(proposal, restrictions=repeated, dropped=dropped)
    if not is_filtered(proposal):
        more, others = conditions.sift(proposal, restrictions_on_fact(plan, pair, reach))
        proposal = replace(proposal, restrictions=repeated + more, dropped=dropped + others)
    attempted = frozenset(map(id, attempted_aggregates(proposal)))
    reading = objections_to_relation(proposal, pair.dimension, attempted)
    objections = dict.fromkeys((*reading, *objections_to_copying(pair.dimension)))
    return _run(RULES, replace(proposal, objections=tuple(objections)))


def _pays(far: Examination, near: Examination) -> bool:
    """Whether following neighbours through facts (``far``) saves more than it reads, compared with
    what is saved without: by a predicate, or by the engine, which reads nothing for it."""
    failing = {it.code for it in near.results if it.outcome is not Outcome.PASS}
    written = near.verdict is Verdict.REWRITTEN
    before = estimate(near.proposal) if written or failing == {MISSED.code} else None
    reads = before.reads if before and written else 0
    return pays(estimate(far.proposal), before.saves if before else 0, reads)


def _run(rules: tuple[Rule, ...], proposal: Proposal) -> Examination:
    off = (Outcome.PASS, "switched off")
    disabled = proposal.options.disabled
    judged = [(it, off if it.code in disabled else it.judge(proposal)) for it in rules]
    results = tuple([RuleResult(it.code, it.name, *found) for it, found in judged])
    undecided = next((r for r in results if r.outcome is Outcome.UNKNOWN), None)
    if undecided is not None:
        why = f"{undecided.name} is not decided: {undecided.message}"
        results += (RuleResult(DECIDED.code, DECIDED.name, Outcome.FAIL, why),)
    failing = {result.code for result in results if result.outcome is not Outcome.PASS}
    if failing & {UNBOUNDED.code, NOT_YET_PRUNED.code}:
        return Examination(proposal, results, Verdict.ALREADY_PRUNED)
    return Examination(proposal, results, Verdict.REJECTED if failing else Verdict.REWRITTEN)
