"""Which tokens open, close and end what: the tables by which ``anchors`` finds clauses, and which
are names all the same."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from sqlglot import Token, TokenType

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
COMPARISONS = frozenset(
    {
        TokenType.EQ,
        TokenType.NULLSAFE_EQ,
        TokenType.LT,
        TokenType.LTE,
        TokenType.GT,
        TokenType.GTE,
        TokenType.BETWEEN,
    }
)
OPENERS = (TokenType.WHERE, TokenType.ON)
CHANGES = (TokenType.DELETE, TokenType.UPDATE)
NO_QUERY = (*CHANGES, TokenType.MERGE)
BEFORE_STATEMENT = (None, TokenType.SEMICOLON, TokenType.R_PAREN)

# What ends a FROM or WHERE clause at its own depth.
AFTER_WHERE = frozenset(
    {
        TokenType.GROUP_BY,
        TokenType.HAVING,
        TokenType.QUALIFY,
        TokenType.WINDOW,
        TokenType.ORDER_BY,
        TokenType.SORT_BY,
        TokenType.CLUSTER_BY,
        TokenType.DISTRIBUTE_BY,
        TokenType.LIMIT,
        TokenType.OFFSET,
        TokenType.FETCH,
        TokenType.UNION,
        TokenType.EXCEPT,
        TokenType.INTERSECT,
        TokenType.SEMICOLON,
        # of the next SELECT or INSERT over a FROM that several have
        TokenType.SELECT,
        TokenType.INSERT,
        TokenType.PIPE_GT,
    }
)

# What parts one query from another at the same depth.
BETWEEN_QUERIES = frozenset(
    {
        None,
        TokenType.SEMICOLON,
        TokenType.UNION,
        TokenType.EXCEPT,
        TokenType.INTERSECT,
        TokenType.PIPE_GT,
    }
)

# What ends an ON clause at its own depth.
AFTER_ON = AFTER_WHERE | frozenset(
    {
        TokenType.WHERE,
        TokenType.COMMA,
        TokenType.JOIN,
        TokenType.INNER,
        TokenType.LEFT,
        TokenType.RIGHT,
        TokenType.FULL,
        TokenType.CROSS,
        TokenType.SEMI,
        TokenType.ANTI,
        TokenType.NATURAL,
        TokenType.LATERAL,
        TokenType.ON,
        TokenType.USING,
        TokenType.PIVOT,
        TokenType.UNPIVOT,
        TokenType.TABLE_SAMPLE,
    }
)

# These are functions where a parenthesis follows.
ALSO_FUNCTIONS = frozenset({TokenType.LEFT, TokenType.RIGHT})

# What follows a column that is called limit or offset, and no LIMIT or OFFSET.
AFTER_NAME = frozenset(
    {
        None,
        TokenType.FROM,
        TokenType.COMMA,
        TokenType.R_PAREN,
        TokenType.ALIAS,
        TokenType.EQ,
        TokenType.NEQ,
        TokenType.NULLSAFE_EQ,
        TokenType.LT,
        TokenType.LTE,
        TokenType.GT,
        TokenType.GTE,
        TokenType.IS,
        TokenType.IN,
        TokenType.NOT,
        TokenType.BETWEEN,
        TokenType.LIKE,
        TokenType.AND,
        TokenType.OR,
        TokenType.PLUS,
        TokenType.DASH,
        TokenType.STAR,
        TokenType.SLASH,
        TokenType.DPIPE,
    }
)
_NO_CLAUSE = (
    AFTER_NAME - {None, TokenType.NOT, TokenType.PLUS, TokenType.DASH, TokenType.STAR}
) | {
    *(TokenType.DOT, TokenType.L_BRACKET, TokenType.THEN, TokenType.WHEN, TokenType.END),
}
"""What begins neither a relation nor a row: a FROM or VALUES before it is a name, as most words may
be in Spark (SqlBaseParser.g4, ``nonReserved``)."""


def as_names(tokens: Sequence[Token]) -> list[Token] | None:
    """A statement's tokens, with FROM and VALUES as names where they begin no clause; None where
    there are none of these."""
    found = [
        _as_name(it)
        if it.token_type in (TokenType.FROM, TokenType.VALUES)
        and behind is not None
        and behind.token_type in _NO_CLAUSE
        else it
        for it, behind in zip_longest(tokens, tokens[1:])
    ]
    return None if found == list(tokens) else found


def _as_name(it: Token) -> Token:
    return Token(TokenType.VAR, it.text, it.line, it.col, it.start, it.end, it.comments)
