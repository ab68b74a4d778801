"""Where an earlier run may have written, told from the tokens of a text alone.

A marker of ours anywhere else, in a DELETE, in a script, in a query that is not read, is the
author's: no run has put it there, and none may take out what stands before it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from sqlglot import TokenType

from sqlrewrite.sql.anchors import Anchors, Range
from sqlrewrite.sql.parse import misread

# What opens a statement that is bound, and so may get a predicate.
_OPENERS = frozenset(
    {
        TokenType.SELECT,
        TokenType.WITH,
        TokenType.FROM,
        TokenType.L_PAREN,
        TokenType.INSERT,
        TokenType.CREATE,
        TokenType.CACHE,
        TokenType.MERGE,
    }
)
_MADE_OF_A_QUERY = frozenset({"table", "view"})
_BEFORE_KIND = 8
"""So many words may stand between CREATE and the kind of what it makes: OR REPLACE GLOBAL
TEMPORARY, IF NOT EXISTS and the like."""


def written_in(anchors: Anchors) -> Callable[[int], TokenType | None]:
    """What opens the statement that a token is in; None where we write nothing in it."""
    ends = [n for n, it in enumerate(anchors.tokens) if it.token_type is TokenType.SEMICOLON]
    starts = [0, *(end + 1 for end in ends)]
    stops = [*ends, len(anchors.tokens)]
    script = next(
        (s for s, e in zip(starts, stops, strict=True) if _is_script(anchors, s, e)), None
    )
    known: dict[int, TokenType | None] = {}

    def opener(index: int) -> TokenType | None:
        place = bisect_right(starts, index) - 1
        start = starts[place]
        if script is not None and start >= script:
            return None
        if start not in known:
            known[start] = _opener(anchors, Range(start, stops[place]))
        return known[start]

    return opener


def _is_script(anchors: Anchors, start: int, stop: int) -> bool:
    """Whether a statement, and with it all behind it, is a SQL script."""
    return stop - start > 1 and anchors.kind(start) is TokenType.BEGIN


def _opener(anchors: Anchors, statement: Range) -> TokenType | None:
    tokens = anchors.tokens[statement.start : statement.end]
    kind = tokens[0].token_type
    if kind not in _OPENERS or misread(anchors.text, tokens) is not None:
        return None
    words = {token.text.lower() for token in tokens[1:_BEFORE_KIND]}
    if kind is TokenType.CREATE and words.isdisjoint(_MADE_OF_A_QUERY):
        return None
    return kind
