"""A marker of ours where we write none is the author's, with all that stands before it.

Neither a run nor ``--strip`` changes such a text by a byte, and the lint tells of the marker
(DPP009). The neighbours of each, where a run does write, lose the predicate.
"""

from __future__ import annotations

import re

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.linting.linter import lint
from sqlrewrite.stripping import stripped
from sqlrewrite.text.markers import MARKER

KEYS = "FROM d AS d2 WHERE d2.x = 1"
NOTE = f"/* keys as of 2026-01-31T09:30:00Z: SELECT d2.k {KEYS} */"
LITERALS = f"f.p IN (1, 2) {MARKER} {NOTE}"
FORMS = {
    "in": f"f.p IN (SELECT /*+ BROADCAST(d2) */ d2.k {KEYS}) {MARKER}",
    "set": f"array_contains((SELECT collect_set(d2.k) {KEYS}), f.p) {MARKER}",
    "range": f"f.p >= (SELECT min(d2.k) {KEYS}) {MARKER}",
    "values": LITERALS,
    "between": f"f.p BETWEEN 1 AND 2 {MARKER} {NOTE}",
}

THEIRS = {
    "DELETE": "DELETE FROM f WHERE {}",
    "DELETE, behind AND": "DELETE FROM f WHERE a = 1 AND {}",
    "a subquery of DELETE USING": "DELETE FROM g USING d "
    "WHERE EXISTS (SELECT 1 FROM f WHERE f.a = 1 AND {})",
    "a subquery of DELETE LIMIT": "WITH c AS (SELECT 1) DELETE FROM g "
    "WHERE EXISTS (SELECT 1 FROM f WHERE f.a = 1 AND {}) LIMIT 1",
    "DELETE USING": "DELETE FROM f USING d WHERE f.p = d.k AND {}",
    "UPDATE": "UPDATE f SET a = 1 WHERE a = 1 AND {}",
    "UPDATE behind WITH": "WITH c AS (SELECT 1) UPDATE f SET a = 1 WHERE a = 1 AND {}",
    "MERGE, WHEN MATCHED": "MERGE INTO f USING d ON f.p = d.k WHEN MATCHED AND {} THEN DELETE",
    "MERGE, NOT MATCHED": "MERGE INTO f USING d ON f.p = d.k\n"
    "WHEN NOT MATCHED BY SOURCE AND f.a = 1 AND {} THEN DELETE",
    "REPLACE WHERE": "INSERT INTO f REPLACE WHERE a = 1 AND {} SELECT 1, 2, 3",
    "VALUES": "INSERT INTO f VALUES (f.a = 1 AND {}, 1)",
    "SELECT": "SELECT f.a = 1 AND {} AS x FROM f",
    "HAVING": "SELECT f.p FROM f WHERE f.a = 1 GROUP BY f.p HAVING f.p = 1 AND {}",
    "QUALIFY": "SELECT f.p FROM f QUALIFY row_number() OVER (ORDER BY f.p) = 1 AND {}",
    "ORDER BY": "SELECT f.a FROM f WHERE f.a = 1 ORDER BY f.a = 1 AND {}",
    "CASE": "SELECT f.a FROM f WHERE CASE WHEN f.a = 1 AND {} THEN true ELSE false END",
    "OR": "SELECT f.a FROM f WHERE f.a = 1 OR {}",
    "AND below OR": "SELECT f.a FROM f WHERE f.a = 1 AND {} OR f.b = 2",
    "NOT": "SELECT f.a FROM f WHERE f.a = 1 AND NOT {}",
    "an exclamation mark": "SELECT f.a FROM f WHERE ! {}",
    "parentheses": "SELECT f.a FROM f WHERE f.a = 1 AND ({})",
    "a comparison": "SELECT f.a FROM f WHERE f.a = 1 AND true = {}",
    "a call": "SELECT f.a FROM f WHERE if(f.a = 1 AND {}, true, false)",
    "a lambda": "SELECT f.a FROM f WHERE exists(array(1), x -> x = 1 AND {})",
    "FILTER": "SELECT count(*) FILTER (WHERE f.a = 1 AND {}) FROM f",
    "FILTER, OVER": "SELECT sum(f.a) FILTER (WHERE f.a = 1 AND {}) OVER (ORDER BY f.b) FROM f",
    "a window": "SELECT sum(f.a) OVER (PARTITION BY f.a = 1 AND {}) FROM f",
    "LATERAL VIEW": "SELECT f.a FROM f LATERAL VIEW explode(array(f.a = 1 AND {})) t AS x",
    "OPTIMIZE": "OPTIMIZE f WHERE {}",
    "EXPLAIN": "EXPLAIN SELECT f.a FROM f WHERE f.a = 1 AND {}",
    "DESCRIBE": "DESCRIBE QUERY SELECT f.a FROM f WHERE f.a = 1 AND {}",
    "a constraint": "ALTER TABLE f ADD CONSTRAINT c CHECK (a = 1 AND {})",
    "a variable": "SET VAR x = (SELECT max(f.a) FROM f WHERE f.a = 1 AND {})",
    "a function": "CREATE FUNCTION h() RETURNS INT RETURN 1 + (SELECT 1 FROM f WHERE {})",
    "another's": "CREATE FUNCTION h() RETURNS INT LANGUAGE X RETURN SELECT a FROM f WHERE {}",
    "COPY": "COPY INTO f FROM (SELECT f.a FROM f WHERE f.a = 1 AND {})",
    "what a script makes": "BEGIN CREATE TABLE g AS SELECT f.a FROM f WHERE f.a = 1 AND {}; END",
    "a DELETE in a script": "BEGIN IF 1 = 1 THEN DELETE FROM f WHERE f.a = 1 AND {}; END IF; END",
    "a script without END": "BEGIN SELECT f.a FROM f WHERE f.a = 1 AND {};",
    "what is said of a pipe": "DESCRIBE FROM f |> WHERE f.a = 1 AND {}",
}
OURS = {
    "SELECT": "SELECT f.a FROM f WHERE f.a = 1 AND {}",
    "a script": "BEGIN SELECT f.a FROM f WHERE f.a = 1 AND {}; END",
    "behind a script": "BEGIN SELECT 1; END; SELECT f.a FROM f WHERE f.a = 1 AND {}",
    "pipes": "FROM f |> WHERE f.a = 1 AND {} |> LIMIT 1",
    "pipes behind SELECT": "SELECT * FROM f |> WHERE f.a = 1 AND {}",
    "a JOIN in pipes": "FROM f |> JOIN d ON f.p = d.k AND {} |> SELECT a",
    "FROM first": "FROM f SELECT a WHERE f.a = 1 AND {}",
    "several inserts": "FROM f INSERT INTO g SELECT a, p WHERE f.a = 1 AND {} INSERT INTO h "
    "SELECT a",
    "ON": "SELECT 1 FROM d JOIN f ON f.p = d.k AND {}",
    "INSERT": "INSERT INTO g REPLACE WHERE a = 1 SELECT f.a FROM f WHERE {} AND f.b = 1",
    "a view": "CREATE OR REPLACE TEMPORARY VIEW v AS SELECT f.a FROM f WHERE f.a = 1 AND {}",
    "a table": "CREATE TABLE IF NOT EXISTS h AS SELECT f.a FROM f WHERE f.a = 1 AND {}",
    "a function": "CREATE FUNCTION h() RETURNS INT RETURN (SELECT 1 FROM f WHERE f.a = 1 AND {})",
    "a table's function": "CREATE FUNCTION h(x INT) RETURNS TABLE RETURN SELECT f.a FROM f WHERE "
    "{} AND x = 1",
    "CACHE": "CACHE LAZY TABLE h AS SELECT f.a FROM f WHERE f.a = 1 AND {}",
    "HAVING EXISTS": "SELECT g.a FROM g GROUP BY g.a HAVING EXISTS (SELECT 1 FROM f WHERE "
    "f.a = 1 AND {})",
    "a subquery of DELETE": "DELETE FROM g WHERE EXISTS (SELECT 1 FROM f WHERE f.a = 1 AND {})",
    "an ON in DELETE": "DELETE FROM g WHERE EXISTS (SELECT 1 FROM f JOIN d USING (x) LEFT "
    "JOIN f h ON {} AND 1=1)",
    "a subquery of UPDATE": "UPDATE f SET a = (SELECT max(f.a) FROM f WHERE f.b = 1 AND {})",
    "MERGE, USING": "MERGE INTO g USING (SELECT f.a FROM f WHERE f.b = 1 AND {}) s ON g.a = s.a\n"
    "WHEN MATCHED THEN DELETE",
    "MERGE, SET": "MERGE INTO g USING d ON g.p = d.k\n"
    "WHEN MATCHED THEN UPDATE SET a = (SELECT max(f.a) FROM f WHERE f.b = 1 AND {})",
    "behind DELETE": "DELETE FROM f; SELECT f.a FROM f WHERE f.a = 1 AND {}",
}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.from_ddl("""
    CREATE TABLE f (a INT, b INT, p INT) USING parquet PARTITIONED BY (p);
    CREATE TABLE g (a INT, p INT) USING parquet PARTITIONED BY (p);
    CREATE TABLE d (k INT, x INT) USING parquet;
    """)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("where", THEIRS)
def test_a_marker_where_we_write_none_stays(catalog: Catalog, where: str, form: str) -> None:
    _stays(THEIRS[where].format(FORMS[form]), catalog)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "where",
    [
        "SELECT f.a FROM f WHERE f.a = 1 AND {} AND AND",
        "SELECT f.a FROM f WHERE f.a !> 1 AND {}",
        "INSERT INTO f REPLACE ON f.p = 1 AND {} SELECT * FROM g",
        "SELECT f.a FROM f WHERE f.a = 1 AND {} AND {} IS NOT NULL IS TRUE",
        "BEGIN DROP TABLE f; SELECT f.a FROM f WHERE f.a = 1 AND {}; END",
    ],
)
def test_in_a_statement_that_is_not_read_it_stays(catalog: Catalog, where: str, form: str) -> None:
    """Whose it is cannot be told: nobody is asked to take the marker off."""
    text = where.replace("{}", FORMS[form])
    for result in (stripped(text), rewrite(text, catalog)):
        assert (result.sql, result.notes, result.removed) == (text, (), ())
        assert result.skipped or result.errors


@pytest.mark.parametrize("form", [form for form in FORMS if NOTE not in FORMS[form]])
def test_in_the_on_of_a_merge_only_literals_are_ours(catalog: Catalog, form: str) -> None:
    text = "MERGE INTO f USING d ON f.p = d.k AND {} WHEN MATCHED THEN DELETE"
    _stays(text.format(FORMS[form]), catalog)
    assert stripped(text.format(LITERALS)).sql == text.replace(" AND {}", "")


@pytest.mark.parametrize(
    "theirs",
    [
        "f.p >= (1 + 2)",
        "f.p >= (f.a)",
        "array_contains(array(1, 2), f.p)",
        "array_contains((f.a), f.p)",
        "f.p IN /* mine */ (SELECT d2.k FROM d d2)",
        "f.p NOT IN (SELECT d2.k FROM d d2)",
        "f.p <> (SELECT max(d2.k) FROM d d2)",
        "EXISTS (SELECT 1 FROM d d2)",
        "f.p BETWEEN 1 AND 2",
        "f.p > 1",
    ],
)
def test_what_we_do_not_write_stays(catalog: Catalog, theirs: str) -> None:
    _stays(f"SELECT f.a FROM f WHERE f.a = 1 AND {theirs} {MARKER}", catalog)


@pytest.mark.parametrize("sign", ["'{}'", '"{}"', "`{}`", "1 -- {}\n"])
def test_no_marker_in_a_string_or_name_or_line_comment(catalog: Catalog, sign: str) -> None:
    text = f"SELECT {sign.format(FORMS['set'])} FROM f WHERE f.a = 1"
    assert stripped(text).sql == rewrite(text, catalog).sql == text
    assert not stripped(text).removed


def test_no_marker_in_a_hint(catalog: Catalog) -> None:
    text = f"SELECT /*+ BROADCAST(f) {MARKER} */ f.a FROM f WHERE f.a = 1"
    assert stripped(text).sql == rewrite(text, catalog).sql == text


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("where", OURS)
def test_a_marker_where_we_write_goes(catalog: Catalog, where: str, form: str) -> None:
    without = re.sub(r" AND \{}|\{} AND ", "", OURS[where])
    text = OURS[where].format(FORMS[form])
    for result in (stripped(text), rewrite(text, catalog)):
        assert result.sql == without
        assert not result.notes
    assert rewrite(without, catalog).sql == without


def _stays(text: str, catalog: Catalog) -> None:
    for result in (stripped(text), rewrite(text, catalog)):
        assert result.sql == text
        assert [note.code for note in result.notes] == ["DPP009"]
        assert not result.removed
    assert "DPP009" in {finding.code for finding in lint(text, catalog)[0]}
