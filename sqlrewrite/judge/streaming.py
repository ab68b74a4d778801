"""DPP107 streaming: a stream is read once, and its state depends on what it has seen."""

from __future__ import annotations

from sqlrewrite.judge.case import Case, Judgement, failed, passed
from sqlrewrite.judge.repeatable import STREAMING


def judge(case: Case) -> Judgement:
    """Whether neither side reads a stream."""
    if case.around.catalog.streaming:
        return failed("execution.runtime-mode is not set to batch: all tables are read as streams")
    scan = case.pair.scan
    if scan.streaming:
        why = f" ({scan.table.unsteady})" if scan.table.unsteady else ""
        return failed(f"{scan.alias} is a stream{why}: a bound would change what it keeps")
    reason = case.reason(STREAMING)
    return failed(reason) if reason else passed("neither side is a stream")
