"""An open file: its project, the findings in its text, and the hover text of a fact scan.

In: a file's name and text. Out: an ``Analysis`` with the findings of ``lint``, suppressed ones
included. A project's files are checked when a file is opened or saved, or when the editor reports a
change, and read again only if one of them has changed.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from msgspec import Struct

from sqlrewrite.catalog.sources import at_file
from sqlrewrite.copies import replace
from sqlrewrite.document import Decision, Document, decide, read
from sqlrewrite.embedded import documents
from sqlrewrite.linting import files
from sqlrewrite.linting.dbt_checks import of_file
from sqlrewrite.linting.findings import Finding
from sqlrewrite.linting.linter import lint
from sqlrewrite.linting.proposed_columns import Proposals, writing_files
from sqlrewrite.linting.scan_checks import partitions, scans
from sqlrewrite.linting.selection import FindingFilter, finding_filter, input_files
from sqlrewrite.plan.algebra import Scan
from sqlrewrite.results import Candidate, Outcome, Verdict
from sqlrewrite.rewriting import candidates
from sqlrewrite.run.catalogs import load_catalog
from sqlrewrite.run.file_content import Stamp, stamps
from sqlrewrite.run.search import gather
from sqlrewrite.settings.config import Projects, files_above
from sqlrewrite.settings.options import Options, make_options
from sqlrewrite.settings.table import Settings
from sqlrewrite.text.blocks import renderings
from sqlrewrite.text.edits import Span
from sqlrewrite.text.hosts import host_of
from sqlrewrite.text.hosts.region import Host, Region, plain
from sqlrewrite.warehouse import Warehouse


class ServerProject(Struct, frozen=True, eq=False):
    """The settings of a file, and the catalog and options that they define."""

    settings: Settings
    catalog: Warehouse
    options: Options
    finding_filter: FindingFilter
    proposals: Proposals | None = None


class Workspace:
    """The projects of all open files. Their own files are checked at the first request and after
    ``look_again``, not each time: a catalog may be a folder of many files."""

    def __init__(self, config: str | None, chosen: Mapping[str, Any], *, isolated: bool) -> None:
        self._how = (config, chosen, isolated)
        self._projects: dict[str, tuple[dict[str, Stamp], ServerProject]] = {}
        self._checked: set[str] = set()

    def look_again(self) -> None:
        """Has the files of projects checked again at the next request."""
        self._checked.clear()

    def of(self, path: str) -> ServerProject:
        """The project of a file. Raises ConfigError and CatalogError."""
        entry = self._projects.get(path)
        if entry is not None and path in self._checked:
            return entry[1]
        if entry is None or entry[0] != self._stamps(path, entry[1].settings):
            entry = self._read(path)
        before, project = entry
        if project.proposals is None or project.proposals.were_read:  # its files may have changed
            writing = writing_files(self._files(path, project.settings), project.settings)
            project = replace(project, proposals=Proposals(writing, project.catalog))
        self._projects[path] = (before, project)
        self._checked.add(path)
        return project

    def _read(self, path: str) -> tuple[dict[str, Stamp], ServerProject]:
        config, chosen, isolated = self._how
        settings = Projects(config, chosen=chosen, isolated=isolated).at(path)
        before = self._stamps(path, settings)
        catalog = load_catalog(settings, files=[path])
        return before, ServerProject(
            settings, catalog, make_options(settings), finding_filter(settings)
        )

    def _files(self, path: str, settings: Settings) -> Iterator[str]:
        """The files of a file's project, looked for when they are first asked for; without a file
        of settings that file alone."""
        if settings.source is None:
            yield path
            return
        config, chosen, isolated = self._how
        projects = Projects(config, chosen=chosen, isolated=isolated)
        for project in gather([os.path.dirname(settings.source) or "."], projects, "").projects:
            if project.settings.source == settings.source:
                yield from project.files

    def _stamps(self, path: str, settings: Settings) -> dict[str, Stamp]:
        """The stamps of a project's files."""
        files = [*files_above(path), *filter(None, self._how[:1]), *input_files(settings)]
        files += [] if settings.catalog else [path]
        return stamps(files)


@dataclass(frozen=True, eq=False)
class Analysis:
    """The findings in a file's text. An SQL file is a host with one region, the whole text."""

    path: str
    host: Host
    project: ServerProject
    findings: tuple[Finding, ...] = ()

    @cached_property
    def decisions(self) -> tuple[tuple[Region, Decision], ...]:
        """The decision on each region; with template blocks, on each of its renderings."""
        options = self.project.options
        return tuple((region, decide(document, options)) for region, document in self._documents())

    def _documents(self) -> list[tuple[Region, Document]]:
        catalog = at_file(self.path, self.project.catalog)
        limits = self.project.options.limits
        text, regions = self.host.text, self.host.regions
        if len(regions) == 1 and regions[0].text == text:
            texts = [rendering.text for rendering in renderings(text)] or [text]
            return [(regions[0], read(text, catalog, limits)) for text in texts]
        return [
            (read_region.region, document)
            for read_region, document in documents(self.host, catalog, limits)
        ]


def analyse(path: str, text: str, project: ServerProject) -> Analysis:
    """The analysis of a text."""
    host = host_of(path, text)
    if host is None:
        findings, _ = lint(text, project.catalog, project.options, path, project.proposals)
        host = Host(text, (Region(plain(text)),))
    else:
        findings, _ = files.lint_host(host, project.catalog, project.options, project.proposals)
    return Analysis(path, host, project, of_file(path, project.catalog, findings))


def local(region: Region, offset: int) -> int:
    """The offset in a region's text that corresponds to an offset in the file."""
    offsets = region.sql.offsets
    return max(0, min(bisect_right(offsets, offset) - 1, len(offsets) - 1))


_SIGNS = {Outcome.PASS: "✓", Outcome.FAIL: "✗", Outcome.UNKNOWN: "?"}


def hover(analysis: Analysis, offset: int) -> tuple[str, Span] | None:
    """The hover text at an offset of the file, with its span."""
    spans: dict[str, Span] = {}
    for region, decision in analysis.decisions:
        offsets = region.sql.offsets
        if offsets[0] <= offset <= offsets[-1]:
            for text, span in _hover_text(decision, local(region, offset)):
                spans[text] = Span(offsets[span.start], offsets[span.end])
    if not spans:
        return None
    text = "\n\n---\nOr, where its template blocks render otherwise:\n\n".join(spans)
    return text, next(iter(spans.values()))


def _hover_text(decision: Decision, at: int) -> Iterator[tuple[str, Span]]:
    """The hover text for the scan at an offset of a document, and the scan's span; nothing if there
    is no scan there."""
    document = decision.document
    for decided in decision.statements:
        if not decided.matters:
            continue
        for scan in scans(decided.plan):
            span = scan.span
            columns = partitions(scan, decision.options.engine)
            if span is None or not columns or not span.start <= at < span.end:
                continue
            place = document.directives.lines.place(span.start)
            of_scan = [
                candidate
                for candidate in candidates(document, decided)
                if (candidate.fact.line, candidate.fact.column_number) == place
            ]
            yield "\n".join(_lines(scan, sorted(columns), of_scan)), span
            return


def _lines(scan: Scan, columns: Sequence[str], of_scan: Sequence[Candidate]) -> Iterator[str]:
    alias = f" `{scan.alias}`" if scan.aliased else ""
    names = ", ".join(f"`{column}`" for column in columns)
    yield f"**{'.'.join(scan.parts)}**{alias} is partitioned by {names}"
    if not of_scan:
        yield ""
        yield "No join bounds a partition column."
    for candidate in of_scan:
        fact, dimension = candidate.fact.column, candidate.dimension.table
        yield ""
        yield f"---\n`{fact}` by the {candidate.join.type} join with **{dimension}**"
        yield ""
        yield _verdict(candidate)
        yield ""
        yield "| | rule | |\n|---|---|---|"
        for rule in candidate.rules:
            message = rule.message.replace("|", "\\|").replace("\n", " ")
            yield f"| {_SIGNS[rule.outcome]} | {rule.code} {rule.name} | {message} |"


def _verdict(candidate: Candidate) -> str:
    predicate = f" by\n```sql\n{candidate.predicate}\n```"
    match candidate.verdict:
        case Verdict.REWRITTEN:
            return f"Could be pruned{predicate}"
        case Verdict.ALREADY_PRUNED:
            return f"Already pruned{predicate if candidate.predicate else ''}"
        case Verdict.REJECTED:
            why = candidate.reason
            return f"Left alone: {why.code} {why.message}" if why else "Left alone"
