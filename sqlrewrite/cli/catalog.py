"""``dpp-rewrite catalog``: what the tool knows of the tables."""

from __future__ import annotations

import click

from sqlrewrite.cli.common import (
    CONTEXT,
    Command,
    Failure,
    catalog_options,
    colour_option,
    load_catalog,
    printer,
    write_stdout,
)
from sqlrewrite.config import load


@click.group("catalog", context_settings=CONTEXT, short_help="Look at what is known of the tables.")
def command() -> None:
    """What the tool knows of the warehouse's tables."""


@command.command(
    "show",
    cls=Command,
    short_help="Print what is known of the tables.",
    epilog="""\b
Examples:
  dpp-rewrite catalog show -c ddl/                what was understood
  dpp-rewrite catalog show -c ddl/ --format json  a snapshot for --catalog""",
)
@catalog_options
@click.option(
    "--format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="text: a table; json: the snapshot form, which --catalog reads.",
)
@colour_option
def show(
    catalog: tuple[str, ...],
    schema: str | None,
    config: str | None,
    format: str,
    color: bool | None,
) -> None:
    """Prints what the tool knows of the tables, from any --catalog.

    Partition columns, types and statistics decide what can be pruned: look here first when a
    query is not rewritten as expected.
    """
    settings = load(".", config)
    if not (catalog or settings.catalog):
        raise Failure("no catalog: give --catalog, or set `catalog` in [tool.dpp-rewrite]")
    known = load_catalog(settings, catalog, schema)
    if format == "json":
        from sqlrewrite.catalog import snapshot

        write_stdout(snapshot.write(known).encode("utf-8"))
    else:
        from sqlrewrite.report.catalog import print_catalog

        print_catalog(printer(err=False, color=color), known)
