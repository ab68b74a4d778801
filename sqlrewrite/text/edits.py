"""Spans of a text, and insertions into it. Offsets count code points of the file's text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_VISIBLE = re.compile(r"[^\r\n]")


@dataclass(frozen=True, slots=True)
class Span:
    """A range of offsets in a text, ``end`` exclusive."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The text in this span."""
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Edit:
    """An insertion of ``text`` at ``offset``. There is no other kind of edit."""

    offset: int
    text: str


def cut(text: str, spans: Iterable[Span]) -> str:
    """A text without some spans of it, which are in order and do not overlap."""
    return spliced(text, ((span, "") for span in spans))


def spliced(text: str, changes: Iterable[tuple[Span, str]]) -> str:
    """A text with other texts in place of some spans of it, which are in order."""
    pieces: list[str] = []
    end = 0
    for span, new in changes:
        pieces += (text[end : span.start], new)
        end = span.end
    return "".join((*pieces, text[end:]))


def blank(text: str, sign: str = " ") -> str:
    """The text with a sign in place of each character that does not end a line."""
    return _VISIBLE.sub(sign, text)
