"""One file from bytes to what is to be said of it, and the sum over many.

In come a file's name and bytes, out goes a ``Linted``, whatever happened: a file that cannot be
read, and a mistake of ours, are results too, so that one file never stops the others.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from sqlrewrite.frozen import dataclass
from sqlrewrite.linting import baseline
from sqlrewrite.linting.baseline import Baseline
from sqlrewrite.linting.findings import BY_CODE, Finding, Fix, Place, of_no_statement, unsuppressed
from sqlrewrite.linting.linter import lint
from sqlrewrite.linting.selection import check, selected
from sqlrewrite.results import NOT_PARSED, ConfigError, Problem
from sqlrewrite.run.runner import Request, count, internal_error
from sqlrewrite.run.runner import run as rewritten
from sqlrewrite.run.work import UnreadFileError, read_source
from sqlrewrite.settings.table import Settings
from sqlrewrite.sql.deep import TOO_DEEP
from sqlrewrite.text.edits import Span
from sqlrewrite.text.hosts import host_of
from sqlrewrite.text.source import LINE_END, decode
from sqlrewrite.warehouse import CatalogError

if TYPE_CHECKING:
    from sqlrewrite.run.statistics import Statistics

AROUND = 1
"""So many lines are shown before and behind a finding's own."""

MOST_LINES = 7
"""No more lines are shown of a finding; one more is kept, to tell that there are more."""

_LONG = 20


@dataclass(frozen=True, slots=True)
class Linted:
    """What was found in one file: ``failures`` are what could not be done, ``lines`` those around
    the findings, each with its number; ``counted`` its statistics, where these are asked for.
    ``given`` is the path that it was found by, where a report calls it otherwise."""

    path: str
    text: str = ""
    findings: tuple[Finding, ...] = ()
    failures: tuple[Problem, ...] = ()
    lines: tuple[tuple[int, str], ...] = ()
    counted: Statistics | None = None
    given: str = ""

    @property
    def shown(self) -> tuple[Finding, ...]:
        """The findings that nothing suppresses."""
        return unsuppressed(self.findings)

    @property
    def fixes(self) -> tuple[Fix | None, ...]:
        """What a report says of each finding's fix. A statement's findings share one: where that is
        long, it stands with the first of them only, or the report would grow as its square."""
        found: list[Fix | None] = []
        said: set[int] = set()
        for fix in (it.fix for it in self.findings):
            long = fix is not None and len(fix.replacements) > _LONG
            found.append(None if long and id(fix) in said else fix)
            said.add(id(fix))
        return tuple(found)

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """A hash for each finding that stays the same when lines move: of its path, code, statement
        and subject, and of how many such came before it."""
        met: Counter[tuple[str, ...]] = Counter()
        found = []
        for it in self.findings:
            key = (self.path.replace(os.sep, "/"), it.code, it.statement, it.subject)
            met[key] += 1
            text = "\0".join((*key, str(met[key])))
            found.append(sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32])
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Rules:
    """Which findings count; ``path`` is where the baseline is, or would be."""

    settings: Settings = field(default_factory=Settings)
    baseline: Baseline = field(default_factory=Baseline)
    path: str = ""

    def of(self, result: Linted) -> Linted:
        """A result with the findings that are wanted; those that are known are suppressed."""
        if not result.findings:
            return result
        wanted = selected(self.settings, result.path, result.findings)
        found = tuple(self.baseline.of(result.path, wanted))
        return result if found == result.findings else replace(result, findings=found)


def rules_of(settings: Settings, *, known: bool = True) -> Rules:
    """Which findings count in a project, those of its baseline left out if they are ``known``.
    Raises ConfigError."""
    try:
        check(settings)
    except ConfigError as error:
        raise ConfigError(f"{settings.source or 'the environment'}: {error}") from error
    path = baseline.path_of(settings)
    if known and (settings.baseline or os.path.exists(path)):
        return Rules(settings, baseline.load(path), path)
    return Rules(settings, Baseline(root=baseline.root_of(path)), path)


def known_by(settings: Settings) -> Iterator[str]:
    """The files besides its own that what is found in a project depends on, be they there or not:
    its baseline, and those of its catalogs."""
    from sqlrewrite.catalog.files import in_folder  # which who looks but once has no need of

    yield baseline.path_of(settings)
    for path in settings.catalog:
        yield path
        if os.path.isdir(path):
            yield from map(str, in_folder(Path(path)))
        elif path.endswith(".json"):  # a manifest's
            yield os.path.join(os.path.dirname(path), "catalog.json")


def run(path: str, data: bytes, request: Request) -> Linted:
    """All findings in one file's bytes. Raises only for what is wrong with the request."""
    try:
        text = read_source(data, request.settings.file_limit).text
    except UnreadFileError as error:
        return unread(path, error.problem)
    try:
        host = host_of(path, text)
        if host is None:
            found, bugs = lint(text, request.catalog, request.options())
        else:
            from sqlrewrite.linting import hosted  # a file of SQL has no need of it

            found, bugs = hosted.lint(host, request.catalog, request.options())
    except (ConfigError, CatalogError):
        raise
    except Exception as error:
        return Linted(path, text, failures=(internal_error(error),))
    return Linted(path, text, found, bugs, tuple(dict(_lines(text, found)).items()))


def _lines(text: str, findings: Iterable[Finding]) -> Iterator[tuple[int, str]]:
    """The lines that findings are shown with: some before and behind each, not many of one."""
    every = LINE_END.split(text) if findings else []
    count = len(every) - (not every[-1]) if every else 0  # behind a last line end there is no line
    for finding in findings:
        place = finding.place
        last = max(place.line, min(count, place.end_line + AROUND))
        for number in range(max(1, place.line - AROUND), last + 1)[: MOST_LINES + 1]:
            yield number, every[number - 1]


def unread(path: str, why: Problem) -> Linted:
    """The result for a file that is not read; one that is left alone for its size is no failure."""
    if why.code:
        return Linted(path, failures=(why,))
    message, start = f"not read: {why.message}", Place(Span(0, 0), 1, 1, 1, 1)
    return Linted(path, "", (of_no_statement(NOT_PARSED, message, start, counts=False),))


_Kept = tuple[tuple[Finding, ...], tuple[tuple[int, str], ...]]
"""What a cache keeps of a file: its findings, and the lines around them."""


@dataclass(frozen=True, slots=True)
class LintTask:
    """What is to be done with each of many files, in any process: all findings, wanted or not;
    ``text`` asks for the whole texts of those files that have some, ``count`` for the statistics of
    the file, which no cache has."""

    request: Request
    text: bool = True
    count: bool = False
    kept = _Kept  # the type of what ``keep`` gives

    def __call__(self, path: str, data: bytes) -> Linted:
        """The result for a file's bytes."""
        found = run(path, data, self.request)
        if self.count:
            done = rewritten(path, data, self.request, survey=True)
            found = replace(found, counted=count(done, self.request))
        return found if self.text and found.findings else replace(found, text="")

    @property
    def limit(self) -> int:
        """A file of more bytes is not read."""
        return self.request.settings.file_limit

    def unread(self, path: str, why: Problem) -> Linted:
        """The result for a file that is not read."""
        return unread(path, why)

    def keep(self, result: Linted) -> _Kept | None:
        """The findings with their lines, of a file with which nothing went wrong."""
        if self.count or result.failures or any(TOO_DEEP in it.message for it in result.findings):
            return None  # another run may do better
        return (result.findings, result.lines)

    def recall(self, path: str, data: bytes | None, kept: _Kept) -> Linted | None:
        """The result for a file of those findings."""
        findings, lines = kept
        if any(it.code not in BY_CODE for it in findings):
            return None
        if not self.text or not findings:
            return Linted(path, "", findings, lines=lines)
        return None if data is None else Linted(path, decode(data).text, findings, lines=lines)


@dataclass(slots=True)
class Sum:
    """Counts over files, to which each is added: ``codes`` of the findings shown, and ``counting``
    those that fail a run; ``failed`` are the files with ``failures``."""

    files: int = 0
    failed: int = 0
    failures: int = 0
    counting: int = 0
    fixable: int = 0
    suppressed: int = 0
    codes: Counter[str] = field(default_factory=Counter)
    statistics: Statistics | None = None

    def add(self, result: Linted) -> None:
        """Counts one more file."""
        self.files += 1
        if self.statistics is not None and result.counted is not None:
            self.statistics.add(result.counted)
        if not (result.findings or result.failures):
            return
        shown = result.shown
        self.failed += bool(result.failures)
        self.failures += len(result.failures)
        self.counting += sum(it.counts for it in shown)
        self.fixable += sum(it.fix is not None for it in shown)
        self.suppressed += len(result.findings) - len(shown)
        self.codes.update(it.code for it in shown)

    @property
    def status(self) -> int:
        """The exit status: 2 where something could not be done, 1 where there are findings."""
        return 2 if self.failures else int(self.counting > 0)
