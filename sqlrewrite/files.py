"""Which files the paths of a command line mean.

A file is always taken. A directory is searched for ``*.sql``; git is asked which of them it
ignores, since nobody else reads ``.gitignore`` as git does. In come paths, out go file names.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch

STDIN = "-"


@dataclass(frozen=True, slots=True)
class Found:
    """The files to read, in order and each once, and the paths that lead nowhere."""

    files: tuple[str, ...]
    missing: tuple[str, ...]


def find(
    paths: Iterable[str], exclude: Sequence[str] = (), root: str = ".", *, force: bool = False
) -> Found:
    """The files that ``paths`` mean; ``-`` stands for itself.

    ``exclude`` are patterns of names (``archive``) or of paths from ``root`` (``etl/*.sql``) that a
    search leaves out; with ``force`` they leave out named files too: a hook names all that changed.
    """
    files: dict[str, str] = {}
    missing: list[str] = []
    for path in paths:
        if path == STDIN:
            files.setdefault(STDIN, STDIN)
        elif os.path.isdir(path):
            for name in _search(path):
                if not (exclude and matches(name, exclude, root)):
                    files.setdefault(os.path.realpath(name), name)
        elif os.path.lexists(path):  # a dangling link is reported by the one who opens it
            if not (force and exclude and matches(path, exclude, root)):
                files.setdefault(os.path.realpath(path), path)
        else:
            missing.append(path)
    return Found(tuple(files.values()), tuple(missing))


def _search(folder: str) -> Iterator[str]:
    names = _listed_by_git(folder)
    if names is None:
        names = _walk(folder)
    for name in sorted(names):
        path = os.path.normpath(os.path.join(folder, name))
        if os.path.isdir(path):
            if not os.path.islink(path):  # a repository within the repository
                yield from _search(path)
        elif path.lower().endswith(".sql") and os.path.isfile(path):
            yield path


def _listed_by_git(folder: str) -> list[str] | None:
    """What git tracks or would track below ``folder``; None where there is no git to ask.

    A folder that is itself ignored was named on purpose (dbt's ``target/compiled``): None too.
    """
    if not _in_work_tree(folder):
        return None
    listing = _git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if listing is None or (not listing and _git(folder, "check-ignore", "-q", ".") is not None):
        return None
    return [os.fsdecode(name) for name in listing.split(b"\0") if name]


def _in_work_tree(folder: str) -> bool:
    """Whether a ``.git`` stands above: much quicker than starting git to hear that it does not."""
    above = os.path.abspath(folder)
    while not os.path.exists(os.path.join(above, ".git")):
        parent = os.path.dirname(above)
        if parent == above:
            return False
        above = parent
    return True


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
        found += (os.path.relpath(os.path.join(here, name), folder) for name in names)
    return found


def matches(path: str, patterns: Sequence[str], root: str) -> bool:
    """Whether a pattern fits the path or a folder above it, by name or from the root."""
    parts = os.path.relpath(path, root).split(os.sep)
    above = ["/".join(parts[: n + 1]) for n in range(len(parts))]
    return any(
        fnmatch(part, pattern) or fnmatch(whole, pattern)
        for pattern in (pattern.strip("/") for pattern in patterns)
        for part, whole in zip(parts, above, strict=True)
    )
