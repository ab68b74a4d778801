"""The rules that decide whether a proposal becomes a predicate, each one object.

``RULES`` is the order in which reasons are shown: first whether the query prunes by itself, then
the soundness rules (a predicate would be right), then the benefit rules (it would be worth it).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlrewrite.judge.benefit import (
    already_pruned,
    benefit,
    key_size,
    missed_by_engine,
    selective_predicate,
)
from sqlrewrite.judge.proposal import Judgement, Proposal, passed
from sqlrewrite.judge.soundness import (
    barriers,
    clause,
    derived_column,
    determinism,
    equi_join,
    filters,
    guards,
    join_type,
    key_types,
    partition_column,
    ranks,
    rereading,
    streaming,
)
from sqlrewrite.settings.options import LEFT_TO_ENGINE


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition that a proposal must meet, and the function that judges whether it does.

    ``kind`` is ``soundness`` (else a predicate would be wrong), ``benefit`` (else it would not be
    worth it) or ``choice`` (else it is not wanted). ``scope`` is what it depends on: the ``fact``,
    the ``pair``, or the ``dimension`` alone, so that another dimension with the same key may pass.
    Streams and nondeterminism have the scope ``pair``: no other dimension makes up for them.
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
DETERMINISM = Rule("DPP108", "determinism", "soundness", "fact", determinism.judge)
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
    Rule("DPP109", "repeatable", "soundness", "pair", rereading.judge_repeatable),
    Rule("DPP110", "row-limit", "soundness", "dimension", rereading.judge_row_limit),
    Rule("DPP111", "correlated", "soundness", "dimension", rereading.judge_correlated),
    Rule("DPP112", "key-types", "soundness", "pair", key_types.judge),
    Rule("DPP113", "names", "soundness", "dimension", rereading.judge_names),
    Rule("DPP114", "guards", "soundness", "pair", guards.judge),
    Rule("DPP115", "parameters", "soundness", "dimension", rereading.judge_parameters),
    CLAUSE,
    DERIVED,
    ZONE,
    Rule("DPP120", "selective-predicate", "benefit", "dimension", selective_predicate.judge),
    Rule("DPP123", "benefit", "benefit", "dimension", benefit.judge),
    Rule("DPP124", "key-size", "benefit", "dimension", key_size.judge),
    MISSED,
)

FOR_FILTERS: tuple[Rule, ...] = (
    UNBOUNDED,
    Rule("DPP122", "not-yet-pruned", "benefit", "fact", filters.judge_pruned),
    PARTITION_COLUMN,
    DETERMINISM,
    Rule("DPP109", "repeatable", "soundness", "pair", filters.judge_constant),
    Rule("DPP112", "key-types", "soundness", "pair", filters.judge_types),
    Rule("DPP114", "guards", "soundness", "pair", filters.judge_guards),
    DERIVED,
    ZONE,
)
"""The rules for a pair of a filter: it follows from the query's own condition, and the predicate
reads no other relation."""

# Fails where a rule came out unknown: unknown never becomes a predicate.
DECIDED = Rule(
    "DPP199", "decided", "soundness", "dimension", lambda proposal: passed("every rule is decided")
)

OF_THE_DIMENSION = frozenset(rule.code for rule in (*RULES, DECIDED) if rule.scope == "dimension")
"""The codes of the rules that another dimension with the same key may pass."""

# Fails where the keys cannot be written as literals (``--predicate values``).
LITERALS = Rule(
    "DPP126", "literals", "choice", "pair", lambda proposal: passed("the keys can be literals")
)

# Fails where a comment of the author's asks to leave the statement or the scan alone.
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
"""The rules for a pair of a rank: the predicate reads the scan again, and no other relation."""
