"""Which files the paths of a command line mean.

A file is always taken. A directory is searched for ``*.sql``; git is asked which of them it
ignores, since nobody else reads ``.gitignore`` as git does. In come paths, out go file names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from fnmatch import translate
from itertools import product
from operator import add

from sqlrewrite.frozen import dataclass

STDIN = "-"

_NOTHING = "(?!)"
"""What fits no text."""


@dataclass(frozen=True, slots=True)
class Found:
    """The files to read, in order and each once, and the paths that lead nowhere, or to a folder
    that cannot be read."""

    files: tuple[str, ...]
    missing: tuple[str, ...]


Excluded = Callable[[str, str | None], bool]
"""Whether a file is left out, asked with the folder that is searched, or None for a named file."""


def find(paths: Iterable[str], excluded: Excluded = lambda path, searched: False) -> Found:
    """The files that ``paths`` mean; ``-`` stands for itself."""
    files: dict[str, str] = {}
    missing: list[str] = []
    folders = _Folders()
    for path in paths:
        if path == STDIN:
            files.setdefault(STDIN, STDIN)
        elif os.path.isdir(path) and os.access(path, os.R_OK | os.X_OK):
            for name, real in _search(path, folders):
                if not excluded(name, path):
                    files.setdefault(real, name)
        elif os.path.lexists(path) and not os.path.isdir(path):
            # A dangling link is reported by the one who opens it.
            if not excluded(path, None):
                files.setdefault(os.path.realpath(path), path)
        else:
            missing.append(path)
    return Found(tuple(files.values()), tuple(missing))


class _Folders:
    """What the file system says of folders, each asked once: many files lie in few of them."""

    def __init__(self) -> None:
        self._entries: dict[str, dict[str, os.DirEntry[str]]] = {}
        self._real: dict[str, str] = {}

    def entries(self, folder: str) -> dict[str, os.DirEntry[str]]:
        """What lies in a folder, by name; nothing where it cannot be read."""
        found = self._entries.get(folder)
        if found is None:
            try:
                with os.scandir(folder or os.curdir) as entries:
                    found = {entry.name: entry for entry in entries}
            except OSError:
                found = {}
            self._entries[folder] = found
        return found

    def real(self, folder: str) -> str:
        """A folder's path without links in it, fit to be followed by a name."""
        if folder not in self._real:
            self._real[folder] = os.path.join(os.path.realpath(folder or os.curdir), "")
        return self._real[folder]


def _search(folder: str, folders: _Folders) -> Iterator[tuple[str, str]]:
    """The files below a folder, each with its path without links."""
    names = _listed_by_git(folder)
    if names is None:
        names = _walk(folder)
    before = os.path.join(os.path.normpath(folder), "").removeprefix(os.path.join(os.curdir, ""))
    for name in sorted(names):
        path = before + name
        cut = path.rfind(os.sep) + 1
        above, last = path[:cut], path[cut:]
        entry = folders.entries(above).get(last)
        if entry is None:  # deleted, and git still lists it
            continue
        wanted = path[-4:].lower() == ".sql"
        if wanted and entry.is_file(follow_symlinks=False):
            yield path, folders.real(above) + last
        elif entry.is_dir(follow_symlinks=False):  # a repository within the repository
            yield from _search(path, folders)
        elif wanted and os.path.isfile(path):
            yield path, os.path.realpath(path)


def _listed_by_git(folder: str) -> list[str] | None:
    """What git tracks or would track below ``folder``, a repository in it without what it holds;
    None where there is no git to ask.

    A folder that is itself ignored was named on purpose (dbt's ``target/compiled``): None too.
    """
    if repository(folder) is None:
        return None
    listing = _git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if listing is None or (not listing and _git(folder, "check-ignore", "-q", ".") is not None):
        return None
    names = os.fsdecode(listing).replace("/", os.sep).split("\0")
    return [name.rstrip(os.sep) for name in names if name]


def repository(folder: str) -> str | None:
    """The folder with the ``.git`` above, None where none is: much quicker than starting git."""
    above = os.path.abspath(folder)
    while not os.path.exists(os.path.join(above, ".git")):
        parent = os.path.dirname(above)
        if parent == above:
            return None
        above = parent
    return above


def _git(folder: str, *arguments: str) -> bytes | None:
    import subprocess

    # In a hook GIT_DIR and its like are set, relative to another folder.
    clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", folder, *arguments], capture_output=True, env=clean, check=False
        )
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def _walk(folder: str) -> list[str]:
    found: list[str] = []
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        below = os.path.relpath(here, folder)
        before = "" if below == os.curdir else os.path.join(below, "")
        found += (before + name for name in names)
    return found


class Patterns:
    """Patterns of names at any depth (``archive``) or, with a slash before their end, of paths from
    a root (``etl/*.sql``, ``/etl``), in which ``**/`` is any number of folders, none among them."""

    def __init__(self, patterns: Iterable[str], root: str) -> None:
        plain = [pattern.replace(os.sep, "/").rstrip("/") for pattern in patterns]
        whole = (it.removeprefix("./").removeprefix("/") for it in plain if "/" in it)
        self._names = _matcher(it for it in plain if "/" not in it)
        self._paths = _matcher(path for it in whole for path in _spelled_out(it))
        self._some = bool(plain)
        self._root = root
        self._folders: dict[str, tuple[str, bool]] = {}

    def match(self, path: str) -> bool:
        """Whether a pattern fits the path or a folder above it, by name or from the root."""
        if not self._some:
            return False
        cut = path.rfind(os.sep) + 1
        folder, name = path[:cut], path[cut:]
        if folder not in self._folders:
            self._folders[folder] = self._of_folder(folder or os.curdir)
        before, matched = self._folders[folder]
        return matched or self._fit(name, before + name)

    def _of_folder(self, folder: str) -> tuple[str, bool]:
        """The beginning of what lies in a folder, as patterns say it; whether all of it matches."""
        below = os.path.relpath(folder, self._root)
        if below == os.curdir:
            return "", False
        parts = below.split(os.sep)
        above = ["/".join(parts[: n + 1]) for n in range(len(parts))]
        return f"{above[-1]}/", any(map(self._fit, parts, above))

    def _fit(self, name: str, whole: str) -> bool:
        return bool(self._names(name) or self._paths(whole))


def _spelled_out(pattern: str) -> Iterator[str]:
    """The same without ``**/``: a ``*`` fits slashes too, and so folders, but not none at all."""
    pieces = re.split(r"(?<![^/])\*\*/", pattern)
    for folders in product(("", "*/"), repeat=len(pieces) - 1):
        yield pieces[0] + "".join(map(add, folders, pieces[1:]))


def _matcher(patterns: Iterable[str]) -> Callable[[str], object]:
    """What fits any of the patterns."""
    case = re.IGNORECASE if os.path.normcase("A") == "a" else re.NOFLAG
    return re.compile("|".join(map(translate, patterns)) or _NOTHING, case).match
