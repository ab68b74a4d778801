"""DPP107 streaming: a stream is read once, and its state depends on what it has seen."""

from __future__ import annotations

from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed
from sqlrewrite.judge.repeatable import STREAMING
from sqlrewrite.plan.algebra import Opaque, Plan, Scan
from sqlrewrite.plan.memo import remembered
from sqlrewrite.warehouse import TEMPORAL


def judge(proposal: Proposal) -> Judgement:
    """Whether neither side reads a stream."""
    if proposal.context.catalog.streaming:
        return failed("execution.runtime-mode is not set to batch: all tables are read as streams")
    scan = proposal.pair.scan
    if scan.streaming:
        why = f" ({scan.table.unsteady})" if scan.table.unsteady else ""
        return failed(f"{scan.alias} is a stream{why}: a bound would change what it keeps")
    reason = proposal.objection(STREAMING) or _beside_a_stream(proposal.plan)
    return failed(reason) if reason else passed("neither side is a stream")


@remembered
def _beside_a_stream(plan: Plan) -> str:
    """Why the statement reads a stream elsewhere: Flink runs it in one mode, so that beside a
    stream bounded tables are joined by state as well."""
    for it in plan.relations.values():
        if isinstance(it, Scan) and it.streaming and it.table.unsteady:
            return f"{it.alias}, read beside, is a stream ({it.table.unsteady})"
        if isinstance(it, Opaque) and it.reason == TEMPORAL:
            return f"{it.alias}, read beside, is a stream ({TEMPORAL})"
    return ""
