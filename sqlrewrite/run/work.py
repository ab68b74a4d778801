"""Runs a job for each of many files: from the cache if it was done before, else by processes.

In: the job, the files' names, a cache or none. Out: the results, in the order of the files. Here it
is decided what a cache is asked; ``cache`` reads and writes. Of a file that is as it was no more is
asked than its ``stat``, unless its text is wanted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from sqlrewrite.frozen import dataclass
from sqlrewrite.results import Problem
from sqlrewrite.run import pool
from sqlrewrite.text.hosts import kind_of
from sqlrewrite.text.limits import over
from sqlrewrite.text.source import Source, SourceError, decode

if TYPE_CHECKING:  # sqlite3 and msgspec would make the start of a small run longer
    from sqlrewrite.run.cache import Cache
    from sqlrewrite.run.stamps import Stamp

Result = TypeVar("Result")


class UnreadFileError(Exception):
    """A file of which nothing is made; ``problem`` says why, and has no code where the file is left
    alone for its size."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.problem = Problem(code, message, 1, 1)


class Job(Protocol[Result]):
    """What is done with each file, and how that is kept and recalled."""

    def __call__(self, path: str, data: bytes) -> Result:
        """The result for a file of these bytes, fit to be sent to another process."""

    @property
    def limit(self) -> int:
        """A file of more bytes is not read."""

    def unread(self, path: str, why: Problem) -> Result:
        """The result for a file that is not read."""

    @property
    def kept(self) -> Any:
        """The type of what ``keep`` gives, which is read again as this and nothing else."""

    def keep(self, result: Result) -> object | None:
        """What is to be kept of a result; None where it is not to be recalled."""

    def recall(self, path: str, data: bytes | None, kept: Any) -> Result | None:
        """The result again, from what was kept of it for a file of these bytes; where these are not
        given and wanted, None."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a cache gets to know of a file that was worked on: its ``stamp`` where it may be known
    by it, the hash of its bytes, and what is kept of the result."""

    stamp: Stamp | None
    digest: bytes
    kept: bytes


def each(
    job: Job[Result], paths: Sequence[str], jobs: int | None, cache: Cache | None
) -> Iterator[Result]:
    """The job's result for each file in order: from the cache, or by several processes."""
    if cache is None:
        yield from pool.each(partial(once, job), paths, jobs)
        return
    met = [(path, *(cache.seen(path) or (digest(path, job.limit), None))) for path in paths]
    others = [(path, found) for path, found, kept in met if kept is None]
    known = cache.known(found for _, found in others if found is not None)
    stored = cache.values([found for _, found in others if found is not None and found in known])
    fresh = pool.each(partial(_sent, job), [it for it, found in others if found not in known], jobs)
    for path, found, kept in met:
        if kept is not None and found is not None:  # as it was
            result = _told(job, path, kept)
            if result is None:
                result = _recalled(job, path, found, kept, cache)
        elif found is not None and found in known:
            result = _recalled(job, path, found, next(stored), cache)
        else:
            result = _taken(job, path, *next(fresh), cache)
        if result is not None:
            yield result
            continue
        again, done = _done(job, path)  # it has changed meanwhile, or what was kept is of no use
        _taken(job, path, again, done, cache)
        yield again
    cache.close()


def once(job: Job[Result], path: str) -> Result:
    """The job's result for one file."""
    try:
        data, _ = read_file(path, job.limit)
    except UnreadFileError as error:
        return job.unread(path, error.problem)
    return job(path, data)


def _done(job: Job[Result], path: str) -> tuple[Result, Done | None]:
    """The same with what a cache gets to know of it."""
    from sqlrewrite.run.cache import packed
    from sqlrewrite.run.stamps import settled

    try:
        data, status = read_file(path, job.limit)
    except UnreadFileError as error:
        return job.unread(path, error.problem), None
    stamp = settled(status)
    result = job(path, data)
    value = job.keep(result)
    kept = None if value is None else packed(value)
    return result, None if kept is None else Done(stamp, hashed(data, path), kept)


def _sent(job: Job[Result], path: str) -> tuple[Result | None, Done | None]:
    """The same as another process sends it: without the result where what is kept tells it all."""
    result, done = _done(job, path)
    told = done is not None and _told(job, path, done.kept) is not None
    return None if told else result, done


def _taken(
    job: Job[Result], path: str, result: Result | None, done: Done | None, cache: Cache
) -> Result | None:
    """The result of a file that was worked on, which the cache gets to know."""
    if done is None:
        return result
    cache.put(done.digest, done.kept)
    cache.note(path, done.stamp, done.digest, done.kept)
    return _told(job, path, done.kept) if result is None else result


def _told(job: Job[Result], path: str, kept: bytes) -> Result | None:
    """The result of a file, from what was kept of it alone."""
    from sqlrewrite.run.cache import unpacked

    value = unpacked(kept, job.kept)
    return None if value is None else job.recall(path, None, value)


def _recalled(
    job: Job[Result], path: str, known: bytes, kept: bytes | None, cache: Cache
) -> Result | None:
    """The result from what was kept of a file, if it is still the one that was asked about."""
    from sqlrewrite.run.cache import unpacked
    from sqlrewrite.run.stamps import settled

    try:
        data, status = read_file(path, job.limit)
    except UnreadFileError:
        return None
    stamp = settled(status)
    value = unpacked(kept, job.kept)
    if kept is None or value is None or hashed(data, path) != known:
        return None
    cache.note(path, stamp, known, kept)
    return job.recall(path, data, value)


def digest(path: str, limit: int = sys.maxsize) -> bytes | None:
    """The hash of a file's bytes, None where they cannot be read or are too many."""
    try:
        return hashed(read_file(path, limit)[0], path)
    except UnreadFileError:
        return None


def hashed(data: bytes, path: str) -> bytes:
    """The hash of a file's bytes, and of what its name says of the language that they are in."""
    from hashlib import sha256  # it would take a part in the time in which a small run starts

    return sha256(kind_of(path).encode() + data).digest()


def read_file(path: str, limit: int = sys.maxsize) -> tuple[bytes, os.stat_result]:
    """The bytes of a file, and its status before: a change while it is read makes another. Raises
    UnreadFileError."""
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            check_size(status.st_size, limit)
            return file.read(), status
    except OSError as error:
        raise UnreadFileError("io-error", f"cannot be read: {error.strerror or error}") from error


def read_source(data: bytes, limit: int) -> Source:
    """A file's text. Raises UnreadFileError."""
    check_size(len(data), limit)
    try:
        return decode(data)
    except SourceError as error:
        raise UnreadFileError("io-error", str(error)) from error


def check_size(size: int, limit: int) -> None:
    """Raises UnreadFileError for a file of too many bytes."""
    if size > limit:
        raise UnreadFileError("", over("file", size, limit))
