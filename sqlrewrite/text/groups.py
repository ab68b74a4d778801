"""The insertions that write a query by groups of partitions: how each begins and ends in a text.

Everything between two of these marks is ours: with it taken out, marks and all, the author's text
is there again. So what is copied of that text is copied without them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sqlrewrite.patterns import pattern
from sqlrewrite.text.edits import Edit, Span

BEGIN, END = "/* dpp-rewrite groups */", "/* groups end */"


_INSERTED = pattern(rf"{re.escape(BEGIN)}(?:(?!{re.escape(BEGIN)}).)*?{re.escape(END)}", re.DOTALL)
"""From one mark to the other; one that has no partner is the author's."""


def marked(edit: Edit) -> Edit:
    """An insertion between its marks."""
    return Edit(edit.offset, f"{BEGIN}{edit.text}{END}")


def inserted(text: str) -> list[Span]:
    """The stretches of a text that an earlier run wrote, marks and all."""
    return [Span(*it.span()) for it in _INSERTED.finditer(text)] if BEGIN in text else []


def quoted(text: str, tokens: Iterable[Span]) -> bool:
    """Whether a mark stands inside a token, as in a string: then it is the author's."""
    starts = [it.start for it in inserted(text)]
    return bool(starts) and any(it.start <= at < it.end for it in tokens for at in starts)


def without(text: str) -> str:
    """The text without them."""
    return _INSERTED.sub("", text) if BEGIN in text else text
