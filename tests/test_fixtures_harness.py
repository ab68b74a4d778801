"""The harness of ``test_fixtures`` can fail: each of its checks is shown a result that is wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sqlrewrite import rewrite
from sqlrewrite.results import Rewrite
from sqlrewrite.text.markers import MARKER
from tests.support.cases import (
    QUERIES,
    Case,
    catalog,
    query_cases,
    rewritten,
    tree_problem,
    verdict_lines,
)
from tests.support.fixture_rows import bag, database
from tests.support.strip_by_markers import without_predicates

from . import test_fixtures

CASES = {case.name: case for case in query_cases()}
INNER = CASES["joins/inner"]


def of(name: str) -> tuple[Case, str, Rewrite]:
    """A case with its text and the library's result."""
    case = CASES[name]
    return case, case.text(), rewritten(case, case.text())


def test_golden_that_differs_in_a_blank(tmp_path: Path) -> None:
    golden = tmp_path / "inner.golden.sql"
    golden.write_bytes(INNER.golden.read_bytes() + b" ")
    with pytest.raises(AssertionError):
        test_fixtures.test_a_case_has_its_golden_and_its_verdicts(
            replace(INNER, golden=golden), update_goldens=False
        )


def test_verdicts_that_differ(tmp_path: Path) -> None:
    verdicts = tmp_path / "inner.verdicts"
    verdicts.write_bytes(INNER.verdicts.read_bytes().replace(b"rewritten ", b"rejected  "))
    with pytest.raises(AssertionError):
        test_fixtures.test_a_case_has_its_golden_and_its_verdicts(
            replace(INNER, verdicts=verdicts), update_goldens=False
        )


def test_goldens_are_written_when_asked_for(tmp_path: Path) -> None:
    case = replace(INNER, golden=tmp_path / "g.sql", verdicts=tmp_path / "v")
    test_fixtures.test_a_case_has_its_golden_and_its_verdicts(case, update_goldens=True)
    assert case.golden.read_bytes() == INNER.golden.read_bytes()
    assert case.verdicts.read_bytes() == INNER.verdicts.read_bytes()


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("joins/inner", "-- An inner", "--  An inner"),
        ("text/crlf", "\r\nORDER", "\nORDER"),
        ("text/no_final_newline", "dpp-rewrite */", "dpp-rewrite */\n"),
        ("text/or_at_top", "OR s.qty", "or s.qty"),
        ("text/lower_case", "where d.year", "WHERE d.year"),
    ],
)
def test_a_byte_changed_outside_the_insertion(name: str, old: str, new: str) -> None:
    _, text, result = of(name)
    changed = result.sql.replace(old, new)
    assert changed != result.sql
    assert without_predicates(result.sql) == text
    assert without_predicates(changed) != text


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("joins/inner", "WHERE d.year = 2024", "WHERE d.year = 2025"),
        ("joins/inner", "AND s.day IN", "OR s.day IN"),
        ("joins/inner", "AND s.day IN", "AND NOT s.day IN"),
        ("text/new_where_before_group_by", "WHERE s.day IN", "HAVING s.day IN"),
        ("text/or_at_top", "AND (s.qty = 1 OR s.qty = 2)", "AND s.qty = 1 OR s.qty = 2"),
        ("text/one_line", "SELECT s.id", "SELECT s.id, 1"),
        ("text/several_statements", "SELECT count(*) FROM sales;", ""),
    ],
)
def test_a_tree_that_is_another(name: str, old: str, new: str) -> None:
    _, text, result = of(name)
    changed = replace(result, sql=result.sql.replace(old, new, 1))
    assert changed.sql != result.sql
    assert tree_problem(text, result) is None
    assert tree_problem(text, changed) is not None


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("joins/left_fact_preserved", "DPP101"),
        ("joins/null_safe", "DPP102"),
        ("operators/window_one_without", "DPP105"),
        ("found/cte_by_using", "DPP106"),
    ],
)
def test_rows_without_a_rule(name: str, rule: str) -> None:
    """A rewriter without a rule writes what the rule forbids, and the rows tell."""
    case, text, result = of(name)
    assert result.sql == text
    unsound = rewrite(text, catalog(case.ddl), disabled=frozenset({rule})).sql
    assert unsound != text
    assert any(
        bag(database(case.ddl, seed), text) != bag(database(case.ddl, seed), unsound)
        for seed in test_fixtures.MORE_SEEDS
    )


def test_a_naive_rewriting_that_is_right_is_no_warning(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        test_fixtures.test_naive_predicate_changes_rows(replace(INNER, naive=INNER.golden))


def test_a_query_that_cannot_run_is_not_passed_over(tmp_path: Path) -> None:
    broken = tmp_path / "broken.sql"
    broken.write_text("-- no such column\nSELECT s.nothing FROM sales s\n")
    with pytest.raises(pytest.fail.Exception):
        test_fixtures.test_a_case_keeps_its_rows(replace(INNER, sql=broken))


def test_verdict_lines_name_every_candidate() -> None:
    _, _, result = of("joins/three_columns")
    assert verdict_lines(result).count("\n") == len(result.candidates) == 3


def test_taken_out_leaves_markers_of_others_alone() -> None:
    for text in (
        f"SELECT 1 {MARKER} FROM t",
        f"SELECT ' AND x IN (1) {MARKER}'",
        f"SELECT 1 WHERE a AND x IN (1) b {MARKER}",
        f"SELECT 1 WHERE a OR x IN (1) {MARKER}",
    ):
        assert without_predicates(text) == text
    assert without_predicates(f"SELECT 1 FROM t\nWHERE a\n  AND t.x IN (1) {MARKER}") == (
        "SELECT 1 FROM t\nWHERE a"
    )
    assert without_predicates(f"SELECT 1 WHERE `t`.`a b` IN (')') {MARKER}") == "SELECT 1"


def test_every_topic_is_there() -> None:
    assert {case.sql.parent.name for case in CASES.values()} == {
        path.name for path in QUERIES.iterdir() if path.is_dir()
    }
