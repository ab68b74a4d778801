"""Shared by the commands that use Spark: the options that choose a Spark, the report, the files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, wraps
from importlib import metadata
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from sqlrewrite.cli.command_options import (
    Decorator,
    GivenOptions,
    ValueKindType,
    colour_option,
    combined,
    with_chosen,
)
from sqlrewrite.cli.streams import (
    CommandFailure,
    printer,
    read_stdin,
    report_unwritable,
    write_stdout,
)
from sqlrewrite.copies import replace
from sqlrewrite.report import Line, Printer
from sqlrewrite.report import rewrite as text
from sqlrewrite.results import ConfigError, Rewrite, Verdict
from sqlrewrite.run.catalogs import load_catalog, of_version
from sqlrewrite.run.file_rewriting import FileResult, Request, RewriteTask
from sqlrewrite.run.jobs import run_once
from sqlrewrite.run.search import STDIN, gather
from sqlrewrite.settings.forms import VALUES
from sqlrewrite.settings.options import Keys, Resolve, ResolveError
from sqlrewrite.settings.spark_conf import VERSION
from sqlrewrite.settings.table import Settings, section
from sqlrewrite.settings.value_kinds import SECONDS
from sqlrewrite.spark.target import SparkError, Target
from sqlrewrite.text import limits
from sqlrewrite.text.hosts import host_of
from sqlrewrite.text.source import write_file

if TYPE_CHECKING:
    from sqlrewrite.spark.session import Session


SPARK = {"Which Spark": ("master", "remote", "conf")}
REPORT = ("format", "html", "color")
REWRITES = {
    "Catalog, engine and settings": (*section("known"), "config", "isolated"),
    "What is inserted": section("inserted"),
    **SPARK,
}
"""Sections of the help of a command that rewrites and then asks Spark."""


def timeout_option(help: str, default: float | None = None) -> Decorator:
    """``--timeout`` in seconds."""
    kind = ValueKindType(SECONDS)
    shown = default is not None
    return click.option(
        "--timeout", metavar="SECONDS", type=kind, default=default, show_default=shown, help=help
    )


def spark_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--master``, ``--remote``, ``--conf``: the function is given their Target as ``where``."""

    @wraps(function)
    def command(*args: Any, master: str, remote: str, conf: Sequence[str], **given: Any) -> Any:
        return function(*args, where=_target(master, remote, conf), **given)

    return combined(
        click.option(
            "--master",
            metavar="URL",
            help="A Spark master, such as yarn or spark://host:7077.  [default: a local Spark]",
        ),
        click.option("--remote", metavar="sc://…", help="A Spark Connect server."),
        click.option(
            "--conf", metavar="KEY=VALUE", multiple=True, help="A setting of Spark. Repeatable."
        ),
    )(command)


class Report(Struct, frozen=True):
    """Where a report goes: to stdout, as text or JSON, and to an HTML page where one is named."""

    format: str
    html: str | None
    color: bool | None

    @property
    def out(self) -> Printer:
        """Stdout, for people."""
        return printer(err=False, color=self.color)

    @property
    def err(self) -> Printer:
        """Stderr."""
        return printer(err=True, color=self.color)

    def end(self, json: Callable[[], str], page: Callable[[], str]) -> None:
        """Writes the JSON report, the page, or both, as the options ask."""
        if self.format == "json":
            write_stdout(json().encode("ascii"))
        if self.html is not None:
            with report_unwritable(self.html):
                write_file(self.html, page().encode("utf-8"))


def report_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--format``, ``--html`` and ``--color``: the function is given them as ``report``."""

    @wraps(function)
    def command(*args: Any, format: str, html: str | None, color: bool | None, **given: Any) -> Any:
        return function(*args, report=Report(format, html, color), **given)

    return combined(
        click.option(
            "--format",
            type=click.Choice(["text", "json"]),
            default="text",
            show_default=True,
            help="text for people, json for programs.",
        ),
        click.option("--html", metavar="FILE", help="Also write the report as an HTML page."),
        colour_option,
    )(command)


class RewrittenFile(Struct, frozen=True):
    """A file, its rewriting, the request for it, and the result with all reasons."""

    name: str
    rewrite: Rewrite
    request: Request
    result: FileResult

    def lines(self) -> Iterator[Line]:
        """Why statements stay as they are."""
        verdicts = frozenset({Verdict.REJECTED, Verdict.ALREADY_PRUNED})
        detail = text.Detail(verdicts, plans=False)
        reasons = text.Reasons()
        yield from text.file_lines(self.result, detail, reasons)
        yield from text.more_lines(reasons, detail)


class RewrittenFiles(Struct, frozen=True):
    """The files of a path; ``failed``: one could not be read, or not be parsed."""

    files: tuple[RewrittenFile, ...]
    failed: bool = False

    @property
    def several(self) -> bool:
        """Whether each file needs a session of its own."""
        return len(self.files) > 1


def rewritten_files(err: Printer, *, path: str, where: Target, **given: Any) -> RewrittenFiles:
    """Reads and rewrites a file, or each of a folder. Raises CommandFailure for a single file."""
    projects = GivenOptions(**with_chosen(given)).projects()
    with spark_on_demand(where) as session:
        if not os.path.isdir(path):
            settings = projects.at("." if path == STDIN else path)
            request = _request(settings, session, where, ())
            file = _rewritten(path, request)
            return RewrittenFiles((file,), bool(file.rewrite.errors))
        files, failed = list[RewrittenFile](), False
        for project in gather((path,), projects, STDIN).projects:
            request = _request(project.settings, session, where, project.files)
            for name in project.files:
                try:
                    files.append(_rewritten(name, request))
                except CommandFailure as failure:
                    err.line(("error: ", "bold red"), (failure.message, ""))
                    failed = True
    if not (files or failed):
        raise CommandFailure(f"{path}: {text.NO_FILES}")
    failed = failed or any(file.rewrite.errors for file in files)
    return RewrittenFiles(tuple(files), failed)


def _request(
    settings: Settings, session: Callable[[], Session], where: Target, files: Sequence[str]
) -> Request:
    request = Request(load_catalog(settings, files=files), settings)
    request = for_spark(request, session, where)
    if settings.predicate == VALUES:
        request = replace(request, resolve=keys_from_spark(session, where, settings))
    return request


def for_spark(request: Request, session: Callable[[], Session], where: Target) -> Request:
    """The request, with Spark's version if the settings name none: that of the server, or else of
    the installed PySpark."""
    if VERSION in request.catalog.settings:
        return request
    try:
        version = session().spark.version if where.remote else metadata.version("pyspark")
    except metadata.PackageNotFoundError:  # which is an error where Spark is started
        return request
    return replace(request, catalog=of_version(request.catalog, version))


def _rewritten(path: str, request: Request) -> RewrittenFile:
    name = "<stdin>" if path == STDIN else path
    job = RewriteTask(request, plans=False, statements=True)
    result = job.of_stdin(name, read_stdin()) if path == STDIN else run_once(job, path)
    if result.failure is not None:
        raise CommandFailure(f"{name}: {result.failure.message}")
    assert result.rewrite is not None
    if result.source is None:  # too large to be read
        raise CommandFailure(f"{name}: {result.rewrite.skipped[0].message}")
    rewrite, host = result.rewrite, host_of(name, result.source.text)
    if host is not None:
        from sqlrewrite.embedded import as_sql  # not imported for a file of SQL

        rewrite = as_sql(host, request.catalog, request.options())
    return RewrittenFile(name, rewrite, request, result)


@contextmanager
def status_line(err: Printer) -> Iterator[tuple[Callable[[str], None], Callable[[], None]]]:
    """Two functions: one shows a status on stderr, if that is a terminal, one removes it."""
    with ExitStack() as shown:

        def begin(what: str) -> None:
            shown.close()
            if err.stream.isatty():
                shown.enter_context(err.console.status(what))

        yield begin, shown.close


def _target(master: str | None, remote: str | None, conf: Sequence[str]) -> Target:
    """The Spark that the options name."""
    if master and remote:
        raise click.UsageError("--master cannot go with --remote: give one of the two")
    pairs = []
    for item in conf:
        key, sign, value = item.partition("=")
        if not (key.strip() and sign):
            raise click.UsageError(f"--conf {item!r}: write KEY=VALUE")
        pairs.append((key.strip(), value))
    return Target(master, remote, tuple(pairs))


@contextmanager
def spark_on_demand(where: Target) -> Iterator[Callable[[], Session]]:
    """A function that starts a Spark at its first call, and afterwards returns the same one."""
    with ExitStack() as ends:

        @cache
        def started() -> Session:
            from sqlrewrite.spark.session import session

            return ends.enter_context(session(where))

        yield started


def keys_from_spark(session: Callable[[], Session], where: Target, settings: Settings) -> Resolve:
    """Asks Spark for keys, and starts it for the first. Raises ConfigError if it does not start."""

    @cache
    def resolver() -> Resolve:
        from sqlrewrite.spark import values

        if settings.dialect != limits.SPARK:
            raise ConfigError(
                "--predicate values asks Spark for the keys, but Spark does not read "
                f"{settings.dialect}'s SQL; in Python resolve=… asks another engine"
            )
        try:
            spark = session().spark
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
            hint = "this was a local Spark: name the one with the tables by --master or --remote"
            raise ResolveError(f"{error}; {hint}") from error

    return resolve
