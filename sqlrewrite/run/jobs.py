"""Runs a job for each of many files, in several processes if that pays.

In: the job, the files' names, a cache or none. Out: the results, in the order of the files, each as
soon as all before it have ended. A file that the cache knows to be silent is skipped. The number of
files in flight is limited, so that memory does not grow.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from sqlrewrite.results import Problem
from sqlrewrite.run.file_content import UnreadFileError, content_hash, lasting_stamp, read_file

if TYPE_CHECKING:  # msgspec would slow down the start of a small run
    from sqlrewrite.run.cache import Cache, Entry
    from sqlrewrite.run.statistics import Silent

WORTH = 48
"""From this number of items on, processes are started: for fewer, starting them takes longer than
they save."""
_CHUNK = 16

Item = TypeVar("Item")
Result = TypeVar("Result")


class PoolError(Exception):
    """A worker process died; the message says what to do."""


class Job(Protocol[Result]):
    """The work on each file, and what the cache keeps of it."""

    def __call__(self, path: str, data: bytes) -> Result:
        """The result for a file with these bytes; it can be pickled."""

    def of_stdin(self, name: str, data: bytes) -> Result:
        """The result for bytes that are not in a file."""

    @property
    def limit(self) -> int:
        """The size in bytes above which a file is not read."""

    def unread(self, path: str, why: Problem) -> Result:
        """The result for a file that is not read."""

    @property
    def cache_key(self) -> tuple[object, ...] | None:
        """A key that separates its cached files from those of other jobs; None for no cache."""

    def keep(self, result: Result) -> Silent | None:
        """The value to cache for a file; None if it has something to report."""

    def recall(self, path: str, silent: Silent) -> Result:
        """The result for an unchanged file with that cached value."""


def run_each(
    job: Job[Result], paths: Sequence[str], processes: int | None, cache: Cache | None
) -> Iterator[Result]:
    """The job's result for each file in order, from the cache or by several processes."""
    if cache is None:
        yield from map_in_order(partial(run_once, job), paths, processes)
        return
    kept = [cache.get(path, job.limit) for path in paths]
    changed = [path for path, silent in zip(paths, kept, strict=True) if silent is None]
    fresh = map_in_order(partial(_run_and_keep, job), changed, processes)
    try:
        for path, silent in zip(paths, kept, strict=True):
            if silent is not None:
                yield job.recall(path, silent)
                continue
            result, entry = next(fresh)
            if entry is not None:
                cache.put(path, entry)
            yield result
    finally:
        cache.close()


def run_once(job: Job[Result], path: str) -> Result:
    """The job's result for one file."""
    try:
        data, _ = read_file(path, job.limit)
    except UnreadFileError as error:
        return job.unread(path, error.problem)
    return job(path, data)


def _run_and_keep(job: Job[Result], path: str) -> tuple[Result, Entry | None]:
    """The job's result for one file, with its entry in the cache."""
    from sqlrewrite.run.cache import packed

    try:
        data, status = read_file(path, job.limit)
    except UnreadFileError as error:
        return job.unread(path, error.problem), None
    stamp = lasting_stamp(status)
    result = job(path, data)
    silent = job.keep(result)
    value = None if silent is None else packed(silent)
    return result, None if value is None else (stamp, content_hash(data, path), value)


def cores() -> int:
    """Number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only on Linux
        return os.cpu_count() or 1


def map_in_order(
    function: Callable[[Item], Result], items: Sequence[Item], processes: int | None = None
) -> Iterator[Result]:
    """The function's result for each item in order; by default with one process per core. The
    function, items and results must be picklable. Raises PoolError for a worker that died, and what
    the function raises."""
    processes = processes or cores()
    if processes == 1 or len(items) < WORTH:
        yield from map(function, items)
        return
    from concurrent.futures import Future, ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    pool = ProcessPoolExecutor(processes, initializer=_begin, initargs=(function,))
    under_way: deque[Future[list[Any]]] = deque()
    try:
        for start in range(0, len(items), _CHUNK):
            under_way.append(pool.submit(_chunk, items[start : start + _CHUNK]))
            if len(under_way) > 2 * processes:
                yield from under_way.popleft().result()
        while under_way:
            yield from under_way.popleft().result()
    except BrokenProcessPool as error:
        raise PoolError("a worker process died, of lack of memory perhaps: try -j 1") from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_work: Callable[[Any], Any]


def _begin(function: Callable[[Any], Any]) -> None:
    """Prepares a worker: it gets the function once, and leaves Ctrl-C to the parent process."""
    import signal
    from threading import Thread

    global _work
    _work = function
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Ends this worker when its parent is killed; nothing else would. Uses SIGTERM, which waits for
    a file that is being written."""
    import signal
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _chunk(items: Sequence[Any]) -> list[Any]:
    return [_work(item) for item in items]
