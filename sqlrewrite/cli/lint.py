"""``dpp-rewrite lint``: findings about queries, in a format for people or programs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import click

from sqlrewrite.cli.command_options import Command, file_options, setting_options, with_chosen
from sqlrewrite.cli.file_runs import (
    FILES,
    NO_TABLES,
    REPORTED,
    FileGroup,
    FileOptions,
    FileRun,
    none_changed,
    report_left_out,
    results,
    warn,
)
from sqlrewrite.cli.streams import output_to, printer, write_stdout
from sqlrewrite.copies import replace
from sqlrewrite.linting import baseline
from sqlrewrite.linting.files import LintedFile, LintSummary, LintTask, with_report_paths
from sqlrewrite.linting.proposed_columns import Proposals, writing_files
from sqlrewrite.linting.selection import FindingFilter, check, finding_filter, in_changed_statements
from sqlrewrite.report import Line, Printer, lint, shown
from sqlrewrite.report.lint_formats import MACHINES
from sqlrewrite.report.rewrite import statistics_lines
from sqlrewrite.run.git import repository
from sqlrewrite.run.search import STDIN
from sqlrewrite.run.statistics import Statistics
from sqlrewrite.settings.table import Settings, section


class LintOptions(FileOptions, frozen=True, eq=False):
    """The values of the command's options."""

    write_baseline: bool


@click.command(
    "lint",
    cls=Command,
    sections={
        "Catalog, engine and settings": (*section("known"), "config", "isolated", "stdin_filename"),
        "What a rewrite would insert": section("inserted"),
        "Which files": FILES,
        "What counts": (*section("counts"), "write_baseline"),
        "How the work is done": section("work"),
        "What is reported": REPORTED,
        "Exit status": (*section("exit"), "exit_zero"),
    },
    short_help="Report what keeps queries from pruning; change nothing.",
    epilog="""\b
Examples:
  dpp-rewrite lint -c ddl.sql queries/             findings, with the lines
  dpp-rewrite lint --format github queries/        as annotations, in CI
  dpp-rewrite lint --write-baseline queries/       from here on, only new ones
  dpp-rewrite lint --ignore DPP007 --statistics .  how many of what
  dpp-rewrite rules DPP001                         what a code means

\b
In a query, at the end of the line that names the table:
  -- dpp-rewrite: ignore              leave this scan as it is
  -- dpp-rewrite: ignore[DPP007] why  only this finding
  -- dpp-rewrite: off ... on          a region;  ignore-file: the file

\b
Exit status:
  0  no findings, or only notes
  1  findings; a statement that does not parse counts only with --strict
  2  wrong usage, no table is known, a broken catalog, an unreadable file""",
)
@setting_options("lint")
@file_options(
    (*lint.PEOPLE, *MACHINES),
    "Format of the report on stdout.",
    "Print counts of findings and of understood statements, not the findings.",
    "Print no summary.",
    "Show suppressed findings too.",
)
@click.option(
    "--write-baseline",
    is_flag=True,
    help=f"Write all findings to the baseline, by default {baseline.NAME}, and exit 0.",
)
@click.pass_context
def lint_command(ctx: click.Context, /, **given: Any) -> None:
    """Reports what keeps queries from pruning partitions, and changes nothing.

    PATHS are files (of SQL, Python, notebooks), folders (searched for *.sql, *.hql and their like,
    without what git ignores), or - for stdin. Findings go to stdout, the summary to stderr.
    `dpp-rewrite --write` fixes those with a [*].
    """
    options = LintOptions(**with_chosen(given))
    _refuse_contradictions(options)
    with output_to(options.output_file):
        status = _run(options)
    ctx.exit(0 if options.exit_zero else status)


def _refuse_contradictions(options: LintOptions) -> None:
    if options.write_baseline and options.changed_since is not None:
        raise click.UsageError(
            "--write-baseline cannot go with --changed-since: a baseline has all findings"
        )
    if options.statistics and options.format not in (*lint.PEOPLE, "json"):
        raise click.UsageError(f"--statistics cannot go with --format {options.format}")
    if options.write_baseline and options.statistics:
        raise click.UsageError("--write-baseline cannot go with --statistics")


def _run(options: LintOptions) -> int:
    """Runs the command. Returns the exit status."""
    run, people = options.run(), options.format in lint.PEOPLE
    check(Settings(**options.chosen))  # the options alone, whose errors name no file
    with_baseline = not options.write_baseline
    which = [finding_filter(group.settings, with_baseline=with_baseline) for group in run.groups]
    out = printer(err=False, color=options.color)
    err = printer(err=True, color=options.color)
    total, reported = (
        LintSummary(statistics=Statistics() if options.statistics else None),
        list[LintedFile](),
    )
    baselines = {filter_.path: baseline.Writing(filter_.baseline.root) for filter_ in which}
    # Where findings go to the terminal, a bar would stand among them.
    hidden = options.quiet or (people and out.stream.isatty())
    warn(run, err)
    none = none_changed(run, err)
    for selected, result in _linted_files(options, run, which, err, hidden=hidden):
        total.add(result)
        if options.write_baseline:
            keys = (selected.baseline.key(result.path, finding) for finding in result.shown)
            baselines[selected.path].add(result.path, keys)
        elif not people:
            reported.append(result)
        elif result.findings and not options.statistics:
            shown_result = _all_shown(result) if options.verbose else result
            out.print(lint.PEOPLE[options.format](shown_result, out.width))
        if result.failures:
            err.print(lint.failure_lines(result.path, result.failures))
    if options.write_baseline:
        err.print(_write_baselines(baselines, total))
        return 2 if total.failures else 0
    if not people:
        results = with_report_paths(reported, _root(run, reported))
        report = MACHINES[options.format](results, total)
        write_stdout(report.encode("utf-8", "backslashreplace"))
    elif total.statistics is not None:
        counts = statistics_lines(total.statistics, would=True)
        out.print([*lint.statistics(total), (), *counts])
    if not (options.quiet or none or (run.stdin_is_excluded and not total.files)):
        err.print(lint.last_lines(total))
    report_left_out(run, err)
    if run.lacks_tables:
        err.line(NO_TABLES)
        return 2
    return total.status


def _root(run: FileRun, results: Iterable[LintedFile]) -> str:
    """The folder from which reports name files: the repository, or that of the settings."""
    folders = {os.path.dirname(result.path) for result in results}
    repositories = {root for folder in folders if (root := repository(folder))}
    settings = {os.path.abspath(group.settings.root) for group in run.groups}
    return os.path.commonpath(repositories or settings)


def _write_baselines(
    baselines: Mapping[str, baseline.Writing], total: LintSummary
) -> Iterator[Line]:
    """Writes the baselines and reports it; writes none if a file could not be read."""
    if total.failures:
        yield (("the baseline is not written: not all files were read", "bold red"),)
        return
    for path, writing in baselines.items():
        others = baseline.write(path, writing)
        more = f", {others} of other files kept" if others else ""
        yield ((f"{writing.counted.total()} findings written to {shown(path)}{more}", "bold"),)


def _all_shown(result: LintedFile) -> LintedFile:
    """The result with its suppressed findings, each with the reason."""
    findings = (
        replace(finding, message=f"{finding.message} (suppressed: {by.reason})", suppression=None)
        if (by := finding.suppression)
        else finding
        for finding in result.findings
    )
    return replace(result, findings=tuple(findings))


def _writing(group: FileGroup) -> tuple[str, ...]:
    """The files that may hold the statements which write the tables."""
    return tuple(writing_files((path for path in group.files if path != STDIN), group.settings))


def _linted_files(
    options: LintOptions,
    run: FileRun,
    which: Sequence[FindingFilter],
    err: Printer,
    *,
    hidden: bool,
) -> Iterator[tuple[FindingFilter, LintedFile]]:
    """Each path with its findings that count, one path at a time."""
    text = options.format == "sarif" or run.changed is not None  # SARIF hashes the lines
    counting = options.statistics
    jobs = [
        LintTask(group.request, text, counting, Proposals(_writing(group), group.request.catalog))
        for group in run.groups
    ]
    for number, path, result in results(run, jobs, err, "linting files", hidden=hidden):
        findings = result.findings
        if findings and run.changed is not None:
            lines, limits = run.changed.lines(path), run.groups[number].settings.limits
            findings = in_changed_statements(path, result.text, findings, lines, limits)
        findings = which[number].applied(result.path, findings)
        yield which[number], replace(result, findings=findings)
