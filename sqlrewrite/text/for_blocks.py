"""``{% for %}`` blocks that render to items of a list, such as columns of a SELECT.

In: a text and where a block begins. Out: a ``Loop``: its end, and the comma before or behind the
unknown expression that stands in its place. A block counts as one only if all that it may render to
is items of a list: parentheses in its body are closed, no clause, query or connective stands in it,
and no ``-`` of a tag joins two words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlrewrite.text.if_blocks import renderings, tag_at, units

_SEPARATOR = re.compile(
    r"\{%[-+]?\s*if\s+not\s+loop\.last\s*[-+]?%\}[^{}]*\{%[-+]?\s*endif\s*[-+]?%\}", re.IGNORECASE
)
_COMMA = re.compile(
    r"\{\{\s*(['\"])\s*,\s*\1\s+if\s+not\s+loop\.last(?:\s+else\s+(['\"])\s*\2)?\s*\}\}"
)
"""What stands between two rounds, and not behind the last."""

_EXPRESSION = re.compile(r"\{\{[^-].*?[^-]\}\}", re.DOTALL)
_WORDS = re.compile(
    r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\"|`[^`]*`|\w+|[<>=!|&:*/^~%+.-]+|[^\w\s]",
    re.DOTALL,
)
_CLAUSES = frozenset(
    """
    select from where group having order limit offset union except intersect minus join on using
    with lateral window qualify values insert into set and or cluster distribute sort
    """.split()
)
_UNREAD = frozenset("'\"`;{}#\\")
_BEFORE = re.compile(r"\S?\s*\Z")
_BEHIND = re.compile(r"\A\s*\S?")
_ENDS_ITEM = re.compile(r"\s*(?:[,)]|from\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Loop:
    """A ``for`` over items: where it ends, and whether it begins or ends with a comma."""

    end: int
    leads: bool
    trails: bool


def block_end(text: str, start: int) -> int | None:
    """Where the block ends whose tag begins at a place; None where it does not."""
    depth, first = 0, ""
    for span, tag in units(text, start) or ():
        first = first or tag[2]
        depth += (tag[2] == first) - (tag[2] == f"end{first}")
        if depth == 0:
            return span.end
    return None


def loop(text: str, start: int) -> Loop | None:
    """The ``for`` that begins at a place, if it stands for items of a list."""
    end = block_end(text, start)
    if end is None:
        return None
    opening, closing = tag_at(text, start), tag_at(text, text.rfind("{%", start, end))
    if opening is None or closing is None:
        return None
    body = text[start + len(opening[0]) : end - len(closing[0])]
    once = _COMMA.sub("", _SEPARATOR.sub(" ", body))
    body = _plain(_COMMA.sub(",", body))
    if not _keeps_words(text[:start], opening, body, closing, text[end:]):
        return None
    if not all(
        _is_closed(_WORDS.findall(way)) for way in (*_renderings(body), *_renderings(_plain(once)))
    ):
        return None
    rounds = [words for way in _renderings(_plain(once)) if (words := _WORDS.findall(way))]
    commas = {(words[0] == ",", words[-1] == ",") for words in rounds}
    if len(commas) != 1 or (True, True) in commas:
        return None
    leads, trails = commas.pop()
    if closing[4] == "-" and not (trails or _ENDS_ITEM.match(text, end)):
        return None  # it would take away the space before what is inserted there
    return Loop(end, leads, trails)


def _plain(body: str) -> str:
    """A body with a word for each expression; one that takes white space away stays."""
    return _EXPRESSION.sub("x", body)


def _renderings(body: str) -> list[str]:
    """What a round may come to; a text that nobody reads where that is not known."""
    if "{" not in body:
        return [body]
    return [it.text for it in renderings(body)] or ["{"]


def _keeps_words(
    before: str, opening: re.Match[str], body: str, closing: re.Match[str], behind: str
) -> bool:
    """Whether the words are the same with and without the white space that the tags take away, in
    none, one and two rounds: each is written as an ``if`` with the signs of the loop's own tags."""
    tags = [f"{{%{it[1]} {word} {it[4]}%}}" for it, word in ((opening, "if a"), (closing, "endif"))]
    edges: list[str] = []
    for edge in (*_BEFORE.findall(before)[:1], *_BEHIND.findall(behind)[:1]):
        whole = re.sub(r"(['\"`])", r"\1x\1", edge)  # a string's end, or its beginning
        edges.append(re.sub(r"[{}]", "x", whole))
    every = renderings((body.join(tags) * 2).join(edges))
    return bool(every) and all(
        _WORDS.findall(it.rendered[0]) == _WORDS.findall(it.text) for it in every
    )


def _is_closed(words: Sequence[str]) -> bool:
    """Whether words are whole items: parentheses and CASEs end, and no clause begins."""
    depth = 0
    for word in map(str.lower, words):
        depth += (word in ("(", "[", "case")) - (word in (")", "]", "end"))
        unread = word == "select" or word in _UNREAD or word.startswith(("--", "/*"))
        if depth < 0 or unread or (depth == 0 and word in _CLAUSES):
            return False
    return depth == 0
