"""Sets of tokens that open or end clauses, and keywords that may be names."""

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
STEPS = {
    OPEN: 1,
    TokenType.CASE: 1,
    TokenType.L_BRACKET: 1,
    CLOSE: -1,
    TokenType.END: -1,
    TokenType.R_BRACKET: -1,
}
CASE_END = (TokenType.CASE, TokenType.END)
OR = (TokenType.OR, TokenType.XOR)
OPENERS = (TokenType.WHERE, TokenType.ON)
CHANGES = (TokenType.DELETE, TokenType.UPDATE)
NO_QUERY = (*CHANGES, TokenType.MERGE)
BEFORE_STATEMENT = (None, TokenType.SEMICOLON, TokenType.R_PAREN)

# What ends a FROM or WHERE clause at its own depth: SELECT and INSERT are the next ones over a FROM
# that several have.
AFTER_WHERE = token_types(
    "group_by having qualify window order_by sort_by cluster_by distribute_by limit offset"
    " fetch union except intersect semicolon select insert pipe_gt"
)

# What parts one query from another at the same depth.
BETWEEN_QUERIES = token_types("semicolon union except intersect pipe_gt") | {None}

# What ends an ON clause at its own depth.
AFTER_ON = AFTER_WHERE | token_types(
    "where comma join inner left right full cross semi anti natural lateral on using pivot"
    " unpivot table_sample"
)

# These are functions where a parenthesis follows.
ALSO_FUNCTIONS = frozenset({TokenType.LEFT, TokenType.RIGHT})

# What follows a column that is called limit or offset, and no LIMIT or OFFSET.
AFTER_NAME = token_types(
    "from comma r_paren alias eq neq nullsafe_eq lt lte gt gte is in not between like and"
    " or plus dash star slash dpipe"
) | {None}
_NO_CLAUSE = (AFTER_NAME - {None, *token_types("not plus dash star")}) | token_types(
    "dot l_bracket then when end"
)
"""What begins neither a relation nor a row: a FROM or VALUES before it is a name, as most words may
be in Spark (SqlBaseParser.g4, ``nonReserved``)."""


def as_names(tokens: Sequence[Token]) -> list[Token] | None:
    """The tokens, FROM and VALUES made names where they open no clause; None if nothing changes."""
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
