"""Lints one file, from its bytes to its findings, and sums up many; also SQL in other languages.

In come a file's name and bytes, out goes a ``LintedFile``, whatever happened: a file that cannot be
read, and a bug of ours, are results too, so that one file never stops the others.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING

from msgspec import Struct, field

from sqlrewrite.copies import replace
from sqlrewrite.document import Document
from sqlrewrite.embedded import documents
from sqlrewrite.linting.checked_statement import fix_of, place_of
from sqlrewrite.linting.dbt_checks import of_file
from sqlrewrite.linting.findings import (
    Finding,
    Fix,
    LintResult,
    Place,
    Severity,
    Suppression,
    of_no_statement,
    unsuppressed,
)
from sqlrewrite.linting.linter import findings, lint
from sqlrewrite.linting.proposed_columns import Proposals
from sqlrewrite.linting.suppression import UNUSED
from sqlrewrite.results import NOT_PARSED, ConfigError, Problem
from sqlrewrite.run.file_content import UnreadFileError, read_source
from sqlrewrite.run.file_rewriting import Request, file_statistics, internal_error, run
from sqlrewrite.settings.options import Options
from sqlrewrite.sql.statements.directives import Directive
from sqlrewrite.text.edits import Span
from sqlrewrite.text.hosts import host_of
from sqlrewrite.text.hosts.region import Host, Region, Unwritable
from sqlrewrite.text.source import LINE_END
from sqlrewrite.warehouse import CatalogError, Warehouse

if TYPE_CHECKING:
    from sqlrewrite.run.statistics import Silent, Statistics

CONTEXT_LINES = 1
"""The number of lines that are shown before and after those of a finding."""

MOST_LINES = 7
"""The most lines that are shown of a finding; one more is kept, to know that there are more."""

_LONG = 20


class LintedFile(Struct, frozen=True):
    """The findings of one file. ``failures`` say what could not be checked, ``lines`` are those
    around the findings, each with its number; ``statistics`` are there if asked for. ``input_path``
    is the path of the command line, if reports name the file differently."""

    path: str
    text: str = ""
    findings: tuple[Finding, ...] = ()
    failures: tuple[Problem, ...] = ()
    lines: tuple[tuple[int, str], ...] = ()
    statistics: Statistics | None = None
    input_path: str = ""

    @property
    def shown(self) -> tuple[Finding, ...]:
        """The findings that nothing suppresses."""
        return unsuppressed(self.findings)

    @property
    def fixes(self) -> tuple[Fix | None, ...]:
        """The fix of each finding in a report. The findings of a statement share one fix. If it is
        long, only the first of them has it here: repeated with each, it would make reports huge."""
        fixes: list[Fix | None] = []
        shown: set[int] = set()
        for fix in (finding.fix for finding in self.findings):
            long = fix is not None and len(fix.replacements) > _LONG
            fixes.append(None if long and id(fix) in shown else fix)
            shown.add(id(fix))
        return tuple(fixes)

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """A hash for each finding, which stays the same when lines move: of its path, code,
        statement and subject, and of the number of earlier findings with the same."""
        met: Counter[tuple[str, ...]] = Counter()
        hashes = []
        for finding in self.findings:
            key = (self.path.replace(os.sep, "/"), finding.code, finding.statement, finding.subject)
            met[key] += 1
            text = "\0".join((*key, str(met[key])))
            hashes.append(sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32])
        return tuple(hashes)


def lint_file(
    path: str, data: bytes, request: Request, proposals: Proposals | None = None
) -> LintedFile:
    """All findings in one file's bytes. Raises only for what is wrong with the request."""
    try:
        text = read_source(data, request.settings.file_limit).text
    except UnreadFileError as error:
        return unread(path, error.problem)
    try:
        host = host_of(path, text)
        if host is None:
            findings, bugs = lint(text, request.catalog, request.options(), path, proposals)
        else:
            findings, bugs = lint_host(host, request.catalog, request.options(), proposals)
    except (ConfigError, CatalogError):
        raise
    except Exception as error:
        return LintedFile(path, text, failures=(internal_error(error),))
    findings = of_file(path, request.catalog, findings)
    return LintedFile(path, text, findings, bugs, tuple(dict(_lines(text, findings)).items()))


def _lines(text: str, findings: Iterable[Finding]) -> Iterator[tuple[int, str]]:
    """The lines that findings are shown with: some around each, and no more than a few of one."""
    every = LINE_END.split(text) if findings else []
    count = len(every) - (not every[-1]) if every else 0  # after the last line end there is no line
    for finding in findings:
        for number in excerpt(finding.place):
            if number <= max(finding.place.line, count):
                yield number, every[number - 1]


def excerpt(place: Place) -> range:
    """The numbers of the lines that a finding is shown with, and one more than that if there are
    too many."""
    first, last = place.line - CONTEXT_LINES, place.end_line + CONTEXT_LINES
    return range(max(1, first), last + 1)[: MOST_LINES + 1]


def unread(path: str, why: Problem) -> LintedFile:
    """The result for a file that is not read; one that is left alone for its size is no failure."""
    if why.code:
        return LintedFile(path, failures=(why,))
    message, start = f"not read: {why.message}", Place(Span(0, 0), 1, 1, 1, 1)
    return LintedFile(path, "", (of_no_statement(NOT_PARSED, message, start, counts=False),))


def with_report_paths(results: Iterable[LintedFile], root: str) -> list[LintedFile]:
    """The results, their files named as in reports for programs, where a finding always has the
    same path: from ``root``, or in full outside of it, with forward slashes."""

    @cache
    def prefix(folder: str) -> str:
        path = os.path.relpath(folder or os.curdir, root)
        if path == os.curdir:
            return ""
        if path.split(os.sep)[0] == os.pardir:
            path = os.path.abspath(folder)
        return os.path.join(path, "").replace(os.sep, "/")

    split = ((result, *os.path.split(result.path)) for result in results)
    return [
        replace(result, path=prefix(folder) + name, input_path=result.path)
        for result, folder, name in split
    ]


class LintTask(Struct, frozen=True):
    """The job of lint for each file, in any process. It looks for all findings, also those that
    will not count. ``text`` asks for the texts of files with findings, ``statistics`` for the
    statistics, which are not cached; ``proposals`` follow from the files of the run."""

    request: Request
    text: bool = True
    statistics: bool = False
    proposals: Proposals | None = None

    def __call__(self, path: str, data: bytes) -> LintedFile:
        """The result for a file's bytes."""
        linted = lint_file(path, data, self.request, self.proposals)
        if self.statistics:
            result = run(path, data, self.request, with_statements=True)
            linted = replace(linted, statistics=file_statistics(result, self.request))
        return linted if self.text and linted.findings else replace(linted, text="")

    of_stdin = __call__

    @property
    def cache_key(self) -> tuple[object, ...] | None:
        """The key that separates its cached results from those of other jobs; None if none may be
        cached."""
        return None if self.statistics else ("lint",)

    @property
    def limit(self) -> int:
        """A file of more bytes is not read."""
        return self.request.settings.file_limit

    def unread(self, path: str, why: Problem) -> LintedFile:
        """The result for a file that is not read."""
        return unread(path, why)

    def keep(self, result: LintedFile) -> Silent | None:
        """The value to cache for a file without findings."""
        return None if result.findings or result.failures else (0, ())

    def recall(self, path: str, silent: Silent) -> LintedFile:
        """The result for a file without a finding."""
        return LintedFile(path)


class LintSummary(Struct):
    """Counts over files, to which each is added: ``codes`` of the findings shown, ``counting``
    those that fail a run, ``notes`` the notes; ``failed`` are the files with ``failures``."""

    files: int = 0
    failed: int = 0
    failures: int = 0
    counting: int = 0
    notes: int = 0
    fixable: int = 0
    suppressed: int = 0
    codes: Counter[str] = field(default_factory=Counter)
    statistics: Statistics | None = None

    def add(self, result: LintedFile) -> None:
        """Counts one more file."""
        self.files += 1
        if self.statistics is not None and result.statistics is not None:
            self.statistics.add(result.statistics)
        if not (result.findings or result.failures):
            return
        shown = result.shown
        self.failed += bool(result.failures)
        self.failures += len(result.failures)
        self.counting += sum(finding.counts for finding in shown)
        self.notes += sum(finding.severity is Severity.NOTE for finding in shown)
        self.fixable += sum(finding.fix is not None for finding in shown)
        self.suppressed += len(result.findings) - len(shown)
        self.codes.update(finding.code for finding in shown)

    @property
    def status(self) -> int:
        """The exit status: 2 where something could not be done, 1 where there are findings."""
        return 2 if self.failures else int(self.counting > 0)


class RegionFindings(Struct, frozen=True, eq=False):
    """The findings of a region, in its own offsets; ``ignore_file``: its comment that suppresses
    all findings of the file, if it has one."""

    region: Region
    findings: tuple[Finding, ...]
    bugs: tuple[Problem, ...] = ()
    ignore_file: Directive | None = None


def lint_host(
    host: Host, catalog: Warehouse, options: Options, proposals: Proposals | None = None
) -> LintResult:
    """The findings of a file, and what went wrong while looking for them."""
    read = documents(host, catalog, options.limits, heed=False)
    regions = [
        region_findings(region.region, document, options, proposals) for region, document in read
    ]
    return tuple(file_findings(host, regions)), tuple(
        bug for region in regions for bug in region.bugs
    )


def region_findings(
    region: Region, document: Document, options: Options, proposals: Proposals | None = None
) -> RegionFindings:
    """The findings of a region, which is read as a document."""
    return RegionFindings(
        region, *findings(document, options, proposals=proposals), document.directives.whole_file
    )


def file_findings(host: Host, regions: Sequence[RegionFindings]) -> list[Finding]:
    """The findings of all regions, and one for each call or cell that is not read, in the order of
    the file; suppressed if a region's comment suppresses all of the file."""
    whole = next((region for region in regions if region.ignore_file is not None), None)
    not_read = ((place_of(host.lines, Span(at, at)), f"not read: {why}") for at, why in host.unread)
    every = [of_no_statement(NOT_PARSED, why, place, counts=False) for place, why in not_read]
    for region in regions:
        own = region.findings
        if whole is not None and whole.ignore_file is not None:
            used = any(other.findings for other in regions if other is not whole)
            own = tuple(_suppressed(whole.ignore_file, own, its_own=region is whole, used=used))
        every += (in_file(host, region.region, finding) for finding in own)
    return sorted(every, key=lambda it: (it.place.span.start, it.code))


def _suppressed(
    ignore_file: Directive, findings: Sequence[Finding], *, its_own: bool, used: bool
) -> Iterator[Finding]:
    """A region's findings, suppressed by its own or another region's comment for the whole file."""
    by = Suppression("inSource", ignore_file.reason or str(ignore_file))
    for finding in findings:
        if not its_own and finding.suppression is None:
            yield replace(finding, suppression=by, counts=False)
        elif not (
            its_own and used and finding.code == UNUSED and finding.place.span == ignore_file.span
        ):
            yield finding


def in_file(host: Host, region: Region, finding: Finding) -> Finding:
    """A region's finding as one of the file, without a fix that cannot be written there."""
    fix, choice = (_fix_in_file(host, region, each) for each in (finding.fix, finding.choice))
    return replace(finding, place=_place(host, region, finding.place.span), fix=fix, choice=choice)


def _fix_in_file(host: Host, region: Region, fix: Fix | None) -> Fix | None:
    if fix is not None:
        with suppress(Unwritable):
            return fix_of(host.lines, [host.in_file(region, edit) for edit in fix.edits])
    return None


def _place(host: Host, region: Region, span: Span) -> Place:
    offsets = region.sql.offsets
    start, end = (offsets[min(at, len(offsets) - 1)] for at in (span.start, span.end))
    return place_of(host.lines, Span(start, end))
