"""The files of a run by project: those with the same nearest file of settings.

In come the paths of a command line, out go the files that they mean without those that the settings
exclude. As in ruff, one search, or one hook, may have files of many projects.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

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
    """The projects in the order in which they were met, and the rest of ``Found``."""

    projects: tuple[ProjectFiles, ...]
    missing: tuple[str, ...]
    warnings: tuple[tuple[str, str], ...]


def gather(paths: Sequence[str], projects: Projects, stdin: str) -> Gathered:
    """The files that ``paths`` mean, by project. ``stdin`` is the name for ``-``, if it has one.
    Where there are no files, the result is the project of the first path, without files.

    With the setting ``force-exclude`` a project also excludes files that are named: a hook names
    all changed files, an editor its open one. Raises ConfigError.
    """
    paths, stdin = [native(path) for path in paths], native(stdin)
    excluded = _Excludes(projects)
    without = {STDIN} if stdin != STDIN and excluded(stdin, None) else set[str]()
    named = (path for path in paths if path not in without)
    found = find(
        named,
        excluded,
        lambda folder: projects.at(folder).respect_gitignore,
        lambda folder: projects.at(folder).include_python,
    )
    by_source: dict[str | None, tuple[Settings, list[str]]] = {}
    for path in found.files:
        settings = projects.of(stdin if path == STDIN else path)
        by_source.setdefault(settings.source, (settings, []))[1].append(path)
    if not by_source:
        settings = projects.at(stdin if paths[0] == STDIN else paths[0])
        by_source[settings.source] = (settings, [])
    done = (ProjectFiles(settings, tuple(files)) for settings, files in by_source.values())
    return Gathered(tuple(done), found.missing, found.warnings)


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
        """Matches the names of the files in a folder that are excluded."""
        if searched is None and not settings.force_exclude:
            return lambda name: False
        if searched is not None and self._is_excluded(settings, searched):
            return lambda name: True
        if settings.source not in self._patterns:
            patterns = (*settings.exclude, *settings.extend_exclude)
            self._patterns[settings.source] = Patterns(patterns, settings.root)
        return self._patterns[settings.source].within(folder)

    def _is_excluded(self, settings: Settings, searched: str) -> bool:
        """Whether a project inside the searched folder is excluded by the project around it, to
        which it is a folder like any other."""
        key = (settings.source, searched)
        if key not in self._excluded:
            root = os.path.abspath(settings.root)
            below = root.startswith(os.path.join(os.path.abspath(searched), ""))
            within = below and self._projects.of(root) is not settings
            self._excluded[key] = within and self(root, searched)
        return self._excluded[key]
