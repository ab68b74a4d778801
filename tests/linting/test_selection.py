"""Which findings count, and what is said of settings that cannot be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sqlrewrite import Catalog
from sqlrewrite.linting.findings import CODES, Finding, Severity
from sqlrewrite.linting.linter import lint
from sqlrewrite.linting.selection import check, selected
from sqlrewrite.results import ConfigError
from sqlrewrite.settings.table import Settings


@pytest.fixture(scope="module")
def findings(catalog: Catalog) -> list[Finding]:
    one = lint("SELECT id FROM sales", catalog)[0][0]
    return [replace(one, code=rule.code, severity=rule.severity) for rule in CODES]


def _codes(settings: Settings, findings: list[Finding], path: str = "q.sql") -> str:
    return " ".join(str(int(finding.code[-3:])) for finding in selected(settings, path, findings))


@pytest.mark.parametrize(
    ("settings", "codes"),
    [
        (Settings(), "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14"),
        (Settings(select=("DPP001", "DPP004")), "1 4"),
        (Settings(select=("DPP00",), ignore=("DPP007",)), "0 1 2 3 4 5 6 8 9"),
        (Settings(select=("DPP007",), ignore=("DPP",)), "7"),
        (Settings(select=("DPP007",), ignore=("DPP007",)), ""),
        (Settings(ignore=("DPP",)), ""),
        (Settings(select=("DPP001",), extend_select=("DPP002",)), "1 2"),
        (Settings(per_file_ignores=(("*.sql", ("DPP007",)),)), "0 1 2 3 4 5 6 8 9 10 11 12 13 14"),
        (Settings(per_file_ignores=(("legacy", ("DPP",)),)), "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14"),
    ],
)
def test_the_settings_select_codes(settings: Settings, codes: str, findings: list[Finding]) -> None:
    assert _codes(settings, findings) == codes


def test_per_file_ignores_are_of_paths_from_the_root(findings: list[Finding]) -> None:
    settings = Settings(per_file_ignores=(("legacy/*.sql", ("DPP",)),), root="repo")
    assert _codes(settings, findings, "repo/legacy/q.sql") == ""
    assert _codes(settings, findings, "repo/new/q.sql") != ""


def test_the_longest_prefix_gives_the_severity(findings: list[Finding]) -> None:
    settings = Settings(severity=(("DPP", "note"), ("DPP007", "error")))
    chosen = selected(settings, "q.sql", findings)
    severities = {finding.code: finding.severity for finding in chosen}
    assert severities.pop("DPP007") is Severity.ERROR
    assert set(severities.values()) == {Severity.NOTE}


def test_only_strict_counts_notes(findings: list[Finding]) -> None:
    counting = [finding.counts for finding in selected(Settings(), "q.sql", findings)]
    assert counting == [rule.severity is not Severity.NOTE for rule in CODES]
    assert all(finding.counts for finding in selected(Settings(strict=True), "q.sql", findings))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"select": ("DPP02",)}, "no finding has a code that begins with 'DPP02': did you mean"),
        ({"ignore": ("DPP101",)}, "begins with 'DPP101': did you mean DPP014?"),
        ({"extend_select": ("E501",)}, "begins with 'E501': known: DPP000, DPP001"),
        ({"per_file_ignores": (("*.sql", ("dpp",)),)}, "begins with 'dpp': did you mean DPP0"),
        (
            {"severity": (("DPP007", "loud"),)},
            "severity of DPP007 is 'loud': it must be one of error, warn",
        ),
    ],
)
def test_a_code_that_there_is_not_is_refused(
    given: dict[str, tuple[str, ...]], message: str
) -> None:
    with pytest.raises(ConfigError) as error:
        check(Settings(**given))  # type: ignore[arg-type]
    assert message in str(error.value)
