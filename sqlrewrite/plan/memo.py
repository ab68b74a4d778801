"""Questions about a value that never changes (a plan, a proposal), each answered once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar, cast

from sqlrewrite.plan.steps import count_steps

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
