"""The result of an audit: for people, as JSON, and as a page with its charts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from html import escape

from sqlrewrite.audit.summary import AuditedShape, AuditSummary
from sqlrewrite.report.catalog import size
from sqlrewrite.report.json_text import attributes, dumps
from sqlrewrite.report.page import bar, cells, page, table
from sqlrewrite.report.printer import Printer, counted, print_table

VERSION = 1
OUTCOMES = {
    "rewritten": "get a predicate",
    "pruned": "are pruned already, by the author or the engine",
    "rejected": "join a partition column, and get none",
    "nothing": "join no partition column of a table that is known",
    "skipped": "were left alone",
    "error": "could not be read as Spark SQL",
    "empty": "have no text",
    "masked": "have a masked text",
    "cut": "have a text that is cut off",
    "other": "are no queries",
    "text": "were not decided: their texts have changed while they were read",
}
"""The outcomes of runs, in words."""

_PLACES = {
    "rewritten": "#top",
    "pruned": "#tables",
    "rejected": "#reasons",
    "nothing": "#unknown",
    "skipped": "#left",
    "error": "#left",
}
"""Where the page goes on about an outcome."""

_LEGEND = (
    "<p>"
    + " &nbsp; ".join(
        f'<span class="bar {kind}" style="width:1rem"></span> {words}'
        for kind, words in (
            ("rewritten", "a predicate is to be had"),
            ("pruned", "pruned already"),
            ("rejected", "none can be had"),
            ("nothing", "anything else"),
        )
    )
    + "</p>"
)

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
    if found.unknown:
        printer.print([(), (("Not in the catalog", "bold"),)])
        unknown = _unknown_rows(found)[: len(found.top) or 10]
        print_table(printer, ("table", ">runs", ">shapes", ">read"), unknown)


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


def _unknown_rows(found: AuditSummary) -> list[tuple[str, ...]]:
    """The tables that the catalog lacks, those whose runs read the most first."""
    return [(it.what, f"{it.runs:,}", f"{it.shapes:,}", _read(it.bytes)) for it in found.unknown]


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
        (
            OUTCOMES.get(it.what, it.what),
            _place_of(found, it.what),
            f"{it.runs:,}",
            [(it.runs, it.what)],
        )
        for it in found.totals
    )
    yield _LEGEND
    if found.top:
        yield '<h2 id="top">What to change first</h2>'
        yield _bars(
            (f"{number}. {_one_line(it.text)}", _place(number), label, [(weight, "rewritten")])
            for number, it in enumerate(found.top, 1)
            for weight, label in (_weight(it),)
        )
        for number, it in enumerate(found.top, 1):
            yield _shape(number, it)
    if found.facts:
        yield '<h2 id="tables">Tables: runs with a predicate to be had / pruned / without</h2>'
        kinds = ("rewritten", "pruned", "rejected")
        counts = [[(getattr(it, kind), kind) for kind in kinds] for it in found.facts]
        shown = {
            scan.fact: n for n, it in reversed([*enumerate(found.top, 1)]) for scan in it.scans
        }
        yield _bars(
            (
                *(it.name, _place(shown[it.name]) if it.name in shown else ""),
                " / ".join(f"{number:,}" for number, _ in parts)
                + f"; {_read(it.bytes)} read; bounded by {_by(it.bounded_by) or 'nothing'}",
                parts,
            )
            for it, parts in zip(found.facts, counts, strict=True)
        )
    if found.unknown:
        yield '<h2 id="unknown">Tables that the catalog lacks</h2>'
        yield table(("table", "runs", "shapes", "read by these runs"), _unknown_rows(found))
    if found.reasons:
        yield '<h2 id="reasons">What is alone in the way, and what it would unlock</h2>'
        yield table(("column", "runs", "read", "reason"), _reason_rows(found))
    if found.left:
        yield '<h2 id="left">What was not judged</h2>'
        left = [(it.what, f"{it.runs:,}", f"{it.shapes:,}") for it in found.left]
        yield table(("reason", "runs", "shapes"), left)


def _place_of(found: AuditSummary, outcome: str) -> str:
    """Where the page goes on about an outcome, if it does."""
    there = {
        "#top": found.top,
        "#tables": found.facts,
        "#unknown": found.unknown,
        "#reasons": found.reasons,
        "#left": found.left,
    }
    place = _PLACES.get(outcome, "")
    return place if there.get(place) else ""


def _shape(number: int, it: AuditedShape) -> str:
    facts = [
        (scan.fact, _number(scan.total), _number(scan.kept), scan.predicate) for scan in it.scans
    ]
    ran = f"{counted(it.runs, 'run')}, {counted(it.users, 'user')}"
    summary = f"{ran}, {_read(it.bytes)} read, saved: {_saved(it)}"
    return (
        f'<details open id="{_place(number)[1:]}"><summary>{number}. {escape(summary)}</summary>'
        f"<p>{escape(it.how)}</p>"
        f"{table(('table', 'partitions', 'kept', 'predicate'), facts)}"
        f"<pre>{escape(it.rewritten)}</pre></details>"
    )


def _place(number: int) -> str:
    """Where in the page a top shape's statement stands."""
    return f"#shape-{number}"


def _number(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def _weight(it: AuditedShape) -> tuple[int, str]:
    """How much a shape reads, or how often it ran, and how that is said."""
    return (it.runs, counted(it.runs, "run")) if it.bytes is None else (it.bytes, _read(it.bytes))


def _bars(rows: Iterable[tuple[str, str, str, Sequence[tuple[int, str]]]]) -> str:
    """A chart: in a row a label, the place in the page that it leads to, what its bar says, and the
    parts of the bar with their classes; the longest bar has the whole width."""
    drawn_rows = list(rows)
    most = max((sum(number for number, _ in parts) for *_, parts in drawn_rows), default=0) or 1
    drawn = (
        f"<tr><td>{_linked(label, place)}</td>"
        f"{bar((number / most, kind) for number, kind in parts if number)}{cells((value,))}</tr>"
        for label, place, value, parts in drawn_rows
    )
    return f"<table>{''.join(drawn)}</table>"


def _linked(label: str, place: str) -> str:
    return f'<a href="{place}">{escape(label)}</a>' if place else escape(label)
