"""``dpp-rewrite explain``: Spark's own plans, before and after."""

from __future__ import annotations

from typing import Any

import click

from sqlrewrite.cli import spark
from sqlrewrite.cli.options import Command, setting_options
from sqlrewrite.settings.table import LEAVING, section


@click.command(
    "explain",
    cls=Command,
    sections={
        "What is known": (*section("known"), "config", "isolated"),
        "What is inserted": section("inserted"),
        "Which Spark": spark.SPARK,
        "What is reported": spark.REPORT,
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
  possible  Spark has written the filter into the plan, but drops it at run
            time if the join does not turn into a broadcast join
Only a run shows what is read: see `dpp-rewrite verify`.""",
)
@click.argument("path", metavar="PATH")
@setting_options("explain")
@spark.spark_options
@spark.report_options
def command(report: spark.Report, **given: Any) -> None:
    """Shows what prunes each fact scan in Spark, before and after, and how Spark's plan changes.

    PATH is a file of SQL or Python, a notebook, a folder of them, or - for stdin. No query is run.
    Without --master and --remote a local Spark plans the queries: it gets empty tables with the
    sizes of the catalog, so that it plans as production would, and drops them afterwards. With
    --when missed or auto that plan decides what Spark prunes by itself.
    """
    rewritten = spark.rewritten_files(report.err, **given)
    out = report.out
    from sqlrewrite.report.explain import (
        explained_json,
        explained_lines,
        explained_page,
        stock_lines,
    )
    from sqlrewrite.spark.plans.empty_tables import together
    from sqlrewrite.spark.plans.explain import Explained, explain_text
    from sqlrewrite.spark.plans.missed import missed
    from sqlrewrite.spark.session import fresh, session

    found: list[Explained] = []

    def keep(explained: Explained) -> None:
        found.append(explained)
        if report.format == "text":
            out.print([*([()] if len(found) > 1 else []), *explained_lines(explained)])

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
        if not found:
            out.line(("no statement joins a fact by a partition column", "yellow"))
        report.err.print(stock_lines(stock))
    report.end(lambda: explained_json(found, stock), lambda: explained_page(found))
    if rewritten.failed:
        click.get_current_context().exit(2)
