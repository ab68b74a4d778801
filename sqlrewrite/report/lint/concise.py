"""One line a finding: ``path:line:column: CODE message``, as editors and grep read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlrewrite.linting.files import LintedFile, LintSummary
from sqlrewrite.linting.findings import BY_CODE, Finding, Severity
from sqlrewrite.report.printer import Line, counted, shown
from sqlrewrite.report.text import NO_FILES
from sqlrewrite.results import Problem

STYLES: Mapping[Severity, str] = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "bold yellow",
    Severity.NOTE: "bold cyan",
}


def lines(result: LintedFile, width: int | None = None) -> Iterator[Line]:
    """The lines of one file, of any ``width``."""
    for finding in result.shown:
        yield headline(result.path, finding)


def headline(path: str, finding: Finding) -> Line:
    """Where a finding is, its code in the colour of its severity, whether it is a note, and what it
    says."""
    place = f"{shown(path)}:{finding.place.line}:{finding.place.column}: "
    mark = " [*]" if finding.fix else ""
    code = (finding.code, STYLES[finding.severity])
    note = "note: " if finding.severity is Severity.NOTE else ""
    return ((place, "bold"), code, (mark, "cyan"), (f" {note}{clean(finding.message)}", ""))


def clean(text: str) -> str:
    """A text without what would move a terminal's cursor: it may quote the file."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else " " for char in text)


def failure_lines(path: str, failures: tuple[Problem, ...]) -> Iterator[Line]:
    """The failures of a file, for stderr."""
    for it in failures:
        yield ((f"{shown(path)}: ", "bold"), ("error", "bold red"), (f": {clean(it.message)}", ""))


def statistics(total: LintSummary) -> Iterator[Line]:
    """How many findings there are of each code, most frequent first."""
    found = sorted(total.codes.items(), key=lambda item: (-item[1], item[0]))
    width = max((len(str(count)) for _, count in found), default=1)
    for code, count in found:
        name = f"  {BY_CODE[code].name}"
        yield ((f"{count:>{width}}", "bold"), (f"  {code}", "bold yellow"), (name, ""))


def last_lines(total: LintSummary) -> Iterator[Line]:
    """How many findings there are, and how many of them are suppressed or can be fixed."""
    if not total.files:
        yield ((NO_FILES, "yellow"),)
        return
    count = sum(total.codes.values())
    checked = f" in {counted(total.files - total.failed, 'file')}"
    notes = f", {total.notes:,} of them notes" if total.notes else ""
    hidden = f" ({total.suppressed} suppressed)" if total.suppressed else ""
    failed = f", {counted(total.failed, 'file')} not checked" if total.failed else ""
    head = (counted(count, "finding"), "bold yellow") if count else ("no findings", "bold green")
    yield (head, (notes + checked + hidden, ""), (failed, "bold red"))
    if total.fixable:
        yield (("[*] ", "cyan"), (f"{total.fixable} fixable with `dpp-rewrite --write`", ""))
