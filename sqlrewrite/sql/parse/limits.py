"""Statements that are not parsed because it would take too long: too large, nested too deeply, or
of a kind for which sqlglot tries every way of reading.

It tries two ways for each join without a condition (the next may be nested in it) and for each call
with the name of a type (``date(…)`` may be a cast): twenty nested in one another take seconds,
thirty an hour.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import Token, TokenType
from sqlglot.dialects.spark import Spark

from sqlrewrite.sql.lex.keywords import token_types
from sqlrewrite.text.limits import Limits, over

_MOST_TRIED = 12
"""The most calls or joins inside one another for which both ways are tried: they take a tenth to
half of a second."""

_NESTING = token_types("l_paren l_bracket case")
_OPENING = "([<"  # the signs that nest, CASE aside
_CLOSING = token_types("r_paren r_bracket end")
_NESTED_TYPES = token_types("array map struct")
_TYPES = frozenset(Spark.Parser.TYPE_TOKENS)
_OPENING_TOKENS = token_types("l_paren l_bracket")
_CLOSING_TOKENS = token_types("r_paren r_bracket")
_CONDITIONS = token_types("on using")
_WITHOUT_CONDITION = token_types("cross natural")
_ENDS_OF_JOINS = token_types("select where")
_RELEVANT = token_types("join").union(
    _OPENING_TOKENS, _CLOSING_TOKENS, _CONDITIONS, _WITHOUT_CONDITION, _ENDS_OF_JOINS
)


def why_exceeded(text: str, tokens: Sequence[Token], limits: Limits) -> str | None:
    """Why a statement is over the limits; None if it is not."""
    if len(text) * 4 > limits.statement:  # else no letters could make so many bytes
        taken = len(text.encode("utf-8", "surrogateescape"))
        if taken > limits.statement:
            return over("statement", taken, limits.statement)
    lowered, opening = text.lower(), sum(map(text.count, _OPENING))
    if opening + lowered.count("case") > limits.nesting:
        deep = _depth_of_nesting(tokens)
        if deep > limits.nesting:
            limit = f"the nesting-limit of {limits.nesting} (raise it to read this)"
            return f"nested {deep} deep, over {limit}"
    tried = lowered.count("join") + sum([token.token_type in _TYPES for token in tokens])
    if tried > _MOST_TRIED and _tries(tokens) > _MOST_TRIED:
        return (
            f"more than {_MOST_TRIED} joins without ON or USING, or nested calls of a type's name "
            "(date(…)), take too long to parse: write CROSS JOIN, a condition, or CAST"
        )
    return None


def _depth_of_nesting(tokens: Sequence[Token]) -> int:
    """How deeply parentheses, brackets, CASE and types are nested."""
    deepest = depth = types = 0
    before = None
    for token in tokens:
        kind = token.token_type
        if kind in _NESTING:
            depth += 1
        elif kind in _CLOSING:
            depth = max(0, depth - 1)
        elif kind is TokenType.LT and before in _NESTED_TYPES:
            types += 1
        elif kind is TokenType.GT:
            types = max(0, types - 1)
        deepest = max(deepest, depth + types)
        before = kind
    return deepest


def _tries(tokens: Sequence[Token]) -> int:
    """The greatest n for which the parser may read a token 2^n times: the number of joins without a
    condition so far, in one FROM and those around it, and of calls around them that may be
    types."""
    most, around, here, plain = 0, 0, 0, False
    outer: list[tuple[int, int, bool]] = []
    for index in [n for n, token in enumerate(tokens) if token.token_type in _RELEVANT]:
        kind, before = tokens[index].token_type, tokens[index - 1].token_type if index else None
        if kind in _OPENING_TOKENS:
            outer.append((around, here, plain))
            around += here - (before is TokenType.JOIN and not plain) + (before in _TYPES)
            here, plain = 0, False
        elif kind in _CLOSING_TOKENS:
            around, here, plain = outer.pop() if outer else (0, 0, False)
        elif kind in _ENDS_OF_JOINS:
            here = 0
        elif kind in _WITHOUT_CONDITION:
            plain = True
        elif kind in _CONDITIONS:
            here = max(0, here - 1)
        else:
            here += not plain
            plain = False
        most = max(most, around + max(0, here - 1))  # the last one's condition may still come
    return most
