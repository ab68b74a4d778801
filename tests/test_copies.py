"""Changed copies: of both kinds of values, and of nothing else."""

from __future__ import annotations

import pytest

from sqlrewrite.copies import replace
from sqlrewrite.plan.algebra import Literal
from sqlrewrite.text.limits import Limits


def test_of_both_kinds() -> None:
    assert replace(Limits(), nesting=3) == Limits(nesting=3)  # a Struct
    assert replace(Literal("string", "a"), text="b") == Literal("string", "b")  # a dataclass


@pytest.mark.parametrize("value", [Limits(), Literal("string", "a")])
def test_a_field_that_is_not_there(value: object) -> None:
    with pytest.raises(TypeError):
        replace(value, unseen=1)


@pytest.mark.parametrize("value", [(1, 2), "a", None, {"a": 1}])
def test_of_another_kind(value: object) -> None:
    with pytest.raises(TypeError):
        replace(value, a=1)
