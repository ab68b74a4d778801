"""What strip takes out of a text, where taking out is all that happens to it.

A predicate that no longer follows from the query goes, and what the author wrote around it stays;
where a marked predicate is not ours to judge, it stays too.
"""

from __future__ import annotations

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.model import MARKER
from tests.rule_cases import catalog_of

DDL = """
CREATE TABLE f (a INT, b INT, p INT) USING parquet PARTITIONED BY (p);
CREATE TABLE d (k INT, x INT) USING parquet;
"""
OURS = f"f.p IN (SELECT /*+ BROADCAST(d2) */ d2.k FROM d AS d2 WHERE d2.x = 1) {MARKER}"


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return catalog_of(DDL)


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        pytest.param(f"SELECT f.a FROM f WHERE {OURS}", "SELECT f.a FROM f", id="alone"),
        pytest.param(
            f"SELECT f.a FROM f WHERE f.a = 1\n  AND {OURS}\nORDER BY f.a",
            "SELECT f.a FROM f WHERE f.a = 1\nORDER BY f.a",
            id="behind the author's condition",
        ),
        pytest.param(
            f"SELECT f.a FROM f WHERE {OURS} AND (f.a = 1 OR f.b = 2)",
            "SELECT f.a FROM f WHERE f.a = 1 OR f.b = 2",
            id="in front, with parentheses of ours",
        ),
        pytest.param(
            f"SELECT f.a FROM f WHERE {OURS} AND (f.a + f.b) * 2 > 3",
            "SELECT f.a FROM f WHERE (f.a + f.b) * 2 > 3",
            id="in front of parentheses of the author's",
        ),
        pytest.param(
            f"SELECT f.a FROM f WHERE {OURS} -- mine\n AND f.a = 1",
            "SELECT f.a FROM f WHERE  -- mine\n f.a = 1",
            id="a comment of the author's between",
        ),
        pytest.param(
            f"SELECT f.a FROM f WHERE f.a = 1 -- mine\n  AND {OURS} GROUP BY f.a",
            "SELECT f.a FROM f WHERE f.a = 1 -- mine\n GROUP BY f.a",
            id="a comment before, and the author's text behind",
        ),
        pytest.param(
            f"SELECT f.a FROM f -- mine\r\nWHERE {OURS}\r\nGROUP BY f.a",
            "SELECT f.a FROM f -- mine\r\nGROUP BY f.a",
            id="a comment before, and a line's end behind",
        ),
        pytest.param(
            f"SELECT f.a FROM f WHERE f.b = 1 AND -- mine\n  {OURS} GROUP BY f.a",
            "SELECT f.a FROM f WHERE f.b = 1 -- mine\n   GROUP BY f.a",
            id="a comment between AND and the predicate",
        ),
        pytest.param(
            f"SELECT f.a FROM f WHERE /* mine */ {OURS} -- one\n AND {OURS} -- two",
            "SELECT f.a FROM f /* mine */  -- one\n -- two",
            id="comments all around",
        ),
    ],
)
def test_a_predicate_that_does_not_follow_goes(catalog: Catalog, text: str, stripped: str) -> None:
    assert rewrite(text, catalog).sql == stripped
    assert rewrite(stripped, catalog).sql == stripped


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"DELETE FROM f WHERE {OURS}", id="DELETE"),
        pytest.param(
            f"SELECT f.a FROM f WHERE f.b IN (SELECT d.k FROM d) AND {OURS} {MARKER}",
            id="a second marker, which would be left on the author's condition",
        ),
        pytest.param(f"SELECT 1; UPDATE f SET a = 1 WHERE {OURS}", id="UPDATE"),
        pytest.param(f"SELECT f.a FROM f WHERE f.b = {{{{ b }}}}_1 AND {OURS}", id="template text"),
        pytest.param(
            f"SELECT f.a FROM f WHERE f.b = 1 -- b\n AND {OURS} {{% include 'x' %}}; SELECT 1",
            id="a template behind",
        ),
        pytest.param(
            f"SELECT 1; FROM f SELECT a WHERE b = 1 -- b\n AND {OURS} -- c\n; SELECT 1",
            id="not supported, with comments around",
        ),
        pytest.param(f"SELECT f.a FROM f WHERE NOT (f.a = 1 AND {OURS})", id="under NOT"),
        pytest.param(f"SELECT f.a FROM f WHERE f.a = 1 OR {OURS}", id="under OR"),
        pytest.param(f"SELECT count(*) FILTER (WHERE {OURS}) FROM f", id="FILTER"),
        pytest.param(f"SELECT f.a FROM f WHERE '{MARKER}' = f.a", id="in a string"),
        pytest.param(
            f"SELECT f.a FROM f WHERE f.a IN (1) {MARKER[:-2]} x */", id="another comment"
        ),
    ],
)
def test_a_predicate_that_is_not_ours_to_judge_stays(catalog: Catalog, text: str) -> None:
    assert rewrite(text, catalog).sql == text
