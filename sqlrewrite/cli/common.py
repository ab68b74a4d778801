"""What the commands share: options, settings and catalog from them, streams, and ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NoReturn, TextIO, TypeVar, cast

import click

from sqlrewrite.catalog import Catalog
from sqlrewrite.frozen import dataclass
from sqlrewrite.report.styled import Printer
from sqlrewrite.results import ConfigError
from sqlrewrite.run.pool import PoolError
from sqlrewrite.run.runner import Request
from sqlrewrite.settings.config import Settings, size
from sqlrewrite.settings.options import FORMS, WHENS
from sqlrewrite.text.limits import Limits
from sqlrewrite.warehouse import CatalogError, Warehouse

CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Value = TypeVar("_Value")


class CommandFailure(click.ClickException):
    """Something that could not be done: its message on stderr, and exit status 2."""

    exit_code = 2


class Command(click.Command):
    """A command whose help lists its options under the headings of ``sections``."""

    sections: Mapping[str, Sequence[str]] = {}

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command; what the user got wrong ends in a sentence, not in a traceback."""
        try:
            with _clean_ends():
                return super().invoke(ctx)
        except (ConfigError, CatalogError, PoolError) as error:
            raise CommandFailure(str(error)) from error

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes each section; options of no section come last."""
        records = {
            param.name: record
            for param in self.get_params(ctx)
            if isinstance(param, click.Option) and (record := param.get_help_record(ctx))
        }
        named = {name for names in self.sections.values() for name in names}
        rest = {"Other options": [name for name in records if name not in named]}
        for heading, names in {**self.sections, **rest}.items():
            with formatter.section(heading):
                formatter.write_dl([records[name] for name in names if name in records])


class Size(click.ParamType[int]):
    """Bytes, as ``32MB``."""

    name = "size"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        """The bytes of what was written."""
        try:
            return value if isinstance(value, int) else size(value)
        except ValueError as error:
            self.fail(f"{value!r} is not {error}", param, ctx)


def catalog_options(function: _Function) -> _Function:
    """``--catalog``, ``--schema`` and ``--config``, wherever a catalog is needed."""
    options: list[Callable[[_Function], _Function]] = [
        click.option(
            "--config", metavar="FILE", help="Settings from this file's [tool.dpp-rewrite]."
        ),
        click.option(
            "--schema", metavar="NAME", help="Current schema, where short names are looked up."
        ),
        click.option(
            "-c",
            "--catalog",
            metavar="PATH",
            multiple=True,
            help="What is known of the tables: a DDL .sql file, a directory of them, a snapshot "
            ".json, or dbt's target/manifest.json. Repeatable; later ones win.",
        ),
    ]
    for option in options:
        function = option(function)
    return function


INSERTED = ("predicate", "when", "hint", "depth", "through_facts", "key_limit")
"""The options' names that say what is inserted, for the sections of a command's help."""


def rewriting_options(function: _Function) -> _Function:
    """``--engine`` and those of ``INSERTED``, wherever a query is rewritten or judged by what a
    rewrite would make of it."""
    options: list[Callable[[_Function], _Function]] = [
        click.option(
            "--key-limit",
            type=Size(),
            help="No predicate that collects more keys than this, by the statistics.  "
            "[default: 32MB]",
        ),
        click.option(
            "--through-facts/--not-through-facts",
            default=None,
            help="Follow them through partitioned tables too.  [default: not]",
        ),
        click.option(
            "--depth",
            type=click.IntRange(0),
            help="How many joins outward a dimension's neighbours are followed.  [default: 3]",
        ),
        click.option(
            "--hint/--no-hint",
            default=None,
            help="Put /*+ BROADCAST(…) */ into the subquery.  [default: hint]",
        ),
        click.option(
            "--when",
            type=click.Choice(WHENS),
            help="Which predicates: eligible, every sound and worthwhile one; missed, only those "
            "that the engine would not derive by itself.  [default: eligible]",
        ),
        click.option(
            "--predicate",
            type=click.Choice(FORMS),
            help="Form of the predicate: in, a semi-join; set, which prunes without dynamic "
            "pruning too; range, from the smallest to the largest key; values, the keys as Spark "
            "gives them now, right until they change; auto: in, or set where an IN would not "
            "prune.  [default: in]",
        ),
        click.option(
            "--engine", metavar="NAME|FILE", help="Rules of which engine.  [default: spark]"
        ),
    ]
    for option in options:
        function = option(function)
    return function


@dataclass(frozen=True, slots=True, eq=False)
class Rewriting:
    """What ``catalog_options`` and ``rewriting_options`` were given; None where the settings
    decide."""

    catalog: tuple[str, ...]
    schema: str | None
    config: str | None
    engine: str | None
    predicate: str | None
    when: str | None
    hint: bool | None
    depth: int | None
    through_facts: bool | None
    key_limit: int | None

    def request(
        self,
        settings: Settings,
        *,
        strip: bool = False,
        load: Callable[..., Warehouse] | None = None,
        files: Sequence[str] = (),
    ) -> Request:
        """How each of ``files`` is to be rewritten: as asked, and else as settled."""

        def settled(given: _Value | None, else_: _Value) -> _Value:
            return else_ if given is None else given

        return Request(
            catalog=load_catalog(settings, self.catalog, self.schema, load, files),
            engine=settled(self.engine, settings.engine),
            predicate=settled(self.predicate, settings.predicate),
            when=settled(self.when, settings.when),
            hint=settled(self.hint, settings.hint),
            strip=strip,
            depth=settled(self.depth, settings.depth),
            through_facts=settled(self.through_facts, settings.through_facts),
            key_limit=settings.key_limit if self.key_limit is None else self.key_limit,
            limits=Limits(
                settings.file_limit,
                settings.statement_limit,
                settings.nesting_limit,
                settings.double_quoted_identifiers,
            ),
            functions=settings.functions,
        )


def colour_option(function: _Function) -> _Function:
    """``--color/--no-color``."""
    return click.option(
        "--color/--no-color",
        default=None,
        help="Colour, or none; by default as the terminal, NO_COLOR and FORCE_COLOR say.",
    )(function)


def load_catalog(
    settings: Settings,
    given: Sequence[str],
    schema: str | None,
    load: Callable[..., Warehouse] | None = None,
    files: Sequence[str] = (),
) -> Warehouse:
    """The catalog that the options name, else the settings', by ``load``; else what ``files`` show
    by themselves."""
    paths = tuple(given) or settings.catalog
    schema = schema or settings.schema
    if not paths and files:
        return Catalog.seen(*files, schema=schema)
    if not paths:
        return Warehouse().use(schema) if schema else Warehouse()
    try:
        return (load or Catalog.load)(*paths, schema=schema)
    except CatalogError as error:
        where = "" if given or settings.source is None else f" (catalog of {settings.source})"
        raise CatalogError(f"{error}{where}") from error


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
    """What tells a failure to write to them from what goes wrong with other files: a context, of
    no state, as a generator's would take more time than most of the writing."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
            what = f"the output cannot be written: {error.strerror or error}"
            raise OutputError(what) from error


_OUTPUT = _Output()


class _Stream:
    """A stream whose failures are told."""

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
