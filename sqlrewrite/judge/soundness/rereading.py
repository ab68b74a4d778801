"""DPP109 repeatable, DPP110 row-limit, DPP111 correlated, DPP113 names and DPP115 parameters:
the dimension gives the same rows when the predicate reads it a second time.

One walk finds all objections to that (``judge/repeatable.py``); each rule has a code for its own.
"""

from __future__ import annotations

from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed
from sqlrewrite.judge.repeatable import CORRELATED, DETERMINISM, NAMES, PARAMETERS, ROW_LIMIT


def judge_repeatable(proposal: Proposal) -> Judgement:
    """Whether the dimension computes the same rows when it is read again."""
    name = proposal.dimension_name
    holds = f"{name} gives the same rows each time it is read"
    return _judged(proposal, DETERMINISM, holds, "the dimension is read twice: ")


def judge_row_limit(proposal: Proposal) -> Judgement:
    """Whether the dimension is not cut to an arbitrary part of its rows."""
    holds = "no LIMIT or sample decides which rows of the dimension there are"
    return _judged(proposal, ROW_LIMIT, holds, f"in {proposal.dimension_name}: ")


def judge_correlated(proposal: Proposal) -> Judgement:
    """Whether the dimension can be read on its own, and the predicate at a place that sees it."""
    return _judged(proposal, CORRELATED, "the dimension can be read on its own")


def judge_names(proposal: Proposal) -> Judgement:
    """Whether each name in the key query means there what it means in the query."""
    return _judged(proposal, NAMES, "every name means the same where the predicate stands")


def judge_parameters(proposal: Proposal) -> Judgement:
    """Whether no positional parameter would be repeated."""
    return _judged(proposal, PARAMETERS, "no positional parameter is repeated")


def _judged(proposal: Proposal, code: str, holds: str, before: str = "") -> Judgement:
    reason = proposal.objection(code)
    return passed(holds) if reason is None else failed(before + reason)
