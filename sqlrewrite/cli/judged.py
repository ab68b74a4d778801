"""The findings of a run that count under the options and the settings of each project."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlrewrite.cli.many import MANY, Files, Group, Run, missing, results
from sqlrewrite.cli.output import progress
from sqlrewrite.frozen import dataclass
from sqlrewrite.linting.run import Linted, LintTask, Rules, rules_of, unread
from sqlrewrite.linting.selection import check
from sqlrewrite.report.printer import Printer
from sqlrewrite.settings.table import Settings


@dataclass(frozen=True, slots=True, eq=False)
class LintAsked(Files):
    """The options as given."""

    write_baseline: bool
    add_suppressions: bool
    watch: bool


def counting(asked: LintAsked, of: Run) -> list[Rules]:
    """Which findings count in the files of each group. Raises ConfigError, also for a baseline."""
    check(Settings(**asked.chosen))  # the options alone, whose errors name no file
    return [rules_of(it.settings, known=not asked.write_baseline) for it in of.groups]


def judged(
    asked: LintAsked, of: Run, rules: Sequence[Rules], err: Printer, *, hidden: bool
) -> Iterator[tuple[Rules, Linted]]:
    """Each path with what counts of all that was found in it, one at a time."""
    for path in of.missing:
        yield rules[0], unread(path, missing(path))
    few = of.count < MANY
    with progress(err, "linting files", of.count, hidden=hidden or few) as told:
        for its, group in zip(rules, of.groups, strict=True):
            wanted = asked.format == "sarif" or of.changed is not None  # SARIF hashes its lines
            task = LintTask(group.request, text=wanted, count=asked.statistics)
            for result in results(of, group, task, task, kept=("lint",)):
                yield its, its.of(_changed(of, group, result))
                told(advance=1)


def _changed(of: Run, group: Group, result: Linted) -> Linted:
    """A result with what counts of it where only changes do."""
    if of.changed is None or not result.findings:
        return result
    from sqlrewrite.linting.changed import in_changed

    return in_changed(result, of.changed.lines(result.path), group.settings.limits)
