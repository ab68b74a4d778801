"""Each rule has a page, each page a rule, and the pages' examples do what the pages say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sqlrewrite import Outcome, rewrite
from sqlrewrite.catalog import Catalog
from sqlrewrite.judge.rules import DECIDED, LITERALS, NOT_SUPPRESSED, RULES
from sqlrewrite.rulebook import Page, engine, pages, rules_folder
from sqlrewrite.settings.options import Keys

CATALOG = """
CREATE TABLE sales (id INT, store_id INT, amount DECIMAL(9, 2), day DATE)
USING parquet PARTITIONED BY (day);
CREATE TABLE calendar (day DATE, year INT, label STRING) USING parquet;
CREATE TABLE stores (store_id INT, city STRING, opened DATE) USING parquet;
"""
"""The tables of a page that has no ``sql catalog`` block."""

_BLOCK = re.compile(r"^```sql (catalog|before|after|refused)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FENCE = re.compile(r"^```(.*)$", re.MULTILINE)
_WIDTH = 100

RULE_PAGES = [page for page in pages() if page.kind != "lint"]
"""The pages of the rules; those of lint are held by ``lint/test_lint_pages``."""

by_code = pytest.mark.parametrize("page", RULE_PAGES, ids=lambda page: page.code)


def _blocks(page: Page, kind: str) -> list[str]:
    return [text for name, text in _BLOCK.findall(page.text) if name == kind]


def _catalog(page: Page) -> Catalog:
    return Catalog.from_ddl("".join(_blocks(page, "catalog")) or CATALOG)


def _asked(page: Page) -> dict[str, Any]:
    """What the examples of a page ask for: some rules say nothing unless they are asked."""
    if page.code == LITERALS.code:
        return {"predicate": "values", "resolve": _two_days}
    return {"when": "missed"} if page.code == "DPP125" else {}


def _two_days(query: str, namespace: tuple[str, ...]) -> Keys:
    days = ("DATE '2024-01-01'", "DATE '2024-01-02'")
    return Keys(days, "date", "2026-01-31T09:30:00Z")


def _pairs(page: Page) -> list[tuple[str, str]]:
    return list(zip(_blocks(page, "before"), _blocks(page, "after"), strict=True))


def _cases(kind: str) -> list[object]:
    """All examples of all pages, ``before`` with its ``after`` or ``refused`` by itself."""
    cases: list[object] = []
    for page in RULE_PAGES:
        examples = (
            _pairs(page) if kind == "before" else [(block, block) for block in _blocks(page, kind)]
        )
        for number, (before, after) in enumerate(examples, 1):
            name = f"{page.code} {kind} {number}"
            cases.append(pytest.param(page, before, after, id=name))
    return cases


# --- the pages ------------------------------------------------------------------------------------


def test_each_rule_has_a_page_and_each_page_a_rule() -> None:
    assert [(page.code, page.name, page.kind) for page in RULE_PAGES] == sorted(
        (rule.code, rule.name, rule.kind) for rule in (*RULES, LITERALS, NOT_SUPPRESSED, DECIDED)
    )


def test_a_page_is_found_by_its_file_name() -> None:
    names = sorted(path.name for path in rules_folder().glob("DPP*.md"))
    assert names == [f"{page.code}-{page.name}.md" for page in pages()]


@by_code
def test_a_page_has_its_parts(page: Page) -> None:
    assert page.kind in ("soundness", "benefit", "choice")
    assert page.summary.endswith(".")
    assert "\n## What it checks\n" in page.text
    assert "\n## Why\n" in page.text
    assert "\n## Examples\n" in page.text
    assert "\n## References\n" in page.text
    prose = _BLOCK.sub("", page.text).splitlines()
    assert not [line for line in prose if len(line) > _WIDTH]


@by_code
def test_a_page_has_examples_and_no_other_code(page: Page) -> None:
    assert _pairs(page) or len(_blocks(page, "refused")) >= 2
    assert len(_FENCE.findall(page.text)) == 2 * len(_BLOCK.findall(page.text))
    assert "```sql after" not in page.text.replace("```\n\n```sql after", "")  # each after a before


# --- the examples ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("page", "before", "after"), _cases("before"))
def test_an_example_is_rewritten_as_shown(page: Page, before: str, after: str) -> None:
    result = rewrite(before, _catalog(page), **_asked(page))
    assert (result.errors, result.skipped) == ((), ())
    assert result.sql == after
    assert before != after
    again = rewrite(after, _catalog(page), **_asked(page))
    assert again.sql == after


@pytest.mark.parametrize(("page", "refused", "same"), _cases("refused"))
def test_an_example_is_refused_by_the_page_s_rule(page: Page, refused: str, same: str) -> None:
    result = rewrite(refused, _catalog(page), **_asked(page))
    assert (result.errors, result.skipped) == ((), ())
    assert result.sql == same
    reasons = [candidate.reason for candidate in result.candidates]
    shown = [reason.code for reason in reasons if reason is not None]
    failing = [
        next(rule.code for rule in candidate.rules if rule.outcome is Outcome.FAIL)
        for candidate in result.candidates
    ]
    assert page.code in (*shown, *failing)


# --- the command ----------------------------------------------------------------------------------


def _run(*arguments: str) -> bytes:
    command = [sys.executable, "-m", "sqlrewrite", "rules", *arguments]
    result = subprocess.run(command, capture_output=True, check=True, timeout=60)
    assert not result.stderr
    return result.stdout


def test_the_command_lists_the_rules() -> None:
    lines = _run().decode().splitlines()
    assert [line.split()[0] for line in lines] == ["code", *(page.code for page in pages())]
    for line, page in zip(lines[1:], pages(), strict=True):
        assert line.split()[1:3] == [page.name, page.kind]


@pytest.mark.parametrize("of", [lambda page: page.code, lambda page: page.name])
def test_the_command_prints_a_page(of: object) -> None:
    page = pages()[0]
    assert callable(of)
    printed = _run(of(page)).decode()
    assert printed.splitlines() == page.text.rstrip("\n").splitlines()


# --- the engines ----------------------------------------------------------------------------------

ENGINES = sorted(path.stem for path in rules_folder().glob("engines/*.toml"))


def test_the_engines_are_those_of_the_contract_and_one_more() -> None:
    assert ENGINES == ["duckdb", "flink", "spark", "trino"]


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_loads(name: str) -> None:
    loaded = engine(name)
    assert loaded.name == name
    assert engine(str(Path(rules_folder(), "engines", f"{name}.toml"))) == loaded


def test_a_filter_that_is_not_selective_is_not_said_to_be_none() -> None:
    catalog = _catalog(next(page for page in RULE_PAGES if page.code == "DPP120"))
    sql = "SELECT s.id FROM sales s JOIN calendar c ON s.day = c.day WHERE c.holiday"
    (candidate,) = rewrite(sql, catalog).candidates
    assert candidate.reason is not None
    assert "--predicate auto" in candidate.reason.message
    assert rewrite(sql, catalog, predicate="auto").changed
