"""Questions about a plan that are answered once: a plan never changes, so an answer holds."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

from sqlrewrite.plan.algebra import Plan

Question = TypeVar("Question", bound=Callable[..., Any])


def remembered(ask: Question) -> Question:
    """The question, worked out once for each plan and set of arguments, which have no names."""
    # A name and not the function, which a pickled plan could not hold.
    name = f"{ask.__module__}.{ask.__qualname__}"

    def asked(plan: Plan, *about: Hashable) -> Any:
        memo, key = plan.memo, (name, *about)
        found = memo.get(key, memo)  # which stands for no answer
        if found is memo:
            found = memo[key] = ask(plan, *about)
        return found

    asked.__doc__ = ask.__doc__
    return cast("Question", asked)
