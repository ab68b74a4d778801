"""How columns are named in what is inserted, those of an expression that is repeated among them.

It is the author's own text; each column of it is named so that it can be taken for no other
(docs/soundness.md, "Names").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlrewrite.plan.algebra import ColumnRef, Expression
from sqlrewrite.plan.expressions import columns
from sqlrewrite.plan.facts.error_free import Wrapping
from sqlrewrite.sql.places import NoPlaceError, Places
from sqlrewrite.text.edits import Span

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# Short words that are no good as an alias.
WORDS = frozenset(
    """
    all and any as asc at both by case cast cross desc div else end except false fetch for
    from full group having if in inner is join kind left like limit map natural no not null
    of on or order out outer over primary right row rows select semi set some start table
    then time to true union use user using values view when where window with
    """.split()
)


@dataclass(frozen=True, slots=True)
class AuthorText:
    """The text of a statement as its author wrote it: where its parts are, and whether its keywords
    are in lower case."""

    places: Places
    lower: bool

    def word(self, keyword: str) -> str:
        """Keywords in the author's case; strings among them are as they are."""
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
    """The author's own text of an expression, each of its columns ``named`` anew; with ``wrapping``
    it is written so that it gives a value, or NULL, where it would raise an error."""
    if wrapping is not None and wrapping.anew:
        return wrapping.whole.format(*map(named, columns(expression)))
    column, whole = ("{}", "{}") if wrapping is None else (wrapping.column, wrapping.whole)
    replaced = {
        place: author.word(column).format(named(ref)) for place, ref in named_in(span, expression)
    }
    return author.word(whole).format(author.places.copy(span, replaced))


def named_in(span: Span, expression: Expression) -> Iterator[tuple[Span, ColumnRef]]:
    """The columns of an expression that stands in a span, each with its place. Raises NoPlaceError
    for one that is named elsewhere, or nowhere."""
    for ref in columns(expression):
        if ref.span is None or not span.start <= ref.span.start < ref.span.end <= span.end:
            raise NoPlaceError("a column that the text does not name")
        yield ref.span, ref


def spelled(ref: ColumnRef, places: Places) -> str:
    """A column's own name, as the author wrote it where that is still its name."""
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
