"""The findings of a run that count under the options and the settings of each project."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlrewrite.cli.many import MANY, Files, Group, Run, results, why_missing
from sqlrewrite.cli.output import progress
from sqlrewrite.frozen import dataclass
from sqlrewrite.linting import baseline
from sqlrewrite.linting.run import Linted, LintTask, Rules, rules_of, unread
from sqlrewrite.linting.selection import selection_of
from sqlrewrite.report.styled import Printer
from sqlrewrite.run.runner import missing
from sqlrewrite.settings.table import Settings


@dataclass(frozen=True, slots=True, eq=False)
class LintAsked(Files):
    """The options as given."""

    write_baseline: bool
    add_suppressions: bool
    watch: bool


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """What counts in the files of a group, and where its baseline is."""

    rules: Rules
    path: str

    def keys(self, result: Linted) -> Iterator[baseline.BaselineKey]:
        """What the baseline knows the findings of a file by."""
        return (self.rules.baseline.key(result.path, it) for it in result.shown)


def judge_of(asked: LintAsked, settings: Settings) -> Judge:
    """What counts under these settings. Raises ConfigError, and BaselineError for its file."""
    selection_of(Settings(**asked.chosen))  # the options alone, whose errors name no file
    rules = rules_of(settings, known=not asked.write_baseline)
    return Judge(rules, baseline.path_of(settings))


def judged(
    asked: LintAsked, of: Run, judges: Sequence[Judge], err: Printer, *, hidden: bool
) -> Iterator[tuple[Judge, Linted]]:
    """Each path with what counts of all that was found in it, one at a time."""
    for path in of.missing:
        yield judges[0], unread(missing(path, why_missing(path)))
    few = of.count < MANY
    with progress(err, "linting files", of.count, hidden=hidden or few) as told:
        for judge, group in zip(judges, of.groups, strict=True):
            wanted = asked.format == "sarif" or of.changed is not None  # SARIF hashes its lines
            task = LintTask(group.request, text=wanted, count=asked.statistics)
            for result in results(of, group, task, task, kept=("lint",)):
                yield judge, judge.rules.of(_changed(of, group, result))
                told(advance=1)


def _changed(of: Run, group: Group, result: Linted) -> Linted:
    """A result with what counts of it where only changes do."""
    if of.changed is None or not result.findings:
        return result
    from sqlrewrite.linting.changed import in_changed

    return in_changed(result, of.changed.lines(result.path), group.settings.limits)
