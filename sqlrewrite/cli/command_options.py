"""The options of commands: those of the table of settings, and others that several share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

import click
from msgspec import Struct

from sqlrewrite.cli.streams import CommandFailure, clean_exit
from sqlrewrite.results import ConfigError
from sqlrewrite.rulebook import rules_folder
from sqlrewrite.run.jobs import PoolError
from sqlrewrite.settings.config import Projects
from sqlrewrite.settings.table import TABLE, Setting, Settings, named
from sqlrewrite.settings.value_kinds import BOOLEAN, CODES, PATHS, SIZE, ValueKind
from sqlrewrite.spark.target import SparkError
from sqlrewrite.text.limits import SPARK
from sqlrewrite.warehouse import CatalogError

CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
"""Adds an option to a command, or several."""


class Command(click.Command):
    """A command whose help lists its options under the headings of ``sections``."""

    def __init__(
        self, *args: Any, sections: Mapping[str, Sequence[str]] | None = None, **more: Any
    ) -> None:
        super().__init__(*args, **more)
        self.sections = sections or {}

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command; a user's mistake ends in a sentence, not in a traceback."""
        try:
            with clean_exit():
                return super().invoke(ctx)
        except (ConfigError, CatalogError, PoolError, SparkError) as error:
            raise CommandFailure(str(error)) from error

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes each section; options of no section come last."""
        records = {
            param.name: record
            for param in self.get_params(ctx)
            if isinstance(param, click.Option) and (record := param.get_help_record(ctx))
        }
        named = {name for names in self.sections.values() for name in names}
        others = "Other options" if self.sections else "Options"
        rest = {others: [name for name in records if name not in named]}
        for heading, names in {**self.sections, **rest}.items():
            with formatter.section(heading):
                formatter.write_dl([records[name] for name in names if name in records])


class ValueKindType(click.ParamType[Any]):
    """The type of an option whose value a kind reads; its error says what is allowed."""

    def __init__(self, kind: ValueKind) -> None:
        self.kind = kind
        self.name = "value"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value of a text; a default is a value already."""
        if not isinstance(value, str):
            return value
        try:
            return self.kind.read_text(value)
        except ValueError as error:
            self.fail(f"{value!r} is not {error}", param, ctx)


def combined(*options: Decorator) -> Decorator:
    """Several options as one decorator, in this order."""
    return lambda function: reduce(lambda inner, it: it(inner), reversed(options), function)


def setting_options(command: str) -> Decorator:
    """The options for a command's settings, and those that choose the files of settings."""
    return combined(
        click.option(
            "--config",
            type=click.Path(readable=False),
            metavar="FILE",
            help="Read the settings from this file only.",
        ),
        click.option("--isolated", is_flag=True, help="Read no settings from files."),
        *(_option(row) for row in TABLE if command in row.commands),
    )


def setting_option(name: str, default: str = "") -> Decorator:
    """The option of one setting, for a command that reads no settings and has its own default."""
    return _option(named(name)._replace(default_text=default))


def _named_in(folder: str, *more: str) -> Callable[[], Iterable[str]]:
    return lambda: (*more, *(path.stem for path in (rules_folder() / folder).glob("*.toml")))


def _codes() -> Iterable[str]:
    from sqlrewrite.linting.findings import BY_CODE

    return BY_CODE


_NAMES = {"engine": _named_in("engines"), "dialect": _named_in("dialects", SPARK)}
"""The names offered for completion of an option that also takes other values."""


def completing(names: Callable[[], Iterable[str]]) -> Callable[..., list[Any]]:
    """Completes a word in the shell by ``names``, else by the option's type."""

    def complete(ctx: click.Context, param: click.Parameter, word: str) -> list[Any]:
        fitting = sorted(name for name in names() if name.lower().startswith(word.lower()))
        return fitting or param.type.shell_complete(ctx, param, word)

    return complete


def _option(row: Setting) -> Decorator:
    """The option of a setting; its value is None, or empty, if it is not given."""
    kind, schema = row.kind, row.kind.schema
    more: dict[str, Any] = {"metavar": row.metavar}
    if kind is BOOLEAN:
        more = {"default": None}
        if not row.off:
            more = {"is_flag": True, "callback": lambda _ctx, _param, given: given or None}
    elif "enum" in schema:
        more["type"] = click.Choice(schema["enum"])
    elif kind is SIZE or schema.get("type") == "integer":
        more["type"] = ValueKindType(kind)
    elif row.default == ():
        more |= {"multiple": True, "callback": None if kind is PATHS else _read_each(kind)}
    if kind is PATHS or "FILE" in (row.metavar or ""):
        more["type"] = click.Path(readable=False)
    if names := _NAMES.get(row.name) or (_codes if kind is CODES else None):
        more["shell_complete"] = completing(names)
    spelled = [name for name in (row.short, f"{row.option}/{row.off}".rstrip("/")) if name]
    usual = f"  [default: {row.shown_default}]" if row.shown_default else ""
    return click.option(*spelled, help=(row.brief or row.help) + usual, **more)


def _read_each(kind: ValueKind) -> Callable[..., tuple[Any, ...]]:
    """Reads an option that may be repeated, and hold several values each time."""

    def read(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[Any, ...]:
        try:
            return tuple(item for text in texts for item in kind.read_text(text))
        except ValueError as error:
            raise click.BadParameter(f"expected {error}", ctx, param) from None

    return read


class GivenOptions(Struct, frozen=True, eq=False):
    """The values of the options of ``setting_options``; ``chosen`` are the settings among them, by
    name."""

    chosen: Mapping[str, Any]
    config: str | None
    isolated: bool

    def projects(self) -> Projects:
        """The settings of each file. Raises ConfigError."""
        if self.isolated and self.config is not None:
            raise click.UsageError("--isolated cannot go with --config, which names a file to read")
        return Projects(self.config, chosen=self.chosen, isolated=self.isolated)


def with_chosen(options: Mapping[str, Any]) -> dict[str, Any]:
    """A command's options, with the settings among them under ``chosen``."""
    names = {row.name for row in TABLE}
    others = {name: value for name, value in options.items() if name not in names}
    settings = {name: options[name] for name in names & options.keys()}
    return {
        **others,
        "chosen": {k: value for k, value in settings.items() if value not in (None, ())},
    }


def settings_at(path: str, options: Mapping[str, Any]) -> Settings:
    """The settings at a file or folder, under a command's options. Raises ConfigError."""
    return GivenOptions(**with_chosen(options)).projects().at(path)


colour_option: Decorator = click.option(
    "--color/--no-color", default=None, help="Use colour, or none.  [default: on a terminal]"
)


def output_option(what: str) -> Decorator:
    """``--output FILE``, for a command that writes ``what``."""
    help = f"Write the {what} to this file.  [default: -, stdout]"
    return click.option("-o", "--output", metavar="FILE", default="-", help=help)


def file_options(
    formats: Sequence[str], form: str, statistics: str, quiet: str, verbose: str
) -> Decorator:
    """The paths and options, other than settings, of a command over files."""
    return combined(
        click.argument(
            "paths", nargs=-1, required=True, type=click.Path(readable=False), metavar="PATHS..."
        ),
        click.option("--stdin-filename", metavar="PATH", help="The name to report for `-`."),
        click.option("--show-settings", is_flag=True, help="Print the settings, and end."),
        click.option("--show-files", is_flag=True, help="Print the files' names, and end."),
        click.option(
            "--changed-since",
            metavar="REF",
            help="Only files (lint: only their statements) that have changed since this branch "
            "left REF, such as origin/main.",
        ),
        click.option(
            "-o",
            "--output-file",
            type=click.Path(readable=False),
            metavar="FILE",
            help="Write to this file, not to stdout.",
        ),
        click.option(
            "--format", type=click.Choice(formats), default="text", show_default=True, help=form
        ),
        click.option("--statistics", is_flag=True, help=statistics),
        click.option("-q", "--quiet", is_flag=True, help=quiet),
        click.option("-v", "--verbose", is_flag=True, help=verbose),
        colour_option,
        click.option(
            "--exit-zero", is_flag=True, help="Exit 0 even if there is something to report."
        ),
    )
