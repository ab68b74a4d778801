"""What Trino prunes by itself, as our planner has it; tests/trino asks Trino."""

from __future__ import annotations

import pytest

from sqlrewrite import Catalog, rewrite

from .trino_plans import CHAINED, DDL, FLOATS, MISSED, NO_TIE, PRUNED

KNOWN = Catalog.from_ddl(DDL)


def _told(query: str) -> list[str]:
    """What is said of each join, whether Trino misses it."""
    result = rewrite(query, KNOWN, dialect="trino", engine="trino", when="missed")
    rules = (rule for each in result.candidates for rule in each.rules)
    return [rule.message for rule in rules if rule.code == "DPP125"]


@pytest.mark.parametrize("query", PRUNED)
def test_left_to_it(query: str) -> None:
    assert all("Trino prunes by the join" in sentence for sentence in _told(query))
    assert rewrite(query, KNOWN, dialect="trino", engine="trino", when="missed").sql == query


@pytest.mark.parametrize(("query", "why"), MISSED.items())
def test_what_trino_misses_is_told_with_the_reason(query: str, why: str) -> None:
    assert any(why in sentence for sentence in _told(query)), _told(query)


def test_what_is_not_told_apart() -> None:
    assert not any(map(_told, NO_TIE))
    assert "a neighbour of the dimension restricts" in " ".join(_told(CHAINED))
    assert "so a cast may hide the fact's column" in " ".join(_told(FLOATS))
