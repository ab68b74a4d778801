"""Spans of a text, and edits of it. Offsets count code points of the file's text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_VISIBLE = re.compile(r"[^\r\n]")

BLANK = "\v"
"""The character in place of each one that is taken out, so that all others keep their offsets: it
is white space to Spark's lexer, and occurs in no author's layout."""


class Span(NamedTuple):
    """A range of offsets in a text, ``end`` exclusive."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The text in this span."""
        return text[self.start : self.end]


class Edit(NamedTuple):
    """A new text for a span; an insertion if the span is empty."""

    span: Span
    text: str

    @classmethod
    def at(cls, offset: int, text: str) -> Edit:
        """The insertion of a text at an offset."""
        return cls(Span(offset, offset), text)


def blanked(text: str, spans: Iterable[Span]) -> str:
    """A text with ``BLANK`` in place of the characters of some spans."""
    return apply(text, (Edit(span, BLANK * (span.end - span.start)) for span in spans))


def merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Spans in order, with overlapping and touching ones joined."""
    joined: list[Span] = []
    for span in sorted(spans, key=lambda it: (it.start, it.end)):
        if joined and span.start <= joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(span.end, joined[-1].end))
        else:
            joined.append(span)
    return tuple(joined)


def cut(text: str, spans: Iterable[Span]) -> str:
    """A text without some spans, which do not overlap."""
    return apply(text, (Edit(span, "") for span in spans))


def apply(text: str, edits: Iterable[Edit]) -> str:
    """A text with all edits made, which do not overlap; insertions at the same offset in the given
    order."""
    pieces: list[str] = []
    end = 0
    for span, new in sorted(edits, key=lambda edit: edit.span):
        pieces += (text[end : span.start], new)
        end = span.end
    return "".join((*pieces, text[end:]))


def blank(text: str, sign: str = " ") -> str:
    """The text with all characters except line ends replaced by a sign."""
    return _VISIBLE.sub(sign, text)
