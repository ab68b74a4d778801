"""The form of a predicate, by the pair, the options and the statistics."""

from __future__ import annotations

from sqlrewrite.find.restrictions import merges_subqueries
from sqlrewrite.judge.benefit.keys import (
    has_few_keys,
    has_one_key,
    is_selective,
    is_whole_in_query,
    key_count,
)
from sqlrewrite.judge.errors.copied import raising_for_constant, raising_for_keys
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.judge.soundness.derived_column import ITSELF, derived_bound
from sqlrewrite.plan.facts.coercion import is_integral
from sqlrewrite.plan.facts.types import DATE, STRING
from sqlrewrite.plan.memo import remembered
from sqlrewrite.settings.forms import (
    AUTO,
    BY_NAME,
    CONSTANT,
    FILTERED,
    HINTED,
    IN,
    RANGE,
    RANKED,
    SET,
    SINGLE,
    VALUES,
)
from sqlrewrite.text.limits import SPARK


@remembered
def chosen_form(proposal: Proposal) -> str:
    """The form of a proposal's predicate: ``in``, ``set``, ``range``, ``values``, ``single`` …"""
    form = proposal.form
    if proposal.pair.filtered:
        return FILTERED
    if proposal.pair.bounds:
        return CONSTANT
    if proposal.pair.first:
        return RANKED
    if proposal.pair.derived is not None:
        return _form_for_derived(proposal, form)
    if form == VALUES and raising_for_constant(proposal) is None:
        return form
    if has_one_key(proposal):
        return HINTED if _prunes_by_in_alone(proposal) else SINGLE
    if proposal.pair.operator not in ("=", "<=>") or proposal.clustered:
        return RANGE
    if has_few_keys(proposal) and (is_whole_in_query(proposal) or not is_selective(proposal)):
        return HINTED if _prunes_by_in_alone(proposal) else SET
    if form == AUTO:
        form = IN if is_selective(proposal) else SET
    if form == VALUES or (
        form == IN and (_prunes_nothing(proposal) or raising_for_keys(proposal) is not None)
    ):
        form = SET
    return RANGE if form == SET and _has_many_keys(proposal) else form


def _prunes_by_in_alone(proposal: Proposal) -> bool:
    """Whether the fact is a table of Iceberg's on a Spark known to be older than 4.3, which filters
    its files by the keys of a hinted IN, and not by ``=`` with a subquery or a set of keys
    (docs/spark.md, "The latest partition"). The IN must be safe and compare as the join does."""
    pair, engine = proposal.pair, proposal.engine
    if pair.scan.table.provider != "iceberg" or engine.name != "spark" or pair.operator != "=":
        return False
    if engine.since("4.3") is not False or not engine.enabled or not proposal.options.hint:
        return False
    return bool(any_value(proposal)) and raising_for_keys(proposal) is None


def any_value(proposal: Proposal) -> str:
    """A constant of the type of both the fact's column and the key; empty if their types differ, or
    are one without a constant in ``_VALUES``."""
    pair = proposal.pair
    kinds = {proposal.type_of(side.expression) for side in (pair.fact_side, pair.key_side)}
    kind = kinds.pop() if len(kinds) == 1 else None
    if kind is None:
        return ""
    return "0" if is_integral(kind) else _VALUES.get(kind, "")


_VALUES = {DATE: "DATE '2000-01-01'", STRING: "''"}


def _prunes_nothing(proposal: Proposal) -> bool:
    """Whether Spark would prune nothing, neither by an IN nor by the join."""
    spark = proposal.options.limits.dialect == SPARK
    return spark and merges_subqueries(proposal.restrictions)


def _has_many_keys(proposal: Proposal) -> bool:
    """Whether there are more keys than the engine's limit for a set."""
    count = key_count(proposal)
    return count is not None and count > proposal.engine.set_limit


def has_key_query(proposal: Proposal) -> bool:
    """Whether the predicate has a key query."""
    return BY_NAME[chosen_form(proposal)].has_query


def _form_for_derived(proposal: Proposal, form: str) -> str:
    """The form for a derived column: an IN under an OR would not prune, a range needs an order."""
    bound = derived_bound(proposal)
    if isinstance(bound, tuple) or proposal.pair.operator not in ("=", "<=>") or bound.ranged:
        return RANGE
    shape = proposal.pair.derived.shape if proposal.pair.derived is not None else None
    ordered = shape is not None and shape.ordered and bound.step not in ITSELF
    if form == RANGE and ordered:
        return RANGE
    constant = form == VALUES and not (bound.nulls or bound.days or bound.apart)
    if constant and raising_for_constant(proposal) is None:
        return form
    if (
        bound.nulls
        or bound.apart
        or form == SET
        or not is_selective(proposal)
        or raising_for_keys(proposal) is not None
    ):
        return RANGE if ordered and _has_many_keys(proposal) else SET
    return IN
