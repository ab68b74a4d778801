"""Places in a text, and what is put there. Offsets count code points of the file's text."""

from __future__ import annotations

from sqlrewrite.frozen import dataclass

MARKER = "/* dpp-rewrite */"
"""Stands right after each inserted predicate: what carries it is ours to refresh or take out."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text, ``end`` exclusive."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Edit:
    """An insertion of ``text`` at ``offset``. There is no other kind of edit."""

    offset: int
    text: str
