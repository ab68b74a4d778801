"""Parses an edited clause again: the old tree plus exactly the added conjuncts, and nothing else.

A WHERE or ON is delimited by tokens, so parsing its condition alone sees what parsing the statement
would; where predicates join its end, its last conjunct at the top and they are parsed, which also
shows that the end is where the tree has it. For a new WHERE the FROM before it is parsed along.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from sqlglot import Token, TokenType, exp
from sqlglot.errors import SqlglotError

from sqlrewrite.sql.parse import parse_condition, parse_tokens, tokenize
from sqlrewrite.sql.templates import SIGNS, Refer
from sqlrewrite.sql.trees import conjunct_trees

_FROM = ("from_", "joins", "laterals")

_NUMBER = re.compile(r"\b[0-9]+\b")


def is_query(text: str, refer: Refer) -> bool:
    """Whether a text is one query in parentheses, its templates read with ``refer``."""
    if any(sign in text for sign in SIGNS):
        return _is_query(lambda: tokenize(text, refer), text)
    return _is_plain_query(_NUMBER.sub("1", text))  # which reads the same, whatever its numbers are


@lru_cache(1024)  # the queries of a warehouse share their dimensions, and so their key queries
def _is_plain_query(text: str) -> bool:
    return _is_query(lambda: tokenize(text), text)


def _is_query(lex: Callable[[], list[Token]], text: str) -> bool:
    try:
        # A hint's text would be lexed and parsed once more; it decides nothing.
        tokens = [token for token in lex() if token.token_type is not TokenType.HINT]
        tree = parse_tokens(tokens, text)
    except (SqlglotError, ValueError):
        return False
    return isinstance(tree, exp.Subquery) and isinstance(tree.this, exp.Query)


def condition_gained(before: exp.Expr, after: Sequence[Token], text: str, count: int) -> bool:
    """Whether the tail of a condition that ``after`` are the tokens of (of ``text``) is the tail of
    ``before`` and ``count`` predicates more, as conjuncts at the top; or they are all in front.
    """
    try:
        new = conjunct_trees(parse_condition(after, text))
    except (SqlglotError, ValueError):
        return False
    old = conjunct_trees(before)
    tail = old[len(old) + count - len(new) :] if count < len(new) <= len(old) + count else []
    return _gained(tail, new, count)


def where_gained(before: exp.Select, after: Sequence[Token], text: str, count: int) -> bool:
    """Whether ``after``, the tokens of a SELECT (of ``text``), has the FROM of another SELECT and a
    new WHERE of just ``count`` predicates."""
    try:
        new = parse_tokens(list(after), text)
    except (SqlglotError, ValueError):
        return False
    where = new.args.get("where")
    return (
        where is not None
        and _gained([], conjunct_trees(where.this), count)
        and all(same_tree(new.args.get(key), before.args.get(key)) for key in _FROM)
    )


def _gained(old: list[exp.Expr], new: list[exp.Expr], count: int) -> bool:
    if len(new) != len(old) + count:
        return False
    if same_tree(new[: len(old)], old):
        added = new[len(old) :]
    elif same_tree(new[count:], old):
        added = new[:count]
    else:
        return False
    return all(map(_is_ours, added))


def _is_ours(tree: exp.Expr) -> bool:
    """Whether a conjunct has the form of an inserted predicate, with a constant where its key query
    was: an IN, a set, an end of a range, a range of literals."""
    match tree:
        case exp.In():
            return bool(tree.expressions) and all(map(_is_constant, tree.expressions))
        case exp.GTE() | exp.GT() | exp.LTE() | exp.LT():
            return _is_constant(tree.expression)
        case exp.Between():
            return _is_constant(tree.args["low"]) and _is_constant(tree.args["high"])
        case exp.ArrayContains():
            return _is_constant(tree.this)
        case _:
            return False


def _is_constant(tree: exp.Expr) -> bool:
    return type(tree) is exp.Literal or tree.find(exp.Column, exp.Query) is None


def same_tree(one: object, other: object) -> bool:
    """Whether two trees, or lists of them, say the same; sqlglot's own comparison hashes both."""
    stack = [(one, other)]
    while stack:
        a, b = stack.pop()
        if isinstance(a, exp.Expr) and isinstance(b, exp.Expr):
            if type(a) is not type(b):
                return False
            stack += [(value, b.args.get(key)) for key, value in a.args.items()]
            stack += [(None, value) for key, value in b.args.items() if key not in a.args]
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            stack += zip(a, b, strict=True)
        elif a is not b and (_says(a) or _says(b)) and (type(a) is not type(b) or a != b):
            return False
    return True


def _says(value: object) -> bool:
    """Whether an argument says something: sqlglot leaves out, or sets to nothing, at will."""
    return not (value is None or value is False or (type(value) is list and not value))
