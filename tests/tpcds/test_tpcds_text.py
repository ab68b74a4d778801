"""The text of the rewritten TPC-DS queries: insertions only, stable, and SQL."""

from __future__ import annotations

import pytest

from tests.support.cases import tree_problem
from tests.support.strip_by_markers import without_predicates

from .support import NUMBERS, queries, rewritten


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: f"q{number}")
def test_the_result_reads_as_the_query_and_its_predicates(number: int) -> None:
    """Insertions out it is the query, and a second run changes nothing."""
    query = queries()[number]
    result = rewritten(query)
    assert without_predicates(result.sql) == query
    assert rewritten(result.sql).sql == result.sql
    assert not result.errors
    assert not result.skipped
    problem = tree_problem(query, result)
    assert problem is None, problem
