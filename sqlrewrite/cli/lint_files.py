"""The options of ``lint``, and those findings of its files that each project's settings select."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlrewrite.cli.files import FileOptions, FileRun, results
from sqlrewrite.linting.files import LintedFile, LintTask
from sqlrewrite.linting.selection import FindingFilter, check, finding_filter, in_changed_statements
from sqlrewrite.report.printer import Printer
from sqlrewrite.settings.table import Settings


@dataclass(frozen=True, slots=True, eq=False)
class LintOptions(FileOptions):
    """The values of the command's options."""

    write_baseline: bool


def filters(options: LintOptions, run: FileRun) -> list[FindingFilter]:
    """Which findings count in the files of each group. Raises ConfigError, also for a baseline."""
    check(Settings(**options.chosen))  # the options alone, whose errors name no file
    known = not options.write_baseline
    return [finding_filter(it.settings, with_baseline=known) for it in run.groups]


def linted_files(
    options: LintOptions,
    run: FileRun,
    which: Sequence[FindingFilter],
    err: Printer,
    *,
    hidden: bool,
) -> Iterator[tuple[FindingFilter, LintedFile]]:
    """Each path with those of its findings that count, one at a time."""
    text = options.format == "sarif" or run.changed is not None  # SARIF hashes the lines
    jobs = [LintTask(it.request, text=text, statistics=options.statistics) for it in run.groups]
    for number, path, result in results(run, jobs, err, "linting files", hidden=hidden):
        found = result.findings
        if found and run.changed is not None:
            lines, limits = run.changed.lines(path), run.groups[number].settings.limits
            found = in_changed_statements(path, result.text, found, lines, limits)
        found = which[number].applied(result.path, found)
        same = found == result.findings
        yield which[number], result if same else replace(result, findings=found)
