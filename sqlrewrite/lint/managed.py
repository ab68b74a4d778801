"""DPP002 and DPP003: predicates of an earlier run that are not what one would be written now.

A managed predicate filters rows. While it follows from the query none of them matter; once the
query has changed it may take away rows that do, so that both are errors.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlrewrite.lint.findings import Finding
from sqlrewrite.lint.subject import Subject
from sqlrewrite.model import MARKER, Outcome, Verdict
from sqlrewrite.sql.managed import bounded


def check(subject: Subject) -> Iterator[Finding]:
    """The managed predicates of a statement that a rewrite would change or take out."""
    written = "\n".join(edit.text for edit in subject.part.edits)
    pruned = subject.part.pruned
    again = pruned.bounded if pruned is not None else frozenset()
    for span in subject.managed:
        text = subject.stripped.original[span.start : span.end]
        if text in written:
            continue
        about = bounded(text)
        if about in again:
            yield subject.finding(
                "DPP002",
                span,
                about,
                f"the predicate on {about} is not the one that follows now: it may take rows away",
                "`dpp-rewrite --write` derives it anew; if you changed it on purpose, take the "
                f"marker {MARKER} off, and it is yours",
                subject.mended,
            )
        else:
            yield subject.finding(
                "DPP003",
                span,
                about,
                f"the predicate on {about} has nothing to follow from: {_why(subject, about)}",
                "`dpp-rewrite --write` takes it out; if you want it, take the marker "
                f"{MARKER} off, and it is yours",
                subject.mended,
            )


def _why(subject: Subject, about: str) -> str:
    """Why no predicate is written for a column, as far as a join speaks of it."""
    if subject.part.pruned is None:
        return "no table of the query is known to be partitioned (is the catalog the right one?)"
    qualifier, _, column = about.rpartition(".")
    for found in subject.part.candidates:
        named = found.fact.column == column.lower().strip("`")
        if named and qualifier.lower() in ("", found.fact.alias.lower(), found.fact.table.lower()):
            if found.verdict is Verdict.REJECTED:
                rule = next(it for it in found.rules if it.outcome is not Outcome.PASS)
                return f"{rule.message} ({rule.code})"
            if found.verdict is Verdict.ALREADY_PRUNED:
                return "the query bounds the column by itself"
    return "no join in this query bounds the column"
