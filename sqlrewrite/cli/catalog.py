"""``dpp-rewrite catalog``: what the tool knows about the tables, and its sources."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from sqlrewrite.catalog import snapshot
from sqlrewrite.cli.catalog_spark import check_command, pull
from sqlrewrite.cli.options import (
    CONTEXT,
    Command,
    colour_option,
    output_option,
    setting_option,
    setting_options,
    settings_at,
)
from sqlrewrite.cli.streams import CommandFailure, printer, refuse_read, write_stdout, write_to
from sqlrewrite.run.runner import load_catalog
from sqlrewrite.warehouse import Warehouse


@click.group(
    "catalog",
    context_settings=CONTEXT,
    short_help="Show, infer, pull or check the tables that are known.",
)
def command() -> None:
    """What the tool knows about the tables of the warehouse."""


command.add_command(check_command)
command.add_command(pull)


@command.command(
    "show",
    cls=Command,
    short_help="Print the tables that the catalog describes.",
    epilog="""\b
Examples:
  dpp-rewrite catalog show -c ddl/                what was understood
  dpp-rewrite catalog show -c ddl/ --format json  a snapshot for --catalog""",
)
@setting_options("catalog show")
@click.option(
    "--format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="text: a table; json: the snapshot form, which --catalog reads.",
)
@colour_option
def show(format: str, color: bool | None, **given: Any) -> None:
    """Prints what the tool knows about the tables, from any --catalog.

    Partition columns, types and statistics decide what can be pruned: look here first when a
    query is not rewritten as expected.
    """
    from sqlrewrite.dialects import dialect

    settings = settings_at(".", given)
    dialect(settings.dialect)  # only to refuse unknown names: the DDL of each is read alike
    if not settings.catalog:
        raise CommandFailure("no catalog: give --catalog, or set `catalog` in [tool.dpp-rewrite]")
    catalog = load_catalog(settings)
    from sqlrewrite.report.catalog import print_catalog, print_left_out, print_origin

    if format == "json":
        write_stdout(snapshot.write(catalog).encode("utf-8"))
        print_left_out(printer(err=True, color=color), catalog)
    else:
        out = printer(err=False, color=color)
        print_catalog(out, catalog)
        for path in catalog.sources:
            if path.endswith(".json"):
                origin = snapshot.generated(Path(path).read_text("utf-8-sig"))
                print_origin(out, path, origin, datetime.now(UTC))


@command.command(
    "infer",
    cls=Command,
    short_help="Guess the DDL of tables from the queries that use them.",
    epilog="""\b
Examples:
  dpp-rewrite catalog infer etl/ -o ddl.sql
  dpp-rewrite catalog infer etl/ dags/sql -o ddl.sql  to correct and commit""",
)
@click.argument("paths", nargs=-1, required=True, metavar="PATHS...")
@setting_option("schema")
@output_option("DDL")
@colour_option
def infer_command(
    paths: tuple[str, ...], schema: str | None, output: str, color: bool | None
) -> None:
    """Writes DDL of the tables that SQL files use, with a comment on each guess.

    A CREATE TABLE is taken as it stands. INSERT … PARTITION (dt = …) shows that dt partitions a
    table, but not the type of dt. Correct the guesses before you give the file to --catalog:
    nothing is rewritten that depends on a type that is UNKNOWN.
    """
    from sqlrewrite.catalog.ddl_writer import ddl
    from sqlrewrite.catalog.infer import infer
    from sqlrewrite.report.catalog import print_left_out
    from sqlrewrite.run.search import find

    found = find(paths)
    if found.missing:
        raise CommandFailure(f"{found.missing[0]}: no such file or directory")
    refuse_read(output, found.files, "--output")
    catalog, guessed = infer(found.files, Warehouse().use(schema))
    err = printer(err=True, color=color)
    count = sum(len(name) > 1 for name in catalog.relations)
    if count:  # else an existing file is worth more
        write_to(output, ddl(catalog, guessed))
    print_left_out(err, catalog)
    if not count:
        raise CommandFailure(
            "nothing is written: these files show no table by CREATE TABLE, CREATE VIEW or "
            "INSERT … PARTITION (dt = …)"
        )
    place = "" if output == "-" else f" to {output}"
    what = "table or view" if count == 1 else "tables and views"
    summary = f"{count:,} {what} written{place}, {len(guessed):,} guessed"
    err.line((summary, "bold"))
