"""Answers about a value that never changes (a plan, a proposal), each worked out once; the steps
that one statement takes: one that takes too many is left alone.

Steps are counted and not timed, so that a statement is judged alike on a slow machine. What reads
or makes a plan counts where it may be asked for the same once more: a relation, a column, an
answer.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar, cast

Question = TypeVar("Question", bound=Callable[..., Any])


class HasMemo(Protocol):
    """A value that keeps what was worked out about it."""

    @property
    def memo(self) -> dict[object, Any]:
        """The answers, by question and arguments."""


class HasShared(Protocol):
    """A value that shares what was worked out with others of its kind."""

    @property
    def shared(self) -> dict[object, Any]:
        """The answers that hold for all of them, by question and arguments."""


def remembered(ask: Question) -> Question:
    """The question, worked out once for each value and set of arguments, which have no names."""

    def memo(value: HasMemo) -> dict[object, Any]:
        return value.memo

    return _answered_once(ask, memo)


def shared(ask: Question) -> Question:
    """The question, worked out once for all values that share their answers, and each set of
    arguments."""

    def memo(value: HasShared) -> dict[object, Any]:
        return value.shared

    return _answered_once(ask, memo)


def _answered_once(ask: Question, memo_of: Callable[[Any], dict[object, Any]]) -> Question:
    # A name and not the function, which a pickled value could not hold.
    name = f"{ask.__module__}.{ask.__qualname__}"

    def asked(value: object, *about: Hashable) -> Any:
        count_steps()
        memo, key = memo_of(value), (name, *about)
        answer = memo.get(key, memo)  # the dict itself stands for "no answer"
        if answer is memo:
            answer = memo[key] = ask(value, *about)
        return answer

    asked.__doc__ = ask.__doc__
    return cast("Question", asked)


T = TypeVar("T")


class TooManyStepsError(Exception):
    """A statement took more steps than its limit allows."""


class _Budget(threading.local):
    """The steps that remain to the statement that this thread reads."""

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
