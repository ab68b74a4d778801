"""Writes an expression that is computed again so that it gives NULL where it could raise an error
(`judge/attempts.py`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlrewrite.find.restrictions import Forms
from sqlrewrite.find.ties import Side
from sqlrewrite.judge.attempts import exact_attempts
from sqlrewrite.judge.case import Case
from sqlrewrite.plan.algebra import ColumnRef, Expression
from sqlrewrite.plan.columns import arithmetic, harmless
from sqlrewrite.plan.expressions import columns
from sqlrewrite.sql.anchors import AnchorError, Anchors, Range
from sqlrewrite.text.edits import Span
from sqlrewrite.text.masking import mask
from sqlrewrite.write.names import Style, computed


def repeated(
    case: Case, side: Side, anchors: Anchors, style: Style, named: Callable[[ColumnRef], str]
) -> str:
    """The author's text of one side of a join, each column ``named`` anew, so that it raises no
    error and gives what the join compares."""
    expression = side.expression
    tokens = _own(case, side, anchors)
    around = arithmetic(case.plan, expression)
    forms = None if around is not None else exact_attempts(case, expression)
    if forms:
        return attempted(anchors, style, tokens, expression, forms, named)
    around = around or harmless(case.plan, expression)
    return computed(anchors, style, tokens, expression, named, around)


def _own(case: Case, side: Side, anchors: Anchors) -> Range:
    """The text of a side: an operand of the condition, or what an IN's subquery gives."""
    if side.operand is not None:
        return anchors.operand(case.pair.tie.condition, side.operand)
    first = next(iter(columns(side.expression)), None)
    if first is None or first.span is None:
        raise AnchorError("a value without a column in the text")
    from sqlrewrite.sql.operands import written  # few keys need it

    item = anchors.item(first.span.start)
    span = anchors.span(item)
    written(anchors.text[span.start : span.end], span.start, side.expression, [()])
    return item


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
    from sqlrewrite.sql.operands import written  # few conditions need it

    replaced: dict[Span, str] = {}
    for ref in columns(expression):
        if ref.span is None:
            raise AnchorError("a column that the text does not name")
        replaced[ref.span] = named(ref)
    span = anchors.span(tokens)
    text = mask(anchors.text[span.start : span.end]).text  # the names of templates, in their places
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
