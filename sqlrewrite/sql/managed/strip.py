"""Takes the predicates of an earlier run out of a text, and records what stood where.

Every run starts from the text without them and derives them anew. So a second run changes nothing,
a predicate that no longer follows from the query goes, and nothing is ever derived from our own.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

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
from sqlrewrite.text.edits import Edit, Span, blanked, cut, merged
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
    """What an earlier run wrote into one clause. ``at`` is the offset of the WHERE or ON, or of
    where that was; ``edits`` would put all back; ``in_dml``: it is the condition of a DELETE or
    UPDATE."""

    at: int
    edits: tuple[Edit, ...]
    predicates: tuple[RemovedPredicate, ...]
    in_dml: bool = False


@dataclass(frozen=True, slots=True)
class Stripped:
    """A text without managed predicates: ``removed`` are the spans that were taken out, and in the
    ``text`` there are blanks in their place.

    ``predicates`` are the spans of those in them, each with its marker, and ``clauses`` have all
    that is known of them, clause by clause. ``foreign`` is where a marker stands on what is not
    ours: the author has edited, wrapped or moved it. ``unsure`` are the offsets of what such a
    marker stands behind where it may have come away from a predicate of ours.
    """

    text: str
    original: str
    removed: tuple[Span, ...] = ()
    predicates: tuple[Span, ...] = ()
    foreign: tuple[int, ...] = ()
    unsure: tuple[int, ...] = ()
    clauses: tuple[ManagedClause, ...] = ()

    @classmethod
    def of(cls, text: str, spans: Sequence[Span], predicates: Sequence[Span]) -> Stripped:
        """The text without some spans of it, and the predicates in them."""
        return cls(blanked(text, spans), text, tuple(spans), tuple(predicates))

    @property
    def author_text(self) -> str:
        """The original without what was taken out, and without blanks."""
        return cut(self.original, self.removed)

    @property
    def removed_predicates(self) -> dict[Span, RemovedPredicate]:
        """The predicates that were taken out, by their spans."""
        return {
            predicate.span: predicate for clause in self.clauses for predicate in clause.predicates
        }

    def then(self, after: Stripped) -> Stripped:
        """This and a second removal, from the text that this one leaves, as one."""
        removed = merged((*self.removed, *after.removed))
        both = sorted((*self.predicates, *after.predicates), key=_start)
        return replace(Stripped.of(self.original, removed, both), foreign=after.foreign)

    def changes(self, edits: Iterable[Edit]) -> Iterator[tuple[Span, str]]:
        """The changes of the original that insertions make, in order: spans with their new text.
        What is taken out and put back unchanged is none."""
        new: dict[Span, str] = dict.fromkeys(self.removed, "")
        by_start = {span.start: span for span in self.removed}
        by_end = {span.end: span for span in self.removed}
        for edit in edits:
            at = edit.offset
            span = by_start.get(at) or by_end.get(at) or Span(at, at)
            new[span] = new.get(span, "") + edit.text
        for span in sorted(new, key=lambda it: (it.start, it.end)):
            if new[span] != span.of(self.original):
                yield span, new[span]

    def restored(self, start: int, end: int) -> Iterator[Edit]:
        """The insertions that put back what was taken out between two offsets."""
        first = bisect_left(self.removed, start, key=_start)
        for span in takewhile(lambda it: it.start <= end, self.removed[first:]):
            yield Edit(span.start, span.of(self.original))


Keep = Callable[[Walk, Sequence[ManagedPredicate]], Container[ManagedPredicate]]
"""Chooses the managed predicates that stay because a directive asks for it."""


def strip(
    text: str, tokens: Sequence[Token], keep: Keep | None = None, *, in_dml: bool = False
) -> Stripped:
    """The text without its managed predicates that are conjuncts at the top of a WHERE or ON.
    ``in_dml``: also without those in the condition of a DELETE or UPDATE, which the caller must
    put back."""
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
    foreign = tuple(at for at in marker_offsets(walk) if at not in recognised)
    return replace(
        Stripped.of(text, spans, [predicate.span for predicate in gone]),
        foreign=foreign,
        unsure=tuple(apart(walk, foreign)),
        clauses=tuple(
            sorted(
                (_managed_clause(walk, clause) for clause in clauses),
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


def strip_text(text: str, tokens: Sequence[Token]) -> str:
    """The text cut as ``strip`` finds it, without any account."""
    if MARKER not in text:
        return text
    walk = Walk(text, tokens)
    return cut(text, _spans(_clauses(walk, list(managed_predicates(walk)))[0]))


def _clauses(
    walk: Walk, found: Sequence[ManagedPredicate], staying: Container[ManagedPredicate] = ()
) -> tuple[list[_ClauseSpans], list[Span]]:
    """What is taken out of each clause, and the spans of the outermost predicates."""
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
    """The spans that are in no other one, in order."""
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
    """What is taken out of a clause: predicates, and their spans with the ANDs between."""

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


def _managed_clause(walk: Walk, taken: _ClauseSpans) -> ManagedClause:
    """What was taken out of a clause."""
    keyword = walk.tokens[taken.clause.keyword].start
    return ManagedClause(
        min(keyword, taken.spans[0].start),
        tuple(Edit(span.start, span.of(walk.text)) for span in taken.spans),
        tuple(_removed(walk, predicate) for predicate in taken.ours),
        walk.kind(walk.lead(taken.ours[0].word)) in CHANGES,
    )


def _clause_spans(
    walk: Walk,
    clause: EnclosingClause,
    pieces: list[Range],
    ours: list[ManagedPredicate | None],
) -> Iterator[Span]:
    """The spans of our conjuncts, each with the AND before it; for those that open the clause, with
    the AND behind and our parentheses. None where a whole ON is ours."""
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
    """The spans of a predicate and the WHERE or AND before it; a comment between them stays."""
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
    """The parts in order, joined where only white space is between them."""
    joined: list[Span] = []
    ends = [Span(until, until)] if until is not None else []
    for part in sorted(parts, key=lambda part: part.start) + ends:
        if joined and not walk.text[joined[-1].end : part.start].strip():
            joined[-1] = Span(joined[-1].start, part.end)
        elif part.end > part.start:
            joined.append(part)
    yield from joined


def _blank_before(walk: Walk, index: int, end: int) -> int:
    """The offset from which the white space before a token goes, if all up to ``end`` goes. The
    line break behind a line comment stays if no other follows: the comment would go on."""
    text, start = walk.text, walk.tokens[index].start
    while start > 0 and text[start - 1].isspace():
        start -= 1
    before = walk.tokens[index - 1].end + 1 if index else 0
    if "--" in text[before:start] and not _LINE_ENDS.match(text, end):
        broken = LINE_END.search(text, start, end)
        return broken.end() if broken else start
    return start
