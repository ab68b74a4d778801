"""``dpp-rewrite catalog check`` and ``pull``: ask a live Spark about the tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sqlrewrite import __version__
from sqlrewrite.catalog import snapshot
from sqlrewrite.catalog.names import parsed_name, quoted_name
from sqlrewrite.cli.options import (
    Command,
    colour_option,
    output_option,
    setting_options,
    settings_at,
)
from sqlrewrite.cli.spark import SPARK, spark_options
from sqlrewrite.cli.streams import CommandFailure, printer, progress, report_unwritable, write_to
from sqlrewrite.report.printer import Printer, counted
from sqlrewrite.run.runner import load_catalog
from sqlrewrite.spark.session import session
from sqlrewrite.spark.target import Target
from sqlrewrite.warehouse import DECLARED, Derivation, Name, Table, TableOrView, Warehouse

if TYPE_CHECKING:
    from sqlrewrite.spark.catalog.derived import Checked
    from sqlrewrite.spark.catalog.pull import Pulled


@click.command(
    "check",
    cls=Command,
    sections={"What is known of the tables": ("catalog", "schema"), "Which Spark": SPARK},
    short_help="Count rows that contradict a declared derived column.",
    epilog="""\b
Examples:
  dpp-rewrite catalog check --remote sc://host
  dpp-rewrite catalog check -c warehouse.json --master yarn logs.events

Exit status: 0 if each declaration holds for all rows, 1 if one does not, 2 if one could not be
counted.""",
)
@click.argument("tables", nargs=-1, metavar="[TABLES]...")
@setting_options("catalog check")
@spark_options
@colour_option
def check_command(tables: tuple[str, ...], where: Target, color: bool | None, **given: Any) -> None:
    """Counts the rows in which a derived column differs from its declared expression.

    GENERATED ALWAYS AS, `derived` in a snapshot and [tool.dpp-rewrite.derived] declare columns.
    Each table is read completely, once; TABLES limits the check to some. Expressions over a
    TIMESTAMP use the declared time-zone, else the time zone of the session.
    """
    from sqlrewrite.spark.catalog import derived

    settings = settings_at(".", given)
    catalog = load_catalog(settings)
    declared_tables = _declared(catalog, tables)
    if not declared_tables:
        raise CommandFailure(
            "no derived column of these tables is declared: [tool.dpp-rewrite.derived] declares "
            "the expression that a column is computed by"
        )
    if settings.time_zone:
        zone = ("spark.sql.session.timeZone", settings.time_zone)
        where = replace(where, conf=(zone, *where.conf))
    found: list[derived.Checked] = []
    out, err = (printer(err=it, color=color) for it in (False, True))
    with session(where) as running, progress(err, "", len(declared_tables)) as update:
        for name, declared in declared_tables:
            found += derived.check(running, name, declared)
            update(advance=1, description=".".join(name))
    for it in found:
        _print_checked(out, it)
    if any(it.why for it in found):
        raise CommandFailure("some declarations could not be checked")
    if any(it.wrong for it in found):
        raise SystemExit(1)


def _declared(
    catalog: Warehouse, tables: Sequence[str]
) -> list[tuple[Name, tuple[Derivation, ...]]]:
    """The named tables that have declarations, also those that only the settings declare."""
    found = {it.name: it.derived for it in catalog.tables if it.derived}
    for name, columns in catalog.declared.items():
        if not any(it[-len(name) :] == name for it in found):
            found[name] = tuple(Derivation(it, text, (), DECLARED) for it, text in columns.items())
    names = [parsed_name(it) or ("",) for it in tables]  # an empty name matches no table
    chosen = (it for it in sorted(found) if not names or any(it[-len(n) :] == n for n in names))
    return [(it, found[it]) for it in chosen]


def _print_checked(out: Printer, it: Checked) -> None:
    """Prints the result for one declaration in a line."""
    declaration = f"{'.'.join(it.table)}: {it.derivation.column} = {it.derivation.expression}"
    if it.why:
        out.line(("unknown ", "bold yellow"), (declaration, "bold"), (f": {it.why}", ""))
    elif it.wrong:
        counted = f": does not hold for {it.wrong:,} of {it.rows:,} rows"
        out.line(("wrong   ", "bold red"), (declaration, "bold"), (counted, ""))
    else:
        out.line(("holds   ", "bold green"), (declaration, "bold"), (f": {it.rows:,} rows", ""))


@click.command(
    "pull",
    cls=Command,
    sections={
        "Which tables": ("schema", "include"),
        "Which Spark": SPARK,
        "What is written": ("output",),
    },
    short_help="Write a snapshot of a live Spark catalog.",
    epilog="""\b
Examples:
  dpp-rewrite catalog pull --remote sc://host -o warehouse.json
  dpp-rewrite catalog pull --master yarn 'retail.*' -o warehouse.json
  dpp-rewrite catalog pull --remote sc://host 'lake.*.*' 'lake.raw.click*'
  dpp-rewrite catalog pull --remote sc://host --schema retail --include 'f_*'

A pull that is cut off goes on where it stopped when it is called again: what it has read is kept
in FILE.partial until FILE is written.""",
)
@click.argument("patterns", nargs=-1, metavar="[PATTERNS]...")
@click.option(
    "--schema",
    metavar="NAME",
    multiple=True,
    help="Only tables of this schema, such as retail or lake.retail. Repeatable.",
)
@click.option(
    "--include",
    metavar="PATTERN",
    multiple=True,
    help="Only tables whose names match this, such as 'fct_*'. Repeatable.",
)
@spark_options
@output_option("snapshot")
@colour_option
def pull(
    patterns: tuple[str, ...],
    schema: tuple[str, ...],
    include: tuple[str, ...],
    where: Target,
    output: str,
    color: bool | None,
) -> None:
    """Writes a snapshot of a live Spark catalog, for --catalog.

    The snapshot has the columns and types of tables and views, partition columns, sizes, the counts
    of ANALYZE TABLE, and the settings that decide what Spark prunes by itself. If sampled rows
    suggest that a partition column is computed from another column, the expression is printed, and
    written as `proposed`; it is not used until someone declares it. PATTERNS are names with * and
    ?, such as retail.* or lake.raw.click*. Without PATTERNS all schemas of the current catalog are
    read.
    """
    from sqlrewrite.spark.catalog import derived, pull

    err = printer(err=True, color=color)
    partial = pull.Partial(Path(f"{output}.partial"), where.name) if output != "-" else None
    with session(where) as running, report_unwritable(output):
        names, skipped = pull.names(running, _patterns(patterns, schema, include))
        kept = partial.read() if partial else {}
        found: dict[Name, TableOrView] = {name: kept[name] for name in names if name in kept}
        if partial:
            if found:
                err.line((f"{partial.path}: {len(found):,} read already", "dim"))
            partial.begin(found.values())
        proposed: dict[Name, tuple[Derivation, ...]] = {}
        left = [name for name in names if name not in found]
        with progress(err, "", len(names), done=len(found)) as update:
            for pulled in pull.read_relations(running, left):
                update(advance=1, description=".".join(pulled.name))
                if pulled.relation is None:
                    skipped.append(pulled)
                    continue
                found[pulled.name] = pulled.relation
                if isinstance(pulled.relation, Table):
                    proposed[pulled.name] = derived.proposed(running, pulled.relation)
                if partial:
                    partial.add(pulled.relation)
        if not found:  # an existing snapshot is worth more
            _print_skipped(err, skipped)
            if partial:
                partial.end()
            raise CommandFailure("nothing is written: none of these tables could be read")
        catalog = Warehouse(found, pull.namespace(running), settings=pull.settings(running))
        now = datetime.now(UTC).isoformat(timespec="seconds")
        origin = {"by": f"dpp-rewrite {__version__}", "at": now, "from": where.name}
        write_to(output, snapshot.write(catalog, origin, proposed))
        if partial:
            partial.end()
    _print_skipped(err, skipped)
    place = "" if output == "-" else f" to {output}"
    written = (f"{counted(len(found), 'relation')} written{place}", "bold green")
    err.print([(written, (f", {len(skipped):,} skipped", "bold yellow" if skipped else ""))])
    _print_proposed(err, proposed)


def _print_proposed(err: Printer, proposed: Mapping[Name, Sequence[Derivation]]) -> None:
    """Prints the proposed derivations as lines for the settings, each a comment."""
    lines = []
    for name, found in sorted(proposed.items()):
        lines += [f'# [tool.dpp-rewrite.derived."{quoted_name(name[1:])}"]'] if found else []
        for it in found:
            key = it.column if it.column.isidentifier() else json.dumps(it.column)
            lines.append(f"# {key} = {json.dumps(it.expression)}")
    if lines:
        title = "in some rows these columns are computed from others; if they always are, declare:"
        err.print([((title, "bold"),), *(((line, ""),) for line in lines)])


def _patterns(
    patterns: Sequence[str], schemas: Sequence[str], include: Sequence[str]
) -> tuple[str, ...]:
    """The requested names, as patterns of whole names."""
    if patterns and (schemas or include):
        raise click.UsageError(
            "PATTERNS cannot go with --schema or --include: a pattern names both schema and table"
        )
    if not (schemas or include):
        return tuple(patterns)
    return tuple(f"{schema}.{name}" for schema in schemas or ("*",) for name in include or ("*",))


def _print_skipped(err: Printer, skipped: Sequence[Pulled]) -> None:
    for it in skipped:
        name = ".".join(it.name)
        err.line(("skipped ", "bold yellow"), (f"{name}: ", "bold"), (it.why, ""))
