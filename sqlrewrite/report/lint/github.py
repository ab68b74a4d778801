"""GitHub workflow commands: findings as annotations of a pull request's lines.

A step shows ten annotations of each level and drops the rest in silence; the last one that is shown
then says how many more there are. Columns are left out where a place spans lines, as GitHub would
take them for columns of the first one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlrewrite.linting.files import LintedFile, LintSummary
from sqlrewrite.linting.findings import Finding, Severity

CAP = 10
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def report(results: Sequence[LintedFile], total: LintSummary) -> str:
    """The commands, one a line."""
    return "".join(f"{line}\n" for line in _lines(results))


def _lines(results: Sequence[LintedFile]) -> Iterator[str]:
    for level in _LEVELS.values():
        found = list(_commands(results, level))
        yield from found[: CAP if len(found) <= CAP else CAP - 1]
        if len(found) > CAP:
            more = len(found) - CAP + 1
            yield f"::{level} title=dpp-rewrite::+{more} more: `dpp-rewrite lint` shows them"


def _commands(results: Sequence[LintedFile], level: str) -> Iterator[str]:
    """The annotations of one level; what could not be done is an error of the file."""
    for result in results:
        if level == "error":
            file = _property(result.path)
            for it in result.failures:
                yield f"::error file={file},title=dpp-rewrite::{_data(it.message)}"
        for finding in result.shown:
            if _LEVELS[finding.severity] == level:
                yield _command(result, finding, level)


def _command(result: LintedFile, finding: Finding, level: str) -> str:
    place = finding.place
    fields = {"file": _property(result.path), "line": place.line, "endLine": place.end_line}
    if place.line == place.end_line:
        fields |= {"col": place.column, "endColumn": place.end_column}
    title = _property(f"{finding.code} {finding.name}")
    shown = ",".join(f"{key}={value}" for key, value in fields.items())
    text = f"{finding.message}\n{finding.help}" if finding.help else finding.message
    return f"::{level} {shown},title={title}::{_data(text)}"


def _data(text: str) -> str:
    """A message as the runner reads it back."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
