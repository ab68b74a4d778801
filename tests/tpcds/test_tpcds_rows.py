"""Original and rewritten TPC-DS queries give the same rows in DuckDB."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from benchmarks.tpcds_data import without_limit
from sqlrewrite.text.markers import MARKER
from tests.support.compare_rows import difference
from tests.support.turns import turn

from .support import NOT_LOOSENED, NUMBERS, loosened, queries, rewritten, rows

FEW = 5000

NUMBER = pytest.mark.parametrize("number", NUMBERS, ids=lambda number: f"q{number}")


@pytest.mark.turns(3)
@NUMBER
def test_rows_are_the_same(number: int) -> None:
    problem = difference(_all_rows(number), rows(without_limit(rewritten(queries()[number]).sql)))
    assert problem is None, problem


@pytest.mark.long
@pytest.mark.parametrize(
    "number", turn(sorted(set(NUMBERS) - NOT_LOOSENED), 9), ids=lambda it: f"q{it}"
)
def test_rows_of_the_loosened_query_are_the_same(number: int) -> None:
    problem = difference(_loosened(number), _digest(rewritten(loosened(number)).sql))
    assert problem is None, problem


@pytest.mark.long
def test_most_results_are_not_empty() -> None:
    """A comparison of nothing with nothing proves nothing."""
    full = {number for number in NUMBERS if _all_rows(number)}
    loose = {n for n in NUMBERS if n not in NOT_LOOSENED | full and _loosened(n)}
    assert len(full) >= 81
    assert len(full | loose) >= 94


@pytest.mark.long
@pytest.mark.parametrize(
    "numbers",
    [NUMBERS[::6], pytest.param(NUMBERS, marks=pytest.mark.longest)],
    ids=["some", "all"],
)
def test_the_comparison_sees_lost_keys(numbers: range) -> None:
    """A predicate that keeps only every other of its keys changes the rows, for most of them."""
    seen: set[tuple[int, str]] = set()
    unseen: set[tuple[int, str]] = set()
    for number in numbers:
        for sql, expected in _texts(number):
            for predicate, halved in _halved(sql):
                if (number, predicate) not in seen:
                    changed = difference(expected, _digest(halved)) is not None
                    (seen if changed else unseen).add((number, predicate))
    unseen -= seen
    assert len(seen) >= 3 * len(unseen), sorted(unseen)
    assert seen


def _texts(number: int) -> list[tuple[str, list[tuple[Any, ...]]]]:
    """The query and the loosened one, each with its rows."""
    query = without_limit(queries()[number])
    texts = [(query, _digest(query))]
    return texts if number in NOT_LOOSENED else [*texts, (loosened(number), _loosened(number))]


@cache
def _all_rows(number: int) -> list[tuple[Any, ...]]:
    return rows(without_limit(queries()[number]))


@cache
def _loosened(number: int) -> list[tuple[Any, ...]]:
    return _digest(loosened(number))


def _halved(sql: str) -> list[tuple[str, str]]:
    """Each inserted predicate, and the rewritten query with only the even keys of that one."""
    result = rewritten(sql)
    texts = []
    for predicate in sorted(
        {candidate.predicate for candidate in result.candidates if candidate.predicate}
    ):
        column = predicate.partition(" ")[0]
        marked = f"{predicate} {MARKER}"
        texts.append((predicate, result.sql.replace(marked, f"{marked} AND {column} % 2 = 0")))
    return texts


def _digest(sql: str) -> list[tuple[Any, ...]]:
    """The rows where they are few; else how many there are, and a sum over the hash of each."""
    few = rows(sql, at_most=FEW)
    if len(few) < FEW:
        return few
    return rows(f"SELECT count(*), sum(hash(hashed)) FROM ({sql}) AS hashed")
