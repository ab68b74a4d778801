"""A predicate of ours that still follows stays where the author has it, and as it is broken there;
what no longer follows in just this form is derived anew."""

from __future__ import annotations

import pytest

from sqlrewrite import Catalog, Verdict, rewrite
from sqlrewrite.decision.statement_decision import same_tokens
from sqlrewrite.linting.linter import lint
from sqlrewrite.settings.options import make_options
from sqlrewrite.sql.managed.strip import strip
from sqlrewrite.sql.parse.statements import lex
from sqlrewrite.text.markers import MARKER

DDL = """
CREATE TABLE f (a INT, b INT, p INT, q INT) USING parquet PARTITIONED BY (p, q);
CREATE TABLE d (k INT, x STRING) USING parquet;
CREATE TABLE e (k INT, x STRING) USING parquet;
"""
KEYS = "SELECT /*+ BROADCAST(d2) */ d2.k FROM d AS d2 WHERE d2.x = 'a  b'"
OURS = f"f.p IN ({KEYS}) {MARKER}"
BROKEN = f"f.p IN (\n    {KEYS.replace(' WHERE', chr(10) + '    WHERE')}\n) {MARKER}"
JOIN = "SELECT f.a FROM f JOIN d ON f.p = d.k"


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.from_ddl(DDL)


@pytest.mark.parametrize(
    "text",
    [
        f"{JOIN} WHERE d.x = 'a  b' AND {OURS} AND f.a = 1",
        f"{JOIN} WHERE d.x = 'a  b' AND {OURS}\n  AND f.a = 1 -- mine\nORDER BY 1",
        f"{JOIN} WHERE {OURS} AND d.x = 'a  b'",
        f"{JOIN} WHERE {OURS} -- mine\n  AND d.x = 'a  b'",
        f"{JOIN} WHERE d.x = 'a  b'\n  AND {BROKEN}",
        f"{JOIN}\n AND d.x = 'a  b'\n      WHERE\n        {BROKEN}\nGROUP BY f.a",
        f"{JOIN} AND d.x = 'a  b' WHERE {BROKEN} AND (f.a = 1\n OR f.b = 2)",
        f"{JOIN} WHERE d.x = 'a  b' AND {OURS} AND f.a = 1;\n"
        f"{JOIN} WHERE d.x = 'a  b' AND f.b = 3 AND {OURS} AND f.a = 1",
        f"SELECT 1 FROM f LEFT JOIN d ON f.p = d.k AND d.x = 'a  b' JOIN e ON e.k = f.q AND "
        f"e.x = 'c' WHERE f.q IN (SELECT /*+ BROADCAST(e2) */ e2.k FROM e AS e2 WHERE e2.x = 'c') "
        f"{MARKER} AND f.b > 1",
    ],
)
def test_what_still_follows_stays_as_it_is(catalog: Catalog, text: str) -> None:
    result = rewrite(text, catalog)
    assert result.sql == text
    assert not result.removed
    verdicts = {candidate.verdict for candidate in result.candidates if candidate.predicate}
    assert verdicts == {Verdict.ALREADY_PRUNED}
    findings, _ = lint(text, catalog)
    assert not [finding for finding in findings if finding.code in ("DPP001", "DPP002", "DPP003")]


@pytest.mark.parametrize(
    ("stale", "fresh"),
    [
        pytest.param("d.x = 'a  b'", "d.x = 'a b'", id="spaces in a string"),
        pytest.param("d.x = 'a  b'", "d.x = 'A  B'", id="case in a string"),
        pytest.param("d.x = 'a  b'", "d.x >= 'a  b'", id="an operator"),
        pytest.param("ON f.p = d.k", "ON f.q = d.k", id="another column"),
    ],
)
def test_a_predicate_that_would_differ_now_is_written_again(
    catalog: Catalog, stale: str, fresh: str
) -> None:
    for ours in (OURS, BROKEN):
        text = f"{JOIN} WHERE d.x = 'a  b' AND {ours} AND f.a = 1".replace(stale, fresh, 1)
        bare = f"{JOIN} WHERE d.x = 'a  b' AND f.a = 1".replace(stale, fresh, 1)
        assert rewrite(text, catalog).sql == rewrite(bare, catalog).sql != text


def test_a_second_predicate_is_written_beside_the_first(catalog: Catalog) -> None:
    """And then the clause has what follows, in the one order that a run from nothing gives."""
    text = (
        "SELECT f.a FROM f JOIN d ON f.p = d.k JOIN e ON f.q = e.k "
        f"WHERE d.x = 'a  b' AND {OURS} AND e.x = 'c'"
    )
    sql = rewrite(text, catalog).sql
    assert sql == rewrite(text.replace(f" AND {OURS}", ""), catalog).sql
    assert sql.count(MARKER) == 2


def test_templates_are_compared_as_they_are_written() -> None:
    """Two references may be masked by the same words, and spaces between braces be part of them."""
    one = f"f.p IN (SELECT d2.k FROM {{{{ ref('a') }}}} AS d2) {MARKER}"
    assert same_tokens(one, one)
    assert not same_tokens(one, one.replace("'a'", "'b'"))
    assert not same_tokens(one, one.replace("{{ ", "{{"))


ALONE = f"{JOIN} AND d.x = 'a  b'"
OTHER = OURS.replace("'a  b'", "'c'")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            f"{ALONE};\n{ALONE.replace('a  b', 'c')} WHERE {OURS} AND f.b = 1",
            f"{ALONE} WHERE {OURS};\n{ALONE.replace('a  b', 'c')} WHERE f.b = 1 AND {OTHER}",
            id="one of another statement, for a new WHERE",
        ),
        pytest.param(
            f"{ALONE};\n{ALONE} WHERE {OURS}",
            f"{ALONE} WHERE {OURS};\n{ALONE} WHERE {OURS}",
            id="the same of another statement",
        ),
        pytest.param(
            f"{JOIN} WHERE d.x = 'c' AND {OURS} UNION ALL {JOIN} WHERE d.x = 'a  b' AND {OURS}",
            f"{JOIN} WHERE d.x = 'c' AND {OTHER} UNION ALL {JOIN} WHERE d.x = 'a  b' AND {OURS}",
            id="the right one in another branch",
        ),
        pytest.param(
            f"{JOIN} WHERE d.x = 'a  b' UNION ALL {JOIN} WHERE d.x = 'a  b' AND {OURS}",
            f"{JOIN} WHERE d.x = 'a  b' AND {OURS} UNION ALL {JOIN} WHERE d.x = 'a  b' AND {OURS}",
            id="none, beside a branch that has one",
        ),
        pytest.param(
            f"{JOIN} WHERE d.x = 'a  b' AND {OURS} AND f.a = 1 AND {OURS}",
            f"{JOIN} WHERE d.x = 'a  b' AND f.a = 1 AND {OURS}",
            id="twice",
        ),
        pytest.param(
            f"SELECT 1 FROM d LEFT JOIN f ON f.p = d.k WHERE d.x = 'a  b' AND {OURS}",
            f"SELECT 1 FROM d LEFT JOIN f ON f.p = d.k AND {OURS} WHERE d.x = 'a  b'",
            id="moved to where it takes rows away",
        ),
    ],
)
def test_each_clause_is_judged_by_itself(catalog: Catalog, text: str, expected: str) -> None:
    result = rewrite(text, catalog)
    assert result.sql == expected
    assert not result.errors
    assert rewrite(expected, catalog).sql == expected
    assert Verdict.REWRITTEN in {candidate.verdict for candidate in result.candidates}
    findings, _ = lint(text, catalog)
    assert [finding for finding in findings if finding.code in ("DPP001", "DPP002")]


@pytest.mark.parametrize(
    "text",
    [
        f"{JOIN} JOIN e ON f.q = e.k WHERE d.x = 'a  b' AND e.x = 'c'",
        "SELECT f.a FROM f JOIN d ON f.p < d.k WHERE d.x = 'a  b'",
    ],
)
@pytest.mark.parametrize("form", ["in", "set", "range"])
def test_what_stands_is_not_called_rewritten(catalog: Catalog, text: str, form: str) -> None:
    once = rewrite(text, catalog, predicate=form).sql
    again = rewrite(once, catalog, predicate=form)
    assert again.sql == once != text
    assert {candidate.verdict for candidate in again.candidates} == {Verdict.ALREADY_PRUNED}


def test_a_marker_on_a_line_of_its_own(catalog: Catalog) -> None:
    text = f"{JOIN} WHERE d.x = 'a  b' AND {OURS.replace(f' {MARKER}', f'{chr(10)}{MARKER}')}"
    result = rewrite(text, catalog)
    assert result.sql == text
    assert result.removed == ()
    assert {candidate.verdict for candidate in result.candidates} == {Verdict.ALREADY_PRUNED}
    assert lint(text, catalog)[0] == ()


def test_the_text_of_a_predicate_whose_marker_has_a_line_of_its_own() -> None:
    ours = f"(p IN (1, 2) OR p IS NULL)\n{MARKER}"
    text = f"SELECT a FROM f WHERE {ours}"
    [taken] = strip(text, lex(text)).removed_predicates.values()
    assert (taken.text, taken.unmarked) == (ours, "(p IN (1, 2) OR p IS NULL)")


def test_the_condition_of_a_delete_with_a_marker_on_a_line_of_its_own() -> None:
    iceberg = Catalog.from_ddl(DDL.replace("USING parquet PART", "USING iceberg PART"))
    text = "DELETE FROM f WHERE f.p IN (SELECT d.k FROM d WHERE d.x = 'a')"
    once = rewrite(text, iceberg).sql
    broken = once.replace(f" {MARKER}", f"\n{MARKER}")
    assert broken != text
    result = rewrite(broken, iceberg)
    assert (result.sql, result.skipped, result.removed) == (broken, (), ())


def test_a_region_behind_it_does_not_take_it_out(catalog: Catalog) -> None:
    text = (
        f"{JOIN} WHERE d.x = 'a  b' AND {OURS}\n"
        "-- dpp-rewrite: off\n AND f.a = 1\n-- dpp-rewrite: on\n"
    )
    assert rewrite(text, catalog).sql == text


def test_a_key_query_within_another(catalog: Catalog) -> None:
    tables = Catalog.from_ddl(
        DDL.replace("CREATE TABLE d (k INT,", "CREATE TABLE d (w INT, k INT,")
    )
    sql = "SELECT f.a FROM f JOIN d ON f.p = d.k JOIN e ON d.w = e.k AND f.q = e.k WHERE e.x = 'a'"
    result = rewrite(sql, tables, hint=False)
    assert not result.errors
    assert result.sql.count(MARKER) == 2


def test_a_filter_that_a_dialect_cannot_say_is_rejected_for_a_reason() -> None:
    tables = Catalog.from_ddl(
        "CREATE TABLE s (id INT, day DATE, ym STRING GENERATED ALWAYS AS (date_format(day, "
        "'yyyy-MM'))) USING delta PARTITIONED BY (ym)"
    )
    sql = "SELECT id FROM s WHERE day >= DATE '2024-03-05'"
    once = rewrite(sql, tables).sql
    assert once != sql
    [candidate] = rewrite(once, tables, dialect="trino").candidates
    assert candidate.reason is not None
    assert candidate.reason.code == "DPP116"
    [finding], _ = lint(once, tables, make_options(dialect="trino"))
    assert finding.code == "DPP003"
    assert candidate.reason.message in finding.message


def test_vertical_tabs_of_the_author_part_words(catalog: Catalog) -> None:
    text = f"{JOIN} WHERE d.x\vLIKE\v'a%'"
    once = rewrite(text, catalog).sql
    assert once.startswith(f"{text} AND f.p IN (SELECT ")
    assert "WHERE d2.x LIKE 'a%')" in once
    assert rewrite(once, catalog).sql == once
