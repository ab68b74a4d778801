"""The commands over many files: which files these are, and the results for each in turn.

Files with the same settings form a group; most often there is only one group.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, NoReturn, TypeVar

import click
from msgspec import Struct

from sqlrewrite.catalog.ddl import read_ddl
from sqlrewrite.cli.command_options import GivenOptions
from sqlrewrite.cli.streams import progress, read_stdin, refuse_read, write_stdout
from sqlrewrite.copies import replace
from sqlrewrite.report import Printer, counted, shown
from sqlrewrite.results import Problem
from sqlrewrite.run.catalogs import load, load_catalog
from sqlrewrite.run.file_rewriting import Request
from sqlrewrite.run.jobs import WORTH, Job, run_each, run_once
from sqlrewrite.run.search import STDIN, Gathered, ProjectFiles, gather
from sqlrewrite.settings.table import Settings, section
from sqlrewrite.text.data_files import nearest
from sqlrewrite.text.source import decode

if TYPE_CHECKING:
    from sqlrewrite.run.git import ChangedFiles


MANY = 50
"""The least number of files for which there is a progress bar."""

FILES = (*section("files"), "changed_since", "show_files")
"""The options that say which files."""

REPORTED = ("format", "output_file", "statistics", "show_settings", "quiet", "verbose", "color")
"""The options that say what is reported."""

Result = TypeVar("Result")


class FileOptions(GivenOptions, frozen=True, eq=False):
    """The values of the options of every command over files."""

    paths: tuple[str, ...]
    stdin_filename: str | None
    show_settings: bool
    show_files: bool
    changed_since: str | None
    output_file: str | None
    format: str
    statistics: bool
    quiet: bool
    verbose: bool
    color: bool | None
    exit_zero: bool

    def run(self, *, strip: bool = False) -> FileRun:
        """The files of the paths, and how each is rewritten."""
        if self.quiet and self.verbose:
            raise click.UsageError("--quiet cannot go with --verbose")
        logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # our reports have what it warns of
        gathered = gather(self.paths, self.projects(), self.stdin_filename or STDIN)
        changed = None
        if self.changed_since is not None:
            gathered, changed = _only_changed(gathered, self.changed_since)
        for project in gathered.projects:
            refuse_read(self.output_file, (*project.files, *project.settings.catalog))
        if self.show_settings:
            _show_settings(gathered.projects)
        if self.show_files:
            _show_files(gathered)
        load_once = cache(load)  # once for all projects, where an option names it
        groups = []
        for project in gathered.projects:
            files = () if strip else tuple(path for path in project.files if path != STDIN)
            request = Request(
                load_catalog(project.settings, load_once, files), project.settings, strip
            )
            groups.append(FileGroup(project.settings, project.files, request))
        reads_stdin = any(STDIN in group.files for group in groups)
        stdin = read_stdin() if reads_stdin else b""
        return FileRun(self, tuple(groups), gathered.missing, gathered.warnings, changed, stdin)


class FileGroup(Struct, frozen=True, eq=False):
    """Files that have the same settings, and how each of them is rewritten."""

    settings: Settings
    files: tuple[str, ...]
    request: Request


class FileRun(Struct, frozen=True, eq=False):
    """A run over many files: its options, the files, the paths that do not exist, and folders with
    the reason why git cannot list them. ``changed`` is set by --changed-since, ``stdin`` are the
    bytes of `-`."""

    options: FileOptions
    groups: tuple[FileGroup, ...]
    missing: tuple[str, ...]
    warnings: tuple[tuple[str, str], ...]
    changed: ChangedFiles | None = None
    stdin: bytes = b""

    @property
    def count(self) -> int:
        """How many files there are."""
        return sum(len(group.files) for group in self.groups)

    @property
    def stdin_is_excluded(self) -> bool:
        """Whether `-` was given with a name that is excluded."""
        read = any(STDIN in group.files for group in self.groups)
        return STDIN in self.options.paths and not read

    @property
    def lacks_tables(self) -> bool:
        """Whether no table is known for some of the files."""
        for group in self.groups:
            catalog = group.request.catalog
            if STDIN in group.files and not catalog.relations:  # no catalog was read from it yet
                catalog = read_ddl(decode(self.stdin).text, "<stdin>", catalog)
            if group.files and not (catalog.relations or catalog.left_out):
                return True
        return False


def results(
    run: FileRun, jobs: Sequence[Job[Result]], err: Printer, title: str, *, hidden: bool
) -> Iterator[tuple[int, str, Result]]:
    """For each path the number of its group and the job's result, one at a time, so that memory
    stays flat. Shows a progress bar unless ``hidden``."""
    for path in run.missing:
        problem = Problem("io-error", f"cannot be read: {why_missing(path)}", 1, 1)
        yield 0, path, jobs[0].unread(path, problem)
    with progress(err, title, run.count, hidden=hidden or run.count < MANY) as update:
        for number, (group, job) in enumerate(zip(run.groups, jobs, strict=True)):
            for path, result in zip(group.files, _of_group(run, group, job), strict=True):
                yield number, path, result
                update(advance=1)


def _of_group(run: FileRun, group: FileGroup, job: Job[Result]) -> Iterator[Result]:
    """The job's result for each file of a group."""
    if STDIN in group.files:  # only this process can read it
        name = run.options.stdin_filename or "<stdin>"
        for path in group.files:
            yield job.of_stdin(name, run.stdin) if path == STDIN else run_once(job, path)
        return
    cached = None
    if run.count >= WORTH:
        from sqlrewrite.run.cache import cache_for

        cached = cache_for(group.request, job.cache_key)
    # An engine that is asked has one session, which only this process can use.
    processes = 1 if group.request.asks else group.settings.jobs
    yield from run_each(job, group.files, processes, cached)


def warn(run: FileRun, err: Printer) -> None:
    """Reports the folders in which .gitignore has no effect."""
    for folder, why in () if run.options.quiet else run.warnings:
        message = shown(f": git cannot list the files, so .gitignore leaves none out: {why}")
        err.line((f"{shown(folder)}: ", "bold"), ("warning", "bold yellow"), (message, ""))


def none_changed(run: FileRun, err: Printer) -> bool:
    """Whether --changed-since leaves no file, which it reports."""
    none = run.changed is not None and not run.count and not run.missing
    if none and not run.options.quiet:
        err.line((f"no file of SQL has changed since {run.options.changed_since}", ""))
    return none


NO_TABLES = ("no tables are known: pass -c, or run dpp-rewrite init", "bold yellow")


def report_left_out(run: FileRun, err: Printer) -> None:
    """Reports how much of the catalogs could not be read, and the command that lists it."""
    catalogs = {id(group.request.catalog): group.request.catalog for group in run.groups}
    count = sum(len(catalog.left_out) for catalog in catalogs.values())
    if count and not run.options.quiet:
        paths = list(
            dict.fromkeys(path for catalog in catalogs.values() for path in catalog.sources)
        )
        paths = paths or [path for path in run.options.paths if path != STDIN]
        options = " ".join(f"-c {shown(path)}" for path in paths) or "-c FOLDER"
        what = f"{counted(count, 'place')} could not be read"
        see = f"`dpp-rewrite catalog show {options}` lists them"
        err.line(("catalog: ", "bold"), (f"{what}; {see}", ""))


def _show_settings(projects: Iterable[ProjectFiles]) -> NoReturn:
    """Prints the settings of each project, with the place that each is from, and ends."""
    from sqlrewrite.settings.config import as_toml

    for project in projects:
        more = f" and {len(project.files) - 1} more" if project.files[1:] else ""
        files = f"{project.files[0]}{more}" if project.files else "no file"
        write_stdout(f"# Settings of {files}\n{as_toml(project.settings)}".encode())
    raise click.exceptions.Exit(0)


def _show_files(gathered: Gathered) -> NoReturn:
    """Prints the names of the files, and ends; with status 2 if a path does not exist."""
    for project in gathered.projects:
        write_stdout(b"".join(os.fsencode(path) + b"\n" for path in project.files))
    for path in gathered.missing:
        click.echo(f"{path}: {why_missing(path)}", err=True)
    raise click.exceptions.Exit(2 if gathered.missing else 0)


def _only_changed(gathered: Gathered, since: str) -> tuple[Gathered, ChangedFiles]:
    """The files that have changed since a revision, with their changed lines."""
    from sqlrewrite.run.git import changes

    paths = [path for project in gathered.projects for path in project.files]
    if STDIN in paths:
        raise click.UsageError("--changed-since cannot go with `-`: git does not track stdin")
    changed = changes(paths, since)
    kept = (
        replace(project, files=tuple(path for path in project.files if changed.has(path)))
        for project in gathered.projects
    )
    return replace(gathered, projects=tuple(kept)), changed


def why_missing(path: str) -> str:
    """Why a path cannot be read; it may be a misspelt command."""
    from sqlrewrite.cli.commands import COMMANDS

    if os.path.exists(path):
        return "permission denied"
    near = nearest(path, COMMANDS, 0.7)
    hint = f"; did you mean the command `dpp-rewrite {near}`?" if near else ""
    return f"no such file or directory{hint}"
