"""DPP111 correlated, DPP113 names, DPP115 parameters: the dimension means the same elsewhere."""

from __future__ import annotations

from sqlrewrite.judge.case import Case, Judgement, failed, passed
from sqlrewrite.judge.repeatable import CORRELATED, NAMES, PARAMETERS


def _judged(case: Case, code: str, otherwise: str) -> Judgement:
    """Whether nothing speaks under a rule's code against reading the dimension again."""
    reason = case.reason(code)
    return failed(reason) if reason else passed(otherwise)


def judge_correlated(case: Case) -> Judgement:
    """Whether the dimension can be read on its own, and the predicate at a place that sees it."""
    return _judged(case, CORRELATED, "the dimension can be read on its own")


def judge_names(case: Case) -> Judgement:
    """Whether each name in the key query means there what it means in the query."""
    return _judged(case, NAMES, "every name means the same where the predicate stands")


def judge_parameters(case: Case) -> Judgement:
    """Whether no positional parameter would be repeated."""
    return _judged(case, PARAMETERS, "no positional parameter is repeated")
