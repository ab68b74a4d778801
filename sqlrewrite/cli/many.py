"""What the commands over many files share: finding the files, and their results in order.

Files with the same settings form a group; most often there is only one group.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, NoReturn, TypeVar

import click

from sqlrewrite.catalog import Catalog
from sqlrewrite.cli import common
from sqlrewrite.cli.output import refuse_read
from sqlrewrite.frozen import dataclass
from sqlrewrite.report.printer import Printer, shown
from sqlrewrite.results import Problem
from sqlrewrite.run.catalogs import load_catalog
from sqlrewrite.run.files import STDIN
from sqlrewrite.run.pool import WORTH
from sqlrewrite.run.projects import Gathered, ProjectFiles, gather
from sqlrewrite.run.runner import Request
from sqlrewrite.run.work import Job, digest, each, once
from sqlrewrite.settings.table import Settings, decisive, section
from sqlrewrite.text.nearest import nearest

if TYPE_CHECKING:
    from sqlrewrite.run.cache import Cache
    from sqlrewrite.run.changed import ChangedFiles
    from sqlrewrite.run.statistics import Statistics

MANY = 50
"""From so many files on there is a progress bar."""

FILES = (*section("files"), "changed_since", "show_files")
"""The options that say which files."""

SHOWN = ("format", "output_file", "statistics", "show_settings", "quiet", "verbose", "color")
"""Those that say what is reported."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False)
class Files(common.Given):
    """What the options over many files were given besides."""

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

    def run(self, *, strip: bool = False) -> Run:
        """The files that the paths mean, and how each is to be rewritten."""
        if self.quiet and self.verbose:
            raise click.UsageError("--quiet cannot go with --verbose")
        logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # we report what it warns of
        found = gather(self.paths, self.projects(), self.stdin_filename or STDIN)
        changed = None
        if self.changed_since is not None:
            found, changed = _only_changed(found, self.changed_since)
        for it in found.projects:
            refuse_read(self.output_file, (*it.files, *it.settings.catalog))
        if self.show_settings:
            _show(found.projects)
        if self.show_files:
            _show_files(found)
        load = cache(Catalog.load)  # one that an option names is that of all
        groups = []
        for it in found.projects:
            seen = () if strip else tuple(path for path in it.files if path != STDIN)
            todo = Request(load_catalog(it.settings, load, seen), it.settings, strip)
            groups.append(Group(it.settings, it.files, todo))
        return Run(self, tuple(groups), found.missing, found.warnings, changed)


def _show(projects: Iterable[ProjectFiles]) -> NoReturn:
    """Prints the settings of each project, with where each was said, and ends."""
    from sqlrewrite.settings.documentation import as_toml

    for it in projects:
        files = f"{it.files[0]} and {len(it.files) - 1} more" if it.files[1:] else "".join(it.files)
        common.write_stdout(f"# Settings of {files or 'no file'}\n{as_toml(it.settings)}".encode())
    raise click.exceptions.Exit(0)


def _show_files(found: Gathered) -> NoReturn:
    """Prints the names of the files, and ends; with status 2 where a path leads nowhere."""
    for it in found.projects:
        common.write_stdout(b"".join(os.fsencode(path) + b"\n" for path in it.files))
    for path in found.missing:
        click.echo(f"{path}: {why_missing(path)}", err=True)
    raise click.exceptions.Exit(2 if found.missing else 0)


def _only_changed(found: Gathered, since: str) -> tuple[Gathered, ChangedFiles]:
    """The files that have changed since a revision, and what has changed in them."""
    from sqlrewrite.run.changed import changes

    paths = [path for it in found.projects for path in it.files]
    if STDIN in paths:
        raise click.UsageError("--changed-since cannot go with `-`: git knows nothing of stdin")
    changed = changes(paths, since)
    kept = (
        replace(it, files=tuple(path for path in it.files if changed.has(path)))
        for it in found.projects
    )
    return replace(found, projects=tuple(kept)), changed


def file_options(
    formats: Sequence[str], form: str, statistics: str, quiet: str, verbose: str
) -> common.Decorator:
    """The paths of a command over files, and its options that are no settings of a project, with
    the help of those that it has in words of its own."""
    return common.together(
        click.argument(
            "paths", nargs=-1, required=True, type=click.Path(readable=False), metavar="PATHS..."
        ),
        click.option("--stdin-filename", metavar="PATH", help="The name to report for `-`."),
        click.option(
            "--show-settings",
            is_flag=True,
            help="Print the settings of the files and where each is set; do nothing else.",
        ),
        click.option(
            "--show-files", is_flag=True, help="Print the names of the files; do nothing else."
        ),
        click.option(
            "--changed-since",
            metavar="REF",
            help="Only files that have changed since this branch left REF, such as origin/main; "
            "lint: only findings in changed statements.",
        ),
        click.option(
            "-o",
            "--output-file",
            type=click.Path(readable=False),
            metavar="FILE",
            help="Write the output to this file, not to stdout.",
        ),
        click.option(
            "--format", type=click.Choice(formats), default="text", show_default=True, help=form
        ),
        click.option("--statistics", is_flag=True, help=statistics),
        click.option("-q", "--quiet", is_flag=True, help=quiet),
        click.option("-v", "--verbose", is_flag=True, help=verbose),
        common.colour_option,
        click.option("--exit-zero", is_flag=True, help="Exit 0 whatever is found in the files."),
    )


def statistics(wanted: bool) -> Statistics | None:
    """What counts, where that is wanted."""
    if not wanted:
        return None
    from sqlrewrite.run.statistics import Statistics

    return Statistics()


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Files that have the same settings, and how each of them is rewritten."""

    settings: Settings
    files: tuple[str, ...]
    request: Request


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A run over many files: what was asked, the files, the paths that lead nowhere, and folders
    with the reason why git would not list them; ``changed`` is what has, where only that counts."""

    asked: Files
    groups: tuple[Group, ...]
    missing: tuple[str, ...]
    warnings: tuple[tuple[str, str], ...]
    changed: ChangedFiles | None = None

    @property
    def count(self) -> int:
        """How many files there are."""
        return sum(len(group.files) for group in self.groups)

    @property
    def passed_on(self) -> bool:
        """Whether what comes from stdin is left out for its name, and to be left as it is."""
        read = any(STDIN in group.files for group in self.groups)
        return STDIN in self.asked.paths and not read

    @property
    def known(self) -> bool:
        """Whether each of them has a catalog with something in it, were it only remarks."""
        catalogs = (group.request.catalog for group in self.groups)
        return all(it.relations or it.left_out for it in catalogs)


def warn(of: Run, err: Printer) -> None:
    """Says where files may be taken that git would leave out."""
    for folder, why in () if of.asked.quiet else of.warnings:
        said = shown(f" git lists no files, none is left out by .gitignore: {why}")
        err.line((f"{shown(folder)}: ", "bold"), ("warning", "bold yellow"), (said, ""))


def none_changed(of: Run, err: Printer) -> bool:
    """Whether no file has changed, where only such count; it is said."""
    none = of.changed is not None and not of.count and not of.missing
    if none and not of.asked.quiet:
        err.line((f"no file of SQL has changed since {of.asked.changed_since}", ""))
    return none


def tell_left_out(of: Run, err: Printer) -> None:
    """Says in a line that something of the catalogs could not be read, and what lists it."""
    catalogs = {id(group.request.catalog): group.request.catalog for group in of.groups}
    count = sum(len(catalog.left_out) for catalog in catalogs.values())
    if count and not of.asked.quiet:
        paths = list(dict.fromkeys(path for it in catalogs.values() for path in it.sources))
        paths = paths or [it for it in of.asked.paths if it != STDIN]
        options = " ".join(f"-c {shown(path)}" for path in paths) or "-c FOLDER"
        what = f"{count:,} {'remark' if count == 1 else 'remarks'} on what it could not read"
        err.line(("catalog: ", "bold"), (f"{what}: dpp-rewrite catalog show {options}", ""))


def results(
    of: Run, group: Group, job: Job[Result], read: Job[Result], *, kept: tuple[object, ...]
) -> Iterator[Result]:
    """The job's result for each file of a group, one at a time, so that many take no more memory;
    what comes from stdin goes to ``read``. ``kept`` tells apart what results keep in a cache."""
    asked, request, files = of.asked, group.request, group.files
    if STDIN in files:  # can be read here only
        name = asked.stdin_filename or "<stdin>"
        for path in files:
            if path == STDIN:
                yield read(name, common.read_stdin())
            else:
                yield once(job, path)
        return
    # One session is asked by one process, and may answer otherwise tomorrow.
    remembers = group.settings.cache and not request.asks
    known = _open_cache(of.count, kept, request) if remembers else None
    jobs = 1 if request.asks else group.settings.jobs
    yield from each(job, files, jobs, known)


def _open_cache(count: int, kept: tuple[object, ...], request: Request) -> Cache | None:
    """The cache for results of that kind, where there are files enough."""
    if count < WORTH:
        return None
    from sqlrewrite.run.cache import Cache, fingerprint

    choices = decisive(request.settings)
    if request.settings.engine.endswith(".toml"):
        choices["engine"] = str(digest(request.settings.engine))
    # No result depends on where a catalog was read, which each folder one stands in names anew.
    known = {name: replace(it, source="") for name, it in request.catalog.relations.items()}
    placeless = replace(request.catalog, relations=known, sources=(), left_out=())
    try:
        return Cache(fingerprint(placeless, kept, request.strip, choices))
    except OSError:  # the folder that we stand in is gone
        return None


def why_missing(path: str) -> str:
    """What to say of a path that leads nowhere; it may be a command, misspelt."""
    from sqlrewrite.cli.commands import COMMANDS

    if os.path.exists(path):
        return "permission denied"
    near = nearest(path, COMMANDS, 0.7)
    hint = f"; did you mean the command `dpp-rewrite {near}`?" if near else ""
    return f"no such file or directory{hint}"


def missing(path: str) -> Problem:
    """The same for a report of the file."""
    return Problem("io-error", f"cannot be read: {why_missing(path)}", 1, 1)
