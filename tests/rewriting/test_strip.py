"""What strip takes out of a text, where taking out is all that happens to it.

A predicate that no longer follows from the query goes, and what the author wrote around it stays;
where a marked predicate is not ours to judge, it stays too.
"""

from __future__ import annotations

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.linting.linter import lint
from sqlrewrite.stripping import stripped
from sqlrewrite.text.markers import MARKER

DDL = """
CREATE TABLE f (a INT, b INT, p INT) USING parquet PARTITIONED BY (p);
CREATE TABLE d (k INT, x INT) USING parquet;
"""
OURS = f"f.p IN (SELECT /*+ BROADCAST(d2) */ d2.k FROM d AS d2 WHERE d2.x = 1) {MARKER}"


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.from_ddl(DDL)


@pytest.mark.parametrize(
    ("text", "without"),
    [
        pytest.param(f"SELECT f.a FROM f WHERE {OURS}", "SELECT f.a FROM f", id="alone"),
        pytest.param(
            f"BEGIN FOR r AS SELECT f.a FROM f WHERE f.a = 1 AND {OURS} DO SELECT 1; END FOR; END",
            "BEGIN FOR r AS SELECT f.a FROM f WHERE f.a = 1 DO SELECT 1; END FOR; END",
            id="the query of a loop",
        ),
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
def test_a_predicate_that_does_not_follow_goes(catalog: Catalog, text: str, without: str) -> None:
    assert rewrite(text, catalog).sql == without
    assert rewrite(without, catalog).sql == without


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"DELETE FROM f WHERE {OURS}", id="DELETE"),
        pytest.param(
            f"SELECT f.a FROM f WHERE f.b IN (SELECT d.k FROM d) AND {OURS} {MARKER}",
            id="a second marker, which would be left on the author's condition",
        ),
        pytest.param(f"SELECT 1; UPDATE f SET a = 1 WHERE {OURS}", id="UPDATE"),
        pytest.param(
            f"SELECT f.a FROM f WHERE f.b = {{{{ b() }}}}_1 AND {OURS}", id="template text"
        ),
        pytest.param(
            f"SELECT f.a FROM f WHERE f.b = 1 -- b\n AND {OURS} {{% include 'x' %}}; SELECT 1",
            id="a template behind",
        ),
        pytest.param(
            f"SELECT 1; SELECT a FROM f@v1 WHERE b = 1 -- b\n AND {OURS} -- c\n; SELECT 1",
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


# --- a predicate of ours that the author has moved into the key query of another ------------------

BASE = "SELECT f.a FROM f JOIN d ON f.p = d.k WHERE d.x = 1 AND f.a = 2"
OUTER = OURS.replace("d2", "d3").replace("= 1", "= 7")


@pytest.mark.parametrize(
    "condition",
    [
        f"d3.x = 7 AND {OURS}",
        f"{OURS} AND d3.x = 7",
        f"{OURS} AND (d3.x = 7 OR d3.x = 8)",
        OURS,
        f"d3.x = 7 AND {OUTER.replace('d3.x = 7', OURS)}",
        f"d3.x = 7 AND {OURS} AND {OURS}",
        f"d3.x = 7 AND d3.k IN (SELECT d4.k FROM d AS d4 WHERE {OURS})",
        f"d3.x = 7\n  AND {OURS}\n  AND d3.k = 1",
        f"d3.x = 7 AND NOT ({OURS})",
    ],
)
@pytest.mark.parametrize("before", ["", f"{OURS} AND "])
def test_a_predicate_in_another_s_key_query_goes_with_it(
    catalog: Catalog, condition: str, before: str
) -> None:
    outer = OUTER.replace("d3.x = 7", condition)
    text = BASE.replace("f.a = 2", f"{before}{outer} AND f.a = 2")
    result = rewrite(f"{text};\n{text}", catalog)
    assert result.sql == rewrite(f"{BASE};\n{BASE}", catalog).sql
    assert (result.errors, result.notes) == ((), ())
    assert [removal.text for removal in result.removed if removal.text != OURS] == [outer, outer]
    assert stripped(text).sql == BASE
    assert rewrite(result.sql, catalog).sql == result.sql


def test_with_a_predicate_that_stays_stays_what_is_in_it(catalog: Catalog) -> None:
    outer = OUTER.replace("d3.x = 7", f"d3.x = 7 AND {OURS}")
    text = f"{BASE}\n AND {outer} -- dpp-rewrite: ignore[DPP002]"
    assert rewrite(text, catalog).sql == text
    assert rewrite(text, catalog).notes == ()
    assert [finding.code for finding in lint(text, catalog)[0] if finding.suppression is None] == []


def test_with_what_is_the_author_s_goes_only_what_is_in_it(catalog: Catalog) -> None:
    outer = OUTER.replace("d3.x = 7", f"d3.x = 7 AND {OURS}")
    text = f"SELECT f.a FROM f WHERE f.a = 1 OR {outer}"
    result = rewrite(text, catalog)
    assert result.sql == text.replace(f" AND {OURS}", "")
    assert [note.code for note in result.notes] == ["DPP009"]


@pytest.mark.parametrize("comment", ["", " -- dpp-rewrite: ignore[DPP002]"])
def test_no_statement_is_inside_a_predicate(catalog: Catalog, comment: str) -> None:
    """Half of one in one statement and half in another are nothing of ours."""
    text = (
        "SELECT f.a FROM f JOIN d ON f.p = d.k WHERE d.x = 1\n"
        "AND f.p IN (SELECT d2.k FROM d AS d2 WHERE d2.x =\n"
        f";\nINSERT INTO g SELECT a FROM h;\nSELECT 2) {MARKER}{comment}\n"
    )
    assert stripped(text).sql == text
    assert "INSERT INTO g SELECT a FROM h;" in rewrite(text, catalog).sql
    assert lint(text, catalog)[1] == ()


# --- behind a formatter ---------------------------------------------------------------------------

JOIN = "SELECT f.a FROM f JOIN d ON f.p = d.k WHERE d.x = 1 AND "
MOVED = OURS.removesuffix(f" {MARKER}")
SPACES = ["", "  ", "\t", "\n", "\r\n", "\n\n    "]


@pytest.mark.parametrize("space", SPACES)
def test_any_white_space_stands_before_a_marker(catalog: Catalog, space: str) -> None:
    text = f"{JOIN}{MOVED}{space}{MARKER} ORDER BY 1"
    assert rewrite(text, catalog).sql == text
    assert stripped(text).sql == f"{JOIN} ORDER BY 1".replace(" AND  ORDER", " ORDER")
    edited = text.replace("d.x = 1", "d.x = 2", 1)
    assert rewrite(edited, catalog).sql == f"{JOIN}{OURS} ORDER BY 1".replace("x = 1", "x = 2")


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("behind", [";", ",", " do"])
def test_a_marker_that_was_moved_behind_the_end_of_a_clause(
    catalog: Catalog, behind: str, space: str
) -> None:
    whole = {
        ";": JOIN + "{};{} SELECT 1",
        ",": "SELECT f.a FROM d JOIN f ON f.p = d.k AND d.x = 1 AND {},{} d e",
        " do": f"BEGIN FOR r AS {JOIN}" + "{} do{} SELECT 1; END FOR; END",
    }[behind]
    text, bare = whole.format(MOVED, space + MARKER), whole.replace(" AND {}", "").format("")
    assert stripped(text).sql == bare
    again = rewrite(text, catalog).sql
    assert rewrite(again, catalog).sql == again
    assert again == (rewrite(bare, catalog).sql if behind == "," else text)
    edited = rewrite(text.replace("d.x = 1", "d.x = 2", 1), catalog).sql
    assert edited == rewrite(bare.replace("d.x = 1", "d.x = 2"), catalog).sql
    assert edited.count(MARKER) == 1


@pytest.mark.parametrize(
    "mine",
    [
        "f.a IN (SELECT d3.k FROM d AS d3)",
        "f.a >= (SELECT min(d3.k) FROM d AS d3)",
        "array_contains((SELECT collect_set(d3.k) FROM d AS d3), f.a)",
        "f.a = 1",
        "f.a NOT IN (SELECT d3.k FROM d AS d3 WHERE d3.x IN (SELECT d4.k FROM d AS d4))",
        "(f.a IN (SELECT d3.k FROM d AS d3))",
        "NOT f.a IN (SELECT d3.k FROM d AS d3)",
    ],
)
@pytest.mark.parametrize("behind", [";", ","])
def test_what_an_author_adds_before_a_moved_marker_stays(
    catalog: Catalog, mine: str, behind: str
) -> None:
    """Which predicate the marker belongs to is not sure then: the statement is left alone."""
    whole = JOIN if behind == ";" else "SELECT f.a FROM d JOIN f ON f.p = d.k AND d.x = 1 AND "
    text = f"{whole}{MOVED} AND {mine}{behind}\n{MARKER}\n" + ("d e" if behind == "," else "")
    for result in (stripped(text), rewrite(text, catalog)):
        assert result.sql == text
        assert [note.code for note in result.notes] == ["DPP009"]
    assert "which predicate" in rewrite(text, catalog).skipped[0].message
    assert "DPP009" in {finding.code for finding in lint(text, catalog)[0]}


@pytest.mark.parametrize(
    "between", ["/* mine */", "-- mine\n", "AND f.a IN (1, 2)", "AND f.a = 1", "AND f.a > abs(2)"]
)
@pytest.mark.parametrize("key", ["d.x = 1", "d.x = 2"])
def test_what_stands_between_our_predicate_and_its_marker_is_not_taken(
    catalog: Catalog, between: str, key: str
) -> None:
    text = f"{JOIN}{MOVED} {between} {MARKER}".replace("d.x = 1", key, 1)
    assert stripped(text).sql == text
    result = rewrite(text, catalog)
    assert (result.sql, result.errors) == (text, ())
    assert "which predicate" in result.skipped[0].message


def test_a_list_of_the_author_before_our_predicate_is_no_question(catalog: Catalog) -> None:
    text = f"{JOIN}f.a IN (1, 2) AND {MOVED} {MARKER}"
    edited = rewrite(text.replace("d.x = 1", "d.x = 2", 1), catalog)
    assert (edited.sql.count(MARKER), edited.skipped) == (1, ())
    assert stripped(text).sql == f"{JOIN}f.a IN (1, 2)"


@pytest.mark.parametrize("end", [")", "/* mine */", "-- mine\n", "THEN", "WHERE"])
def test_a_marker_behind_anything_else_is_not_ours(catalog: Catalog, end: str) -> None:
    text = f"SELECT 1 FROM (SELECT f.a FROM f WHERE f.a = 1 AND {MOVED} {end} {MARKER}"
    assert stripped(text).sql == text


def test_a_marker_behind_another_statement_is_not_ours() -> None:
    for text in (f"DELETE FROM f WHERE {MOVED};\n{MARKER}", f"{JOIN}{MOVED}; /* x */ {MARKER}"):
        assert stripped(text).sql == text


def test_parentheses_of_ours_go_with_the_white_space_in_them(catalog: Catalog) -> None:
    text = (
        f"SELECT f.a\nFROM f\nWHERE\n    {MOVED}  {MARKER}\n    AND (\n        f.a = 1\n"
        "        OR f.b = 2 -- mine\n    )\n"
    )
    assert stripped(text).sql == (
        "SELECT f.a\nFROM f\nWHERE\n    f.a = 1\n        OR f.b = 2 -- mine\n"
    )
