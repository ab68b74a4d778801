"""The rules that decide whether a pair becomes a predicate: all run on each, every verdict kept.

``RULES`` is the order in which reasons are shown. The first two are about the query, the soundness
rules say whether a predicate would be right, the benefit rules whether it would be worth it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlrewrite.find.context import StatementContext
from sqlrewrite.find.pairs import Pair
from sqlrewrite.find.rank_pairs import conditions_on_ranked_rows
from sqlrewrite.find.reducers import restrictions, restrictions_on_fact
from sqlrewrite.find.restrictions import Conjunct
from sqlrewrite.frozen import dataclass
from sqlrewrite.judge import conditions, form
from sqlrewrite.judge.attempted_dimension import attempted_aggregates
from sqlrewrite.judge.benefit import (
    already_pruned,
    benefit,
    missed_by_engine,
    selective_predicate,
)
from sqlrewrite.judge.benefit.estimate import estimate, has_statistics, pays
from sqlrewrite.judge.proposal import Judgement, Proposal, passed
from sqlrewrite.judge.repeatable import objections_to_copying, objections_to_relation
from sqlrewrite.judge.soundness import (
    barriers,
    clause,
    derived_column,
    determinism,
    equi_join,
    filters,
    join_type,
    key_types,
    names,
    partition_column,
    ranks,
    row_limit,
    streaming,
)
from sqlrewrite.plan.algebra import Plan
from sqlrewrite.results import Outcome, RuleResult, Verdict
from sqlrewrite.settings.options import LEFT_TO_ENGINE, Options, Reach


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its code, its name, and the function that judges a proposal.

    ``kind`` is ``soundness`` (a predicate would be wrong), ``benefit`` (it would not be worth it)
    or ``choice`` (it is not wanted). ``scope`` is what it speaks of: the ``fact``, the ``pair``, or
    the ``dimension`` alone: another one with the same key may pass it. Streams and what varies are
    no matter of the dimension: there nothing is read twice, under whatever name.
    """

    code: str
    name: str
    kind: str
    scope: str
    judge: Callable[[Proposal], Judgement]


UNBOUNDED = Rule("DPP121", "unbounded", "benefit", "fact", already_pruned.judge_bound)
NOT_YET_PRUNED = Rule("DPP122", "not-yet-pruned", "benefit", "fact", already_pruned.judge_pruned)
PARTITION_COLUMN = Rule("DPP103", "partition-column", "soundness", "fact", partition_column.judge)
SHARED = Rule("DPP106", "shared-cte", "soundness", "fact", barriers.judge_shared)
DETERMINISM = Rule("DPP108", "determinism", "soundness", "fact", determinism.judge_fact)
DERIVED = Rule("DPP117", "derived-column", "soundness", "pair", derived_column.judge)
ZONE = Rule("DPP118", "time-zone", "soundness", "pair", derived_column.judge_zone)
CLAUSE = Rule("DPP116", "clause", "soundness", "fact", clause.judge)
MISSED = Rule(LEFT_TO_ENGINE, "missed-by-engine", "benefit", "pair", missed_by_engine.judge)

RULES: tuple[Rule, ...] = (
    UNBOUNDED,
    NOT_YET_PRUNED,
    Rule("DPP101", "join-type", "soundness", "pair", join_type.judge),
    Rule("DPP102", "equi-join", "soundness", "pair", equi_join.judge),
    PARTITION_COLUMN,
    Rule("DPP104", "key-column", "soundness", "dimension", partition_column.judge_key),
    Rule("DPP105", "barriers", "soundness", "fact", barriers.judge),
    SHARED,
    Rule("DPP107", "streaming", "soundness", "pair", streaming.judge),
    DETERMINISM,
    Rule("DPP109", "repeatable", "soundness", "pair", determinism.judge_dimension),
    Rule("DPP110", "row-limit", "soundness", "dimension", row_limit.judge),
    Rule("DPP111", "correlated", "soundness", "dimension", names.judge_correlated),
    Rule("DPP112", "key-types", "soundness", "pair", key_types.judge),
    Rule("DPP113", "names", "soundness", "dimension", names.judge_names),
    Rule("DPP114", "guards", "soundness", "pair", conditions.judge_guards),
    Rule("DPP115", "parameters", "soundness", "dimension", names.judge_parameters),
    CLAUSE,
    DERIVED,
    ZONE,
    Rule("DPP120", "selective-predicate", "benefit", "dimension", selective_predicate.judge),
    Rule("DPP123", "benefit", "benefit", "dimension", benefit.judge),
    Rule("DPP124", "key-size", "benefit", "dimension", form.judge),
    MISSED,
)

FOR_FILTERS: tuple[Rule, ...] = (
    UNBOUNDED,
    Rule("DPP122", "not-yet-pruned", "benefit", "fact", filters.judge_pruned),
    PARTITION_COLUMN,
    DETERMINISM,
    Rule("DPP109", "repeatable", "soundness", "pair", filters.judge_constant),
    Rule("DPP112", "key-types", "soundness", "pair", filters.judge_types),
    DERIVED,
    ZONE,
)
"""The rules for what follows from a query's own filter: no other relation is read."""

# Said of a pair for which some rule came out unknown: unknown never becomes a predicate.
DECIDED = Rule(
    "DPP199", "decided", "soundness", "dimension", lambda proposal: passed("every rule is decided")
)

OF_THE_DIMENSION = frozenset(rule.code for rule in (*RULES, DECIDED) if rule.scope == "dimension")
"""The rules that another dimension with the same key may pass."""

# Said of a pair that passed, and whose keys are not written as literals (``--predicate values``).
LITERALS = Rule(
    "DPP126", "literals", "choice", "pair", lambda proposal: passed("the keys can be literals")
)

# Said of a pair that passed, and that a comment of the author's asks to leave alone.
NOT_SUPPRESSED = Rule(
    "DPP198",
    "not-suppressed",
    "choice",
    "fact",
    lambda proposal: passed("no comment asks otherwise"),
)


FOR_RANKS: tuple[Rule, ...] = (
    UNBOUNDED,
    PARTITION_COLUMN,
    DETERMINISM,
    Rule("DPP109", "repeatable", "soundness", "pair", ranks.judge_repeated),
    Rule("DPP112", "key-types", "soundness", "pair", ranks.judge_type),
)
"""The rules for what follows from the rank of a row: no relation but the scan is read again."""


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
    if not selective_predicate.is_filtered(proposal):
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
