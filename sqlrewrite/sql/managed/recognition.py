"""Finds the predicates that an earlier run wrote, by their marker and their form.

In: the tokens of a text. Out: each ``ManagedPredicate`` in it, with the value that it bounds. A
predicate with a marker that is in none of our forms was edited: it is the author's.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from sqlglot import TokenType

from sqlrewrite.settings.forms import FORMS
from sqlrewrite.sql.lex.keywords import CHANGES, NO_QUERY, QUOTED, token_types
from sqlrewrite.sql.managed.token_walk import NoFormError, Range, Walk, statement_openers
from sqlrewrite.text.edits import Span
from sqlrewrite.text.markers import MARKER, marker_behind, read_keys_note

QUERY_PLACEHOLDER = "(00.00)"
"""Stands for a key query when a clause is parsed again: short, and nothing that authors write."""

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


def managed_predicates(walk: Walk, in_dml: bool = False) -> Iterator[ManagedPredicate]:
    """The predicates right before a marker that have one of our forms, or are several such under
    an OR in parentheses. ``in_dml``: also those in the condition of a DELETE or UPDATE."""
    text, tokens = walk.text, walk.tokens
    at = text.find(MARKER)
    if at < 0:
        return
    starts, opener = [token.start for token in tokens], statement_openers(walk)
    ends: dict[int, int] = {}
    while at >= 0:
        last = bisect_right(starts, at) - 1
        predicate = _predicate_before(walk, last, at) if last >= 0 else None
        if predicate is not None and not _interrupted(walk, predicate.tokens, ends):
            ends[at] = (predicate.moved or predicate.span).end
            if _ours(walk, predicate, opener(predicate.word), in_dml):
                yield predicate
        at = text.find(MARKER, at + 1)


def marker_offsets(walk: Walk) -> Iterator[int]:
    """The offsets of the markers that are comments, and not parts of strings."""
    text, tokens = walk.text, walk.tokens
    starts = [token.start for token in tokens]
    at = text.find(MARKER)
    while at >= 0:
        before = bisect_right(starts, at) - 1
        quoted = before >= 0 and at <= tokens[before].end and walk.kind(before) in QUOTED
        if not quoted:
            yield at
        at = text.find(MARKER, at + 1)


def has_managed_predicate(walk: Walk, conjuncts: Container[Span], value: str) -> bool:
    """Whether one of the conjuncts of a condition is a managed predicate that bounds a value. It is
    one that a directive keeps: all others are blank."""
    return any(
        walk.span(managed.tokens) in conjuncts
        and bounded_value(walk, managed) == normalized_value(value)
        for managed in managed_predicates(walk)
    )


def bounded_value(walk: Walk, managed: ManagedPredicate) -> str:
    """The text of what a managed predicate bounds, in lower case, on one line."""
    return normalized_value(walk.span(managed.value).of(walk.text))


def normalized_value(value: str) -> str:
    """A value's text in lower case, on one line, no blank within its parentheses."""
    return _PADDING.sub("", " ".join(value.lower().split()))


def _predicate_before(walk: Walk, last: int, at: int) -> ManagedPredicate | None:
    """The managed predicate that a marker at an offset belongs to: it ends at the ``last`` token
    before the marker, or one earlier where a formatter moved the marker. None for none."""
    behind, end = last, at + len(MARKER)
    if not _adjoins(walk, last, at):
        return None
    if walk.raw(last).lower() in _PASSED:
        last -= 1
        if last < 0 or not _adjoins(walk, last, walk.tokens[behind].start):
            return None
    note, predicate = None, None
    comment = read_keys_note(walk.text, end)
    if comment is not None:
        when, query, end = comment
        predicate = _single(walk, last, True) or _disjunction(walk, last)
        note = (when, query) if predicate is not None else None
    predicate = predicate or _single(walk, last, False) or _disjunction(walk, last)
    predicate = predicate or _in_merge(walk, last)
    if predicate is None or marker_behind(walk.text, end) is not None:
        return None  # a second marker would be left, on what stands before
    tokens, moved = Range(predicate.first, last + 1), None
    span = Span(walk.tokens[predicate.first].start, end)
    if behind != last:
        span, moved = walk.span(tokens), Span(walk.tokens[behind].end + 1, end)
    return ManagedPredicate(tokens, predicate.word, predicate.value, span, at, note, moved)


def apart(walk: Walk, markers: Sequence[int]) -> Iterator[int]:
    """The offsets of the tokens before those markers that may have been separated from their
    predicate: by a formatter that moved them behind the clause, or by what an author wrote in
    between."""
    starts = [token.start for token in walk.tokens] if markers else []
    for at in markers:
        last = bisect_right(starts, at) - 1
        passed = last >= 0 and walk.raw(last).lower() in _PASSED
        if (passed and _adjoins(walk, last, at)) or _beside_ours(walk, last):
            yield starts[last]


def _beside_ours(walk: Walk, last: int) -> bool:
    """Whether a conjunct of the clause that a token is in, or closes, looks like ours."""
    for index in (last, last - 1):
        with suppress(NoFormError):
            first = _opening(walk, index) if walk.kind(index) is TokenType.R_PAREN else index
            pieces = walk.pieces(walk.enclosing(first).condition)
            if any(looks_written(walk, piece) for piece in pieces):
                return True
    return False


def _lists_its_own(walk: Walk, managed: ManagedPredicate) -> bool:
    """Whether the list of literals of a predicate stands nowhere else in the text. A list that we
    write without a note is a copy of one of the author's."""
    with suppress(NoFormError):
        last = managed.tokens.end - 1
        opening = _before_literals(walk, last) + 1
        literals = walk.span(Range(opening, last + 1)).of(walk.text)
        return not _opens_query(walk, opening) and walk.text.count(literals) == 1
    return False


def looks_written(walk: Walk, piece: Range) -> bool:
    """Whether a conjunct without a marker looks like ours with a key query: columns have an alias
    as qualifier, and ``AS`` defines it."""
    predicate = _single(walk, piece.end - 1, False)
    if predicate is None or predicate.first != piece.start:
        return False
    if marker_behind(walk.text, walk.tokens[piece.end - 1].end + 1) is not None:
        return False
    words = [walk.raw(index).lower() for index in range(predicate.word, piece.end)]
    if "select" not in words:
        return False
    called = {name for name, dot in pairwise(words) if dot == "."}
    return any(word == "as" and alias in called for word, alias in pairwise(words))


def _adjoins(walk: Walk, last: int, at: int) -> bool:
    """Whether only white space stands between a token and an offset behind it."""
    between = walk.text[walk.tokens[last].end + 1 : at]
    return not between or between.isspace()


def is_unmarked(walk: Walk, piece: Range, managed: ManagedPredicate) -> bool:
    """Whether a conjunct looks like ours without its marker. Then the marker behind ``managed`` may
    belong to the conjunct, and ``managed`` to the author: if the marker was moved, or stands
    behind a list of constants that the author may have written in between."""
    if managed.moved is None:
        if managed.note is not None or piece.end > managed.tokens.start:
            return False
        return _lists_its_own(walk, managed) and looks_written(walk, piece)
    last = piece.end - 1
    predicate = _single(walk, last, managed.note is not None) or _disjunction(walk, last)
    if predicate is None or predicate.first != piece.start:
        return False
    # A computed value is bounded by a key query alone.
    with suppress(NoFormError):
        if _opens_query(walk, _opening(walk, last)):
            return True
    return all(walk.kind(index) is not TokenType.L_PAREN for index in range(*predicate.value))


def _ours(walk: Walk, found: ManagedPredicate, opener: TokenType | None, in_dml: bool) -> bool:
    """Whether a predicate stands where a run may have written it: in a query, as literals in the ON
    of a MERGE, or, with ``in_dml``, in the condition of a DELETE or UPDATE."""
    if opener is None or walk.in_query(found.word):
        return opener is not None
    try:
        statement = walk.kind(walk.lead(found.word))
    except NoFormError:
        statement = opener
    if statement is TokenType.MERGE:
        return found.note is not None or _in_merge(walk, found.tokens.end - 1) is not None
    return in_dml if statement in CHANGES else opener not in NO_QUERY


def _interrupted(walk: Walk, tokens: Range, ours: Mapping[int, int]) -> bool:
    """Whether a semicolon or a comment of the author's stands inside a predicate, which was edited
    then. Markers of other managed predicates do not count: ``ours`` maps their starts to ends."""
    for one, other in pairwise(walk.tokens[tokens.start : tokens.end]):
        if one.token_type is TokenType.SEMICOLON:
            return True
        start = one.end + 1
        between = walk.text[start : other.start]
        comment = between.strip()
        start += between.find(comment)
        if comment and ours.get(start) != start + len(comment):
            return True
    return False


class _Found(NamedTuple):
    """A predicate: its first token, its sign or function, and the tokens of the value it bounds."""

    first: int
    word: int
    value: Range


def _single(walk: Walk, last: int, noted: bool) -> _Found | None:
    """The managed predicate that ends at a token and is no OR; ``noted``: one whose keys a note
    explains."""
    with suppress(NoFormError):
        function = _opening(walk, last) - 1
        named = function >= 0 and walk.raw(function).lower() in _functions(noted)
        if named and _opens_query(walk, function + 2):
            value = Range(walk.opening(function + 2) + 2, last)  # behind the query and a comma
            return _Found(function, function, value)
    return _comparison(walk, last, _comparisons(noted))


def _in_merge(walk: Walk, last: int) -> _Found | None:
    """The predicate of constants that ends at a token, in the ON of a MERGE."""
    with suppress(NoFormError):
        if walk.kind(walk.lead(last)) is TokenType.MERGE and not walk.in_query(last):
            return _comparison(walk, last, _comparisons(False, True))
    return None


def _comparison(
    walk: Walk, last: int, comparisons: Mapping[str, frozenset[TokenType]]
) -> _Found | None:
    """The predicate that ends at a token and compares a value as one of ``comparisons`` does."""
    for right, signs in comparisons.items():
        with suppress(NoFormError):
            word = _BEFORE[right](walk, last)
            if walk.kind(word) in signs:
                first = _first_of_value(walk, word)
                return _Found(first, word, Range(first, word))
    return None


@cache
def _functions(noted: bool) -> frozenset[str]:
    """The functions of the forms."""
    return frozenset(
        function for form in FORMS if form.noted == noted for function in form.functions
    )


@cache
def _comparisons(noted: bool, merges: bool = False) -> Mapping[str, frozenset[TokenType]]:
    """The right sides of the forms' comparisons, each with the signs that may stand before it."""
    by_text: dict[str, set[TokenType]] = {}
    for text in (
        comparison
        for form in FORMS
        if (form.noted, form.merges) == (noted, merges)
        for comparison in form.comparisons
    ):
        sign, _, right = text.partition(" ")
        by_text.setdefault(right, set()).add(_SIGNS[sign])
    return {right: frozenset(signs) for right, signs in by_text.items()}


def _first_of_value(walk: Walk, word: int) -> int:
    """The first token of the value before a sign. Raises NoFormError where there is none."""
    index = _operand(walk, word - 1)
    while walk.kind(index - 1) in _ARITHMETIC:
        alone = walk.kind(index - 2) in _NO_FUNCTION  # a sign, and no operator
        index = index - 1 if alone else _operand(walk, index - 2)
    if index <= 0:
        raise NoFormError("no value before a sign")
    return index


def _opening(walk: Walk, last: int) -> int:
    """The index of the `(` that the `)` at ``last`` closes. Raises NoFormError."""
    if walk.kind(last) is not TokenType.R_PAREN:
        raise NoFormError("no parenthesis closes there")
    return walk.opening(last)


def _before_query(walk: Walk, last: int) -> int:
    """The word before a key query that ends at a token."""
    opening = _opening(walk, last)
    if not _opens_query(walk, opening):
        raise NoFormError("no key query")
    return opening - 1


def _before_list(walk: Walk, last: int) -> int:
    """The word before the parentheses that end at a token."""
    return _opening(walk, last) - 1


def _before_call(walk: Walk, last: int) -> int:
    """The word before a call that ends at a token."""
    opening = _opening(walk, last)
    if _opens_query(walk, opening) or not walk.raw(opening - 1).isidentifier():
        raise NoFormError("no call")
    return opening - 2


def _before_literals(walk: Walk, last: int) -> int:
    """The word before the literals in parentheses that end at a token."""
    opening, index = _opening(walk, last), last
    while index > opening:
        index = _before_literal(walk, index - 1)
        if walk.kind(index) is not TokenType.COMMA and index != opening:
            raise NoFormError("no list of literals")
    return opening - 1


def _before_literal(walk: Walk, last: int) -> int:
    """The word before a literal, ``-1`` or ``DATE '…'``, that ends at a token."""
    kind, before = walk.kind(last), walk.kind(last - 1)
    if kind is TokenType.NUMBER:
        return last - 1 - (before is TokenType.DASH)
    if kind is TokenType.STRING:
        return last - 1 - (before is TokenType.DATE)
    raise NoFormError("no literal")


def _before_constant(walk: Walk, last: int) -> int:
    """The word before a constant that ends at a token: a literal, a parameter or template, a call,
    or anything but a query in parentheses."""
    if walk.kind(last) is TokenType.R_PAREN:
        opening = walk.opening(last)
        if _opens_query(walk, opening):
            raise NoFormError("a query is no constant")
        called = walk.raw(opening - 1).isidentifier() and walk.kind(opening - 1) not in _NO_FUNCTION
        return opening - 1 - called
    if walk.kind(last - 1) is TokenType.COLON:
        return last - 2
    if walk.kind(last) is TokenType.STRING and walk.kind(last - 1) is TokenType.TIMESTAMPTZ:
        return last - 2
    return _before_literal(walk, last)


def _before_both(walk: Walk, last: int) -> int:
    """The word before two literals with an AND between."""
    word = _before_literal(walk, last)
    if walk.kind(word) is not TokenType.AND:
        raise NoFormError("no AND")
    return _before_literal(walk, word - 1)


_BEFORE: Mapping[str, Callable[[Walk, int], int]] = {
    "query": _before_query,
    "call": _before_call,
    "list": _before_list,
    "literals": _before_literals,
    "literal": _before_literal,
    "constant": _before_constant,
    "literal AND literal": _before_both,
}
"""For each kind of right side: a function from its last token to the token before it. Raises
NoFormError where something else ends there."""


def _disjunction(walk: Walk, last: int) -> _Found | None:
    """The managed predicate that ends at a token and is several under an OR in parentheses. Its
    value is that of the first, its word the opening parenthesis."""
    with suppress(NoFormError):
        opening = _opening(walk, last)
        if walk.kind(opening - 1) in (TokenType.AND, TokenType.WHERE, TokenType.ON):
            value = _value_of_disjuncts(walk, walk.disjuncts(Range(opening, last + 1)))
            return None if value is None else _Found(opening, opening, value)
    return None


def _value_of_disjuncts(walk: Walk, parts: Sequence[Range]) -> Range | None:
    """The value of the first of two or more parts; None if one of them is in no form of ours."""
    values = [_value_of_disjunct(walk, part) for part in parts]
    return values[0] if len(values) > 1 and all(values) else None


def _value_of_disjunct(walk: Walk, part: Range) -> Range | None:
    """The value of a part of an OR: a predicate in one of our forms, ``value IS NULL``, or one step
    of a comparison of several columns. None for anything else."""
    last = part.end - 1
    if walk.kind(last) is TokenType.NULL and walk.kind(last - 1) is TokenType.IS:
        whole = _operand(walk, last - 2) == part.start
        return Range(part.start, last - 1) if whole else None
    for noted in (False, True):
        predicate = _single(walk, last, noted)
        if predicate is not None and predicate.first == part.start:
            return predicate.value
    if walk.kind(last) is not TokenType.R_PAREN or walk.opening(last) != part.start:
        return None
    inner = Range(part.start + 1, last)
    pieces = walk.pieces(inner)
    return _value_of_disjuncts(walk, pieces if len(pieces) > 1 else walk.disjuncts(inner))


def _opens_query(walk: Walk, index: int) -> bool:
    """Whether a key query, or its placeholder, begins at a parenthesis."""
    if walk.kind(index) is not TokenType.L_PAREN:
        return False
    return (
        walk.kind(index + 1) is TokenType.SELECT or walk.raw(index + 1) == QUERY_PLACEHOLDER[1:-1]
    )


def _operand(walk: Walk, index: int) -> int:
    """The first token of the operand that ends at a token: a name with its qualifiers, a literal, a
    call or a list in parentheses, with its ``::`` casts."""
    if walk.kind(index) is TokenType.R_PAREN:
        index = walk.opening(index)
        if walk.kind(index - 1) in _NO_FUNCTION or not walk.raw(index - 1).isidentifier():
            return index
        index -= 1
    while walk.kind(index - 1) is TokenType.DOT:
        index -= 2
    return _operand(walk, index - 2) if walk.kind(index - 1) is TokenType.DCOLON else index
