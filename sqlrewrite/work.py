"""A job for each of many files: from the cache where it was done before, else by several processes.

In: the job, the files' names, a cache or none. Out: the results, in the order of the files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from sqlrewrite import pool

if TYPE_CHECKING:  # sqlite3 and pickle would double the time in which a small run starts
    from sqlrewrite.cache import Cache

Result = TypeVar("Result")


class Job(Protocol[Result]):
    """What is done with each file, by its name, and how that is kept and recalled."""

    def __call__(self, path: str) -> tuple[bytes | None, Result]:
        """The hash of the file's bytes, None where they could not be read, and the result."""

    def keep(self, result: Result) -> object | None:
        """What is to be kept of a result, None where it is not to be recalled."""

    def recall(self, path: str, data: bytes, kept: Any) -> Result:
        """The result again, from what was kept of it for a file of these bytes."""


def each(
    job: Job[Result], paths: Sequence[str], jobs: int | None, cache: Cache | None
) -> Iterator[Result]:
    """The job's result for each file in order: from the cache, or by several processes."""
    if cache is None:
        yield from (result for _, result in pool.each(job, paths, jobs))
        return
    keys = {path: cache.key(found) for path in paths if (found := digest(path)) is not None}
    known = cache.known(keys.values())
    fresh = pool.each(job, [path for path in paths if keys.get(path) not in known], jobs)
    for path in paths:
        recalled = _recalled(job, path, keys[path], cache) if keys.get(path) in known else None
        if recalled is not None:
            yield recalled
            continue
        found, result = job(path) if keys.get(path) in known else next(fresh)
        kept = job.keep(result)
        if found is not None and kept is not None:
            cache.put(cache.key(found), kept)
        yield result
    cache.close()


def _recalled(job: Job[Result], path: str, key: bytes, cache: Cache) -> Result | None:
    """What the cache knows of a file, if it is still the one that was asked about."""
    kept = cache.get(key)
    try:
        data = Path(path).read_bytes()
    except OSError:
        return None
    if kept is None or cache.key(sha256(data).digest()) != key:
        return None
    return job.recall(path, data, kept)


def digest(path: str) -> bytes | None:
    """The hash of a file's bytes, None where they cannot be read."""
    try:
        return sha256(Path(path).read_bytes()).digest()
    except OSError:
        return None
