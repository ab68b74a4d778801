"""The rules that decide whether a proposal becomes a predicate; ``judge_pair`` runs them.

``RULES`` is in the order in which reasons are shown: whether the query prunes already, then the
soundness rules (the predicate would be right), then the benefit rules (it would pay).
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from sqlrewrite.copies import replace
from sqlrewrite.find.pairs import Pair
from sqlrewrite.find.rank_pairs import conditions_on_ranked_rows
from sqlrewrite.find.reading import StatementContext
from sqlrewrite.find.reducers import restrictions, restrictions_on_fact
from sqlrewrite.find.restrictions import Conjunct
from sqlrewrite.judge import conditions
from sqlrewrite.judge.benefit import already_pruned, cost, keys, missed_by_engine
from sqlrewrite.judge.benefit.cost import estimate, has_statistics, pays
from sqlrewrite.judge.benefit.keys import is_filtered
from sqlrewrite.judge.errors.attempted import attempted_aggregates
from sqlrewrite.judge.proposal import Judgement, Proposal, passed
from sqlrewrite.judge.repeatable import objections_to_copying, objections_to_relation
from sqlrewrite.judge.soundness import (
    derived_column,
    dimension,
    fact,
    filters,
    join_type,
    merges,
    partition_column,
)
from sqlrewrite.plan.algebra import Plan
from sqlrewrite.results import Outcome, RuleResult, Verdict
from sqlrewrite.settings.options import LEFT_TO_ENGINE, Options, Reach


class Rule(Struct, frozen=True):
    """A condition that a proposal must meet, and the function that judges it.

    ``kind``: if a rule fails, a predicate would be wrong (``soundness``), would not pay
    (``benefit``), or is not asked for (``choice``). ``scope``: what the rule depends on, the
    ``fact``, the ``pair``, or the ``dimension`` alone, so that another dimension with the same key
    may pass. Streams and nondeterminism have the scope ``pair``: no other dimension makes up for
    them.
    """

    code: str
    name: str
    kind: str
    scope: str
    judge: Callable[[Proposal], Judgement]


UNBOUNDED = Rule("DPP121", "unbounded", "benefit", "fact", already_pruned.judge_bound)
NOT_YET_PRUNED = Rule("DPP122", "not-yet-pruned", "benefit", "fact", already_pruned.judge_pruned)
PARTITION_COLUMN = Rule(
    "DPP103", "partition-column", "soundness", "fact", partition_column.judge_column
)
SHARED = Rule("DPP106", "shared-cte", "soundness", "fact", fact.judge_shared)
DETERMINISM = Rule("DPP108", "determinism", "soundness", "fact", fact.judge_determinism)
DERIVED = Rule("DPP117", "derived-column", "soundness", "pair", derived_column.judge_derived)
ZONE = Rule("DPP118", "time-zone", "soundness", "pair", derived_column.judge_zone)
CLAUSE = Rule("DPP116", "clause", "soundness", "fact", fact.judge_clause)
SELECTIVE = Rule("DPP120", "selective-predicate", "benefit", "dimension", keys.judge_selective)
MISSED = Rule(LEFT_TO_ENGINE, "missed-by-engine", "benefit", "pair", missed_by_engine.judge_missed)

RULES: tuple[Rule, ...] = (
    UNBOUNDED,
    NOT_YET_PRUNED,
    Rule("DPP101", "join-type", "soundness", "pair", join_type.judge_join_type),
    Rule("DPP102", "equi-join", "soundness", "pair", join_type.judge_equi_join),
    PARTITION_COLUMN,
    Rule("DPP104", "key-column", "soundness", "dimension", partition_column.judge_key),
    Rule("DPP105", "barriers", "soundness", "fact", fact.judge_barriers),
    SHARED,
    Rule("DPP107", "streaming", "soundness", "pair", fact.judge_streaming),
    DETERMINISM,
    Rule("DPP109", "repeatable", "soundness", "pair", dimension.judge_repeatable),
    Rule("DPP110", "row-limit", "soundness", "dimension", dimension.judge_row_limit),
    Rule("DPP111", "correlated", "soundness", "dimension", dimension.judge_correlated),
    Rule("DPP112", "key-types", "soundness", "pair", dimension.judge_key_types),
    Rule("DPP113", "names", "soundness", "dimension", dimension.judge_names),
    Rule("DPP114", "guards", "soundness", "pair", dimension.judge_guards),
    Rule("DPP115", "parameters", "soundness", "dimension", dimension.judge_parameters),
    CLAUSE,
    DERIVED,
    ZONE,
    SELECTIVE,
    Rule("DPP123", "benefit", "benefit", "dimension", cost.judge_benefit),
    Rule("DPP124", "key-size", "benefit", "dimension", cost.judge_key_size),
    MISSED,
)

FOR_FILTERS: tuple[Rule, ...] = (
    UNBOUNDED,
    Rule("DPP122", "not-yet-pruned", "benefit", "fact", filters.judge_pruned),
    PARTITION_COLUMN,
    DETERMINISM,
    Rule("DPP109", "repeatable", "soundness", "pair", filters.judge_constant),
    Rule("DPP112", "key-types", "soundness", "pair", filters.judge_types),
    Rule("DPP114", "guards", "soundness", "pair", filters.judge_constant_guards),
    DERIVED,
    ZONE,
)
"""The rules for a predicate that follows from the query's own filter and reads no other
relation."""

# Fails if another rule is unknown: unknown never becomes a predicate.
DECIDED = Rule(
    "DPP199", "decided", "soundness", "dimension", lambda proposal: passed("every rule is decided")
)

OF_THE_DIMENSION = frozenset(rule.code for rule in (*RULES, DECIDED) if rule.scope == "dimension")
"""The codes of the rules that another dimension with the same key may pass."""

# Fails if the keys cannot be written as literals (``--predicate values``).
LITERALS = Rule(
    "DPP126", "literals", "choice", "pair", lambda proposal: passed("the keys can be literals")
)

# Fails if the author's comment suppresses the statement or the scan.
NOT_SUPPRESSED = Rule(
    "DPP198",
    "not-suppressed",
    "choice",
    "fact",
    lambda proposal: passed("no comment suppresses it"),
)


FOR_MERGES: tuple[Rule, ...] = (
    Rule("DPP122", "not-yet-pruned", "benefit", "fact", merges.judge_restricted),
    Rule("DPP101", "join-type", "soundness", "pair", join_type.judge_join_type),
    PARTITION_COLUMN,
    DETERMINISM,
    Rule("DPP109", "repeatable", "soundness", "pair", merges.judge_constants),
    Rule("DPP112", "key-types", "soundness", "pair", merges.judge_types),
    Rule("DPP114", "guards", "soundness", "pair", filters.judge_constant_guards),
    CLAUSE,
)
"""The rules for a MERGE whose source bounds the keys by constants: the predicate reads no other
relation."""

FOR_RANKS: tuple[Rule, ...] = (
    UNBOUNDED,
    PARTITION_COLUMN,
    DETERMINISM,
    Rule("DPP109", "repeatable", "soundness", "pair", filters.judge_repeated),
    Rule("DPP112", "key-types", "soundness", "pair", filters.judge_type),
)
"""The rules for a condition on a rank: the predicate reads the scan again, and no other
relation."""


def judge_pair(
    plan: Plan, pair: Pair, pairs: tuple[Pair, ...], options: Options, context: StatementContext
) -> Proposal:
    """The proposal for one of a statement's ``pairs``, judged by all rules. Its neighbours are
    followed through facts if the options ask for that, or if it pays."""
    proposal = Proposal(plan, pair, pairs, options, context)
    if pair.filtered:
        return _run(FOR_FILTERS, proposal)
    if pair.bounds:
        return _run(FOR_MERGES, proposal)
    if pair.first:
        conditions, own = conditions_on_ranked_rows(plan, pair), {pair.key.relation}
        repeated = tuple(
            [Conjunct(item, item.expression) for item in conditions if item.relations == own]
        )
        return _run(FOR_RANKS, replace(proposal, restrictions=repeated))
    through_facts = options.reach.through_facts
    # By None, as most options say, nothing is followed either: it is the reach of other rules, too.
    near = _judge_join(proposal, options.reach._replace(through_facts=None))
    if through_facts is False or (through_facts is None and not has_statistics(near)):
        return near
    far = _judge_join(proposal, options.reach._replace(through_facts=True))
    if far.verdict is not Verdict.REWRITTEN:
        return near if through_facts is None or near.verdict is Verdict.REWRITTEN else far
    return far if through_facts or _pays(far, near) else near


def _judge_join(proposal: Proposal, reach: Reach) -> Proposal:
    """The proposal for a join, judged by all rules, with neighbours followed within ``reach``."""
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


def _pays(far: Proposal, near: Proposal) -> bool:
    """Whether a key query that follows neighbours through facts (``far``) saves more than it reads,
    beyond what one that does not (``near``), or the engine by itself, would save."""
    written = near.verdict is Verdict.REWRITTEN
    before = estimate(near) if written or near.failing == {MISSED.code} else None
    reads = before.reads if before and written else 0
    return pays(estimate(far), before.saves if before else 0, reads)


def _run(rules: tuple[Rule, ...], proposal: Proposal) -> Proposal:
    off = (Outcome.PASS, "switched off")
    disabled = proposal.options.disabled
    judged = [(rule, off if rule.code in disabled else rule.judge(proposal)) for rule in rules]
    results = tuple([RuleResult(rule.code, rule.name, *judgement) for rule, judgement in judged])
    undecided = next((r for r in results if r.outcome is Outcome.UNKNOWN), None)
    if undecided is not None:
        why = f"{undecided.name} is unknown: {undecided.message}"
        results += (RuleResult(DECIDED.code, DECIDED.name, Outcome.FAIL, why),)
    failing = {result.code for result in results if result.outcome is not Outcome.PASS}
    verdict = Verdict.REJECTED if failing else Verdict.REWRITTEN
    if failing & {UNBOUNDED.code, NOT_YET_PRUNED.code}:
        verdict = Verdict.ALREADY_PRUNED
    return proposal.decided(rules=results, verdict=verdict)
