"""Statements by their first word: which are parsed, which are passed over, and which of the latter
hold a join and so must be reported."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from sqlglot import Token, TokenType, exp

from sqlrewrite.sql.bind.dml import changes_rows, query_held
from sqlrewrite.sql.ddl.head import returned_query
from sqlrewrite.sql.lex.keywords import token_types
from sqlrewrite.sql.lex.lexemes import LexemeKind, lexemes
from sqlrewrite.text.templates import DEFINES

_QUERY_OPENERS = token_types(
    "select with l_paren insert create cache merge delete update from values table use drop"
)
"""The first words of statements that may hold a query to rewrite, or change what names mean. No
other statement (SET, DROP FUNCTION, GRANT …) is parsed."""

_ALSO_OPENERS = {TokenType.REPLACE: TokenType.TABLE, TokenType.ALTER: TokenType.VIEW}
"""First words, each with the second, of other statements that are parsed if they have a SELECT:
REPLACE TABLE … AS, ALTER VIEW … AS."""

_COMMANDS = DEFINES | frozenset(
    """
    add alter analyze apply begin call clear close commit comment compute convert copy declare
    delete desc describe dfs end execute exit explain export fetch fsck generate get grant if import
    install invalidate iterate kill leave list load lock map merge msck open optimize put quit
    reduce refresh reload remove reorg repair replace reset restore return revoke rollback set show
    signal source start sync truncate uncache undrop unlock update vacuum while !
    model audit on_virtual_update_begin on_virtual_update_end
    """.split()
)
"""Statements of Spark, Hive, Impala, Delta, Databricks and SQLMesh without a query; not parsed."""

_DEFINITIONS = frozenset({TokenType.CREATE, TokenType.DROP, TokenType.USE})
_BEGIN_QUERY = frozenset({TokenType.SELECT, TokenType.FROM, TokenType.VALUES})
"""The first words of queries. A definition without any of these, and without AS TABLE, holds no
query. What it defines is read from its tokens (``definitions``), which hold more than any parser
knows."""

# Statements, of those not parsed, that cannot hold a query.
_NO_QUERY = frozenset(
    "comment grant revoke show ! source add list dfs load model audit docs".split()
)

_JINJA = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
"""The templates in a macro's text, which are not SQL: `join` in one is a filter, and a comment is
prose."""

# The kind of a statement that begins with WITH.
_CHANGE = frozenset({TokenType.MERGE, TokenType.UPDATE, TokenType.DELETE})

# In these no line begins with the first word of another statement, except after AS.
_HOLD_NO_STATEMENT = frozenset("alter create drop msck refresh set truncate use".split())
MISSING_SEMICOLON = "another statement begins here: is a ; missing before it?"
_BEGIN_LINES = token_types("create drop insert select use alter merge delete truncate")

_AFTER_FROM = frozenset(
    "where group having qualify window order sort cluster distribute limit offset select"
    " union except intersect insert when set".split()
)

_METADATA = re.compile(r"\bmetadata\s+from\s+(?=')")
"""The words after a column of Flink's, whose FROM begins no query: ``at TIMESTAMP(3) METADATA FROM
'timestamp'``."""

_CALLED = (
    "is left alone: it becomes part of the files that call it, which can be checked as dbt "
    "compiles them, in target/compiled"
)
_EXECUTED = "EXECUTE IMMEDIATE runs a computed text: the query in it is not read"


def opens_query(tokens: Sequence[Token]) -> bool:
    """Whether a statement is of a kind that is parsed."""
    kind = tokens[0].token_type
    if kind in _ALSO_OPENERS:
        second = tokens[1].token_type if len(tokens) > 1 else None
        selects = any(token.token_type is TokenType.SELECT for token in tokens)
        return second is _ALSO_OPENERS[kind] and selects
    return kind in _QUERY_OPENERS and not (_defines_alone(tokens) or _makes_function(tokens))


def is_passed_over(tokens: Sequence[Token]) -> bool:
    """Whether a statement is of a kind that is passed over."""
    return _word(tokens) in _COMMANDS or _defines_alone(tokens) or _makes_function(tokens)


def _makes_function(tokens: Sequence[Token]) -> bool:
    """Whether a statement makes a function whose body is more than one query."""
    opens = tokens[0].token_type is TokenType.CREATE
    makes = opens and any(token.token_type is TokenType.FUNCTION for token in tokens[:5])
    return makes and returned_query(tokens) is None


def _defines_alone(tokens: Sequence[Token]) -> bool:
    """Whether a statement defines something and holds no query."""
    if tokens[0].token_type not in _DEFINITIONS:
        return False
    before = tokens[0]
    for at, token in enumerate(tokens):
        kind = token.token_type
        if kind is TokenType.TABLE and before.token_type is TokenType.ALIAS:
            return False
        if kind in _BEGIN_QUERY and not _is_metadata(tokens[at - 1 : at + 2]):
            return False
        before = token
    return True


def _is_metadata(tokens: Sequence[Token]) -> bool:
    """Whether these are ``METADATA FROM 'key'`` of a column of Flink's."""
    named = tokens[0].text.lower() == "metadata" and tokens[1].token_type is TokenType.FROM
    return named and tokens[-1].token_type is TokenType.STRING


def reason_to_report(
    text: str, tokens: Sequence[Token], tree: exp.Expr | None
) -> tuple[int, str] | None:
    """The offset and reason to report about a statement that is passed over: it joins, or runs a
    text that nobody has read. None if there is nothing to report, or if the statement may be
    rewritten. If a MERGE, DELETE or UPDATE turns out not to be, the caller asks again without its
    ``tree``."""
    if tree is not None and (query_held(tree) is not None or changes_rows(tree)):
        return None
    word, start = _word(tokens), tokens[0].start
    if word == "execute":
        return start, _EXECUTED
    if word in DEFINES:
        text = _JINJA.sub(lambda unit: ("_" if unit[0][1] == "{" else " ") * len(unit[0]), text)
    at = None if word in _NO_QUERY else first_join(text, start, tokens[-1].end + 1)
    if at is None:
        return None
    function = _makes_function(tokens)  # RETURN may stand at the end of a line, SELECT in the next
    second = None if function or word not in _HOLD_NO_STATEMENT else missing_semicolon(text, tokens)
    if second is not None and second < at:
        return second, MISSING_SEMICOLON
    why = "predicates go into SELECT, INSERT, CREATE … AS and CACHE only: put the join into one"
    if function:
        word = "create function"
    if word in DEFINES:
        return at, f"a join in {{% {word} %}} {_CALLED}"
    if word == "with":
        word = next((token.text for token in tokens if token.token_type in _CHANGE), word)
    return at, f"a join in {word.upper()} is left alone: {why}"


def missing_semicolon(text: str, tokens: Sequence[Token]) -> int | None:
    """The offset of a line, outside of parentheses, that begins like another statement; None if no
    line does."""
    depth = 0
    for before, token in pairwise(tokens):
        kind = before.token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if depth == 0 and token.token_type in _BEGIN_LINES:
            blank = text[text.rfind("\n", 0, token.start) + 1 : token.start].strip() == ""
            if blank and kind is not TokenType.ALIAS:
                return token.start
    return None


def first_join(text: str, start: int, end: int) -> int | None:
    """The offset of the first join between two offsets of a text: a JOIN, or a comma between
    relations of a FROM; None if there is none."""
    part = text[start:end].lower()
    if "join" not in part and ("," not in part or "from" not in part):
        return None
    part = _METADATA.sub(lambda match: " " * len(match.group()), part)
    depth, froms = 0, set[int]()
    for kind, begins, ends in lexemes(part):
        word = part[begins:ends]
        named = part[max(0, begins - 1) : begins] == "." or part.startswith(".", ends)
        if kind == LexemeKind.NAME and word == "join" and not named:  # hive.auto.convert.join
            return start + begins
        if kind == LexemeKind.NAME and word == "from":
            froms.add(depth)
        elif word == "," and depth in froms:
            return start + begins
        elif word == "(":
            depth += 1
        elif word == ")" or (kind == LexemeKind.NAME and word in _AFTER_FROM):
            froms.discard(depth)
            depth -= word == ")"
    return None


def _word(tokens: Sequence[Token]) -> str:
    # sqlglot has tokens of two words.
    return tokens[0].text.lower().partition(" ")[0]
