"""The command line, ``dpp-rewrite``: how a run begins and ends. ``commands`` has the commands."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from errno import EDQUOT, ENOSPC
from typing import NoReturn

_YOUNG = 50_000
"""How many new objects trigger a garbage collection. With Python's 700 that takes 7 % of a run over
ten thousand files of which one has changed; mypy sets it higher for the same reason."""


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Runs the program and exits with its status; whatever happens, there is no traceback."""
    gc.disable()  # during the imports, whose objects all stay
    try:
        from sqlrewrite.cli.commands import program
        from sqlrewrite.cli.streams import fail
    except KeyboardInterrupt:  # during the imports click cannot report it
        with suppress(OSError):
            sys.stderr.write("interrupted\n")
        sys.exit(130)

    gc.freeze()
    gc.set_threshold(_YOUNG, 20, 20)
    gc.enable()
    try:
        program.main(args, prog_name="dpp-rewrite")
    except SystemExit as end:
        if args is None and not _has_others():
            _end(end.code)
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno in (
            ENOSPC,
            EDQUOT,
        ):  # when click prints the help
            fail(f"error: the output cannot be written: {error.strerror}")
        from sqlrewrite.run.file_rewriting import internal_error

        fail(f"Error: {internal_error(error).message}")
    sys.exit(0)


def _has_others() -> bool:
    """Whether there are child processes that must end with this one: Spark's Java, workers."""
    pools = sys.modules.get("multiprocessing")
    return "pyspark" in sys.modules or bool(pools and pools.active_children())


def _end(status: object) -> None:
    """Ends the process at once, like mypy's ``hard_exit``: freeing the objects one by one would
    take a twentieth of a short run. Returns only if the output cannot be flushed."""
    with suppress(OSError, ValueError, AttributeError):  # closed, or full
        sys.stdout.flush()
        sys.stderr.flush()
        if isinstance(status, int):
            os._exit(status)
