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
        key = (name, *about)
        if key not in plan.memo:
            plan.memo[key] = ask(plan, *about)
        return plan.memo[key]

    asked.__doc__ = ask.__doc__
    return cast("Question", asked)
