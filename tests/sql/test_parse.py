"""Trees say what the text says: names as written, what is special in Spark's grammar as nodes."""

from __future__ import annotations

import pytest
from sqlglot import exp

from sqlrewrite.sql.parse.spark_parser import DIALECT, SPELLED
from sqlrewrite.sql.parse.sqlglot_parser import SparkParser, from_sources
from sqlrewrite.sql.parse.statements import parse_tokens, statements, tokenize


def expression(text: str) -> exp.Expr:
    query = f"SELECT {text}"
    tree: exp.Expr = parse_tokens(tokenize(query), query).expressions[0]
    return tree


@pytest.mark.parametrize(
    ("text", "name", "count"),
    [
        ("substr(a, 1)", "substr", 2),
        ("SUBSTRING(a FROM 1 FOR 2)", "SUBSTRING", 3),
        ("overlay(a PLACING b FROM 1)", "overlay", 3),
        ("trim(a)", "trim", 1),
        ("position(a, b)", "position", 2),
        ("day(a)", "day", 1),
        ("date(a)", "date", 1),
        ("if(a, b, c)", "if", 3),
        ("any(a)", "any", 1),
        ("some(a)", "some", 1),
        ("exists(a, x -> x > 1)", "exists", 2),
        ("transform(a, x -> x)", "transform", 2),
        ("dateadd(DAY, 1, a)", "dateadd", 3),
        ("`f`(a)", "f", 1),
        ("map(1, 2)", "map", 2),
        ("current_date()", "current_date", 0),
        ("count(DISTINCT a, b)", "count", 1),
    ],
)
def test_a_call_has_its_name_as_written(text: str, name: str, count: int) -> None:
    tree = expression(text)
    assert isinstance(tree, exp.Anonymous)
    assert (tree.name, len(tree.expressions)) == (name, count)
    assert tree.meta["start"] == len("SELECT ")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("CAST(a AS INT)", exp.Cast),
        ("TRY_CAST(a AS INT)", exp.TryCast),
        ("EXTRACT(year FROM a)", exp.Extract),
        ("TRIM(BOTH FROM a)", exp.Trim),
        ("TRIM('x' FROM a)", exp.Trim),
        ("POSITION(a IN b)", exp.StrPosition),
        ("EXISTS (SELECT 1)", exp.Exists),
        ("EXISTS ((SELECT 1))", exp.Exists),
        ("a LIKE ANY ('x', 'y')", exp.Like),
        ("current_date", exp.Column),
        ("CASE WHEN a THEN b END", exp.Case),
        ("db.f(a)", exp.Dot),
        ("sum(a) FILTER (WHERE b) OVER (PARTITION BY c)", exp.Window),
        ("listagg(a) WITHIN GROUP (ORDER BY b)", exp.WithinGroup),
        ("first(a) IGNORE NULLS", exp.IgnoreNulls),
    ],
)
def test_what_is_special_is_a_node(text: str, kind: type[exp.Expr]) -> None:
    assert type(expression(text)) is kind


@pytest.mark.parametrize(
    ("text", "spelled", "operand"),
    [
        ("1L", "suffix", "1"),
        ("1.0BD", "suffix", "1.0"),
        ("a::int", "::", "a"),
        ("CAST(a AS int)", "cast", "a"),
        ("DATE '2024-01-01'", None, "2024-01-01"),
    ],
)
def test_a_cast_says_how_it_was_written(text: str, spelled: str | None, operand: str) -> None:
    tree = expression(text)
    assert isinstance(tree, exp.Cast)
    assert tree.meta.get(SPELLED) == spelled
    assert tree.this.name == operand


def test_the_parser_can_be_loaded_from_its_sources() -> None:
    loaded = from_sources()
    assert loaded is not SparkParser
    assert loaded.__mro__[1].__module__.startswith("sqlrewrite.")
    derived = type("Derived", (loaded,), {"FUNCTIONS": {}})
    query = "SELECT day(a) FROM t"
    (tree,) = derived(dialect=DIALECT).parse(tokenize(query), query)
    assert isinstance(tree.expressions[0], exp.Anonymous)


@pytest.mark.parametrize(
    "first",
    ["USE dw", "DROP TABLE IF EXISTS t", "SET x = 1", "CREATE TABLE t (a INT) STORED AS ORC"],
)
@pytest.mark.parametrize("second", ["INSERT INTO t SELECT", "CREATE VIEW v AS SELECT"])
def test_a_missing_semicolon_is_reported(first: str, second: str) -> None:
    text = f"{first}\n{second} a.x FROM a JOIN b ON a.x = b.x"
    (statement,) = statements(text)
    assert statement.failure is not None
    assert "is a ; missing before it?" in statement.failure.message
    assert statement.failure.offset == text.index("\n") + 1


@pytest.mark.parametrize(
    "text",
    ["EXPLAIN\nSELECT * FROM a JOIN b", "SELECT 1 FROM a\nJOIN b ON )", "COPY INTO t\nFROM a, b"],
)
def test_what_goes_on_in_a_line_misses_none(text: str) -> None:
    (statement,) = statements(text)
    assert statement.failure is not None
    assert "missing" not in statement.failure.message


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("SELECT a FROM", "expected table name after `FROM`"),
        ("SELECT a FROM t JOIN u ON t.a = = u.a", "expected an operand before `=`"),
        ("SELECT a FROM t WHER a = 1", "`a` is not expected here: look at what stands before it"),
        ("SELECT a FROM t WHERE", "WHERE is not complete"),
        ("SELECT a FROM t ORDER BY", "ORDER BY is not complete"),
        ("SELECT CASE WHEN 1", "CASE or IF is not complete"),
        ("SELECT a FROM t WHERE (", "what stands in ( ) is not complete"),
    ],
)
def test_what_is_missing_is_named_in_words_of_sql(text: str, why: str) -> None:
    (statement,) = statements(text)
    assert statement.failure is not None
    assert statement.failure.message == why


# Each of these is read by Spark 4.3, with columns called from and values.
@pytest.mark.parametrize(
    "text",
    [
        "SELECT CASE WHEN from = to THEN from END, from, max(from) AS from FROM t",
        "SELECT explode(values), values, values[0] FROM t WHERE values.a IS NOT NULL",
        "SELECT values FROM t WHERE from < 3 AND (from, 1) IN (SELECT values, 1 FROM u)",
    ],
)
def test_words_of_clauses_are_names_where_no_clause_begins(text: str) -> None:
    (statement,) = statements(text)
    assert statement.tree is not None
    assert [node.name for node in statement.tree.find_all(exp.Table)][:1] == ["t"]
    assert {"from", "values"} & {node.name for node in statement.tree.find_all(exp.Column)}


@pytest.mark.parametrize(
    "stream", ["STREAM read_files('/x', format => 'json') f", "STREAM t f", "STREAM a.t AS f"]
)
def test_a_stream_is_no_table(stream: str) -> None:
    (statement,) = statements(f"SELECT * FROM {stream} LEFT JOIN u USING (id)")
    assert statement.tree is not None
    table = statement.tree.find(exp.Table)
    assert table is not None
    assert (table.this.name, table.alias, table.db) == ("stream", "f", "")
