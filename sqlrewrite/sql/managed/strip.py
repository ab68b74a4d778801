"""Takes the predicates of an earlier run out of a text, and records what stood where.

Every run starts from the text without them and derives them anew. So a second run changes nothing,
a predicate that no longer follows from the query goes, and nothing is ever derived from our own
predicates. A statement that does not parse keeps them: nothing could be written into it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

from msgspec import Struct
from sqlglot import Token, exp

from sqlrewrite.copies import replace
from sqlrewrite.sql.bind.dml import takes_predicates
from sqlrewrite.sql.managed.recognition import (
    ManagedPredicate,
    MarkedClause,
    TextTokens,
    clause_of,
    is_unmarked,
    managed_predicates,
    marked_clauses,
    moved_behind,
    unmarked_clauses,
)
from sqlrewrite.sql.parse.statement_kinds import opens_query
from sqlrewrite.sql.parse.statements import Lexed, Statement, statements
from sqlrewrite.sql.statements.directives import Directive
from sqlrewrite.text.edits import Edit, Span, blanked, cut, merged
from sqlrewrite.text.markers import MARKER
from sqlrewrite.text.source import LINE_END

_LINE_ENDS = re.compile(r"[ \t]*(?:[\r\n]|\Z)")


class RemovedPredicate(Struct, frozen=True):
    """A managed predicate that was taken out: its ``span`` in the original and its ``text`` there,
    with the marker, and the ``value`` that it bounds.

    ``note``: for a predicate of literals, when its keys were looked up and by which query.
    ``behind``: the text after the value, as ``IN (1, 2)``; empty for several under an OR.
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


class KeptPredicate(Struct, frozen=True):
    """A managed predicate that a directive keeps: its text without the marker, and the value that
    it bounds."""

    span: Span
    value: str
    directive: Directive


class ManagedClause(Struct, frozen=True):
    """The predicates that an earlier run wrote into one clause. ``at``: the offset of the WHERE or
    ON, even if it was taken out too. ``edits`` would put all predicates back. ``in_dml``: the
    clause is the condition of a DELETE or UPDATE."""

    at: int
    edits: tuple[Edit, ...]
    predicates: tuple[RemovedPredicate, ...]
    in_dml: bool = False


class Stripped(Struct, frozen=True):
    """A ``text`` without managed predicates, which has blanks in their place.

    ``removed``: the spans that were taken out. ``predicates``: the spans of the predicates in them,
    each with its marker. ``clauses``: all that is known of these predicates, clause by clause.
    ``kept``: the predicates that a directive keeps. ``foreign``: the offsets of markers that follow
    text of the author's, who has edited, wrapped or moved a predicate. ``unsure``: the offsets of
    the tokens before those foreign markers that may belong to a predicate of ours elsewhere.
    ``unread``: the first markers of statements that cannot be read.
    """

    text: str
    original: str
    removed: tuple[Span, ...] = ()
    predicates: tuple[Span, ...] = ()
    foreign: tuple[int, ...] = ()
    unsure: tuple[int, ...] = ()
    unread: tuple[int, ...] = ()
    clauses: tuple[ManagedClause, ...] = ()
    kept: tuple[KeptPredicate, ...] = ()

    @classmethod
    def of(cls, text: str, spans: Sequence[Span], predicates: Sequence[Span]) -> Stripped:
        """The result for a text from which some spans were taken, with these predicates in them."""
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
        """This removal and a second one, made in the text that this one leaves, as one."""
        removed = merged((*self.removed, *after.removed))
        both = sorted((*self.predicates, *after.predicates), key=_start)
        return replace(Stripped.of(self.original, removed, both), foreign=after.foreign)

    def changes(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        """The edits that turn the original into this text with insertions, in order. A span that is
        taken out and put back unchanged is left out."""
        new: dict[Span, str] = dict.fromkeys(self.removed, "")
        by_start = {span.start: span for span in self.removed}
        by_end = {span.end: span for span in self.removed}
        for place, text in edits:
            span = by_start.get(place.start) or by_end.get(place.start) or place
            new[span] = new.get(span, "") + text
        for span, text in sorted(new.items()):
            if text != span.of(self.original):
                yield Edit(span, text)

    def kept_between(self, start: int, end: int) -> Sequence[KeptPredicate]:
        """The predicates between two offsets that a directive keeps."""
        first, behind = (bisect_left(self.kept, at, key=_start_of) for at in (start, end))
        return self.kept[first:behind]

    def restored(self, start: int, end: int) -> Iterator[Edit]:
        """The insertions that put back what was taken out between two offsets."""
        first = bisect_left(self.removed, start, key=_start)
        for span in takewhile(lambda it: it.start <= end, self.removed[first:]):
            yield Edit.at(span.start, span.of(self.original))


Keep = Callable[[Sequence[ManagedPredicate]], Mapping[ManagedPredicate, Directive | None]]
"""Chooses the managed predicates of a statement that stay, each with the directive that asks for it
if one does."""


def strip(text: str, lexed: Lexed, keep: Keep | None = None, *, in_dml: bool = False) -> Stripped:
    """The text without its managed predicates. ``in_dml``: also without those in the condition of a
    DELETE or UPDATE, which the caller must put back."""
    if MARKER not in text:
        return Stripped(text, text)
    tokens = TextTokens(text, lexed.tokens)
    markers = list(tokens.markers())
    parts = [
        _in_statement(tokens, markers, statement, keep, in_dml)
        for statement in statements(text, lexed, marked=True)
    ]
    clauses = sorted((clause for part in parts for clause in part.clauses), key=lambda it: it.at)
    edits = (edit for clause in clauses for edit in clause.edits)
    removed = sorted(Span(place.start, place.start + len(text)) for place, text in edits)
    gone = sorted((one.span for clause in clauses for one in clause.predicates), key=_start)
    judged = {at for part in parts for at in (*part.recognised, *part.unread)}
    foreign = tuple(at for at in markers if at not in judged)
    unsure = {at for part in parts for at in part.unsure}
    unsure.update(at for marker in foreign if (at := moved_behind(tokens, marker)) is not None)
    return replace(
        Stripped.of(text, removed, gone),
        foreign=foreign,
        unsure=tuple(sorted(unsure)),
        unread=tuple(at for part in parts for at in part.unread[:1]),
        clauses=tuple(clauses),
        kept=tuple(sorted((one for part in parts for one in part.kept), key=_start_of)),
    )


class _InStatement(Struct, frozen=True, eq=False):
    """The part of a ``Stripped`` that one statement gives; ``recognised``: the offsets of the
    markers of managed predicates."""

    clauses: Sequence[ManagedClause] = ()
    recognised: Collection[int] = ()
    unsure: Sequence[int] = ()
    unread: Sequence[int] = ()
    kept: Sequence[KeptPredicate] = ()


def _in_statement(
    tokens: TextTokens,
    markers: Sequence[int],
    statement: Statement,
    keep: Keep | None,
    in_dml: bool,
) -> _InStatement:
    first, behind = (bisect_left(markers, at) for at in (statement.start, statement.end))
    here = markers[first:behind]
    if statement.tree is None and statement.failure is not None and opens_query(statement.tokens):
        return _InStatement(unread=here)
    if statement.tree is None or not takes_predicates(statement.tree):
        return _InStatement()
    clauses = list(marked_clauses(statement.tree, tokens))
    managed = managed_predicates(clauses, tokens, in_dml=in_dml)
    staying = keep(managed) if keep is not None else {}
    taken, outer = _taken(tokens, clauses, managed, staying)
    recognised = {one.marker for one in managed if _inside(one.span.start, outer)}
    recognised.update(at for at in here if _inside(at, outer))
    unsure = _apart(tokens, clauses, [at for at in here if at not in recognised])
    kept = [
        KeptPredicate(one.predicate, one.bounded, directive)
        for one, directive in staying.items()
        if directive is not None
    ]
    written = [_managed_clause(tokens.text, spans) for spans in taken]
    return _InStatement(written, recognised, unsure, kept=kept)


def _apart(
    tokens: TextTokens, clauses: Sequence[MarkedClause], foreign: Sequence[int]
) -> list[int]:
    """The offsets of the tokens before those ``foreign`` markers that may belong to a predicate
    that has lost its own: they are inside a clause that has one, or right after the parenthesis
    that closes such a clause."""
    unmarked = unmarked_clauses(clauses, tokens) if foreign else ()
    apart: list[int] = []
    for marker in foreign:
        last = _before(tokens, marker).start
        before = tokens.before(last)
        if _inside(last, unmarked) or (before and _inside(before.start, unmarked)):
            apart.append(last)
    return apart


def strip_text(
    text: str,
    tokens: Sequence[Token],
    tree: exp.Expr,
    block: exp.Expr | None = None,
    around: str = "",
) -> str:
    """The text of a query, given its tree, without managed predicates; or the text of a condition
    of a ``block``. ``around``: the whole text that it is an edited part of."""
    if MARKER not in text:
        return text
    whole = TextTokens(text, tokens, around)
    clauses = list(marked_clauses(tree, whole))
    clause = None if block is None else clause_of(tree, block, whole)
    clauses += [] if clause is None else [clause]
    managed = managed_predicates(clauses, whole)
    return cut(text, _spans(_taken(whole, clauses, managed, {})[0]))


def _taken(
    tokens: TextTokens,
    clauses: Sequence[MarkedClause],
    managed: Sequence[ManagedPredicate],
    staying: Mapping[ManagedPredicate, Directive | None],
) -> tuple[list[_ClauseSpans], list[Span]]:
    """The spans to take out of each clause, and the spans of the outermost predicates. Clauses
    inside one of these go with it, or stay with it if it is ``staying``."""
    of_clause: dict[MarkedClause, dict[int, ManagedPredicate]] = {}
    for predicate in managed:
        if predicate not in staying:
            of_clause.setdefault(predicate.clause, {})[predicate.predicate.start] = predicate
    taken = [
        spans
        for clause, ours in of_clause.items()
        if (spans := _clause_spans(tokens, clause, ours)) is not None
    ]
    outer = _outermost(
        [*(one.span for one in staying), *(one.span for spans in taken for one in spans.ours)]
    )
    return [spans for spans in taken if not _inside(spans.clause.keyword.start, outer)], outer


def _spans(clauses: Sequence[_ClauseSpans]) -> list[Span]:
    return sorted((span for clause in clauses for span in clause.spans), key=_start)


def _start(span: Span) -> int:
    return span.start


def _start_of(predicate: KeptPredicate) -> int:
    return predicate.span.start


def _outermost(spans: Iterable[Span]) -> list[Span]:
    """The spans that are not inside another one, in order."""
    outermost: list[Span] = []
    for span in sorted(spans, key=_start):
        if not outermost or span.start >= outermost[-1].end:
            outermost.append(span)
    return outermost


def _inside(offset: int, spans: Sequence[Span]) -> bool:
    """Whether an offset is inside one of the spans, which are in order."""
    before = bisect_right(spans, offset, key=_start) - 1
    return before >= 0 and offset < spans[before].end


class _ClauseSpans(Struct, frozen=True, eq=False):
    """The predicates to take out of a clause, and the spans to cut, which include their ANDs."""

    clause: MarkedClause
    ours: Sequence[ManagedPredicate]
    spans: Sequence[Span]


def _clause_spans(
    tokens: TextTokens, clause: MarkedClause, marked: Mapping[int, ManagedPredicate]
) -> _ClauseSpans | None:
    """The predicates and spans to take out of a clause, given those of its conjuncts that are
    marked, by their offsets; None if there are none."""
    ours = [marked.get(span.start) for _, span in clause.conjuncts]
    both = list(zip(clause.conjuncts, ours, strict=True))
    unmarked = [conjunct for conjunct, one in both if one is None]
    for index, one in enumerate(ours):
        if one is not None and any(is_unmarked(tokens, other, one) for other in unmarked):
            ours[index] = None
    spans = sorted(_with_words(tokens, clause, ours), key=_start)
    if not spans:
        return None
    gone = [predicate for predicate in ours if predicate is not None]
    spans += [predicate.moved for predicate in gone if predicate.moved is not None]
    return _ClauseSpans(clause, gone, spans)


def _managed_clause(text: str, taken: _ClauseSpans) -> ManagedClause:
    """The record of the predicates that were taken out of a clause."""
    return ManagedClause(
        min(taken.clause.keyword.start, taken.spans[0].start),
        tuple(Edit.at(span.start, span.of(text)) for span in taken.spans),
        tuple(_removed(text, predicate) for predicate in taken.ours),
        taken.clause.in_dml,
    )


def _removed(text: str, managed: ManagedPredicate) -> RemovedPredicate:
    span = managed.span
    marker = "" if managed.moved is None else f" {managed.moved.of(text).lstrip()}"
    return RemovedPredicate(
        span, span.of(text) + marker, managed.bounded, managed.behind, managed.note
    )


def _with_words(
    tokens: TextTokens, clause: MarkedClause, ours: Sequence[ManagedPredicate | None]
) -> Iterator[Span]:
    """The spans of our conjuncts, each with the AND before it; those at the beginning of the clause
    with the AND after them, and with the parentheses that we put around the author's condition.
    Empty if the whole of an ON is ours."""
    text, conjuncts = tokens.text, clause.conjuncts
    ands = [clause.keyword, *(_before(tokens, span.start) for _, span in conjuncts[1:])]
    leading = next((index for index, one in enumerate(ours) if one is None), len(ours))
    if leading == len(ours):
        if clause.keyword.text.upper() == "WHERE":
            for word, predicate in zip(ands, ours, strict=True):
                assert predicate is not None
                yield from _with_word(tokens, word, predicate.span)
        return
    if leading:
        parts = [predicate.span for predicate in ours[:leading] if predicate is not None]
        parts += [_token(word) for word in ands[1 : leading + 1]]
        behind, span = conjuncts[leading]
        until = span.start
        wrapped = isinstance(behind, exp.Paren) and isinstance(behind.this, exp.Or)
        if leading == len(ours) - 1 and wrapped:
            # With the white space that a formatter has put inside the parentheses.
            parts += [Span(until, until + 1)]
            yield Span(_blank_before(tokens, _before(tokens, span.end), span.end), span.end)
            until = tokens.within(span)[1].start
        yield from _joined(text, [*parts, Span(until, until)])
    for word, predicate in zip(ands[leading:], ours[leading:], strict=True):
        if predicate is not None:
            yield from _with_word(tokens, word, predicate.span)


def _with_word(tokens: TextTokens, word: Token, ours: Span) -> Iterator[Span]:
    """The span of a predicate with the WHERE or AND before it; two if there is a comment between
    them, which stays."""
    end = word.end + 1
    if tokens.text[end : ours.start].strip():
        yield Span(_blank_before(tokens, word, end), end)
        yield ours
    else:
        yield Span(_blank_before(tokens, word, ours.end), ours.end)


def _token(token: Token) -> Span:
    return Span(token.start, token.end + 1)


def _before(tokens: TextTokens, offset: int) -> Token:
    token = tokens.before(offset)
    assert token is not None, "a statement does not begin with a condition"
    return token


def _joined(text: str, parts: list[Span]) -> Iterator[Span]:
    """The parts in order, joined where only white space is between them; no empty one."""
    joined: list[Span] = []
    for part in sorted(parts, key=_start):
        if joined and not text[joined[-1].end : part.start].strip():
            joined[-1] = Span(joined[-1].start, part.end)
        elif part.end > part.start:
            joined.append(part)
    yield from joined


def _blank_before(tokens: TextTokens, token: Token, end: int) -> int:
    """The offset from which to cut the white space before a token that is cut up to ``end``. The
    line break after a line comment stays unless another follows: the comment would go on."""
    text, start = tokens.text, token.start
    while start > 0 and text[start - 1].isspace():
        start -= 1
    last = tokens.before(token.start)
    before = 0 if last is None else last.end + 1
    if "--" in text[before:start] and not _LINE_ENDS.match(text, end):
        broken = LINE_END.search(text, start, end)
        return broken.end() if broken else start
    return start
