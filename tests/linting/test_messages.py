"""What lint says is short, and its pages say the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlrewrite import Catalog
from sqlrewrite.linting.findings import CODES, MOST_CHARACTERS
from sqlrewrite.linting.linter import lint
from tests.support.cases import catalog, query_cases, read, retail_cases
from tests.support.turns import turn

RULES = Path(__file__).parents[2] / "rules"
CASES = [*query_cases(), *retail_cases()]

SALES = "CREATE TABLE sales (id INT, day DATE) PARTITIONED BY (day);"
CALENDAR = "CREATE TABLE calendar (day DATE, year INT);"
OURS = (
    "s.day IN (SELECT /*+ BROADCAST(c2) */ c2.day FROM calendar AS c2 WHERE c2.year = 2024) "
    "/* dpp-rewrite */"
)


def test_messages_of_the_fixtures_are_short() -> None:
    for case in turn(CASES, 27):
        for text in (case.text(), read(case.golden)):
            findings, _ = lint(text, catalog(case.ddl))
            assert all(len(finding.message) <= MOST_CHARACTERS for finding in findings), case.name


def test_what_is_quoted_at_length_is_cut() -> None:
    columns = ", ".join(f"a_rather_long_partition_column_{number} INT" for number in range(20))
    ddl = f"CREATE TABLE wide (id INT) PARTITIONED BY ({columns})"
    (finding,) = lint("SELECT id FROM wide", Catalog.from_ddl(ddl))[0]
    assert len(finding.message) == MOST_CHARACTERS
    assert finding.message.endswith("…")


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        (
            "SELECT s.id FROM sales s JOIN calendar c ON s.day = c.day "
            f"WHERE c.year = 2025 AND {OURS}",
            "DPP002",
            ("is out of date", "filter has changed"),
        ),
        (
            f"SELECT s.id FROM sales s WHERE {OURS}",
            "DPP003",
            ("no longer follows", "the join is gone"),
        ),
        ("SELECT 1 /* dpp-rewrite: ignore */", "DPP008", ("only a line comment suppresses",)),
        ("SELECT 1 -- dpp-rewrite: ignore", "DPP008", ("suppress",)),
        ("SELECT 1 -- dpp-rewrite: ingore", "DPP008", ("known",)),
    ],
)
def test_a_page_says_what_the_message_says(text: str, code: str, words: tuple[str, ...]) -> None:
    (message,) = (
        finding.message
        for finding in lint(text, Catalog.from_ddl(SALES + CALENDAR))[0]
        if finding.code == code
    )
    name = next(rule.name for rule in CODES if rule.code == code)
    page = " ".join((RULES / f"{code}-{name}.md").read_text("utf-8").split())
    for word in words:
        assert word in message
        assert word in page
