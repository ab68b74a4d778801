"""``dpp-rewrite init``: writes a first file of settings for a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from sqlrewrite.catalog import Catalog
from sqlrewrite.catalog.load import PROJECTS
from sqlrewrite.cli.command_options import Command, colour_option
from sqlrewrite.cli.streams import printer, write_stdout
from sqlrewrite.report import Printer, counted, shown
from sqlrewrite.results import ConfigError
from sqlrewrite.run.search import find
from sqlrewrite.run.table_files import Discovered, discover
from sqlrewrite.settings.config import OWN_FILE, SECTION, SHARED_FILE, load
from sqlrewrite.settings.spark_conf import known_setting
from sqlrewrite.text.data_files import read_toml
from sqlrewrite.text.limits import SPARK
from sqlrewrite.text.source import write_file
from sqlrewrite.warehouse import CatalogError, Warehouse

_QUOTES = "spark.sql.ansi.doubleQuotedIdentifiers"
_ANSI = "spark.sql.ansi.enabled"
_PRUNING = "spark.sql.optimizer.dynamicPartitionPruning.enabled"
_SCHEMA = "spark.sql.catalog.spark_catalog.defaultDatabase"


@click.command(
    "init",
    cls=Command,
    sections={"What is reported": ("color",)},
    short_help="Write a first file of settings for this folder.",
    epilog="""\b
Examples:
  dpp-rewrite init    finds the catalog and writes dpp-rewrite.toml
  dpp-rewrite lint .  needs no options then""",
)
@click.argument(
    "folder",
    default=".",
    type=click.Path(exists=True, file_okay=False, readable=False),
    metavar="[FOLDER]",
)
@colour_option
def init_command(folder: str, color: bool | None) -> None:
    """Finds the files that describe tables and writes settings that name them.

    These files are DDL, dbt projects, snapshots of `catalog pull` and Spark's spark-defaults.conf.
    The settings go to the end of pyproject.toml if there is one, else to dpp-rewrite.toml. If there
    are settings already, they stay, and those that they lack are only printed.
    """
    err = printer(err=True, color=color)
    sources_found = discover(folder)
    sources = [*_catalogs(folder, sources_found, err)]
    dialects = _dialects(folder, sources_found, err)
    lines = [*_settings(sources, sources_found, dialects)]
    has_tables = sources_found.python or any(not source.lacking for source in sources)
    following = f"dpp-rewrite lint {shown(folder)}" if has_tables else _PULL
    path, before = _target(folder)
    section = "derived" if os.path.basename(path) == OWN_FILE else "tool.dpp-rewrite.derived"
    lines += _computed(folder, sources, section)
    if before is None:
        _compare(path, lines, err)
        err.line(("next: ", "bold"), (following, ""))
        return
    own = os.path.basename(path) == OWN_FILE
    end = "\r\n" if "\r\n" in before else "\n"
    gap = end if before.endswith("\n") else end * 2
    text = end.join([*([] if own else [SECTION]), *lines]) + end
    _write(path, before + gap + text if before else text)
    err.line((f"{shown(path)} written", "bold green"))
    err.line(("next: ", "bold"), (following, ""))


_PULL = 'dpp-rewrite catalog pull -o tables.json, and `catalog = ["tables.json"]` in the settings'


def _compare(path: str, lines: Sequence[str], err: Printer) -> None:
    """Prints the settings, and exits, if the file lacks one; it stays as it is."""
    import tomllib

    own, text = _table(path), "\n".join(lines)
    lacking = [key for key, value in tomllib.loads(text).items() if own.get(key) != value]
    if not lacking:
        err.line((f"{shown(path)} has all of these settings already", "green"))
        return
    write_stdout(f"{text}\n".encode())
    differing = ", ".join(lacking)
    what = (
        f"{shown(path)} has settings already, so nothing is written; {differing} are missing in it "
        "or differ: copy the lines above that you want, or remove the settings and run init again"
    )
    err.line((what, "yellow"))
    raise click.exceptions.Exit(2)


def _table(path: str) -> Mapping[str, Any]:
    """The settings in a file that has some."""
    settings: Any = read_toml(path)
    if os.path.basename(path) != OWN_FILE:
        settings = settings["tool"]["dpp-rewrite"]
    return settings if isinstance(settings, dict) else {}


class KnownSource(Struct, frozen=True):
    """A catalog by its path; ``lacking`` is why it cannot be used yet."""

    path: str
    what: str
    lacking: str = ""


def _catalogs(folder: str, sources: Discovered, err: Printer) -> Iterator[KnownSource]:
    """Each catalog that can be loaded, or why not; each is reported."""
    err.line((f"{counted(sources.files, 'file')} of SQL", ""))
    if sources.python:
        err.line((f"SQL in {counted(sources.python, 'file')} of Python and notebooks", ""))
    projects = [_of_dbt(folder, project) for project in sources.projects]
    for path in (*sources.ddl, *sources.snapshots, *projects):
        dbt = path in projects
        source = _tried(folder, path, dbt=dbt)
        mark = ("not usable yet ", "bold yellow") if source.lacking else ("found ", "bold green")
        err.print([(mark, (f"{shown(path)}: {source.lacking or source.what}", ""))])
        yield source
    if not (sources.ddl or sources.snapshots or projects):
        what = "no DDL, no dbt project: pull the tables from Spark by `dpp-rewrite catalog pull`"
        err.line((what, "yellow"))
    for key, (value, where) in sources.spark.items():
        if key in (_QUOTES, _ANSI, _SCHEMA) or known_setting(key):
            err.line(("found ", "bold green"), (f"{shown(where)}: {key} = {value}", ""))


def _of_dbt(folder: str, project: str) -> str:
    """The best source of a dbt project: its manifest, else the project itself."""
    names = (os.path.join("target", "manifest.json"), *PROJECTS)
    paths = [os.path.normpath(os.path.join(project, name)) for name in names]
    return next(path for path in paths if os.path.exists(os.path.join(folder, path)))


def _dialects(folder: str, sources: Discovered, err: Printer) -> dict[str, str]:
    """The dialects of the dbt projects, by the projects' folders, as far as they are known."""
    dialects: dict[str, str] = {}
    for project in sources.projects:
        from sqlrewrite.catalog.dbt_project import dialect_of

        file = os.path.join(folder, project, PROJECTS[0])
        with suppress(CatalogError):  # reported with the catalogs
            dialect = dialect_of(Path(file))
            if dialect is not None:
                dialects[project] = dialect
    for project, dialect in dialects.items():
        if dialect != SPARK:
            err.line(("found ", "bold green"), (f"{shown(project)}: dbt on {dialect.title()}", ""))
    return dialects


def _tried(folder: str, path: str, *, dbt: bool) -> KnownSource:
    whole = os.path.normpath(os.path.join(folder, path))
    try:
        catalog = Catalog.load(whole)
    except CatalogError as error:
        return KnownSource(path, "", str(error).removeprefix(f"{whole}: "))
    better = "; `dbt parse` writes target/manifest.json, which knows more"
    more = "" if path.endswith(".json") or not dbt else better
    return KnownSource(path, ("dbt: " if dbt else "") + _counted(catalog) + more)


def _counted(catalog: Warehouse) -> str:
    tables = catalog.tables
    parted = sum(bool(table.partitioned_by) for table in tables)
    views = len(catalog.relations) - len(tables)
    more = f", {counted(views, 'view')}" if views else ""
    return f"{counted(len(tables), 'table')}, {parted:,} partitioned{more}"


def _settings(
    catalogs: Sequence[KnownSource], sources: Discovered, dialects: Mapping[str, str]
) -> Iterator[str]:
    """The lines of the file of settings."""
    yield "# What is known of the tables; `dpp-rewrite catalog show` prints it."
    usable = [catalog for catalog in catalogs if not catalog.lacking]
    if usable:
        yield "catalog = ["
        yield from (f"  {_string(source.path)},  # {source.what}" for source in usable)
        yield "]"
    else:
        yield '# catalog = ["ddl"]  # or a snapshot .json, or dbt\'s target/manifest.json'
    yield from (
        f"# {_string(catalog.path)}: {' '.join(catalog.lacking.split())}"
        for catalog in catalogs
        if catalog.lacking
    )
    schema = sources.spark.get(_SCHEMA)
    if schema:
        yield f"schema = {_string(schema[0])}  # {schema[1]}"
    else:
        yield '# schema = "retail"  # where short names are looked up'
    engine, *others = sorted(set(dialects.values())) or [SPARK]
    if engine != SPARK and not others:
        yield f"dialect = {_string(engine)}  # by dbt's adapter"
        yield f"engine = {_string(engine)}"
    for project, dialect in dialects.items() if others else ():
        if dialect == SPARK:
            continue
        yield (
            f"# {project} is written for {dialect.title()}: give it a {OWN_FILE} of its own with "
            f"dialect = {_string(dialect)} and engine = {_string(dialect)}"
        )
    prunes = "the engine" if others else engine.title()
    yield f'when = "missed"  # what {prunes} prunes by itself is left to it; "eligible" writes all'
    yield from _of_spark(sources)
    if sources.python:
        sign = "# " if sources.files else ""
        yield f"{sign}include-python = true  # {counted(sources.python, 'file')} with SQL"
    yield '# exclude = ["legacy"]  # what is left out'


def _computed(folder: str, catalogs: Sequence[KnownSource], section: str) -> Iterator[str]:
    """The derived columns to declare: partition columns that all statements in the folder's files
    compute from other columns."""
    from sqlrewrite.catalog.computed_columns import computed_columns
    from sqlrewrite.catalog.infer import declarations

    usable = [os.path.join(folder, source.path) for source in catalogs if not source.lacking]
    files = find([folder]).files
    catalog = Catalog.load(*usable) if usable else Catalog.seen(*files)
    proposed = computed_columns(files, catalog)
    if proposed:
        yield "# Computed from another column by all statements here that write the table: declare"
        yield "# what always holds, and filters on that column prune (`catalog check` counts rows)."
    for name, derivations in sorted(proposed.items()):
        yield from (f"# {line}" for line in declarations(name, derivations, section))


def _of_spark(sources: Discovered) -> Iterator[str]:
    """The settings that follow from Spark's own."""
    flags = {key: (value.lower() == "true", where) for key, (value, where) in sources.spark.items()}
    if _QUOTES in flags:
        quotes, where = flags[_QUOTES]
        ansi = flags.get(_ANSI, (True, ""))[0]
        certain = not quotes or _ANSI in flags
        line = f"double-quoted-identifiers = {str(quotes and ansi).lower()}  # {_QUOTES} in {where}"
        yield line if certain else f"# {line}, if {_ANSI} is on (in Spark 4 it is)"
    if _PRUNING in flags and not flags[_PRUNING][0]:
        where = flags[_PRUNING][1]
        yield f'predicate = "set"  # prunes without dynamic pruning, which {where} switches off'
    for key, (value, where) in sources.spark.items():
        if name := known_setting(key):
            yield f"spark-conf.{_string(name)} = {_string(value)}  # {where}"


def _string(text: str) -> str:
    import json

    return json.dumps(text.replace(os.sep, "/"), ensure_ascii=False)


def _target(folder: str) -> tuple[str, str | None]:
    """The file for the settings, and its text; None where it has settings already."""
    own, shared = (os.path.normpath(os.path.join(folder, name)) for name in (OWN_FILE, SHARED_FILE))
    if os.path.exists(own):
        return own, None
    if not os.path.exists(shared):
        return own, ""
    tool = read_toml(shared).get("tool", {})
    if isinstance(tool, dict) and "dpp-rewrite" in tool:
        return shared, None
    with open(shared, encoding="utf-8", newline="") as file:
        return shared, file.read()


def _write(path: str, text: str) -> None:
    """Writes the file if it is valid TOML, and reads it again as a run does."""
    import tomllib

    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(
            f"{path}: a table [tool.dpp-rewrite] cannot be added at its end: {error}; the file is "
            f"left as it is: write the settings into a {OWN_FILE} beside it"
        ) from error
    try:
        write_file(path, text.encode("utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from error
    load(os.path.dirname(path) or ".", path)
