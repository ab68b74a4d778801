"""The result of an audit as one HTML page with its charts, which needs no network and no script."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from sqlrewrite.audit.answer import Answer, AuditedShape, Fact
from sqlrewrite.report.audit import SAID, by, one_line, read, reason_rows, saved
from sqlrewrite.report.page import page, table

_WIDTH, _ROW, _LABEL = 1060, 26, 330
_CHARACTERS = 43
"""So many of a monospaced 12 px stand before a bar; the whole label is shown when pointed at."""
_COLOURS = {"rewritten": "var(--old)", "rejected": "#d92", "pruned": "var(--new)"}
_OTHER = "#8888"


def audit_page(found: Answer) -> str:
    """The whole answer."""
    return page("What a history of queries reads, and need not", _sections(found))


def _sections(found: Answer) -> Iterator[str]:
    yield (
        f"<p>{found.runs:,} runs of {found.shapes:,} distinct shapes of queries"
        + (f", which read {read(found.bytes)}" if found.bytes is not None else "")
        + ".</p>"
    )
    yield "<h2>What became of the runs</h2>"
    yield _bars(
        (SAID.get(it.what, it.what), it.runs, f"{it.runs:,}", it.what) for it in found.totals
    )
    if found.top:
        yield "<h2>What to change first</h2>"
        yield _bars(
            (f"{number}. {one_line(it.text)}", *_weight(it), "rewritten")
            for number, it in enumerate(found.top, 1)
        )
        for number, it in enumerate(found.top, 1):
            yield _shape(number, it)
    if found.facts:
        yield "<h2>Tables: runs with a predicate to be had, pruned, and without</h2>"
        yield _stacks(found.facts)
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
    said = f"{it.runs:,} runs, {it.users:,} users, {read(it.bytes)} read, saved: {saved(it)}"
    return (
        f"<details><summary>{number}. {escape(one_line(it.text))}</summary>"
        f"<p>{escape(said)} ({escape(it.how)})</p>"
        f"{table(('table', 'partitions', 'kept', 'predicate'), facts)}"
        f"<pre>{escape(it.rewritten)}</pre></details>"
    )


def _number(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def _weight(it: AuditedShape) -> tuple[int, str]:
    """How much a shape reads, or how often it ran, and how that is said."""
    return (it.runs, f"{it.runs:,} runs") if it.bytes is None else (it.bytes, read(it.bytes))


def _bars(rows: Iterable[tuple[str, int, str, str]]) -> str:
    """A bar a row: its label, how long it is, what that says, its colour's name."""
    known = list(rows)
    most = max((number for _, number, _, _ in known), default=0) or 1
    return _svg(
        [
            (label, said, [(number / most, _COLOURS.get(kind, _OTHER))])
            for label, number, said, kind in known
        ]
    )


def _stacks(facts: Sequence[Fact]) -> str:
    """A bar a table, of three parts."""
    most = max((it.rewritten + it.pruned + it.rejected for it in facts), default=0) or 1
    kinds = ("rewritten", "pruned", "rejected")
    rows = [
        (
            it.name,
            f"{it.rewritten:,} / {it.pruned:,} / {it.rejected:,}",
            [(getattr(it, kind) / most, _COLOURS[kind]) for kind in kinds],
        )
        for it in facts
    ]
    return _svg(rows)


def _svg(rows: Sequence[tuple[str, str, Sequence[tuple[float, str]]]]) -> str:
    """A chart of bars: a label, what stands behind the bar, and its parts with their colours."""
    room = _WIDTH - _LABEL - 180
    drawn = []
    for number, (label, value, parts) in enumerate(rows):
        top, left = number * _ROW, float(_LABEL)
        drawn.append(
            f'<text x="{_LABEL - 8}" y="{top + 17}" text-anchor="end">{_label(label)}</text>'
        )
        for share, colour in parts:
            width = share * room
            drawn.append(
                f'<rect x="{left:.1f}" y="{top + 5}" width="{width:.1f}" height="16" '
                f'style="fill:{colour}"/>'
            )
            left += width
        drawn.append(f'<text x="{left + 8:.1f}" y="{top + 17}">{escape(value)}</text>')
    return (
        f'<svg role="img" viewBox="0 0 {_WIDTH} {len(rows) * _ROW}" width="100%" '
        'style="font:12px monospace;fill:currentColor">' + "".join(drawn) + "</svg>"
    )


def _label(text: str) -> str:
    """What there is room for, and the whole of it to be pointed at."""
    if len(text) <= _CHARACTERS:
        return escape(text)
    return f"<title>{escape(text)}</title>{escape(text[: _CHARACTERS - 1])}…"
