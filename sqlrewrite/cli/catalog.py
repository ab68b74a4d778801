"""``dpp-rewrite catalog``: what the tool knows about the tables, and its sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sqlrewrite import __version__
from sqlrewrite.catalog import snapshot
from sqlrewrite.cli.command_options import (
    CONTEXT,
    Command,
    colour_option,
    output_option,
    setting_option,
    setting_options,
    settings_at,
)
from sqlrewrite.cli.spark_options import SPARK, spark_options
from sqlrewrite.cli.streams import (
    CommandFailure,
    printer,
    progress,
    refuse_read,
    report_unwritable,
    write_stdout,
    write_to,
)
from sqlrewrite.copies import replace
from sqlrewrite.report import Printer, counted
from sqlrewrite.run.catalogs import load_catalog
from sqlrewrite.spark.session import session
from sqlrewrite.spark.target import Target
from sqlrewrite.warehouse import (
    DECLARED,
    Derivation,
    Name,
    Table,
    TableOrView,
    Warehouse,
    parsed_name,
)

if TYPE_CHECKING:
    from sqlrewrite.spark.catalog import Checked, Pulled


@click.group(
    "catalog",
    context_settings=CONTEXT,
    short_help="Show, infer, pull or check the tables that are known.",
)
def catalog_command() -> None:
    """Shows, infers, pulls or checks what is known of the warehouse's tables."""


@catalog_command.command(
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
    help="text: for people. json: a snapshot, which --catalog reads.",
)
@colour_option
def show_command(format: str, color: bool | None, **given: Any) -> None:
    """Prints the tables that --catalog describes.

    Partition columns, types and statistics decide what can be pruned: look here first when a
    query is not rewritten as expected.
    """
    from sqlrewrite.dialects import dialect

    settings = settings_at(".", given)
    dialect(settings.dialect)  # only to refuse unknown names: the DDL of each is read alike
    if not settings.catalog:
        raise CommandFailure(
            "no catalog: give --catalog, or set `catalog` in [tool.dpp-rewrite] (dpp-rewrite init "
            "looks for one)"
        )
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


@catalog_command.command(
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

    CREATE TABLE statements are copied. INSERT … PARTITION (dt = …) shows that dt partitions a
    table, but not its type: correct the guesses before you give the file to --catalog. Nothing is
    rewritten that depends on an UNKNOWN type. Where all statements that write a table compute a
    partition column from another of its columns, a comment proposes to declare it in the settings.
    """
    from sqlrewrite.catalog.computed_columns import computed_columns
    from sqlrewrite.catalog.infer import ddl, infer
    from sqlrewrite.report.catalog import print_left_out
    from sqlrewrite.run.search import find

    sources = find(paths)
    if sources.missing:
        raise CommandFailure(f"{sources.missing[0]}: no such file or directory")
    refuse_read(output, sources.files, "--output")
    catalog, guessed = infer(sources.files, Warehouse().use(schema))
    err = printer(err=True, color=color)
    count = sum(len(name) > 1 for name in catalog.relations)
    proposed = computed_columns(sources.files, catalog)
    if count:  # else an existing file is kept
        write_to(output, ddl(catalog, guessed, proposed))
    print_left_out(err, catalog)
    if not count:
        raise CommandFailure(
            "nothing is written: these files have no CREATE TABLE, CREATE VIEW or "
            "INSERT … PARTITION (dt = …)"
        )
    place = "" if output == "-" else f" to {output}"
    what = "table or view" if count == 1 else "tables and views"
    summary = f"{count:,} {what} written{place}, {len(guessed):,} guessed"
    err.line((summary, "bold"))
    _print_proposed(
        err,
        proposed,
        "these columns are computed from others by all statements that write the table; if nothing "
        "else writes it, declare:",
    )


@catalog_command.command(
    "check",
    cls=Command,
    sections={"Catalog and settings": ("catalog", "schema", "config", "isolated"), **SPARK},
    short_help="Count rows that contradict a declared derived column.",
    epilog="""\b
Examples:
  dpp-rewrite catalog check --remote sc://host
  dpp-rewrite catalog check -c warehouse.json --master yarn logs.events

\b
Exit status:
  0  each declaration holds for all rows
  1  one does not
  2  one could not be checked""",
)
@click.argument("tables", nargs=-1, metavar="[TABLES]...")
@setting_options("catalog check")
@spark_options
@colour_option
def check_command(tables: tuple[str, ...], where: Target, color: bool | None, **given: Any) -> None:
    """Counts the rows in which a derived column differs from its declared expression.

    A derived column is declared by GENERATED ALWAYS AS, by `derived` in a snapshot, or by
    [tool.dpp-rewrite.derived]. Each table is read completely, once; TABLES limits the check to
    these. Expressions over a TIMESTAMP use the setting time-zone, else the session's time zone.
    """
    from sqlrewrite.spark import catalog as live

    settings = settings_at(".", given)
    catalog = load_catalog(settings)
    declared_tables = _declared(catalog, tables)
    if not declared_tables:
        raise CommandFailure(
            "these tables declare no derived column, so there is nothing to check: declare one in "
            "[tool.dpp-rewrite.derived]"
        )
    if settings.time_zone:
        zone = ("spark.sql.session.timeZone", settings.time_zone)
        where = replace(where, conf=(zone, *where.conf))
    checks: list[live.Checked] = []
    out, err = (printer(err=is_err, color=color) for is_err in (False, True))
    with session(where) as running, progress(err, "", len(declared_tables)) as update:
        for name, declared in declared_tables:
            checks += live.check(running, name, declared)
            update(advance=1, description=".".join(name))
    for check in checks:
        _print_checked(out, check)
    if any(check.why for check in checks):
        raise CommandFailure("some declarations could not be checked")
    if any(check.wrong for check in checks):
        raise SystemExit(1)


def _declared(
    catalog: Warehouse, tables: Sequence[str]
) -> list[tuple[Name, tuple[Derivation, ...]]]:
    """The named tables with their declared columns, also those that only the settings declare."""
    derived = {table.name: table.derived for table in catalog.tables if table.derived}
    for name, columns in catalog.declared.items():
        if not any(other[-len(name) :] == name for other in derived):
            derived[name] = tuple(
                Derivation(column, text, (), DECLARED) for column, text in columns.items()
            )
    names = [parsed_name(table) or ("",) for table in tables]  # an empty name matches no table
    chosen = (
        name for name in sorted(derived) if not names or any(name[-len(n) :] == n for n in names)
    )
    return [(name, derived[name]) for name in chosen]


def _print_checked(out: Printer, check: Checked) -> None:
    """Prints the check of one declaration on a line."""
    word, style, result = "holds   ", "bold green", f"{check.rows:,} rows"
    if check.why:
        word, style, result = "unknown ", "bold yellow", check.why
    elif check.wrong:
        word, style = "wrong   ", "bold red"
        result = f"does not hold for {check.wrong:,} of {check.rows:,} rows"
    declared = f"{check.derivation.column} = {check.derivation.expression}"
    out.line((word, style), (f"{'.'.join(check.table)}: {declared}", "bold"), (f": {result}", ""))


@catalog_command.command(
    "pull",
    cls=Command,
    sections={
        "Which tables": ("schema", "include"),
        **SPARK,
        "What is written": ("output",),
    },
    short_help="Write a snapshot of a live Spark catalog.",
    epilog="""\b
Examples:
  dpp-rewrite catalog pull --remote sc://host -o warehouse.json
  dpp-rewrite catalog pull --master yarn 'retail.*' -o warehouse.json
  dpp-rewrite catalog pull --remote sc://host 'lake.*.*' 'lake.raw.click*'
  dpp-rewrite catalog pull --remote sc://host --schema retail --include 'f_*'

An interrupted pull resumes when the same command runs again: FILE.partial keeps what was read
until FILE is written.""",
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
def pull_command(
    patterns: tuple[str, ...],
    schema: tuple[str, ...],
    include: tuple[str, ...],
    where: Target,
    output: str,
    color: bool | None,
) -> None:
    """Writes a snapshot of a live Spark catalog, for --catalog.

    PATTERNS are names with * and ?, such as retail.* or lake.raw.click*; without them all schemas
    of the current catalog are read. The snapshot has columns and types, partition columns, sizes,
    the counts of ANALYZE TABLE, and Spark's settings for dynamic pruning. If sampled rows suggest
    that a partition column is computed from another column, the expression is printed, and written
    as `proposed`: it is not used until you declare it.
    """
    from sqlrewrite.spark import catalog as live

    err = printer(err=True, color=color)
    partial = live.Partial(Path(f"{output}.partial"), where.name) if output != "-" else None
    with session(where) as running, report_unwritable(output):
        names, skipped = live.names(running, _patterns(patterns, schema, include))
        kept = partial.read() if partial else {}
        relations: dict[Name, TableOrView] = {name: kept[name] for name in names if name in kept}
        if partial:
            if relations:
                err.line((f"{partial.path}: {len(relations):,} read already", "dim"))
            partial.begin(relations.values())
        proposed: dict[Name, tuple[Derivation, ...]] = {}
        missing = [name for name in names if name not in relations]
        with progress(err, "", len(names), done=len(relations)) as update:
            for pulled in live.read_relations(running, missing):
                update(advance=1, description=".".join(pulled.name))
                if pulled.relation is None:
                    skipped.append(pulled)
                    continue
                relations[pulled.name] = pulled.relation
                if isinstance(pulled.relation, Table):
                    proposed[pulled.name] = live.proposed(running, pulled.relation)
                if partial:
                    partial.add(pulled.relation)
        if not relations:  # an existing snapshot is kept
            _print_skipped(err, skipped)
            if partial:
                partial.end()
            raise CommandFailure("nothing is written: none of these tables could be read")
        catalog = Warehouse(
            namespace=live.namespace(running), settings=live.settings(running)
        ).with_relations(relations)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        origin = {"by": f"dpp-rewrite {__version__}", "at": now, "from": where.name}
        write_to(output, snapshot.write(catalog, origin, proposed))
        if partial:
            partial.end()
    _print_skipped(err, skipped)
    place = "" if output == "-" else f" to {output}"
    written = (f"{counted(len(relations), 'relation')} written{place}", "bold green")
    err.print([(written, (f", {len(skipped):,} skipped", "bold yellow" if skipped else ""))])
    _print_proposed(
        err,
        proposed,
        "in the sampled rows these columns are computed from others; if they always are, declare:",
    )


def _print_proposed(
    err: Printer, proposed: Mapping[Name, Sequence[Derivation]], title: str
) -> None:
    """Prints the proposed derivations as lines for the settings, each a comment."""
    from sqlrewrite.catalog.infer import declarations

    lines = [
        f"# {line}"
        for name, derivations in sorted(proposed.items())
        for line in declarations(name, derivations)
    ]
    if lines:
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
    for relation in skipped:
        name = ".".join(relation.name)
        err.line(("skipped ", "bold yellow"), (f"{name}: ", "bold"), (relation.why, ""))
