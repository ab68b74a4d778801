"""What sql/ takes for granted of sqlglot's tokens and positions, one fact a test.

The insertions stand on these and no documentation promises them: a new sqlglot that breaks one
must say so here, by name, before it moves the range in pyproject.toml.
"""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest
from sqlglot import Token, TokenType, exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError

from sqlrewrite.sql.parse.spark_parser import SparkSqlParser
from sqlrewrite.sql.parse.sqlglot_parser import SparkParser

DIALECT = Spark()


def tokenize(sql: str) -> list[Token]:
    return DIALECT.tokenize(sql)


def parse_tokens(tokens: list[Token], sql: str) -> exp.Expr:
    (tree,) = DIALECT.parser().parse(tokens, sql)
    assert tree is not None
    return tree


def tree(sql: str) -> exp.Expr:
    return parse_tokens(tokenize(sql), sql)


def text_of(node: exp.Expr, sql: str) -> str:
    """What a node's positions cut out of the text: ``end`` is that of the last character."""
    return sql[node.meta["start"] : node.meta["end"] + 1]


def first_column(sql: str) -> exp.Expr:
    select = tree(sql)
    assert isinstance(select, exp.Select)
    column: exp.Expr = select.selects[0]
    return column


def texts(kind: type[exp.Expr], sql: str) -> list[str]:
    return sorted(text_of(node, sql) for node in tree(sql).find_all(kind))


def kinds(sql: str) -> list[TokenType]:
    return [token.token_type for token in tokenize(sql)]


# --- nodes that have positions ----------------------------------------------------------------


def test_identifiers_have_positions_quotes_included() -> None:
    sql = "SELECT a.`b c` FROM `x y` AS t WHERE `q``r` = a"
    assert texts(exp.Identifier, sql) == ["`b c`", "`q``r`", "`x y`", "a", "a", "t"]


@pytest.mark.parametrize(
    "literal", ["'x'", "'it\\'s'", '"x"', "1", "1.5e3", "''", "'two\nlines'", "0.5"]
)
def test_literals_have_positions(literal: str) -> None:
    assert texts(exp.Literal, f"SELECT  {literal}  FROM t") == [literal]


def test_stars_have_positions() -> None:
    assert texts(exp.Star, "SELECT *, t.*, count(*) FROM t") == ["*", "*", "*"]
    sql = "SELECT t.* FROM t"
    star = tree(sql).find(exp.Star)
    assert star is not None
    assert star.meta["start"] == sql.index("*")


@pytest.mark.parametrize(
    "call", ["sum(x)", "my_udf(x)", "count(DISTINCT x)", "current_date()", "left(x, 1)", "max (x)"]
)
def test_the_name_of_a_function_has_a_position(call: str) -> None:
    sql = f"SELECT  {call} FROM t"
    node = first_column(sql)
    assert isinstance(node, exp.Func)
    assert text_of(node, sql) == call.partition("(")[0].rstrip()


@pytest.mark.parametrize("kind", [exp.Select, exp.Where, exp.Join, exp.Table, exp.Column])
def test_clauses_have_no_positions(kind: type[exp.Expr]) -> None:
    """Where this fails our parser need not note their spans."""
    span = tree("SELECT a FROM t JOIN u ON t.k = u.k WHERE b > 1").find(kind)
    assert span is not None
    assert "start" not in span.meta


# --- offsets ----------------------------------------------------------------------------------


def test_offsets_count_code_points() -> None:
    sql = "SELECT '😀é' AS größe, b -- 😀\nFROM t"
    assert texts(exp.Literal, sql) == ["'😀é'"]
    assert texts(exp.Identifier, sql) == ["b", "größe", "t"]
    last = tokenize(sql)[-1]
    assert (last.start, last.end) == (len(sql) - 1, len(sql) - 1)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_offsets_count_every_character_of_a_line_end(newline: str) -> None:
    sql = newline.join(["SELECT a,", "b -- c", "/* d", "e */ FROM t"])
    assert texts(exp.Identifier, sql) == ["a", "b", "t"]
    assert tokenize(sql)[-1].end == len(sql) - 1


def test_a_slice_of_the_tokens_keeps_its_offsets() -> None:
    sql = "SELECT 1 AS one; SELECT two, sum(three) FROM four"
    tokens = tokenize(sql)
    second = tokens[1 + [token.token_type for token in tokens].index(TokenType.SEMICOLON) :]
    tree = parse_tokens(second, sql)
    assert [text_of(node, sql) for node in tree.find_all(exp.Sum)] == ["sum"]
    identifiers = sorted(text_of(node, sql) for node in tree.find_all(exp.Identifier))
    assert identifiers == ["four", "three", "two"]


def test_tokens_cut_the_text_they_stand_for() -> None:
    sql = "SELECT `a b`, 'x', 1.5, t.c <=> 2 FROM t"
    cut = [sql[token.start : token.end + 1] for token in tokenize(sql)]
    assert "".join(cut) == sql.replace(" ", "").replace("`ab`", "`a b`")
    assert all(a.end < b.start for a, b in zip(tokenize(sql), tokenize(sql)[1:], strict=False))


def test_the_column_of_a_token_is_that_of_its_last_character() -> None:
    token = tokenize("SELECT abc")[1]
    assert (token.line, token.col) == (1, 10)


def test_the_place_of_a_parse_error_is_a_token() -> None:
    sql = "SELECT a\nFROM t WHERE (b"
    with pytest.raises(ParseError) as raised:
        tree(sql)
    error = raised.value.errors[0]
    places = {(token.line, token.col) for token in tokenize(sql)}
    assert (error["line"], error["col"]) in places


# --- tokens -----------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", [" ", "   ", "\n", "\t "])
@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("GROUP BY", TokenType.GROUP_BY),
        ("ORDER BY", TokenType.ORDER_BY),
        ("SORT BY", TokenType.SORT_BY),
        ("CLUSTER BY", TokenType.CLUSTER_BY),
        ("DISTRIBUTE BY", TokenType.DISTRIBUTE_BY),
        ("PARTITION BY", TokenType.PARTITION_BY),
    ],
)
def test_a_clause_of_two_words_is_one_token(words: str, kind: TokenType, gap: str) -> None:
    written = words.replace(" ", gap)
    sql = f"t {written.lower()} a"
    token = tokenize(sql)[1]
    assert token.token_type is kind
    assert sql[token.start : token.end + 1] == written.lower()


@pytest.mark.parametrize("words", ["GROUP {} BY a", "ORDER {} BY a"])
@pytest.mark.parametrize("comment", ["/* c */", "-- c\n"])
def test_a_comment_between_the_two_words_does_not_parse(words: str, comment: str) -> None:
    """Our own lexer makes one token of the two."""
    with pytest.raises(ParseError):
        tree("SELECT a FROM t WHERE a = 1 " + words.format(comment))


@pytest.mark.parametrize(
    ("number", "cast"),
    [
        ("1L", TokenType.BIGINT),
        ("2S", TokenType.SMALLINT),
        ("3Y", TokenType.TINYINT),
        ("1.5D", TokenType.DOUBLE),
        ("1.5BD", TokenType.DECIMAL),
    ],
)
def test_a_number_with_a_suffix_is_three_tokens_on_one_place(number: str, cast: TokenType) -> None:
    tokens = tokenize(f"SELECT {number} FROM t")[1:4]
    assert [token.token_type for token in tokens] == [TokenType.NUMBER, TokenType.DCOLON, cast]
    assert {(token.start, token.end) for token in tokens} == {(7, 6 + len(number))}


def test_a_hint_is_one_token_and_only_behind_select() -> None:
    sql = "SELECT /*+ BROADCAST(a) */ a.k FROM t AS a /*+ not a hint */"
    tokens = tokenize(sql)
    hints = [token for token in tokens if token.token_type is TokenType.HINT]
    assert [sql[hint.start : hint.end + 1] for hint in hints] == ["/*+ BROADCAST(a) */"]
    assert tokens[1] is hints[0]


def test_names_in_a_hint_have_offsets_of_their_own() -> None:
    sql = "SELECT /*+ BROADCAST(a) */ k FROM t AS a"
    hint = tree(sql).find(exp.Hint)
    assert hint is not None
    name = hint.find(exp.Identifier)
    assert name is not None
    assert text_of(name, sql) != "a"


def test_a_second_hint_is_a_comment() -> None:
    sql = "SELECT /*+ BROADCAST(a) */ /*+ MERGE(b) */ k FROM t"
    assert kinds(sql).count(TokenType.HINT) == 1


def test_comments_are_no_tokens() -> None:
    assert kinds("SELECT /* a */ 1 -- b\n, 2 /* c */") == kinds("SELECT 1, 2")


def test_a_comment_in_a_string_is_text() -> None:
    assert [token.text for token in tokenize("'/* a */' '-- b'")] == ["/* a */", "-- b"]


def test_adjacent_strings_are_two_tokens_and_one_value() -> None:
    sql = "SELECT 'a' 'b' FROM t"
    assert kinds(sql)[1:3] == [TokenType.STRING, TokenType.STRING]
    value = first_column(sql)
    assert isinstance(value, exp.Concat)
    placed = [literal for literal in value.find_all(exp.Literal) if "start" in literal.meta]
    assert [text_of(literal, sql) for literal in placed] == ["'a'"]  # the second has no position


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("@", TokenType.PARAMETER),
        ("|>", TokenType.PIPE_GT),
        ("?", TokenType.PLACEHOLDER),
        ("<=>", TokenType.NULLSAFE_EQ),
        ("XOR", TokenType.XOR),
        ("BETWEEN", TokenType.BETWEEN),
        ("CASE", TokenType.CASE),
        ("END", TokenType.END),
        ("SEMI", TokenType.SEMI),
        ("ANTI", TokenType.ANTI),
        ("TABLESAMPLE", TokenType.TABLE_SAMPLE),
        ("MINUS", TokenType.EXCEPT),
        ("EXCEPT", TokenType.EXCEPT),
        ("QUALIFY", TokenType.QUALIFY),
        ("AS", TokenType.ALIAS),
    ],
)
def test_a_word_has_its_own_token(text: str, kind: TokenType) -> None:
    assert kinds(f"a {text} b")[1] is kind


@pytest.mark.parametrize("word", ["left", "right", "limit", "offset"])
def test_words_that_are_also_names_keep_their_type(word: str) -> None:
    assert kinds(f"SELECT t.{word}")[3] is TokenType[word.upper()]


# --- readings that sql/parse and sql/bind know -------------------------------------------------


def test_stream_t_reads_as_an_alias() -> None:
    table = tree("SELECT * FROM STREAM t").find(exp.Table)
    assert table is not None
    assert (table.name, table.alias) == ("STREAM", "t")


def test_stream_of_t_reads_as_a_function() -> None:
    table = tree("SELECT * FROM STREAM(t)").find(exp.Table)
    assert table is not None
    assert isinstance(table.this, exp.Anonymous)
    assert table.this.name.upper() == "STREAM"


def test_conjuncts_are_parsed_from_the_left() -> None:
    sql = "a = 1 AND b = 2 AND (c = 3 OR d = 4) AND e BETWEEN 5 AND 6"
    (condition,) = DIALECT.parser().parse_into(exp.Condition, tokenize(sql), sql)
    assert isinstance(condition, exp.And)
    assert len(list(condition.flatten(unnest=False))) == 4


def test_parsing_leaves_the_tokens_as_they_were() -> None:
    sql = "SELECT a FROM t WHERE b = 1L"
    tokens = tokenize(sql)
    before = [_values(token) for token in tokens]
    parse_tokens(tokens, sql)
    assert [_values(token) for token in tokens] == before


def _values(token: Token) -> tuple[object, ...]:
    return token.token_type, token.text, token.start, token.end


# --- internals of the parser -------------------------------------------------------------------

OVERRIDDEN = frozenset(
    """
    _is_table_query _parse_bitwise _parse_bracket _parse_cast _parse_colon_as_variant_extract
    _parse_column_parts_fast _parse_comparison _parse_dcolon _parse_derived_table_values
    _parse_equality _parse_factor _parse_from _parse_function_call _parse_in _parse_insert
    _parse_insert_table _parse_lambda _parse_merge _parse_property _parse_query_modifiers
    _parse_range _parse_select _parse_select_query _parse_set_operations _parse_statement
    _parse_table _parse_term _parse_types _parse_unary _parse_value _parse_wrapped_select
    _warn_unsupported build_cast
    """.split()
)
"""Methods of sqlglot's parser that our grammars override."""

CALLED = frozenset(
    """
    _advance _curr _index _match _match_pair _match_r_paren _match_text_seq _match_texts _next
    _parse_assignment _parse_atom _parse_boolean _parse_case _parse_column _parse_create _parse_csv
    _parse_ddl_select _parse_disjunction _parse_exists _parse_expression _parse_field_def
    _parse_function _parse_function_args _parse_group _parse_id_var _parse_join _parse_joins
    _parse_lateral _parse_null _parse_partition _parse_pivots _parse_placeholder _parse_primary
    _parse_row_format _parse_schema _parse_select_or_expression _parse_stored _parse_string
    _parse_table_parts _parse_table_sample _parse_transform _parse_type _parse_var_or_string
    _parse_where _parse_window _parse_wrapped_csv _prev _prev_comments _retreat _tokens
    """.split()
)
"""Methods and attributes of it that they use, beside those that they override."""

TABLES = frozenset(
    """
    ARRAY_CONSTRUCTORS BRACKETS COLON_IS_VARIANT_EXTRACT COLUMN_OPERATORS COLUMN_POSTFIX_TOKENS
    FUNCTIONS FUNC_TOKENS IDENTIFIER_TOKENS ID_VAR_TOKENS NO_PAREN_FUNCTIONS
    NO_PAREN_FUNCTION_PARSERS QUERY_MODIFIER_PARSERS RESERVED_TOKENS STRICT_CAST
    """.split()
)
"""Tables of it that they read or replace."""

NEWER = frozenset({"_is_table_query"})
"""What the oldest sqlglot does not have: there only our own methods call ours."""

GRAMMARS = ("expression_grammar", "query_grammar", "pipe_grammar", "spark_parser")


@pytest.mark.parametrize("name", sorted(OVERRIDDEN))
def test_what_is_overridden_takes_what_ours_takes(name: str) -> None:
    if not hasattr(SparkParser, name):
        assert name in NEWER
        return
    theirs = inspect.signature(getattr(SparkParser, name)).parameters.values()
    ours = inspect.signature(getattr(SparkSqlParser, name)).parameters
    rest = any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in ours.values())
    named = [
        parameter.name
        for parameter in theirs
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    assert rest or [name for name in ours if name != "kwargs"][: len(named)] == named


@pytest.mark.parametrize("name", sorted(CALLED | TABLES))
def test_what_is_called_is_there(name: str) -> None:
    parser = DIALECT.parser()
    parser.reset()
    assert hasattr(parser, name)


def test_these_are_all() -> None:
    """What the grammars override, call and read of sqlglot's parser is listed."""
    overridden, named = set[str](), set[str]()
    folder = Path(__file__).parents[2] / "sqlrewrite" / "sql" / "parse"
    for grammar in GRAMMARS:
        for node in ast.walk(ast.parse((folder / f"{grammar}.py").read_bytes())):
            match node:
                case ast.ClassDef(body=body):
                    overridden |= {node.name for node in body if isinstance(node, ast.FunctionDef)}
                case ast.Attribute(value=ast.Name() | ast.Call(), attr=name):
                    named.add(name)
                case ast.AnnAssign(target=ast.Name(id=name)):
                    named.add(name)
    theirs = {name for name in dir(SparkParser) if name[:2] != "__"}
    assert overridden & theirs == OVERRIDDEN & theirs
    used = {name for name in named & theirs if name[0] == "_" or name.isupper()}
    assert used - OVERRIDDEN <= CALLED | TABLES
