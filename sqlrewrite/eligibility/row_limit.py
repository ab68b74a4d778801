"""DPP110 row-limit: a LIMIT or a sample keeps some rows or others, unless a total order decides."""

from __future__ import annotations

from sqlrewrite.eligibility.case import Case, Judgement, failed, passed
from sqlrewrite.eligibility.repeatable import ROW_LIMIT, against, of_relation


def judge(case: Case) -> Judgement:
    """Whether the dimension is not cut to an arbitrary part of its rows."""
    for code, reason in (
        *of_relation(case, case.pair.dimension),
        *against(case, case.dimension_blocks),
    ):
        if code == ROW_LIMIT:
            return failed(f"in {case.dimension_name}: {reason}")
    return passed("no LIMIT or sample decides which rows of the dimension there are")
