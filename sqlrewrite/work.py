"""A job for each of many files: from the cache where it was done before, else by several processes.

In: the job, the files' names, a cache or none. Out: the results, in the order of the files. Of a
file that is as it was no more is asked than its ``stat``, unless its text is wanted.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeGuard, TypeVar

from sqlrewrite import pool
from sqlrewrite.frozen import dataclass

if TYPE_CHECKING:  # sqlite3 and pickle would double the time in which a small run starts
    from sqlrewrite.cache import Cache

Result = TypeVar("Result")

Kept = tuple[int, ...] | bytes
"""What is kept of a file: of most a few numbers say it all, of any other it is pickled."""

Stamp = tuple[int, int, int, int]
"""By what a file is known to be as it was: size, times of change in nanoseconds, number."""

_SETTLED = 2_000_000_000
"""A file changed less than so many nanoseconds ago may change again and have the same times: some
file systems count in twos of seconds. git calls such files racily clean, and looks into them."""


class LargeError(Exception):
    """A file over the limit: its bytes."""


class Job(Protocol[Result]):
    """What is done with each file, and how that is kept and recalled."""

    def __call__(self, path: str, data: bytes) -> Result:
        """The result for a file of these bytes, fit to be sent to another process."""

    @property
    def limit(self) -> int:
        """A file of more bytes is not read."""

    def large(self, path: str, size: int) -> Result:
        """The result for a file of so many bytes, which is not read."""

    def unread(self, path: str, why: str) -> Result:
        """The result for a file that cannot be read."""

    def keep(self, result: Result) -> object | None:
        """What is to be kept of a result, a few numbers if they say it all; None where it is not to
        be recalled."""

    def recall(self, path: str, data: bytes | None, kept: Any) -> Result | None:
        """The result again, from what was kept of it for a file of these bytes; where these are not
        given and wanted, None."""


@dataclass(frozen=True, slots=True)
class Done(Generic[Result]):
    """A file that was worked on: its ``stamp`` where it may be known by it, the hash of its bytes,
    what is kept. There is no ``result`` where that says it all."""

    result: Result | None
    stamp: Stamp | None = None
    digest: bytes = b""
    kept: Kept | None = None


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
    fresh = pool.each(partial(_done, job), [it for it, found in others if found not in known], jobs)
    for path, found, kept in met:
        if kept is not None and found is not None:  # as it was
            result = job.recall(path, None, unpacked(kept))
            result = result or _recalled(job, path, found, kept, cache)
        elif found is not None and found in known:
            result = _recalled(job, path, found, next(stored), cache)
        else:
            result = _taken(job, path, next(fresh), cache)
        # It has changed meanwhile, or what was kept is of no use: done now, and kept another time.
        yield once(job, path) if result is None else result
    cache.close()


def once(job: Job[Result], path: str) -> Result:
    """The job's result for one file."""
    try:
        data, _ = _read(path, job.limit)
    except (OSError, LargeError) as error:
        return _unread(job, path, error)
    return job(path, data)


def _unread(job: Job[Result], path: str, error: OSError | LargeError) -> Result:
    if isinstance(error, LargeError):
        return job.large(path, error.args[0])
    return job.unread(path, error.strerror or str(error))


def _done(job: Job[Result], path: str) -> Done[Result]:
    """The same with what a cache keeps of it; in any process."""
    try:
        data, stamp = _read(path, job.limit)
    except (OSError, LargeError) as error:
        return Done(_unread(job, path, error))
    result = job(path, data)
    value = job.keep(result)
    if value is None:
        return Done(result)
    kept = packed(value)
    # What is kept is sent anyway, and often says it all.
    told = kept is not None and job.recall(path, None, value) is not None
    return Done(None if told else result, stamp, hashed(data), kept)


def _taken(job: Job[Result], path: str, done: Done[Result], cache: Cache) -> Result | None:
    """The result of a file that was worked on, which the cache gets to know."""
    if done.kept is None:
        return done.result
    cache.put(done.digest, done.kept)
    cache.note(path, done.stamp, done.digest, done.kept)
    value = unpacked(done.kept) if done.result is None else None
    return done.result if value is None else job.recall(path, None, value)


def _recalled(
    job: Job[Result], path: str, known: bytes, kept: Kept | None, cache: Cache
) -> Result | None:
    """What was ``kept`` of a file, if it is still the one that was asked about."""
    try:
        data, stamp = _read(path, job.limit)
    except (OSError, LargeError):
        return None
    value = unpacked(kept)
    if kept is None or value is None or hashed(data) != known:
        return None
    cache.note(path, stamp, known, kept)
    return job.recall(path, data, value)


def packed(value: object) -> Kept | None:
    """What is kept as it is stored, None where it cannot be."""
    import pickle

    if _few(value):
        return value
    try:
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except Exception:
        return None


def unpacked(kept: Kept | None) -> Any | None:
    """What was kept, None where that is of no use."""
    if not isinstance(kept, bytes):
        return kept
    import pickle

    try:
        return pickle.loads(kept)
    except Exception:  # a pickle of another program may raise anything
        return None


def _few(value: object) -> TypeGuard[tuple[int, ...]]:
    return type(value) is tuple and all(type(it) is int for it in value)


def digest(path: str, limit: int = sys.maxsize) -> bytes | None:
    """The hash of a file's bytes, None where they cannot be read or are too many."""
    try:
        return hashed(_read(path, limit)[0])
    except (OSError, LargeError):
        return None


def hashed(data: bytes) -> bytes:
    """The hash of bytes."""
    from hashlib import sha256  # it would take a part in the time in which a small run starts

    return sha256(data).digest()


def _read(path: str, limit: int) -> tuple[bytes, Stamp | None]:
    """The bytes of a file, and its stamp where it is long enough ago that it changed. A change
    while it is read makes another stamp than this. Raises OSError, and LargeError."""
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        if status.st_size > limit:
            raise LargeError(status.st_size)
        data = file.read()
    changed = max(status.st_mtime_ns, status.st_ctime_ns)
    settled = changed + _SETTLED < time.time_ns()
    return data, stamp(status) if settled else None


def stamp(status: os.stat_result) -> Stamp:
    """What is compared of a file."""
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
