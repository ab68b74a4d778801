"""Takes the predicates of an earlier run out of a text with ``{% if %}`` blocks.

Such a text is no statement: its branches follow each other. So a predicate goes where it goes in
each text that may be rendered, and only if what the author wrote then says the same in all of these
(docs/templates.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlrewrite.sql.managed.recognition import ManagedPredicate
from sqlrewrite.sql.managed.strip import Keep, Stripped, strip
from sqlrewrite.sql.managed.token_walk import Walk
from sqlrewrite.sql.parse.statements import Lexed, lex, statements
from sqlrewrite.sql.verify import same_statements
from sqlrewrite.text.edits import Span, cut
from sqlrewrite.text.if_blocks import Rendering, renderings
from sqlrewrite.text.templates import Obstacle
from sqlrewrite.warehouse import VARIABLE, Name, Reference


def strip_blocks(text: str) -> Stripped | None:
    """The text without the predicates of ours; None where it cannot be told what it then says."""
    every = [(it, strip(it.text, lex(it.text, _some).tokens)) for it in renderings(text)]
    ours = {span.start: span for it, one in every for span in one.predicates if it.shows(span)}
    gone = [{at for span in one.removed for at in _seen(it, span)} for it, one in every]
    either = sorted(set().union(*gone))
    # Parentheses of the author's may look like ours where what follows them is not rendered.
    stays = [
        {at for at in either if at not in one and it.shows(Span(at, at + 1))}
        for (it, _), one in zip(every, gone, strict=True)
    ]
    both = sorted(set(either).difference(*stays))
    for spans in (_spans(either), _spans(both)):
        if every and all(_says_the_same(it.text, one.text, spans) for it, one in every):
            return Stripped.of(text, spans, [ours[at] for at in sorted(ours)])
    return None


def _says_the_same(text: str, stripped: str, spans: Sequence[Span]) -> bool:
    both = (cut(text, spans), stripped)
    return same_statements(*(list(statements(it, lex(it, _some))) for it in both))


def _some(reference: Reference) -> Name | None:
    """A name for a ``ref`` or ``source``: which relation it is makes no difference here."""
    return None if reference[0] == VARIABLE else reference[1:]


def block_tags(lexed: Lexed, text: str) -> list[Obstacle]:
    """The blocks of a text, and not those templates that only a catalog could read."""
    return [it for it in lexed.obstacles if text.startswith("{%", it.start)]


def _seen(it: Rendering, span: Span) -> Iterator[int]:
    """The offsets of a span that are no part of what is not rendered, nor white space around it."""
    at = span.start
    for hidden in (*it.hidden, Span(span.end, span.end)):
        end = min(hidden.start, span.end)
        if it.text[at:end].strip():
            yield from range(at, end)
        at = max(at, hidden.end)


def _spans(offsets: Sequence[int]) -> list[Span]:
    """Offsets, in order, as the spans that they make."""
    found: list[Span] = []
    for at in offsets:
        if found and found[-1].end == at:
            found[-1] = Span(found[-1].start, at + 1)
        else:
            found.append(Span(at, at + 1))
    return found


def keep_in_blocks(text: str, lexed: Lexed) -> Keep:
    """Keeps what stands in statements with a block."""
    spans = [
        Span(it.start, it.end)
        for it in statements(text, lexed)
        if any(at.start < it.end and it.start < at.end for at in block_tags(lexed, text))
    ]

    def keep(walk: Walk, found: Sequence[ManagedPredicate]) -> list[ManagedPredicate]:
        return [it for it in found if any(at.start <= it.span.start < at.end for at in spans)]

    return keep
