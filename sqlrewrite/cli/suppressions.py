"""``lint --add-suppressions``: writes a comment into the file for each finding that counts."""

from __future__ import annotations

from collections.abc import Iterator

from sqlrewrite.cli.files import none_changed, warn
from sqlrewrite.cli.lint_files import LintOptions, filters, linted_files
from sqlrewrite.cli.streams import printer
from sqlrewrite.linting.add_suppressions import suppressed
from sqlrewrite.linting.files import LintedFile, lint_file
from sqlrewrite.linting.findings import Finding
from sqlrewrite.linting.suppression import UNUSED
from sqlrewrite.report.lint.concise import failure_lines, headline
from sqlrewrite.report.printer import Line, counted
from sqlrewrite.results import Problem
from sqlrewrite.run.file_content import UnreadFileError, read_file
from sqlrewrite.run.runner import Request
from sqlrewrite.text.hosts import host_of
from sqlrewrite.text.source import decode, write_atomically

_WHY = (
    " (not suppressed: no comment at the end of its line does that and no more; `ignore`, "
    "`per-file-ignores` and a baseline do)"
)


def add(options: LintOptions) -> int:
    """Adds the comments in all files. Returns the exit status: 2 where a file could not be read or
    written."""
    run = options.run()
    requests = {path: group.request for group in run.groups for path in group.files}
    which = filters(options, run)
    err = printer(err=True, color=options.color)
    warn(run, err)
    total, files, failed = 0, 0, False
    if none_changed(run, err):
        return 0
    for _, result in linted_files(options, run, which, err, hidden=options.quiet):
        failures, count, left = result.failures, 0, tuple[Finding, ...]()
        if result.shown:
            count, left, more = _written(result, requests[result.path])
            failures += more
        err.print([*_left_lines(result.path, left), *failure_lines(result.path, failures)])
        total, files, failed = total + count, files + bool(count), failed or bool(failures)
    if not options.quiet:
        said = f"{counted(total, 'finding')} suppressed in {counted(files, 'file')}"
        err.line((said, "bold"))
    return 2 if failed else 0


def _written(
    result: LintedFile, request: Request
) -> tuple[int, tuple[Finding, ...], tuple[Problem, ...]]:
    """Writes the comments into a file. Returns how many findings they suppress, those that stay,
    and what could not be done."""
    try:
        data, _ = read_file(result.path)
    except UnreadFileError as error:
        return 0, (), (error.problem,)
    source = decode(data)

    def findings(text: str) -> tuple[Finding, ...]:
        return lint_file(result.path, source.encode(text), request).findings

    host = host_of(result.path, source.text)
    text, left = suppressed(source.text, result.shown, findings, host)
    try:
        if text != source.text:
            write_atomically(result.path, source.encode(text))
    except OSError as error:
        why = f"cannot be written: {error.strerror or error}"
        return 0, (), (Problem("io-error", why, 1, 1),)
    return len(result.shown) - len(left), left, ()


def _left_lines(path: str, left: tuple[Finding, ...]) -> Iterator[Line]:
    """The findings of a file that cannot be suppressed by a comment."""
    for it in left:
        yield (*headline(path, it), (_WHY if it.code != UNUSED else "", "yellow"))
