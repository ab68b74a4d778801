"""Predicates that an earlier run wrote, taken out of the text: what is left, and what stood where.

Every run starts from the text without them and derives them anew. So a second run changes nothing,
a predicate that no longer follows from the query goes, and nothing is ever derived from our own.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from sqlglot import Token, TokenType

from sqlrewrite.sql.lex.keywords import CHANGES
from sqlrewrite.sql.managed.recognition import (
    ManagedPredicate,
    apart,
    bounded_value,
    is_unmarked,
    managed_predicates,
    marker_offsets,
)
from sqlrewrite.sql.managed.token_walk import EnclosingClause, NoFormError, Range, Walk
from sqlrewrite.text.edits import Edit, Span, cut
from sqlrewrite.text.markers import MARKER
from sqlrewrite.text.source import LINE_END

_LINE_ENDS = re.compile(r"[ \t]*(?:[\r\n]|\Z)")


@dataclass(frozen=True, slots=True)
class RemovedPredicate:
    """A managed predicate that was taken out: its ``span`` in the original and its ``text`` there,
    with the marker, and the ``value`` that it bounds.

    ``note`` is what the comment beside the marker says, of one of literals: when its keys were
    asked for, by which query. ``behind`` is what stands behind the value, ``IN (1, 2)`` and the
    like; empty where it is several predicates under an OR.
    """

    span: Span
    text: str
    value: str
    behind: str
    note: tuple[str, str] | None

    @property
    def unmarked(self) -> str:
        """The text before the marker and the white space before that."""
        return self.text.partition(MARKER)[0].rstrip()


@dataclass(frozen=True, slots=True)
class ManagedClause:
    """What an earlier run wrote into one clause. ``at`` is the offset, in the stripped text, of the
    WHERE or ON, or of where that was; ``edits`` would put all back; ``in_dml``: it is the condition
    of a DELETE or UPDATE."""

    at: int
    edits: tuple[Edit, ...]
    predicates: tuple[RemovedPredicate, ...]
    in_dml: bool = False


@dataclass(frozen=True, slots=True)
class Stripped:
    """A text without managed predicates; ``removed`` are the spans of the original taken out, and
    ``places`` the offsets in the text where each of them was.

    ``predicates`` are the spans of those in them, each with its marker, and ``clauses`` have all
    that is known of them, clause by clause. ``foreign`` is where a marker stands on what is not
    ours: the author has edited, wrapped or moved it. ``unsure`` are the offsets in the text of what
    such a marker stands behind where it may have come away from a predicate of ours.
    """

    text: str
    original: str
    removed: tuple[Span, ...] = ()
    places: tuple[int, ...] = ()
    predicates: tuple[Span, ...] = ()
    foreign: tuple[int, ...] = ()
    unsure: tuple[int, ...] = ()
    clauses: tuple[ManagedClause, ...] = ()

    @classmethod
    def of(cls, text: str, spans: Sequence[Span], predicates: Sequence[Span]) -> Stripped:
        """The text without some spans of it, and the predicates in them."""
        places = map(_offsets_without(spans), map(_start, spans))
        return cls(cut(text, spans), text, tuple(spans), tuple(places), tuple(predicates))

    @property
    def removed_predicates(self) -> dict[Span, RemovedPredicate]:
        """All that is known of the predicates, by their spans."""
        return {
            predicate.span: predicate for clause in self.clauses for predicate in clause.predicates
        }

    def then(self, after: Stripped) -> Stripped:
        """Both at once: this, and what is taken out of the text that it leaves."""
        removed = _outermost((*self.removed, *map(self.original_span, after.removed)))
        both = (*self.predicates, *map(self.original_span, after.predicates))
        foreign = tuple(map(self.original_offset, after.foreign))
        return replace(
            Stripped.of(self.original, removed, sorted(both, key=_start)), foreign=foreign
        )

    def original_span(self, span: Span) -> Span:
        """Where a span of the text stands in the original."""
        last = self.original_offset(max(span.start, span.end - 1))
        return Span(self.original_offset(span.start), last + (span.end > span.start))

    def original_offset(self, offset: int) -> int:
        """The offset in the original for one in the stripped text."""
        before = bisect_right(self.places, offset) - 1
        return offset if before < 0 else offset + self.removed[before].end - self.places[before]

    def changes(self, edits: Iterable[Edit]) -> Iterator[tuple[Span, str]]:
        """What insertions into the text change in the original, in order: its stretches, each with
        what takes its place, without what goes only to come back."""
        inserted: dict[int, str] = {}
        for edit in edits:
            inserted[edit.offset] = inserted.get(edit.offset, "") + edit.text
        replacements: list[tuple[Span, str]] = []
        for span, at in zip(self.removed, self.places, strict=True):
            new = inserted.pop(at, "")
            if new != span.of(self.original):
                replacements.append((span, new))
        for offset, new in inserted.items():
            at = self.original_offset(offset)
            replacements.append((Span(at, at), new))
        yield from sorted(replacements, key=lambda it: (it[0].start, it[0].end))

    def insertions(self) -> dict[int, str]:
        """What was taken out, by the offset in the stripped text where it stood."""
        by_offset: dict[int, str] = {}
        for span, at in zip(self.removed, self.places, strict=True):
            by_offset[at] = by_offset.get(at, "") + span.of(self.original)
        return by_offset


Keep = Callable[[Walk, Sequence[ManagedPredicate]], Container[ManagedPredicate]]
"""The managed predicates that stay: the author asked to leave them, or their scans, alone."""


def strip(
    text: str, tokens: Sequence[Token], keep: Keep | None = None, *, in_dml: bool = False
) -> Stripped:
    """The text without the predicates that carry our marker in just the form we write, and stand as
    conjuncts at the top of a WHERE or ON. ``tokens`` are those of the text; ``in_dml`` says that
    what stands in the condition of a DELETE or UPDATE goes, too, and so must come back."""
    if MARKER not in text:
        return Stripped(text, text)
    walk = Walk(text, tokens)
    managed = list(managed_predicates(walk, in_dml))
    clauses, outer = _clauses(walk, managed, keep(walk, managed) if keep is not None else ())
    gone = sorted(
        (predicate for clause in clauses for predicate in clause.ours), key=lambda it: it.marker
    )
    recognised = {predicate.marker for predicate in managed if _inside(predicate.span.start, outer)}
    spans = _spans(clauses)
    stripped = _offsets_without(spans)
    foreign = tuple(at for at in marker_offsets(walk) if at not in recognised)
    return replace(
        Stripped.of(text, spans, [predicate.span for predicate in gone]),
        foreign=foreign,
        unsure=tuple(map(stripped, apart(walk, foreign))),
        clauses=tuple(
            sorted(
                (_managed_clause(walk, clause, stripped) for clause in clauses),
                key=lambda it: it.at,
            )
        ),
    )


def _removed(walk: Walk, managed: ManagedPredicate) -> RemovedPredicate:
    text, span = walk.text, managed.span
    marker = "" if managed.moved is None else f" {managed.moved.of(text).lstrip()}"
    single = managed.value.start == managed.tokens.start
    value, whole = walk.span(managed.value), walk.span(managed.tokens)
    return RemovedPredicate(
        span,
        span.of(text) + marker,
        bounded_value(walk, managed),
        text[value.end : whole.end] if single else "",
        managed.note,
    )


def _offsets_without(spans: Sequence[Span]) -> Callable[[int], int]:
    """What gives the offset in the text without some spans for one in the text."""
    starts = [span.start for span in spans]
    lengths = list(accumulate((span.end - span.start for span in spans), initial=0))
    return lambda offset: offset - lengths[bisect_left(starts, offset)]


def strip_text(text: str, tokens: Sequence[Token]) -> str:
    """The text that ``strip`` leaves, and nothing else of it."""
    if MARKER not in text:
        return text
    walk = Walk(text, tokens)
    return cut(text, _spans(_clauses(walk, list(managed_predicates(walk)))[0]))


def _clauses(
    walk: Walk, found: Sequence[ManagedPredicate], staying: Container[ManagedPredicate] = ()
) -> tuple[list[_ClauseSpans], list[Span]]:
    """What is taken out of each clause, and the predicates inside no other."""
    kept = [predicate.span for predicate in found if predicate in staying]
    clauses = list(_by_clause(walk, [predicate for predicate in found if predicate not in staying]))
    outer = _outermost(
        [*kept, *(predicate.span for clause in clauses for predicate in clause.ours)]
    )
    begins = [walk.tokens[clause.clause.keyword].start for clause in clauses]
    outside = [clause for clause, at in zip(clauses, begins, strict=True) if not _inside(at, outer)]
    return outside, outer


def _spans(clauses: Sequence[_ClauseSpans]) -> list[Span]:
    return sorted((span for clause in clauses for span in clause.spans), key=_start)


def _start(span: Span) -> int:
    return span.start


def _outermost(spans: Iterable[Span]) -> list[Span]:
    """Those that are inside no other, in order."""
    outermost: list[Span] = []
    for span in sorted(spans, key=_start):
        if not outermost or span.start >= outermost[-1].end:
            outermost.append(span)
    return outermost


def _inside(offset: int, spans: Sequence[Span]) -> bool:
    """Whether an offset is inside one of the spans, which are in order."""
    before = bisect_right(spans, offset, key=_start) - 1
    return before >= 0 and offset < spans[before].end


@dataclass(frozen=True, slots=True, eq=False)
class _ClauseSpans:
    """What is taken out of a clause: the predicates, and the spans of them and what joins them."""

    clause: EnclosingClause
    ours: tuple[ManagedPredicate, ...]
    spans: tuple[Span, ...]


def _by_clause(walk: Walk, taken: Sequence[ManagedPredicate]) -> Iterator[_ClauseSpans]:
    """The predicates that are conjuncts at the top of a clause, clause by clause."""
    clauses: dict[EnclosingClause, dict[int, ManagedPredicate]] = {}
    clause: EnclosingClause | None = None
    for predicate in taken:
        try:
            if clause is None or not walk.at_top(predicate.word, clause.condition):
                clause = walk.enclosing(predicate.word)
        except NoFormError:
            continue
        clauses.setdefault(clause, {})[predicate.tokens.start] = predicate
    for clause, managed in clauses.items():
        if clause.disjunction:
            continue
        pieces = walk.pieces(clause.condition)
        ours = [m if (m := managed.get(p.start)) and m.tokens == p else None for p in pieces]
        unmarked = [piece for one, piece in zip(ours, pieces, strict=True) if one is None]
        for index, one in enumerate(ours):
            if one is not None and any(is_unmarked(walk, piece, one) for piece in unmarked):
                ours[index] = None
        spans = sorted(_clause_spans(walk, clause, pieces, ours), key=_start)
        if spans:
            gone = tuple(predicate for predicate in ours if predicate is not None)
            spans += [predicate.moved for predicate in gone if predicate.moved is not None]
            yield _ClauseSpans(clause, gone, tuple(spans))


def _managed_clause(
    walk: Walk, taken: _ClauseSpans, stripped: Callable[[int], int]
) -> ManagedClause:
    """What was taken out of a clause; ``stripped`` gives the offsets in the text without all."""
    keyword = walk.tokens[taken.clause.keyword].start
    text = walk.text
    return ManagedClause(
        stripped(min(keyword, taken.spans[0].start)),
        tuple(Edit(stripped(span.start), span.of(text)) for span in taken.spans),
        tuple(_removed(walk, predicate) for predicate in taken.ours),
        walk.kind(walk.lead(taken.ours[0].word)) in CHANGES,
    )


def _clause_spans(
    walk: Walk,
    clause: EnclosingClause,
    pieces: list[Range],
    ours: list[ManagedPredicate | None],
) -> Iterator[Span]:
    """The spans of those of a clause's conjuncts that are ours, with the AND before each; of those
    that open the clause, with what we put around them. None where a whole ON is ours."""
    leading = next((index for index, m in enumerate(ours) if m is None), len(ours))
    tokens, keyword = walk.tokens, clause.keyword
    if leading == len(pieces):
        if walk.kind(keyword) is TokenType.WHERE:
            for word, predicate in zip((keyword, *(p.end for p in pieces)), ours, strict=False):
                assert predicate is not None
                yield from _with_word(walk, word, predicate.span)
        return
    if leading:
        parts = [predicate.span for predicate in ours[:leading] if predicate is not None]
        parts += [_token(walk, piece.end) for piece in pieces[:leading]]
        behind = pieces[leading]
        if leading == len(pieces) - 1 and walk.wraps_disjunction(behind):
            # With the white space that a formatter has put inside the parentheses.
            parts += [_token(walk, behind.start)]
            end = walk.tokens[behind.end - 1].end + 1
            yield Span(_blank_before(walk, behind.end - 1, end), end)
            yield from _joined(walk, parts, walk.tokens[behind.start + 1].start)
        else:
            # A condition that is cut off behind an AND goes on nowhere.
            cut = behind.start == len(tokens)
            yield from _joined(walk, parts, None if cut else tokens[behind.start].start)
    for piece, predicate in zip(pieces[leading:], ours[leading:], strict=True):
        if predicate is not None:
            yield from _with_word(walk, piece.start - 1, predicate.span)


def _with_word(walk: Walk, index: int, ours: Span) -> Iterator[Span]:
    """A predicate with the WHERE or AND before it; the author's comment between them stays."""
    word = _token(walk, index)
    if walk.text[word.end : ours.start].strip():
        yield Span(_blank_before(walk, index, word.end), word.end)
        yield ours
    else:
        yield Span(_blank_before(walk, index, ours.end), ours.end)


def _token(walk: Walk, index: int) -> Span:
    token = walk.tokens[index]
    return Span(token.start, token.end + 1)


def _joined(walk: Walk, parts: list[Span], until: int | None) -> Iterator[Span]:
    """The parts in order, joined where only white space is between them; comments stay."""
    joined: list[Span] = []
    ends = [Span(until, until)] if until is not None else []
    for part in sorted(parts, key=lambda part: part.start) + ends:
        if joined and not walk.text[joined[-1].end : part.start].strip():
            joined[-1] = Span(joined[-1].start, part.end)
        elif part.end > part.start:
            joined.append(part)
    yield from joined


def _blank_before(walk: Walk, index: int, end: int) -> int:
    """Where the white space before a token begins, that is to be taken out up to ``end``. The line
    break that ends a comment stays, unless there is another behind: it would swallow what is."""
    text, start = walk.text, walk.tokens[index].start
    while start > 0 and text[start - 1].isspace():
        start -= 1
    before = walk.tokens[index - 1].end + 1 if index else 0
    if "--" in text[before:start] and not _LINE_ENDS.match(text, end):
        broken = LINE_END.search(text, start, end)
        return broken.end() if broken else start
    return start
