"""The steps that one statement takes, counted: one that takes too many is left alone.

Counted and not timed, so that a statement is judged alike on a slow machine. What reads a plan, or
makes one, counts where it may be asked for the same once more: a relation, a column, an answer.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

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
