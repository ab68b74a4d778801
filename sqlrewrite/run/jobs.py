"""Runs a job for each of many files: from the cache where that knows the file, else in processes.

In: the job, the files' names, a cache or none. Out: the results, in the order of the files. This
module decides what the cache is asked for, ``cache`` reads and writes it. A file whose stamp is
unchanged is not read, unless its text is needed for the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from sqlrewrite.results import Problem
from sqlrewrite.run import pool
from sqlrewrite.run.file_content import (
    Stamp,
    UnreadFileError,
    content_hash,
    file_hash,
    lasting_stamp,
    read_file,
)

if TYPE_CHECKING:  # sqlite3 and msgspec would slow down the start of a small run
    from sqlrewrite.run.cache import Cache

Result = TypeVar("Result")


class Job(Protocol[Result]):
    """What is done with each file, and how its result is kept in the cache."""

    def __call__(self, path: str, data: bytes) -> Result:
        """The result for a file of these bytes, fit to be sent to another process."""

    def of_stdin(self, name: str, data: bytes) -> Result:
        """The result for bytes that are not in a file."""

    @property
    def limit(self) -> int:
        """A file of more bytes is not read."""

    def unread(self, path: str, why: Problem) -> Result:
        """The result for a file that is not read."""

    @property
    def cache_key(self) -> tuple[object, ...]:
        """What tells its cached results from those of other jobs."""

    @property
    def kept_type(self) -> Any:
        """The type of what ``keep`` returns; anything else in the cache is a miss."""

    def keep(self, result: Result) -> object | None:
        """What the cache keeps of a result; None where it should keep nothing."""

    def recall(self, path: str, data: bytes | None, kept: Any) -> Result | None:
        """The result again, from what was kept of it and the file's bytes; None where these are not
        given and the result needs them."""


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """What the cache keeps of a file: its stamp, if that lasts, the hash of its content, and what
    the job keeps of the result."""

    stamp: Stamp | None
    content: bytes
    kept: bytes


def each(
    job: Job[Result], paths: Sequence[str], jobs: int | None, cache: Cache | None
) -> Iterator[Result]:
    """The job's result for each file in order: from the cache, or by several processes."""
    if cache is None:
        yield from pool.each(partial(once, job), paths, jobs)
        return
    # By its stamp a file's hash is known, and perhaps what was kept; else the file is read for it.
    lookups = [(path, *(cache.seen(path) or (file_hash(path, job.limit), None))) for path in paths]
    rest = [(path, content) for path, content, kept in lookups if kept is None]
    known = cache.known(content for _, content in rest if content is not None)
    stored = cache.values([content for _, content in rest if content in known and content])
    unknown = [path for path, content in rest if content not in known]
    fresh = pool.each(partial(_in_worker, job), unknown, jobs)
    for path, content, kept in lookups:
        if kept is not None and content is not None:  # its stamp is unchanged
            result = _from_kept(job, path, kept)
            if result is None:
                result = _recalled(job, path, content, kept, cache)
        elif content is not None and content in known:
            result = _recalled(job, path, content, next(stored), cache)
        else:
            result = _stored(job, path, *next(fresh), cache)
        if result is not None:
            yield result
            continue
        again, entry = _with_entry(job, path)  # it has changed meanwhile, or the entry is no use
        _stored(job, path, again, entry, cache)
        yield again
    cache.close()


def once(job: Job[Result], path: str) -> Result:
    """The job's result for one file."""
    try:
        data, _ = read_file(path, job.limit)
    except UnreadFileError as error:
        return job.unread(path, error.problem)
    return job(path, data)


def _with_entry(job: Job[Result], path: str) -> tuple[Result, CacheEntry | None]:
    """The job's result for one file, with its entry in the cache."""
    from sqlrewrite.run.cache import packed

    try:
        data, status = read_file(path, job.limit)
    except UnreadFileError as error:
        return job.unread(path, error.problem), None
    stamp = lasting_stamp(status)
    result = job(path, data)
    value = job.keep(result)
    kept = None if value is None else packed(value)
    entry = None if kept is None else CacheEntry(stamp, content_hash(data, path), kept)
    return result, entry


def _in_worker(job: Job[Result], path: str) -> tuple[Result | None, CacheEntry | None]:
    """The same, without a result that follows from the entry: it need not be sent."""
    result, entry = _with_entry(job, path)
    follows = entry is not None and _from_kept(job, path, entry.kept) is not None
    return None if follows else result, entry


def _stored(
    job: Job[Result], path: str, result: Result | None, entry: CacheEntry | None, cache: Cache
) -> Result | None:
    """The result of a file that was worked on, after its entry is put into the cache."""
    if entry is None:
        return result
    cache.put(entry.content, entry.kept)
    cache.note(path, entry.stamp, entry.content, entry.kept)
    return _from_kept(job, path, entry.kept) if result is None else result


def _from_kept(job: Job[Result], path: str, kept: bytes) -> Result | None:
    """The result of a file from what was kept of it alone."""
    from sqlrewrite.run.cache import unpacked

    value = unpacked(kept, job.kept_type)
    return None if value is None else job.recall(path, None, value)


def _recalled(
    job: Job[Result], path: str, content: bytes, kept: bytes | None, cache: Cache
) -> Result | None:
    """The result from what was kept of a file and from its bytes, if these still have that hash."""
    from sqlrewrite.run.cache import unpacked

    try:
        data, status = read_file(path, job.limit)
    except UnreadFileError:
        return None
    stamp = lasting_stamp(status)
    value = unpacked(kept, job.kept_type)
    if kept is None or value is None or content_hash(data, path) != content:
        return None
    cache.note(path, stamp, content, kept)
    return job.recall(path, data, value)
