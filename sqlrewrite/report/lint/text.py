"""Findings for people: each with the lines it is about, and carets under its place, as in ruff."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from unicodedata import east_asian_width

from sqlrewrite.linting.files import MOST_LINES, LintedFile, excerpt
from sqlrewrite.linting.findings import Finding
from sqlrewrite.report.lint.concise import STYLES, clean, headline
from sqlrewrite.report.printer import Line

_WIDTH = 110
_BESIDE = len("…") * 2 + len(" | ") + len(" DPP001")
"""What stands beside an excerpt's text, besides the number of the line."""


def lines(result: LintedFile, width: int | None = None) -> Iterator[Line]:
    """The lines of one file; each finding ends in an empty one. Excerpts fit the ``width``."""
    context = dict(result.lines)
    for finding in result.shown:
        yield headline(result.path, finding)
        yield from _excerpt(finding, context, width)
        if finding.help:
            yield (("  = ", "cyan"), ("help", "bold"), (f": {clean(finding.help)}", ""))
        yield ()


def _excerpt(finding: Finding, lines: Mapping[int, str], columns: int | None) -> Iterator[Line]:
    """The lines around a place, numbered, with carets under what the finding is about."""
    place = finding.place
    numbers = [it for it in excerpt(place) if it in lines or it == place.line]
    more, numbers = len(numbers) > MOST_LINES, numbers[:MOST_LINES]
    cut = numbers[-1]
    margin = len(str(cut))
    width = _WIDTH if columns is None else max(40, min(_WIDTH, columns - margin - _BESIDE))
    gutter = (f"{'':>{margin}} | ", "cyan")
    empty: Line = ((f"{'':>{margin}} |", "cyan"),)
    yield empty
    for number in numbers:
        line = lines.get(number, "")
        inside = place.line <= number <= place.end_line
        start = place.column - 1 if number == place.line else len(line) - len(line.lstrip())
        end = place.end_column - 1 if number == place.end_line else len(line)
        # A long line is shown from where the place is in view.
        left = start - 30 if inside and start >= width - 30 else 0
        shown = clean(line[left : left + width])
        head, tail = "…" if left else "", "…" if len(line) > left + width else ""
        yield ((f"{number:>{margin}} | ", "cyan"), (f"{head}{shown}{tail}".rstrip(), ""))
        if inside and (end > start or number == place.line):
            blank = " " * (len(head) + _cells(line[left:start]))
            carets = "^" * max(1, _cells(line[start : min(end, left + width)]))
            code = f" {finding.code}" if number == min(cut, place.end_line) else ""
            yield (gutter, (blank + carets + code, STYLES[finding.severity]))
    if more:
        yield (gutter, ("…", ""))
    yield empty


def _cells(text: str) -> int:
    """How wide a text is in a terminal."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)
