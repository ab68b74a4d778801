"""What a check is shown, and how it speaks of it: one statement with all that was found out.

In: an ``Examined`` text. Out: a ``Subject`` for each of its statements, which turns offsets of the
stripped text into places of the author's, and makes findings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

from sqlrewrite.document import Examined, Part, stale
from sqlrewrite.frozen import dataclass
from sqlrewrite.linting.findings import BY_CODE, Finding, Fix, Place, Replacement
from sqlrewrite.results import TableUse, Verdict
from sqlrewrite.rulebook import Engine
from sqlrewrite.sql.managed import Stripped
from sqlrewrite.text.edits import Edit, Span
from sqlrewrite.text.source import Lines

if TYPE_CHECKING:
    from sqlrewrite.decision.statement import Judged
    from sqlrewrite.plan.algebra import Scan


@dataclass(frozen=True, eq=False)
class Subject:
    """One statement of a text; ``extent`` is where it stands in the original text, ``managed`` are
    the predicates in it that an earlier run wrote, and ``full`` is ``part`` with those predicates,
    too, that are not wanted because the engine finds them by itself. ``heeding`` is what a rewrite
    would do, which leaves alone what the author's comments ask to leave alone, with the text that
    it starts from."""

    part: Part
    full: Part
    heeding: tuple[Part, Stripped]
    stripped: Stripped
    lines: Lines
    engine: Engine
    extent: Span
    managed: tuple[Span, ...]

    def original(self, span: Span) -> Span:
        """A span of the stripped text as one of the author's."""
        last = self.stripped.original_offset(max(span.start, span.end - 1))
        return Span(self.stripped.original_offset(span.start), last + (span.end > span.start))

    def finding(
        self,
        code: str,
        span: Span,
        about: str,
        message: str,
        help: str = "",
        fix: Fix | None = None,
    ) -> Finding:
        """A finding at a span of the original text, about a thing of that name."""
        severity = BY_CODE[code].severity
        place = place_of(self.lines, span)
        return Finding(code, message, place, about, self.hash, severity, help, fix)

    @cached_property
    def hash(self) -> str:
        """The statement without our predicates, comments, case and spacing, as 16 hexadecimal
        digits."""
        text, tokens = self.stripped.text, self.part.statement.tokens
        words = (text[token.start : token.end + 1].lower() for token in tokens)
        return sha256("\0".join(words).encode("utf-8", "surrogateescape")).hexdigest()[:16]

    @cached_property
    def tied(self) -> Mapping[Scan, Sequence[Judged]]:
        """The pairs of each scan, judged."""
        found: dict[Scan, list[Judged]] = {}
        for it in self.part.pruned.judged if self.part.pruned else ():
            found.setdefault(it.case.pair.scan, []).append(it)
        return found

    @cached_property
    def gone(self) -> dict[Span, str]:
        """The managed predicates that a rewrite takes out, each with what it writes in its place,
        and those that it would take out if no comment kept them."""
        part, stripped = self.heeding
        free = frozenset(stripped.predicates)
        kept = {it: by for it, by in stale(self.stripped, self.part).items() if it not in free}
        return {**kept, **stale(stripped, part)}

    @cached_property
    def standing(self) -> frozenset[tuple[TableUse, TableUse]]:
        """The facts and dimensions of which a rewrite finds the predicate written already."""
        return frozenset(
            (it.fact, it.dimension)
            for it in self.heeding[0].candidates
            if it.verdict is Verdict.ALREADY_PRUNED and it.predicate
        )

    @cached_property
    def refused(self) -> Mapping[tuple[TableUse, TableUse], str]:
        """Why a rewrite inserts nothing for a fact and a dimension: the place, if not the scan, may
        be one that a comment asks to leave alone."""
        found: dict[tuple[TableUse, TableUse], str] = {}
        for it in self.heeding[0].candidates:
            if it.verdict is Verdict.REJECTED and it.reason:
                found.setdefault((it.fact, it.dimension), it.reason.message)
        for it in self.heeding[0].candidates:
            if it.verdict is Verdict.REWRITTEN:  # another condition between them serves
                found.pop((it.fact, it.dimension), None)
        return found

    @cached_property
    def mended(self) -> Fix:
        """All that a rewrite changes in the statement: the fix of each finding that it mends."""
        return Fix(tuple(self._replacements()))

    def _replacements(self) -> Iterator[Replacement]:
        """The insertions, and what is taken out, without what goes only to come back."""
        inserted: dict[int, str] = {}
        part, stripped = self.heeding
        for edit in part.edits:
            inserted[edit.offset] = inserted.get(edit.offset, "") + edit.text
        for span, at in zip(stripped.removed, stripped.places, strict=True):
            if not self.extent.start <= span.start < self.extent.end:
                continue
            new = inserted.pop(at, "")
            if new != stripped.original[span.start : span.end]:
                yield Replacement(place_of(self.lines, span), new)
        for edit in (Edit(*item) for item in sorted(inserted.items())):
            at = stripped.original_offset(edit.offset)
            yield Replacement(place_of(self.lines, Span(at, at)), edit.text)


def subjects(
    examined: Examined, full: Examined, heeding: Examined, engine: Engine
) -> Iterator[Subject]:
    """Each statement of a text; ``full`` is the same text, examined for all predicates, ``heeding``
    as its comments ask."""
    stripped, lines = examined.stripped, examined.directives.lines
    starts = [stripped.original_offset(part.statement.start) for part in examined.parts]
    ends = [*starts, len(stripped.original) + 1][1:]
    # A text that is to be left alone as a whole is not taken apart, and nothing is done to it.
    heeded = heeding.parts or tuple(Part(part.statement) for part in examined.parts)
    parts = zip(examined.parts, full.parts, heeded, starts, ends, strict=True)
    for part, all_of_it, done, start, end in parts:
        managed = tuple(span for span in stripped.predicates if start <= span.start < end)
        acts, extent = (done, heeding.stripped), Span(start, end)
        yield Subject(part, all_of_it, acts, stripped, lines, engine, extent, managed)


def place_of(lines: Lines, span: Span) -> Place:
    """A span with its lines and columns."""
    return Place(span, *lines.place(span.start), *lines.place(span.end))
