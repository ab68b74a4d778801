"""The findings of a run that count under the options and the settings of each project."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlrewrite.cli.many import MANY, Files, Group, Run, missing, results
from sqlrewrite.cli.output import progress
from sqlrewrite.frozen import dataclass
from sqlrewrite.linting.files import LintedFile, LintTask, unread
from sqlrewrite.linting.selection import FindingFilter, check, finding_filter, in_changed_statements
from sqlrewrite.report.printer import Printer
from sqlrewrite.settings.table import Settings


@dataclass(frozen=True, slots=True, eq=False)
class LintAsked(Files):
    """The options as given."""

    write_baseline: bool
    add_suppressions: bool
    watch: bool


def counting(asked: LintAsked, of: Run) -> list[FindingFilter]:
    """Which findings count in the files of each group. Raises ConfigError, also for a baseline."""
    check(Settings(**asked.chosen))  # the options alone, whose errors name no file
    return [finding_filter(it.settings, with_baseline=not asked.write_baseline) for it in of.groups]


def judged(
    asked: LintAsked, of: Run, filters: Sequence[FindingFilter], err: Printer, *, hidden: bool
) -> Iterator[tuple[FindingFilter, LintedFile]]:
    """Each path with what counts of all that was found in it, one at a time."""
    for path in of.missing:
        yield filters[0], unread(path, missing(path))
    few = of.count < MANY
    with progress(err, "linting files", of.count, hidden=hidden or few) as told:
        for its, group in zip(filters, of.groups, strict=True):
            wanted = asked.format == "sarif" or of.changed is not None  # SARIF hashes its lines
            task = LintTask(group.request, text=wanted, count=asked.statistics)
            for result in results(of, group, task, task, kept=("lint",)):
                yield its, _counted(of, group, its, result)
                told(advance=1)


def _counted(of: Run, group: Group, its: FindingFilter, result: LintedFile) -> LintedFile:
    """A result with those of its findings that count."""
    found = result.findings
    if found and of.changed is not None:
        changed, limits = of.changed.lines(result.path), group.settings.limits
        found = in_changed_statements(result.path, result.text, found, changed, limits)
    found = its.applied(result.path, found)
    return result if found == result.findings else replace(result, findings=found)
