"""DPP111 correlated, DPP113 names, DPP115 parameters: the dimension means the same elsewhere."""

from __future__ import annotations

from sqlrewrite.eligibility.case import Case, Judgement, failed, passed
from sqlrewrite.eligibility.repeatable import NAMES, PARAMETERS
from sqlrewrite.plan.nodes import Derived


def judge_correlated(case: Case) -> Judgement:
    """Whether the dimension can be read on its own, and the predicate at a place that sees it."""
    dimension = case.pair.dimension
    if isinstance(dimension, Derived) and (dimension.lateral or dimension.outer):
        return failed(f"{case.dimension_name} refers to columns around it: it cannot stand alone")
    return passed("the dimension can be read on its own")


def judge_names(case: Case) -> Judgement:
    """Whether each name in the key query means there what it means in the query."""
    reason = case.reason(NAMES)
    if reason:
        return failed(reason)
    dimension = case.pair.dimension
    if isinstance(dimension, Derived) and not dimension.view and dimension.anchor is None:
        return failed("the derived table has no alias to find it by")
    if not isinstance(dimension, Derived) and dimension.span is None:
        return failed(f"the name of {case.dimension_name} cannot be repeated as it stands")
    return passed("every name means the same where the predicate stands")


def judge_parameters(case: Case) -> Judgement:
    """Whether no positional parameter would be repeated."""
    reason = case.reason(PARAMETERS)
    return failed(reason) if reason else passed("no positional parameter is repeated")
