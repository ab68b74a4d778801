"""What the commands that use Spark share: the options that say which, the file that they work on,
and their errors' end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from sqlrewrite.cli.common import Command, Failure, Rewriting, colour_option
from sqlrewrite.config import load
from sqlrewrite.files import STDIN
from sqlrewrite.model import Rewrite
from sqlrewrite.runner import FileResult, Request, read_file, run
from sqlrewrite.schema import Catalog
from sqlrewrite.source import write_file
from sqlrewrite.spark.target import SparkError, Target

SPARK = ("master", "remote", "conf")
"""The options' names, for the sections of a command's help."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


class SparkCommand(Command):
    """A command that uses Spark: what Spark cannot do ends in a sentence, and in status 2."""

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command."""
        with spark_failures():
            return super().invoke(ctx)


def spark_options(function: _Function) -> _Function:
    """``--master``, ``--remote`` and ``--conf``."""
    options: list[Callable[[_Function], _Function]] = [
        click.option(
            "--conf",
            metavar="KEY=VALUE",
            multiple=True,
            help="A setting of Spark; repeatable.",
        ),
        click.option("--remote", metavar="sc://…", help="A Spark Connect server."),
        click.option(
            "--master",
            metavar="URL",
            help="A Spark master, as yarn or spark://host:7077.  [default: a local Spark]",
        ),
    ]
    for option in options:
        function = option(function)
    return function


def report_options(function: _Function) -> _Function:
    """``--format``, ``--html`` and ``--color``."""
    formats = click.Choice(["text", "json"])
    text = "text for people, json for programs."
    page = click.option("--html", metavar="FILE", help="Write the report as a page, too.")
    form = click.option("--format", type=formats, default="text", show_default=True, help=text)
    return form(page(colour_option(function)))


@dataclass(frozen=True, slots=True)
class Task:
    """A file rewritten, as it was asked for, and the Spark to try it on."""

    name: str
    rewrite: Rewrite
    request: Request
    target: Target

    @property
    def catalog(self) -> Catalog:
        """What is known of its tables."""
        return self.request.catalog


def task(
    *, path: str, master: str | None, remote: str | None, conf: tuple[str, ...], **given: Any
) -> Task:
    """Reads and rewrites the file. Raises Failure for one that cannot be read or parsed."""
    where, asked = target(master, remote, conf), Rewriting(**given)
    settings = load("." if path == STDIN else path, asked.config)
    request = asked.request(settings)
    data = sys.stdin.buffer.read() if path == STDIN else read_file(path)
    name = "<stdin>" if path == STDIN else path
    result = data if isinstance(data, FileResult) else run(name, data, request)
    for error in result.errors:
        raise Failure(f"{name}:{error.line}:{error.column}: {error.message}")
    assert result.rewrite is not None
    if result.source is None:  # too large to be read
        raise Failure(f"{name}: {result.rewrite.skipped[0].message}")
    return Task(name, result.rewrite, request, where)


def write_page(path: str, text: str) -> None:
    """Writes an HTML page."""
    try:
        write_file(path, text.encode("utf-8"))
    except OSError as error:
        raise Failure(f"{path}: cannot be written: {error.strerror or error}") from error


def target(master: str | None, remote: str | None, conf: Sequence[str]) -> Target:
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
def spark_failures() -> Iterator[None]:
    """Ends with a failure of Spark's as the program ends with any other."""
    try:
        yield
    except SparkError as error:
        raise Failure(str(error)) from error
