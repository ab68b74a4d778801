"""Spans of a tree's nodes in the text, noted by the parser as it makes them."""

from __future__ import annotations

from sqlglot import exp

from sqlrewrite.sql.lex.template_tokens import WEAKENED
from sqlrewrite.text.edits import Span

SPAN = "span"
"""The key in the ``meta`` of an expression or clause: its start and end. Columns have none: their
names have places. The span of VALUES is without an alias, that of an IN's query includes its
parentheses."""

FROM_END = "from end"
"""The key in the ``meta`` of a SELECT: the offset where its FROM ends and a WHERE may begin."""


def unweakened(tree: exp.Expr) -> exp.Expr:
    """The tree as parsed, before templates in it made it unknown."""
    original: exp.Expr = tree.meta.get(WEAKENED, tree)
    return original


def span_of(tree: exp.Expr) -> Span | None:
    """The span of an expression or a clause; None if unknown."""
    tree = unweakened(tree)
    meta = tree.meta
    if SPAN in meta:
        return Span(*meta[SPAN])
    match tree:
        case exp.Identifier() | exp.Star() | exp.Literal() if "start" in meta:
            return Span(meta["start"], meta["end"] + 1)
        case exp.Column():
            return _both(tree.parts[0], tree.parts[-1])
        case exp.Dot():
            return _both(tree.this, tree.expression)
        case exp.Connector():
            first = tree.this
            while isinstance(first, exp.Connector):  # chains run to thousands
                first = first.this
            return _both(first, tree.expression)
        case _:
            return None


def _both(one: exp.Expr, other: exp.Expr) -> Span | None:
    first, last = span_of(one), span_of(other)
    return None if first is None or last is None else Span(first.start, last.end)
