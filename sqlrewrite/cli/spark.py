"""What the commands that use Spark share: the options that choose a Spark, and the file that they
work on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache, wraps
from typing import TYPE_CHECKING, Any

import click

from sqlrewrite.cli import common
from sqlrewrite.cli.output import writing
from sqlrewrite.frozen import dataclass
from sqlrewrite.report.printer import Printer
from sqlrewrite.results import ConfigError, Rewrite
from sqlrewrite.run.catalogs import load_catalog
from sqlrewrite.run.files import STDIN
from sqlrewrite.run.runner import Request, RewriteTask
from sqlrewrite.run.work import once
from sqlrewrite.settings.forms import VALUES
from sqlrewrite.settings.options import Keys, Resolve, ResolveError
from sqlrewrite.settings.table import Settings
from sqlrewrite.spark.target import SparkError, Target
from sqlrewrite.text import limits
from sqlrewrite.text.hosts import host_of
from sqlrewrite.text.source import write_file

if TYPE_CHECKING:
    from sqlrewrite.spark.session import Session

# The options' names, for a section of a command's help.
SPARK = ("master", "remote", "conf")
REPORT = ("format", "html", "color")


def spark_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--master``, ``--remote``, ``--conf``: the function is given their Target as ``where``."""

    @wraps(function)
    def told(*args: Any, master: str, remote: str, conf: Sequence[str], **given: Any) -> Any:
        return function(*args, where=_target(master, remote, conf), **given)

    return common.together(
        click.option(
            "--master",
            metavar="URL",
            help="A Spark master, such as yarn or spark://host:7077.  [default: a local Spark]",
        ),
        click.option("--remote", metavar="sc://…", help="A Spark Connect server."),
        click.option(
            "--conf", metavar="KEY=VALUE", multiple=True, help="A setting of Spark; repeatable."
        ),
    )(told)


@dataclass(frozen=True, slots=True)
class Report:
    """What a report goes to: stdout, as text or JSON, and a page of HTML where one is named."""

    format: str
    html: str | None
    color: bool | None

    @property
    def out(self) -> Printer:
        """Stdout, for people."""
        return common.printer(err=False, color=self.color)

    @property
    def err(self) -> Printer:
        """Stderr."""
        return common.printer(err=True, color=self.color)

    def end(self, json: Callable[[], str], page: Callable[[], str]) -> None:
        """Writes those of both that are asked for."""
        if self.format == "json":
            common.write_stdout(json().encode("ascii"))
        if self.html is not None:
            with writing(self.html):
                write_file(self.html, page().encode("utf-8"))


def report_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--format``, ``--html`` and ``--color``: the function is given them as ``report``."""

    @wraps(function)
    def told(*args: Any, format: str, html: str | None, color: bool | None, **given: Any) -> Any:
        return function(*args, report=Report(format, html, color), **given)

    return common.together(
        click.option(
            "--format",
            type=click.Choice(["text", "json"]),
            default="text",
            show_default=True,
            help="text for people, json for programs.",
        ),
        click.option("--html", metavar="FILE", help="Also write the report as an HTML page."),
        common.colour_option,
    )(told)


@dataclass(frozen=True, slots=True)
class SparkTask:
    """A file rewritten, as it was asked for, and the Spark to try it on."""

    name: str
    rewrite: Rewrite
    request: Request
    target: Target


def task(*, path: str, where: Target, **given: Any) -> SparkTask:
    """Reads and rewrites the file. Raises CommandFailure for one that cannot be read or parsed."""
    settings = common.settings_at("." if path == STDIN else path, given)
    todo = Request(load_catalog(settings), settings)
    data = common.read_stdin() if path == STDIN else None
    name = "<stdin>" if path == STDIN else path
    with started_when_needed(where) as running:
        if settings.predicate == VALUES:
            todo = replace(todo, resolve=asking(running, where, settings))
        work = RewriteTask(todo, plans=False)
        result = once(work, path) if data is None else work(name, data)
    for error in result.errors:
        place = "" if error.code == "io-error" else f":{error.line}:{error.column}"
        raise common.CommandFailure(f"{name}{place}: {error.message}")
    assert result.rewrite is not None
    if result.source is None:  # too large to be read
        raise common.CommandFailure(f"{name}: {result.rewrite.skipped[0].message}")
    host = host_of(name, result.source.text)
    if host is None:
        return SparkTask(name, result.rewrite, todo, where)
    from sqlrewrite.embedded import as_sql  # a file of SQL has no need of it

    return SparkTask(name, as_sql(host, todo.catalog, todo.options()), todo, where)


@contextmanager
def waiting(err: Printer) -> Iterator[tuple[Callable[[str], None], Callable[[], None]]]:
    """What says on stderr, where someone sits and waits, what is being done, and what takes that
    away again."""
    with ExitStack() as shown:

        def begin(what: str) -> None:
            shown.close()
            if err.stream.isatty():
                shown.enter_context(err.console.status(what))

        yield begin, shown.close


def _target(master: str | None, remote: str | None, conf: Sequence[str]) -> Target:
    """The Spark that the options name."""
    if master and remote:
        raise click.UsageError("--master cannot go with --remote: give one of them")
    pairs = []
    for item in conf:
        key, sign, value = item.partition("=")
        if not (key.strip() and sign):
            raise click.UsageError(f"--conf {item!r}: write KEY=VALUE")
        pairs.append((key.strip(), value))
    return Target(master, remote, tuple(pairs))


@contextmanager
def started_when_needed(where: Target) -> Iterator[Callable[[], Session]]:
    """What starts a Spark when it is called first, and gives the same one from then on; it ends
    with the block."""
    with ExitStack() as ends:

        @cache
        def running() -> Session:
            from sqlrewrite.spark.session import session

            return ends.enter_context(session(where))

        yield running


def asking(running: Callable[[], Session], where: Target, settings: Settings) -> Resolve:
    """What asks a Spark for the keys of ``--predicate values``, and starts it for the first. Raises
    ConfigError where it does not start: that concerns no single statement."""

    @cache
    def resolver() -> Resolve:
        from sqlrewrite.spark import values

        if settings.dialect != limits.SPARK:
            raise ConfigError(
                "--predicate values asks Spark for the keys, but Spark does not read "
                f"{settings.dialect}'s SQL; in Python resolve=… asks another engine"
            )
        try:
            spark = running().spark
        except SparkError as error:
            raise ConfigError(f"--predicate values asks Spark for the keys: {error}") from error
        return values.resolver(
            spark, collapse_over=settings.collapse_over, refuse_over=settings.refuse_over
        )

    def resolve(query: str, namespace: tuple[str, ...]) -> Keys | None:
        try:
            return resolver()(query, namespace)
        except ResolveError as error:
            if not where.embedded:
                raise
            hint = "a local Spark was asked: name the one with the tables by --master or --remote"
            raise ResolveError(f"{error}; {hint}") from error

    return resolve
