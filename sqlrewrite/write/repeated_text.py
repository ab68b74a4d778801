"""The author's text as a predicate repeats it: names of columns, and forms that raise no error."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from msgspec import Struct

from sqlrewrite.find.join_edges import Side
from sqlrewrite.find.restrictions import Forms, Path, columns_named
from sqlrewrite.judge.errors.attempted import attempted_aggregates, exact_attempts, form_of
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.plan.algebra import Call, ColumnRef, CteReference, Derived, Expression
from sqlrewrite.plan.columns import arithmetic, column_names, harmless
from sqlrewrite.plan.expressions import columns, operands, walk
from sqlrewrite.plan.facts.error_free import Wrapping
from sqlrewrite.sql.places import NoPlaceError, Places
from sqlrewrite.text.edits import Span

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# Short words that must not be an alias, as they are keywords somewhere.
WORDS = frozenset(
    """
    all and any as asc at both by case cast cross desc div else end except false fetch for
    from full group having if in inner is join kind left like limit map natural no not null
    of on or order out outer over primary right row rows select semi set some start table
    then time to true union use user using values view when where window with
    """.split()
)


class AuthorText(Struct, frozen=True):
    """The text of a statement as its author wrote it: where its parts are, and whether its keywords
    are in lower case."""

    places: Places
    lower: bool

    def word(self, keyword: str) -> str:
        """A keyword in the author's case; strings in it stay as they are."""
        if not self.lower:
            return keyword
        parts = keyword.split("'")
        parts[::2] = (part.lower() for part in parts[::2])
        return "'".join(parts)


def computed(
    author: AuthorText,
    span: Span,
    expression: Expression,
    named: Callable[[ColumnRef], str],
    wrapping: Wrapping | None = None,
) -> str:
    """The author's own text of an expression, with each column ``named`` anew; with ``wrapping`` in
    a form that gives a value, or NULL, where it would raise an error."""
    if wrapping is not None and wrapping.anew:
        return wrapping.whole.format(*map(named, columns(expression)))
    column, whole = ("{}", "{}") if wrapping is None else (wrapping.column, wrapping.whole)
    replaced = {
        place: author.word(column).format(named(ref)) for place, ref in named_in(span, expression)
    }
    return author.word(whole).format(author.places.copy(span, replaced))


def named_in(span: Span, expression: Expression) -> Iterator[tuple[Span, ColumnRef]]:
    """The columns of an expression, each with its place in the span of the expression. Raises
    NoPlaceError for a column whose name is not in the span."""
    for ref in columns(expression):
        if ref.span is None or not span.start <= ref.span.start < ref.span.end <= span.end:
            raise NoPlaceError("a column is not named in the text: it comes from `*` or a view")
        yield ref.span, ref


def spelled(ref: ColumnRef, places: Places) -> str:
    """A column's name, spelled as by the author if its reference has that name."""
    if ref.span is not None:
        written = places.raw(places.index(ref.span.end - 1))
        if written.strip("`").lower() == ref.name:
            return written
    return quoted(ref.name)


def quoted(name: str) -> str:
    """An identifier, in backquotes where it needs them."""
    if _PLAIN.fullmatch(name) and name.lower() not in WORDS:
        return name
    return "`" + name.replace("`", "``") + "`"


def repeated_side(
    proposal: Proposal, side: Side, author: AuthorText, named: Callable[[ColumnRef], str]
) -> str:
    """The author's text of one side of a join, each column ``named`` anew, in a form that raises no
    error and gives the value that the join compares."""
    expression = side.expression
    span = _side_span(side, author.places)
    wrapping = arithmetic(proposal.plan, expression)
    forms = None if wrapping is not None else exact_attempts(proposal, expression)
    if forms:
        return attempted(author, span, expression, forms, named)
    wrapping = wrapping or harmless(proposal.plan, expression)
    return computed(author, span, expression, named, wrapping)


def _side_span(side: Side, places: Places) -> Span:
    """The place of a side: an operand of the condition, or an item of an IN's subquery."""
    return places.item(side.expression) if side.operand is None else places.span(side.expression)


class _Missing:
    """An operand that is not in the text (the unit of a time); to repeat it is an error."""

    def __format__(self, _: str) -> str:
        raise NoPlaceError("an operand does not stand in the text: it comes from `*` or a view")


def attempted(
    author: AuthorText,
    span: Span,
    expression: Expression,
    forms: Forms,
    named: Callable[[ColumnRef], str],
    written: Expression | None = None,
) -> str:
    """The author's text of an expression, each column ``named`` anew and each node that can raise
    an error in its form. ``written`` is the expression in the text if ``expression`` is the same
    one over other columns."""
    places = author.places
    replaced = {place: named(ref) for place, ref in named_in(span, expression)}
    order = sorted(replaced, key=_start)
    nodes = _nodes_at(written or expression, [path for path, _ in forms])
    for path, form in sorted(forms, key=lambda it: len(it[0]), reverse=True):  # innermost first
        node = nodes[path]
        texts: list[str | _Missing] = []
        for operand in places.operands(node):
            if operand is None:
                texts.append(_Missing())
                continue
            inside = {place: replaced[place] for place in order[_within(operand, order)]}
            texts.append(places.copy(operand, inside))
        place = places.bare(node)
        replaced[place] = author.word(form).format(*texts)
        order[_within(place, order)] = [place]  # what is inside of it is in its text
    return places.copy(span, {place: replaced[place] for place in order})


def _start(place: Span) -> int:
    return place.start


def _within(span: Span, order: Sequence[Span]) -> slice:
    """The part of ``order`` that begins in a span."""
    first = bisect_left(order, span.start, key=_start)
    return slice(first, bisect_left(order, span.end, key=_start))


def _nodes_at(expression: Expression, paths: Iterable[Path]) -> dict[Path, Expression]:
    """The nodes of an expression at the ends of paths, each reached from the nearest above it."""
    nodes: dict[Path, Expression] = {(): expression}
    for path in sorted(paths, key=len):
        depth = next(depth for depth in range(len(path), -1, -1) if path[:depth] in nodes)
        node = nodes[path[:depth]]
        for step in path[depth:]:
            node = operands(node)[step]
        nodes[path] = node
    return nodes


def steadied_texts(proposal: Proposal, author: AuthorText) -> dict[Span, str]:
    """The new text, by place, of a dimension's aggregates whose value may depend on the order of
    rows, and of a HAVING over them; only those that HAVING or a repeated condition uses."""
    aggregates = {id(aggregate) for aggregate in attempted_aggregates(proposal)}
    dimension = proposal.pair.dimension
    if not aggregates or not isinstance(dimension, Derived | CteReference):
        return {}
    block = proposal.plan.blocks[dimension.query.top[0]]
    names = {ref.name for ref in columns_named(proposal.restrictions)}
    columns_shown = zip(column_names(dimension) or (), block.outputs, strict=False)
    outputs = [output.expression for name, output in columns_shown if name in names]
    replaced: dict[Span, str] = {}
    for call in _among(aggregates, outputs):
        replaced |= _steadied(proposal, call, author)
    for call in _among(aggregates, [condition.expression for condition in block.having]):
        replaced |= _steadied(proposal, call, author)
        clause = author.places.having(block)
        if clause is not None:
            whole, condition = clause
            text = author.places.copy(condition, replaced)
            kept = f"{author.word('HAVING')} ({text}) {author.word('IS NOT FALSE')}"
            replaced[whole] = kept
    return replaced


def _among(ids: set[int], expressions: Iterable[Expression]) -> Iterator[Call]:
    """The calls in expressions whose ids are given."""
    for node in chain.from_iterable(map(walk, expressions)):
        if isinstance(node, Call) and id(node) in ids:
            yield node


def _steadied(proposal: Proposal, call: Call, author: AuthorText) -> dict[Span, str]:
    """The form of an aggregate's call, by its place."""
    (span, inside), form = author.places.call(call), form_of(proposal, call)
    if form is None:
        raise NoPlaceError("an aggregate has no form that raises no error")
    return {span: author.word(form.text).format(author.places.copy(inside))}
