"""What the commands that use Spark share: the options that say which, and their errors' end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from sqlrewrite.cli.common import Command, Failure
from sqlrewrite.spark.session import SparkError, Target

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
