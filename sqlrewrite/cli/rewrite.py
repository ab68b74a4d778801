"""``dpp-rewrite rewrite``, also run by ``dpp-rewrite PATH``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from sqlrewrite.cli.command_options import Command, file_options, setting_options, with_chosen
from sqlrewrite.cli.file_runs import (
    FILES,
    NO_TABLES,
    REPORTED,
    FileGroup,
    FileOptions,
    none_changed,
    report_left_out,
    results,
    warn,
    why_missing,
)
from sqlrewrite.cli.spark_options import (
    SPARK,
    for_spark,
    keys_from_spark,
    spark_on_demand,
    spark_options,
)
from sqlrewrite.cli.streams import copy_to_stdout, output_to, printer, read_stdin, write_stdout
from sqlrewrite.copies import replace
from sqlrewrite.report import Printer, shown
from sqlrewrite.report import rewrite as text
from sqlrewrite.results import Verdict
from sqlrewrite.run.file_rewriting import FileResult, Request, RewriteTask, Summary, write
from sqlrewrite.run.search import STDIN
from sqlrewrite.run.statistics import Statistics
from sqlrewrite.settings.forms import VALUES
from sqlrewrite.settings.table import LEAVING, Settings, section
from sqlrewrite.spark.target import Target

if TYPE_CHECKING:
    from sqlrewrite.spark.session import Session


class RewriteOptions(FileOptions, frozen=True, eq=False):
    """The values of the command's options."""

    strip: bool
    write: bool
    check: bool
    diff: bool
    where: Target

    def explain(self, settings: Settings) -> str:
        """Which explain diff is printed."""
        if (self.check or self.write) and not {"explain"} & {*self.chosen, *settings.origins}:
            return "none"
        return settings.explain

    @property
    def would(self) -> bool:
        """Whether nothing is written: reports then say "would be rewritten"."""
        return self.check or self.diff or (self.statistics and not self.write)

    def uses_plan(self, settings: Settings) -> bool:
        """Whether Spark's plan decides which predicates Spark needs."""
        spark = settings.when in LEAVING and self.explain(settings) == "spark"
        return spark and not self.strip

    @property
    def reports_work_only(self) -> bool:
        """Whether only changes are reported, as in a hook, and not each join that was judged."""
        return self.check and not self.verbose


@click.command(
    "rewrite",
    cls=Command,
    sections={
        "Catalog, engine and settings": (*section("known"), "config", "isolated", "stdin_filename"),
        "Which files": FILES,
        "What is inserted": (*section("inserted"), "strip"),
        "What happens to the files": ("write", "check", "diff", *section("work")),
        "What is reported": (*section("reported"), *REPORTED, *section("exit"), "exit_zero"),
        "Which Spark, for --predicate values and --explain spark": SPARK["Which Spark"],
    },
    short_help="Print or write SQL with its pruning predicates.",
    epilog="""\b
Examples:
  dpp-rewrite -c ddl.sql query.sql > out.sql  only SQL goes to stdout
  dpp-rewrite -c ddl.sql --diff queries/      show what would change
  dpp-rewrite --check queries/                in CI; settings in a pyproject
  cat q.sql | dpp-rewrite -c ddl.sql -        as a filter, from an editor

\b
Exit status:
  0  done
  1  --check: a file would change; with --strict also: one does not parse
  2  wrong usage, a broken catalog or an unreadable file; --check: no table is
     known; without --check: a statement does not parse

\b
Settings are read from the nearest pyproject.toml; `dpp-rewrite init` writes
them, and docs/reference.md lists them all, also those without an option.""",
)
@setting_options("rewrite")
@file_options(
    ("text", "json"),
    "text on stderr; json on stdout, in place of the SQL.",
    "Print counts and reasons, not the SQL.",
    "Report errors only.",
    "Report each rule's verdict on each join that was considered.",
)
@click.option(
    "--strip",
    is_flag=True,
    help="Insert nothing; remove everything that earlier runs have inserted.",
)
@click.option("-w", "--write", is_flag=True, help="Rewrite the files in place (`-`: print).")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a file would change.")
@click.option("--diff", is_flag=True, help="Write nothing; print a unified diff.")
@spark_options
@click.pass_context
def rewrite_command(ctx: click.Context, /, **given: Any) -> None:
    """Prints SQL with partition-pruning predicates inserted where they are sound and pay.

    PATHS are files (of SQL, Python, notebooks), folders (searched for *.sql, *.hql and their like),
    or - for stdin. The SQL goes to stdout; verdicts, reasons and the explain diff go to stderr.
    """
    options = RewriteOptions(**with_chosen(given))
    _refuse_contradictions(options)
    with output_to(options.output_file):
        status = _run(options)
    ctx.exit(0 if options.exit_zero else status)


def _refuse_contradictions(options: RewriteOptions) -> None:
    if options.write and (options.check or options.diff):
        other = "--check" if options.check else "--diff"
        raise click.UsageError(f"--write cannot go with {other}, which writes nothing")
    if options.diff and options.format == "json":
        raise click.UsageError("--diff cannot go with --format json: both go to stdout")
    if options.statistics and options.diff:
        raise click.UsageError("--statistics cannot go with --diff: both go to stdout")
    printing = options.format == "text" and not (
        options.write or options.check or options.diff or options.statistics
    )
    several = len(options.paths) > 1 or any(os.path.isdir(path) for path in options.paths)
    if several and printing and not (options.show_files or options.show_settings):
        for path in options.paths:
            if path != STDIN and not os.path.exists(path):  # it may be a misspelt command
                raise click.UsageError(f"{path}: {why_missing(path)}")
        raise click.UsageError(
            "several files cannot be printed as one text: give one file, or use --diff, --check, "
            "--write or --format json"
        )
    if options.statistics and options.strip:
        raise click.UsageError("--statistics cannot go with --strip, which judges no statement")


class GroupSteps(Struct, frozen=True, eq=False):
    """The functions for each file of a group; the last two only where Spark is asked."""

    settings: Settings
    job: RewriteTask
    leave_to_spark: Callable[[FileResult], FileResult] = lambda result: result
    explain: Callable[[FileResult], None] = lambda result: None


def _run(options: RewriteOptions) -> int:
    """Runs the command. Returns the exit status."""
    run = options.run(strip=options.strip)
    out = printer(err=False, color=options.color)
    err = printer(err=True, color=options.color)
    reported, reasons = list[FileResult](), text.Reasons()
    summary, strict = Summary(statistics=Statistics() if options.statistics else None), False
    hidden = options.quiet or (out.stream.isatty() and not (options.write or options.check))
    warn(run, err)
    none = none_changed(run, err)
    if run.stdin_is_excluded and options.format == "text" and not (options.check or options.diff):
        write_stdout(read_stdin())
    with spark_on_demand(options.where) as session:
        groups = [_steps(options, group, err, session) for group in run.groups]
        jobs = [group.job for group in groups]
        for number, path, result in results(run, jobs, err, "rewriting files", hidden=hidden):
            group = groups[number]
            result = group.leave_to_spark(result)
            summary.add(result)
            strict = strict or (bool(result.errors) and group.settings.strict)
            if options.format == "json":
                reported.append(result)
                continue
            if not options.statistics:
                _print_output(options, path, result, out)
            detail = _detail(options, group.settings)
            lines = list(text.file_lines(result, detail, reasons))
            if options.check and result.changed and detail is not text.ERRORS_ONLY:
                lines.append((("would rewrite ", "bold"), (shown(result.path), "bold")))
            err.print(lines)
            group.explain(result)
    if options.format == "json":
        write_stdout(text.json_report(reported, summary).encode("ascii"))
    elif not (options.quiet or none or (run.stdin_is_excluded and not summary.files)):
        if summary.changed and not (options.check or options.statistics):
            err.print([()])
        err.print(text.more_lines(reasons, _detail(options, Settings())))
        err.print(text.last_lines(summary, would=options.would, strip=options.strip))
    if summary.statistics is not None and options.format == "text":
        out.print(text.statistics_lines(summary.statistics, would=not options.write))
    report_left_out(run, err)
    if run.lacks_tables and not options.strip:
        if options.check or not options.quiet:
            err.line(NO_TABLES)
        if options.check:
            return 2
    return summary.status(check=options.check, strict=strict)


def _steps(
    options: RewriteOptions, group: FileGroup, err: Printer, session: Callable[[], Session]
) -> GroupSteps:
    """The functions for the files of a group. With --check and no Spark to ask for keys, as in CI,
    literals are up to date if their key query has not changed."""
    settings, request = group.settings, group.request
    asks = settings.predicate == VALUES and not request.strip
    if asks and not (options.check and options.where == Target()):
        request = replace(request, resolve=keys_from_spark(session, options.where, settings))
    people = options.format == "text" and not options.quiet
    shows, by_plan = options.explain(settings) == "spark" and people, options.uses_plan(settings)
    if not (shows or by_plan):
        return GroupSteps(settings, _job(options, request))
    if not options.where.embedded:  # an embedded Spark is not the one that will run what is written
        request = for_spark(request, session, options.where)
    job = _job(options, request)
    from sqlrewrite.report.explain import explained_lines, stock_lines
    from sqlrewrite.spark.plans.explain import explain_text, missed

    started = session()

    def leave_to_spark(result: FileResult) -> FileResult:
        if result.rewrite is None or result.hosted or not by_plan:
            return result
        needed = missed(started, result.path, result.rewrite, request)
        result = replace(result, rewrite=needed)
        return write(result) if options.write else result

    def explain(result: FileResult) -> None:
        if result.rewrite is None or result.hosted or not shows:
            return
        stock = explain_text(
            started,
            result.path,
            result.rewrite,
            request.catalog,
            lambda it: err.print([(), *explained_lines(it)]),
        )
        err.print(stock_lines(stock))

    return GroupSteps(settings, job, leave_to_spark, explain)


def _job(options: RewriteOptions, request: Request) -> RewriteTask:
    """The job for each file of a group, whose result has no more than the output needs."""
    settings, people = request.settings, options.format == "text"
    explain = options.explain(settings)
    from_files = people and explain != "spark"
    counting = options.statistics and people
    return RewriteTask(
        request,
        plans=people and not (options.quiet or counting) and explain == "logical",
        # Where the plan decides, files are written after it is read.
        write=options.write and not options.uses_plan(settings),
        unchanged=not (from_files and (options.write or options.check or options.diff)),
        statements=not (people and (options.quiet or options.statistics or options.strip)),
        statistics=options.statistics,
        # Where no table is known, the last line depends on whether there are candidates.
        verdicts=not (
            people and (options.quiet or options.reports_work_only) and request.catalog.relations
        ),
    )


def _print_output(options: RewriteOptions, path: str, result: FileResult, out: Printer) -> None:
    """Prints to stdout the diff of one file, or its SQL unless that is written to the file."""
    if options.diff:
        diff = result.diff()
        if out.stream.isatty() and out.colour:
            out.print(text.coloured_diff(diff.decode("utf-8", "replace")))
        else:
            write_stdout(diff)
    elif not options.check and (not options.write or path == STDIN):
        data = result.output or b""
        if result.output is None and result.rewrite is not None:  # too large to be read
            copy_to_stdout(path)
        write_stdout(data)
        if data and not options.quiet and out.stream.isatty():  # the verdicts stand apart
            write_stdout(b"\n" if data.endswith(b"\n") else b"\n\n")


def _detail(options: RewriteOptions, settings: Settings) -> text.Detail:
    """How much is reported of each file."""
    if options.quiet or options.statistics:
        return text.ERRORS_ONLY
    work_only = options.reports_work_only
    return text.Detail(
        verdicts=frozenset({Verdict.REWRITTEN} if work_only else Verdict),
        rules=options.verbose,
        plans=options.explain(settings) == "logical",
        would=options.would,
        like=sys.maxsize if options.verbose else 0 if work_only else 10,
    )
