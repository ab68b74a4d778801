"""``dpp-rewrite server``: a language server, for editors."""

from __future__ import annotations

from typing import Any

import click

from sqlrewrite.cli.common import Command, CommandFailure, Given, setting_options, sorted_out

_MISSING = "the server needs pygls: pip install 'dpp-rewrite[server]'"


@click.command(
    "server",
    cls=Command,
    short_help="Findings and fixes in an editor, as one types.",
    epilog="""\b
Examples:
  dpp-rewrite server                    what an editor starts
  dpp-rewrite server --config dpp.toml  with settings from this file""",
)
@setting_options("server")
@click.option("--stdio", is_flag=True, hidden=True, help="What there is; editors say so.")
def command(stdio: bool, **given: Any) -> None:
    """Speaks the Language Server Protocol on stdin and stdout.

    Settings and catalog are those of the files that are open, as for `dpp-rewrite lint`. It is told
    what each file holds as it is typed, offers fixes, and says of a table what prunes it.
    """
    asked = Given(**sorted_out(given))
    asked.projects()  # what is wrong with the settings is said now
    try:
        from sqlrewrite.server.protocol import make
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol", "attrs", "cattrs"):
            raise
        raise CommandFailure(_MISSING) from error
    make(asked.config, asked.chosen, isolated=asked.isolated).start_io()
