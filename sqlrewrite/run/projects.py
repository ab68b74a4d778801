"""The files of a run by project: those whose nearest pyproject.toml is the same one.

In come the paths of a command line, out go the files behind them without what their settings
exclude. As in ruff, one search, and the files that one hook names, may be of many projects.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from sqlrewrite.frozen import dataclass
from sqlrewrite.run.files import STDIN, Match, Patterns, find, native
from sqlrewrite.settings.config import Projects
from sqlrewrite.settings.table import Settings


@dataclass(frozen=True, slots=True)
class ProjectFiles:
    """Files that have the same settings."""

    settings: Settings
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gathered:
    """The projects in the order in which they were met, and what ``Found`` says besides."""

    projects: tuple[ProjectFiles, ...]
    missing: tuple[str, ...]
    warnings: tuple[tuple[str, str], ...]


def gather(paths: Sequence[str], settings: Projects, stdin: str) -> Gathered:
    """The files that ``paths`` mean; ``stdin`` is the name of ``-``, if it has any. Where there are
    none, the project is that of the first path, without files.

    Where a project's settings say ``force-exclude``, its excludes are of named files too: a hook
    names all that changed, and an editor what it has open. Raises ConfigError.
    """
    paths, stdin = [native(path) for path in paths], native(stdin)
    excluded = _Excludes(settings)
    without = {STDIN} if stdin != STDIN and excluded(stdin, None) else set[str]()
    named = (path for path in paths if path not in without)
    found = find(
        named,
        excluded,
        lambda folder: settings.at(folder).respect_gitignore,
        lambda folder: settings.at(folder).include_python,
    )
    projects: dict[str | None, tuple[Settings, list[str]]] = {}
    for path in found.files:
        its = settings.of(stdin if path == STDIN else path)
        projects.setdefault(its.source, (its, []))[1].append(path)
    if not projects:
        its = settings.at(stdin if paths[0] == STDIN else paths[0])
        projects[its.source] = (its, [])
    done = (ProjectFiles(its, tuple(files)) for its, files in projects.values())
    return Gathered(tuple(done), found.missing, found.warnings)


class _Excludes:
    """What the settings leave out, found out of each folder once."""

    def __init__(self, settings: Projects) -> None:
        self._settings = settings
        self._folders: dict[tuple[str, str | None], Match] = {}
        self._patterns: dict[str | None, Patterns] = {}
        self._projects: dict[tuple[str | None, str], bool] = {}

    def __call__(self, path: str, searched: str | None) -> bool:
        cut = path.rfind(os.sep) + 1
        key = (path[:cut], searched)
        match = self._folders.get(key)
        if match is None:
            match = self._folders[key] = self._match(self._settings.of(path), path[:cut], searched)
        return match(path[cut:])

    def _match(self, its: Settings, folder: str, searched: str | None) -> Match:
        """What matches the names of those files in a folder that are left out."""
        if searched is None and not its.force_exclude:
            return lambda name: False
        if searched is not None and self._project(its, searched):
            return lambda name: True
        if its.source not in self._patterns:
            self._patterns[its.source] = Patterns((*its.exclude, *its.extend_exclude), its.root)
        return self._patterns[its.source].within(folder)

    def _project(self, its: Settings, searched: str) -> bool:
        """Whether a project within the folder that is searched is left out by the one around it,
        for which it is a folder like any other."""
        key = (its.source, searched)
        if key not in self._projects:
            root = os.path.abspath(its.root)
            below = root.startswith(os.path.join(os.path.abspath(searched), ""))
            within = below and self._settings.of(root) is not its
            self._projects[key] = within and self(root, searched)
        return self._projects[key]
