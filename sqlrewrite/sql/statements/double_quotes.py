"""Whether text in double quotes may be read otherwise than as a string.

Spark reads ``"winter"`` as a string, or under ``spark.sql.ansi.doubleQuotedIdentifiers`` as a name.
Where the setting is not known, what stands where only a name can (``AS "x"``) is a name, and what
stands for a value is a string if no relation around it has a column of that name: read as a name,
the query would fail. Any other may be a column, and then of its value nothing is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import Token, TokenType, exp

from sqlrewrite.sql.parse.statements import Failure, Statement

_STRINGS = (TokenType.STRING, TokenType.RAW_STRING)

# Names that a query may use and that stand nowhere: hidden columns, and functions without brackets.
_UNWRITTEN = re.compile(r"_.*|grouping__id|user|\w+_(?:user|date|time|timestamp)", re.DOTALL)

_SAY_WHICH = "say which with double-quoted-identifiers in the settings"


def why_unreadable(statement: Statement, text: str, double_quoted: bool | None) -> Failure | None:
    """Why a statement is left alone because of text in double quotes, or None. ``double_quoted``
    says whether that is a name; None: it is not known."""
    if double_quoted is False or '"' not in text[statement.start : statement.end]:
        return None
    before: Token | None = None
    for token in statement.tokens:
        quoted = is_double_quoted(text, token)
        if quoted and double_quoted:
            why = "names in double quotes are not supported: write `…`"
            return Failure(token.start, why, True)
        beside = before is not None and before.token_type in _STRINGS
        if beside and token.token_type in _STRINGS and (quoted or is_double_quoted(text, before)):
            shown = text[token.start : token.end + 1]
            why = f"{_short(shown)} belongs to the string before it or, {_SET}, is its alias"
            return Failure(token.start, f"{why}: {_SAY_WHICH}", True)
        before = token
    return None


_SET = "where spark.sql.ansi.doubleQuotedIdentifiers is set"


def possible_names(statement: Statement, text: str) -> frozenset[str] | None:
    """The words of a statement that may be names; None where no value in it is in double quotes."""
    assert statement.tree is not None
    if '"' not in text[statement.start : statement.end]:
        return None
    found = (it.meta.get("start", -1) for it in statement.tree.find_all(exp.Literal))
    values = {start for start in found if text.startswith('"', start)}
    if not values:
        return None
    return frozenset(
        it.text.lower()
        for it in statement.tokens
        if it.start not in values and (it.token_type not in _STRINGS or is_double_quoted(text, it))
    )


def why_maybe_name(
    node: exp.Expr, text: str, possible_names: frozenset[str], nowhere: Callable[[str], bool]
) -> str | None:
    """Why a literal may be a column, or None if it is a string. ``possible_names`` are the words of
    the statement that may be names; ``nowhere`` says whether certainly no column in sight has a
    name."""
    start = node.meta.get("start", -1)
    if not text.startswith('"', start):
        return None
    name = str(node.this).lower()
    if name not in possible_names and _UNWRITTEN.fullmatch(name) is None and nowhere(name):
        return None
    shown = _short(text[start : node.meta["end"] + 1])
    return f"{shown} is a string or, {_SET}, maybe a column: {_SAY_WHICH}"


def is_double_quoted(text: str, token: Token | None) -> bool:
    """Whether a token is text in double quotes."""
    return (
        token is not None
        and token.token_type is TokenType.STRING
        and text.startswith('"', token.start)
    )


def _short(shown: str) -> str:
    return " ".join(shown[:40].split())
