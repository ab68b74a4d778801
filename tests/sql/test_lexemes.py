"""Spark's lexer by our own rules, and where sqlglot's tokens part from it. That these are Spark's
answers is asked of Spark itself in ``tests/referee``."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlglot.dialects.spark import Spark

from sqlrewrite import Catalog, rewrite
from sqlrewrite.sql.lex.lexemes import LexemeKind, lexemes, plain
from sqlrewrite.sql.lex.quick import quick
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
def test_lexemes(text: str) -> None:
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
def test_kind(text: str, kind: LexemeKind) -> None:
    assert lexemes(text) == [(kind, 0, len(text))]


ALIKE = [
    "SELECT a FROM t GROUP  BY\n a ORDER BY 1L, .5, 1.5BD, x'1F', r'a\\', 'it''s'",
    "SELECT /*+ BROADCAST(a), MERGE(b) */ a << 1, a >> 2 FROM t",
    "SELECT /*+ a */ /* b */ /*+ c, d(e) */ /*+ f */ g FROM t",
    "SELECT a /* /* b */ c */ FROM t -- d\nWHERE `e``f` <=> 2020_x",
    "EXPLAIN SELECT 'a;b' -- ;\n; SHOW TABLES; SELECT 1",
    "EXPLAIN SELECT 1; ADD JAR a; SELECT r'a'",
    "SELECT x'1F' FROM t DISTRIBUTE BY a SORT BY b; SELECT x'1F' FROM t CLUSTER BY a",
    "SELECT a FROM t GROUP /* b */ BY a -- c\n ORDER -- d\n/* e */ BY a DESC",
    "SELECT x'1F', sum(a) OVER (PARTITION BY b) FROM t GROUP BY GROUPING SETS ((a))",
    "CREATE TABLE t (a INT DEFAULT 1L, PRIMARY KEY (a), FOREIGN KEY (a) REFERENCES u (a))",
]
PART = {
    "SELECT a FROM t -- b \\\nWHERE c": "--",
    "SELECT a FROM t -- b \\\n\nWHERE c": "--",
    "SELECT a FROM t -- b \\\n": "--",
    "SELECT a -- b \\\n FROM t": "--",
    "SELECT 0x1F FROM t": "0x1F",
    "SELECT n'a' FROM t": "n'a'",
    "SELECT a /*+ b */ FROM t": "/*+",
    "SELECT /*+ a */ /*+ b('*/') */ c FROM t": "SELECT",
    "SELECT /*+ a */ c /*+ b */ FROM t": "/*+ b",
    "SELECT /*+ a('*/') */ b FROM t": "SELECT",
    "SELECT a /* /*+ b */ */ FROM t": "*/ FROM",
    "SELECT * FROM http://a": "http",
    "SELECT * FROM t@v1": "@v1",
    "SELECT a !> b FROM t": "!>",
    "SELECT user-defined FROM t": "user",
    "SELECT double\nprecision FROM t": "double",
    "SELECT a{b} FROM t": "{",
    "SELECT a FROM t WHERE b = $$c$$": "$$",
    "SELECT 'a FROM t": "'a",
    "SELECT a /* FROM t": "/*",
    "SELECT a >>= b FROM t": ">>=",
}


@pytest.mark.parametrize("text", ALIKE)
def test_both_agree(text: str) -> None:
    tokens, differences = read(text)
    assert not differences
    assert [(token.start, token.end, token.text) for token in tokens] == [
        (it.start, it.end, it.text) for it in tokenize(text)
    ]


QUICK = [
    "select a.b, `c d`, 'e', '' , 1.5, 10 from t -- f\n-- g\nwhere h::int <> 1 ; ",
    "/* a\nb */ SELECT 1 -- c\r\n/* d */, 2 /* e\n */ /**/ ; -- f",
    "SELECT a FROM t GROUP  BY a ORDER BY b, sum(c) OVER (PARTITION BY d); group byx order",
    "/* a */ SELECT /*+ BROADCAST(b) */ /* c */ d, (SELECT /*+ e */ f) -- g\nFROM t",
    "ALTER TABLE t ADD COLUMN a INT, ADD b DOUBLE PRECISION; x <= y || z != 1 %-+/ *",
    "'a\nb' /* c */\n-- d\n/* e */ f -- g\n\t\r\n-- h\r/* i */ j -- k  \n \n",
]
LEFT = ["SHOW TABLES", "MSCK REPAIR TABLE t", "a GROUP\nBY b", "'a\\'b'", "user-definedx"]


def _quick_texts() -> list[str]:
    paths = sorted(Path(__file__).parents[2].glob("fixtures/queries/*/*.sql"))
    return [*QUICK, *(it for path in paths if plain(it := path.read_bytes().decode()))]


def test_quick_tokens_are_those_of_sqlglot() -> None:
    """In every respect but lines: comments included, which belong to what is in their line."""
    read_here = 0
    for text in _quick_texts():
        found = quick(text)
        assert found is not None or text not in QUICK
        if found is not None:
            read_here += 1
            theirs = Spark().tokenize(text)
            for their in theirs:
                their.line, their.col = 1, their.end + 1
            assert [repr(it) for it in found] == [repr(it) for it in theirs], text
    assert read_here > 500


@pytest.mark.parametrize("text", LEFT)
def test_what_is_left_to_sqlglot(text: str) -> None:
    assert plain(text)
    assert quick(text) is None


@pytest.mark.parametrize("text", ["SELECT a \x0c b", "a b \x0c", "€ a", "a ? b"])
def test_a_sign_that_is_none_of_the_quick_ones_is_not_passed_over(text: str) -> None:
    assert quick(text) is None


@pytest.mark.parametrize("text", PART)
def test_they_part(text: str) -> None:
    """Told at its place, for that statement alone."""
    differences = read(f"SELECT 1;\n{text}")[1]
    assert [difference.offset for difference in differences] == [10 + text.index(PART[text])]
    told = [
        statement.failure is not None for statement in statements(f"SELECT 1;\n{text}\n; SELECT 2")
    ]
    assert told == [False, True] if differences[0].endless else [False, True, False]


def test_doubled_quotes_are_one_string() -> None:
    tokens = tokenize("SELECT 'it''s', \"a\"\"b\", 'c' 'd', r'e''f'")
    said = [token.text for token in tokens if token.token_type.name in ("STRING", "RAW_STRING")]
    assert said == ["it's", 'a"b', "c", "d", "e", "f"]


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


PLAIN = ["a.b = 'c' -- d", r"a::b = 'c\'d\\'", "SELECT /*+ a(b) */ 1.5", "a /* b */ <> `c`"]
NOT_PLAIN = [
    *("a\\", "'a''b'", '"a"', "x'a'", "1a", "a.1", "é", "/*+ a */", "/* /* a", "a -- b \\"),
    *("{", "a@b", "a->b", "a::=b", "a==b", "a<=>b", "a<>=b", "a<<b", "a||||b", "`a``b`", "a */ b"),
    *("/**/ a", "/* a /* b */", "SELECT /*+ a('b') */ 1", "a>>b", "a//b", "'a'\"b\"", "1.5.2"),
]


@pytest.mark.parametrize("text", PLAIN)
def test_plain(text: str) -> None:
    assert plain(text)


@pytest.mark.parametrize("text", NOT_PLAIN)
def test_not_plain(text: str) -> None:
    assert not plain(text)
