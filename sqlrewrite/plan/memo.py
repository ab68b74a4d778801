"""Questions about a value that never changes (a plan, a proposal), each answered once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar, cast

Question = TypeVar("Question", bound=Callable[..., Any])


class HasMemo(Protocol):
    """A value that keeps what was worked out about it."""

    @property
    def memo(self) -> dict[object, Any]:
        """The answers, by question and arguments."""


def remembered(ask: Question) -> Question:
    """The question, worked out once for each value and set of arguments, which have no names."""
    # A name and not the function, which a pickled value could not hold.
    name = f"{ask.__module__}.{ask.__qualname__}"

    def asked(value: HasMemo, *about: Hashable) -> Any:
        memo, key = value.memo, (name, *about)
        found = memo.get(key, memo)  # the dict itself stands for "no answer"
        if found is memo:
            found = memo[key] = ask(value, *about)
        return found

    asked.__doc__ = ask.__doc__
    return cast("Question", asked)
