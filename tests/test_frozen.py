"""The package's dataclass: to the interpreter it differs from a frozen one only in speed."""

from __future__ import annotations

import ast
import dataclasses
import pickle
from pathlib import Path

import pytest

from sqlrewrite.frozen import dataclass

PACKAGE = Path(__file__).resolve().parents[1] / "sqlrewrite"


@dataclass(frozen=True, slots=True)
class Value:
    x: int
    y: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    x: int
    y: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Identity:
    x: int


def test_equality_and_hash_are_those_of_a_frozen_one() -> None:
    assert Value(1, (2,)) == Value(1, (2,)) != Value(1)
    assert hash(Value(1, (2,))) == hash(Frozen(1, (2,)))
    assert len({Value(1), Value(1), Value(2)}) == 2
    assert Identity(1) != Identity(1)
    assert len({Identity(1), Identity(1)}) == 2


def test_it_shows_itself_as_one() -> None:
    assert repr(Value(1, (2,))) == repr(Frozen(1, (2,))).replace("Frozen", "Value")


def test_it_has_slots_and_can_be_replaced_and_sent() -> None:
    assert not hasattr(Value(1), "__dict__")
    assert dataclasses.replace(Value(1), y=(3,)) == Value(1, (3,))
    assert pickle.loads(pickle.dumps(Value(1, (2,)))) == Value(1, (2,))


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_the_package_uses_no_other(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    names = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses"
        for alias in node.names
    }
    assert "dataclass" not in names or path.stem == "frozen"
