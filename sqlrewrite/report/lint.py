"""Lint findings for people: with the lines of the source, as in ruff, or one line each.

A format is a function from one file's result and the width of the terminal to lines; its row in
``PEOPLE`` makes it a value of ``--format``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from unicodedata import east_asian_width

from sqlrewrite.linting.files import MOST_LINES, LintedFile, LintSummary, excerpt
from sqlrewrite.linting.findings import BY_CODE, Finding, Severity
from sqlrewrite.report import Line, clean, counted, shown
from sqlrewrite.report.rewrite import NO_FILES
from sqlrewrite.results import Problem

_STYLES: Mapping[Severity, str] = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "bold yellow",
    Severity.NOTE: "bold cyan",
}
_WIDTH = 110
_BESIDE = len("…") * 2 + len(" | ") + len(" DPP001")
"""The width of an excerpt's frame, without the line number."""


def text(result: LintedFile, width: int | None) -> Iterator[Line]:
    """The findings of one file with lines of its source; an empty line after each."""
    context = dict(result.lines)
    for finding in result.shown:
        yield _headline(result.path, finding)
        yield from _excerpt(finding, context, width)
        if finding.help:
            yield (("  = ", "cyan"), ("help", "bold"), (f": {clean(finding.help)}", ""))
        yield ()


def concise(result: LintedFile, width: int | None) -> Iterator[Line]:
    """The findings of one file as ``path:line:column: CODE message``, for editors and grep."""
    for finding in result.shown:
        yield _headline(result.path, finding)


PEOPLE: Mapping[str, Callable[[LintedFile, int | None], Iterator[Line]]] = {
    "text": text,
    "concise": concise,
}


def failure_lines(path: str, failures: tuple[Problem, ...]) -> Iterator[Line]:
    """The failures of a file, for stderr."""
    for failure in failures:
        message = f": {clean(failure.message)}"
        yield ((f"{shown(path)}: ", "bold"), ("error", "bold red"), (message, ""))


def statistics(total: LintSummary) -> Iterator[Line]:
    """The number of findings of each code, most frequent first."""
    counts = sorted(total.codes.items(), key=lambda item: (-item[1], item[0]))
    width = max((len(str(count)) for _, count in counts), default=1)
    for code, count in counts:
        name = f"  {BY_CODE[code].name}"
        yield ((f"{count:>{width}}", "bold"), (f"  {code}", "bold yellow"), (name, ""))


def last_lines(total: LintSummary) -> Iterator[Line]:
    """The number of findings, and of those that are suppressed or can be fixed."""
    if not total.files:
        yield ((NO_FILES, "yellow"),)
        return
    count = sum(total.codes.values())
    checked = f" in {counted(total.files - total.failed, 'file')}"
    parts = [counted(total.notes, "note")] if total.notes else []
    parts += [f"{total.suppressed:,} suppressed"] if total.suppressed else []
    details = f" ({', '.join(parts)})" if parts else ""
    failed = f", {counted(total.failed, 'file')} not checked" if total.failed else ""
    head = (counted(count, "finding"), "bold yellow") if count else ("no findings", "bold green")
    yield (head, (checked + details, ""), (failed, "bold red"))
    if total.fixable:
        yield (("[*] ", "cyan"), (f"{total.fixable} fixable with `dpp-rewrite --write`", ""))


def _headline(path: str, finding: Finding) -> Line:
    """Place, code in the colour of the severity, and message of a finding."""
    place = f"{shown(path)}:{finding.place.line}:{finding.place.column}: "
    mark = " [*]" if finding.fix else ""
    code = (finding.code, _STYLES[finding.severity])
    note = "note: " if finding.severity is Severity.NOTE else ""
    return ((place, "bold"), code, (mark, "cyan"), (f" {note}{clean(finding.message)}", ""))


def _excerpt(finding: Finding, lines: Mapping[int, str], columns: int | None) -> Iterator[Line]:
    """The lines around a place, numbered, with carets under the subject of the finding."""
    place = finding.place
    numbers = [n for n in excerpt(place) if n in lines or n == place.line]
    more, numbers = len(numbers) > MOST_LINES, numbers[:MOST_LINES]
    margin = len(str(numbers[-1]))
    width = _WIDTH if columns is None else max(40, min(_WIDTH, columns - margin - _BESIDE))
    gutter = (f"{'':>{margin}} | ", "cyan")
    empty: Line = ((f"{'':>{margin}} |", "cyan"),)
    yield empty
    for number in numbers:
        line = lines.get(number, "")
        inside = place.line <= number <= place.end_line
        start = place.column - 1 if number == place.line else len(line) - len(line.lstrip())
        end = place.end_column - 1 if number == place.end_line else len(line)
        # Of a long line, the part around the place.
        cut = start - 30 if inside and start >= width - 30 else 0
        head, tail = "…" if cut else "", "…" if len(line) > cut + width else ""
        visible = f"{head}{clean(line[cut : cut + width])}{tail}".rstrip()
        yield ((f"{number:>{margin}} | ", "cyan"), (visible, ""))
        if inside and (end > start or number == place.line):
            blank = " " * (len(head) + _cells(line[cut:start]))
            carets = "^" * max(1, _cells(line[start : min(end, cut + width)]))
            code = f" {finding.code}" if number == min(numbers[-1], place.end_line) else ""
            yield (gutter, (blank + carets + code, _STYLES[finding.severity]))
    if more:
        yield (gutter, ("…", ""))
    yield empty


def _cells(text: str) -> int:
    """The width of a text in a terminal."""
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)
