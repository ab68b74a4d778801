"""Writes an expression that is computed again so that it gives NULL where it could raise an error
(`judge/attempts.py`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain

from sqlrewrite.find.join_edges import Side
from sqlrewrite.find.restrictions import Forms, columns_named
from sqlrewrite.judge.attempted_dimension import attempted_aggregates
from sqlrewrite.judge.attempts import exact_attempts, form_of
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.plan.algebra import Call, ColumnRef, CteReference, Derived, Expression
from sqlrewrite.plan.columns import arithmetic, column_names, harmless
from sqlrewrite.plan.expressions import columns, walk
from sqlrewrite.sql.places.anchors import AnchorError, Anchors, Range
from sqlrewrite.text.edits import Span
from sqlrewrite.text.masking import mask
from sqlrewrite.write.names import AuthorText, computed


def repeated_side(
    proposal: Proposal,
    side: Side,
    author: AuthorText,
    named: Callable[[ColumnRef], str],
) -> str:
    """The author's text of one side of a join, each column ``named`` anew, so that it raises no
    error and gives what the join compares."""
    expression = side.expression
    tokens = _side_tokens(proposal, side, author.anchors)
    wrapping = arithmetic(proposal.plan, expression)
    forms = None if wrapping is not None else exact_attempts(proposal, expression)
    if forms:
        return attempted(author, tokens, expression, forms, named)
    wrapping = wrapping or harmless(proposal.plan, expression)
    return computed(author, tokens, expression, named, wrapping)


def _side_tokens(proposal: Proposal, side: Side, anchors: Anchors) -> Range:
    """The text of a side: an operand of the condition, or what an IN's subquery gives."""
    if side.operand is not None:
        return anchors.operand(proposal.pair.edge.condition, side.operand)
    first = next(iter(columns(side.expression)), None)
    if first is None or first.span is None:
        raise AnchorError("a value without a column in the text")
    from sqlrewrite.sql.places.operands import written  # few keys need it

    item = anchors.item(first.span.start)
    span = anchors.span(item)
    written(anchors.text[span.start : span.end], span.start, side.expression, [()])
    return item


def attempted(
    author: AuthorText,
    tokens: Range,
    expression: Expression,
    forms: Forms,
    named: Callable[[ColumnRef], str],
) -> str:
    """The author's text of an expression, each column ``named`` anew and what can raise an error
    in its form."""
    from sqlrewrite.sql.places.operands import written  # few conditions need it

    anchors = author.anchors
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
        replaced[place.span] = author.word(form).format(*operands)
    return _copied(anchors, span, replaced)


def steadied_texts(proposal: Proposal, author: AuthorText) -> dict[Span, str]:
    """The forms of a dimension's aggregates that may give another value in another order of their
    rows, where HAVING or a condition asks for them, by their places; and of that HAVING."""
    found = {id(it) for it in attempted_aggregates(proposal)}
    dimension = proposal.pair.dimension
    if not found or not isinstance(dimension, Derived | CteReference):
        return {}
    block = proposal.plan.blocks[dimension.query.top[0]]
    names = {ref.name for ref in columns_named(proposal.restrictions)}
    shown = zip(column_names(dimension) or (), block.outputs, strict=False)
    asked = [it.expression for name, it in shown if name in names]
    replaced: dict[Span, str] = {}
    for call in _among(found, asked):
        replaced |= _steadied(proposal, call, author)
    for call in _among(found, [it.expression for it in block.having]):
        replaced |= _steadied(proposal, call, author)
        anchors = author.anchors
        clause = anchors.having(anchors.whole_select(_start(call)))
        if clause is not None:
            text = anchors.copy(Range(clause.start + 1, clause.end), replaced)
            kept = f"{author.word('HAVING')} ({text}) {author.word('IS NOT FALSE')}"
            replaced[anchors.span(clause)] = kept
    return replaced


def _among(found: set[int], expressions: Iterable[Expression]) -> Iterator[Call]:
    """The calls of those ids in expressions."""
    for node in chain.from_iterable(map(walk, expressions)):
        if isinstance(node, Call) and id(node) in found:
            yield node


def _start(call: Call) -> int:
    """Where a column in a call stands."""
    return next(ref.span.start for ref in columns(call) if ref.span is not None)


def _steadied(proposal: Proposal, call: Call, author: AuthorText) -> dict[Span, str]:
    """The form of an aggregate, by the place of the call."""
    anchors = author.anchors
    tokens, form = anchors.call(_start(call), call.name), form_of(proposal, call)
    if form is None:
        raise AnchorError("an aggregate without a form")
    argument = anchors.copy(Range(tokens.start + 2, tokens.end - 1))
    return {anchors.span(tokens): author.word(form.text).format(argument)}


def _copied(anchors: Anchors, span: Span, replaced: Mapping[Span, str]) -> str:
    """A part of the text with what is replaced in it; of what begins at one place, the longest."""
    inside = {
        it: new for it, new in replaced.items() if span.start <= it.start <= it.end <= span.end
    }
    longest = {it.start: it for it in sorted(inside, key=lambda it: it.end)}
    return anchors.copy(anchors.covering(span), {it: inside[it] for it in longest.values()})
