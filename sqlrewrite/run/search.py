"""The files that the paths of a command line mean, by project (the nearest file of settings).

A named file is always taken. A directory is searched for SQL files; git is asked which of them are
ignored, because only git reads ``.gitignore`` exactly as git does. As in ruff, one search or one
hook may have files of many projects, each with its own exclusions.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import translate
from itertools import product
from operator import add

from msgspec import Struct

from sqlrewrite.run.git import ask_git, refusal, repository
from sqlrewrite.settings.config import Projects
from sqlrewrite.settings.table import Settings
from sqlrewrite.text.hosts import SUFFIXES as HOST_SUFFIXES
from sqlrewrite.text.source import SQL_SUFFIXES

STDIN = "-"

_IGNORED = ("check-ignore", "-q", ".")
_UNREAD = re.compile(rb"^warning: could not open directory '(.*)': ", re.MULTILINE)
_LONGEST = max(map(len, SQL_SUFFIXES))

Match = Callable[[str], bool]
"""Whether a name, or a path, matches."""


class Found(Struct, frozen=True):
    """The files to read, in order and each once; the paths that do not exist or are unreadable
    folders; and ``warnings``: the folders that git did not list, with the reason."""

    files: tuple[str, ...]
    missing: tuple[str, ...]
    warnings: tuple[tuple[str, str], ...] = ()


Excluded = Callable[[str, str | None], bool]
"""Whether a file is excluded, given the searched folder, or None for a named file."""


def find(
    paths: Iterable[str],
    excluded: Excluded = lambda path, searched: False,
    by_git: Match = lambda folder: True,
    hosts: Match = lambda folder: False,
) -> Found:
    """The files that ``paths`` mean; ``-`` stands for itself. ``by_git``: whether git's ignored
    files of a folder are left out. ``hosts``: whether its Python files are included."""
    files: dict[str, str] = {}
    missing: dict[str, None] = {}
    search = _Search()
    for path in paths:
        if path == STDIN:
            files.setdefault(STDIN, STDIN)
        elif os.path.isdir(path) and os.access(path, os.R_OK | os.X_OK):
            for name, real in search.files(path, by_git=by_git(path), hosts=hosts(path)):
                if not excluded(name, path):
                    files.setdefault(real, name)
            missing |= {folder: None for folder in search.unread if not excluded(folder, path)}
            search.unread.clear()
        elif os.path.lexists(path) and not os.path.isdir(path):
            # A dangling link is reported when it is opened.
            if not excluded(path, None):
                files.setdefault(os.path.realpath(path), path)
        else:
            missing[path] = None
    return Found(tuple(files.values()), tuple(missing), tuple(search.warnings.values()))


def native(path: str) -> str:
    """A path with the system's own separators: on Windows, hooks write slashes."""
    return path.replace(os.altsep, os.sep) if os.altsep else path


class _Search:
    """A search of folders. The entries of each folder are remembered, because many files are in few
    folders. A folder's name here ends in a separator, or is empty."""

    def __init__(self) -> None:
        self.unread: list[str] = []
        self.warnings: dict[str, tuple[str, str]] = {}
        self._by_git = True
        self._suffixes: tuple[str, ...] = SQL_SUFFIXES
        self._known: dict[str, dict[str, os.DirEntry[str]]] = {}
        self._real: dict[str, str] = {}

    def files(self, path: str, *, by_git: bool, hosts: bool) -> Iterator[tuple[str, str]]:
        """The files below a folder, each with its path without links."""
        self._by_git = by_git
        self._suffixes = (*SQL_SUFFIXES, *HOST_SUFFIXES) if hosts else SQL_SUFFIXES
        plain = os.path.normpath(path)
        real = os.path.realpath(path)
        if os.path.realpath(plain) != real:  # link/.. is not where the link is
            plain = real if os.path.isabs(path) else os.path.relpath(real)
        return self._below("" if plain == os.curdir else os.path.join(plain, ""))

    def _below(self, folder: str) -> Iterator[tuple[str, str]]:
        names = self._listed(folder)
        if names is None:
            yield from self._walk(folder)
            return
        for name in sorted(names):
            path = folder + name
            cut = path.rfind(os.sep) + 1
            entry = self._entries(path[:cut]).get(path[cut:])
            if entry is None:  # deleted, but git still lists it
                continue
            if real := self._real_path(path, entry):
                yield path, real
            elif entry.is_dir(follow_symlinks=False):  # a repository within, or a copy of one
                inner = path + os.sep
                yield from self._below(inner) if self._is_top(inner) else self._walk(inner)

    def _walk(self, folder: str) -> Iterator[tuple[str, str]]:
        """The files below a folder that git does not list, in git's order."""
        waiting = self._last_first(folder)
        while waiting:
            path, entry = waiting.pop()
            if real := self._real_path(path, entry):
                yield path, real
            elif entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                inner = path + os.sep
                if self._is_top(inner):
                    yield from self._below(inner)
                else:
                    waiting += self._last_first(inner)

    def _last_first(self, folder: str) -> list[tuple[str, os.DirEntry[str]]]:
        def key(entry: os.DirEntry[str]) -> str:
            return entry.name + os.sep if entry.is_dir(follow_symlinks=False) else entry.name

        entries = sorted(self._entries(folder).values(), key=key, reverse=True)
        return [(folder + entry.name, entry) for entry in entries]

    def _is_top(self, folder: str) -> bool:
        return ".git" in self._entries(folder)

    def _real_path(self, path: str, entry: os.DirEntry[str]) -> str | None:
        """The path without links of a file to be read; None for other entries."""
        if not path[-_LONGEST:].lower().endswith(self._suffixes):
            return None
        if not entry.is_file(follow_symlinks=False):
            return os.path.realpath(path) if os.path.isfile(path) else None
        cut = path.rfind(os.sep) + 1
        above = self._real.get(path[:cut])
        if above is None:
            above = os.path.join(os.path.realpath(path[:cut] or os.curdir), "")
            self._real[path[:cut]] = above
        return above + path[cut:]

    def _entries(self, folder: str) -> dict[str, os.DirEntry[str]]:
        """The entries of a folder, by name; none if it cannot be read."""
        by_name = self._known.get(folder)
        if by_name is None:
            by_name = self._known[folder] = {}
            try:
                with os.scandir(folder or os.curdir) as entries:
                    by_name |= {entry.name: entry for entry in entries}
            except (FileNotFoundError, NotADirectoryError):  # git lists what was there
                pass
            except OSError:
                self.unread.append(folder.rstrip(os.sep))
        return by_name

    def _listed(self, folder: str) -> list[str] | None:
        """The files below a folder that git tracks or would track; a repository inside it is one
        entry. None if git is missing, refuses, or should not be asked. Also None for a folder that
        is ignored itself: it was named on purpose, such as dbt's ``target/compiled``."""
        top = repository(folder) if self._by_git else None
        if top is None:
            return None
        answer = ask_git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        if answer.returncode:
            self.warnings.setdefault(top, (folder.rstrip(os.sep) or os.curdir, refusal(answer)))
            return None
        for name in _UNREAD.findall(answer.stderr):
            path = os.path.join(top, os.fsdecode(name))
            self.unread.append(folder + os.path.relpath(path, folder or os.curdir))
        listing = answer.stdout
        if listing == b"./\0" or (not listing and not ask_git(folder, *_IGNORED).returncode):
            return None
        names = os.fsdecode(listing).replace("/", os.sep).split("\0")
        return [name.rstrip(os.sep) for name in names if name]


class Patterns:
    """Patterns of names at any depth (``archive``) or, with a slash before their end, of paths from
    a root (``etl/*.sql``, ``/etl``). ``**/`` is any number of folders, or none."""

    def __init__(self, patterns: Iterable[str], root: str) -> None:
        plain = [pattern.replace(os.sep, "/").rstrip("/") for pattern in patterns]
        whole = (
            pattern.removeprefix("./").removeprefix("/") for pattern in plain if "/" in pattern
        )
        self._names = _matcher([pattern for pattern in plain if "/" not in pattern])
        self._paths = _matcher([path for pattern in whole for path in _spelled_out(pattern)])
        self._some = bool(plain)
        self._root = root

    def match(self, path: str) -> bool:
        """Whether a pattern fits the path or a folder above it, by name or from the root."""
        folder, name = os.path.split(path)
        return self.within(folder)(name)

    def within(self, folder: str) -> Match:
        """Matches the names in a folder to which a pattern applies; all, if one applies to the
        folder."""
        names, paths = self._names, self._paths
        if not self._some:  # and on Windows a folder may be on another drive
            return _never
        below = os.path.relpath(folder or os.curdir, self._root)
        parts = [] if below == os.curdir else below.split(os.sep)
        above = ["/".join(parts[: n + 1]) for n in range(len(parts))]
        if any(map(names, parts)) or any(map(paths, above)):
            return lambda name: True
        before = f"{above[-1]}/" if above else ""
        return lambda name: names(name) or paths(before + name)


def _spelled_out(pattern: str) -> Iterator[str]:
    """The pattern without ``**/``. ``*`` also matches slashes, so only the case without a folder is
    missing."""
    pieces = re.split(r"(?<![^/])\*\*/", pattern)
    for folders in product(("", "*/"), repeat=len(pieces) - 1):
        yield pieces[0] + "".join(map(add, folders, pieces[1:]))


def _never(text: str) -> bool:
    return False


def _matcher(patterns: Sequence[str]) -> Match:
    """Whether any of the patterns fits."""
    if not patterns:
        return _never
    case = re.IGNORECASE if os.path.normcase("A") == "a" else re.NOFLAG
    fit = re.compile("|".join(map(translate, patterns)), case).match
    return lambda text: fit(text) is not None


class ProjectFiles(Struct, frozen=True):
    """Files that have the same settings."""

    settings: Settings
    files: tuple[str, ...]


class Gathered(Struct, frozen=True):
    """The projects in order of their first file, and the other fields of ``Found``."""

    projects: tuple[ProjectFiles, ...]
    missing: tuple[str, ...]
    warnings: tuple[tuple[str, str], ...]


def gather(paths: Sequence[str], projects: Projects, stdin: str) -> Gathered:
    """The files that ``paths`` mean, by project. ``stdin`` is the name for ``-``, if it has one. If
    there are no files, the result is the project of the first path, without files. With the setting
    ``force-exclude`` a project also excludes named files: a hook names all changed files, an editor
    its open one. Raises ConfigError."""
    paths, stdin = [native(path) for path in paths], native(stdin)
    excluded = _Excludes(projects)
    without = {STDIN} if stdin != STDIN and excluded(stdin, None) else set[str]()
    named = (path for path in paths if path not in without)
    searched = find(
        named,
        excluded,
        lambda folder: projects.at(folder).respect_gitignore,
        lambda folder: projects.at(folder).include_python,
    )
    by_source: dict[str | None, tuple[Settings, list[str]]] = {}
    for path in searched.files:
        settings = projects.of(stdin if path == STDIN else path)
        by_source.setdefault(settings.source, (settings, []))[1].append(path)
    if not by_source:
        settings = projects.at(stdin if paths[0] == STDIN else paths[0])
        by_source[settings.source] = (settings, [])
    gathered = (ProjectFiles(settings, tuple(files)) for settings, files in by_source.values())
    return Gathered(tuple(gathered), searched.missing, searched.warnings)


class _Excludes:
    """Whether the settings exclude a file, decided for each folder once."""

    def __init__(self, projects: Projects) -> None:
        self._projects = projects
        self._folders: dict[tuple[str, str | None], Match] = {}
        self._patterns: dict[str | None, Patterns] = {}
        self._excluded: dict[tuple[str | None, str], bool] = {}

    def __call__(self, path: str, searched: str | None) -> bool:
        cut = path.rfind(os.sep) + 1
        key = (path[:cut], searched)
        match = self._folders.get(key)
        if match is None:
            match = self._folders[key] = self._match(self._projects.of(path), path[:cut], searched)
        return match(path[cut:])

    def _match(self, settings: Settings, folder: str, searched: str | None) -> Match:
        """Matches the excluded names in a folder."""
        if searched is None and not settings.force_exclude:
            return lambda name: False
        if searched is not None and self._is_excluded(settings, searched):
            return lambda name: True
        if settings.source not in self._patterns:
            patterns = (*settings.exclude, *settings.extend_exclude)
            self._patterns[settings.source] = Patterns(patterns, settings.root)
        return self._patterns[settings.source].within(folder)

    def _is_excluded(self, settings: Settings, searched: str) -> bool:
        """Whether a project inside the searched folder is excluded by the project around it."""
        key = (settings.source, searched)
        if key not in self._excluded:
            root = os.path.abspath(settings.root)
            below = root.startswith(os.path.join(os.path.abspath(searched), ""))
            within = below and self._projects.of(root) is not settings
            self._excluded[key] = within and self(root, searched)
        return self._excluded[key]
