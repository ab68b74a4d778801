"""``dpp-rewrite server``: a language server, for editors."""

from __future__ import annotations

from typing import Any

import click

from sqlrewrite.cli.options import Command, GivenOptions, setting_options, with_chosen
from sqlrewrite.cli.streams import CommandFailure

_MISSING = "the server needs pygls: pip install 'pygls>=2,<3' lsprotocol"


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
@click.option("--stdio", is_flag=True, hidden=True, help="What there is; editors say so.")
def command(stdio: bool, **given: Any) -> None:
    """Speaks the Language Server Protocol on stdin and stdout.

    The server lints open files while you type, offers fixes, and shows what prunes a table.
    Settings and catalog are found for each open file as the command `lint` finds them.
    """
    options = GivenOptions(**with_chosen(given))
    options.projects()  # reports mistakes in the settings at once
    try:
        from sqlrewrite.server.protocol import make
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol", "attrs", "cattrs"):
            raise
        raise CommandFailure(_MISSING) from error
    make(options.config, options.chosen, isolated=options.isolated).start_io()
