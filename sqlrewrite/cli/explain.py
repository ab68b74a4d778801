"""``dpp-rewrite explain``: Spark's own plans, before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from sqlrewrite.cli.common import (
    printer,
    setting_options,
    write_stdout,
)
from sqlrewrite.cli.spark import (
    SPARK,
    SparkCommand,
    report_options,
    spark_options,
    task,
    write_page,
)
from sqlrewrite.report.styled import Printer
from sqlrewrite.settings.table import LEAVING, section


class ExplainCommand(SparkCommand):
    """``explain``, with its options in the order of the work."""

    sections: Mapping[str, Sequence[str]] = {
        "What is known": (*section("known"), "config", "isolated"),
        "What is inserted": (*section("inserted"), *section("values")),
        "Which Spark": SPARK,
        "What is reported": ("format", "html", "color"),
    }


@click.command(
    "explain",
    cls=ExplainCommand,
    short_help="Show what Spark's plan prunes, before and after.",
    epilog="""\b
Examples:
  dpp-rewrite explain -c warehouse.json q.sql        on this machine, no data
  dpp-rewrite explain -c ddl/ --remote sc://host q.sql  on the real tables
  dpp-rewrite explain -c ddl/ --html plan.html q.sql

\b
What the words mean:
  planned   the filter's keys are broadcast in this plan: partitions are skipped
  possible  Spark has written the filter into the plan, but drops it at run time
            if the join does not turn into a broadcast join
Only a run shows what is read: see `dpp-rewrite verify`.""",
)
@click.argument("path", metavar="PATH")
@setting_options("explain")
@spark_options
@report_options
def command(html: str | None, format: str, color: bool | None, **given: Any) -> None:
    """Shows by what Spark prunes each fact scan, before and after, and how its plan changes.

    PATH is a file of SQL, or - for stdin. Nothing is run. Without --master and --remote the tables
    of the catalog are made, empty, in a local Spark that is told the catalog's sizes, so that it
    plans as production would; they are gone afterwards. With --when missed or auto that plan says
    what Spark prunes by itself.
    """
    asked = task(**given)
    out = printer(err=False, color=color)
    from sqlrewrite.spark.explain import Explained, explain_text
    from sqlrewrite.spark.native import missed
    from sqlrewrite.spark.session import session

    found: list[Explained] = []

    def keep(explained: Explained) -> None:
        found.append(explained)
        if format == "text":
            _print(out, explained, first=len(found) == 1)

    with session(asked.target) as running:
        rewrite = asked.rewrite
        if asked.request.settings.when in LEAVING:
            rewrite = missed(running, asked.name, rewrite, asked.request)
        under = None
        if asked.request.settings.strategy == "partition-wise":
            from sqlrewrite.grouping import missing

            under = missing(rewrite.original, asked.catalog, asked.request.options())
        stock = explain_text(running, asked.name, rewrite, asked.catalog, keep, under)
    if format == "json":
        from sqlrewrite.report.physical import explained_json

        write_stdout(explained_json(found, stock).encode("ascii"))
    else:
        from sqlrewrite.report.physical import stock_lines

        if not found:
            nothing = f"{asked.name}: no statement joins a fact by a partition column"
            out.print([((nothing, "yellow"),)])
        err = printer(err=True, color=color)
        err.print([((f"{it.line}: {it.message}", "bold cyan"),) for it in asked.rewrite.notes])
        err.print(stock_lines(stock))
    if html is not None:
        from sqlrewrite.report.page import explained_page

        write_page(html, explained_page(found))


def _print(out: Printer, explained: Any, *, first: bool) -> None:
    from sqlrewrite.report.physical import explained_lines

    out.print([*([] if first else [()]), *explained_lines(explained)])
