"""``dpp-rewrite lint``: findings about queries, in the form that their reader wants."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

import click

from sqlrewrite.cli.common import (
    INSERTED,
    Command,
    catalog_options,
    colour_option,
    printer,
    rewriting_options,
    write_stdout,
)
from sqlrewrite.cli.many import (
    Files,
    Run,
    exclude_option,
    jobs_option,
    progress,
    results,
    tell_left_out,
    warn,
    why_missing,
)
from sqlrewrite.frozen import dataclass
from sqlrewrite.linting import baseline
from sqlrewrite.linting.run import Linted, LintTask, Rules, Sum, run, unread
from sqlrewrite.linting.selection import Selection
from sqlrewrite.report.lint import FORMATS, PEOPLE, concise
from sqlrewrite.report.styled import Line, Printer, shown
from sqlrewrite.results import ConfigError
from sqlrewrite.run.files import repository
from sqlrewrite.run.runner import missing
from sqlrewrite.settings import config as settings_of
from sqlrewrite.settings.config import Settings


class LintCommand(Command):
    """``lint``, with its options in the order of the work."""

    sections: Mapping[str, Sequence[str]] = {
        "What is known": ("catalog", "schema", "engine", "config", "stdin_filename"),
        "What a rewrite would insert": INSERTED,
        "What counts": (
            "select",
            "ignore",
            "extend_select",
            "per_file_ignores",
            "severity",
            "baseline",
            "write_baseline",
            "force_exclude",
        ),
        "How the work is done": ("jobs", "cache"),
        "What is reported": ("format", "statistics", "quiet", "verbose", "color"),
        "Exit status": ("strict", "exit_zero"),
    }


@dataclass(frozen=True, slots=True, eq=False)
class LintAsked(Files):
    """The options as given; None, or nothing, where the settings decide."""

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    extend_select: tuple[str, ...]
    per_file_ignores: settings_of.Pairs
    severity: settings_of.Pairs
    baseline: str | None
    write_baseline: bool
    format: str
    statistics: bool
    color: bool | None
    strict: bool
    exit_zero: bool


def _codes(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """Codes with commas or spaces between them, from an option that may be repeated."""
    return tuple(code.upper() for text in given for code in text.replace(",", " ").split())


def _read(key: str) -> Callable[..., settings_of.Pairs]:
    """What reads a setting from an option that may be repeated."""

    def read(
        ctx: click.Context, param: click.Parameter, given: tuple[str, ...]
    ) -> settings_of.Pairs:
        try:
            return tuple(pair for text in given for pair in settings_of.read(key, text))
        except ValueError as error:
            raise click.BadParameter(f"expected {error}", ctx, param) from None

    return read


@click.command(
    "lint",
    cls=LintCommand,
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
  0  no findings
  1  findings (a statement that does not parse is one under --strict only)
  2  something could not be done: wrong usage, a broken catalog, an
     unreadable file""",
)
@click.argument("paths", nargs=-1, required=True, metavar="PATHS...")
@catalog_options
@rewriting_options
@click.option("--stdin-filename", metavar="PATH", help="The name to report for `-`.")
@click.option(
    "--select",
    metavar="CODES",
    multiple=True,
    callback=_codes,
    help="Only these; a beginning of codes selects all that begin so.  [default: all]",
)
@click.option("--ignore", metavar="CODES", multiple=True, callback=_codes, help="Not these.")
@click.option(
    "--extend-select",
    metavar="CODES",
    multiple=True,
    callback=_codes,
    help="These besides what the settings select.",
)
@click.option(
    "--per-file-ignores",
    metavar="PATTERN:CODE",
    multiple=True,
    callback=_read("per-file-ignores"),
    help="Not this code in files of that pattern, as `legacy/*:DPP007`.",
)
@click.option(
    "--severity",
    metavar="CODE=LEVEL",
    multiple=True,
    callback=_read("severity"),
    help="error, warning or note, as `DPP007=note`.",
)
@click.option("--baseline", metavar="FILE", help="Findings in this file are known: not reported.")
@click.option(
    "--write-baseline",
    is_flag=True,
    help=f"Write all findings to the baseline ({baseline.NAME} by default), and exit 0.",
)
@exclude_option
@jobs_option
@click.option(
    "--format",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="The report's form, on stdout.",
)
@click.option("--statistics", is_flag=True, help="In place of the findings, how many of each code.")
@click.option("-q", "--quiet", is_flag=True, help="No summary.")
@click.option("-v", "--verbose", is_flag=True, help="Show suppressed findings too.")
@colour_option
@click.option("--strict", is_flag=True, help="Statements that do not parse are findings too.")
@click.option("--exit-zero", is_flag=True, help="Exit 0 whatever the files hold.")
@click.pass_context
def command(ctx: click.Context, /, **given: Any) -> None:
    """Reports what keeps queries from pruning partitions, and changes nothing.

    PATHS are files, directories (searched for *.sql, *.hql and their like, what git ignores left
    out), or - for stdin. Findings go to stdout, the summary to stderr. `dpp-rewrite --write` mends
    those with a [*].
    """
    asked = LintAsked(**given)
    _refuse_contradictions(asked)
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # it warns of what we report ourselves
    total = _run(asked)
    ctx.exit(
        0 if asked.exit_zero or (asked.write_baseline and not total.failures) else total.status
    )


def _refuse_contradictions(asked: LintAsked) -> None:
    if asked.statistics and asked.format not in PEOPLE:
        raise click.UsageError(f"--statistics cannot go with --format {asked.format}")


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """What counts in the files of a group, and where its baseline is."""

    rules: Rules
    path: str

    def keys(self, result: Linted) -> Iterator[baseline.Key]:
        """What the baseline knows the findings of a file by."""
        return (self.rules.baseline.key(result.path, it) for it in result.shown)


def _judge(asked: LintAsked, settings: Settings) -> Judge:
    settled = _settled(settings)
    selection = replace(
        settled,
        select=asked.select or settled.select,
        extend=settled.extend + asked.extend_select,
        ignore=asked.ignore if asked.select else settled.ignore + asked.ignore,
        per_file=settled.per_file + asked.per_file_ignores,
        severities={**settled.severities, **_severities(asked.severity)},
        strict=asked.strict or settled.strict,
    )
    named = asked.baseline or settings.baseline
    # The one that --write-baseline makes is known without being named.
    path = named or os.path.join(settings.root, baseline.NAME)
    if asked.write_baseline or not (named or os.path.exists(path)):
        return Judge(Rules(selection, baseline.Baseline(root=baseline.root_of(path))), path)
    return Judge(Rules(selection, baseline.load(path)), path)


def _settled(settings: Settings) -> Selection:
    """What the settings alone let count; for codes that are none the error names their file."""
    try:
        return Selection(
            select=settings.select,
            extend=settings.extend_select,
            ignore=settings.ignore,
            per_file=settings.per_file_ignores,
            severities=_severities(settings.severity),
            root=settings.root,
            strict=settings.strict,
        )
    except ConfigError as error:
        where = settings.source or "the environment"
        raise ConfigError(f"{where}: {error}") from error


def _severities(pairs: settings_of.Pairs) -> dict[str, str]:
    return {code: name for code, (name,) in pairs}


def _run(asked: LintAsked) -> Sum:
    of, people = asked.run(), asked.format in PEOPLE
    judges = [_judge(asked, group.settings) for group in of.groups]
    out = printer(err=False, color=asked.color)
    err = printer(err=True, color=asked.color)
    form = import_module(f"sqlrewrite.report.lint.{asked.format}")
    total, kept = Sum(), list[Linted]()
    known = {judge.path: baseline.Writing(judge.rules.baseline.root) for judge in judges}
    # Where findings go to the terminal, a bar would stand among them.
    hidden = asked.quiet or (people and out.stream.isatty())
    warn(of, err)
    for judge, result in _results(asked, of, judges, err, hidden=hidden):
        total.add(result)
        if asked.write_baseline:
            known[judge.path].add(result.path, judge.keys(result))
        elif not people:
            kept.append(result)
        elif result.findings and not asked.statistics:
            out.print(form.lines(_unsuppressed(result) if asked.verbose else result))
        if result.failures:
            err.print(concise.failure_lines(result.path, result.failures))
    if asked.write_baseline:
        err.print(_written(known, total))
        return total
    if not people:
        report = form.report(kept, total, _root(of, kept))
        write_stdout(report.encode("utf-8", "backslashreplace"))
    elif asked.statistics:
        out.print(concise.statistics(total))
    if not (asked.quiet or (of.passed_on and not total.files)):
        err.print(concise.last_lines(total, known=of.known))
    tell_left_out(of, err)
    return total


def _results(
    asked: LintAsked, of: Run, judges: Sequence[Judge], err: Printer, *, hidden: bool
) -> Iterator[tuple[Judge, Linted]]:
    """Each path with what counts of all that was found in it, one at a time."""
    for path in of.missing:
        yield judges[0], unread(missing(path, why_missing(path)))
    with progress("linting", of.count, err, hidden=hidden) as advance:
        for judge, group in zip(judges, of.groups, strict=True):
            task = LintTask(group.request, text=asked.format == "sarif")  # which hashes its lines
            for result in results(of, group, task, run, kept=("lint",)):
                yield judge, judge.rules.of(result)
                advance()


def _root(of: Run, results: Iterable[Linted]) -> str:
    """From where reports name files: the repository, or else the settings; what is around them all,
    where there are several."""
    folders = {os.path.dirname(result.path) for result in results}
    repositories = {found for folder in folders if (found := repository(folder))}
    settings = {os.path.abspath(group.settings.root) for group in of.groups}
    return os.path.commonpath(repositories or settings)


def _written(known: Mapping[str, baseline.Writing], total: Sum) -> Iterator[Line]:
    """Writes the baselines, and says so; none where findings of a file would be missing."""
    if total.failures:
        yield (("the baseline is not written: not all files were read", "bold red"),)
        return
    for path, found in known.items():
        others = baseline.write(path, found)
        kept = f", {others} of other files kept" if others else ""
        yield ((f"{found.counted.total()} findings written to {shown(path)}{kept}", "bold"),)


def _unsuppressed(result: Linted) -> Linted:
    """A result that shows what is suppressed, with the reason for it."""
    return replace(result, findings=tuple(_shown(result.findings)))


def _shown(findings: Iterable[Any]) -> Iterator[Any]:
    for it in findings:
        if it.suppression is None:
            yield it
        else:
            message = f"{it.message} (suppressed: {it.suppression.reason})"
            yield replace(it, message=message, suppression=None)
