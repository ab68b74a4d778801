"""Spans of a text, and insertions into it. Offsets count code points of the file's text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from msgspec import Struct

_VISIBLE = re.compile(r"[^\r\n]")

BLANK = "\v"
"""Replaces each character that is taken out, so that all others keep their offsets: white space to
Spark's lexer that occurs in no author's layout."""


class Span(NamedTuple):
    """A range of offsets in a text, ``end`` exclusive."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The text in this span."""
        return text[self.start : self.end]


class Edit(Struct, frozen=True):
    """An insertion of ``text`` at ``offset``. There is no other kind of edit."""

    offset: int
    text: str


def blanked(text: str, spans: Iterable[Span]) -> str:
    """A text with ``BLANK`` in place of the characters of some spans, which are in order."""
    return spliced(text, ((span, BLANK * (span.end - span.start)) for span in spans))


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
    """A text without some spans, which are in order and do not overlap."""
    return spliced(text, ((span, "") for span in spans))


def spliced(text: str, changes: Iterable[tuple[Span, str]]) -> str:
    """A text with spans, which are in order, replaced by other texts."""
    pieces: list[str] = []
    end = 0
    for span, new in changes:
        pieces += (text[end : span.start], new)
        end = span.end
    return "".join((*pieces, text[end:]))


def blank(text: str, sign: str = " ") -> str:
    """The text with all characters except line ends replaced by a sign."""
    return _VISIBLE.sub(sign, text)
