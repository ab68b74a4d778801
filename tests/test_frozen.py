"""The package's dataclass: to the interpreter it differs from a frozen one only in speed."""

from __future__ import annotations

import ast
import dataclasses
import pickle
from functools import partial
from pathlib import Path
from pprint import pformat
from typing import Any

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.document import decide, read
from sqlrewrite.frozen import dataclass
from sqlrewrite.rewriting import result
from sqlrewrite.settings.options import make_options

PACKAGE = Path(__file__).resolve().parents[1] / "sqlrewrite"
DDL = "CREATE TABLE f (a INT, p INT) PARTITIONED BY (p); CREATE TABLE d (k INT, y INT)"
QUERY = "SELECT a FROM f JOIN d ON p = k WHERE y = 1"


def _sent(value: Any) -> Any:
    """A value as another process receives it."""
    return pickle.loads(pickle.dumps(value))


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


@dataclass(slots=True)
class Sum:
    items: list[int] = dataclasses.field(default_factory=list)
    total: int = dataclasses.field(init=False, compare=False)

    def __post_init__(self) -> None:
        self.total = sum(self.items)


@dataclass(frozen=True, slots=True)
class More(Value):
    z: int = 3


@dataclass(frozen=True, slots=True)
class Empty:
    pass


def test_equality_and_hash_are_those_of_a_frozen_one() -> None:
    assert Value(1, (2,)) == Value(1, (2,)) != Value(1)
    assert hash(Value(1, (2,))) == hash(Frozen(1, (2,)))
    assert len({Value(1), Value(1), Value(2)}) == 2
    assert Identity(1) != Identity(1)
    assert len({Identity(1), Identity(1)}) == 2
    assert Value(1).__eq__(1) is NotImplemented


def test_one_that_is_not_frozen_has_no_hash() -> None:
    assert Sum([1]) == Sum([1]) != Sum([2])
    with pytest.raises(TypeError, match="unhashable"):
        hash(Sum())


def test_of_no_fields_all_are_equal() -> None:
    assert Empty() == Empty()
    assert hash(Empty()) == hash(())


def test_it_is_made_from_what_it_is_given() -> None:
    assert Value(y=(1,), x=2) == Value(2, (1,))
    assert (More(1).x, More(1).y, More(1).z, More(1, (), 4).z) == (1, (), 3, 4)
    assert More(1) != Value(1)
    make: Any = Value
    for wrong in (make, partial(make, 1, (), 3), partial(make, 1, w=1), partial(make, 1, x=1)):
        with pytest.raises(TypeError, match=r"Value.__init__\(\)"):
            wrong()


def test_what_is_made_for_each_is_its_own() -> None:
    one, other = Sum(), Sum()
    one.items.append(1)
    assert (one.items, other.items, Sum([1, 2]).total) == ([1], [], 3)


def test_it_shows_itself_as_one() -> None:
    assert repr(Value(1, (2,))) == repr(Frozen(1, (2,))).replace("Frozen", "Value")
    assert pformat(Value(1, (2,))) == repr(Value(1, (2,)))


def test_it_has_slots_and_can_be_replaced_and_sent() -> None:
    assert not hasattr(Value(1), "__dict__")
    assert dataclasses.replace(Value(1), y=(3,)) == Value(1, (3,))
    assert _sent(Value(1, (2,))) == Value(1, (2,))


def test_the_package_uses_no_other() -> None:
    importing = {
        path.stem
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses"
        for alias in node.names
        if alias.name == "dataclass"
    }
    assert importing == {"frozen"}


def test_two_equal_runs_give_equal_results_that_can_be_pickled() -> None:
    done, again = (rewrite(QUERY, Catalog.from_ddl(DDL)) for _ in "ab")
    assert done.changed
    assert done == again == _sent(done)
    assert done.explain() == _sent(done).explain() != ""


def test_a_document_and_a_decision_are_values() -> None:
    catalog = Catalog.from_ddl(DDL)
    wanted = make_options()
    document = read(QUERY, catalog, wanted.limits)
    decision = decide(document, wanted)
    assert result(decision).changed
    assert document == read(QUERY, catalog, wanted.limits) == _sent(document)
    assert decision == decide(document, wanted) == _sent(decision)
    assert result(_sent(decision)) == result(decide(_sent(document), wanted)) == result(decision)
