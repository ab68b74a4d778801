"""DPP011: the latest partition, asked for so that all of them are read."""

from __future__ import annotations

from collections.abc import Iterator

from sqlrewrite.decision.decided import Decided
from sqlrewrite.judge.single import is_single
from sqlrewrite.linting.findings import Finding
from sqlrewrite.linting.subject import Subject
from sqlrewrite.results import Verdict


def latest(subject: Subject, decided: Decided) -> Iterator[Finding]:
    """DPP011: a partition column that a join or an IN compares with the one row of an aggregate."""
    for item in decided.judged:
        case, scan = item.case, item.case.pair.scan
        if scan.span is None or item.verdict is Verdict.ALREADY_PRUNED or not is_single(case):
            continue
        column = f"{scan.alias}.{case.pair.path.column}"
        by = "IN" if case.pair.tie.query is not None else f"the join with {case.dimension_name}"
        # Flink makes a join of a subquery behind = as well, and prunes by few of those.
        help_ = f"compare it by =: {column} = (SELECT max(…) …)"
        if case.engine.takes_keys:
            help_ = f"write the value itself: {case.other_form}"
        yield subject.finding(
            "DPP011",
            subject.original(scan.span),
            column,
            f"{column} is compared with a single value through {by}: every partition is read to "
            "find the rows of one",
            help_,
        )
