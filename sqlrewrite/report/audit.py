"""The result of an audit, and of event logs: for people, as JSON, and as a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple
from html import escape
from itertools import count

from sqlrewrite.audit.audit_summary import (
    AuditedShape,
    AuditSummary,
    FactSummary,
    ScanCounts,
    Total,
)
from sqlrewrite.report import Printer, attributes, counted, dumps, print_table, size
from sqlrewrite.report.html_pages import bar, cells, page, table

VERSION = 1
OUTCOMES = {
    "rewritten": "get a predicate",
    "pruned": "are pruned already, by the author or the engine",
    "rejected": "join a partition column, but get no predicate",
    "nothing": "join no partition column of a known table",
    "skipped": "were left alone, with a reason",
    "error": "could not be read as Spark SQL",
    "empty": "have no text",
    "masked": "have a masked text",
    "cut": "have a text that is cut off",
    "other": "are not queries",
    "text": "were not judged: their texts changed while they were read",
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
"""The section of the page for an outcome."""

_LEGEND = (
    "<p>"
    + " &nbsp; ".join(
        f'<span class="bar {kind}" style="width:1rem"></span> {words}'
        for kind, words in (
            ("rewritten", "get a predicate"),
            ("pruned", "are pruned already"),
            ("rejected", "get no predicate"),
            ("nothing", "anything else"),
        )
    )
    + "</p>"
)

_KINDS = ("rewritten", "pruned", "rejected")
_SHOWN = 70


def print_audit(printer: Printer, audit: AuditSummary) -> None:
    """Prints the audit in four tables."""
    most = len(audit.top) or 10
    summary = f"{audit.runs:,} runs of {audit.shapes:,} shapes, {audit.decided:,} of them new"
    printer.line((summary, "bold"))
    rows = [(OUTCOMES.get(total.what, total.what), *_counts(total)) for total in audit.totals]
    print_table(printer, ("of the runs", ">runs", ">shapes", ">read"), rows)
    shapes = [
        (str(number), f"{shape.runs:,}", _read(shape.bytes), _saved(shape), _one_line(shape.text))
        for number, shape in enumerate(audit.top, 1)
    ]
    facts = [
        (
            fact.name,
            *(f"{getattr(fact, kind):,}" for kind in _KINDS),
            _bounding_dimensions(fact.bounded_by),
        )
        for fact in audit.facts[:most]
    ]
    _print_part(printer, "What to change first", shapes, (">", ">runs", ">read", ">saved", "query"))
    for how in dict.fromkeys(shape.how for shape in audit.top):
        printer.line(("saved: ", "dim"), (how, "dim"))
    headings: tuple[str, ...] = ("table", ">with a predicate", ">pruned", ">none", "bounded by")
    _print_part(printer, "Tables", facts, headings)
    headings = ("column", ">runs", ">read", "reason")
    _print_part(
        printer, "The only reason against a predicate", _reason_rows(audit)[:most], headings
    )
    headings = ("table", ">runs", ">shapes", ">read")
    _print_part(printer, "Not in the catalog", _unknown_rows(audit)[:most], headings)


def _print_part(
    printer: Printer, title: str, rows: Sequence[Sequence[str]], headings: Sequence[str]
) -> None:
    if rows:
        printer.print([(), ((title, "bold"),)])
        print_table(printer, headings, rows)


def audit_json(audit: AuditSummary) -> str:
    """The audit as JSON."""
    whole = {"version": VERSION, **asdict(audit)}
    whole["left"] = whole.pop("not_judged")  # its name in version 1 of the report
    for entry, shape in zip(whole["top"], audit.top, strict=True):
        entry |= attributes(shape, "saved_partitions saved_bytes saved_micros")
    return dumps(whole)


def _counts(total: Total) -> tuple[str, str, str]:
    """The runs, the shapes and the bytes read, for people."""
    return f"{total.runs:,}", f"{total.shapes:,}", _read(total.bytes)


def _reason_rows(audit: AuditSummary) -> list[tuple[str, ...]]:
    """For each column, the reason that alone prevents a predicate."""
    return [
        (
            f"{reason.fact}.{reason.column}",
            f"{reason.runs:,}",
            _read(reason.bytes),
            f"{reason.code} {reason.reason}",
        )
        for reason in audit.reasons
    ]


def _unknown_rows(audit: AuditSummary) -> list[tuple[str, ...]]:
    """The tables that are not in the catalog, by the bytes that their runs read, most first."""
    return [(total.what, *_counts(total)) for total in audit.unknown]


def _read(count: int | None) -> str:
    """Bytes for people."""
    return "-" if count is None else size(count)


def _saved(shape: AuditedShape) -> str:
    """What a shape's predicates would save."""
    if shape.saved is None:
        return "?"
    saved_bytes = shape.saved_bytes
    return f"{shape.saved:.0%}" + ("" if saved_bytes is None else f", {size(saved_bytes)}")


def _bounding_dimensions(dimensions: tuple[tuple[str, int], ...]) -> str:
    """The dimensions that bound a fact, with their runs."""
    first = ", ".join(f"{name} ({runs:,})" for name, runs in dimensions[:3])
    return first + (f", {len(dimensions) - 3} more" if len(dimensions) > 3 else "")


def _one_line(text: str) -> str:
    """The beginning of a text, on one line."""
    words = " ".join(text.split())
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN]}…"


def audit_page(audit: AuditSummary) -> str:
    """The audit as a page with its charts."""
    return page("What a history of queries reads needlessly", _page_sections(audit))


def _page_sections(audit: AuditSummary) -> Iterator[str]:
    read = f", which read {_read(audit.bytes)}" if audit.bytes is not None else ""
    yield f"<p>{audit.runs:,} runs of {audit.shapes:,} distinct shapes of queries{read}.</p>"
    yield "<h2>What became of the runs</h2>"
    yield _bars(
        (
            OUTCOMES.get(total.what, total.what),
            _place_of(audit, total.what),
            f"{total.runs:,}",
            [(total.runs, total.what)],
        )
        for total in audit.totals
    )
    yield _LEGEND
    if audit.top:
        yield '<h2 id="top">What to change first</h2>'
        yield _bars(map(_shape_bar, audit.top, count(1)))
        yield from map(_shape, audit.top, count(1))
    if audit.facts:
        yield '<h2 id="tables">Tables: runs that get a predicate / are pruned / get none</h2>'
        places = {
            scan.fact: f"#shape-{number}"
            for number, shape in reversed([*enumerate(audit.top, 1)])
            for scan in shape.scans
        }
        yield _bars(_fact_bar(fact, places) for fact in audit.facts)
    if audit.unknown:
        yield '<h2 id="unknown">Tables that the catalog lacks</h2>'
        yield table(("table", "runs", "shapes", "read by these runs"), _unknown_rows(audit))
    if audit.reasons:
        yield '<h2 id="reasons">The only reason against a predicate, and its runs</h2>'
        yield table(("column", "runs", "read", "reason"), _reason_rows(audit))
    if audit.not_judged:
        yield '<h2 id="left">What was not judged</h2>'
        rows = [(total.what, *_counts(total)[:2]) for total in audit.not_judged]
        yield table(("reason", "runs", "shapes"), rows)


def _place_of(audit: AuditSummary, outcome: str) -> str:
    """The link to the section on an outcome; empty if it has none."""
    sections = {
        "#top": audit.top,
        "#tables": audit.facts,
        "#unknown": audit.unknown,
        "#reasons": audit.reasons,
        "#left": audit.not_judged,
    }
    place = _PLACES.get(outcome, "")
    return place if sections.get(place) else ""


_Bar = tuple[str, str, str, Sequence[tuple[int, str]]]
"""A row of a chart: label, the section that it links to, value, and the parts of the bar."""


def _shape_bar(shape: AuditedShape, number: int) -> _Bar:
    """The bytes that a shape reads, or its runs if bytes are unknown."""
    weight, label = shape.bytes, _read(shape.bytes)
    if weight is None:
        weight, label = shape.runs, counted(shape.runs, "run")
    return f"{number}. {_one_line(shape.text)}", f"#shape-{number}", label, [(weight, "rewritten")]


def _fact_bar(fact: FactSummary, places: Mapping[str, str]) -> _Bar:
    """The runs over a fact, by outcome."""
    parts = [(getattr(fact, kind), kind) for kind in _KINDS]
    numbers = " / ".join(f"{number:,}" for number, _ in parts)
    by = _bounding_dimensions(fact.bounded_by) or "nothing"
    value = f"{numbers}; {_read(fact.bytes)} read; bounded by {by}"
    return fact.name, places.get(fact.name, ""), value, parts


def _shape(shape: AuditedShape, number: int) -> str:
    """A top shape, with its scans and its rewritten text."""
    facts = [
        (scan.fact, _number(scan.total), _number(scan.kept), scan.predicate) for scan in shape.scans
    ]
    ran = f"{counted(shape.runs, 'run')}, {counted(shape.users, 'user')}"
    summary = f"{ran}, {_read(shape.bytes)} read, saved: {_saved(shape)}"
    return (
        f'<details open id="shape-{number}"><summary>{number}. {escape(summary)}</summary>'
        f"<p>{escape(shape.how)}</p>"
        f"{table(('table', 'partitions', 'kept', 'predicate'), facts)}"
        f"<pre>{escape(shape.rewritten)}</pre></details>"
    )


def _number(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def _bars(rows: Iterable[_Bar]) -> str:
    """A chart; the longest bar has the full width."""
    bars = list(rows)
    most = max((sum(number for number, _ in parts) for *_, parts in bars), default=0) or 1
    lines = []
    for label, place, value, parts in bars:
        name = f'<a href="{place}">{escape(label)}</a>' if place else escape(label)
        drawn = bar((number / most, kind) for number, kind in parts if number)
        lines.append(f"<tr><td>{name}</td>{drawn}{cells((value,))}</tr>")
    return f"<table>{''.join(lines)}</table>"


_SCANNED = ("table", "scans", "by a condition", "by join keys", "join keys dropped", "unpruned")


def print_scanned(printer: Printer, scans: Sequence[ScanCounts]) -> None:
    """Prints a row for each table."""
    if not scans:
        printer.line(("no partitioned table was scanned", "yellow"))
        return
    headings = (_SCANNED[0], *(f">{heading}" for heading in _SCANNED[1:]))
    print_table(printer, headings, _scanned_rows(scans))


def scanned_json(scans: Sequence[ScanCounts]) -> str:
    """The scans as JSON."""
    return dumps({"version": VERSION, "tables": [asdict(scan) for scan in scans]})


def scanned_page(scans: Sequence[ScanCounts]) -> str:
    """The scans as a page."""
    return page(
        "What pruned the scans of partitioned tables", [table(_SCANNED, _scanned_rows(scans))]
    )


def _scanned_rows(scans: Sequence[ScanCounts]) -> list[tuple[str, ...]]:
    rows = (astuple(scan) for scan in scans)
    return [(table, *(f"{count:,}" for count in counts)) for table, *counts in rows]
