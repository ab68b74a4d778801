"""The command line, ``dpp-rewrite``: how a run begins and ends. ``commands`` has the commands."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from contextlib import suppress
from errno import EDQUOT, ENOSPC
from typing import NoReturn


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Runs the program and exits with its status; whatever happens, there is no traceback."""
    gc.disable()  # the objects that imports make all stay
    try:
        from sqlrewrite.cli.commands import program
        from sqlrewrite.cli.streams import fail
    except KeyboardInterrupt:  # during the imports click cannot report it
        with suppress(OSError):
            sys.stderr.write("interrupted\n")
        sys.exit(130)
    gc.freeze()
    gc.enable()
    try:
        program.main(args, prog_name="dpp-rewrite")
    except Exception as error:
        if isinstance(error, OSError) and error.errno in (ENOSPC, EDQUOT):  # of click's help
            fail(f"error: the output cannot be written: {error.strerror}")
        from sqlrewrite.run.runner import internal_error

        fail(f"Error: {internal_error(error).message}")
    sys.exit(0)
