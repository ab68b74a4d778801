"""``dpp-rewrite verify``: runs a query and its rewriting and compares the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sqlrewrite.cli import spark
from sqlrewrite.cli.options import Command, ValueKindType, setting_options
from sqlrewrite.cli.streams import CommandFailure
from sqlrewrite.settings.table import section
from sqlrewrite.settings.value_kinds import AT_LEAST_ONE, AT_LEAST_TWO, SECONDS, TOLERANCE

if TYPE_CHECKING:
    from sqlrewrite.spark.rows.verify import Verified


@click.command(
    "verify",
    cls=Command,
    sections={
        "What is known": (*section("known"), "config", "isolated"),
        "What is inserted": section("inserted"),
        "Which Spark": spark.SPARK,
        "How it is run": ("sample", "runs", "timeout"),
        "What is the same": ("float_tolerance",),
        "What is reported": spark.REPORT,
    },
    short_help="Run queries before and after: same rows, less read?",
    epilog="""\b
Examples:
  dpp-rewrite verify -c warehouse.json --master yarn queries/
  dpp-rewrite verify -c ddl/ --remote sc://host --runs 5 --html out.html q.sql
  dpp-rewrite verify -c ddl/ --remote sc://host --sample 20 q.sql  big tables

\b
Exit status:
  0  the same rows (at a LIMIT but for ties of its ORDER BY), or nothing
     to run
  1  a statement gives other rows, columns or errors than before
  2  something could not be done, or a query gives other rows each time

Over Connect the scans are those that the server reports, from Spark 4: without
scalar subqueries. Before, rows and seconds are reported, no scans.""",
)
@click.argument("path", metavar="PATH")
@setting_options("verify")
@spark.spark_options
@click.option(
    "--sample",
    metavar="PARTITIONS",
    type=ValueKindType(AT_LEAST_TWO),
    help="Read this many partitions of each fact, some that the predicate keeps and some that it "
    "does not, always the same ones.  [default: all]",
)
@click.option(
    "--runs",
    metavar="N",
    type=ValueKindType(AT_LEAST_ONE),
    default=1,
    show_default=True,
    help="Run each side N times, in alternation, and report the median time.",
)
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=ValueKindType(SECONDS),
    help="Stop a statement that takes longer than this.",
)
@click.option(
    "--float-tolerance",
    metavar="RELATIVE",
    type=ValueKindType(TOLERANCE),
    default=0.0,
    help="How far floating-point values may be apart, relative to the larger one, as 1e-9: a sum "
    "depends on the order in which Spark adds.  [default: not at all]",
)
@spark.report_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    sample: int | None,
    runs: int,
    timeout: float | None,
    float_tolerance: float,
    report: spark.Report,
    **given: Any,
) -> None:
    """Runs the queries of PATH before and after, compares their rows, and shows what was read.

    PATH is a file of SQL or Python, a notebook, a folder of them, or - for stdin. Only queries that
    get a predicate are run, never a statement that may write; of CREATE TEMPORARY VIEW the query of
    the view is run. Columns are compared by name and type, values bit for bit. The cluster compares
    the rows; a few that differ are shown. With --sample both texts read the same few partitions of
    each fact: a difference there is real, but no difference there does not exclude one elsewhere.
    """
    rewritten = spark.rewritten_files(report.err, **given)
    out = report.out
    from sqlrewrite.report.verify import last_line, print_verified, verified_json, verified_page
    from sqlrewrite.spark.rows.verify import How, verify_text
    from sqlrewrite.spark.session import fresh, session

    found: list[Verified] = []
    how = How(runs, timeout, sample, float_tolerance)
    with spark.status_line(report.err) as (begin, end):

        def keep(verified: Verified) -> None:
            end()
            found.append(verified)
            if report.format == "text":
                print_verified(out, verified)

        def at(place: str) -> None:
            begin(f"{place} is run, before and after")

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
        out.print([last_line(found)])
    results = [file.result for file in rewritten.files]
    report.end(lambda: verified_json(found, results), lambda: verified_page(found))
    if any(verified.outcome.differs for verified in found):
        ctx.exit(1)
    undecided = [f"{it.path}:{it.line}" for it in found if not it.outcome.decided]
    if undecided:
        raise CommandFailure(f"nothing can be said of {', '.join(undecided)}")
    if rewritten.failed:
        ctx.exit(2)
