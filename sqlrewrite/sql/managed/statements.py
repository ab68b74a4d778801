"""Where an earlier run may have written, told from the tokens of a text alone.

A marker of ours anywhere else, in a DELETE, in what a script makes, in a query not read, is the
author's: no run has put it there, and none may take out what stands before it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence

from sqlglot import Token, TokenType

from sqlrewrite.sql.lex.keywords import CHANGES, CLOSE, OPEN, token_types
from sqlrewrite.sql.managed.token_walk import Walk
from sqlrewrite.sql.parse.scripts import Piece, pieces
from sqlrewrite.sql.parse.statement_kinds import opens_query
from sqlrewrite.sql.parse.statements import misread

# What opens a statement that is bound, and so may get a predicate.
_OPENERS = token_types(
    "select with from l_paren insert create cache merge delete update alter replace"
)
_NOT_SPARKS = frozenset({TokenType.USING, TokenType.LIMIT, TokenType.ORDER_BY, TokenType.JOIN})
_MADE_OF_A_QUERY = frozenset({"table", "view", "function"})
_BEFORE_KIND = 8
"""So many words may stand between CREATE and what it makes: OR REPLACE GLOBAL TEMPORARY …."""


def statement_openers(walk: Walk) -> Callable[[int], TokenType | None]:
    """What opens the statement that a token is in; None where we write nothing in it."""
    all_pieces = list(pieces(walk.text, walk.tokens))
    starts = [piece.tokens[0].start for piece in all_pieces]
    openers: dict[int, TokenType | None] = {}

    def opener(index: int) -> TokenType | None:
        place = bisect_right(starts, walk.tokens[index].start) - 1
        if place not in openers:
            openers[place] = _opener(walk.text, all_pieces[place])
        return openers[place]

    return opener


def _has_foreign_clause(tokens: Sequence[Token]) -> bool:
    """Whether a statement is a DELETE or UPDATE with a clause that Spark's have not."""
    depth, top = 0, list[TokenType]()
    for token in tokens:
        kind = token.token_type
        depth += (kind is OPEN) - (kind is CLOSE)
        top += [kind] if depth == 0 else []
    begins = next((at for at, kind in enumerate(top) if kind in CHANGES), None)
    if begins is None or top[0] not in (*CHANGES, TokenType.WITH):
        return False
    clauses = _NOT_SPARKS | ({TokenType.FROM} if top[begins] is TokenType.UPDATE else set())
    return not clauses.isdisjoint(top[begins:])


def _opener(text: str, piece: Piece) -> TokenType | None:
    tokens, kind = piece.tokens, piece.tokens[0].token_type
    if piece.why or piece.defines or kind not in _OPENERS or not opens_query(tokens):
        return None
    if misread(text, tokens) is not None or _has_foreign_clause(tokens):
        return None
    words = {token.text.lower() for token in tokens[1:_BEFORE_KIND]}
    if kind is TokenType.CREATE and words.isdisjoint(_MADE_OF_A_QUERY):
        return None
    return kind
