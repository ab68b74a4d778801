"""How much a run understood, for people and programs: counts, then why nothing was written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlrewrite.report.json_text import attributes
from sqlrewrite.report.lint.concise import clean
from sqlrewrite.report.printer import Line, counted
from sqlrewrite.run.statistics import Statistics

SHOWN = 15
"""How many reasons are shown to people; the JSON report has all."""


def lines(found: Statistics, *, would: bool) -> Iterator[Line]:
    """The counts, the reasons, most frequent first, and what to do first. ``would``: nothing was
    written."""
    rejected = found.candidates - found.rewritten - found.already_pruned
    joins = found.joins
    share = f"{100 * found.understood / joins:.0f} % of those with a join" if joins else ""
    numbers = [
        ("statements", found.statements, f"in {counted(found.files, 'file')}"),
        ("with a join", joins, ""),
        ("understood", found.understood, share),
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
        text = f"others, of {len(reasons) - SHOWN:,} kinds (--format json has all)"
        yield ((f"  {left:>{width},}", "bold"), (f"  {text}", "dim"))
    if found.first is not None:
        remedy, count = found.first
        text = f"{counted(count, 'scan')}: {clean(remedy)}"
        yield ()
        yield (("do first: ", "bold"), (text, "bold green"))


def as_json(found: Statistics) -> dict[str, Any]:
    """The same for machines."""
    return {
        **attributes(
            found, "files statements joins understood candidates rewritten already_pruned"
        ),
        "reasons": [{"reason": reason, "count": count} for reason, count in found.in_order],
        "first": None if found.first is None else {"do": found.first[0], "scans": found.first[1]},
    }
