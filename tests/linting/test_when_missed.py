"""DPP003's second half: predicates that the engine makes redundant, under ``when = missed``."""

from __future__ import annotations

from sqlrewrite import Catalog, rewrite
from sqlrewrite.linting.findings import Finding
from sqlrewrite.linting.linter import lint
from sqlrewrite.settings.options import make_options
from tests.linting.test_findings import IN, JOIN, _mended

OUTER = "SELECT c.n FROM calendar c LEFT JOIN sales s ON s.day = c.day WHERE c.year = 2024"


def _found(text: str, catalog: Catalog, when: str = "missed") -> list[Finding]:
    findings, failures = lint(text, catalog, make_options(when=when))
    assert failures == ()
    return [finding for finding in findings if finding.suppression is None]


def test_an_up_to_date_predicate_is_redundant(catalog: Catalog) -> None:
    text = f"{JOIN} AND {IN}"
    assert _found(text, catalog, "eligible") == []
    (finding,) = _found(text, catalog)
    assert (finding.code, finding.severity.value) == ("DPP003", "warning")
    assert finding.message == (
        "the predicate on `s.day` is not needed: Spark prunes by the join with `calendar` by "
        "itself (assumed: Spark's settings are its defaults, `calendar` is small enough to be "
        "broadcast)"
    )
    assert _mended(text, finding) == JOIN == rewrite(text, catalog, when="missed").sql


def test_one_that_no_longer_follows_is_stale_and_an_error(catalog: Catalog) -> None:
    text = f"{JOIN[:-1]}5 AND {IN}"
    for when in ("eligible", "missed"):
        (finding,) = _found(text, catalog, when)
        assert (finding.code, finding.severity.value) == ("DPP002", "error")
        assert _mended(text, finding) == rewrite(text, catalog, when=when).sql


def test_one_without_a_join_has_nothing_to_follow_from(catalog: Catalog) -> None:
    findings = _found(f"SELECT s.id FROM sales s WHERE s.id = 1 AND {IN}", catalog)
    assert [
        (finding.code, finding.severity.value) for finding in findings if finding.code == "DPP003"
    ] == [("DPP003", "error")]


def test_what_the_engine_misses_stays_and_is_missing(catalog: Catalog) -> None:
    written = rewrite(OUTER, catalog, when="missed").sql
    assert written != OUTER
    assert _found(written, catalog) == []
    assert [finding.code for finding in _found(OUTER, catalog)] == ["DPP001"]


def test_nothing_is_missing_that_the_engine_finds(catalog: Catalog) -> None:
    assert [finding.code for finding in _found(JOIN, catalog, "eligible")] == ["DPP001"]
    assert _found(JOIN, catalog) == []


def test_a_run_says_why_it_took_a_predicate_out(catalog: Catalog) -> None:
    (removed,) = rewrite(f"{JOIN} AND {IN}", catalog, when="missed").removed
    assert removed.reason.startswith(
        "Spark prunes by the join with `calendar` by itself (assumed: "
    )
