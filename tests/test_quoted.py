"""Text in double quotes: a string, or a name under a setting of Spark's."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.settings.config import load
from sqlrewrite.text.edits import MARKER
from sqlrewrite.text.limits import Limits

DDL = """
CREATE TABLE f (a INT, b STRING, p INT) USING parquet PARTITIONED BY (p);
CREATE TABLE d (k INT, x STRING, y STRING) USING parquet;
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
        FROM + "d.x = \"n\" AND d.y = 'n'",
        FROM + 'd.x = "col"',
        "SELECT 'n' \"m\", f.a FROM f JOIN d ON f.p = d.k WHERE d.x = 'n'",
        'SELECT f.a, f.b AS "n" FROM f JOIN d ON f.p = d.k WHERE d.x = "n"',
        'SELECT f.a FROM f JOIN d ON f.p = d.k JOIN nowhere ON a = b WHERE d.x = "n"',
        'SELECT f.a FROM f JOIN plain d ON f.p = d.k WHERE d.x = "n"',
    ],
)
def test_what_may_be_a_name_is_left_alone(catalog: Catalog, sql: str) -> None:
    assert not _changed(sql, catalog)
    assert _changed(sql, catalog, False)


def test_a_view_was_made_under_settings_of_its_own(catalog: Catalog) -> None:
    sql = "SELECT f.a FROM f JOIN {} d ON f.p = d.k WHERE d.x = 'm'"
    assert _changed(sql.format("plain"), catalog)
    assert not _changed(sql.format("quoted"), catalog, False)


def test_the_setting(tmp_path: Path) -> None:
    names = load(str(tmp_path), environment={"DPP_REWRITE_DOUBLE_QUOTED_IDENTIFIERS": "true"})
    assert names.double_quoted_identifiers is True
    assert load(str(tmp_path), environment={}).double_quoted_identifiers is None


def test_the_predicate_repeats_it(catalog: Catalog) -> None:
    sql = FROM + 'd.x = "n"'
    assert rewrite(sql, catalog).sql == (
        f"{sql} AND f.p IN (SELECT /*+ BROADCAST(d2) */ d2.k FROM d AS d2 "
        f'WHERE d2.x = "n") {MARKER}'
    )
