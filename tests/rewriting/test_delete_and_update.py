"""What a run has written into the condition of a DELETE or UPDATE: it stays, or all stays."""

from __future__ import annotations

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.linting.linter import lint
from sqlrewrite.stripping import stripped
from sqlrewrite.text.markers import MARKER

DDL = """
CREATE TABLE f (id INT, p INT, x INT) USING iceberg PARTITIONED BY (p);
CREATE TABLE d (k INT, c STRING) USING parquet;
"""
JOIN = "EXISTS (SELECT 1 FROM d WHERE d.k = f.p AND d.c = 'a')"
KEYS = "SELECT /*+ BROADCAST(d2) */ d2.k FROM d AS d2 WHERE d2.c = 'a'"
CHANGES = [
    "DELETE FROM f WHERE",
    "UPDATE f SET x = 1 WHERE",
    "WITH q AS (SELECT 1) DELETE FROM f WHERE",
]


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.from_ddl(DDL)


@pytest.mark.parametrize("change", CHANGES)
def test_it_is_written_once_and_is_found_again(catalog: Catalog, change: str) -> None:
    result = rewrite(f"{change} {JOIN}", catalog)
    assert result.sql == f"{change} {JOIN} AND f.p IN ({KEYS}) {MARKER}"
    again = rewrite(result.sql, catalog)
    assert again.sql == result.sql
    assert not again.skipped
    assert not [finding for finding in lint(result.sql, catalog)[0] if finding.code != "DPP007"]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    "condition",
    [
        pytest.param("x > 0", id="nothing follows any more"),
        pytest.param(JOIN.replace("'a'", "'b'"), id="another one follows"),
        pytest.param(f"({JOIN} OR x > 0)", id="the row may be changed without a partner"),
    ],
)
def test_what_does_not_follow_is_left_with_all_around_it(
    catalog: Catalog, change: str, condition: str
) -> None:
    inner = f"id IN (SELECT f.id FROM f JOIN d ON f.p = d.k WHERE d.c = 'a') AND {condition}"
    sql = f"{change} {inner} AND f.p IN ({KEYS}) {MARKER}"
    result = rewrite(f"{sql}; SELECT 1", catalog)
    assert result.sql == f"{sql}; SELECT 1"
    assert [problem.message.partition(":")[0] for problem in result.skipped] == [
        "the predicate of an earlier run in the condition of this DELETE or UPDATE no longer "
        "follows from it"
    ]


@pytest.mark.parametrize("change", CHANGES)
def test_strip_leaves_it(catalog: Catalog, change: str) -> None:
    sql = f"{change} {JOIN} AND f.p IN ({KEYS}) {MARKER}"
    text = stripped(sql)
    assert text.sql == sql
    assert [note.message.partition(" out ")[0] for note in text.notes] == ["--strip takes nothing"]


@pytest.mark.parametrize("of", ["f", "unknown"])
def test_a_marker_of_the_authors_own_takes_nothing_away(catalog: Catalog, of: str) -> None:
    sql = f"DELETE FROM {of} WHERE x > 0 AND p IN (SELECT d.k FROM d) {MARKER}"
    assert rewrite(sql, catalog).sql == sql


def test_a_table_that_the_text_makes(catalog: Catalog) -> None:
    table = "CREATE TABLE made (p INT, x INT) USING iceberg PARTITIONED BY (p);\n"
    result = rewrite(f"{table}DELETE FROM made WHERE {JOIN.replace('f.p', 'made.p')}", catalog)
    assert f"made.p IN ({KEYS}) {MARKER}" in result.sql
    plain = Catalog.from_ddl("CREATE TABLE d (k INT, c STRING) USING parquet")
    again = rewrite(result.sql, plain)
    assert again.sql == result.sql
    assert not again.notes
