"""Literal arguments with which a function cannot raise an error that otherwise can: the checks that
the table of functions names behind ``raises``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from sqlrewrite.plan.algebra import Call, Expression, Literal
from sqlrewrite.plan.expressions import walk

_DIGITS = 9
"""So many digits in all of the numbers of a sum or product never overflow an INT."""

Args = tuple[Expression, ...]

_LETTERS = re.compile(
    r"(?!.*(?:y{5}|M{3}|d{3}|H{3}|m{3}|s{3}))(?:y{4}|M{1,2}|d{1,2}|H{1,2}|m{1,2}|s{1,2}|[-/:., ])+"
)
# Of a regular expression in Java: plain characters, classes, groups that are not repeated (which
# would take the stack of a long text), and what repeats one character.
_CLASS = r"\[\^?(?:[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|[\w .,:;/@#|=!~<>'\"])+-?\]"
_ATOM = rf"(?:[\w ,:;/@#%&=!~<>'\"-]|\.|{_CLASS})(?:[*+?]|\{{\d{{1,2}}\}})?"
_ANCHOR = r"\^|\$|\|"
_EXPRESSION = re.compile(rf"(?:{_ATOM}|{_ANCHOR}|\((?:\?:)?(?:{_ATOM}|{_ANCHOR})*\)\??)*")
_RANGE = re.compile(r"([a-zA-Z0-9])-([a-zA-Z0-9])")
_GROUP = re.compile(r"\((?!\?)")
_WEEKDAYS = frozenset(
    "mo mon monday tu tue tuesday we wed wednesday th thu thursday fr fri friday sa sat saturday"
    " su sun sunday".split()
)


def _pattern(args: Args) -> bool:
    """A pattern of plain fields of a date or time, behind the value."""
    return any(
        isinstance(arg, Literal) and arg.kind == "string" and _LETTERS.fullmatch(arg.text)
        for arg in args[1:]
    )


def _expression(args: Args) -> bool:
    """A regular expression of plain characters, classes, groups and anchors."""
    return all(isinstance(it, Literal) and it.kind == "string" and _reads(it) for it in args[1:2])


def _reads(pattern: Literal) -> bool:
    ordered = all(low <= high for low, high in _RANGE.findall(pattern.text))
    return ordered and _EXPRESSION.fullmatch(pattern.text) is not None


def _groups(args: Args) -> bool:
    """Such an expression that has the group that is asked for, by default the first."""
    pattern, *which = args[1:3]
    if not _expression(args) or not isinstance(pattern, Literal):
        return False
    asked = which[0] if which else Literal("number", "1")
    count = len(_GROUP.findall(re.sub(r"\[.*?\]", "", pattern.text)))
    return isinstance(asked, Literal) and asked.text.isdigit() and int(asked.text) <= count


def _replacement(args: Args) -> bool:
    """Such an expression, and what is put in its place without a reference to a group."""
    put = args[2]
    plain = isinstance(put, Literal) and put.kind == "string" and not re.search(r"[$\\]", put.text)
    return plain and len(args) == 3 and _expression(args)


def _weekday(args: Args) -> bool:
    """A day of the week."""
    return all(isinstance(it, Literal) and it.text.lower() in _WEEKDAYS for it in args[1:])


def _nonzero(args: Args) -> bool:
    """A number other than 0 as the last argument."""
    last = args[-1]
    if not isinstance(last, Literal) or last.kind != "number":
        return False
    return last.text.removeprefix("-").isdigit() and int(last.text) != 0


def _unescaped(args: Args) -> bool:
    """LIKE patterns without a backslash, after which not every character may stand."""
    patterns = [it for arg in args[1:] for it in _listed(arg)]
    read = [it.text for it in patterns if isinstance(it, Literal) and "\\" not in it.text]
    return len(args) == 2 and len(read) == len(patterns)  # no other character escapes


def _listed(pattern: Expression) -> Args:
    """The patterns of LIKE ANY and LIKE ALL, or the one of LIKE."""
    return pattern.args if isinstance(pattern, Call) and pattern.name == "tuple" else (pattern,)


def _small(args: Args) -> bool:
    """Constants of so few digits that no sum or product of them overflows."""
    nodes = [node for arg in args for node in walk(arg)]
    digits = sum(len(it.text) for it in nodes if isinstance(it, Literal) and it.kind == "number")
    return digits <= _DIGITS and all(
        isinstance(it, Literal) or (isinstance(it, Call) and it.name in ("+", "-", "*"))
        for it in nodes
    )


def _divisor(args: Args) -> bool:
    """A literal divisor that is neither zero nor minus one, of a literal."""
    return _small(args) and all(
        isinstance(arg, Literal) and arg.text.strip("0.") not in ("", "-1") for arg in args[1:]
    )


def _literal_rest(args: Args) -> bool:
    """Small numbers and texts behind the first argument."""
    return all(isinstance(arg, Literal) and len(arg.text) < _DIGITS for arg in args[1:])


def _scale(args: Args) -> bool:
    """Digits behind the point that are kept, if any: then nothing is rounded up beyond its type."""
    return all(isinstance(arg, Literal) and arg.text.isdigit() for arg in args[1:])


CHECKS: Mapping[str, Callable[[Args], bool]] = {
    "pattern": _pattern,
    "expression": _expression,
    "unescaped": _unescaped,
    "small": _small,
    "divisor": _divisor,
    "literals": _literal_rest,
    "scale": _scale,
    "groups": _groups,
    "replacement": _replacement,
    "weekday": _weekday,
    "nonzero": _nonzero,
}
"""What the table of functions names behind ``raises``: of literal arguments with which there is no
error."""
