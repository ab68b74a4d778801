"""The files and lines that have changed since a revision, according to git.

Changes are counted from the common ancestor of the revision and HEAD, as in a pull request, and
include uncommitted ones; an untracked file counts as new.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from sqlrewrite.results import ConfigError

if TYPE_CHECKING:
    from subprocess import CompletedProcess

Stretch = tuple[int, int]
"""The first and the last changed line. For removed lines: the lines before and after them, so that
the statement around them counts as changed."""

WHOLE: tuple[Stretch, ...] = ((1, 1 << 60),)
"""Every line of a file."""

_HUNK = re.compile(rb"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_OF_A_HOOK = re.compile("GIT_(?!CONFIG_)")
_PLAIN = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames")


class ChangedFiles(Struct, frozen=True):
    """Files changed since ``since``, with the base commit of each repository that was asked."""

    since: str
    bases: dict[str, str]
    files: dict[str, bool]

    def has(self, path: str) -> bool:
        """Whether a file has changed."""
        return os.path.realpath(path) in self.files

    def lines(self, path: str) -> Sequence[Stretch]:
        """The lines of a changed file that have changed, in order. Raises ConfigError."""
        real = os.path.realpath(path)
        top = _top(real)
        if self.files[real]:
            return WHOLE
        name = os.path.relpath(real, top)
        diff = ask_git(top, *_PLAIN, "--unified=0", self.bases[top], "--", f":(literal){name}")
        if diff.returncode:
            raise ConfigError(f"{path}: git cannot tell what has changed: {refusal(diff)}")
        hunks = ((int(at), int(count or 1)) for at, count in _HUNK.findall(diff.stdout))
        return [(at, at + n - 1) if n else (at + 1, at) for at, n in hunks]


def changes(paths: Iterable[str], since: str) -> ChangedFiles:
    """The changed files of the repositories that hold the paths. Raises ConfigError."""
    tops = dict.fromkeys(map(_top, map(os.path.realpath, paths)))
    bases = {top: _base(top, since) for top in tops}
    files: dict[str, bool] = {}
    for top, base in bases.items():
        kept = ("--name-only", "--diff-filter=d", "-z", base)
        for name in _names(top, *_PLAIN, *kept):
            files[os.path.join(top, name)] = False
        for name in _names(top, "ls-files", "--others", "--exclude-standard", "-z"):
            files[os.path.join(top, name)] = True
    return ChangedFiles(since, bases, files)


def _top(real: str) -> str:
    top = repository(os.path.dirname(real))
    if top is None:
        raise ConfigError(f"--changed-since: {os.path.relpath(real)} is in no git repository")
    return top


def _base(top: str, since: str) -> str:
    """The common ancestor of a revision and HEAD."""
    what = f"--changed-since {since}"
    fetch = "in CI the checkout must have the history (actions/checkout: `fetch-depth: 0`)"
    commit_found = ask_git(
        top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{since}^{{commit}}"
    )
    if commit_found.returncode:
        why = refusal(commit_found) if commit_found.stderr else f"{top} has no such revision"
        raise ConfigError(f"{what}: {why}; {fetch}")
    commit = commit_found.stdout.decode("ascii").strip()
    merged = ask_git(top, "merge-base", commit, "HEAD")
    if merged.returncode:
        raise ConfigError(f"{what}: it has no commit in common with HEAD; {fetch}")
    return merged.stdout.decode("ascii").strip()


def _names(top: str, *arguments: str) -> list[str]:
    answer = ask_git(top, *arguments)
    if answer.returncode:
        raise ConfigError(f"--changed-since: {top}: {refusal(answer)}")
    names = os.fsdecode(answer.stdout).replace("/", os.sep).split("\0")
    return [name for name in names if name]


def repository(folder: str) -> str | None:
    """The folder above that has a ``.git``, or None; much quicker than running git."""
    above = os.path.abspath(folder)
    while not os.path.exists(os.path.join(above, ".git")):
        parent = os.path.dirname(above)
        if parent == above:
            return None
        above = parent
    return above


def ask_git(folder: str, *arguments: str) -> CompletedProcess[bytes]:
    """The result of a git command in a folder; with status 127 if git is missing."""
    import subprocess

    # In a hook GIT_DIR and similar variables are set, relative to another folder.
    env = {key: value for key, value in os.environ.items() if not _OF_A_HOOK.match(key)}
    env["LC_ALL"] = "C"
    command = ["git", "-C", folder or os.curdir, *arguments]
    try:
        return subprocess.run(command, capture_output=True, env=env, check=False)
    except OSError as error:
        why = f"git cannot be run: {error.strerror or error}"
        return subprocess.CompletedProcess(command, 127, b"", os.fsencode(why))


def refusal(answer: CompletedProcess[bytes]) -> str:
    """The line in which git says why it refuses."""
    lines = answer.stderr.decode("utf-8", "replace").splitlines() or [f"status {answer.returncode}"]
    fatal = (line.removeprefix("fatal: ") for line in lines if line.startswith("fatal: "))
    return next(fatal, lines[0])
