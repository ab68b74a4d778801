"""``dpp-rewrite explain``, ``verify`` and ``run``: queries on Spark, before and after."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sqlrewrite.catalog import Catalog
from sqlrewrite.cli.command_options import Command, ValueKindType, setting_option, setting_options
from sqlrewrite.cli.spark_options import (
    REPORT,
    REWRITES,
    SPARK,
    Report,
    report_options,
    rewritten_files,
    spark_options,
    status_line,
    timeout_option,
)
from sqlrewrite.cli.streams import CommandFailure, read_stdin, write_stdout
from sqlrewrite.run.search import STDIN
from sqlrewrite.settings.forms import AUTO
from sqlrewrite.settings.table import LEAVING
from sqlrewrite.settings.value_kinds import AT_LEAST_ONE, AT_LEAST_TWO, TOLERANCE
from sqlrewrite.spark.target import Target

if TYPE_CHECKING:
    from sqlrewrite.spark.rows.verify import Verified


@click.command(
    "explain",
    cls=Command,
    sections={
        **REWRITES,
        "What is reported": REPORT,
    },
    short_help="Show what Spark's plan prunes, before and after.",
    epilog="""\b
Examples:
  dpp-rewrite explain -c warehouse.json q.sql        on this machine, no data
  dpp-rewrite explain -c ddl/ --remote sc://host q.sql  on the real tables
  dpp-rewrite explain -c ddl/ --html plan.html q.sql

\b
What the words mean:
  planned   the filter's keys are broadcast in this plan: partitions are
            skipped
  possible  the filter is in the plan, but Spark drops it at run time unless
            the join becomes a broadcast join
Only a run shows what is read: see `dpp-rewrite verify`.""",
)
@click.argument("path", metavar="PATH")
@setting_options("explain")
@spark_options
@report_options
def explain_command(report: Report, **given: Any) -> None:
    """Shows what prunes each fact scan in Spark, before and after, and how Spark's plan changes.

    PATH is a file of SQL or Python, a notebook, a folder of them, or - for stdin. No query is run.
    Without --master or --remote a local Spark plans the queries, over empty tables that have the
    sizes in the catalog, so that it plans as in production. With --when missed or auto its plan
    decides what Spark prunes by itself.
    """
    rewritten = rewritten_files(report.err, **given)
    out = report.out
    from sqlrewrite.report.explain import (
        explained_json,
        explained_lines,
        explained_page,
        stock_lines,
    )
    from sqlrewrite.spark.plans.empty_tables import together
    from sqlrewrite.spark.plans.explain import Explained, explain_text, missed
    from sqlrewrite.spark.session import fresh, session

    explanations: list[Explained] = []

    def keep(explained: Explained) -> None:
        explanations.append(explained)
        if report.format == "text":
            out.print([*([()] if len(explanations) > 1 else []), *explained_lines(explained)])

    stocks = []
    with session(given["where"]) as running:
        for file in rewritten.files:
            own = fresh(running) if rewritten.several else running
            rewrite, request = file.rewrite, file.request
            if request.settings.when in LEAVING:
                rewrite = missed(own, file.name, rewrite, request)
            under = None
            if request.settings.strategy == "partition-wise":
                from sqlrewrite.grouping import missing

                under = missing(rewrite.original, request.catalog, request.options())
            stocks.append(explain_text(own, file.name, rewrite, request.catalog, keep, under))
            report.err.print(file.lines())
    stock = together(stocks)
    if report.format == "text":
        if not explanations:
            out.line(("no statement joins a fact by a partition column", "yellow"))
        report.err.print(stock_lines(stock))
    report.end(lambda: explained_json(explanations, stock), lambda: explained_page(explanations))
    if rewritten.failed:
        click.get_current_context().exit(2)


@click.command(
    "verify",
    cls=Command,
    sections={
        **REWRITES,
        "How it is run": ("sample", "runs", "timeout"),
        "What is the same": ("float_tolerance",),
        "What is reported": REPORT,
    },
    short_help="Run queries before and after: same rows, less read?",
    epilog="""\b
Examples:
  dpp-rewrite verify -c warehouse.json --master yarn queries/
  dpp-rewrite verify -c ddl/ --remote sc://host --runs 5 --html out.html q.sql
  dpp-rewrite verify -c ddl/ --remote sc://host --sample 20 q.sql  big tables

\b
Exit status:
  0  the same rows (a LIMIT may choose among ties of its ORDER BY), or
     nothing to run
  1  a statement gives other rows, columns or errors than before
  2  a query could not be run, or gives other rows each time

Spark Connect reports scans from Spark 4 on, without those of scalar
subqueries; from an older server only rows and seconds are reported.""",
)
@click.argument("path", metavar="PATH")
@setting_options("verify")
@spark_options
@click.option(
    "--sample",
    metavar="PARTITIONS",
    type=ValueKindType(AT_LEAST_TWO),
    help="Read only so many partitions of each fact, of those that the predicate keeps and of the "
    "others, the same in each run.  [default: all]",
)
@click.option(
    "--runs",
    metavar="N",
    type=ValueKindType(AT_LEAST_ONE),
    default=1,
    show_default=True,
    help="Run each side N times, in alternation, and report the median time.",
)
@timeout_option("Stop a statement that takes longer than this.")
@click.option(
    "--float-tolerance",
    metavar="RELATIVE",
    type=ValueKindType(TOLERANCE),
    default=0.0,
    help="Two floating-point values count as equal up to this relative difference, as 1e-9: a sum "
    "depends on the order in which Spark adds.  [default: none]",
)
@report_options
@click.pass_context
def verify_command(
    ctx: click.Context,
    /,
    sample: int | None,
    runs: int,
    timeout: float | None,
    float_tolerance: float,
    report: Report,
    **given: Any,
) -> None:
    """Runs the queries of PATH before and after, compares their rows, and shows what was read.

    PATH is a file of SQL or Python, a notebook, a folder of them, or - for stdin. Only queries that
    get a predicate are run, also those of temporary views, but no statement that writes. Columns
    are compared by name and type, values bit for bit, on the cluster; a few rows that differ are
    shown. With --sample both sides read the same few partitions of each fact: a difference there is
    real, but other partitions may differ still.
    """
    rewritten = rewritten_files(report.err, **given)
    out = report.out
    from sqlrewrite.report.verify import last_line, print_verified, verified_json, verified_page
    from sqlrewrite.spark.rows.verify import How, verify_text
    from sqlrewrite.spark.session import fresh, session

    verifications: list[Verified] = []
    how = How(runs, timeout, sample, float_tolerance)
    with status_line(report.err) as (begin, end):

        def keep(verified: Verified) -> None:
            end()
            verifications.append(verified)
            if report.format == "text":
                print_verified(out, verified)

        def at(place: str) -> None:
            begin(f"running {place}, before and after")

        for file in rewritten.files:
            report.err.print(file.lines())
        changed = [file for file in rewritten.files if file.rewrite.changed]
        if changed:
            begin("Spark is starting")
            with session(given["where"]) as running:
                for file in changed:
                    own = fresh(running) if rewritten.several else running
                    verify_text(own, file.name, file.rewrite, file.request.catalog, keep, how, at)
    if report.format == "text":
        out.print([last_line(verifications)])
    results = [file.result for file in rewritten.files]
    report.end(lambda: verified_json(verifications, results), lambda: verified_page(verifications))
    if any(verified.outcome.differs for verified in verifications):
        ctx.exit(1)
    undecided = [
        f"{verification.path}:{verification.line}"
        for verification in verifications
        if not verification.outcome.decided
    ]
    if undecided:
        raise CommandFailure(f"could not be compared: {', '.join(undecided)}")
    if rewritten.failed:
        ctx.exit(2)


_LEVELS = ("debug", "info", "warning", "none")
_PREDICATE, _WHEN = AUTO, "missed"


@click.command(
    "run",
    cls=Command,
    sections={
        "Catalog": ("catalog",),
        "What is inserted": ("predicate", "when"),
        **SPARK,
        "What is reported": ("log", "quiet"),
    },
    short_help="Run a file's statements on Spark, rewritten.",
    epilog="""\b
Examples:
  dpp-rewrite run --master yarn job.sql              as spark-sql -f job.sql
  dpp-rewrite run --remote sc://host --log debug job.sql  why each was left

\b
Exit status:
  0  all statements have run
  2  a statement failed; those after it were not run""",
)
@click.argument("path", metavar="FILE")
@setting_option("catalog", "what Spark's own catalog says of them")
@setting_option("predicate", _PREDICATE)
@setting_option("when", _WHEN)
@spark_options
@click.option(
    "--log",
    type=click.Choice(_LEVELS),
    default="info",
    show_default=True,
    help="Log on stderr. info: each rewritten query. debug: also why others are not rewritten.",
)
@click.option("-q", "--quiet", is_flag=True, help="Do not print the times of statements on stderr.")
def run_command(
    path: str,
    catalog: tuple[str, ...],
    predicate: str | None,
    when: str | None,
    where: Target,
    log: str,
    quiet: bool,
) -> None:
    """Runs the statements of FILE, or of - for stdin, in order, and prints their rows.

    Each statement is rewritten as by `sqlrewrite.spark.enable`, with the session's own catalog and
    settings. Rows are printed as by `spark-sql -f`: values separated by tabs.
    """
    text = _read(path)
    tables = Catalog.load(*catalog) if catalog else None
    from sqlrewrite.spark import enable, script
    from sqlrewrite.spark.session import session

    level = None if log == "none" else log.upper()
    name = "<stdin>" if path == STDIN else path
    forms = when or _WHEN, predicate or _PREDICATE
    with session(where) as running, enable(running.spark, tables, *forms, level):
        begun = time.perf_counter()
        for ran in script.run(running, name, text, lambda row: write_stdout(f"{row}\n".encode())):
            now = time.perf_counter()
            if not quiet:
                count = f"{ran.rows} row{'s' * (ran.rows != 1)}"
                click.echo(f"{ran.name}:{ran.line}: {count}, {now - begun:.1f} s", err=True)
            begun = now


def _read(path: str) -> str:
    try:
        data = read_stdin() if path == STDIN else Path(path).read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise CommandFailure(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise CommandFailure(f"{path}: byte {error.start}: not UTF-8") from error
