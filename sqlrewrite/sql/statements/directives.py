"""Directives: comments such as ``-- dpp-rewrite: ignore``, and the lines that they cover.

Only ``--`` comments count; one in ``/* … */`` is a mistake that is reported.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from msgspec import Struct
from sqlglot import Token

from sqlrewrite.text.edits import Span
from sqlrewrite.text.source import Lines

SIGN = "dpp-rewrite:"
KINDS = ("ignore", "ignore-file", "off", "on")
BLOCK = "/*"
"""The kind of a directive in a ``/* … */`` comment, which has no effect."""

ADDING = frozenset({"DPP001"})
"""The code whose suppression forbids new predicates for a scan; existing ones are still
refreshed."""

MENDING = frozenset({"DPP002", "DPP003"})
"""The codes whose suppression keeps the predicates of earlier runs as they are."""

_COMMENT = re.compile(r"--[^\r\n]*|/\*.*?\*/", re.DOTALL)
_BLOCK = re.compile(r"/\*\s*dpp-rewrite:")
_DIRECTIVE = re.compile(
    r"--[ \t]*dpp-rewrite:[ \t]*(?P<kind>[\w-]*)[ \t]*(?:\[(?P<codes>[^\]]*)\])?[ \t]*(?P<why>.*)"
)


class Directive(Struct, frozen=True):
    """A comment that is a directive. No ``codes`` means all; ``kind`` may be a wrong word."""

    kind: str
    codes: tuple[str, ...]
    reason: str
    span: Span
    line: int

    def speaks_of(self, code: str) -> bool:
        """Whether the directive names a code, or none, which means all."""
        return not self.codes or code in self.codes

    def __str__(self) -> str:
        if self.kind == BLOCK:
            return f"/* {SIGN} … */"
        codes = f"[{', '.join(self.codes)}]" if self.codes else ""
        return f"-- {SIGN} {self.kind}{codes}"


@dataclass(frozen=True)
class Directives:
    """The directives of a text, in order, and what they cover."""

    in_order: tuple[Directive, ...]
    lines: Lines

    def covering(self, offset: int, codes: frozenset[str]) -> Directive | None:
        """The directive that covers an offset for at least one of the codes, or None."""
        on_line = self._by_line.get(self.lines.place(offset)[0], ()) if self.in_order else ()
        covers = (each for each in on_line if any(map(each.speaks_of, codes)))
        return next(covers, None) or self.region(offset, codes)

    def region(self, offset: int, codes: frozenset[str]) -> Directive | None:
        """The ``off`` or ``ignore-file`` that covers an offset for one of the codes, or None."""
        before = bisect_right(self._switches, offset, key=lambda each: each.span.start)
        last = self._switches[max(0, before - 1) : before]
        active = (*self._of_file, *(each for each in last if each.kind == "off"))
        return next((each for each in active if any(map(each.speaks_of, codes))), None)

    # A text with a thousand directives is asked for as many places.

    @cached_property
    def _by_line(self) -> dict[int, list[Directive]]:
        by_line: dict[int, list[Directive]] = {}
        for each in self.in_order:
            if each.kind == "ignore":
                by_line.setdefault(each.line, []).append(each)
        return by_line

    @cached_property
    def _switches(self) -> list[Directive]:
        return [each for each in self.in_order if each.kind in ("off", "on")]

    @cached_property
    def _of_file(self) -> list[Directive]:
        return [each for each in self.in_order if each.kind == "ignore-file"]

    @property
    def whole_file(self) -> Directive | None:
        """The directive that leaves the whole file alone, or None."""
        return next((each for each in self._of_file if not each.codes), None)


def directives(text: str, tokens: Sequence[Token], lines: Lines | None = None) -> Directives:
    """The directives of a text; ``lines`` are those of the file that it is a part of."""
    lines = lines or Lines(text)
    if SIGN not in text:
        return Directives((), lines)
    return Directives(tuple(_in_comments(text, tokens, lines)), lines)


def _in_comments(text: str, tokens: Sequence[Token], lines: Lines) -> Iterator[Directive]:
    """The directives in the comments between tokens."""
    starts = [token.start for token in tokens] + [len(text)]
    ends = [0] + [token.end + 1 for token in tokens]
    for end, start in zip(ends, starts, strict=True):
        at = text.find(SIGN, end, start)
        if at < 0:
            continue
        for comment in _COMMENT.finditer(text, end, start):
            words, span = comment.group(), Span(*comment.span())
            if _BLOCK.match(words):
                yield Directive(BLOCK, (), words, span, lines.place(span.start)[0])
            match = _DIRECTIVE.search(text, *comment.span()) if words.startswith("--") else None
            if match is None:
                continue
            codes = tuple(code.strip().upper() for code in (match["codes"] or "").split(","))
            codes, why = tuple(filter(None, codes)), match["why"].strip()
            # Codes were meant, but none is given: that must not count as all of them.
            missing = why.startswith("[") or (match["codes"] is not None and not codes)
            kind, place = match["kind"] + "[" * missing, Span(match.start(), comment.end())
            yield Directive(kind, codes, why, place, lines.place(match.start())[0])
