"""The commands of ``dpp-rewrite``, each a module here that is imported when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import click

import sqlrewrite
from sqlrewrite.cli.options import CONTEXT

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS = {
    "rewrite": "sqlrewrite.cli.rewrite",
    "lint": "sqlrewrite.cli.lint",
    "explain": "sqlrewrite.cli.explain",
    "verify": "sqlrewrite.cli.verify",
    "run": "sqlrewrite.cli.run",
    "audit": "sqlrewrite.cli.audit",
    "catalog": "sqlrewrite.cli.catalog",
    "init": "sqlrewrite.cli.init",
    "rules": "sqlrewrite.cli.rules",
    "server": "sqlrewrite.cli.server",
}
"""Each command's module, which holds it under the name ``command``."""


class Program(click.Group):
    """A group whose commands are imported on demand; any other word is a path to rewrite."""

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

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Completes commands, and the options and paths of ``rewrite``, the default command."""
        rewrite = self.get_command(ctx, "rewrite")
        assert rewrite is not None
        own = super().shell_complete(ctx, incomplete)
        inner = click.Context(rewrite, parent=ctx)
        known = {item.value for item in own}
        more = rewrite.shell_complete(inner, incomplete)
        found = [*own, *(item for item in more if item.value not in known)]
        paths = next(it for it in rewrite.params if it.name == "paths")
        return found or paths.shell_complete(inner, incomplete)


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

\b
A path where a command is expected means `rewrite`; its options are listed by
`dpp-rewrite rewrite -h`. A path that has a command's name is written ./rules.""",
)
@click.version_option(sqlrewrite.__version__, message="%(prog)s %(version)s")
def program() -> None:
    """Writes partition-pruning predicates into Spark SQL.

    Finds the fact tables whose partitions a join with a filtered dimension could rule out, and
    inserts the predicate that lets the engine skip them. Nothing else in a query is touched.
    """
