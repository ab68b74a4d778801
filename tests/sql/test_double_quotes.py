"""Text in double quotes: a string, or a name under a setting of Spark's."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.settings.config import load
from sqlrewrite.text.limits import Limits
from sqlrewrite.text.markers import MARKER

DDL = """
CREATE TABLE f (a INT, b STRING, p INT) USING parquet PARTITIONED BY (p);
CREATE TABLE d (k INT, x STRING, y STRING, z DATE) USING parquet;
CREATE VIEW plain AS SELECT k, x FROM d WHERE y = 'n';
CREATE VIEW quoted AS SELECT k, x FROM d WHERE y = "n";
"""
FROM = "SELECT f.a FROM f JOIN d ON f.p = d.k WHERE "


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.from_ddl(DDL)


def _changed(sql: str, catalog: Catalog, double_quoted: bool | None = None) -> bool:
    result = rewrite(sql, catalog, limits=Limits(double_quoted=double_quoted))
    assert not result.errors
    return result.changed


@pytest.mark.parametrize(
    "condition",
    ['d.x = "n"', 'd.x IN ("n", "m")', 'd.x LIKE "n%" OR d.x = "n"', 'd.x = "F.A"'],
)
def test_a_string_where_no_such_name_is_in_sight(catalog: Catalog, condition: str) -> None:
    assert _changed(FROM + condition, catalog)
    assert _changed(FROM + condition, catalog, False)
    assert not _changed(FROM + condition, catalog, True)


@pytest.mark.parametrize(
    "sql",
    [
        FROM + 'd.x = "y"',
        FROM + 'd.x = "Y"',
        FROM + 'd.x = "b"',
        FROM + 'd.x IS DISTINCT FROM "y"',
        FROM + 'd.x REGEXP "y"',
        FROM + 'd.x = "_file"',
        "SELECT 'n' \"m\", f.a FROM f JOIN d ON f.p = d.k WHERE d.x = 'n'",
        'SELECT f.a, f.b AS "n" FROM f JOIN d ON f.p = d.k WHERE d.x = "n"',
        'SELECT f.a FROM f JOIN d ON f.p = d.k JOIN nowhere ON a = b WHERE d.x = "n"',
        'SELECT f.a FROM f JOIN (SELECT k FROM d WHERE x = "y") q ON f.p = q.k',
        'SELECT f.a FROM f JOIN d ON f.p = d.k AND d.x IN (SELECT b FROM f g WHERE g.b = "x")',
    ],
)
def test_what_may_be_a_name_is_left_alone(catalog: Catalog, sql: str) -> None:
    assert not _changed(sql, catalog)
    assert _changed(sql, catalog, False)


@pytest.mark.parametrize(
    "sql",
    [
        FROM + "d.x = \"n\" AND d.y = 'n'",
        "SELECT f.a FROM f JOIN nowhere n ON f.a = n.a JOIN d ON f.p = d.k "
        'WHERE d.z = DATE "2024-01-01"',
        'SELECT f.a FROM f JOIN plain d ON f.p = d.k WHERE d.x = "y"',
        'SELECT coalesce(f.b, "b") FROM f JOIN nowhere n ON f.a = n.a JOIN d ON f.p = d.k '
        "WHERE d.x = 'n'",
    ],
)
def test_what_may_be_a_name_elsewhere_does_not_matter(catalog: Catalog, sql: str) -> None:
    assert _changed(sql, catalog)


def test_of_two_conditions_only_the_one_that_is_known_is_repeated(catalog: Catalog) -> None:
    result = rewrite(FROM + "d.x = \"y\" AND d.y = 'n'", catalog)
    (candidate,) = result.candidates
    assert candidate.predicate is not None
    assert "d2.y = 'n'" in candidate.predicate
    assert '"y"' not in candidate.predicate


def test_the_reason_names_the_setting(catalog: Catalog) -> None:
    (candidate,) = rewrite(FROM + 'd.x = "y"', catalog).candidates
    text = " ".join(rule.message for rule in candidate.rules)
    assert "double-quoted-identifiers" in text


def test_a_view_was_made_under_settings_of_its_own(catalog: Catalog) -> None:
    view = 'CREATE VIEW named AS SELECT k, x FROM d WHERE x = "y";'
    sql = "SELECT f.a FROM f JOIN {} d ON f.p = d.k WHERE d.x = 'm'"
    assert _changed(sql.format("plain"), catalog)
    assert _changed(sql.format("quoted"), catalog)
    assert not _changed(sql.format("named"), Catalog.from_ddl(DDL + view), False)


def test_the_environment_sets_what_double_quotes_are(tmp_path: Path) -> None:
    names = load(str(tmp_path), environment={"DPP_REWRITE_DOUBLE_QUOTED_IDENTIFIERS": "true"})
    assert names.double_quoted_identifiers is True
    assert load(str(tmp_path), environment={}).double_quoted_identifiers is None


def test_the_predicate_repeats_it(catalog: Catalog) -> None:
    sql = FROM + 'd.x = "n"'
    assert rewrite(sql, catalog).sql == (
        f"{sql} AND f.p IN (SELECT /*+ BROADCAST(d2) */ d2.k FROM d AS d2 "
        f'WHERE d2.x = "n") {MARKER}'
    )
