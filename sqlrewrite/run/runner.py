"""One file from bytes to bytes, and the sum over many.

In come a file's name and bytes, out goes a ``FileResult``, whatever happened: a file that cannot be
read, and a mistake of ours, are results too, so that one file never stops the others.
"""

from __future__ import annotations

import os
import traceback
from dataclasses import field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from sqlrewrite.document import Document
from sqlrewrite.find.reading import BUG
from sqlrewrite.find.summary import StatementSummary
from sqlrewrite.frozen import dataclass
from sqlrewrite.results import ConfigError, PlanDiff, Problem, Rewrite, Verdict
from sqlrewrite.rewriting import DocumentObserver, rewrite_with_options
from sqlrewrite.run.file_content import UnreadFileError, read_source
from sqlrewrite.run.statements import documents_of, surveyed
from sqlrewrite.settings.options import Options, Resolve, make_options, not_asked
from sqlrewrite.settings.table import Settings
from sqlrewrite.sql.deep import TOO_DEEP
from sqlrewrite.stripping import stripped
from sqlrewrite.text.hosts import host_of
from sqlrewrite.text.source import Source, decode, unified_diff, write_atomically
from sqlrewrite.warehouse import CatalogError, Warehouse

if TYPE_CHECKING:
    from sqlrewrite.run.statistics import Statistics


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """How each file is to be rewritten; ``strip`` only takes out what earlier runs wrote, and
    ``resolve`` gives keys for ``values``."""

    catalog: Warehouse
    settings: Settings = field(default_factory=Settings)
    strip: bool = False
    resolve: Resolve = not_asked

    @property
    def asks(self) -> bool:
        """Whether an engine is asked, so that the same text may come out otherwise."""
        return self.resolve is not not_asked

    def options(self) -> Options:
        """The same, checked; made once. Raises ConfigError."""
        return _options(self)


@lru_cache(8)
def _options(request: Request) -> Options:
    return make_options(request.settings, resolve=request.resolve)


@dataclass(frozen=True, slots=True, eq=False)
class FileResult:
    """What became of one file. ``failure`` says why there is no ``rewrite``, or was no writing;
    ``surveyed`` are its statements and ``counted`` its statistics, where these are asked for."""

    path: str
    data: bytes | None = None
    source: Source | None = None
    rewrite: Rewrite | None = None
    failure: Problem | None = None
    surveyed: tuple[StatementSummary, ...] = ()
    counted: Statistics | None = None

    @property
    def changed(self) -> bool:
        """Whether the file's text would be, or is, another."""
        return self.rewrite is not None and self.rewrite.changed

    @property
    def silent(self) -> bool:
        """Whether there is nothing to be said of it but that it was read."""
        return self.quiet and not (self.rewrite and self.rewrite.candidates)

    @property
    def quiet(self) -> bool:
        """Whether there is nothing to be said of it but its candidates."""
        done = self.rewrite
        if done is None or self.failure or done.changed:
            return False
        return not (done.errors or done.skipped or done.removed or done.notes or done.plans)

    @property
    def hosted(self) -> bool:
        """Whether it is written in another language than SQL, and cannot be given to Spark."""
        return self.source is not None and host_of(self.path, self.source.text) is not None

    @property
    def output(self) -> bytes | None:
        """The bytes to print: what was read, byte for byte, wherever nothing was inserted."""
        if self.changed and self.source and self.rewrite:
            return self.source.encode(self.rewrite.sql)
        return self.data

    @property
    def text(self) -> str | None:
        """The output as text, its byte-order mark included; None where the file was not read."""
        if self.source is None or self.rewrite is None:
            return None
        return ("\ufeff" if self.source.bom else "") + self.rewrite.sql

    @property
    def errors(self) -> tuple[Problem, ...]:
        """All that went wrong: the file's own failure, then statements that do not parse."""
        own = (self.failure,) if self.failure else ()
        return own + (self.rewrite.errors if self.rewrite else ())

    def diff(self) -> bytes:
        """The unified diff, empty where nothing changes."""
        if not (self.changed and self.source and self.rewrite):
            return b""
        mark = "\ufeff" if self.source.bom else ""
        text = unified_diff(mark + self.source.text, mark + self.rewrite.sql, self.path)
        return text.encode("utf-8", "surrogateescape")


@dataclass(slots=True)
class Summary:
    """Counts over files, to which each is added.

    ``statements_*`` and ``skipped`` add up to all statements, a file that could not be read
    counting as one. ``statistics`` are kept where they are asked for.
    """

    files: int = 0
    changed: int = 0
    failures: int = 0
    statements: int = 0
    statements_rewritten: int = 0
    statements_unchanged: int = 0
    skipped: int = 0
    candidates: int = 0
    rewritten: int = 0
    errors: int = 0
    statistics: Statistics | None = None

    def add(self, result: FileResult) -> None:
        """Counts one more file."""
        done = result.rewrite
        if self.statistics is not None and result.counted is not None:
            self.statistics.add(result.counted)
        statements = done.statements if done else 0
        self.files += 1
        self.statements += statements
        if result.silent:
            self.statements_unchanged += statements
            return
        found, gone, grouped = (done.candidates, done.removed, done.grouped) if done else ((),) * 3
        rewritten = [c.statement for c in found if c.verdict is Verdict.REWRITTEN]
        touched = {*rewritten, *(it.statement for it in gone), *grouped}
        left = len(done.errors) + len(done.skipped) if done else 0
        self.changed += result.changed
        self.failures += result.failure is not None
        self.statements_rewritten += len(touched)
        self.statements_unchanged += max(0, statements - left - len(touched))
        self.skipped += left + (result.failure is not None)
        self.candidates += len(found)
        self.rewritten += len(rewritten)
        self.errors += len(result.errors)

    def status(self, *, check: bool, strict: bool) -> int:
        """The exit status: 2 where something could not be done, 1 where ``--check`` found work."""
        if self.failures or (self.errors and not check):
            return 2
        return int(check and bool(self.changed or (strict and self.errors)))


def _rewritten(path: str, text: str, request: Request, observe: DocumentObserver | None) -> Rewrite:
    if request.strip and observe is not None:
        for document in documents_of(path, text, request.catalog, request.settings.limits):
            observe(document)
    host = host_of(path, text)
    if host is not None:
        from sqlrewrite import embedded  # a file of SQL has no need of it

        if request.strip:
            return embedded.strip(path, host)
        return embedded.rewrite(path, host, request.catalog, request.options(), observe)
    if request.strip:
        return stripped(text, request.settings.limits)
    return rewrite_with_options(text, request.catalog, request.options(), observe)


def unread(path: str, why: Problem, data: bytes | None = None) -> FileResult:
    """The result for a file that is not read; one that is left alone for its size is no failure."""
    if why.code:
        return FileResult(path, data, failure=why)
    return FileResult(path, data, rewrite=Rewrite("", "", 1, skipped=(why,)))


def run(path: str, data: bytes, request: Request, *, survey: bool = False) -> FileResult:
    """The result for one file's bytes, its statements ``surveyed`` if that is asked for. Raises
    only for what is wrong with the request itself."""
    try:
        source = read_source(data, request.settings.file_limit)
    except UnreadFileError as error:
        return unread(path, error.problem, data)
    documents: list[Document] = []
    try:
        done = _rewritten(path, source.text, request, documents.append if survey else None)
    except (ConfigError, CatalogError):
        raise
    except Exception as error:
        return FileResult(path, data, source, failure=internal_error(error))
    return FileResult(path, data, source, done, surveyed=surveyed(documents, done))


_Kept = int | tuple[Rewrite, tuple[StatementSummary, ...]]
"""What a cache keeps of a file: its number of statements, or all that was made of it but the text
that it began with."""


@dataclass(frozen=True, slots=True)
class RewriteTask:
    """What is to be done with each of many files, in any process: ``plans`` asks for the explain
    diffs, ``write`` for the changed files to be written, ``text`` for that of changed files and
    ``unchanged`` for that of all others, ``verdicts`` for each candidate's, with its rules, and not
    only for what is to be done, ``survey`` for the statements of the file, ``count`` for its
    statistics, which no cache has."""

    request: Request
    plans: bool = True
    write: bool = False
    text: bool = True
    unchanged: bool = True
    verdicts: bool = True
    survey: bool = False
    count: bool = False
    kept_type = _Kept

    def __call__(self, path: str, data: bytes) -> FileResult:
        """The result for a file's bytes, fit to be sent to another process."""
        result = run(path, data, self.request, survey=self.survey or self.count)
        if result.rewrite is not None:
            done = result.rewrite
            if self.count:
                kept = result.surveyed if self.survey else ()
                result = replace(result, surveyed=kept, counted=count(result, self.request))
            drawn = (PlanDiff(it.statement, it.line, it.lines) for it in done.plans)
            plans = tuple(drawn) if self.plans else ()  # which holds no plan any more
            found = done.candidates
            if not self.verdicts:
                found = tuple(replace(it, rules=()) for it in found)
            result = replace(result, rewrite=replace(done, plans=plans, candidates=found))
        return write(result) if self.write else result

    def of_stdin(self, name: str, data: bytes) -> FileResult:
        """The result for bytes that are in no file, to which nothing is written."""
        return replace(self, write=False)(name, data)

    @property
    def cache_key(self) -> tuple[object, ...]:
        """What tells its cached results from those of other jobs."""
        return ("rewrite", self.plans, self.verdicts, self.survey, self.count)

    @property
    def limit(self) -> int:
        """A file of more bytes is not read."""
        return self.request.settings.file_limit

    def unread(self, path: str, why: Problem) -> FileResult:
        """The result for a file that is not read."""
        return unread(path, why)

    def keep(self, result: FileResult) -> _Kept | None:
        """The record of a file, of its text only what it is changed to; the number of statements
        where there is nothing else to say."""
        done = result.rewrite
        if done is None or result.failure or self.count:
            return None
        if any(it.code == BUG or TOO_DEEP in it.message for it in (*done.errors, *done.skipped)):
            return None  # another run may do better
        if not self.survey and (result.silent or (result.quiet and not self.verdicts)):
            return done.statements
        return replace(done, original="", sql=done.sql if done.changed else ""), result.surveyed

    def recall(self, path: str, data: bytes | None, kept: _Kept) -> FileResult | None:
        """The result for a file of that record."""
        done, told = (Rewrite("", "", kept), ()) if isinstance(kept, int) else kept
        if data is None:
            wanted = (self.text or self.write) if done.sql else self.unchanged
            return None if wanted else FileResult(path, rewrite=done, surveyed=told)
        source = decode(data)
        done = replace(done, original=source.text, sql=done.sql or source.text)
        result = FileResult(path, data, source, done, surveyed=told)
        return write(result) if self.write else result


def count(result: FileResult, request: Request) -> Statistics | None:
    """The statistics of a file that was surveyed and what was made of it."""
    from sqlrewrite.run.statistics import counted  # which few runs ask for

    if result.source is None or result.rewrite is None:
        return None
    return counted(result.surveyed, result.rewrite, request.catalog)


def write(result: FileResult) -> FileResult:
    """Writes a changed file in place; the result again, with the failure if that did not work."""
    if not result.changed or result.output is None:
        return result
    try:
        write_atomically(result.path, result.output)
    except OSError as error:
        why = f"cannot be written: {error.strerror or error}"
        return FileResult(
            result.path, result.data, result.source, failure=Problem("io-error", why, 1, 1)
        )
    return result


def internal_error(error: BaseException) -> Problem:
    """A mistake of ours, with the line it happened in: enough for a report, no traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    what = f"{type(error).__name__}: {error}".removesuffix(": ").splitlines()[0][:200]
    message = f"internal error ({what}{where}); please report it, with the query if you may"
    return Problem("internal-error", message, 1, 1)
