"""The collector rests while a text is worked on, and is afterwards as it was."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator

import pytest

from sqlrewrite import Catalog, lint, rewrite
from sqlrewrite.plan.algebra import Plan
from sqlrewrite.results import ConfigError
from sqlrewrite.sql.places import Places
from sqlrewrite.sql.python_runtime import at_rest
from sqlrewrite.text.markers import MARKER


@pytest.fixture(autouse=True)
def enabled() -> Iterator[None]:
    gc.enable()
    yield
    gc.enable()


def test_it_rests_and_goes_on() -> None:
    with at_rest("SELECT 1"):
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_goes_on_after_an_error() -> None:
    with pytest.raises(KeyError), at_rest("SELECT 1"):
        raise KeyError
    assert gc.isenabled()


def test_who_has_switched_it_off_has_it_off() -> None:
    gc.disable()
    with at_rest("SELECT 1"):
        assert not gc.isenabled()
    assert not gc.isenabled()


def test_one_within_another() -> None:
    with at_rest("SELECT 1"):
        with at_rest("SELECT 2"):
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_over_a_large_text_it_runs_rarely() -> None:
    before = gc.get_threshold()
    with at_rest("SELECT 1;" * 20_000):
        assert gc.isenabled()
        assert gc.get_threshold()[0] == 50_000
    assert gc.get_threshold() == before


def test_a_rewrite_leaves_it_as_it_was() -> None:
    rewrite("SELECT 1", Catalog())
    assert gc.isenabled()
    with pytest.raises(ConfigError):
        rewrite("SELECT 1", Catalog(), engine="none")
    assert gc.isenabled()


@pytest.mark.parametrize("work", [rewrite, lint])
def test_a_text_is_collected_once(work: Callable[[str, Catalog], object]) -> None:
    """After the work: while it goes on all that is made is in use."""
    collected: list[str] = []
    text = "SELECT a, b FROM t JOIN u ON t.a = u.b WHERE u.c = 1;\n" * 100
    work(text, Catalog())
    gc.collect()
    gc.callbacks.append(lambda phase, _: collected.append(phase))
    work(text, Catalog())
    gc.callbacks.pop()
    assert collected.count("start") <= 1


@pytest.mark.parametrize("predicate", ["in", "set", "range"])
def test_only_trees_wait_for_it(predicate: str) -> None:
    """A plan and the places in its text do not hold each other: both go with the result."""
    catalog = Catalog.from_ddl(
        "CREATE TABLE sales (id INT, day INT) USING parquet PARTITIONED BY (day);"
        "CREATE TABLE days (k INT, year INT) USING parquet;"
    )
    joined = "SELECT s.id FROM sales s JOIN days d ON s.day = d.k WHERE d.year = 2024"
    text = f"WITH c AS ({joined}) SELECT * FROM c UNION ALL {joined}"
    gc.collect()
    gc.disable()
    before = _count(Plan), _count(Places)
    assert rewrite(text, catalog, predicate=predicate).sql.count(MARKER) >= 2
    assert (_count(Plan), _count(Places)) == before


def _count(kind: type) -> int:
    return sum(isinstance(value, kind) for value in gc.get_objects())
