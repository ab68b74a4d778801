"""Texts of other dialects, transliterated to Spark's and back; and what Trino's engine is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.dialects import dialect
from sqlrewrite.linting.linter import lint
from sqlrewrite.plan.facts.functions import dialect_names, function
from sqlrewrite.results import ConfigError
from sqlrewrite.settings.options import make_options
from sqlrewrite.sql.parse.statements import lex
from sqlrewrite.stripping import stripped
from sqlrewrite.text.limits import Limits
from sqlrewrite.warehouse import Name, Table
from tests.support.cases import query_cases

DIALECTS = ("trino", "duckdb", "flink")
DDL = """
CREATE TABLE web.sales (id bigint, tags array(varchar), day date)
WITH (format = 'PARQUET', partitioned_by = ARRAY['day']);
CREATE TABLE web.dim (day date, "group" varchar, yr integer);
"""


@pytest.mark.parametrize("name", DIALECTS)
def test_a_text_comes_back_as_it_was(name: str) -> None:
    """Of any text, and of the same length."""
    written_in = dialect(name)
    assert written_in is not None
    for case in query_cases():
        transliteration = written_in.to_spark(case.text())
        if not transliteration.failure:
            assert len(transliteration.text) == len(case.text())
            assert written_in.from_spark(transliteration.text) == case.text()


@pytest.mark.parametrize("name", DIALECTS)
def test_its_functions_are_told_from_sparks(name: str) -> None:
    names = dialect_names(name)
    assert all(function(name) for name in names.same)
    assert not names.same & names.own
    first = names.alphabet[0]
    assert function(f"{first}rray_agg") is not None
    assert function(f"{first}bs") is None  # in no table of its own


@pytest.mark.parametrize(
    ("name", "text", "transliterated"),
    [
        ("trino", """SELECT "a b" FROM t""", "SELECT `a b` FROM t"),
        ("trino", "SELECT date_format(d, '%Y')", "SELECT 𝖽ate_format(d, '%Y')"),
        ("trino", "SELECT Upper(d)", "SELECT Upper(d)"),
        ("trino", "FROM a semi JOIN b ON semi.x = b.x", "FROM a 𝗌emi JOIN b ON 𝗌emi.x = b.x"),
        ("duckdb", "FROM a SEMI JOIN b USING (x)", "FROM a SEMI JOIN b USING (x)"),
        (
            "duckdb",
            "WITH w(a) AS (SELECT 1) SELECT a FROM w",
            "WITH w(a) AS (SELECT 1) SELECT a FROM w",
        ),
        ("duckdb", "SELECT concat(a, 'b')", "SELECT 𝚌oncat(a, 'b')"),
        ("trino", "SELECT week(d.week) AS week", "SELECT 𝗐eek(d.week) AS 𝗐eek"),
    ],
)
def test_a_text_is_transliterated(name: str, text: str, transliterated: str) -> None:
    written_in = dialect(name)
    assert written_in is not None
    assert written_in.to_spark(text).text == transliterated


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("text", ["SELECT 'a\\'", "SELECT 1 -- a\\\n, 2", "SELECT /*+ x */ 1"])
def test_what_spark_alone_escapes_is_nothing(name: str, text: str) -> None:
    written_in = dialect(name)
    assert written_in is not None
    lexed = lex(written_in.to_spark(text).text)
    assert lexed.unreadable == ()
    assert not [token for token in lexed.tokens if token.token_type.name == "HINT"]


@pytest.mark.parametrize(
    "text", ["SELECT U&'a'", "SELECT E'a'", "SELECT `a`", "SELECT 1_000", "SELECT {1}"]
)
@pytest.mark.parametrize("name", DIALECTS)
def test_what_is_not_understood_is_left_alone(name: str, text: str) -> None:
    if name == "flink":
        text = text.replace("`", '"')
    result = rewrite(text, Catalog(), dialect=name)
    assert result.sql == text
    assert "is not understood in" in result.skipped[0].message


def test_a_text_with_letters_of_an_alphabet_is_left_alone() -> None:
    text = "SELECT '𝖺' FROM sales"
    result = rewrite(text, Catalog(), dialect="trino")
    assert (result.sql, result.original, result.changed) == (text, text, False)
    assert "stands for another character" in result.skipped[0].message


def test_an_unknown_dialect_or_form_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"no dialect is called 'torino': did you mean trino\?"):
        rewrite("", Catalog(), dialect="torino")
    with pytest.raises(ConfigError, match="trino has no words for the form 'set'"):
        rewrite("", Catalog(), dialect="trino", predicate="set")


def _trino(text: str, when: str = "eligible") -> str:
    catalog = Catalog.from_ddl(DDL, schema="web")
    return rewrite(text, catalog, dialect="trino", engine="trino", when=when).sql


@pytest.mark.parametrize(
    ("said", "fields"),
    [
        ("partitioned_by = ARRAY['day', 'kind'], format = 'ORC'", "day kind"),
        ("format = 'ORC', partitioning = ARRAY['month(day)','kind']", "months(day) kind"),
        ("partitioning = ARRAY['bucket(kind, 4)', 'day']", "bucket(kind) day"),
    ],
)
def test_each_column_of_an_array_is_a_partition(said: str, fields: str) -> None:
    ddl = f"CREATE TABLE t (day date, kind varchar) WITH ({said})"
    table = Catalog.from_ddl(ddl).resolve(("t",))
    assert isinstance(table, Table)
    partitions = [(column.transform, column.column) for column in table.partitioned_by]
    named = (column if how == "identity" else f"{how}({column})" for how, column in partitions)
    assert " ".join(named) == fields


@pytest.mark.parametrize(
    ("condition", "repeated"),
    [
        ("""d."group" = 'x\\y'""", """d2."group" = 'x\\y'"""),
        ("TRY_CAST(d.yr AS varchar) = '7'", "TRY_CAST(d2.yr AS varchar) = '7'"),
        ("d.day >= date '2024-01-01'", "d2.day >= date '2024-01-01'"),
        ("greatest(d.yr, 3) = 3", "greatest(d2.yr, 3) = 3"),
        ("date_trunc('year', d.day) = d.day", "date_trunc('year', d2.day) = d2.day"),
        ("d.yr = 1 AND date_trunc('hour', d.day) = d.day", "d2.yr = 1"),
        ("d.yr = 1 AND any_match(s.tags, x -> x = 'a')", "d2.yr = 1"),
        ("d.yr = 1 AND date_diff('day', d.day, s.day) < 4", "d2.yr = 1"),
    ],
)
def test_trino_is_read_and_written(condition: str, repeated: str) -> None:
    text = (
        "SELECT approx_distinct(s.id), date_format(s.day, '%Y') "
        f"FROM sales s JOIN dim d ON s.day = d.day WHERE {condition}"
    )
    written = f" AND s.day IN (SELECT d2.day FROM dim AS d2 WHERE {repeated}) /* dpp-rewrite */"
    assert _trino(f"{text} GROUP BY 2") == f"{text}{written} GROUP BY 2"


@pytest.mark.parametrize(
    ("end", "written"),
    [
        ("ORDER BY s.id OFFSET 1 ROWS FETCH FIRST 3 ROWS ONLY", True),
        ("FETCH NEXT ROW ONLY", True),
        ("ORDER BY s.id FETCH FIRST 3 ROWS WITH TIES", False),
    ],
)
def test_fetch_is_a_limit(end: str, written: bool) -> None:
    """But for what a tie adds to it."""
    text = f"SELECT s.id FROM sales s JOIN dim d ON s.day = d.day WHERE d.yr = 3 {end}"
    bound = "AND s.day IN (SELECT d2.day FROM dim AS d2 WHERE d2.yr = 3) /* dpp-rewrite */ "
    assert _trino(text) == (text.replace(end, bound + end) if written else text)
    below = "SELECT s.id FROM (SELECT id, day FROM sales FETCH FIRST 3 ROWS ONLY) s "
    below += "JOIN dim d ON s.day = d.day WHERE d.yr = 3"
    assert _trino(below) == below


def test_unnest_stands_beside() -> None:
    text = "SELECT t.x FROM sales s CROSS JOIN UNNEST(s.tags) AS t(x)"
    text += " JOIN dim d ON s.day = d.day WHERE d.yr = 3"
    assert "s.day IN (SELECT d2.day FROM dim AS d2 WHERE d2.yr = 3)" in _trino(text)


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("SELECT s.id FROM sales s JOIN dim d ON s.day = d.day WHERE d.yr = 3", True),
        ("SELECT s.id FROM dim d JOIN sales s ON s.day = d.day WHERE d.yr = 3", False),
        ("SELECT s.id FROM sales s, dim d WHERE s.day = d.day AND d.yr = 3", True),
        ("SELECT s.id FROM dim d, sales s WHERE s.day = d.day AND d.yr = 3", False),
        ("SELECT s.id FROM sales s RIGHT JOIN dim d ON s.day = d.day WHERE d.yr = 3", True),
        ("SELECT s.id FROM dim d LEFT JOIN sales s ON s.day = d.day AND d.yr = 3", False),
    ],
)
def test_trino_prunes_the_probe_side(query: str, left: bool) -> None:
    assert (_trino(query, when="missed") == query) == left
    assert _trino(query) != query or left
    catalog = Catalog.from_ddl(DDL, schema="web")
    findings, _ = lint(query, catalog, make_options(engine="trino", dialect="trino"))
    messages = [finding.message for finding in findings if finding.code == "DPP012"]
    assert bool(messages) == (not left and "LEFT" not in query)
    assert all(
        '"sales" is on the build side of its join with "dim"' in sentence for sentence in messages
    )


def test_sizes_decide_the_build_side() -> None:
    """Where the dimension is known to be the smaller side, Trino builds it wherever it stands."""
    catalog = Catalog.from_ddl(DDL, schema="web")
    for name, size in (("sales", 900), ("dim", 9)):
        table = catalog.resolve((name,))
        assert isinstance(table, Table)
        catalog = catalog.with_relation(replace(table, size_in_bytes=size))
    query = "SELECT s.id FROM dim d JOIN sales s ON s.day = d.day WHERE d.yr = 3"
    assert rewrite(query, catalog, dialect="trino", engine="trino", when="missed").sql == query


def test_what_was_written_is_taken_out() -> None:
    text = """SELECT 1 FROM sales s JOIN dim d ON s.day = d.day WHERE d."group" = '\\'"""
    written = _trino(text)
    assert written != text
    assert stripped(written, Limits(dialect="trino")).sql == text


def test_a_view_is_in_the_dialect_of_its_text() -> None:
    """What is a name in double quotes there is no string in a view either."""
    ddl = DDL + 'CREATE VIEW web.days AS SELECT "day", yr FROM web.dim;'
    ddl += "CREATE VIEW web.odd AS SELECT U&'a' AS day, yr FROM web.dim;"
    catalog = Catalog.from_ddl(ddl, schema="web")
    query = "SELECT s.id FROM sales s JOIN {} d ON s.day = d.day WHERE d.yr = 3"
    results = [rewrite(query.format(name), catalog, dialect="trino") for name in ("days", "odd")]
    assert [result.changed for result in results] == [True, False]
    assert "s.day IN (SELECT d2.day FROM days AS d2 WHERE d2.yr = 3)" in results[0].sql


@pytest.mark.parametrize("inner", ["days", "odd"])
def test_a_view_in_a_view_is_in_the_dialect_too(inner: str) -> None:
    """Also one that the text names by a template alone, or not at all."""
    ddl = DDL + 'CREATE VIEW web.days AS SELECT "day", yr FROM web.dim;'
    ddl += "CREATE VIEW web.odd AS SELECT U&'a' AS day, yr FROM web.dim;"
    ddl += f"CREATE VIEW web.around AS SELECT day, yr FROM web.{inner};"
    catalog = Catalog.from_ddl(ddl, schema="web")
    around: Name = ("spark_catalog", "web", "around")
    referring = replace(catalog, references={("ref", "model"): around})
    query = "SELECT s.id FROM sales s JOIN {} d ON s.day = d.day WHERE d.yr = 3"
    for name in ("around", "{{ ref('model') }}"):
        result = rewrite(query.format(name), referring, dialect="trino")
        assert result.changed == (inner == "days")


def test_a_derived_column_is_said_in_sparks_words_alone() -> None:
    """``floor(x / 10)`` of integers is another number in Trino, where a quotient of them is a
    whole one; so no formula of Spark's is written there."""
    ddl = "CREATE TABLE t (x DATE, b INT GENERATED ALWAYS AS (year(x))) USING delta"
    catalog = Catalog.from_ddl(f"{ddl} PARTITIONED BY (b)")
    text = "SELECT x FROM t WHERE x <= DATE '2024-01-01'"
    assert rewrite(text, catalog).changed
    assert not rewrite(text, catalog, dialect="trino").changed


def test_a_column_that_using_merges_has_no_table_in_trino() -> None:
    assert _trino("SELECT 1 FROM sales s JOIN dim d USING (day) WHERE d.yr = 1").endswith("= 1")
