"""The text of the rewritten TPC-DS queries: insertions only, stable, and SQL."""

from __future__ import annotations

import pytest

from tests.fixtures_support import tree_problem
from tests.insertions import taken_out

from .support import NUMBERS, queries, rewritten

NUMBER = pytest.mark.parametrize("number", NUMBERS, ids=lambda number: f"q{number}")


@NUMBER
def test_insertions_out_gives_the_query_back(number: int) -> None:
    query = queries()[number]
    assert taken_out(rewritten(query).sql) == query


@NUMBER
def test_a_second_run_changes_nothing(number: int) -> None:
    once = rewritten(queries()[number]).sql
    assert rewritten(once).sql == once


@NUMBER
def test_the_result_reads_as_the_query_and_its_predicates(number: int) -> None:
    query = queries()[number]
    result = rewritten(query)
    assert not result.errors
    assert not result.skipped
    problem = tree_problem(query, result)
    assert problem is None, problem
