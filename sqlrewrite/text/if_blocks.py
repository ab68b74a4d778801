"""``{% if %}`` blocks: what a text may render to, and changes that are right in each rendering.

dbt's ``{% if is_incremental() %}`` makes two queries of one text. A *rendering* is the text with
one branch of each block and the rest blanked, so that offsets hold in all renderings.
``changed_in_all`` makes the changes of one rendering after the other, if they are right in all
others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from sqlrewrite.text.edits import Span, blank, cut, spliced
from sqlrewrite.text.template_kinds import UNITS

MAX_RENDERINGS = 16
"""A text of more renderings is left alone."""

_MAX_TAGS = 100
"""A text of more tags is left alone; blocks are read by recursion."""

MAX_ATTEMPTS = 3 * MAX_RENDERINGS
"""After so many attempts to change one rendering, all changes are given up."""

Changes = Sequence[tuple[Span, str]]
"""Spans with what takes their place; an empty span is an insertion."""

_UNIT = re.compile("|".join([r"\{#.*?#\}", *(it.pattern for it in UNITS.values())]), re.DOTALL)
_OPENED = re.compile(r"\{[{%#]")
_TAG = re.compile(r"\{%([-+]?)\s*+(\w++)(.*?)([-+]?)%\}", re.DOTALL)
_WORDS = ("if", "elif", "else", "endif")
_LINE_START = re.compile(r"(?:\A|(?<=\n))[ \t]*\Z")
_INDENT = re.compile(r"[ \t]*")
_NEWLINE = re.compile(r"\r?\n")

# What is the same wherever it stands in a text, for as long as dbt compiles it.
_CONSTANT = re.compile(
    r"(not\s+)?(is_incremental\(\)|flags\.\w+|(?:target\.\w+|var\([^()]*\))(?:\s*==\s*[\w.'\"]+)?)"
)

_NAMES = re.compile(
    r"\{%[-+]?\s*(?:set\s[^=%]*|macro\s+|(?:from|import)\s[^%]*)"
    r"\b(?:is_incremental|flags|target|var)\b"
)
"""What gives one of these names another meaning."""


@dataclass(frozen=True, slots=True)
class _Tag:
    """A tag of a block: its place, its word, and what stands behind that."""

    span: Span
    word: str
    condition: str


@dataclass(frozen=True, slots=True)
class _Branch:
    """One branch of a block: its condition, empty for ``else``, its place and the blocks in it."""

    condition: str
    span: Span
    blocks: tuple[_Block, ...]


@dataclass(frozen=True, slots=True)
class _Block:
    """A block with its branches."""

    span: Span
    branches: tuple[_Branch, ...]


@dataclass(frozen=True, slots=True)
class Rendering:
    """One of the texts that a template renders to.

    ``text``: the whole text, with what is not rendered blanked.
    ``hidden``: the spans that are not rendered, tags among them.
    ``rendered``: what Jinja makes of it, without and with ``trim_blocks``.
    """

    text: str
    hidden: tuple[Span, ...]
    rendered: tuple[str, ...] = field(repr=False)

    def shows(self, span: Span) -> bool:
        """Whether no part of a span is hidden."""
        return not any(it.start < span.end and span.start < it.end for it in self.hidden)


ChangesOf = Callable[[Rendering], Changes | None]
"""Gives the changes of a rendering, or None where they are not known."""

Same = Callable[[Rendering, Rendering], bool]
"""Tells whether what the author wrote says the same in two renderings."""


def renderings(text: str) -> tuple[Rendering, ...]:
    """All that a text may render to, the one of all first branches last. None where it has no
    ``if``, more than ``MAX_RENDERINGS``, or tags whose blocks cannot be told."""
    tags = _tags(text) if "{%" in text and not _NAMES.search(text) else None
    blocks, end = _blocks(tags or ())
    if not tags or end != len(tags):
        return ()
    ways = list(islice(_choices(blocks, {}), MAX_RENDERINGS + 1))
    if len(ways) > MAX_RENDERINGS:
        return ()
    eaten = [_trimmed(text, tags, trim) for trim in (False, True)]
    found = {_merge(hidden): None for hidden, _ in ways}
    return tuple(
        Rendering(
            spliced(text, ((it, blank(it.of(text))) for it in hidden)),
            hidden,
            tuple(cut(text, _merge((*hidden, *it))) for it in eaten),
        )
        for hidden in reversed(found)
    )


def changed_in_all(text: str, changed: ChangesOf, same: Same) -> tuple[str, frozenset[int]] | None:
    """The text with the changes of each rendering, but those that would be wrong in another one,
    and the numbers of the renderings that these belong to. None where that cannot be told.

    A change inside a block is rendered with it, one outside in all renderings: there it may come
    between a clause and its continuation in a block (``ON … WHERE`` before ``{% if x %} AND …``,
    parentheses around an OR before ``{% if x %} AND …``), and change what the author wrote.
    """
    refused: set[int] = set()
    for _ in range(MAX_ATTEMPTS):
        all_renderings = renderings(text)
        wanted = [changed(it) for it in all_renderings]
        tagged = [found for found in wanted if found is not None]
        if not all_renderings or len(tagged) < len(all_renderings):
            return None
        at = next((n for n, found in enumerate(tagged) if found and n not in refused), None)
        if at is None:
            return None if any(map(_replaced, tagged)) else (text, frozenset(refused))
        new = _with_changes(text, all_renderings[at], tagged[at])
        if new is None or not _says_the_same(new, all_renderings, tagged, changed, same):
            refused.add(at)
        else:
            text = new
    return None


def _with_changes(text: str, rendering: Rendering, found: Changes) -> str | None:
    """The text with the changes of a rendering; None where one falls on hidden text."""
    if not all(rendering.shows(span) for span, _ in found):
        return None
    for span, new in sorted(found, key=lambda it: it[0].start, reverse=True):
        text = text[: span.start] + _indented(new, rendering.text, text, span) + text[span.end :]
    return text


def _says_the_same(
    new: str,
    old_renderings: Sequence[Rendering],
    before: Sequence[Changes],
    changed: ChangesOf,
    same: Same,
) -> bool:
    """Whether each rendering says what it said before, and loses no more of its text."""
    for old, was, it in zip(old_renderings, before, renderings(new), strict=True):
        found = changed(it)
        if found is None or len(_replaced(found)) > len(_replaced(was)) or not same(old, it):
            return False
    return True


def _replaced(found: Changes) -> list[Span]:
    """The stretches that are taken out, or give way to others."""
    return [span for span, _ in found if span.start < span.end]


def _indented(new: str, rendering: str, text: str, span: Span) -> str:
    """What is put in, its lines indented as the line it joins, a tag before that left out."""
    start = max(text.rfind("\n", 0, span.start), text.rfind("\r", 0, span.start)) + 1
    taken, own = (_INDENT.match(it, start, span.start) for it in (rendering, text))
    assert taken is not None
    assert own is not None
    return re.sub(f"([\r\n]){re.escape(taken[0])}", rf"\g<1>{own[0]}", new)


def _tags(text: str) -> list[_Tag] | None:
    """The tags of ``if`` blocks at the top; None where they are not told apart, or too many."""
    tagged = units(text)
    if tagged is None:
        return None
    ends = {tag[2] for _, tag in tagged}
    found: list[_Tag] = []
    depth = 0
    for span, tag in tagged:
        word, rest = tag[2], tag[3]
        if word == "raw":
            return None
        if word in _WORDS:
            if depth == 0:
                found.append(_Tag(span, word, " ".join(rest.split())))
        elif word.startswith("end"):
            depth -= 1
        elif f"end{word}" in ends and not (word == "set" and "=" in rest):
            depth += 1
    return found if depth == 0 and len(found) <= _MAX_TAGS else None


def tag_at(text: str, start: int) -> re.Match[str] | None:
    """The tag at a place; groups: the sign, the word, what follows, the sign at its end."""
    unit = UNITS["{%"].match(text, start)
    return None if unit is None else _TAG.fullmatch(unit.group())


def units(text: str, since: int = 0) -> list[tuple[Span, re.Match[str]]] | None:
    """The tags of a text, outside of comments and expressions; None where one does not end."""
    found: list[tuple[Span, re.Match[str]]] = []
    at = since
    while opened := _OPENED.search(text, at):
        unit = _UNIT.match(text, opened.start())
        if unit is None:
            return None
        tag = _TAG.fullmatch(unit.group())
        if tag is not None:
            found.append((Span(*unit.span()), tag))
        at = unit.end()
    return found


def _blocks(tags: Sequence[_Tag], at: int = 0) -> tuple[tuple[_Block, ...], int]:
    """The blocks that begin with a tag, one behind the other, and the number of the first tag that
    is none of theirs: beyond the last where they take in all."""
    found: list[_Block] = []
    while at < len(tags) and tags[at].word == "if":
        start, opening = tags[at].span.start, tags[at]
        branches: list[_Branch] = []
        while opening.word != "endif":
            inner, at = _blocks(tags, at + 1)
            if at >= len(tags):
                return (), len(tags) + 1  # a block without its end
            span = Span(opening.span.end, tags[at].span.start)
            branches.append(_Branch(opening.condition, span, inner))
            opening = tags[at]
        found.append(_Block(Span(start, opening.span.end), tuple(branches)))
        at += 1
    return tuple(found), at


_Facts = Mapping[str, bool]
"""What is known of conditions that are the same throughout a text."""

_Hidden = tuple[Span, ...]


def _choices(blocks: Sequence[_Block], facts: _Facts) -> Iterator[tuple[_Hidden, _Facts]]:
    """What is hidden in each way to choose branches."""
    if not blocks:
        yield (), facts
        return
    for hidden, known in _choices_in(blocks[0], facts):
        for more, after in _choices(blocks[1:], known):
            yield (*hidden, *more), after


def _choices_in(block: _Block, facts: _Facts) -> Iterator[tuple[_Hidden, _Facts]]:
    """The same of one block, with what then is known."""
    start, end = block.span.start, block.span.end
    left: _Facts | None = facts
    for branch in block.branches:
        taken = _facts_if(left, branch.condition, True)
        if taken is not None:
            around = (Span(start, branch.span.start), Span(branch.span.end, end))
            for inner, after in _choices(branch.blocks, taken):
                yield (*around, *inner), after
        left = _facts_if(left, branch.condition, False)
    if left is not None:
        yield (block.span,), left


def _facts_if(facts: _Facts | None, condition: str, value: bool) -> _Facts | None:
    """What is known where a condition has a value; None where it cannot. Else has no condition."""
    if facts is None or not condition:
        return facts if value else None
    constant = _CONSTANT.fullmatch(condition)
    if constant is None:
        return facts
    name, holds = constant[2], value != bool(constant[1])
    return None if facts.get(name, holds) != holds else {**facts, name: holds}


def _trimmed(text: str, tags: Sequence[_Tag], trim: bool) -> list[Span]:
    """The white space that goes with the tags: for a ``-`` all of it, and under ``trim_blocks`` and
    ``lstrip_blocks`` what stands before a tag on its line, and one line end behind."""
    found: list[Span] = []
    for tag in tags:
        start, end = tag.span.start, tag.span.end
        before, unit = text[:start], text[start:end]
        if unit[2] == "-":
            found.append(Span(len(before.rstrip()), start))
        elif trim and unit[2] != "+" and (blank := _LINE_START.search(before)):
            found.append(Span(blank.start(), start))
        if unit[-3] == "-":
            found.append(Span(end, end + len(text[end:]) - len(text[end:].lstrip())))
        elif trim and unit[-3] != "+" and (line := _NEWLINE.match(text, end)):
            found.append(Span(end, line.end()))
    return found


def _merge(hidden: Sequence[Span]) -> _Hidden:
    """Stretches in order, those that touch as one."""
    found: list[Span] = []
    for span in sorted(hidden, key=lambda it: (it.start, it.end)):
        if found and span.start <= found[-1].end:
            found[-1] = Span(found[-1].start, max(span.end, found[-1].end))
        else:
            found.append(span)
    return tuple(found)
