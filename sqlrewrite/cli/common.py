"""What the commands share: options, settings and catalog, streams, errors and exit statuses."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import reduce
from typing import Any, NoReturn, TextIO, cast

import click

from sqlrewrite.frozen import dataclass
from sqlrewrite.report.printer import Printer
from sqlrewrite.results import ConfigError
from sqlrewrite.rulebook import rules_folder
from sqlrewrite.run.pool import PoolError
from sqlrewrite.settings.config import Projects
from sqlrewrite.settings.table import TABLE, Setting, Settings, named
from sqlrewrite.settings.value_kinds import BOOLEAN, CODES, PATHS, SIZE, ValueKind
from sqlrewrite.spark.target import SparkError
from sqlrewrite.text.limits import SPARK
from sqlrewrite.warehouse import CatalogError

CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
"""What adds an option to a command, or several."""


class CommandFailure(click.ClickException):
    """Something could not be done: the message goes to stderr, the exit status is 2."""

    exit_code = 2


class Command(click.Command):
    """A command whose help lists its options under the headings of ``sections``."""

    def __init__(
        self, *args: Any, sections: Mapping[str, Sequence[str]] | None = None, **more: Any
    ) -> None:
        super().__init__(*args, **more)
        self.sections = sections or {}

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command; what the user got wrong ends in a sentence, not in a traceback."""
        try:
            with _clean_ends():
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
    """The value of an option, read as its kind reads it, whose error says what is allowed."""

    def __init__(self, kind: ValueKind) -> None:
        self.kind = kind
        self.name = "value"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value that a word says; a default is one already."""
        if not isinstance(value, str):
            return value
        try:
            return self.kind.read_text(value)
        except ValueError as error:
            self.fail(f"{value!r} is not {error}", param, ctx)


def together(*options: Decorator) -> Decorator:
    """Several options as one, in this order."""
    return lambda function: reduce(lambda inner, it: it(inner), reversed(options), function)


def setting_options(command: str) -> Decorator:
    """The options of those settings that a command has, and which file says the others."""
    return together(
        click.option(
            "--config",
            type=click.Path(readable=False),
            metavar="FILE",
            help="Read settings from [tool.dpp-rewrite] of this file, or from a dpp-rewrite.toml.",
        ),
        click.option(
            "--isolated", is_flag=True, help="Read no file of settings, only the environment."
        ),
        *(_option(row) for row in TABLE if command in row.commands),
    )


def setting_option(name: str, usual: str) -> Decorator:
    """The option of one setting, for a command that reads no files of settings and has its own
    default."""
    return _option(named(name)._replace(default_text=usual))


def _named_in(folder: str, *more: str) -> Callable[[], Iterable[str]]:
    return lambda: (*more, *(it.stem for it in (rules_folder() / folder).glob("*.toml")))


def _codes() -> Iterable[str]:
    from sqlrewrite.linting.findings import BY_CODE

    return BY_CODE


_NAMES = {"engine": _named_in("engines"), "dialect": _named_in("dialects", SPARK)}
"""The names that the value of an option may have, where others are allowed as well."""


def completing(names: Callable[[], Iterable[str]]) -> Callable[..., list[Any]]:
    """What a shell completes a word by: these names, else what its type knows."""

    def found(ctx: click.Context, param: click.Parameter, word: str) -> list[Any]:
        fitting = sorted(it for it in names() if it.lower().startswith(word.lower()))
        return fitting or param.type.shell_complete(ctx, param, word)

    return found


def _option(row: Setting) -> Decorator:
    """The option of a setting; what is not given is None, or nothing, and left to the project."""
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
    spelled = [it for it in (row.short, f"{row.option}/{row.off}".rstrip("/")) if it]
    usual = f"  [default: {row.shown_default}]" if row.shown_default else ""
    return click.option(*spelled, help=row.help + usual, **more)


def _read_each(kind: ValueKind) -> Callable[..., tuple[Any, ...]]:
    """What reads an option that may be repeated, and hold several each time."""

    def read(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> tuple[Any, ...]:
        try:
            return tuple(item for text in given for item in kind.read_text(text))
        except ValueError as error:
            raise click.BadParameter(f"expected {error}", ctx, param) from None

    return read


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """What the options of ``setting_options`` were given: ``chosen`` are settings, by name."""

    chosen: Mapping[str, Any]
    config: str | None
    isolated: bool

    def projects(self) -> Projects:
        """The settings of each file. Raises ConfigError."""
        if self.isolated and self.config is not None:
            raise click.UsageError("--isolated cannot go with --config, which names a file to read")
        return Projects(self.config, chosen=self.chosen, isolated=self.isolated)


def sorted_out(given: Mapping[str, Any]) -> dict[str, Any]:
    """A command's options, with those of settings that were given apart, under ``chosen``."""
    names = {row.name for row in TABLE}
    rest = {name: value for name, value in given.items() if name not in names}
    told = {name: value for name, value in given.items() if name in names}
    return {**rest, "chosen": {it: value for it, value in told.items() if value not in (None, ())}}


def settings_at(path: str, given: Mapping[str, Any]) -> Settings:
    """The settings at a file or folder, by a command's options first. Raises ConfigError."""
    return Given(**sorted_out(given)).projects().at(path)


colour_option: Decorator = click.option(
    "--color/--no-color",
    default=None,
    help="Use colour. By default the terminal, NO_COLOR and FORCE_COLOR decide.",
)


def printer(*, err: bool, color: bool | None) -> Printer:
    """The printer for stdout or stderr, in colour where the option or else the world wants it."""
    stream = sys.stderr if err else sys.stdout
    if stream is None:  # closed by whoever started us
        stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for the rest of the run
    colour = _wants_colour(stream.isatty()) if color is None else color
    return Printer(cast(TextIO, _Stream(stream)), colour=colour)


def _wants_colour(terminal: bool) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return terminal and os.environ.get("TERM") != "dumb"


class OutputError(Exception):
    """Standard output or error does not take what we write; the message says why."""


class _Output:
    """Turns OSError on stdout and stderr into OutputError. A class, since a context made by a
    generator takes more time than most of what is written in it."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
            what = f"the output cannot be written: {error.strerror or error}"
            raise OutputError(what) from error


_OUTPUT = _Output()


class _Stream:
    """A stream that raises OutputError where it cannot be written."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with _OUTPUT:
            return self._stream.write(text)

    def flush(self) -> None:
        with _OUTPUT:
            self._stream.flush()


def read_stdin() -> bytes:
    """All that comes from stdin. Raises CommandFailure where it is closed."""
    if sys.stdin is None:
        raise CommandFailure("standard input is closed: nothing can be read for `-`")
    return sys.stdin.buffer.read()


def write_stdout(data: bytes) -> None:
    """Bytes to stdout, exactly and at once, so that they keep their place among stderr's lines."""
    if sys.stdout is None:
        raise OutputError("standard output is closed")
    stream, rest = sys.stdout.buffer, memoryview(data)
    with _OUTPUT:
        while rest:  # under PYTHONUNBUFFERED the stream is raw, and one call may write only a part
            rest = rest[stream.write(rest) :]
        stream.flush()


def copy_to_stdout(path: str) -> None:
    """A file's bytes to stdout, never many of them at once."""
    try:
        with open(path, "rb") as file:
            while data := file.read(1 << 20):
                write_stdout(data)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"{path}: cannot be read: {error.strerror or error}") from error


@contextmanager
def _clean_ends() -> Iterator[None]:
    """Ctrl-C, and a reader that went away (``| head``), end us as they end any other program."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        _to_nowhere()
        sys.exit(141)
    except OutputError as error:
        fail(f"error: {error}")


def fail(message: str) -> NoReturn:
    """Says why we cannot go on, if that can still be said, and ends with status 2."""
    with suppress(OSError):
        click.echo(message, err=True)
    _to_nowhere()
    sys.exit(2)


def _to_nowhere() -> None:
    """What is still buffered must not fail once more when Python flushes at its end."""
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, AttributeError):  # closed, or no real file
            os.dup2(null, stream.fileno())
