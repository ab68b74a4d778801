"""The rules that decide whether a pair becomes a predicate: all run on each, every verdict kept.

``RULES`` is the order in which reasons are shown. The first two are about the query, the soundness
rules say whether a predicate would be right, the benefit rules whether it would be worth it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlrewrite.find.around import Around
from sqlrewrite.find.pairs import Pair
from sqlrewrite.find.reducers import restrictions
from sqlrewrite.frozen import dataclass
from sqlrewrite.judge import (
    already_pruned,
    barriers,
    benefit,
    clause,
    conditions,
    determinism,
    equi_join,
    form,
    join_type,
    key_types,
    names,
    native,
    partition_column,
    row_limit,
    selective_predicate,
    streaming,
)
from sqlrewrite.judge.case import Case, Judgement, passed
from sqlrewrite.judge.repeatable import cannot_stand_alone, of_whole
from sqlrewrite.plan.algebra import Plan
from sqlrewrite.results import Outcome, RuleResult, Verdict
from sqlrewrite.settings.options import Options


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its code, its name, and the function that judges a case."""

    code: str
    name: str
    judge: Callable[[Case], Judgement]


UNBOUNDED = Rule("DPP121", "unbounded", already_pruned.judge_bound)
CLAUSE = Rule("DPP116", "clause", clause.judge)
SHARED = Rule("DPP106", "shared-cte", barriers.judge_shared)
MISSED = Rule("DPP125", "missed-by-engine", native.judge)
NOT_YET_PRUNED = Rule("DPP122", "not-yet-pruned", already_pruned.judge_pruned)

RULES: tuple[Rule, ...] = (
    UNBOUNDED,
    NOT_YET_PRUNED,
    Rule("DPP101", "join-type", join_type.judge),
    Rule("DPP102", "equi-join", equi_join.judge),
    Rule("DPP103", "partition-column", partition_column.judge),
    Rule("DPP104", "key-column", partition_column.judge_key),
    Rule("DPP105", "barriers", barriers.judge),
    SHARED,
    Rule("DPP107", "streaming", streaming.judge),
    Rule("DPP108", "determinism", determinism.judge_fact),
    Rule("DPP109", "repeatable", determinism.judge_dimension),
    Rule("DPP110", "row-limit", row_limit.judge),
    Rule("DPP111", "correlated", names.judge_correlated),
    Rule("DPP112", "key-types", key_types.judge),
    Rule("DPP113", "names", names.judge_names),
    Rule("DPP114", "guards", conditions.judge_guards),
    Rule("DPP115", "parameters", names.judge_parameters),
    CLAUSE,
    Rule("DPP120", "selective-predicate", selective_predicate.judge),
    Rule("DPP123", "benefit", benefit.judge),
    Rule("DPP124", "key-size", form.judge),
    MISSED,
)

OF_THE_DIMENSION = frozenset(
    "DPP104 DPP110 DPP111 DPP113 DPP115 DPP120 DPP123 DPP124 DPP199".split()
)
"""The rules that speak of the dimension alone: another one with the same key may pass them. Streams
and what varies are not among them: there nothing is read twice, under whatever name."""

# Said of a pair for which some rule came out unknown: unknown never becomes a predicate.
DECIDED = Rule("DPP199", "decided", lambda case: passed("every rule is decided"))

# Said of a pair that passed, and whose keys are not written as literals (``--predicate values``).
LITERALS = Rule("DPP126", "literals", lambda case: passed("the keys can be literals"))

# Said of a pair that passed, and that a comment of the author's asks to leave alone.
NOT_SUPPRESSED = Rule("DPP198", "not-suppressed", lambda case: passed("no comment asks otherwise"))


def examine(
    plan: Plan, pair: Pair, pairs: tuple[Pair, ...], options: Options, around: Around
) -> tuple[Case, tuple[RuleResult, ...], Verdict]:
    """All rules on one of a statement's pairs: the case, sifted, the results and the verdict.

    Where a rule is not decided, ``DECIDED`` fails.
    """
    case = Case(plan, pair, pairs, options, around)
    kept, left_out = conditions.sift(case, restrictions(plan, pair, options.reach))
    case = replace(case, kept=kept, left_out=left_out, against=_against(case))
    results = tuple(_result(rule, case) for rule in RULES)
    undecided = next((r for r in results if r.outcome is Outcome.UNKNOWN), None)
    if undecided is not None:
        why = f"{undecided.name} is not decided: {undecided.message}"
        results += (RuleResult(DECIDED.code, DECIDED.name, Outcome.FAIL, why),)
    failing = {result.code for result in results if result.outcome is not Outcome.PASS}
    if failing & {UNBOUNDED.code, NOT_YET_PRUNED.code}:
        return case, results, Verdict.ALREADY_PRUNED
    return case, results, Verdict.REJECTED if failing else Verdict.REWRITTEN


def _against(case: Case) -> tuple[tuple[str, str], ...]:
    """All that speaks against reading the dimension again, once each."""
    dimension = case.pair.dimension
    return tuple(dict.fromkeys((*of_whole(case, dimension), *cannot_stand_alone(case, dimension))))


def _result(rule: Rule, case: Case) -> RuleResult:
    if rule.code in case.options.disabled:
        return RuleResult(rule.code, rule.name, Outcome.PASS, "switched off")
    outcome, message = rule.judge(case)
    return RuleResult(rule.code, rule.name, outcome, message)


__all__ = [
    "CLAUSE",
    "DECIDED",
    "LITERALS",
    "MISSED",
    "NOT_SUPPRESSED",
    "OF_THE_DIMENSION",
    "RULES",
    "SHARED",
    "Case",
    "Rule",
    "examine",
]
