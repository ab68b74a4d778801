"""Sets of types of tokens, and keywords that may be names."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from sqlglot import Token, TokenType


def token_types(names: str) -> frozenset[TokenType]:
    """The types of tokens with these names."""
    return frozenset(TokenType[name.upper()] for name in names.split())


QUOTED = token_types("string raw_string identifier")


def word(tokens: Sequence[Token], at: int) -> str:
    """The token at an index in lower case; empty for a string, a quoted name, and beyond the
    end."""
    quoted = at >= len(tokens) or tokens[at].token_type in QUOTED
    return "" if quoted else tokens[at].text.lower()


OPEN, CLOSE = TokenType.L_PAREN, TokenType.R_PAREN
CHANGES = (TokenType.DELETE, TokenType.UPDATE)

_NO_CLAUSE = token_types(
    "from comma r_paren alias eq neq nullsafe_eq lt lte gt gte is in between like and or slash"
    " dpipe dot l_bracket then when end"
)
"""Tokens that begin neither a relation nor a row. FROM or VALUES before one of them is a name, as
most words may be in Spark (SqlBaseParser.g4, ``nonReserved``)."""


def as_names(tokens: Sequence[Token]) -> list[Token] | None:
    """The tokens, with FROM and VALUES as names where they open no clause; None if none does."""
    renamed = [
        Token(
            TokenType.VAR, token.text, token.line, token.col, token.start, token.end, token.comments
        )
        if token.token_type in (TokenType.FROM, TokenType.VALUES)
        and behind is not None
        and behind.token_type in _NO_CLAUSE
        else token
        for token, behind in zip_longest(tokens, tokens[1:])
    ]
    return None if renamed == list(tokens) else renamed
