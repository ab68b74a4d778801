"""The commands of ``dpp-rewrite``, imported when they are used; and the small ones themselves."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

import sqlrewrite
from sqlrewrite import rulebook
from sqlrewrite.cli.command_options import (
    CONTEXT,
    Command,
    GivenOptions,
    colour_option,
    completing,
    setting_options,
    with_chosen,
)
from sqlrewrite.cli.streams import CommandFailure, printer
from sqlrewrite.report import print_markdown, print_table

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


COMMANDS = {
    "rewrite": "rewrite",
    "lint": "lint",
    "explain": "spark_commands",
    "verify": "spark_commands",
    "run": "spark_commands",
    "audit": "audit",
    "catalog": "catalog",
    "init": "init",
    "rules": "commands",
    "server": "commands",
}
"""Each command's module here, which has it as ``<name>_command``."""


class Program(click.Group):
    """A group whose commands are imported on demand; any other word is a path to rewrite."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, or None."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"sqlrewrite.cli.{COMMANDS[cmd_name]}")
        command = getattr(module, f"{cmd_name}_command")
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
        values = {item.value for item in own}
        more = rewrite.shell_complete(inner, incomplete)
        items = [*own, *(item for item in more if item.value not in values)]
        paths = next(param for param in rewrite.params if param.name == "paths")
        return items or paths.shell_complete(inner, incomplete)


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
`dpp-rewrite q.sql` is `dpp-rewrite rewrite q.sql`, and takes the options of
`rewrite`. For a file with a command's name write ./rules.""",
)
@click.version_option(sqlrewrite.__version__, message="%(prog)s %(version)s")
def program() -> None:
    """Writes partition-pruning predicates into Spark SQL.

    Where a partitioned table is joined with a filtered one on its partition column, this inserts
    the predicate by which the engine skips partitions. Nothing else in a query is touched.
    """


@click.command(
    "rules",
    cls=Command,
    short_help="List the rules, or explain one.",
    context_settings=CONTEXT,
    epilog="""\b
Examples:
  dpp-rewrite rules                 all of them
  dpp-rewrite rules DPP101          one, with its reasons and examples""",
)
@click.argument(
    "code",
    required=False,
    shell_complete=completing(lambda: (page.code for page in rulebook.pages())),
)
@colour_option
def rules_command(code: str | None, color: bool | None) -> None:
    """Lists the rules, or explains one: why it is there, examples, and what to do.

    CODE is a rule's code, such as DPP101, or its name, such as join-type.
    """
    from difflib import get_close_matches

    rules = rulebook.pages()
    out = printer(err=False, color=color)
    if code is None:
        rows = [(rule.code, rule.name, rule.kind, rule.summary) for rule in rules]
        print_table(out, ("code", "name", "kind", "summary"), rows)
        return
    upper, lower = code.upper(), code.lower()
    for rule in rules:
        if upper == rule.code.upper() or lower == rule.name.lower():
            print_markdown(out, rule.text)
            return
    near = get_close_matches(upper, [rule.code for rule in rules])
    near = near or get_close_matches(lower, [rule.name for rule in rules])
    near.sort(key=lambda word: word[:5] != upper[:5])  # the same family first
    hint = f"; did you mean {near[0]}?" if near else ""
    what = f"there is no rule {code!r}{hint}"
    raise CommandFailure(f"{what} (`dpp-rewrite rules` lists them all)")


@click.command(
    "server",
    cls=Command,
    short_help="Show findings and fixes in an editor while you type.",
    epilog="""\b
Examples:
  dpp-rewrite server                    what an editor starts
  dpp-rewrite server --config dpp.toml  with settings from this file""",
)
@setting_options("server")
@click.option("--stdio", is_flag=True, hidden=True, help="Editors give it; there is no other way.")
def server_command(stdio: bool, **given: Any) -> None:
    """Speaks the Language Server Protocol on stdin and stdout.

    The server lints open files while you type, offers fixes, and shows what prunes a table.
    It finds the settings and the catalog of each open file as `dpp-rewrite lint` does.
    """
    options = GivenOptions(**with_chosen(given))
    options.projects()  # reports mistakes in the settings at once
    try:
        from sqlrewrite.server.protocol import make
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol", "attrs", "cattrs"):
            raise
        what = "the server needs pygls and lsprotocol: pip install 'pygls>=2,<3' lsprotocol"
        raise CommandFailure(what) from error
    make(options.config, options.chosen, isolated=options.isolated).start_io()
