"""Which findings count, and what is said of settings that cannot be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sqlrewrite import Catalog
from sqlrewrite.linting.findings import CODES, Finding, Severity
from sqlrewrite.linting.linter import lint
from sqlrewrite.linting.selection import Selection
from sqlrewrite.results import ConfigError


@pytest.fixture(scope="module")
def findings(catalog: Catalog) -> list[Finding]:
    one = lint("SELECT id FROM sales", catalog)[0][0]
    return [replace(one, code=it.code, severity=it.severity) for it in CODES]


def _codes(selection: Selection, findings: list[Finding], path: str = "q.sql") -> str:
    return " ".join(str(int(it.code[-3:])) for it in selection.of(path, findings))


@pytest.mark.parametrize(
    ("selection", "codes"),
    [
        (Selection(), "0 1 2 3 4 5 6 7 8 9 10 11 12 13"),
        (Selection(select=("DPP001", "DPP004")), "1 4"),
        (Selection(select=("DPP00",), ignore=("DPP007",)), "0 1 2 3 4 5 6 8 9"),
        (Selection(select=("DPP007",), ignore=("DPP",)), "7"),
        (Selection(select=("DPP007",), ignore=("DPP007",)), ""),
        (Selection(ignore=("DPP",)), ""),
        (Selection(select=("DPP001",), extend=("DPP002",)), "1 2"),
        (Selection(per_file=(("*.sql", ("DPP007",)),)), "0 1 2 3 4 5 6 8 9 10 11 12 13"),
        (Selection(per_file=(("legacy", ("DPP",)),)), "0 1 2 3 4 5 6 7 8 9 10 11 12 13"),
    ],
)
def test_selected(selection: Selection, codes: str, findings: list[Finding]) -> None:
    assert _codes(selection, findings) == codes


def test_one_made_of_another_judges_anew(findings: list[Finding]) -> None:
    selection = Selection(ignore=("DPP007",))
    assert _codes(selection, findings) == "0 1 2 3 4 5 6 8 9 10 11 12 13"
    assert _codes(replace(selection, ignore=()), findings) == "0 1 2 3 4 5 6 7 8 9 10 11 12 13"


def test_per_file_ignores_are_of_paths_from_the_root(findings: list[Finding]) -> None:
    selection = Selection(per_file=(("legacy/*.sql", ("DPP",)),), root="repo")
    assert _codes(selection, findings, "repo/legacy/q.sql") == ""
    assert _codes(selection, findings, "repo/new/q.sql") != ""


def test_severities(findings: list[Finding]) -> None:
    found = Selection(severities={"DPP": "note", "DPP007": "error"}).of("q.sql", findings)
    severities = {it.code: it.severity for it in found}
    assert severities.pop("DPP007") is Severity.ERROR
    assert set(severities.values()) == {Severity.NOTE}


def test_only_strict_counts_what_does_not_parse(findings: list[Finding]) -> None:
    assert [it.counts for it in Selection().of("q.sql", findings)] == [False] + [True] * 13
    assert all(it.counts for it in Selection(strict=True).of("q.sql", findings))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"select": ("DPP02",)}, "no finding has a code that begins with 'DPP02': did you mean"),
        ({"ignore": ("DPP101",)}, "begins with 'DPP101': did you mean DPP013?"),
        ({"extend": ("E501",)}, "begins with 'E501': known: DPP000, DPP001"),
        ({"per_file": (("*.sql", ("dpp",)),)}, "begins with 'dpp': did you mean DPP0"),
        ({"severities": {"DPP007": "loud"}}, "severity of DPP007 is 'loud': known: error, warn"),
    ],
)
def test_mistakes(given: dict[str, tuple[str, ...]], message: str) -> None:
    with pytest.raises(ConfigError) as error:
        Selection(**given)  # type: ignore[arg-type]
    assert message in str(error.value)
