"""Template blocks: the texts that ``{% if %}`` renders to, and ``{% for %}`` over list items.

dbt's ``{% if is_incremental() %}`` makes two queries of one text. A *rendering* is the text with
one branch of each block and the rest blanked, so that offsets are the same in all renderings. A
``Loop`` is a ``for`` that renders to items of a list, such as columns of a SELECT: its body closes
its parentheses, has no clause, query or connective, and its ``-`` signs join no two words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from msgspec import Struct

from sqlrewrite.text.edits import Edit, Span, apply, blank, cut, merged
from sqlrewrite.text.template_kinds import UNITS

MAX_RENDERINGS = 16
"""A text with more renderings is left alone."""

_UNIT = re.compile("|".join([r"\{#.*?#\}", *(unit.pattern for unit in UNITS.values())]), re.DOTALL)
_OPENED = re.compile(r"\{[{%#]")
_TAG = re.compile(r"\{%([-+]?)\s*+(\w++)(.*?)([-+]?)%\}", re.DOTALL)
_LINE_START = re.compile(r"(?:\A|(?<=\n))[ \t]*\Z")
_NEWLINE = re.compile(r"\r?\n")

# Conditions with the same value throughout one compilation by dbt.
_CONSTANT = re.compile(
    r"(not\s+)?(is_incremental\(\)|flags\.\w+|(?:target\.\w+|var\([^()]*\))(?:\s*==\s*[\w.'\"]+)?)"
)

_NAMES = re.compile(
    r"\{%[-+]?\s*(?:set\s[^=%]*|macro\s+|(?:from|import)\s[^%]*)"
    r"\b(?:is_incremental|flags|target|var)\b"
)
"""A tag that gives a name in ``_CONSTANT`` another meaning."""

_SEPARATOR = re.compile(
    r"\{%[-+]?\s*if\s+not\s+loop\.last\s*[-+]?%\}[^{}]*\{%[-+]?\s*endif\s*[-+]?%\}", re.IGNORECASE
)
_COMMA = re.compile(
    r"\{\{\s*(['\"])\s*,\s*\1\s+if\s+not\s+loop\.last(?:\s+else\s+(['\"])\s*\2)?\s*\}\}"
)
"""The separator between two rounds of a loop."""

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
_BEHIND = re.compile(r"\A\s*\S?")
_ENDS_ITEM = re.compile(r"\s*(?:[,)]|from\b)", re.IGNORECASE)


class _Tag(Struct, frozen=True):
    """A tag of an ``if``: its span, its keyword, and its condition."""

    span: Span
    word: str
    condition: str


@dataclass(frozen=True, slots=True)
class Rendering:
    """One of the texts that a template renders to. ``text``: the whole text with the other branches
    blanked. ``hidden``: the blanked spans, tags included. ``rendered``: Jinja's output, without and
    with ``trim_blocks``."""

    text: str
    hidden: tuple[Span, ...]
    rendered: tuple[str, ...] = field(repr=False)

    def shows(self, span: Span) -> bool:
        """Whether no part of a span is hidden."""
        return not any(
            hidden.start < span.end and span.start < hidden.end for hidden in self.hidden
        )


def renderings(text: str, facts: Mapping[str, bool] | None = None) -> tuple[Rendering, ...]:
    """All texts that a template may render to; the one of all first branches is last. Empty if
    there is no ``if``, if there are more than ``MAX_RENDERINGS``, or if the blocks are malformed.
    ``facts``: conditions with known values, as ``is_incremental()``."""
    tags = _tags(text) if "{%" in text and not _NAMES.search(text) else []
    ways = _ways(tags, facts or {})
    eaten = [_trimmed(text, tags, trim) for trim in (False, True)] if ways else []
    return tuple(
        Rendering(
            apply(text, (Edit(span, blank(span.of(text))) for span in hidden)),
            hidden,
            tuple(cut(text, merged((*hidden, *spans))) for spans in eaten),
        )
        for hidden in reversed(dict.fromkeys(ways))
    )


def blocks(text: str) -> list[Span]:
    """The outermost ``if`` blocks of a text; none if it has no ``renderings``."""
    spans: list[Span] = []
    depth = start = 0
    for tag in _tags(text):
        start = tag.span.start if depth == 0 else start
        depth += {"if": 1, "endif": -1}.get(tag.word, 0)
        if depth == 0:
            spans.append(Span(start, tag.span.end))
    return spans


def _tags(text: str) -> list[_Tag]:
    """The tags of the outermost ``if`` blocks; none if a tag is malformed."""
    units = list(_units(text))
    if None in units:
        return []
    ends = {tag[2] for _, tag in filter(None, units)}
    tags: list[_Tag] = []
    depth = 0
    for span, tag in filter(None, units):
        word, rest = tag[2], tag[3]
        if word == "raw":
            return []
        if word in ("if", "elif", "else", "endif"):
            if depth == 0:
                tags.append(_Tag(span, word, " ".join(rest.split())))
        elif word.startswith("end"):
            depth -= 1
        elif f"end{word}" in ends and not (word == "set" and "=" in rest):
            depth += 1
    return tags if depth == 0 else []


def _units(text: str, since: int = 0) -> Iterator[tuple[Span, re.Match[str]] | None]:
    """The tags of a text outside of comments and expressions; at last None if one does not end.
    Groups of a match: the sign, the word, the rest, the sign at the end."""
    at = since
    while opened := _OPENED.search(text, at):
        unit = _UNIT.match(text, opened.start())
        if unit is None:
            yield None
            return
        tag = _TAG.fullmatch(unit.group())
        if tag is not None:
            yield Span(*unit.span()), tag
        at = unit.end()


class _Way(Struct, frozen=True):
    """One choice of branches up to a tag: the hidden spans, the values of conditions, and for each
    open block whether a branch was taken and whether the current one is shown."""

    hidden: tuple[Span, ...] = ()
    facts: Mapping[str, bool] = {}
    open: tuple[tuple[bool, bool], ...] = ()

    @property
    def shown(self) -> bool:
        """Whether text is shown here."""
        return not self.open or self.open[-1][1]


def _ways(tags: Sequence[_Tag], facts: Mapping[str, bool]) -> list[tuple[Span, ...]]:
    """The hidden spans of each choice of branches, first branches first. Empty without tags, for
    too many choices, and for unclosed blocks."""
    ways = [_Way(facts=facts)] if tags else []
    last = 0
    for tag in tags:
        ways = [way for before in ways for way in _after_tag(tag, before, last)]
        if not 0 < len(ways) <= MAX_RENDERINGS:
            return []
        last = tag.span.end
    return [] if any(way.open for way in ways) else [merged(way.hidden) for way in ways]


def _after_tag(tag: _Tag, way: _Way, last: int) -> list[_Way]:
    """The choices after a tag; ``last`` is the end of the tag before it."""
    hidden = (*way.hidden, tag.span if way.shown else Span(last, tag.span.end))
    if tag.word != "if" and not way.open:
        return []
    if tag.word == "endif":
        return [_Way(hidden, way.facts, way.open[:-1])]
    around, taken = (way.open, not way.shown) if tag.word == "if" else (way.open[:-1], None)
    if taken is None:
        taken = way.open[-1][0]
    if taken:  # an earlier branch is shown, or nothing around the block
        return [_Way(hidden, way.facts, (*around, (True, False)))]
    ways: list[_Way] = []
    for value in (True, False):
        facts = _facts_if(way.facts, tag.condition, value)
        if facts is not None:
            ways.append(_Way(hidden, facts, (*around, (value, value))))
    return ways


def _facts_if(facts: Mapping[str, bool], condition: str, value: bool) -> Mapping[str, bool] | None:
    """The values of conditions with one more; None if it contradicts them. ``else`` has an empty
    condition, which is true."""
    if not condition:
        return facts if value else None
    constant = _CONSTANT.fullmatch(condition)
    if constant is None:
        return facts
    name, holds = constant[2], value != bool(constant[1])
    return None if facts.get(name, holds) != holds else {**facts, name: holds}


def _trimmed(text: str, tags: Sequence[_Tag], trim: bool) -> list[Span]:
    """The white space that Jinja removes beside tags: all of it for a ``-``; with ``trim`` (Jinja's
    ``trim_blocks`` and ``lstrip_blocks``) the indentation of a tag and one line end after it."""
    spans: list[Span] = []
    for tag in tags:
        start, end = tag.span.start, tag.span.end
        before, unit = text[:start], text[start:end]
        if unit[2] == "-":
            spans.append(Span(len(before.rstrip()), start))
        elif trim and unit[2] != "+" and (indent := _LINE_START.search(before)):
            spans.append(Span(indent.start(), start))
        if unit[-3] == "-":
            spans.append(Span(end, end + len(text[end:]) - len(text[end:].lstrip())))
        elif trim and unit[-3] != "+" and (line := _NEWLINE.match(text, end)):
            spans.append(Span(end, line.end()))
    return spans


class Loop(Struct, frozen=True):
    """A ``for`` over list items: where it ends, and whether it begins or ends with a comma."""

    end: int
    leads: bool
    trails: bool


def block_end(text: str, start: int) -> int | None:
    """The end of the block whose first tag begins at ``start``; None if it does not end."""
    block = _ended_blocks(text).get(start)
    return None if block is None else block[1][0].end


_Unit = tuple[Span, re.Match[str]]


@lru_cache(4)  # asked once for each block of the text that is scanned
def _ended_blocks(text: str) -> dict[int, tuple[_Unit, _Unit]]:
    """The first and the last tag of each block that ends, by the offset of the first."""
    ended: dict[int, tuple[_Unit, _Unit]] = {}
    opened: dict[str, list[_Unit]] = {}
    for unit in filter(None, _units(text)):
        word = unit[1][2]
        before = opened.get(word.removeprefix("end")) if word.startswith("end") else None
        if before:
            first = before.pop()
            ended[first[0].start] = first, unit
        else:
            opened.setdefault(word, []).append(unit)
    return ended


def loop(text: str, start: int) -> Loop | None:
    """The ``for`` that begins at an offset, if it renders to items of a list; else None."""
    block = _ended_blocks(text).get(start)
    if block is None:
        return None
    (first, opening), (last, closing) = block
    end = last.end
    body = text[first.end : last.start]
    once = _plain(_COMMA.sub("", _SEPARATOR.sub(" ", body)))
    body = _plain(_COMMA.sub(",", body))
    if not _keeps_words(text[:start], opening, body, closing, text[end:]):
        return None
    rounds = [_WORDS.findall(way) for way in _bodies(once)]
    if not all(map(_is_closed, (*rounds, *(_WORDS.findall(way) for way in _bodies(body))))):
        return None
    commas = {(words[0] == ",", words[-1] == ",") for words in rounds if words}
    if len(commas) != 1 or (True, True) in commas:
        return None
    leads, trails = commas.pop()
    if closing[4] == "-" and not (trails or _ENDS_ITEM.match(text, end)):
        return None  # it would remove the space before an insertion
    return Loop(end, leads, trails)


def _plain(body: str) -> str:
    """A body with `x` for each expression, except expressions that trim white space."""
    return _EXPRESSION.sub("x", body)


def _bodies(body: str) -> list[str]:
    """The texts that one round of a loop may render to; an unclosed brace if unknown."""
    if "{" not in body:
        return [body]
    return [rendering.text for rendering in renderings(body)] or ["{"]


def _keeps_words(
    before: str, opening: re.Match[str], body: str, closing: re.Match[str], behind: str
) -> bool:
    """Whether no two words are joined by the white space that a loop's tags remove, in zero, one
    and two rounds. Each round is written as an ``if`` with the signs of the loop's tags."""
    first = f"{{%{opening[1]} if a {opening[4]}%}}"
    last = f"{{%{closing[1]} endif {closing[4]}%}}"
    edges: list[str] = []
    # The last character of a word, and the white space after it.
    word_before = before[max(0, len(before.rstrip()) - 1) :]
    for edge in (word_before, *_BEHIND.findall(behind)[:1]):
        whole = re.sub(r"(['\"`])", r"\1x\1", edge)  # a lone quote, so that it encloses something
        edges.append(re.sub(r"[{}]", "x", whole))
    every = renderings((body.join((first, last)) * 2).join(edges))
    return bool(every) and all(
        _WORDS.findall(rendering.rendered[0]) == _WORDS.findall(rendering.text)
        for rendering in every
    )


def _is_closed(words: Sequence[str]) -> bool:
    """Whether words are complete list items: parentheses and CASEs are closed, and no clause
    begins."""
    depth = 0
    for word in map(str.lower, words):
        depth += (word in ("(", "[", "case")) - (word in (")", "]", "end"))
        unread = word == "select" or word in _UNREAD or word.startswith(("--", "/*"))
        if depth < 0 or unread or (depth == 0 and word in _CLAUSES):
            return False
    return depth == 0
