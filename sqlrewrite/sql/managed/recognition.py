"""Predicates that an earlier run wrote, recognised in a text: by their marker, and by their form.

In: the tokens of a text. Out: each ``ManagedPredicate`` in it, with the value that it bounds. A
predicate with a marker that no form is written as is the author's: they have edited it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from sqlglot import Token, TokenType

from sqlrewrite.settings.forms import FORMS
from sqlrewrite.sql.lex.keywords import CHANGES, NO_QUERY, token_types
from sqlrewrite.sql.lex.lexemes import lexemes
from sqlrewrite.sql.managed.statements import statement_openers
from sqlrewrite.sql.places.anchors import AnchorError, Anchors, Range
from sqlrewrite.text.edits import Span
from sqlrewrite.text.markers import MARKER, marker_behind, read_keys_note

QUERY_PLACEHOLDER = "(00.00)"
"""Stands for a key query in a check: quickly lexed and parsed, and like nothing else."""

_SIGNS = {
    "IN": TokenType.IN,
    "BETWEEN": TokenType.BETWEEN,
    "=": TokenType.EQ,
    ">=": TokenType.GTE,
    ">": TokenType.GT,
    "<=": TokenType.LTE,
    "<": TokenType.LT,
}
_ARITHMETIC = token_types("plus dash star slash mod div dpipe amp pipe caret tilde")

# What formatters move a marker behind, where it ends a clause: sqlfluff `);` and a line end, sqlfmt
# `),` and `) do` (of a FOR in a script), since its comments end lines.
_PASSED = frozenset({";", ",", "do"})

_PADDING = re.compile(r"(?<=\() | (?=[),])")

# What may stand before a parenthesis that opens a list and no call.
_NO_FUNCTION = token_types("and or not where on between in")


@dataclass(frozen=True, slots=True)
class ManagedPredicate:
    """A predicate that an earlier run wrote, by its ``tokens``, and its ``span`` with the marker
    and the comment beside that. ``moved`` is the span of these where a formatter has moved them
    behind what follows the predicate; they are not in ``span`` then.

    ``word`` is its sign (IN, a comparison), the name of its function, or the parenthesis around
    several under an OR; ``value`` what it bounds, and of several the first; ``marker`` the offset
    of the marker; ``note`` what the comment says: a time, and a key query.
    """

    tokens: Range
    word: int
    value: Range
    span: Span
    marker: int
    note: tuple[str, str] | None = None
    moved: Span | None = None


def managed_predicates(anchors: Anchors, in_dml: bool = False) -> Iterator[ManagedPredicate]:
    """The predicates that a marker follows, white space between, and that are written as one of the
    forms is, or as several under an OR, in parentheses. ``in_dml`` says whether those in the
    condition of a DELETE or UPDATE itself are among them."""
    text, tokens = anchors.text, anchors.tokens
    at = text.find(MARKER)
    if at < 0:
        return
    starts, opener = [token.start for token in tokens], statement_openers(anchors)
    ends: dict[int, int] = {}
    while at >= 0:
        last = bisect_right(starts, at) - 1
        found = _predicate_before(anchors, last, at) if last >= 0 else None
        if found is not None and not _interrupted(anchors, found.tokens, ends):
            ends[at] = (found.moved or found.span).end
            if _ours(anchors, found, opener(found.word), in_dml):
                yield found
        at = text.find(MARKER, at + 1)


def marker_offsets(anchors: Anchors) -> Iterator[int]:
    """Where our marker stands as a comment of its own, and not inside a string."""
    text, tokens = anchors.text, anchors.tokens
    starts = [token.start for token in tokens]
    at = text.find(MARKER)
    while at >= 0:
        before = bisect_right(starts, at) - 1
        if before < 0 or tokens[before].end < at or not _in_lexeme(text, tokens, before, at):
            yield at
        at = text.find(MARKER, at + 1)


def _in_lexeme(text: str, tokens: Sequence[Token], index: int, at: int) -> bool:
    """Whether an offset is inside a lexeme of Spark's; sqlglot's rest of EXPLAIN holds several."""
    since = tokens[index - 1].end + 1 if index else 0
    found = lexemes(text[since : tokens[index].end + 1])
    return any(since + start < at < since + end for _, start, end in found)


def has_managed_predicate(anchors: Anchors, condition: Range, value: str) -> bool:
    """Whether a condition has a managed predicate at its top that bounds a value: one that stays,
    since all others have been taken out."""
    pieces = anchors.pieces(condition) if MARKER in anchors.text else []
    return any(
        found.tokens in pieces and bounded_value(anchors, found) == normalized_value(value)
        for found in managed_predicates(anchors)
    )


def bounded_value(anchors: Anchors, managed: ManagedPredicate) -> str:
    """The text of what a managed predicate bounds, in lower case, on one line."""
    return normalized_value(anchors.span(managed.value).of(anchors.text))


def normalized_value(value: str) -> str:
    """A value's text in lower case, on one line, no blank within its parentheses."""
    return _PADDING.sub("", " ".join(value.lower().split()))


def _predicate_before(anchors: Anchors, last: int, at: int) -> ManagedPredicate | None:
    """The predicate of ours that ends at a token, or before one that its marker was moved behind,
    for a marker at that offset; None for none."""
    behind, end = last, at + len(MARKER)
    if not _adjoins(anchors, last, at):
        return None
    if anchors.raw(last).lower() in _PASSED:
        last -= 1
        if last < 0 or not _adjoins(anchors, last, anchors.tokens[behind].start):
            return None
    note, found = None, None
    comment = read_keys_note(anchors.text, end)
    if comment is not None:
        when, query, end = comment
        found = _single(anchors, last, True) or _disjunction(anchors, last)
        note = (when, query) if found is not None else None
    found = found or _single(anchors, last, False) or _disjunction(anchors, last)
    if found is None or marker_behind(anchors.text, end) is not None:
        return None  # a second marker would be left, on what stands before
    tokens, moved = Range(found.first, last + 1), None
    span = Span(anchors.tokens[found.first].start, end)
    if behind != last:
        span, moved = anchors.span(tokens), Span(anchors.tokens[behind].end + 1, end)
    return ManagedPredicate(tokens, found.word, found.value, span, at, note, moved)


def apart(anchors: Anchors, markers: Sequence[int]) -> Iterator[int]:
    """For each of the markers that may have come away from its predicate, where what it stands
    behind is: a formatter moves it behind the end of a clause, an author writes a comment or a
    condition between the two."""
    starts = [token.start for token in anchors.tokens] if markers else []
    for at in markers:
        last = bisect_right(starts, at) - 1
        passed = last >= 0 and anchors.raw(last).lower() in _PASSED
        if (passed and _adjoins(anchors, last, at)) or _beside_ours(anchors, last):
            yield starts[last]


def _beside_ours(anchors: Anchors, last: int) -> bool:
    """Whether the clause that a token is in, or closes, has a conjunct that looks like ours."""
    for index in (last, last - 1):
        with suppress(AnchorError):
            first = _opening(anchors, index) if anchors.kind(index) is TokenType.R_PAREN else index
            pieces = anchors.pieces(anchors.enclosing(first).condition)
            if any(looks_written(anchors, piece) for piece in pieces):
                return True
    return False


def _lists_its_own(anchors: Anchors, managed: ManagedPredicate) -> bool:
    """Whether a predicate compares with a list of literals that stands nowhere else in the text:
    where we write one without a comment, it is a copy of the author's."""
    with suppress(AnchorError):
        last = managed.tokens.end - 1
        opening = _before_literals(anchors, last) + 1
        literals = anchors.span(Range(opening, last + 1)).of(anchors.text)
        return not _opens_query(anchors, opening) and anchors.text.count(literals) == 1
    return False


def looks_written(anchors: Anchors, piece: Range) -> bool:
    """Whether a conjunct without a marker is as we write one with a key query: ``AS`` names what it
    reads, and before that each column is called by the name."""
    found = _single(anchors, piece.end - 1, False)
    if found is None or found.first != piece.start:
        return False
    if marker_behind(anchors.text, anchors.tokens[piece.end - 1].end + 1) is not None:
        return False
    words = [anchors.raw(index).lower() for index in range(found.word, piece.end)]
    if "select" not in words:
        return False
    called = {name for name, dot in pairwise(words) if dot == "."}
    return any(word == "as" and alias in called for word, alias in pairwise(words))


def _adjoins(anchors: Anchors, last: int, at: int) -> bool:
    """Whether only white space stands between a token and an offset behind it."""
    between = anchors.text[anchors.tokens[last].end + 1 : at]
    return not between or between.isspace()


def is_unmarked(anchors: Anchors, piece: Range, managed: ManagedPredicate) -> bool:
    """Whether a conjunct looks like a predicate of ours whose marker is gone: then a marker that
    was moved may be its marker, and ``managed`` the author's. So may one right behind a list of
    constants, which an author may have written between the two."""
    if managed.moved is None:
        if managed.note is not None or piece.end > managed.tokens.start:
            return False
        return _lists_its_own(anchors, managed) and looks_written(anchors, piece)
    last = piece.end - 1
    found = _single(anchors, last, managed.note is not None) or _disjunction(anchors, last)
    if found is None or found.first != piece.start:
        return False
    # A computed value is bounded by a key query alone.
    with suppress(AnchorError):
        if _opens_query(anchors, _opening(anchors, last)):
            return True
    return all(anchors.kind(index) is not TokenType.L_PAREN for index in range(*found.value))


def _ours(
    anchors: Anchors, found: ManagedPredicate, opener: TokenType | None, in_dml: bool
) -> bool:
    """Whether a predicate stands where a run may have written it: in a query of its statement, or
    literals in the ON of a MERGE, or, with ``in_dml``, in the condition of a DELETE or UPDATE."""
    if opener is None or anchors.in_query(found.word):
        return opener is not None
    try:
        statement = anchors.kind(anchors.lead(found.word))
    except AnchorError:
        statement = opener
    if statement is TokenType.MERGE:
        return found.note is not None
    return in_dml if statement in CHANGES else opener not in NO_QUERY


def _interrupted(anchors: Anchors, tokens: Range, ours: Mapping[int, int]) -> bool:
    """Whether a comment or the end of a statement stands inside a predicate: the author has edited
    it then. The markers of other predicates of ours, which a template has moved into it, are no
    such comments: ``ours`` has where they begin and end."""
    for one, other in pairwise(anchors.tokens[tokens.start : tokens.end]):
        if one.token_type is TokenType.SEMICOLON:
            return True
        start = one.end + 1
        between = anchors.text[start : other.start]
        comment = between.strip()
        start += between.find(comment)
        if comment and ours.get(start) != start + len(comment):
            return True
    return False


class _Found(NamedTuple):
    """The first token of a predicate, the one that says what it is, and those of its value."""

    first: int
    word: int
    value: Range


def _single(anchors: Anchors, last: int, noted: bool) -> _Found | None:
    """The predicate of ours that ends at a token, ``noted`` or not, and is under no OR."""
    with suppress(AnchorError):
        function = _opening(anchors, last) - 1
        named = function >= 0 and anchors.raw(function).lower() in _functions(noted)
        if named and _opens_query(anchors, function + 2):
            value = Range(anchors.opening(function + 2) + 2, last)  # behind the query and a comma
            return _Found(function, function, value)
    for right, signs in _comparisons(noted).items():
        with suppress(AnchorError):
            word = _BEFORE[right](anchors, last)
            if anchors.kind(word) in signs:
                first = _first_of_value(anchors, word)
                return _Found(first, word, Range(first, word))
    return None


@cache
def _functions(noted: bool) -> frozenset[str]:
    """The functions that the forms are written as."""
    return frozenset(it for form in FORMS if form.noted == noted for it in form.functions)


@cache
def _comparisons(noted: bool) -> Mapping[str, frozenset[TokenType]]:
    """What the forms compare a value with, and the signs that may stand before it."""
    found: dict[str, set[TokenType]] = {}
    for text in (it for form in FORMS if form.noted == noted for it in form.comparisons):
        sign, _, right = text.partition(" ")
        found.setdefault(right, set()).add(_SIGNS[sign])
    return {right: frozenset(signs) for right, signs in found.items()}


def _first_of_value(anchors: Anchors, word: int) -> int:
    """The first token of the value that a sign compares. Raises AnchorError where it has none."""
    index = _operand(anchors, word - 1)
    while anchors.kind(index - 1) in _ARITHMETIC:
        alone = anchors.kind(index - 2) in _NO_FUNCTION  # a sign, and no operator
        index = index - 1 if alone else _operand(anchors, index - 2)
    if index <= 0:
        raise AnchorError("no value before a sign")
    return index


def _opening(anchors: Anchors, last: int) -> int:
    """The parenthesis that one at a token closes. Raises AnchorError where none does."""
    if anchors.kind(last) is not TokenType.R_PAREN:
        raise AnchorError("no parenthesis closes there")
    return anchors.opening(last)


def _before_query(anchors: Anchors, last: int) -> int:
    """The word before a key query that ends at a token."""
    opening = _opening(anchors, last)
    if not _opens_query(anchors, opening):
        raise AnchorError("no key query")
    return opening - 1


def _before_list(anchors: Anchors, last: int) -> int:
    """The word before the parentheses that end at a token."""
    return _opening(anchors, last) - 1


def _before_call(anchors: Anchors, last: int) -> int:
    """The word before a call that ends at a token."""
    opening = _opening(anchors, last)
    if _opens_query(anchors, opening) or not anchors.raw(opening - 1).isidentifier():
        raise AnchorError("no call")
    return opening - 2


def _before_literals(anchors: Anchors, last: int) -> int:
    """The word before the literals in parentheses that end at a token."""
    opening, index = _opening(anchors, last), last
    while index > opening:
        index = _before_literal(anchors, index - 1)
        if anchors.kind(index) is not TokenType.COMMA and index != opening:
            raise AnchorError("no list of literals")
    return opening - 1


def _before_literal(anchors: Anchors, last: int) -> int:
    """The word before a literal, ``-1`` or ``DATE '…'``, that ends at a token."""
    kind, before = anchors.kind(last), anchors.kind(last - 1)
    if kind is TokenType.NUMBER:
        return last - 1 - (before is TokenType.DASH)
    if kind is TokenType.STRING:
        return last - 1 - (before is TokenType.DATE)
    raise AnchorError("no literal")


def _before_both(anchors: Anchors, last: int) -> int:
    """The word before two literals with an AND between."""
    word = _before_literal(anchors, last)
    if anchors.kind(word) is not TokenType.AND:
        raise AnchorError("no AND")
    return _before_literal(anchors, word - 1)


_BEFORE: Mapping[str, Callable[[Anchors, int], int]] = {
    "query": _before_query,
    "call": _before_call,
    "list": _before_list,
    "literals": _before_literals,
    "literal": _before_literal,
    "literal AND literal": _before_both,
}
"""For what a predicate compares with: gives the word before the one that ends at a token. Raises
AnchorError where something else ends there."""


def _disjunction(anchors: Anchors, last: int) -> _Found | None:
    """The predicate of ours that ends at a token and is several under an OR, in parentheses, whose
    value is that of the first; its word is the parenthesis that opens it."""
    with suppress(AnchorError):
        opening = _opening(anchors, last)
        if anchors.kind(opening - 1) in (TokenType.AND, TokenType.WHERE, TokenType.ON):
            value = _value_of_disjuncts(anchors, anchors.disjuncts(Range(opening, last + 1)))
            return None if value is None else _Found(opening, opening, value)
    return None


def _value_of_disjuncts(anchors: Anchors, parts: Sequence[Range]) -> Range | None:
    """The value of the first of several parts, all of which we write; None where one is not, or
    there is but one."""
    values = [_value_of_disjunct(anchors, part) for part in parts]
    return values[0] if len(values) > 1 and all(values) else None


def _value_of_disjunct(anchors: Anchors, part: Range) -> Range | None:
    """The value of a part of an OR, if it is one that we write: a predicate by itself, ``value IS
    NULL``, or what holds where the first of several columns is equal."""
    last = part.end - 1
    if anchors.kind(last) is TokenType.NULL and anchors.kind(last - 1) is TokenType.IS:
        whole = _operand(anchors, last - 2) == part.start
        return Range(part.start, last - 1) if whole else None
    for noted in (False, True):
        found = _single(anchors, last, noted)
        if found is not None and found.first == part.start:
            return found.value
    if anchors.kind(last) is not TokenType.R_PAREN or anchors.opening(last) != part.start:
        return None
    inner = Range(part.start + 1, last)
    pieces = anchors.pieces(inner)
    return _value_of_disjuncts(anchors, pieces if len(pieces) > 1 else anchors.disjuncts(inner))


def _opens_query(anchors: Anchors, index: int) -> bool:
    """Whether a parenthesis opens a key query, or stands for one."""
    if anchors.kind(index) is not TokenType.L_PAREN:
        return False
    return (
        anchors.kind(index + 1) is TokenType.SELECT
        or anchors.raw(index + 1) == QUERY_PLACEHOLDER[1:-1]
    )


def _operand(anchors: Anchors, index: int) -> int:
    """The first token of the operand that ends at a token: a name with its qualifiers, a literal,
    a call, or a list in parentheses, with the types behind it that ``::`` casts it to."""
    if anchors.kind(index) is TokenType.R_PAREN:
        index = anchors.opening(index)
        if anchors.kind(index - 1) in _NO_FUNCTION or not anchors.raw(index - 1).isidentifier():
            return index
        index -= 1
    while anchors.kind(index - 1) is TokenType.DOT:
        index -= 2
    return _operand(anchors, index - 2) if anchors.kind(index - 1) is TokenType.DCOLON else index
