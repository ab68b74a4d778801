"""What a run understood, for people and for machines: numbers, then why nothing was written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlrewrite.report.lint.concise import clean
from sqlrewrite.report.styled import Line
from sqlrewrite.run.statistics import Statistics

SHOWN = 15
"""So many reasons are shown to people; the JSON report has all."""


def lines(found: Statistics, *, would: bool) -> Iterator[Line]:
    """The numbers, the reasons, most frequent first, and what to do first. ``would``: whether
    nothing was written."""
    rejected = found.candidates - found.rewritten - found.already_pruned
    numbers = [
        ("statements", found.statements, f"in {found.files:,} file{'s' * (found.files != 1)}"),
        ("with a join", found.joins, ""),
        ("understood", found.understood, _share(found.understood, found.joins)),
        ("candidates", found.candidates, "scans of a partitioned table that a join could bound"),
        ("would be rewritten" if would else "rewritten", found.rewritten, ""),
        ("already pruned", found.already_pruned, "the query or an earlier run does it"),
        ("rejected", rejected, ""),
    ]
    width = max(len(f"{count:,}") for _, count, _ in numbers)
    for name, count, note in numbers:
        more = f"  {note}" if note else ""
        yield ((f"{name:<18}  ", ""), (f"{count:>{width},}", "bold"), (more, "dim"))
    yield from _reasons(found)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} % of those with a join" if whole else ""


def _reasons(found: Statistics) -> Iterator[Line]:
    reasons = found.in_order
    if not reasons:
        return
    yield ()
    yield (("why nothing was written, most frequent first", "bold"),)
    width = len(f"{reasons[0][1]:,}")
    for reason, count in reasons[:SHOWN]:
        yield ((f"  {count:>{width},}", "bold"), (f"  {clean(reason)}", ""))
    if len(reasons) > SHOWN:
        left = sum(count for _, count in reasons[SHOWN:])
        said = f"others, of {len(reasons) - SHOWN:,} kinds (--format json has all)"
        yield ((f"  {left:>{width},}", "bold"), (f"  {said}", "dim"))
    if found.first is not None:
        remedy, count = found.first
        scans = "scan" if count == 1 else "scans"
        yield ()
        yield (("do first: ", "bold"), (f"{count:,} {scans}: {clean(remedy)}", "bold green"))


def as_json(found: Statistics) -> dict[str, Any]:
    """The same for machines."""
    return {
        "files": found.files,
        "statements": found.statements,
        "joins": found.joins,
        "understood": found.understood,
        "candidates": found.candidates,
        "rewritten": found.rewritten,
        "already_pruned": found.already_pruned,
        "reasons": [{"reason": reason, "count": count} for reason, count in found.in_order],
        "first": None if found.first is None else {"do": found.first[0], "scans": found.first[1]},
    }
