"""The result of an audit as one HTML page with its charts, which needs no network and no script."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from sqlrewrite.audit.summary import AuditedShape, AuditSummary
from sqlrewrite.report.audit import SAID, by, one_line, read, reason_rows, saved
from sqlrewrite.report.page import bar, cells, page, table


def audit_page(found: AuditSummary) -> str:
    """The whole answer."""
    return page("What a history of queries reads, and need not", _sections(found))


def _sections(found: AuditSummary) -> Iterator[str]:
    yield (
        f"<p>{found.runs:,} runs of {found.shapes:,} distinct shapes of queries"
        + (f", which read {read(found.bytes)}" if found.bytes is not None else "")
        + ".</p>"
    )
    yield "<h2>What became of the runs</h2>"
    yield _bars(
        (SAID.get(it.what, it.what), f"{it.runs:,}", [(it.runs, it.what)]) for it in found.totals
    )
    if found.top:
        yield "<h2>What to change first</h2>"
        yield _bars(
            (f"{number}. {one_line(it.text)}", label, [(weight, "rewritten")])
            for number, it in enumerate(found.top, 1)
            for weight, label in (_weight(it),)
        )
        for number, it in enumerate(found.top, 1):
            yield _shape(number, it)
    if found.facts:
        yield "<h2>Tables: runs with a predicate to be had, pruned, and without</h2>"
        kinds = ("rewritten", "pruned", "rejected")
        counts = [[(getattr(it, kind), kind) for kind in kinds] for it in found.facts]
        yield _bars(
            (it.name, " / ".join(f"{number:,}" for number, _ in parts), parts)
            for it, parts in zip(found.facts, counts, strict=True)
        )
        tables = [(it.name, read(it.bytes), by(it.bounded_by)) for it in found.facts]
        yield table(("table", "read by these runs", "bounded by (runs)"), tables)
    if found.reasons:
        yield "<h2>What is alone in the way, and what it would unlock</h2>"
        yield table(("column", "runs", "read", "reason"), reason_rows(found))
    if found.left:
        yield "<h2>What was not judged</h2>"
        left = [(it.what, f"{it.runs:,}", f"{it.shapes:,}") for it in found.left]
        yield table(("reason", "runs", "shapes"), left)


def _shape(number: int, it: AuditedShape) -> str:
    facts = [
        (scan.fact, _number(scan.total), _number(scan.kept), scan.predicate) for scan in it.scans
    ]
    summary = f"{it.runs:,} runs, {it.users:,} users, {read(it.bytes)} read, saved: {saved(it)}"
    return (
        f"<details><summary>{number}. {escape(one_line(it.text))}</summary>"
        f"<p>{escape(summary)} ({escape(it.how)})</p>"
        f"{table(('table', 'partitions', 'kept', 'predicate'), facts)}"
        f"<pre>{escape(it.rewritten)}</pre></details>"
    )


def _number(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def _weight(it: AuditedShape) -> tuple[int, str]:
    """How much a shape reads, or how often it ran, and how that is said."""
    return (it.runs, f"{it.runs:,} runs") if it.bytes is None else (it.bytes, read(it.bytes))


def _bars(rows: Iterable[tuple[str, str, Sequence[tuple[int, str]]]]) -> str:
    """A chart: in a row a label, what its bar says, and the parts of the bar with their classes;
    the longest bar has the whole width."""
    drawn_rows = list(rows)
    most = max((sum(number for number, _ in parts) for *_, parts in drawn_rows), default=0) or 1
    drawn = (
        f"<tr>{cells((label,))}{bar((number / most, kind) for number, kind in parts if number)}"
        f"{cells((value,))}</tr>"
        for label, value, parts in drawn_rows
    )
    return f"<table>{''.join(drawn)}</table>"
