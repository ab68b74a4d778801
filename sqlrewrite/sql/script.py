"""The definitions in a text, whatever else is in it: statements as tokens alone, none parsed.

A statement that cannot be read costs only itself: what is no SQL is blanked out before
(``readable``), and a definition that begins a line begins a statement, though the one before it was
not ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import Token

from sqlrewrite.sql.definition_tokens import QUOTED
from sqlrewrite.sql.parse import Statement, lex
from sqlrewrite.text.templates import Refer, no_name

_STARTS = frozenset({"create", "use", "insert"})
_STARTS_TABLE = frozenset({"alter", "drop"})
_SIGNS = {"(": 1, ")": -1}


def statements(text: str, refer: Refer = no_name) -> Iterator[Statement]:
    """The statements of a text that ``readable`` has made. Raises nothing."""
    piece: list[Token] = []
    index = depth = 0
    for token, following in _pairs(lex(text, refer).tokens):
        word = "" if token.token_type in QUOTED else token.text.lower()
        if word == ";" or (piece and depth <= 0 and _starts(text, token, following)):
            if piece:
                yield _statement(index, piece)
                index += 1
            piece, depth = [], 0
        if word != ";":
            piece.append(token)
            depth += _SIGNS.get(word, 0)
    if piece:
        yield _statement(index, piece)


def _pairs(tokens: Sequence[Token]) -> Iterator[tuple[Token, Token | None]]:
    for index, token in enumerate(tokens):
        yield token, tokens[index + 1] if index + 1 < len(tokens) else None


def _statement(index: int, tokens: list[Token]) -> Statement:
    return Statement(index, tokens[0].start, tokens, None, end=tokens[-1].end)


def _starts(text: str, token: Token, following: Token | None) -> bool:
    """Whether a token at the beginning of its line begins a statement."""
    word = "" if token.token_type in QUOTED else token.text.lower()
    if word in _STARTS_TABLE:
        if following is None or following.text.lower() not in ("table", "view"):
            return False
    elif word not in _STARTS:
        return False
    return not text[text.rfind("\n", 0, token.start) + 1 : token.start].strip()
