"""The command line: ``dpp-rewrite``. Commands are modules here, imported when asked for."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from errno import EDQUOT, ENOSPC
from importlib import import_module
from typing import NoReturn

import click

import sqlrewrite
from sqlrewrite.cli.common import CONTEXT, fail

COMMANDS = {
    "rewrite": "sqlrewrite.cli.rewrite",
    "lint": "sqlrewrite.cli.lint",
    "explain": "sqlrewrite.cli.explain",
    "verify": "sqlrewrite.cli.verify",
    "catalog": "sqlrewrite.cli.catalog",
    "rules": "sqlrewrite.cli.rules",
}
"""Each command's module, which holds it under the name ``command``."""


class Program(click.Group):
    """A group whose commands are imported on demand; what is no command is a path to rewrite."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, or None."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(COMMANDS[cmd_name]).command
        assert isinstance(command, click.Command)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """``dpp-rewrite q.sql`` is ``dpp-rewrite rewrite q.sql``."""
        if args and args[0] not in (*COMMANDS, "-h", "--help", "--version"):
            args = ["rewrite", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=Program,
    context_settings=CONTEXT,
    epilog="""\b
Examples:
  dpp-rewrite -c ddl.sql query.sql         print the query with its predicates
  dpp-rewrite -c ddl.sql --check queries/  in CI: exit 1 if one is missing
  dpp-rewrite -c ddl.sql -w queries/       write them into the files
  dpp-rewrite lint -c ddl.sql queries/     what keeps queries from pruning
  dpp-rewrite rules DPP101                 why was a join rejected?

A path where a command is expected means `rewrite`, whose options `dpp-rewrite rewrite -h` lists.
A path that has a command's name is written ./rules.""",
)
@click.version_option(sqlrewrite.__version__, message="%(prog)s %(version)s")
def program() -> None:
    """Writes partition-pruning predicates into Spark SQL.

    Finds the fact tables whose partitions a join with a filtered dimension could rule out, and
    inserts the predicate that lets the engine skip them. Nothing else in a query is touched.
    """


_YOUNG = 50_000
"""So many new objects before they are gone through for garbage. At Python's 700 that takes 7 % of a
run over ten thousand files of which one has changed; mypy sets it higher for the same reason."""


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Runs the program and exits with its status; whatever happens, there is no traceback."""
    gc.set_threshold(_YOUNG, 20, 20)
    try:
        program.main(args, prog_name="dpp-rewrite")
    except SystemExit as end:
        if args is None and not _has_others():
            _end(end.code)
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno in (ENOSPC, EDQUOT):  # the help, by click
            fail(f"error: the output cannot be written: {error.strerror}")
        from sqlrewrite.run.runner import internal_error

        fail(f"Error: {internal_error(error).message}")
    sys.exit(0)


def _has_others() -> bool:
    """Whether there are processes to be taken down with ours: a Java, workers."""
    pools = sys.modules.get("multiprocessing")
    return "pyspark" in sys.modules or bool(pools and pools.active_children())


def _end(status: object) -> None:
    """Ends the process at once: to take down all that it holds, object by object, would be a
    twentieth of a short run (mypy's ``hard_exit`` is the model). Where something is still to be
    said, it returns."""
    with suppress(OSError, ValueError, AttributeError):  # closed, or full
        sys.stdout.flush()
        sys.stderr.flush()
        if isinstance(status, int):
            os._exit(status)
