"""``lint --watch``: again whenever a file changes, until Ctrl-C.

Watches the files of SQL, the settings and the catalogs by polling their status: that needs no
package, works on network drives and in containers, and finds new files as a run does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter, sleep, strftime

from sqlrewrite.cli.files import FileOptions
from sqlrewrite.linting.selection import input_files
from sqlrewrite.report.printer import Printer
from sqlrewrite.results import ConfigError
from sqlrewrite.run.file_content import Stamp, stamps
from sqlrewrite.run.files import STDIN
from sqlrewrite.run.projects import gather
from sqlrewrite.settings.config import files_above
from sqlrewrite.warehouse import CatalogError

INTERVAL = 0.5
"""The least seconds between two looks."""

PAUSE_FACTOR = 20
"""The pause is at least this many times as long as a look, so that a large folder keeps no core
busy."""


def watch(run: Callable[[], object], options: FileOptions, err: Printer, out: Printer) -> None:
    """Runs at once and again after each change, until an exception ends it, such as Ctrl-C."""
    before = stamps(_watched(options))
    while True:
        if out.stream.isatty():
            out.stream.write("\x1b[2J\x1b[H")  # as clear does
            out.stream.flush()
        try:
            run()
        except (ConfigError, CatalogError) as error:  # which the user may mend meanwhile
            err.line(("error: ", "bold red"), (str(error), ""))
        err.line((f"{strftime('%H:%M:%S')} watching for changes; Ctrl-C ends", "dim"))
        before = _changed(before, lambda: stamps(_watched(options)))


def _changed(before: dict[str, Stamp], look: Callable[[], dict[str, Stamp]]) -> dict[str, Stamp]:
    """Waits until the files have changed. Returns their new stamps."""
    while True:
        start = perf_counter()
        now = look()
        if now != before:
            return now
        sleep(max(INTERVAL, PAUSE_FACTOR * (perf_counter() - start)))


def _watched(options: FileOptions) -> Iterator[str]:
    """The files that the result of a run depends on, whether or not they exist."""
    for path in options.paths:
        yield from files_above(path)
    if options.config is not None:
        yield options.config
    try:
        found = gather(options.paths, options.projects(), STDIN)
    except ConfigError:  # in a file of settings, which is watched
        return
    for project in found.projects:
        yield from project.files
        yield from input_files(project.settings)
