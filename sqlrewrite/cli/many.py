"""What the commands over many files share: which files, and each with its result, in order."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sqlrewrite.cli.common import Rewriting
from sqlrewrite.config import Settings, load
from sqlrewrite.files import STDIN, Found, find
from sqlrewrite.frozen import dataclass
from sqlrewrite.pool import WORTH
from sqlrewrite.report.styled import Printer
from sqlrewrite.runner import Request
from sqlrewrite.work import Job, digest, each, once

if TYPE_CHECKING:
    from sqlrewrite.cache import Cache

MANY = 50
"""From so many files on there is a progress bar."""

Result = TypeVar("Result")
_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, eq=False)
class Files(Rewriting):
    """What the options over many files were given besides; None where the settings decide."""

    paths: tuple[str, ...]
    stdin_filename: str | None
    force_exclude: bool | None
    jobs: int | None
    cache: bool
    quiet: bool
    verbose: bool

    def settings(self) -> Settings:
        """What is settled for the first path, or for the name given to stdin."""
        if self.quiet and self.verbose:
            raise click.UsageError("--quiet cannot go with --verbose")
        first = self.paths[0]
        return load((self.stdin_filename or ".") if first == STDIN else first, self.config)

    def find(self, settings: Settings) -> Found:
        """The files that the paths mean."""
        force = settings.force_exclude if self.force_exclude is None else self.force_exclude
        return find(self.paths, settings.exclude, settings.root, force=force)


def exclude_option(function: _Function) -> _Function:
    """``--force-exclude``, wherever files are looked for."""
    return click.option(
        "--force-exclude/--no-force-exclude",
        default=None,
        help="Leave out what `exclude` names even where it is given by name, as a hook does.",
    )(function)


def jobs_option(function: _Function) -> _Function:
    """``-j`` and ``--cache``, wherever there may be many files."""
    function = click.option(
        "--cache/--no-cache",
        default=True,
        help="Where there are many files, remember what was found in them.  [default: cache]",
    )(function)
    return click.option(
        "-j",
        "--jobs",
        type=click.IntRange(min=1),
        metavar="N",
        help="How many files at once.  [default: as many as there are cores]",
    )(function)


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A run over many files: what was asked and is settled, which files, how each is rewritten, and
    who shows how far it is, but where that is ``hidden``."""

    asked: Files
    settings: Settings
    found: Found
    request: Request
    err: Printer
    hidden: bool


def results(
    of: Run,
    job: Job[Result],
    read: Callable[[str, bytes, Request], Result],
    *,
    kept: tuple[object, ...],
    doing: str,
) -> Iterator[Result]:
    """The job's result for each file, one at a time, so that many files take no more memory; what
    comes from stdin goes to ``read``. ``kept`` tells apart what results keep in a cache."""
    asked, request, files = of.asked, of.request, of.found.files
    with _progress(doing, len(files), of.err, hidden=of.hidden) as advance:
        done: Iterator[Result]
        if STDIN in files:  # can be read here only
            name = asked.stdin_filename or "<stdin>"
            done = (
                read(name, sys.stdin.buffer.read(), request) if path == STDIN else once(job, path)
                for path in files
            )
        else:
            cache = _open_cache(files, asked.cache, kept, request)
            # One session is asked by one process, and may answer otherwise tomorrow.
            jobs = 1 if request.asks else asked.jobs or of.settings.jobs
            done = each(job, files, jobs, cache)
        for result in done:
            yield result
            advance()


def _open_cache(
    files: Sequence[str], wanted: bool, kept: tuple[object, ...], request: Request
) -> Cache | None:
    """The cache for results of that kind, where it is wanted and there are files enough."""
    if not wanted or request.asks or len(files) < WORTH:
        return None
    from sqlrewrite.cache import Cache, fingerprint

    engine = request.engine
    if engine.endswith(".toml"):
        engine = str(digest(engine))
    choices = {**request.choices, "engine": engine}
    try:
        return Cache(fingerprint(request.catalog, kept, request.strip, choices))
    except OSError:  # the folder that we stand in is gone
        return None


def why_missing(path: str) -> str:
    """What to say of a path that leads nowhere; it may be a command, misspelt."""
    from difflib import get_close_matches

    from sqlrewrite.cli import COMMANDS

    if os.path.exists(path):
        return "cannot be read: permission denied"
    near = get_close_matches(path, COMMANDS, n=1, cutoff=0.8)
    hint = f"; did you mean the command `dpp-rewrite {near[0]}`?" if near else ""
    return f"no such file or directory{hint}"


@contextmanager
def _progress(
    doing: str, count: int, err: Printer, *, hidden: bool
) -> Iterator[Callable[[], None]]:
    """A bar on stderr where someone sits and waits; nothing at all where ``hidden``."""
    if count < MANY or hidden or not err.stream.isatty():
        yield lambda: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn(doing), BarColumn(), MofNCompleteColumn(), TextColumn("files"))
    with Progress(
        *columns,
        console=err.console,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    ) as bar:
        task = bar.add_task("", total=count)
        yield lambda: bar.advance(task)
