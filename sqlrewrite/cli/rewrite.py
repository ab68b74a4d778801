"""``dpp-rewrite rewrite``, the command that a bare path means."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from sqlrewrite.cli import common, many
from sqlrewrite.cli.many import Group
from sqlrewrite.cli.output import output_to, progress
from sqlrewrite.cli.spark import SPARK, asking, spark_options, started_when_needed
from sqlrewrite.frozen import dataclass
from sqlrewrite.report import text
from sqlrewrite.report.printer import Line, Printer, shown
from sqlrewrite.results import Verdict
from sqlrewrite.run.files import STDIN
from sqlrewrite.run.runner import FileResult, Request, RewriteTask, Summary, unread, write
from sqlrewrite.settings.forms import VALUES
from sqlrewrite.settings.table import LEAVING, Settings, section
from sqlrewrite.spark.target import Target

if TYPE_CHECKING:
    from sqlrewrite.spark.session import Session


@dataclass(frozen=True, slots=True, eq=False)
class RewriteAsked(many.Files):
    """The options as given."""

    strip: bool
    write: bool
    check: bool
    diff: bool
    where: Target


@click.command(
    "rewrite",
    cls=common.Command,
    sections={
        "What is known": (*section("known"), "config", "isolated", "stdin_filename"),
        "Which files": many.FILES,
        "What is inserted": (*section("inserted"), *section("values"), "strip"),
        "What happens to the files": ("write", "check", "diff"),
        "How the work is done": section("work"),
        "What is reported": (*section("reported"), *many.SHOWN),
        "Which Spark, for --predicate values and --explain spark": SPARK,
        "Exit status": (*section("exit"), "exit_zero"),
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
  1  --check: a file would change (--strict: or a statement does not parse)
  2  something could not be done: wrong usage, a broken catalog, an unreadable
     file; without --check also a statement that does not parse

\b
Settings from the nearest pyproject.toml; options win over them:
  [tool.dpp-rewrite]
  catalog = ["warehouse/ddl"]
  schema = "retail\"""",
)
@common.setting_options("rewrite")
@many.file_options(
    ("text", "json"),
    "text for people, on stderr; json for programs, on stdout in place of the SQL.",
    "Print counts of what was understood, and why no more was written, not the SQL.",
    "Report errors only.",
    "Report every rule of every candidate.",
)
@click.option(
    "--strip",
    is_flag=True,
    help="Insert nothing; remove everything that earlier runs have inserted.",
)
@click.option("-w", "--write", is_flag=True, help="Rewrite the files in place (`-`: print).")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a file would change.")
@click.option(
    "--diff", is_flag=True, help="Write nothing; print a unified diff in place of the SQL."
)
@spark_options
@click.pass_context
def command(ctx: click.Context, /, **given: Any) -> None:
    """Prints SQL with pruning predicates inserted where they are sound and worthwhile.

    PATHS are files (of SQL, Python, notebooks), directories (searched for *.sql, *.hql and their
    like, what git ignores left out), or - for stdin. The SQL goes to stdout; the verdicts with
    their reasons, and the explain diff, go to stderr. A file that needs no predicate is printed
    byte for byte.
    """
    asked = RewriteAsked(**common.sorted_out(given))
    _refuse_contradictions(asked)
    with output_to(asked.output_file):
        status = _run(asked)
    ctx.exit(0 if asked.exit_zero else status)


def _refuse_contradictions(asked: RewriteAsked) -> None:
    if asked.write and (asked.check or asked.diff):
        other = "--check" if asked.check else "--diff"
        raise click.UsageError(f"--write cannot go with {other}, which writes nothing")
    if asked.diff and asked.format == "json":
        raise click.UsageError("--diff cannot go with --format json: both go to stdout")
    if asked.statistics and asked.diff:
        raise click.UsageError("--statistics cannot go with --diff: both go to stdout")
    if asked.statistics and asked.strip:
        raise click.UsageError("--statistics cannot go with --strip, which only removes predicates")


@dataclass(frozen=True, slots=True, eq=False)
class GroupWay:
    """How the files of a group are done: what leaves to Spark, in a file's result, that which it
    prunes by itself, and what prints its plans of a file; where not asked for, what does nothing.
    """

    group: Group
    left_to_spark: Callable[[FileResult], FileResult] = lambda result: result
    explain: Callable[[FileResult], None] = lambda result: None


def _run(asked: RewriteAsked) -> int:
    """Does all of it; the status to exit with."""
    of = asked.run(strip=asked.strip)
    out = common.printer(err=False, color=asked.color)
    err = common.printer(err=True, color=asked.color)
    kept: list[FileResult] = []
    summary, strict = Summary(statistics=many.statistics(asked.statistics)), False
    hidden = asked.quiet or (out.stream.isatty() and not (asked.write or asked.check))
    many.warn(of, err)
    none = many.none_changed(of, err)
    if of.passed_on and asked.format == "text" and not (asked.check or asked.diff):
        common.write_stdout(common.read_stdin())
    with started_when_needed(asked.where) as running:
        ways = [_way(asked, group, err, running) for group in of.groups]
        for way, path, result in _results(asked, of, ways, err, hidden=hidden):
            settings = way.group.settings
            summary.add(result)
            strict = strict or (bool(result.errors) and settings.strict)
            if asked.format == "json":
                kept.append(result)
                continue
            if not asked.statistics:
                _print_output(asked, path, result, out)
            if not result.silent:
                err.print(_said(asked, settings, result))
            way.explain(result)
    if asked.format == "json":
        from sqlrewrite.report import json

        common.write_stdout(json.report(kept, summary).encode("ascii"))
    elif not (asked.quiet or none or (of.passed_on and not summary.files)):
        if summary.changed and not (asked.check or asked.statistics):
            err.print([()])
        known = asked.strip or of.known
        would = asked.check or asked.diff or (asked.statistics and not asked.write)
        err.print(text.last_lines(summary, known=known, would=would))
    if summary.statistics is not None and asked.format == "text":
        from sqlrewrite.report.statistics import lines

        out.print(lines(summary.statistics, would=not asked.write))
    many.tell_left_out(of, err)
    return summary.status(check=asked.check, strict=strict)


def _results(
    asked: RewriteAsked, of: many.Run, ways: Sequence[GroupWay], err: Printer, *, hidden: bool
) -> Iterator[tuple[GroupWay, str, FileResult]]:
    """Each path with what became of it, one at a time, so that many files take no more memory."""
    for path in of.missing:
        yield ways[0], path, unread(path, many.missing(path))
    few = of.count < many.MANY
    with progress(err, "rewriting files", of.count, hidden=hidden or few) as told:
        for way in ways:
            task = _task(asked, way.group)
            kept = ("rewrite", task.plans, task.verdicts, task.survey, task.count)
            done = many.results(of, way.group, task, replace(task, write=False), kept=kept)
            for path, result in zip(way.group.files, done, strict=True):
                yield way, path, way.left_to_spark(result)
                told(advance=1)


def _task(asked: RewriteAsked, group: Group) -> RewriteTask:
    """What is to be done with each file of a group."""
    settings, request = group.settings, group.request
    wanted, people = _explain(asked, settings), asked.format == "text"
    plain = people and wanted != "spark"
    counting = asked.statistics and people
    return RewriteTask(
        request,
        plans=people and not (asked.quiet or counting) and wanted == "logical",
        # What the plan has a say in is written when it has been read.
        write=asked.write and not _by_plan(asked, settings),
        text=not (plain and (asked.write or (asked.check and not asked.diff))),
        unchanged=not (plain and (asked.write or asked.check or asked.diff)),
        # Where no table is known, that there are candidates all the same is told in the end.
        survey=not people,
        count=asked.statistics,
        verdicts=not (people and (asked.quiet or _hushed(asked)) and request.catalog.relations),
    )


def _print_output(asked: RewriteAsked, path: str, result: FileResult, out: Printer) -> None:
    """What stdout gets of one file: the diff, or the SQL unless it goes to the file itself."""
    if asked.diff:
        diff = result.diff()
        if out.stream.isatty() and out.colour:
            out.print(text.coloured_diff(diff.decode("utf-8", "replace")))
        else:
            common.write_stdout(diff)
    elif not asked.check and (not asked.write or path == STDIN):
        data = result.output or b""
        if result.output is None and result.rewrite is not None:  # too large to be read
            common.copy_to_stdout(path)
        common.write_stdout(data)
        if data and not asked.quiet and out.stream.isatty():  # the verdicts stand apart
            common.write_stdout(b"\n" if data.endswith(b"\n") else b"\n\n")


def _said(asked: RewriteAsked, settings: Settings, result: FileResult) -> list[Line]:
    """The lines of one file for stderr."""
    if asked.quiet or asked.statistics:
        return list(text.file_lines(result, text.ERRORS_ONLY))
    detail = text.Detail(
        verdicts=frozenset({Verdict.REWRITTEN}) if _hushed(asked) else frozenset(Verdict),
        rules=asked.verbose,
        plans=_explain(asked, settings) == "logical",
    )
    lines = list(text.file_lines(result, detail))
    if asked.check and result.changed:
        lines.append((("would rewrite ", "bold"), (shown(result.path), "bold")))
    return lines


def _hushed(asked: RewriteAsked) -> bool:
    """Whether only what is to be done is said, and not what was considered: as a hook does."""
    return asked.check and not asked.verbose


def _explain(asked: RewriteAsked, settings: Settings) -> str:
    """Which explain diff is wanted."""
    return "none" if asked.check and "explain" not in asked.chosen else settings.explain


def _by_plan(asked: RewriteAsked, settings: Settings) -> bool:
    """Whether Spark's plan says what Spark misses."""
    return settings.when in LEAVING and _explain(asked, settings) == "spark" and not asked.strip


def _asks(asked: RewriteAsked, request: Request) -> bool:
    """Whether Spark is asked for keys. A check without a Spark to ask, as in CI, holds what was
    written for up to date while its key queries are."""
    wanted = request.settings.predicate == VALUES and not request.strip
    return wanted and not (asked.check and asked.where == Target())


def _way(
    asked: RewriteAsked, group: Group, err: Printer, running: Callable[[], Session]
) -> GroupWay:
    """How the files of a group are done, with the help of Spark where that is asked for."""
    settings = group.settings
    if _asks(asked, group.request):
        resolve = asking(running, asked.where, settings)
        group = replace(group, request=replace(group.request, resolve=resolve))
    request = group.request
    shown = _explain(asked, settings) == "spark" and asked.format == "text" and not asked.quiet
    by_plan = _by_plan(asked, settings)
    if not (shown or by_plan):
        return GroupWay(group)
    from sqlrewrite.report.explain import explained_lines, stock_lines
    from sqlrewrite.spark.plans.explain import explain_text
    from sqlrewrite.spark.plans.missed import missed

    session = running()

    def left_to_spark(result: FileResult) -> FileResult:
        if result.rewrite is None or result.hosted or not by_plan:
            return result
        done = replace(result, rewrite=missed(session, result.path, result.rewrite, request))
        return write(done) if asked.write else done

    def show(result: FileResult) -> None:
        if result.rewrite is None or result.hosted or not shown:
            return
        stock = explain_text(
            session,
            result.path,
            result.rewrite,
            request.catalog,
            lambda it: err.print([(), *explained_lines(it)]),
        )
        err.print(stock_lines(stock))

    return GroupWay(group, left_to_spark, show)
