"""DPP013: two tables that lie alike, of which a join exchanges every row all the same."""

from __future__ import annotations

from collections.abc import Iterator

from sqlrewrite.decision.decided import Decided
from sqlrewrite.find.scan_joins import Meeting
from sqlrewrite.judge.partition_wise.storage import Storage, remedies, stored
from sqlrewrite.linting.findings import Finding
from sqlrewrite.linting.subject import Subject


def exchanged(subject: Subject, decided: Decided) -> Iterator[Finding]:
    """DPP013: what is missing for a join that Spark does part by part."""
    said = decided.reading.catalog.settings
    for meeting, found in stored(decided.plan, subject.engine, said):
        span = meeting.other.span
        if found is None or span is None or not (found.settings or found.ddl):
            continue
        yield subject.finding(
            "DPP013",
            subject.original(span),
            f"{meeting.one.alias} {meeting.other.alias}",
            message(meeting, found),
            "; ".join(remedies(found)),
        )


def message(meeting: Meeting, found: Storage) -> str:
    """That the rows of both are exchanged, and need not be."""
    names = f"{meeting.one.parts[-1]} and {meeting.other.parts[-1]}"
    return f"{names} are both {found.alike}, and yet the join exchanges rows"
