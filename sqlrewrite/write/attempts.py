"""The text of an expression in which what can raise an error is attempted: `judge/attempts.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlrewrite.find.restrictions import Forms
from sqlrewrite.plan.algebra import ColumnRef, Expression
from sqlrewrite.plan.expressions import columns
from sqlrewrite.sql.anchors import AnchorError, Anchors, Range
from sqlrewrite.sql.operands import written
from sqlrewrite.text.edits import Span
from sqlrewrite.write.names import Style


def attempted(
    anchors: Anchors,
    style: Style,
    tokens: Range,
    expression: Expression,
    forms: Forms,
    named: Callable[[ColumnRef], str],
) -> str:
    """The author's text of an expression, each column ``named`` anew and what can raise an error
    in its form."""
    replaced: dict[Span, str] = {}
    for ref in columns(expression):
        if ref.span is None:
            raise AnchorError("a column that the text does not name")
        replaced[ref.span] = named(ref)
    span = anchors.span(tokens)
    text = anchors.text[span.start : span.end]
    found = written(text, span.start, expression, [path for path, _ in forms])
    for path, form in sorted(forms, key=lambda it: len(it[0]), reverse=True):  # from the inside
        place = found[path]
        operands = [_copied(anchors, operand, replaced) for operand in place.operands]
        replaced[place.span] = style.word(form).format(*operands)
    return _copied(anchors, span, replaced)


def _copied(anchors: Anchors, span: Span, replaced: Mapping[Span, str]) -> str:
    """A part of the text with what is replaced in it; of what begins at one place, the longest."""
    inside = {
        it: new for it, new in replaced.items() if span.start <= it.start <= it.end <= span.end
    }
    longest = {it.start: it for it in sorted(inside, key=lambda it: it.end)}
    return anchors.copy(anchors.covering(span), {it: inside[it] for it in longest.values()})
