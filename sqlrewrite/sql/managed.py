"""Predicates that an earlier run wrote: found by their marker, and taken out of the text.

Every run starts from the text without them and derives them anew. So a second run changes nothing,
a predicate that no longer follows from the query goes, and nothing is ever derived from our own.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterator, Sequence
from itertools import accumulate, pairwise

from sqlglot import Token, TokenType

from sqlrewrite.frozen import dataclass
from sqlrewrite.model import MARKER, Edit, Span
from sqlrewrite.sql import notes
from sqlrewrite.sql.anchors import AnchorError, Anchors, ConditionClause, Range

_LINE_BREAK = re.compile(r"\r\n|\n|\r")
_LINE_ENDS = re.compile(r"[ \t]*(?:[\r\n]|\Z)")


@dataclass(frozen=True, slots=True)
class Noted:
    """A predicate of literals that was taken out: where, without its marker, and what the comment
    beside it says."""

    start: int
    text: str
    at: str
    query: str


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an earlier run wrote into one clause: the offset, in the stripped text, of its WHERE or
    ON, or of where its WHERE was; what would put it back; the predicates with their markers, and
    their spans in the original."""

    at: int
    edits: tuple[Edit, ...]
    predicates: tuple[str, ...]
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Stripped:
    """A text without managed predicates; ``removed`` are the spans of the original taken out, and
    ``places`` the offsets in the text where each of them was.

    ``predicates`` are those in them, each with its marker, and ``foreign`` where a marker stands on
    what is not ours: edited, wrapped or moved by the author, whose it then is. ``noted`` are those
    of literals, which tell when and by which query their keys were found. ``clauses`` are all of
    them once more, clause by clause in order.
    """

    text: str
    original: str
    removed: tuple[Span, ...] = ()
    places: tuple[int, ...] = ()
    predicates: tuple[Span, ...] = ()
    foreign: tuple[int, ...] = ()
    noted: tuple[Noted, ...] = ()
    clauses: tuple[Earlier, ...] = ()

    def original_offset(self, offset: int) -> int:
        """The offset in the original for one in the stripped text."""
        before = bisect_right(self.places, offset) - 1
        return offset if before < 0 else offset + self.removed[before].end - self.places[before]

    def insertions(self) -> dict[int, str]:
        """What was taken out, by the offset in the stripped text where it stood."""
        found: dict[int, str] = {}
        for span, at in zip(self.removed, self.places, strict=True):
            found[at] = found.get(at, "") + self.original[span.start : span.end]
        return found


Keep = Callable[[Anchors, Sequence["Managed"]], Container["Managed"]]
"""Which managed predicates stay, because the author asked for them or their scans to be left
alone."""


def strip(text: str, tokens: Sequence[Token], keep: Keep | None = None) -> Stripped:
    """The text without the predicates that carry our marker in just the form we write, and stand as
    conjuncts at the top of a WHERE or ON. ``tokens`` are those of the text."""
    if MARKER not in text:
        return Stripped(text, text)
    anchors = Anchors(text, tokens)
    all_of_them = list(predicates(anchors))
    staying = keep(anchors, all_of_them) if keep is not None else ()
    taken = [found for found in all_of_them if found not in staying]
    kept = [found for found in all_of_them if found in staying]
    clauses = list(_by_clause(anchors, taken))
    spans = sorted((span for *_, found in clauses for span in found), key=lambda span: span.start)
    pieces: list[str] = []
    at = 0
    for span in spans:
        pieces.append(text[at : span.start])
        at = max(at, span.end)
    starts = [span.start for span in spans]
    lengths = list(accumulate((span.end - span.start for span in spans), initial=0))

    def stripped(offset: int) -> int:
        return offset - lengths[bisect_left(starts, offset)]

    gone = []
    for found in taken:
        ours = _of(anchors, found)
        around = bisect_right(starts, ours.start) - 1
        if around >= 0 and ours.end <= spans[around].end:
            gone.append(found)
    known = {found.marker for found in gone + kept}
    return Stripped(
        "".join([*pieces, text[at:]]),
        text,
        tuple(spans),
        tuple(map(stripped, starts)),
        tuple(_of(anchors, found) for found in gone),
        tuple(at for at in _markers(anchors) if at not in known),
        tuple(noted for found in gone if (noted := _noted(text, _of(anchors, found), found))),
        tuple(sorted((_earlier(anchors, *it, stripped) for it in clauses), key=lambda it: it.at)),
    )


def _noted(text: str, span: Span, found: Managed) -> Noted | None:
    if found.note is None:
        return None
    return Noted(span.start, text[span.start : found.marker - 1], *found.note)


def bounded(predicate: str) -> str:
    """What a predicate of ours bounds, in lower case: the value before IN or a comparison, the last
    operand of array_contains."""
    match = _BOUNDED.match(predicate.partition(MARKER)[0].rstrip())
    return plain(match["value"] or match["last"]) if match else ""


def behind_value(predicate: str) -> str:
    """What stands behind the value in a predicate of literals: ``IN (1, 2)`` and the like."""
    match = _BOUNDED.match(predicate)
    return predicate[match.end("value") :] if match and match["value"] else ""


def plain(value: str) -> str:
    """A value's text in lower case, on one line."""
    return " ".join(value.lower().split())


_BOUNDED = re.compile(
    r"array_contains\s*\(.*\)\s*,\s*(?P<last>.*)\)\Z"
    r"|(?P<value>.+?)\s*(?:\bIN\s*\(|\bBETWEEN\s|[<>]=?[\s(])",
    re.DOTALL | re.IGNORECASE,
)


def has_managed(anchors: Anchors, condition: Range, predicate: str) -> bool:
    """Whether a condition has a managed predicate at its top that bounds what another one does: one
    that stays, since all others have been taken out."""
    pieces = anchors.pieces(condition) if MARKER in anchors.text else []
    return any(
        found.tokens in pieces and bounded(_text(anchors, found)) == bounded(predicate)
        for found in predicates(anchors)
    )


def _text(anchors: Anchors, found: Managed) -> str:
    span = _of(anchors, found)
    return anchors.text[span.start : span.end]


def _markers(anchors: Anchors) -> Iterator[int]:
    """Where our marker stands as a comment of its own, and not inside a string."""
    starts = [token.start for token in anchors.tokens]
    at = anchors.text.find(MARKER)
    while at >= 0:
        before = bisect_right(starts, at) - 1
        if before < 0 or anchors.tokens[before].end < at:
            yield at
        at = anchors.text.find(MARKER, at + 1)


@dataclass(frozen=True, slots=True)
class Managed:
    """A managed predicate: its tokens, the one of them that says what it is (IN, a comparison, the
    function's name), where its marker begins in the text, and where it ends with the marker and the
    comment beside that: ``note`` is what the comment says, the time and the key query."""

    tokens: Range
    word: int
    marker: int
    end: int
    note: tuple[str, str] | None = None


def _by_clause(
    anchors: Anchors, taken: Sequence[Managed]
) -> Iterator[tuple[ConditionClause, list[Managed], list[Span]]]:
    """The predicates of each clause, and what to take out of it."""
    clauses: dict[ConditionClause, dict[int, Managed]] = {}
    clause: ConditionClause | None = None
    for found in taken:
        try:
            if clause is None or not anchors.at_top(found.word, clause.condition):
                clause = anchors.enclosing(found.word)
        except AnchorError:
            continue
        clauses.setdefault(clause, {})[found.tokens.start] = found
    for clause, managed in clauses.items():
        spans = [] if clause.disjunction else list(_clause_spans(anchors, clause, managed))
        if spans:
            yield clause, list(managed.values()), spans


def _earlier(
    anchors: Anchors,
    clause: ConditionClause,
    managed: Sequence[Managed],
    spans: Sequence[Span],
    stripped: Callable[[int], int],
) -> Earlier:
    """What was taken out of a clause; ``stripped`` gives the offsets in the text without all."""
    keyword = anchors.tokens[clause.keyword or 0].start
    spans = sorted(spans, key=lambda span: span.start)
    ours = [
        it
        for it in (_of(anchors, found) for found in managed)
        if any(span.start <= it.start and it.end <= span.end for span in spans)
    ]
    return Earlier(
        stripped(min(keyword, spans[0].start)),
        tuple(Edit(stripped(it.start), anchors.text[it.start : it.end]) for it in spans),
        tuple(anchors.text[it.start : it.end] for it in ours),
        tuple(ours),
    )


def _clause_spans(
    anchors: Anchors, clause: ConditionClause, managed: dict[int, Managed]
) -> Iterator[Span]:
    """The spans of a clause's predicates that are conjuncts at its top, with the AND before each;
    of those that open the clause, with what we put around them."""
    pieces = anchors.pieces(clause.condition)
    ours = [m if (m := managed.get(p.start)) and m.tokens == p else None for p in pieces]
    leading = next((index for index, m in enumerate(ours) if m is None), len(ours))
    tokens, keyword = anchors.tokens, clause.keyword
    if leading == len(pieces) and keyword is not None:
        if anchors.kind(keyword) is TokenType.WHERE:
            for word, found in zip((keyword, *(p.end for p in pieces)), ours, strict=False):
                assert found is not None
                yield from _with_word(anchors, word, _of(anchors, found))
        return
    if leading:
        parts = [_of(anchors, found) for found in ours[:leading] if found is not None]
        parts += [_token(anchors, piece.end) for piece in pieces[:leading]]
        behind = pieces[leading]
        if leading == len(pieces) - 1 and anchors.wraps_disjunction(behind):
            parts += [_token(anchors, behind.start)]
            yield _token(anchors, behind.end - 1)
            yield from _joined(anchors, parts, None)
        else:
            yield from _joined(anchors, parts, tokens[behind.start].start)
    for piece, found in zip(pieces[leading:], ours[leading:], strict=True):
        if found is not None:
            yield from _with_word(anchors, piece.start - 1, _of(anchors, found))


def _with_word(anchors: Anchors, index: int, ours: Span) -> Iterator[Span]:
    """A predicate with the WHERE or AND before it; the author's comment between them stays."""
    word = _token(anchors, index)
    if anchors.text[word.end : ours.start].strip():
        yield Span(_blank_before(anchors, index, word.end), word.end)
        yield ours
    else:
        yield Span(_blank_before(anchors, index, ours.end), ours.end)


def _of(anchors: Anchors, found: Managed) -> Span:
    return Span(anchors.tokens[found.tokens.start].start, found.end)


def _token(anchors: Anchors, index: int) -> Span:
    token = anchors.tokens[index]
    return Span(token.start, token.end + 1)


def _joined(anchors: Anchors, parts: list[Span], until: int | None) -> Iterator[Span]:
    """The parts in order, those with only white space between them as one, up to ``until``; an
    author's comment in between stays."""
    found: list[Span] = []
    ends = [Span(until, until)] if until is not None else []
    for part in sorted(parts, key=lambda part: part.start) + ends:
        if found and not anchors.text[found[-1].end : part.start].strip():
            found[-1] = Span(found[-1].start, part.end)
        elif part.end > part.start:
            found.append(part)
    yield from found


def _blank_before(anchors: Anchors, index: int, end: int) -> int:
    """Where the white space before a token begins, that is to be taken out up to ``end``. The line
    break that ends a comment stays, unless there is another behind: it would swallow what is."""
    text, start = anchors.text, anchors.tokens[index].start
    while start > 0 and text[start - 1].isspace():
        start -= 1
    before = anchors.tokens[index - 1].end + 1 if index else 0
    if "--" in text[before:start] and not _LINE_ENDS.match(text, end):
        broken = _LINE_BREAK.search(text, start, end)
        return broken.end() if broken else start
    return start


def predicates(anchors: Anchors) -> Iterator[Managed]:
    """The predicates that a marker follows, a space between, in one of the forms we write: ``value
    IN (…)``, ``value >= (…)`` and the other comparisons, ``array_contains((…), value)``; with a
    note, ``value IN (1, 2)``, ``value BETWEEN 1 AND 2`` and the comparisons with a literal."""
    text, tokens = anchors.text, anchors.tokens
    starts = [token.start for token in tokens]
    at = text.find(MARKER)
    while at >= 0:
        last = bisect_right(starts, at) - 1
        if last >= 0 and tokens[last].end + 2 == at:
            found = _managed(anchors, last, at)
            if found is not None and not _commented(anchors, found.tokens.start, last):
                yield found
        at = text.find(MARKER, at + 1)


def _managed(anchors: Anchors, last: int, at: int) -> Managed | None:
    """The predicate of ours that ends at a token, for a marker at that offset; None for none."""
    end = at + len(MARKER)
    note, found = None, None
    said = notes.read(anchors.text, end)
    if said is not None:
        when, query, end = said
        found = _first_and_word(anchors, last, _before_literals)
        note = (when, query) if found is not None else None
    found = found or _first_and_word(anchors, last, _before_query)
    if found is None or anchors.text.startswith(f" {MARKER}", end):
        return None  # a second marker would be left, on what stands before
    first, word = found
    return Managed(Range(first, last + 1), word, at, end, note)


def _commented(anchors: Anchors, first: int, last: int) -> bool:
    """Whether a comment stands inside a predicate: we write none, so the author has edited it."""
    pairs = pairwise(anchors.tokens[first : last + 1])
    return any(anchors.text[one.end + 1 : other.start].strip() for one, other in pairs)


_COMPARISONS = (TokenType.GTE, TokenType.GT, TokenType.LTE, TokenType.LT)
_BEFORE_QUERY = (TokenType.IN, *_COMPARISONS)
_ARITHMETIC = (
    TokenType.PLUS,
    TokenType.DASH,
    TokenType.STAR,
    TokenType.SLASH,
    TokenType.MOD,
    TokenType.DPIPE,
)

# What may stand before a parenthesis that opens a list and no call.
_NO_FUNCTION = (
    TokenType.AND,
    TokenType.OR,
    TokenType.NOT,
    TokenType.WHERE,
    TokenType.ON,
    TokenType.BETWEEN,
    TokenType.IN,
)


def _first_and_word(
    anchors: Anchors, last: int, before: Callable[[Anchors, int], int | None]
) -> tuple[int, int] | None:
    """The first token of a predicate of ours that ends at a token, and the one that says what it
    is, which ``before`` finds; None where it is none."""
    try:
        word = before(anchors, last)
        if word is None or anchors.raw(word).lower() == "array_contains":
            return None if word is None else (word, word)
        index = _operand(anchors, word - 1)
        while anchors.kind(index - 1) in _ARITHMETIC:
            index = _operand(anchors, index - 2)
        return (index, word) if index > 0 else None
    except AnchorError:
        return None


def _before_query(anchors: Anchors, last: int) -> int | None:
    """The word before the parentheses that close at a token."""
    if anchors.kind(last) is not TokenType.R_PAREN:
        return None
    word = anchors.opening(last) - 1
    known = anchors.kind(word) in _BEFORE_QUERY or (
        word >= 0 and anchors.raw(word).lower() == "array_contains"
    )
    return word if known else None


def _before_literals(anchors: Anchors, last: int) -> int | None:
    """The word before the literals that end at a token."""
    if anchors.kind(last) is TokenType.R_PAREN:
        opening, index = anchors.opening(last), last
        while index > opening:
            index = _literal(anchors, index - 1) - 1
            if anchors.kind(index) is not TokenType.COMMA and index != opening:
                return None
        return opening - 1 if anchors.kind(opening - 1) is TokenType.IN else None
    word = _literal(anchors, last) - 1
    if anchors.kind(word) is TokenType.AND:
        word = _literal(anchors, word - 1) - 1
        return word if anchors.kind(word) is TokenType.BETWEEN else None
    return word if anchors.kind(word) in _COMPARISONS else None


def _literal(anchors: Anchors, index: int) -> int:
    """The first token of the literal that ends at a token: ``1``, ``-1``, ``'a'``, ``DATE '…'``.
    Raises AnchorError where there is none."""
    kind, before = anchors.kind(index), anchors.kind(index - 1)
    if kind is TokenType.NUMBER:
        return index - (before is TokenType.DASH)
    if kind is TokenType.STRING:
        return index - (before is TokenType.DATE)
    raise AnchorError("no literal")


def _operand(anchors: Anchors, index: int) -> int:
    """The first token of the operand that ends at a token: a name with its qualifiers, a literal,
    a call, or a list in parentheses."""
    if anchors.kind(index) is TokenType.R_PAREN:
        index = anchors.opening(index)
        if anchors.kind(index - 1) in _NO_FUNCTION or not anchors.raw(index - 1).isidentifier():
            return index
        index -= 1
    while anchors.kind(index - 1) is TokenType.DOT:
        index -= 2
    return index
