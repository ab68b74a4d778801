"""DPP111 correlated, DPP113 names, DPP115 parameters: the dimension means the same elsewhere."""

from __future__ import annotations

from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed
from sqlrewrite.judge.repeatable import CORRELATED, NAMES, PARAMETERS


def _judged(proposal: Proposal, code: str, otherwise: str) -> Judgement:
    """Whether nothing speaks under a rule's code against reading the dimension again."""
    reason = proposal.objection(code)
    return failed(reason) if reason else passed(otherwise)


def judge_correlated(proposal: Proposal) -> Judgement:
    """Whether the dimension can be read on its own, and the predicate at a place that sees it."""
    return _judged(proposal, CORRELATED, "the dimension can be read on its own")


def judge_names(proposal: Proposal) -> Judgement:
    """Whether each name in the key query means there what it means in the query."""
    return _judged(proposal, NAMES, "every name means the same where the predicate stands")


def judge_parameters(proposal: Proposal) -> Judgement:
    """Whether no positional parameter would be repeated."""
    return _judged(proposal, PARAMETERS, "no positional parameter is repeated")
