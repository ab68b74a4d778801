"""``dpp-rewrite lint``: findings about queries, in a format for people or programs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

import click

from sqlrewrite.cli import many
from sqlrewrite.cli.common import Command, printer, setting_options, sorted_out, write_stdout
from sqlrewrite.cli.judged import LintAsked, counting, judged
from sqlrewrite.cli.output import output_to
from sqlrewrite.linting import baseline
from sqlrewrite.linting.files import LintedFile, LintSummary
from sqlrewrite.report.lint import FORMATS, PEOPLE, concise
from sqlrewrite.report.printer import Line, shown
from sqlrewrite.run.files import STDIN, repository
from sqlrewrite.settings.table import section


@click.command(
    "lint",
    cls=Command,
    sections={
        "What is known": (*section("known"), "config", "isolated", "stdin_filename"),
        "What a rewrite would insert": section("inserted"),
        "Which files": many.FILES,
        "What counts": (*section("counts"), "write_baseline", "add_suppressions"),
        "How the work is done": (*section("work"), "watch"),
        "What is reported": many.SHOWN,
        "Exit status": (*section("exit"), "exit_zero"),
    },
    short_help="Report what keeps queries from pruning; change nothing.",
    epilog="""\b
Examples:
  dpp-rewrite lint -c ddl.sql queries/             findings, with the lines
  dpp-rewrite lint --format github queries/        as annotations, in CI
  dpp-rewrite lint --write-baseline queries/       from here on, only new ones
  dpp-rewrite lint --ignore DPP007 --statistics .  how many of what
  dpp-rewrite lint --watch queries/                again after each change
  dpp-rewrite rules DPP001                         what a code means

\b
In a query, at the end of the line that names the table:
  -- dpp-rewrite: ignore              leave this scan as it is
  -- dpp-rewrite: ignore[DPP007] why  only this finding
  -- dpp-rewrite: off ... on          a region;  ignore-file: the file

\b
Exit status:
  0  no findings
  1  findings (a statement that does not parse is one under --strict only)
  2  something could not be done: wrong usage, a broken catalog, an
     unreadable file""",
)
@setting_options("lint")
@many.file_options(
    FORMATS,
    "Format of the report on stdout.",
    "Print the number of findings by code, and what was understood, not the findings.",
    "No summary.",
    "Show suppressed findings too.",
)
@click.option(
    "--write-baseline",
    is_flag=True,
    help=f"Write all findings to the baseline ({baseline.NAME} by default), and exit 0.",
)
@click.option(
    "--add-suppressions",
    is_flag=True,
    help="Write a comment into the files for each finding, which suppresses it.",
)
@click.option(
    "--watch", is_flag=True, help="Lint again whenever a file, a setting or the catalog changes."
)
@click.pass_context
def command(ctx: click.Context, /, **given: Any) -> None:
    """Reports what keeps queries from pruning partitions, and changes nothing.

    PATHS are files (of SQL, Python, notebooks), directories (searched for *.sql, *.hql and their
    like, what git ignores left out), or - for stdin. Findings go to stdout, the summary to stderr.
    `dpp-rewrite --write` fixes those with a [*].
    """
    asked = LintAsked(**sorted_out(given))
    _refuse_contradictions(asked)
    if asked.watch:
        from sqlrewrite.cli.watch import watch

        out, err = (printer(err=it, color=asked.color) for it in (False, True))
        watch(lambda: _run(asked), asked, err, out)
    if asked.add_suppressions:
        from sqlrewrite.cli.suppressions import add

        ctx.exit(add(asked))
    with output_to(asked.output_file):
        total = _run(asked)
    done = asked.write_baseline and not total.failures
    ctx.exit(0 if asked.exit_zero or done else total.status)


def _refuse_contradictions(asked: LintAsked) -> None:
    if asked.write_baseline and asked.changed_since is not None:
        raise click.UsageError(
            "--write-baseline cannot go with --changed-since: a baseline has all findings"
        )
    if asked.statistics and asked.format not in (*PEOPLE, "json"):
        raise click.UsageError(f"--statistics cannot go with --format {asked.format}")
    modes = ("add_suppressions", "write_baseline", "watch", "statistics")
    chosen = [f"--{it.replace('_', '-')}" for it in modes if getattr(asked, it)]
    if len(chosen) > 1 and chosen != ["--watch", "--statistics"]:
        raise click.UsageError(f"{chosen[0]} cannot go with {chosen[1]}")
    if asked.add_suppressions and asked.format not in PEOPLE:
        raise click.UsageError(f"--add-suppressions cannot go with --format {asked.format}")
    if asked.watch and (asked.format not in PEOPLE or asked.output_file is not None):
        raise click.UsageError(
            "--watch is for people: it takes no --output-file and needs a --format for people"
        )
    if STDIN in asked.paths and (asked.watch or asked.add_suppressions):
        raise click.UsageError(f"{chosen[0]} needs files: stdin is read once and cannot be written")


def _run(asked: LintAsked) -> LintSummary:
    of, people = asked.run(), asked.format in PEOPLE
    rules = counting(asked, of)
    out = printer(err=False, color=asked.color)
    err = printer(err=True, color=asked.color)
    form = import_module(f"sqlrewrite.report.lint.{asked.format}")
    total, kept = LintSummary(statistics=many.statistics(asked.statistics)), list[LintedFile]()
    known = {its.path: baseline.Writing(its.baseline.root) for its in rules}
    # Where findings go to the terminal, a bar would stand among them.
    hidden = asked.quiet or (people and out.stream.isatty())
    many.warn(of, err)
    none = many.none_changed(of, err)
    for its, result in judged(asked, of, rules, err, hidden=hidden):
        total.add(result)
        if asked.write_baseline:
            keys = (its.baseline.key(result.path, it) for it in result.shown)
            known[its.path].add(result.path, keys)
        elif not people:
            kept.append(result)
        elif result.findings and not asked.statistics:
            out.print(form.lines(_all_of(result) if asked.verbose else result))
        if result.failures:
            err.print(concise.failure_lines(result.path, result.failures))
    if asked.write_baseline:
        err.print(_written(known, total))
        return total
    if not people:
        from sqlrewrite.report.lint.names import named

        report = form.report(named(kept, _root(of, kept)), total)
        write_stdout(report.encode("utf-8", "backslashreplace"))
    elif total.statistics is not None:
        from sqlrewrite.report.statistics import lines

        out.print([*concise.statistics(total), (), *lines(total.statistics, would=True)])
    if not (asked.quiet or none or (of.passed_on and not total.files)):
        err.print(concise.last_lines(total, known=of.known))
    many.tell_left_out(of, err)
    return total


def _root(of: many.Run, results: Iterable[LintedFile]) -> str:
    """From where reports name files: the repository, or else the settings; what is around them all,
    where there are several."""
    folders = {os.path.dirname(result.path) for result in results}
    repositories = {found for folder in folders if (found := repository(folder))}
    settings = {os.path.abspath(group.settings.root) for group in of.groups}
    return os.path.commonpath(repositories or settings)


def _written(known: Mapping[str, baseline.Writing], total: LintSummary) -> Iterator[Line]:
    """Writes the baselines, and says so; none where findings of a file would be missing."""
    if total.failures:
        yield (("the baseline is not written: not all files were read", "bold red"),)
        return
    for path, found in known.items():
        others = baseline.write(path, found)
        kept = f", {others} of other files kept" if others else ""
        yield ((f"{found.counted.total()} findings written to {shown(path)}{kept}", "bold"),)


def _all_of(result: LintedFile) -> LintedFile:
    """A result that shows what is suppressed, with the reason for it."""
    told = (
        replace(it, message=f"{it.message} (suppressed: {by.reason})", suppression=None)
        if (by := it.suppression)
        else it
        for it in result.findings
    )
    return replace(result, findings=tuple(told))
