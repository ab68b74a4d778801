"""DPP013: two tables that lie alike, of which a join exchanges every row all the same."""

from __future__ import annotations

from collections.abc import Iterator

from sqlrewrite.decision.statement_decision import StatementDecision
from sqlrewrite.find.scan_joins import ScanJoin
from sqlrewrite.judge.partition_wise.storage import Storage, joins_with_storage, remedies
from sqlrewrite.linting.findings import Finding
from sqlrewrite.linting.statement import Subject


def exchanged(subject: Subject, decided: StatementDecision) -> Iterator[Finding]:
    """DPP013: what is missing for a join that Spark does part by part."""
    said = decided.reading.catalog.settings
    for join, found in joins_with_storage(decided.plan, subject.engine, said):
        span = join.other.span
        if found is None or span is None or not (found.settings or found.ddl):
            continue
        yield subject.finding(
            "DPP013",
            subject.original(span),
            f"{join.one.alias} {join.other.alias}",
            message(join, found),
            "; ".join(remedies(found)),
        )


def message(join: ScanJoin, found: Storage) -> str:
    """That the rows of both are exchanged, and need not be."""
    names = f"{join.one.parts[-1]} and {join.other.parts[-1]}"
    return f"{names} are both {found.alike}, and yet the join exchanges rows"
