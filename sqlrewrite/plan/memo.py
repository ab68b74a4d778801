"""Memoized functions of immutable values (plans, proposals), and the limit on the steps that one
statement may take.

Steps are counted, not timed, so that the outcome is the same on a slow machine. Each relation,
column or answer that a function reads or makes counts as one step, wherever work may be repeated.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Hashable
from operator import attrgetter
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


def remembered(function: Function) -> Function:
    """The function, with its results kept in the ``memo`` of its first argument, by the other
    positional arguments."""
    return _answered_once(function, attrgetter("memo"))


def remembered_by_node(function: Function) -> Function:
    """The function, with its results kept in the ``memo`` of its first argument, by the identity of
    the others: to hash an expression takes as long as to walk all of it."""
    name = f"{function.__module__}.{function.__qualname__}"

    def memoized(value: Any, *arguments: object) -> Any:
        memo, key = value.memo, (name, *map(id, arguments))
        entry = memo.get(key)
        # The arguments are kept, so that no id is used again; ids of a pickled value mean nothing.
        if entry is None or entry[0] != arguments:
            entry = memo[key] = arguments, function(value, *arguments)
        return entry[1]

    memoized.__doc__ = function.__doc__
    return cast("Function", memoized)


def shared(function: Function) -> Function:
    """The function, with its results kept in the ``shared`` memo of its first argument, which other
    values have too, by the other positional arguments."""
    return _answered_once(function, attrgetter("shared"))


def _answered_once(function: Function, memo_of: Callable[[Any], dict[object, Any]]) -> Function:
    # Keys are names: a value with functions in its memo could not be pickled.
    name = f"{function.__module__}.{function.__qualname__}"

    def memoized(value: object, *arguments: Hashable) -> Any:
        count_steps()
        memo, key = memo_of(value), (name, *arguments)
        answer = memo.get(key, memo)  # the dict itself stands for "no answer"
        if answer is memo:
            answer = memo[key] = function(value, *arguments)
        return answer

    memoized.__doc__ = function.__doc__
    return cast("Function", memoized)


T = TypeVar("T")


class TooManyStepsError(Exception):
    """A statement took more steps than its limit allows."""


class _Budget(threading.local):
    """The steps left for the statement that this thread works on."""

    remaining = sys.maxsize


_budget = _Budget()


def count_steps(count: int = 1) -> None:
    """Counts steps. Raises TooManyStepsError where none remain."""
    _budget.remaining -= count
    if _budget.remaining < 0:
        raise TooManyStepsError


def within(most: int, work: Callable[[], T]) -> T:
    """The result of ``work``. Raises TooManyStepsError if it takes more than so many steps."""
    before, _budget.remaining = _budget.remaining, most
    try:
        return work()
    finally:
        _budget.remaining = before
