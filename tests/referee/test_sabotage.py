"""Each thing that keeps a rewrite sound is missed by a named case when it is taken away."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlrewrite.judge.rules import RULES
from tests.referee.sabotage import NONE, Switch, cases, reasons, recorded, switches

RECORDED = recorded()
CONTRADICTED = "contradicted by Spark"
NOT_ABOUT_ROWS = ("rule DPP116", "rule DPP124", "rule DPP125")
"""Rules that refuse for another reason than wrong rows; the table has it."""
KNOWN = [one for one in switches() if RECORDED.get(one.name, NONE) != NONE]


@pytest.mark.parametrize("switch", KNOWN, ids=lambda one: one.name)
def test_a_named_case_misses_it(switch: Switch) -> None:
    assert cases()[RECORDED[switch.name]].notices(switch)


@pytest.mark.parametrize("name", sorted({RECORDED[one.name] for one in KNOWN}))
def test_the_case_holds_as_long_as_nothing_is_taken_away(name: str) -> None:
    nothing = next(one for one in switches() if one.name in NOT_ABOUT_ROWS)
    assert not cases()[name].notices(nothing)


def test_each_rule_has_a_witness_or_a_reason_to_have_none() -> None:
    for rule in RULES:
        name = f"rule {rule.code}"
        assert (RECORDED[name] != NONE) != (name in NOT_ABOUT_ROWS), name


def test_each_switch_has_a_witness_or_a_reason_that_the_docs_explain() -> None:
    explained = Path("docs/soundness.md").read_text(encoding="utf-8")
    why = reasons()
    for one in switches():
        if RECORDED[one.name] == NONE:
            assert why[one.name] == CONTRADICTED or f"| {why[one.name]} |" in explained, one.name
    assert set(RECORDED) == {one.name for one in switches()}
