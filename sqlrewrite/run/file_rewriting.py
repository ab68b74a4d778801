"""Rewrites one file, from bytes to bytes, and sums up many.

In: a file's name and bytes. Out: a ``FileResult``, also for a file that cannot be read and for a
bug of ours, so that one file never stops the others.
"""

from __future__ import annotations

import os
import traceback
from functools import lru_cache

from msgspec import Struct, field

from sqlrewrite.catalog.sources import at_file
from sqlrewrite.copies import replace
from sqlrewrite.document import Document
from sqlrewrite.find.summary import StatementSummary
from sqlrewrite.results import ConfigError, PlanDiff, Problem, Rewrite, Verdict
from sqlrewrite.rewriting import DocumentObserver, rewrite_with_options
from sqlrewrite.run.file_content import UnreadFileError, read_source
from sqlrewrite.run.statistics import Silent, Statistics, documents_of, statistics_of, summaries
from sqlrewrite.settings.options import Options, Resolve, make_options, not_asked
from sqlrewrite.settings.table import Settings
from sqlrewrite.stripping import stripped
from sqlrewrite.text.hosts import host_of
from sqlrewrite.text.source import Source, unified_diff, write_atomically
from sqlrewrite.warehouse import CatalogError, Warehouse


class Request(Struct, frozen=True, eq=False):
    """The catalog and settings for rewriting files. ``strip``: only remove what earlier runs wrote.
    ``resolve`` returns the keys for ``values``."""

    catalog: Warehouse
    settings: Settings = field(default_factory=Settings)
    strip: bool = False
    resolve: Resolve = not_asked

    @property
    def asks(self) -> bool:
        """Whether an engine is asked for keys, so that a later run may give another result."""
        return self.resolve is not not_asked

    def options(self) -> Options:
        """The options of the rewriting, checked once. Raises ConfigError."""
        return _options(self)


@lru_cache(8)
def _options(request: Request) -> Options:
    return make_options(request.settings, resolve=request.resolve)


class FileResult(Struct, frozen=True, eq=False):
    """The result for one file. ``failure``: why there is no ``rewrite``, or why it could not be
    written. ``statements`` and ``statistics`` are set if requested."""

    path: str
    data: bytes | None = None
    source: Source | None = None
    rewrite: Rewrite | None = None
    failure: Problem | None = None
    statements: tuple[StatementSummary, ...] = ()
    statistics: Statistics | None = None

    @property
    def changed(self) -> bool:
        """Whether the file's text changes."""
        return self.rewrite is not None and self.rewrite.changed

    @property
    def silent(self) -> bool:
        """Whether there is nothing to report, except that the file was read."""
        return self.quiet and not (self.rewrite and self.rewrite.candidates)

    @property
    def quiet(self) -> bool:
        """Whether there is nothing to report, except candidates."""
        rewrite = self.rewrite
        if rewrite is None or self.failure or rewrite.changed:
            return False
        return not (
            rewrite.errors or rewrite.skipped or rewrite.removed or rewrite.notes or rewrite.plans
        )

    @property
    def hosted(self) -> bool:
        """Whether the file is in a host language, such as Python, which cannot be run as SQL."""
        return self.source is not None and host_of(self.path, self.source.text) is not None

    @property
    def output(self) -> bytes | None:
        """The bytes to print; if nothing is inserted, the bytes of the file."""
        if self.changed and self.source and self.rewrite:
            return self.source.encode(self.rewrite.sql)
        return self.data

    @property
    def text(self) -> str | None:
        """The output as text, with its byte-order mark; None if the file was not read."""
        if self.source is None or self.rewrite is None:
            return None
        return ("\ufeff" if self.source.bom else "") + self.rewrite.sql

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The failure of the file, then the statements that do not parse."""
        own = (self.failure,) if self.failure else ()
        return own + (self.rewrite.errors if self.rewrite else ())

    def diff(self) -> bytes:
        """The unified diff; empty if nothing changes."""
        if not (self.changed and self.source and self.rewrite):
            return b""
        mark = "\ufeff" if self.source.bom else ""
        text = unified_diff(mark + self.source.text, mark + self.rewrite.sql, self.path)
        return text.encode("utf-8", "surrogateescape")


class Summary(Struct):
    """Counts over files. ``statements_*`` and ``skipped`` add up to all statements; a file that
    could not be read counts as one. ``statistics`` are set if requested."""

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
        rewrite = result.rewrite
        if self.statistics is not None and result.statistics is not None:
            self.statistics.add(result.statistics)
        statements = rewrite.statements if rewrite else 0
        self.files += 1
        self.statements += statements
        if result.silent:
            self.statements_unchanged += statements
            return
        self.changed += result.changed
        self.failures += result.failure is not None
        self.skipped += result.failure is not None
        self.errors += len(result.errors)
        if rewrite is None:
            return
        rewritten = [
            candidate.statement
            for candidate in rewrite.candidates
            if candidate.verdict is Verdict.REWRITTEN
        ]
        removed = (predicate.statement for predicate in rewrite.removed)
        touched = {*rewritten, *removed, *rewrite.grouped}
        skipped = len(rewrite.errors) + len(rewrite.skipped)
        self.statements_rewritten += len(touched)
        self.statements_unchanged += max(0, statements - skipped - len(touched))
        self.skipped += skipped
        self.candidates += len(rewrite.candidates)
        self.rewritten += len(rewritten)

    def status(self, *, check: bool, strict: bool) -> int:
        """The exit status: 2 if something failed, 1 if ``--check`` found a file to change."""
        if self.failures or (self.errors and not check):
            return 2
        return int(check and bool(self.changed or (strict and self.errors)))


def _rewritten(path: str, text: str, request: Request, observe: DocumentObserver | None) -> Rewrite:
    catalog = at_file(path, request.catalog)
    if request.strip and observe is not None:
        for document in documents_of(path, text, catalog, request.settings.limits):
            observe(document)
    host = host_of(path, text)
    if host is not None:
        from sqlrewrite import embedded  # not imported for a file of SQL

        if request.strip:
            return embedded.strip(path, host)
        return embedded.rewrite(path, host, catalog, request.options(), observe)
    if request.strip:
        return stripped(text, request.settings.limits)
    return rewrite_with_options(text, catalog, request.options(), observe)


def unread(path: str, why: Problem, data: bytes | None = None) -> FileResult:
    """The result for a file that is not read; it is no failure if the file is too large."""
    if why.code:
        return FileResult(path, data, failure=why)
    return FileResult(path, data, rewrite=Rewrite("", "", 1, skipped=(why,)))


def run(path: str, data: bytes, request: Request, *, with_statements: bool = False) -> FileResult:
    """The result for one file's bytes, with its statements if asked for. Raises ConfigError and
    CatalogError, and nothing else: what is wrong with the request, not with the file."""
    try:
        source = read_source(data, request.settings.file_limit)
    except UnreadFileError as error:
        return unread(path, error.problem, data)
    documents: list[Document] = []
    try:
        rewrite = _rewritten(
            path, source.text, request, documents.append if with_statements else None
        )
    except (ConfigError, CatalogError):
        raise
    except Exception as error:
        return FileResult(path, data, source, failure=internal_error(error))
    return FileResult(path, data, source, rewrite, statements=summaries(documents, rewrite))


class RewriteTask(Struct, frozen=True):
    """The job of rewriting a file, in any process, and which parts its result has. ``plans``: the
    explain diffs. ``write``: changed files are written. ``unchanged``: texts of unchanged files.
    ``verdicts``: the rules of each candidate. ``statements``, ``statistics``: those of the file."""

    request: Request
    plans: bool = True
    write: bool = False
    unchanged: bool = True
    verdicts: bool = True
    statements: bool = False
    statistics: bool = False

    def __call__(self, path: str, data: bytes) -> FileResult:
        """The result for a file's bytes, fit to be sent to another process."""
        result = run(path, data, self.request, with_statements=self.statements or self.statistics)
        if result.rewrite is not None:
            rewrite = result.rewrite
            if self.statistics:
                kept = result.statements if self.statements else ()
                result = replace(
                    result, statements=kept, statistics=file_statistics(result, self.request)
                )
            # A diff that is drawn here does not hold the plans, which need not be pickled.
            drawn = (PlanDiff(diff.statement, diff.line, diff.lines) for diff in rewrite.plans)
            plans = tuple(drawn) if self.plans else ()
            candidates = rewrite.candidates
            if not self.verdicts:
                candidates = tuple(replace(candidate, rules=()) for candidate in candidates)
            rewrite = replace(rewrite, plans=plans, candidates=candidates)
            result = replace(result, rewrite=rewrite)
        return write(result) if self.write else result

    def of_stdin(self, name: str, data: bytes) -> FileResult:
        """The result for bytes that are in no file, to which nothing is written."""
        return replace(self, write=False)(name, data)

    @property
    def cache_key(self) -> tuple[object, ...] | None:
        """A key that separates its cached files from those of other jobs; None for no cache."""
        if self.statistics or self.unchanged:
            return None
        return ("rewrite", self.plans, self.verdicts, self.statements)

    @property
    def limit(self) -> int:
        """A file of more bytes is not read."""
        return self.request.settings.file_limit

    def unread(self, path: str, why: Problem) -> FileResult:
        """The result for a file that is not read."""
        return unread(path, why)

    def keep(self, result: FileResult) -> Silent | None:
        """The value to cache for a silent file, or for a quiet one if no verdict is reported."""
        silent = result.silent or (result.quiet and not self.verdicts)
        if not silent or result.rewrite is None or result.source is None:
            return None
        if not result.source.is_utf_8:  # there is a note on such a file
            return None
        reasoned = (one for one in result.statements if one.understood and one.reason)
        return result.rewrite.statements, tuple(replace(one, relations=()) for one in reasoned)

    def recall(self, path: str, silent: Silent) -> FileResult:
        """The result for an unchanged file with that cached value."""
        return FileResult(path, rewrite=Rewrite("", "", silent[0]), statements=silent[1])


def file_statistics(result: FileResult, request: Request) -> Statistics | None:
    """The statistics of a file whose statements are known."""
    if result.source is None or result.rewrite is None:
        return None
    return statistics_of(result.statements, result.rewrite, request.catalog)


def write(result: FileResult) -> FileResult:
    """Writes a changed file in place. Returns the result, with the failure if writing failed."""
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
    """A bug of ours, with the line that raised it: enough for a report, without a traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    what = f"{type(error).__name__}: {error}".removesuffix(": ").splitlines()[0][:200]
    message = f"internal error ({what}{where}); please report it, with the query if you may"
    return Problem("internal-error", message, 1, 1)
