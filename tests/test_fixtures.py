"""Every case under ``fixtures/``: its golden and verdicts as bytes, and what holds of any result.

``pytest --update-goldens`` writes both anew; review the diff, a golden is a claim.
"""

from __future__ import annotations

import duckdb
import pytest

from tests.support.cases import (
    BEYOND_DUCKDB,
    MESSAGES,
    RETAIL,
    Case,
    message_lines,
    query_cases,
    read,
    retail_cases,
    rewritten,
    strays,
    tree_problem,
    verdict_lines,
)
from tests.support.fixture_rows import Bag, bag, database
from tests.support.render_templates import rendered, rendered_result
from tests.support.strip_by_markers import without_predicates
from tests.support.turns import turn

CASES = [*query_cases(), *retail_cases()]
SEEDS = turn(range(8), 2)
MORE_SEEDS = range(40)
"""A wrong rewriting must show on one of these."""

TEMPLATES = "templates/"

NOT_FOR_DUCKDB = {
    "retail/09_promotion_lift": "datediff(day, day)",
    "retail/21_last_four_weeks": "date_sub(day, 28)",
    "retail/24_abandoned_carts": "LATERAL VIEW",
    "retail/45_quick_estimate": "TABLESAMPLE (…) alias",
}
"""Queries of the retail folder, whose first lines say what an analyst wants and nothing else."""

sweep = pytest.mark.turns(3)
"""A golden that did not change has kept its rows; who writes goldens anew has all cases run."""

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def test_there_are_cases_and_no_strays() -> None:
    assert len(CASES) > 200
    assert strays(CASES) == []


@every_case
def test_a_case_has_its_golden_and_its_verdicts(case: Case, update_goldens: bool) -> None:
    text = case.text()
    result = rewritten(case, text)
    assert not any(e.code == "DPP999" for e in result.errors), result.errors
    if update_goldens:
        case.golden.parent.mkdir(exist_ok=True)
        case.golden.write_bytes(result.sql.encode())
        case.verdicts.write_bytes(verdict_lines(result).encode())
    assert result.sql.encode() == case.golden.read_bytes()
    assert verdict_lines(result) == read(case.verdicts)


def test_messages_are_those_of_their_golden(update_goldens: bool) -> None:
    text = "".join(map(message_lines, CASES))
    if update_goldens:
        MESSAGES.write_bytes(text.encode())
    assert text == read(MESSAGES)


@every_case
@sweep
def test_what_holds_of_any_result(case: Case) -> None:
    """A second run changes nothing; what was inserted can be taken out; the tree is the old one and
    conjuncts."""
    text = case.text()
    result = rewritten(case, text)
    if result.sql == text:
        return
    again = rewritten(case, result.sql)
    assert again.sql == result.sql
    assert not again.changed
    assert without_predicates(result.sql) == without_predicates(text)
    if case.name.startswith(TEMPLATES) and BEYOND_DUCKDB not in text:
        text, result = rendered(text), rendered_result(result)
    problem = tree_problem(without_predicates(text), result)
    assert problem is None, problem


@every_case
@sweep
def test_a_case_keeps_its_rows(case: Case) -> None:
    text = case.text()
    if case.name in NOT_FOR_DUCKDB or BEYOND_DUCKDB in text.split("\n", 1)[0]:
        return
    result = rewritten(case, text).sql
    if result == text:
        rows(case, text, 0)  # it runs: the case means what it says
        return
    for seed in SEEDS[:3] if case.ddl.is_relative_to(RETAIL) else SEEDS:
        assert rows(case, text, seed) == rows(case, result, seed), f"seed {seed}"


def rows(case: Case, text: str, seed: int) -> list[Bag]:
    """The rows of a text's queries; DuckDB must be able to run what is not marked otherwise."""
    try:
        return bag(database(case.ddl, seed), rendered(text))
    except duckdb.Error as error:
        pytest.fail(f"DuckDB: {error}")


@pytest.mark.parametrize(
    "case",
    [c for c in CASES if c.naive.exists() and BEYOND_DUCKDB not in c.text()],
    ids=lambda c: c.name,
)
def test_naive_predicate_changes_rows(case: Case) -> None:
    """What a rewriter without the rule would write is wrong: the case is worth keeping."""
    naive, text = read(case.naive), case.text()
    assert any(rows(case, text, seed) != rows(case, naive, seed) for seed in MORE_SEEDS)


def test_comment_continued_by_a_backslash() -> None:
    """In Spark a backslash at the end of a line comment makes the next line a part of it: whatever
    is inserted between the two would bring that line, here a LIMIT, to life."""
    case = next(case for case in CASES if case.name == "text/one_line")
    text = case.text().rstrip() + " -- see C:\\reports\\\nLIMIT 3\n"
    result = rewritten(case, text)
    assert not result.changed
    assert "backslash" in result.skipped[0].message
    # Before a statement, and on to a line that is a comment anyway, it is the same to everybody.
    usage = "-- hive -f x.hql \\\n--   -d y=1 \\\n\n"
    assert rewritten(case, usage + case.text()).changed
