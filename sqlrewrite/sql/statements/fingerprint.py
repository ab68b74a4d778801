"""The shape of a text: its words, without layout and the values of literals.

Two texts of one shape get the same decision, except for the literals in the predicates. So a
literal is left out only where its value cannot matter (alone beside a comparison of a WHERE, in an
IN list, beside LIKE), and stands for others of its kind only: an INT that is not 0, a decimal with
as many digits, a valid date, a word. A value that is repeated elsewhere stays; and a text with an
unusual lexeme or a comment for dpp-rewrite is its own shape.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise

from sqlrewrite.plan.facts.constants import cast_fits
from sqlrewrite.plan.facts.types import DATE, TIMESTAMP
from sqlrewrite.sql.lex.lexemes import Lexeme, LexemeKind, lexemes

_LARGE = 1 << 20

_USUAL = re.compile(
    r"""
    [A-Za-z_]\w*+ | '[^'\\]*+(?:\\.[^'\\]*+)*+' | [0-9]++(?:\.[0-9]++)?+ | `[^`]++`
    | /\*\+ | \*/ | <=> | [<>!=]= | <> | \|\| | :: | [(),;+%*/.=<>-]
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_GOES_ON = re.compile(r"--[^\r\n]*\\")
"""A comment that may go on in the next line."""
_LITERALS = frozenset("'0123456789")
_COMPARISONS = frozenset("= == <> != < <= > >= <=> like".split())
_BEFORE_SIGN = _COMPARISONS | {"between"}
_AFTER = frozenset(
    "and or ) , ; then when else end group order having limit union intersect except minus"
    " join left right inner full cross semi anti natural where window qualify lateral sort"
    " cluster distribute".split()
)
_TYPES = {"date": DATE, "timestamp": TIMESTAMP}
_WORD = re.compile(r"[A-Za-z][A-Za-z_ %&-]*")
# Words that are a value of some type that is no string.
_VALUES = frozenset(
    "true false t f yes y no n nan inf infinity null epoch now today tomorrow yesterday".split()
)
_INT_DIGITS = 9
"""The most digits with which a number is surely an INT."""


def shape(text: str) -> str:
    """The shape of a text. Raises nothing."""
    every = [] if len(text) > _LARGE or "dpp-rewrite" in text.lower() else lexemes(text)
    if not _are_usual(text, every):
        return f"as written: {text.strip()}"
    tokens = [text[start:end] for _, start, end in every]
    literals = [at for at, token in enumerate(tokens) if token[0] in _LITERALS]
    folded = dict(_folded(tokens, literals))
    if folded:
        _without_values(tokens, literals, folded)
    while tokens and tokens[-1] == ";":
        tokens.pop()
    shape = " ".join(tokens)
    if "'" not in shape:
        return shape.lower()
    return " ".join([token if token[0] == "'" else token.lower() for token in tokens])


def _are_usual(text: str, every: Sequence[Lexeme]) -> bool:
    """Whether all lexemes are of usual kinds, so that nothing else decides the meaning of a
    text."""
    if not every or _GOES_ON.search(text):
        return False
    if any(_is_prefixed(text, *both) for both in pairwise(every)):
        return False
    return all(_USUAL.fullmatch(text, start, end) for _, start, end in every)


def _is_prefixed(text: str, word: Lexeme, string: Lexeme) -> bool:
    """Whether a word is the prefix of a string, as the ``x`` of ``x'1F'``."""
    return word[0] == LexemeKind.NAME and word[2] == string[1] and text[string[1]] == "'"


def fingerprint(shape: str) -> str:
    """A shape as 32 hexadecimal digits."""
    return blake2b(shape.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _folded(tokens: Sequence[str], literals: Sequence[int]) -> Iterator[tuple[int, str]]:
    """The kinds of the literals whose values cannot change a decision, by their index."""
    count = len(tokens)
    for at in literals:
        token = tokens[at]
        kind = _kind(token)
        if not kind:
            continue
        start = at - 1
        before = tokens[start].lower() if at else ""
        if before in _TYPES:
            if not cast_fits(token[1:-1], _TYPES[before]):
                continue
            start, before = start - 1, tokens[start - 1].lower() if start else ""
        if before == "-" and start and tokens[start - 1].lower() in _BEFORE_SIGN:
            start, before = start - 1, tokens[start - 1].lower()
        after = tokens[at + 1].lower() if at + 1 < count else ")"
        if before in _COMPARISONS:
            fold = after in _AFTER
        elif before == "between":
            fold = after == "and"
        elif before == "and":
            fold = after in _AFTER and _ends_between(tokens, start)
        else:
            fold = before in ("(", ",") and after in (")", ",") and _in_list(tokens, start)
        if fold:
            yield at, kind


@lru_cache(1 << 16)
def _kind(token: str) -> str:
    """The kind of a literal whose value cannot change a decision; empty if it may."""
    if token[0] != "'":
        usual = len(token) <= _INT_DIGITS and token[0] != "0"
        whole, point, part = token.partition(".")
        return (f"n{len(whole)}.{len(part)}" if point else "n") if usual else ""
    value = token[1:-1]
    if cast_fits(value, TIMESTAMP):
        return "d" if cast_fits(value, DATE) else "t"
    if _WORD.fullmatch(value) and value.strip().lower() not in _VALUES:
        return "w"
    return ""


def _ends_between(tokens: Sequence[str], and_: int) -> bool:
    """Whether an AND is that of ``BETWEEN literal AND``."""
    at = and_ - 2
    if at > 0 and tokens[at].lower() in _TYPES:
        at -= 1
    return at > 0 and tokens[at].lower() == "between"


def _in_list(tokens: Sequence[str], at: int) -> bool:
    """Whether the comma or parenthesis before a literal belongs to a list of literals behind IN."""
    while tokens[at] == "," and at > 2 and tokens[at - 1][0] in _LITERALS:
        at -= 1
        if tokens[at - 1].lower() in _TYPES:
            at -= 1
        at -= 1
    return tokens[at] == "(" and at > 0 and tokens[at - 1].lower() == "in"


def _without_values(tokens: list[str], literals: Sequence[int], folded: Mapping[int, str]) -> None:
    """Replaces each folded literal by a placeholder, the same for equal values, and a whole IN list
    of one kind by a single one. A value that is kept in one place is kept in all places; the number
    in a LIMIT or OFFSET does not count, since no decision compares a value with it."""
    starts = [at for at in folded if tokens[at - 1] == "("]
    lists = {at: end for at in starts if (end := _list_end(tokens, at, folded)) > at}
    rows = {at for at in literals if at and tokens[at - 1].lower() in ("limit", "offset")}
    kept = {tokens[at] for at in literals if at not in folded and at not in rows}
    if lists:
        listed = {at for start, end in lists.items() for at in range(start, end)}
        inner = Counter(token for at, end in lists.items() for token in set(tokens[at:end:2]))
        outside = {tokens[at] for at in literals if at not in listed and at not in rows}
        kept |= {token for token, count in inner.items() if count > 1 or token in outside}
        whole = {at: end for at, end in lists.items() if kept.isdisjoint(tokens[at:end:2])}
    else:
        whole = {}
    gone = {at for start, end in whole.items() for at in range(start, end)}
    values: dict[str, str] = {}
    for at, kind in folded.items():
        if at not in gone and tokens[at] not in kept:
            tokens[at] = values.setdefault(tokens[at], f"?{kind}{len(values)}")
    for start in sorted(whole, reverse=True):
        tokens[start : whole[start]] = [f"?{folded[start]}*"]


def _list_end(tokens: Sequence[str], start: int, folded: Mapping[int, str]) -> int:
    """The end of an IN list of literals of one kind that begins here, or 0."""
    if tokens[start - 1] != "(" or tokens[start - 2].lower() != "in":
        return 0
    at = start
    while folded.get(at) == folded[start] and tokens[at + 1] == ",":
        at += 2
    return at + 1 if folded.get(at) == folded[start] and tokens[at + 1] == ")" else 0
