"""What is not parsed, because it would take too long: statements too large, too deep, or such as
sqlglot reads by trying every way.

It tries two ways for each join without a condition (the one behind it may be nested in it) and for
each call that has a type's name (``date(…)`` may be a cast): twenty in each other take seconds, and
thirty an hour.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import Token, TokenType
from sqlglot.dialects.spark import Spark

from sqlrewrite.options import Limits, over

_MOST_TRIED = 12
"""So many take a tenth of a second, or half of one."""

_DEEPER = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.CASE})
_OPENING = "([<"  # what they, and types, are written with, but for CASE
_HIGHER = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.END})
_NESTED_TYPES = frozenset({TokenType.ARRAY, TokenType.MAP, TokenType.STRUCT})
_TYPES = frozenset(Spark.Parser.TYPE_TOKENS)
_PARENTHESES = (TokenType.L_PAREN, TokenType.R_PAREN)
_CONDITIONS = (TokenType.ON, TokenType.USING)
_WITHOUT_CONDITION = (TokenType.CROSS, TokenType.NATURAL)


def exceeded(text: str, tokens: Sequence[Token], limits: Limits) -> str | None:
    """Why a statement of this text and these tokens is not parsed, if it is not."""
    if len(text) * 4 > limits.statement:  # else no letters could make so many bytes
        taken = len(text.encode("utf-8", "surrogateescape"))
        if taken > limits.statement:
            return over("statement", taken, limits.statement)
    lowered, opening = text.lower(), sum(map(text.count, _OPENING))
    if opening + lowered.count("case") > limits.nesting:
        deep = _nesting(tokens)
        if deep > limits.nesting:
            return f"nested {deep} deep, more than nesting-limit ({limits.nesting}) lets be read"
    if lowered.count("join") > _MOST_TRIED and _bare_joins(tokens) > _MOST_TRIED:
        return (
            f"more than {_MOST_TRIED} joins without ON or USING: write CROSS JOIN, or a condition"
        )
    if opening > _MOST_TRIED and _typed_calls(tokens) > _MOST_TRIED:
        return f"calls like date(…), with a type's name, are nested more than {_MOST_TRIED} deep"
    return None


def _nesting(tokens: Sequence[Token]) -> int:
    """How deep parentheses, brackets, CASE and types lie in each other."""
    deepest = depth = types = 0
    before = None
    for token in tokens:
        kind = token.token_type
        if kind in _DEEPER:
            depth += 1
        elif kind in _HIGHER:
            depth = max(0, depth - 1)
        elif kind is TokenType.LT and before in _NESTED_TYPES:
            types += 1
        elif kind is TokenType.GT:
            types = max(0, types - 1)
        deepest = max(deepest, depth + types)
        before = kind
    return deepest


def _bare_joins(tokens: Sequence[Token]) -> int:
    """The most joins in one FROM that have no condition, and are not CROSS or NATURAL."""
    most, outer, here, plain = 0, list[int](), 0, False
    for kind in [token.token_type for token in tokens]:
        if kind is TokenType.L_PAREN:
            outer.append(here)
            here = 0
        elif kind is TokenType.R_PAREN:
            here = outer.pop() if outer else 0
        elif kind is TokenType.SELECT:
            here = 0
        elif kind in _WITHOUT_CONDITION:
            plain = True
        elif kind in _CONDITIONS:
            here = max(0, here - 1)
        elif kind is TokenType.JOIN:
            here += not plain
            most, plain = max(most, here), False
    return most


def _typed_calls(tokens: Sequence[Token]) -> int:
    """How deep calls with the name of a type lie in each other."""
    most, open_, typed = 0, list[bool](), 0
    for index in [n for n, token in enumerate(tokens) if token.token_type in _PARENTHESES]:
        if tokens[index].token_type is TokenType.L_PAREN:
            open_.append(index > 0 and tokens[index - 1].token_type in _TYPES)
            typed += open_[-1]
            most = max(most, typed)
        elif open_:
            typed -= open_.pop()
    return most
