"""Spark's lexer by our own rules, and the tokens made of its lexemes. That these are Spark's
answers is asked of Spark itself in ``tests/referee``."""

from __future__ import annotations

import pytest
from sqlglot.errors import TokenError

from sqlrewrite import Catalog, rewrite
from sqlrewrite.sql.lex.lexemes import LexemeKind, lexemes
from sqlrewrite.sql.lex.tokens import read, tokenize
from sqlrewrite.sql.parse.statements import statements

LEXED = {
    "a/* /* x */ y */b": "a b",
    "a/*/* x */ y */b": "a b",
    "a/* /*+ x */ b": "a b",
    "a/**/b/***/c": "a b c",
    "/*+ x */": "/*+ x */",
    "/*/ */a": "a",
    "a--b": "a",
    "a -- b \\\n c\nd": "a d",
    "a -- b \\\r\n c": "a c",
    "r'a\\' R\"b\\\" 'c\\'d' 'e''f' \"g\"\"h\"": "r'a\\' R\"b\\\" 'c\\'d' 'e''f' \"g\"\"h\"",
    "`a``b`": "`a``b`",
    "2020_x 1a 1L 1.5BD 1e5 1e5x": "2020_x 1a 1L 1.5BD 1e5 1e5x",
    "1. .5 1.x 1..2 t.5": "1. .5 1 . x 1. .2 t .5",
    "1e+5 1.5e-3D 1e+x": "1e+5 1.5e-3D 1e + x",
    "a<=>b<<c!<d==e=>f->g::h|>i||j": "a <=> b << c !< d == e => f -> g :: h |> i || j",
    "a>>b:=c": "a > > b : = c",
    "t@v1 t@2": "t @v 1 t @ 2",
    "http://a-b/c s3://a": "http://a-b/c s3 : / / a",
    "$$a;b$$ $x$ ; $y$ $x$": "$$a;b$$ $x$ ; $y$ $x$",
    "é1 aé 1é 1ſ": "é1 aé 1é 1ſ",
    "a\u00a0b\u2003c": "a b c",
    "a 'b; c": "a 'b; c",
    "a>=b;c": "a >= b ; c",
}


@pytest.mark.parametrize("text", LEXED)
def test_a_text_has_the_lexemes_of_spark(text: str) -> None:
    assert " ".join(text[start:end] for _, start, end in lexemes(text)) == LEXED[text]


def test_a_byte_that_is_no_utf_8_is_named_as_it_stands_in_the_file() -> None:
    text = b"SELECT caf\xe9 FROM t".decode("utf-8", "surrogateescape")
    (skipped,) = rewrite(text, Catalog.from_ddl("CREATE TABLE t (a INT)")).skipped
    assert skipped.column == len("SELECT caf") + 1
    assert skipped.message == "the byte 0xE9 is no UTF-8: save the file as UTF-8"


KINDS = [
    ("1L", LexemeKind.NUMBER),
    ("1e5", LexemeKind.NUMBER),
    (";", LexemeKind.SEMICOLON),
    ("/*+", LexemeKind.HINT),
    ("1ſ", LexemeKind.NUMBER),
    ("1x", LexemeKind.NAME),
    ("'a", LexemeKind.UNKNOWN),
    ("/* a", LexemeKind.COMMENT),
    ("{", LexemeKind.UNKNOWN),
    ("\ufeff", LexemeKind.UNKNOWN),
    ('"a"', LexemeKind.DOUBLE_QUOTED),
    ("$$ a", LexemeKind.CODE),
]


@pytest.mark.parametrize(("text", "kind"), KINDS)
def test_a_lexeme_has_its_kind(text: str, kind: LexemeKind) -> None:
    assert lexemes(text) == [(kind, 0, len(text))]


READ = [
    "SELECT a FROM t GROUP  BY\n a ORDER BY 1L, .5, 1.5BD, x'1F', r'a\\', 'it''s'",
    "SELECT /*+ BROADCAST(a), MERGE(b) */ a << 1, a >> 2 FROM t",
    "SELECT /*+ a */ /* b */ /*+ c, d(e) */ /*+ f */ g FROM t",
    "SELECT a /* /* b */ c */ FROM t -- d\nWHERE `e``f` <=> 2020_x",
    "EXPLAIN SELECT 'a;b' -- ;\n; SHOW TABLES; SELECT 1",
    "EXPLAIN SELECT 1; ADD JAR a; SELECT r'a'",
    "ADD JARS a; ADD FILE a; ADD FILES a; ADD ARCHIVE a; ADD ARCHIVES a; MSCK REPAIR TABLE t",
    "CREATE TABLE t (a INT, b INT) PARTITIONED BY (b)",
    "SELECT x'1F' FROM t DISTRIBUTE BY a SORT BY b; SELECT x'1F' FROM t CLUSTER BY a",
    "SELECT a FROM t GROUP /* b */ BY a -- c\n ORDER -- d\n/* e */ BY a DESC",
    "SELECT x'1F', sum(a) OVER (PARTITION BY b) FROM t GROUP BY GROUPING SETS ((a))",
    "CREATE TABLE t (a INT DEFAULT 1L, PRIMARY KEY (a), FOREIGN KEY (a) REFERENCES u (a))",
]
UNREADABLE = {
    "SELECT a FROM t -- b \\\nWHERE c": "--",
    "SELECT a FROM t -- b \\\n\nWHERE c": "--",
    "SELECT a FROM t -- b \\\n": "--",
    "SELECT a -- b \\\n FROM t": "--",
    "SELECT a /*+ b */ FROM t": "/*+",
    "SELECT /*+ a */ c /*+ b */ FROM t": "/*+ b",
    "SELECT a /* /*+ b */ */ FROM t": "*/ FROM",
    "SELECT * FROM t@v1": "@v1",
    "SELECT a !> b FROM t": "!>",
    "SELECT a{b} FROM t": "{",
    "SELECT a FROM t WHERE b = $$c$$": "$$",
    "SELECT 'a FROM t": "'a",
    "SELECT a /* FROM t": "/*",
    "SELECT a >>= b FROM t": ">>=",
}


@pytest.mark.parametrize("text", READ)
def test_all_is_read(text: str) -> None:
    tokens, unreadable = read(text)
    assert not unreadable
    assert tokens[-1].end == len(text.rstrip()) - 1


def test_what_the_parser_is_given() -> None:
    text = (
        "SELECT /*+ a('*/') */ /*+ b */ 1L, .5, x'1F', t.`b``c` << 2 -- d\nGROUP /* e */ BY 1.5BD"
    )
    assert [(token.token_type.name, token.text) for token in tokenize(text)] == [
        ("SELECT", "SELECT"),
        ("HINT", "/*+ a('*/') */"),
        ("NUMBER", "1"),
        ("DCOLON", "::"),
        ("BIGINT", "L"),
        ("COMMA", ","),
        ("NUMBER", "0.5"),
        ("COMMA", ","),
        ("HEX_STRING", "1F"),
        ("COMMA", ","),
        ("VAR", "t"),
        ("DOT", "."),
        ("IDENTIFIER", "b`c"),
        ("LT", "<"),
        ("LT", "<"),
        ("NUMBER", "2"),
        ("GROUP_BY", "GROUP BY"),
        ("NUMBER", "1.5"),
        ("DCOLON", "::"),
        ("DECIMAL", "BD"),
    ]


VALUES = {
    r"'it\'s'": "it's",
    r"'a\n\t\0\Z\\b'": "a\n\t\0\x1a\\b",
    r"'\101\u00e9\U0001F600'": "A\u00e9\U0001f600",
    r"'\%\_\q'": r"\%\_q",
    "'it''s'": "it's",
    r"r'a\n'": r"a\n",
}


@pytest.mark.parametrize("written", VALUES)
def test_the_value_of_a_string(written: str) -> None:
    """As Spark's ``unescapeSQLString`` gives it."""
    (token,) = tokenize(written)
    assert token.text == VALUES[written]


def test_tokens_of_what_is_unreadable_raise() -> None:
    with pytest.raises(TokenError, match="without its end"):
        tokenize("SELECT 'a")


@pytest.mark.parametrize("text", UNREADABLE)
def test_what_is_unreadable(text: str) -> None:
    """Told at its place, for that statement alone."""
    unreadable = read(f"SELECT 1;\n{text}")[1]
    assert [place.offset for place in unreadable] == [10 + text.index(UNREADABLE[text])]
    read_ones = statements(f"SELECT 1;\n{text}\n; SELECT 2")
    failures = [statement.failure is not None for statement in read_ones]
    assert failures == [False, True] if unreadable[0].endless else [False, True, False]


def test_doubled_quotes_are_one_string() -> None:
    tokens = tokenize("SELECT 'it''s', \"a\"\"b\", 'c' 'd', r'e''f'")
    texts = [token.text for token in tokens if token.token_type.name in ("STRING", "RAW_STRING")]
    assert texts == ["it's", 'a"b', "c", "d", "e", "f"]


def test_the_rest_of_a_text_is_read_in_its_own_right() -> None:
    """A statement in which they part has the tokens that Spark sees, and those behind it theirs."""
    text = "SELECT a -- b \\\n; SELECT 1\n; SELECT /*+ c(';') */ 2; SELECT 3"
    assert [
        (statement.index, text[statement.start : statement.end].strip())
        for statement in statements(text)
    ] == [
        (0, "SELECT a -- b \\\n; SELECT 1"),
        (1, "SELECT /*+ c(';') */ 2"),
        (2, "SELECT 3"),
    ]
