"""DPP110 row-limit: a LIMIT or a sample keeps some rows or others, unless a total order decides."""

from __future__ import annotations

from sqlrewrite.judge.case import Case, Judgement, failed, passed
from sqlrewrite.judge.repeatable import ROW_LIMIT


def judge(case: Case) -> Judgement:
    """Whether the dimension is not cut to an arbitrary part of its rows."""
    reason = case.reason(ROW_LIMIT)
    if reason:
        return failed(f"in {case.dimension_name}: {reason}")
    return passed("no LIMIT or sample decides which rows of the dimension there are")
