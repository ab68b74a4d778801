"""The result of an audit: for people, and as JSON."""

from __future__ import annotations

from dataclasses import asdict

from sqlrewrite.audit.summary import AuditedShape, AuditSummary
from sqlrewrite.report.catalog import size
from sqlrewrite.report.json_text import attributes, dumps
from sqlrewrite.report.printer import Printer, print_table

VERSION = 1
SAID = {
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
"""What an outcome says of runs."""

_SHOWN = 70


def print_audit(printer: Printer, found: AuditSummary) -> None:
    """The answer in four tables."""
    summary = f"{found.runs:,} runs of {found.shapes:,} shapes, {found.decided:,} of them new"
    printer.line((summary, "bold"))
    rows = [
        (SAID.get(it.what, it.what), f"{it.runs:,}", f"{it.shapes:,}", read(it.bytes))
        for it in found.totals
    ]
    print_table(printer, ("of the runs", ">runs", ">shapes", ">read"), rows)
    if found.top:
        printer.print([(), (("What to change first", "bold"),)])
        shapes = [
            (str(number), f"{it.runs:,}", read(it.bytes), saved(it), one_line(it.text))
            for number, it in enumerate(found.top, 1)
        ]
        print_table(printer, (">", ">runs", ">read", ">saved", "query"), shapes)
        for how in dict.fromkeys(it.how for it in found.top):
            printer.line(("saved: ", "dim"), (how, "dim"))
    if found.facts:
        printer.print([(), (("Tables", "bold"),)])
        facts = [
            (it.name, f"{it.rewritten:,}", f"{it.pruned:,}", f"{it.rejected:,}", by(it.bounded_by))
            for it in found.facts[: len(found.top) or 10]
        ]
        headings = ("table", ">with a predicate", ">pruned", ">none", "bounded by")
        print_table(printer, headings, facts)
    if found.reasons:
        printer.print([(), (("Alone in the way", "bold"),)])
        reasons = reason_rows(found)[: len(found.top) or 10]
        print_table(printer, ("column", ">runs", ">read", "reason"), reasons)


def audit_json(found: AuditSummary) -> str:
    """The whole answer as one object, with a newline at its end."""
    whole = {"version": VERSION, **asdict(found)}
    for entry, shape in zip(whole["top"], found.top, strict=True):
        entry |= attributes(shape, "saved_partitions saved_bytes saved_micros")
    return dumps(whole)


def reason_rows(found: AuditSummary) -> list[tuple[str, ...]]:
    """What is alone in the way of each column."""
    return [
        (f"{it.fact}.{it.column}", f"{it.runs:,}", read(it.bytes), f"{it.code} {it.reason}")
        for it in found.reasons
    ]


def read(count: int | None) -> str:
    """Bytes, as a person reads them."""
    return "-" if count is None else size(count)


def saved(shape: AuditedShape) -> str:
    """What a shape's predicates would save."""
    if shape.saved is None:
        return "?"
    saved_bytes = shape.saved_bytes
    return f"{shape.saved:.0%}" + ("" if saved_bytes is None else f", {size(saved_bytes)}")


def by(dimensions: tuple[tuple[str, int], ...]) -> str:
    """The dimensions that bound a fact, with their runs."""
    first = ", ".join(f"{name} ({runs:,})" for name, runs in dimensions[:3])
    return first + (f", {len(dimensions) - 3} more" if len(dimensions) > 3 else "")


def one_line(text: str) -> str:
    """The beginning of a text."""
    words = " ".join(text.split())
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN]}…"
