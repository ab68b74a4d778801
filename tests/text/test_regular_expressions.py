"""No regular expression of the package goes back and forth: what it takes grows with the text."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tests.support.regular_expressions import Expression, attacks, expressions
from tests.support.turns import turn

pytestmark = pytest.mark.long

SECONDS = 0.1
"""Of the processor's time, for a text of 800 characters: a repeat in a repeat takes more for 24,
three repeats that share characters take half a second."""


def test_there_are_expressions_to_look_at() -> None:
    assert len(expressions()) > 250


def test_no_text_holds_an_expression_up() -> None:
    slow = [shown for expression in turn(expressions(), 4) for shown in _slow(expression)]
    assert not slow


def _slow(expression: Expression) -> list[str]:
    compiled = expression.compiled
    for size in (24, 800):  # the small one first: an exponential one would not end
        for text in attacks(expression, size):
            find = compiled.findall if expression.anywhere else compiled.match
            if _seconds(find, text) > SECONDS and _seconds(find, text) > SECONDS:
                return [f"{expression} on {text[:30]!r}"]
    return []


def _seconds(find: Callable[..., object], text: str | bytes) -> float:
    started = time.process_time()
    find(text)
    return time.process_time() - started
