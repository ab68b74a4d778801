"""The result of an audit: for people, as JSON, and as a page with its charts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from html import escape

from sqlrewrite.audit.summary import AuditedShape, AuditSummary
from sqlrewrite.report.catalog import size
from sqlrewrite.report.json_text import attributes, dumps
from sqlrewrite.report.page import bar, cells, page, table
from sqlrewrite.report.printer import Printer, print_table

VERSION = 1
OUTCOMES = {
    "rewritten": "get a predicate",
    "pruned": "are pruned already, by the author or the engine",
    "rejected": "join a partition column, and get none",
    "nothing": "join no partition column",
    "skipped": "were left alone",
    "error": "could not be read as Spark SQL",
    "empty": "have no text",
    "masked": "have a masked text",
    "cut": "have a text that is cut off",
    "other": "are no queries",
    "text": "were not decided: their texts have changed while they were read",
}
"""The outcomes of runs, in words."""

_SHOWN = 70


def print_audit(printer: Printer, found: AuditSummary) -> None:
    """The answer in four tables."""
    summary = f"{found.runs:,} runs of {found.shapes:,} shapes, {found.decided:,} of them new"
    printer.line((summary, "bold"))
    rows = [
        (OUTCOMES.get(it.what, it.what), f"{it.runs:,}", f"{it.shapes:,}", _read(it.bytes))
        for it in found.totals
    ]
    print_table(printer, ("of the runs", ">runs", ">shapes", ">read"), rows)
    if found.top:
        printer.print([(), (("What to change first", "bold"),)])
        shapes = [
            (str(number), f"{it.runs:,}", _read(it.bytes), _saved(it), _one_line(it.text))
            for number, it in enumerate(found.top, 1)
        ]
        print_table(printer, (">", ">runs", ">read", ">saved", "query"), shapes)
        for how in dict.fromkeys(it.how for it in found.top):
            printer.line(("saved: ", "dim"), (how, "dim"))
    if found.facts:
        printer.print([(), (("Tables", "bold"),)])
        facts = [
            (it.name, f"{it.rewritten:,}", f"{it.pruned:,}", f"{it.rejected:,}", _by(it.bounded_by))
            for it in found.facts[: len(found.top) or 10]
        ]
        headings = ("table", ">with a predicate", ">pruned", ">none", "bounded by")
        print_table(printer, headings, facts)
    if found.reasons:
        printer.print([(), (("Alone in the way", "bold"),)])
        reasons = _reason_rows(found)[: len(found.top) or 10]
        print_table(printer, ("column", ">runs", ">read", "reason"), reasons)


def audit_json(found: AuditSummary) -> str:
    """The whole answer as one object, with a newline at its end."""
    whole = {"version": VERSION, **asdict(found)}
    for entry, shape in zip(whole["top"], found.top, strict=True):
        entry |= attributes(shape, "saved_partitions saved_bytes saved_micros")
    return dumps(whole)


def _reason_rows(found: AuditSummary) -> list[tuple[str, ...]]:
    """What is alone in the way of each column."""
    return [
        (f"{it.fact}.{it.column}", f"{it.runs:,}", _read(it.bytes), f"{it.code} {it.reason}")
        for it in found.reasons
    ]


def _read(count: int | None) -> str:
    """Bytes, as a person reads them."""
    return "-" if count is None else size(count)


def _saved(shape: AuditedShape) -> str:
    """What a shape's predicates would save."""
    if shape.saved is None:
        return "?"
    saved_bytes = shape.saved_bytes
    return f"{shape.saved:.0%}" + ("" if saved_bytes is None else f", {size(saved_bytes)}")


def _by(dimensions: tuple[tuple[str, int], ...]) -> str:
    """The dimensions that bound a fact, with their runs."""
    first = ", ".join(f"{name} ({runs:,})" for name, runs in dimensions[:3])
    return first + (f", {len(dimensions) - 3} more" if len(dimensions) > 3 else "")


def _one_line(text: str) -> str:
    """The beginning of a text."""
    words = " ".join(text.split())
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN]}…"


def audit_page(found: AuditSummary) -> str:
    """The whole answer."""
    return page("What a history of queries reads, and need not", _page_sections(found))


def _page_sections(found: AuditSummary) -> Iterator[str]:
    yield (
        f"<p>{found.runs:,} runs of {found.shapes:,} distinct shapes of queries"
        + (f", which read {_read(found.bytes)}" if found.bytes is not None else "")
        + ".</p>"
    )
    yield "<h2>What became of the runs</h2>"
    yield _bars(
        (OUTCOMES.get(it.what, it.what), f"{it.runs:,}", [(it.runs, it.what)])
        for it in found.totals
    )
    if found.top:
        yield "<h2>What to change first</h2>"
        yield _bars(
            (f"{number}. {_one_line(it.text)}", label, [(weight, "rewritten")])
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
        tables = [(it.name, _read(it.bytes), _by(it.bounded_by)) for it in found.facts]
        yield table(("table", "read by these runs", "bounded by (runs)"), tables)
    if found.reasons:
        yield "<h2>What is alone in the way, and what it would unlock</h2>"
        yield table(("column", "runs", "read", "reason"), _reason_rows(found))
    if found.left:
        yield "<h2>What was not judged</h2>"
        left = [(it.what, f"{it.runs:,}", f"{it.shapes:,}") for it in found.left]
        yield table(("reason", "runs", "shapes"), left)


def _shape(number: int, it: AuditedShape) -> str:
    facts = [
        (scan.fact, _number(scan.total), _number(scan.kept), scan.predicate) for scan in it.scans
    ]
    summary = f"{it.runs:,} runs, {it.users:,} users, {_read(it.bytes)} read, saved: {_saved(it)}"
    return (
        f"<details><summary>{number}. {escape(_one_line(it.text))}</summary>"
        f"<p>{escape(summary)} ({escape(it.how)})</p>"
        f"{table(('table', 'partitions', 'kept', 'predicate'), facts)}"
        f"<pre>{escape(it.rewritten)}</pre></details>"
    )


def _number(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def _weight(it: AuditedShape) -> tuple[int, str]:
    """How much a shape reads, or how often it ran, and how that is said."""
    return (it.runs, f"{it.runs:,} runs") if it.bytes is None else (it.bytes, _read(it.bytes))


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
