"""Python's interpreter while SQL is parsed: little garbage collection, a larger stack if needed."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

TOO_DEEP = "nested too deeply"
"""The message if no stack was large enough; with more memory one may be."""

# In a longer text trees would pile up, each a hundred times the size of its text.
_LARGE = 100_000
_RARELY = 50_000
"""The number of new objects between two garbage collections while a large text is read; with
Python's own 700, collecting took a third of the time."""

_CALLS = 60_000
_STACK = 256 << 20  # of addresses: memory is taken only for what is used of it
_ONE_AT_A_TIME = threading.Lock()  # both limits are the whole process's


@contextmanager
def at_rest(text: str) -> Iterator[None]:
    """Pauses the garbage collector while this text is worked on; if it is large, it runs rarely.

    A tree of sqlglot refers to itself, so only the collector frees it; but while it is in use, the
    collector visits it again and again in vain. As in Mercurial's ``util.nogc``, many objects that
    all live on are made without it, and freed at once. Over the 99 TPC-DS queries that takes 50 of
    70 ms off what the collector costs.
    """
    if not gc.isenabled():
        yield
        return
    before = gc.get_threshold()
    if len(text) > _LARGE:
        gc.set_threshold(max(_RARELY, before[0]), *before[1:])
    else:
        gc.disable()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.enable()


class _Deep(threading.Thread):
    """A thread for one piece of work on a large stack."""


def deep(work: Callable[[], T]) -> T:
    """The result of ``work``, which is started again on a large stack if Python's runs out.

    sqlglot's parser, if it is not compiled, takes some twenty calls for a pair of parentheses, of
    the thousand that Python allows.
    """
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
