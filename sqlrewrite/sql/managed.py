"""Predicates that an earlier run wrote: found by their marker, and taken out of the text.

Every run starts from the text without them and derives them anew. So a second run changes nothing,
a predicate that no longer follows from the query goes, and nothing is ever derived from our own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import Token, TokenType
from sqlglot.errors import SqlglotError

from sqlrewrite.model import MARKER, Span
from sqlrewrite.sql.anchors import AnchorError, Anchors
from sqlrewrite.sql.parse import tokenize

_OPENERS = (TokenType.WHERE, TokenType.ON)


@dataclass(frozen=True, slots=True)
class Stripped:
    """A text without managed predicates; ``removed`` are the spans of the original taken out."""

    text: str
    original: str
    removed: tuple[Span, ...] = ()

    def original_offset(self, offset: int) -> int:
        """The offset in the original for one in the stripped text."""
        for span in self.removed:
            if span.start > offset:
                break
            offset += span.end - span.start
        return offset

    def insertions(self) -> dict[int, str]:
        """What was taken out, by the offset in the stripped text where it stood."""
        found: dict[int, str] = {}
        shift = 0
        for span in self.removed:
            at = span.start - shift
            found[at] = found.get(at, "") + self.original[span.start : span.end]
            shift += span.end - span.start
        return found


def strip(text: str, tokens: Sequence[Token] | None = None) -> Stripped:
    """The text without the predicates that carry our marker in just the form we write.

    ``tokens`` are those of the text, if they are at hand.
    """
    if MARKER not in text:
        return Stripped(text, text)
    try:
        anchors = Anchors(text, tokenize(text) if tokens is None else tokens)
    except (SqlglotError, ValueError, IndexError):
        return Stripped(text, text)
    spans = sorted(_spans(anchors), key=lambda span: span.start)
    kept: list[str] = []
    at = 0
    for span in spans:
        kept.append(text[at : span.start])
        at = max(at, span.end)
    return Stripped("".join([*kept, text[at:]]), text, tuple(spans))


@dataclass(frozen=True, slots=True)
class _Managed:
    """A managed predicate: its tokens, and the end of its marker in the text."""

    first: int
    last: int
    end: int


def _spans(anchors: Anchors) -> list[Span]:
    spans: list[Span] = []
    group: list[_Managed] = []
    for found in _predicates(anchors):
        # Predicates that follow one another, joined by AND, opened the clause together.
        if group and not (
            group[-1].last + 2 == found.first and anchors.kind(found.first - 1) is TokenType.AND
        ):
            spans += _group_spans(anchors, group)
            group = []
        group.append(found)
    return spans + (_group_spans(anchors, group) if group else [])


def _group_spans(anchors: Anchors, group: list[_Managed]) -> list[Span]:
    """What to take out for predicates that stand one after the other."""
    first, last = group[0], group[-1]
    before, after = first.first - 1, last.last + 1
    if anchors.kind(before) is TokenType.AND:
        return [Span(_blank_before(anchors, before), last.end)]
    if anchors.kind(after) is TokenType.AND:
        return _front(anchors, first, after)
    if anchors.kind(before) is TokenType.WHERE:
        return [Span(_blank_before(anchors, before), last.end)]
    return []


def _front(anchors: Anchors, first: _Managed, conjunction: int) -> list[Span]:
    """Predicates before the author's condition: with the parentheses that we put around it."""
    tokens = anchors.tokens
    start = tokens[first.first].start
    opening = conjunction + 1
    if anchors.kind(opening) is TokenType.L_PAREN:
        try:
            close = anchors.closing(opening)
        except AnchorError:
            return []
        follows = anchors.kind(close + 1)
        if follows not in (TokenType.AND, TokenType.OR):
            end = tokens[close]
            return [Span(start, tokens[opening].end + 1), Span(end.start, end.end + 1)]
    return [Span(start, tokens[opening].start)]


def _blank_before(anchors: Anchors, index: int) -> int:
    """Where the white space before a token begins."""
    text, start = anchors.text, anchors.tokens[index].start
    while start > 0 and text[start - 1].isspace():
        start -= 1
    return start


def _predicates(anchors: Anchors) -> list[_Managed]:
    found: list[_Managed] = []
    starts = [token.start for token in anchors.tokens]
    at = anchors.text.find(MARKER)
    while at >= 0:
        predicate = _predicate(anchors, anchors.tokens, bisect_right(starts, at) - 1, at)
        if predicate is not None:
            found.append(predicate)
        at = anchors.text.find(MARKER, at + 1)
    return found


def _predicate(
    anchors: Anchors, tokens: Sequence[Token], last: int, marker: int
) -> _Managed | None:
    """The predicate that a marker at an offset closes, ``name IN (…)``, if it is of that form."""
    if anchors.kind(last) is not TokenType.R_PAREN or tokens[last].end + 2 != marker:
        return None
    try:
        opening = anchors.opening(last)
    except AnchorError:
        return None
    index = opening - 1
    if anchors.kind(index) is not TokenType.IN:
        return None
    index -= 1
    while anchors.kind(index - 1) is TokenType.DOT:
        index -= 2
    if anchors.kind(index - 1) not in (TokenType.AND, *_OPENERS):
        return None
    return _Managed(index, last, marker + len(MARKER))
