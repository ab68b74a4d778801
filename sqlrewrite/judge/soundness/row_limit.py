"""DPP110 row-limit: a LIMIT or a sample keeps some rows or others, unless a total order decides."""

from __future__ import annotations

from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed
from sqlrewrite.judge.repeatable import ROW_LIMIT


def judge(proposal: Proposal) -> Judgement:
    """Whether the dimension is not cut to an arbitrary part of its rows."""
    reason = proposal.objection(ROW_LIMIT)
    if reason:
        return failed(f"in {proposal.dimension_name}: {reason}")
    return passed("no LIMIT or sample decides which rows of the dimension there are")
