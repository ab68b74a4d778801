"""Parses an edited clause again: it must be the old tree and the added conjuncts, nothing else.

A WHERE or ON is delimited by tokens, so its condition alone parses as in the statement. Predicates
that are added at its end are parsed together with its last conjunct, and a new WHERE with the FROM,
or SELECT, before it: that shows that they stand where the tree has them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct
from sqlglot import TokenType, exp
from sqlglot.errors import SqlglotError

from sqlrewrite.settings.forms import FUNCTIONS
from sqlrewrite.sql.bind.trees import conjunct_trees
from sqlrewrite.sql.managed.strip import strip_text
from sqlrewrite.sql.parse.query_grammar import SELECT_OFFSET
from sqlrewrite.sql.parse.statements import Statement, parse_condition, parse_tokens, tokenize
from sqlrewrite.text.templates import Refer, no_name, templated

_FROM: tuple[str, ...] = ("from_", "joins", "laterals")
_SELECTED = ("distinct", "expressions")

_LONG = 1000
"""Longer clauses are not cached: no other one is likely to be equal."""

_NUMBER = re.compile(r"\b[0-9]+\b")


def is_query(text: str, refer: Refer) -> bool:
    """Whether a text is one query in parentheses, its templates read with ``refer``."""
    if templated(text):
        return _is_query(text, refer)
    return _is_plain_query(_NUMBER.sub("1", text))  # which reads the same, whatever its numbers are


def _is_query(text: str, refer: Refer = no_name) -> bool:
    try:
        lexed = tokenize(text, refer)
        # A hint's text would be lexed and parsed once more; it decides nothing.
        tree = parse_tokens(
            [token for token in lexed if token.token_type is not TokenType.HINT], text
        )
    except (SqlglotError, ValueError):
        return False
    return isinstance(tree, exp.Subquery) and isinstance(tree.this, exp.Query)


# The queries of a warehouse share their dimensions, and so their key queries.
_is_plain_query = lru_cache(1024)(_is_query)


class ReadClause(Struct, frozen=True, eq=False):
    """A clause that was read: its text without managed predicates (``bare``), and the tree of its
    condition, or of the whole SELECT; None if it does not parse."""

    bare: str
    tree: exp.Expr | None


def clause(text: str, whole: bool, refer: Refer, around: str) -> ReadClause:
    """The clause in a text: ``SELECT WHERE …`` or ``MERGE ON …``, or a ``whole`` ``SELECT 1 FROM
    …``. ``around``: the author's whole text, if the clause has a list that is copied from there.
    Raises TokenError."""
    if around or len(text) > _LONG or templated(text):
        return _clause(text, whole, refer, around)
    return _plain_clause(text, whole)


def _clause(text: str, whole: bool, refer: Refer = no_name, around: str = "") -> ReadClause:
    tokens = tokenize(text, refer)
    try:
        tree = parse_tokens(tokens, text) if whole else parse_condition(tokens[2:], text)
    except (SqlglotError, ValueError):
        return ReadClause(text, None)
    merges = tokens[0].token_type is TokenType.MERGE
    block = None if whole else exp.Merge() if merges else exp.Select()
    return ReadClause(strip_text(text, tokens, tree, block, around), tree)


_plain_clause = lru_cache(256)(_clause)  # equal clauses of several statements are parsed once


def condition_gained(before: exp.Expr | None, after: exp.Expr | None, count: int) -> bool:
    """Whether a condition is the one ``before`` with ``count`` more predicates, all at its end or
    all at its beginning. Of a long condition only the tail is parsed again."""
    if before is None or after is None:
        return False
    old, new = conjunct_trees(before), conjunct_trees(after)
    tail = old[len(old) + count - len(new) :] if count < len(new) <= len(old) + count else []
    return _gained(tail, new, count)


def where_gained(before: exp.Select, after: exp.Expr | None, count: int) -> bool:
    """Whether a SELECT is the one ``before`` with a new WHERE of just ``count`` predicates. Its
    FROM is compared, or its list of items if its FROM comes before its SELECT."""
    if after is None:
        return False
    where, kept = after.args.get("where"), _FROM
    if SELECT_OFFSET in before.meta:
        kept = _SELECTED
        own = after.args.get("laterals") or []
        if not same_tree(own, (before.args.get("laterals") or [])[-len(own) :] if own else []):
            return False
    return (
        where is not None
        and _gained([], conjunct_trees(where.this), count)
        and all(same_tree(after.args.get(key), before.args.get(key)) for key in kept)
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
    was: an IN, a set, an end of a range, a range of literals; or several of them under an OR."""
    match tree:
        case exp.In():
            return bool(tree.expressions) and all(map(_is_constant, tree.expressions))
        case exp.GTE() | exp.GT() | exp.LTE() | exp.LT() | exp.EQ():
            return _is_constant(tree.expression)
        case exp.Is(expression=exp.Null()):
            return True
        case exp.Paren(this=exp.Or() as inner):
            return _is_ours(inner)
        case exp.Or(this=one, expression=other):
            return _is_ours(one) and _is_ours(other)
        case exp.Paren(this=exp.And(this=one, expression=other)):
            return _is_ours(one) and _is_ours(other)  # a step of several columns
        case exp.Between():
            return _is_constant(tree.args["low"]) and _is_constant(tree.args["high"])
        case exp.Anonymous(name=name, expressions=[keys, _]):
            return name in FUNCTIONS and _is_constant(keys)
        case _:
            return False


def _is_constant(tree: exp.Expr) -> bool:
    return type(tree) is exp.Literal or tree.find(exp.Column, exp.Query) is None


def same_statements(one: Sequence[Statement], other: Sequence[Statement]) -> bool:
    """Whether two lists of statements are equal but for parentheses."""
    return len(one) == len(other) and all(map(_same_statement, one, other))


def _same_statement(one: Statement, other: Statement) -> bool:
    if one.tree is None or other.tree is None:
        return [token.text for token in one.tokens] == [token.text for token in other.tokens]
    return same_tree(one.tree, other.tree, parentheses=False)


def same_tree(one: object, other: object, *, parentheses: bool = True) -> bool:
    """Whether two trees, or lists of them, are equal; sqlglot's own comparison hashes both.
    Without ``parentheses``, parentheses make no difference."""
    stack = [(one, other)]
    while stack:
        a, b = stack.pop()
        if not parentheses:
            a, b = _bare(a), _bare(b)
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


def _bare(value: object) -> object:
    while isinstance(value, exp.Paren):
        value = value.this
    return value


def _says(value: object) -> bool:
    """Whether an argument is set: sqlglot writes None, False and [] for one that is not."""
    return not (value is None or value is False or (type(value) is list and not value))
