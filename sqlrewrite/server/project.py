"""The project of an open file: its settings, its catalog, and which findings count.

It is checked when a file is opened or saved, or the editor reports a change, and read again only if
one of its files has changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlrewrite.linting.selection import FindingFilter, finding_filter, input_files
from sqlrewrite.run.catalogs import load_catalog
from sqlrewrite.run.file_content import Stamp, stamps
from sqlrewrite.settings.config import Projects, files_above
from sqlrewrite.settings.options import Options, make_options
from sqlrewrite.settings.table import Settings
from sqlrewrite.warehouse import Warehouse


@dataclass(frozen=True, slots=True, eq=False)
class ServerProject:
    """The settings of a file, and what they make."""

    settings: Settings
    catalog: Warehouse
    options: Options
    finding_filter: FindingFilter


class Workspace:
    """The projects of all open files. Their files are checked at the first request and after
    ``look_again`` only, since a catalog may be a folder of many files."""

    def __init__(self, config: str | None, chosen: Mapping[str, Any], *, isolated: bool) -> None:
        self._how = (config, chosen, isolated)
        self._known: dict[str, tuple[dict[str, Stamp], ServerProject]] = {}
        self._seen: set[str] = set()

    def look_again(self) -> None:
        """Has the files of projects checked again."""
        self._seen.clear()

    def of(self, path: str) -> ServerProject:
        """The project of a file. Raises ConfigError and CatalogError."""
        entry = self._known.get(path)
        if entry is not None and path in self._seen:
            return entry[1]
        if entry is None or entry[0] != self._stamps(path, entry[1].settings):
            entry = self._known[path] = self._read(path)
        self._seen.add(path)
        return entry[1]

    def _read(self, path: str) -> tuple[dict[str, Stamp], ServerProject]:
        config, chosen, isolated = self._how
        settings = Projects(config, chosen=chosen, isolated=isolated).at(path)
        before = self._stamps(path, settings)
        catalog = load_catalog(settings, files=[path])
        return before, ServerProject(
            settings, catalog, make_options(settings), finding_filter(settings)
        )

    def _stamps(self, path: str, settings: Settings) -> dict[str, Stamp]:
        """The stamps of a project's files."""
        files = [*files_above(path), *filter(None, self._how[:1]), *input_files(settings)]
        files += [] if settings.catalog else [path]
        return stamps(files)
