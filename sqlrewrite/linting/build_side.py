"""DPP012: a fact on the build side of its join, where the engine's dynamic filters do not reach."""

from __future__ import annotations

from collections.abc import Iterator

from sqlrewrite.decision.decided import Decided
from sqlrewrite.judge.native import BUILT
from sqlrewrite.judge.selective_predicate import is_filtered
from sqlrewrite.linting.findings import Finding
from sqlrewrite.linting.subject import Subject
from sqlrewrite.results import Verdict


def build_side(subject: Subject, decided: Decided) -> Iterator[Finding]:
    """DPP012: a join that would prune its fact if that stood on the other side."""
    for item in decided.judged:
        case, scan = item.case, item.case.pair.scan
        built = BUILT.get(case.engine.planner)
        if built is None or scan.span is None or item.verdict is Verdict.ALREADY_PRUNED:
            continue
        inner = case.pair.tie.shape == "inner"
        why = built(case) if inner and is_filtered(case) else None
        if why is None:
            continue
        yield subject.finding(
            "DPP012",
            subject.original(scan.span),
            f"{scan.alias}.{case.pair.path.column}",
            f"{why}: {case.engine.name}'s dynamic filter prunes nothing of it",
            f"write FROM {scan.parts[-1]} JOIN {case.dimension_name}",
        )
