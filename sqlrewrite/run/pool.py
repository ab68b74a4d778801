"""Runs a function over many items, in a pool of processes if they are worth it, else one by one.

In: a function and its items. Out: the results, in the order of the items, each as soon as it and
those before it are done. The work in flight is limited, so that memory stays flat.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

WORTH = 48
"""With so many items processes are started: with fewer they cost more than they save."""
_CHUNK = 16

Item = TypeVar("Item")
Result = TypeVar("Result")


class PoolError(Exception):
    """A worker died; the message says what to do."""


def cores() -> int:
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1


def each(
    function: Callable[[Item], Result], items: Sequence[Item], jobs: int | None = None
) -> Iterator[Result]:
    """``work`` of each item in order, by ``jobs`` processes, as many as there are cores by default.

    ``work``, the items and the results must be picklable. Raises PoolError for a worker that died,
    and what ``work`` raises.
    """
    jobs = jobs or cores()
    if jobs == 1 or len(items) < WORTH:
        yield from map(function, items)
        return
    from concurrent.futures import Future, ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    pool = ProcessPoolExecutor(jobs, initializer=_begin, initargs=(function,))
    under_way: deque[Future[list[Any]]] = deque()
    try:
        for start in range(0, len(items), _CHUNK):
            under_way.append(pool.submit(_chunk, items[start : start + _CHUNK]))
            if len(under_way) > 2 * jobs:
                yield from under_way.popleft().result()
        while under_way:
            yield from under_way.popleft().result()
    except BrokenProcessPool as error:
        raise PoolError("a worker process died, of lack of memory perhaps: try -j 1") from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_work: Callable[[Any], Any]


def _begin(function: Callable[[Any], Any]) -> None:
    """Makes a worker ready: the function is sent once; Ctrl-C is left to the parent process."""
    import signal
    from threading import Thread

    global _work
    _work = function
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Ends this worker when its parent is killed: nothing else would. By SIGTERM, which waits for a
    file that is being written."""
    import signal
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _chunk(items: Sequence[Any]) -> list[Any]:
    return [_work(item) for item in items]
