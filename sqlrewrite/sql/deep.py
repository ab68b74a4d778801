"""Work that runs out of Python's stack, done once more where there is enough of it.

sqlglot's parser, where it is not compiled, takes some twenty calls for a pair of parentheses, of
the thousand that Python allows. More of them need a larger stack than a thread usually has.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

TOO_DEEP = "nested too deeply"
"""What is said where no stack was large enough; with more memory it may be."""

_CALLS = 60_000
_STACK = 256 << 20  # of addresses: memory is taken only for what is used of it
_ONE_AT_A_TIME = threading.Lock()  # both limits are the whole process's


class _Deep(threading.Thread):
    """A thread for one piece of work."""


def deep(work: Callable[[], T]) -> T:
    """What ``work`` gives, or raises; it may be begun twice, the second time on a large stack."""
    try:
        return work()
    except RecursionError:
        if isinstance(threading.current_thread(), _Deep):
            raise
    return _with_a_large_stack(work)


def _with_a_large_stack(work: Callable[[], T]) -> T:
    results: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            raised.append(error)

    with _ONE_AT_A_TIME:
        calls, stack = sys.getrecursionlimit(), threading.stack_size(_STACK)
        sys.setrecursionlimit(max(calls, _CALLS))
        try:
            thread = _Deep(target=run, daemon=True)
            thread.start()
            thread.join()
        except RuntimeError as error:  # of the thread, and none of the work's
            raise RecursionError("there is no memory for a larger stack") from error
        finally:
            sys.setrecursionlimit(calls)
            threading.stack_size(stack)
    if raised:
        raise raised[0]
    return results[0]
