"""Constants: their types, whether they can be cast without an error, and the checks on literal
arguments by which a call raises no error.

The table of functions names a check behind ``raises`` where a function may raise an error. Each
check takes the arguments of a call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from itertools import chain, islice

from sqlrewrite.plan.algebra import Call, Cast, Expression, Literal
from sqlrewrite.plan.expressions import walk
from sqlrewrite.plan.facts import types
from sqlrewrite.plan.facts.coercion import is_decimal, is_integral
from sqlrewrite.plan.facts.functions import part_range, tagged, zones
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.plan.facts.types import DATE, TIMESTAMP, Type

_NUMBER = re.compile(r"-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
_DATE = (
    r"[12]\d{3}-((0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)"
)
_DAY = re.compile(_DATE, re.ASCII)
_MOMENT = re.compile(_DATE + r"( ([01]\d|2[0-3])(:[0-5]\d){2}(\.\d{1,6})?)?", re.ASCII)


@lru_cache(1024)
def number_type(text: str) -> Type | None:
    """The type of a number without a suffix (``AstBuilder.visitIntegerLiteral`` etc.); None if the
    text is no number."""
    if not _NUMBER.fullmatch(text):
        return None
    if "e" in text.lower():
        return types.DOUBLE
    if "." in text:
        return _exactly(text)
    value = int(text)
    kind = next((kind for kind in (types.INT, types.BIGINT) if _holds(value, kind)), None)
    return _exactly(text) if kind is None else kind


def row_count(text: str) -> int:
    """The number of rows that a literal of at most nine digits gives; 0 for any other text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def cast_fits(text: str, kind: Type) -> bool:
    """Whether a cast of a text to a type certainly raises no error: it is in the plainest form."""
    number = _NUMBER.fullmatch(text.strip()) is not None
    if is_integral(kind):
        return number and text.strip().lstrip("-").isdigit() and _holds(int(text), kind)
    if is_decimal(kind):
        precision, scale = kind.numbers
        return number and abs(Decimal(text)) < 10 ** (precision - scale) - 1
    if kind in types.FLOATING:
        return number
    if kind == types.BOOLEAN:
        return text.lower() in ("true", "false", "0", "1")
    if kind == types.DATE:
        return _DAY.fullmatch(text) is not None
    if kind in (types.TIMESTAMP, types.TIMESTAMP_NTZ):
        return _MOMENT.fullmatch(text) is not None
    return kind.name in ("string", "varchar", "char")


def _holds(value: int, kind: Type) -> bool:
    least, most = types.ends_of(kind)
    return least <= value <= most


def _exactly(text: str) -> Type | None:
    """The decimal type with exactly the digits of the number."""
    _, digits, exponent = Decimal(text).as_tuple()
    assert isinstance(exponent, int)
    scale = max(0, -exponent)
    precision = max(len(digits), scale)
    return types.decimal(precision, scale) if precision <= types.MAX_PRECISION else None


_DIGITS = 9
"""Sums and products of numbers with at most so many digits in all never overflow an INT."""

_FEW = 4
_NODES = 12
"""With at most this many numbers of so few digits, a date moves by less than 200,000 years."""
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d:\d\d(\.\d{1,6})?)?", re.ASCII)
_UNITS = frozenset("year yyyy yy quarter q month mon mm week day dd hour minute second".split())
FORMATS = {"yyyy-MM-dd": "%Y-%m-%d", "yyyyMMdd": "%Y%m%d", "yyyy/MM/dd": "%Y/%m/%d"}

Args = tuple[Expression, ...]

_LETTERS = re.compile(
    r"(?!.*(?:y{5}|M{3}|d{3}|H{3}|m{3}|s{3}))(?:y{4}|M{1,2}|d{1,2}|H{1,2}|m{1,2}|s{1,2}|[-/:., ])+"
)
# Patterns that are valid for reading a text, too.
_READ = re.compile(
    r"(?!.*(?:y{7}|M{5}|d{3}|D{2}|[Hh]{3}|m{3}|s{3}|S{10}|aa))"
    r"(?:y+|M{1,4}|d{1,2}|D|[Hh]{1,2}|m{1,2}|s{1,2}|S{1,9}|a|[-/:., ]|'[^']+')+"
)
# Regular expressions of Java: plain characters, classes, repeated characters, and groups that are
# not repeated (a repeated group may overflow the stack on a long text). A class such as \d has one
# or two backslashes here; a setting of the session decides how many Java sees. With none, one or
# two the expression is valid, and has the same number of groups.
_ESCAPED = r"\\{1,2}[dDsSwW.]"
_CLASS = rf"\[\^?(?:[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|{_ESCAPED}|[\w .,:;/@#|=!~<>'\"])+-?\]"
_ATOM = rf"(?:[\w ,:;/@#%&=!~<>'\"-]|\.|{_ESCAPED}|{_CLASS})(?:[*+?]|\{{\d{{1,2}}\}})?"
_ANCHOR = r"\^|\$|\|"
_EXPRESSION = re.compile(rf"(?:{_ATOM}|{_ANCHOR}|\((?:\?:)?(?:{_ATOM}|{_ANCHOR})*\)\??)*")
_RANGE = re.compile(r"([a-zA-Z0-9])-([a-zA-Z0-9])")
_GROUP = re.compile(r"\((?!\?)")
_PLAIN = "(?i:STRING|INT|BIGINT|SMALLINT|DOUBLE|BOOLEAN|DATE|TIMESTAMP|ARRAY<(?:STRING|INT)>)"
_NESTED = rf"(?i:STRUCT)<\w+: ?{_PLAIN}(?:, ?\w+: ?{_PLAIN})*>"
_COLUMN = rf"\w+ (?:{_PLAIN}|{_NESTED})"
_COLUMNS = re.compile(rf"{_COLUMN}(?:, ?{_COLUMN})*")
_WEEKDAYS = frozenset(
    "mo mon monday tu tue tuesday we wed wednesday th thu thursday fr fri friday sa sat saturday"
    " su sun sunday".split()
)


def _pattern(args: Args) -> bool:
    """Whether there is no pattern after the value, or one of plain fields of a date or time."""
    return len(args) == 1 or any(
        isinstance(arg, Literal) and arg.kind == "string" and _LETTERS.fullmatch(arg.text)
        for arg in args[1:]
    )


def reads_moments(pattern: Expression) -> bool:
    """Whether a pattern is certainly valid for reading dates or times; an invalid one raises an
    error even in a try function."""
    return (
        isinstance(pattern, Literal)
        and pattern.kind == "string"
        and _READ.fullmatch(pattern.text) is not None
    )


def _expression(args: Args) -> bool:
    """Whether the regular expression has only plain characters, classes, groups and anchors."""
    return all(
        isinstance(arg, Literal) and arg.kind == "string" and _reads(arg) for arg in args[1:2]
    )


def _reads(pattern: Literal) -> bool:
    ordered = all(low <= high for low, high in _RANGE.findall(pattern.text))
    return ordered and _EXPRESSION.fullmatch(pattern.text) is not None


def _groups(args: Args) -> bool:
    """Whether the regular expression is plain, and has the group that the call asks for, by default
    the first."""
    pattern, *which = args[1:3]
    if not _expression(args) or not isinstance(pattern, Literal):
        return False
    group = which[0] if which else Literal("number", "1")
    count = len(_GROUP.findall(re.sub(r"\[.*?\]", "", pattern.text)))
    return isinstance(group, Literal) and group.text.isdigit() and int(group.text) <= count


def _replacement(args: Args) -> bool:
    """Whether the regular expression is plain, and the replacement refers to no group."""
    put = args[2]
    plain = isinstance(put, Literal) and put.kind == "string" and not re.search(r"[$\\]", put.text)
    return plain and len(args) == 3 and _expression(args)


def _nonzero(args: Args) -> bool:
    """Whether the last argument is a whole number other than 0."""
    last = args[-1]
    if not isinstance(last, Literal) or last.kind != "number":
        return False
    return last.text.removeprefix("-").isdigit() and int(last.text) != 0


def _unescaped(args: Args) -> bool:
    """Whether LIKE patterns have no backslash, or their ESCAPE only before ``_``, ``%`` and
    itself."""
    patterns = [like.text for like in _listed(args[1]) if isinstance(like, Literal)]
    if len(patterns) < len(_listed(args[1])):
        return False
    if len(args) == 2:
        return all("\\" not in pattern for pattern in patterns)
    if not isinstance(args[2], Literal) or len(args[2].text) != 1:
        return False
    sign = re.escape(args[2].text)
    plain = re.compile(f"(?:[^{sign}]|{sign}[{sign}_%])*", re.DOTALL)
    return all(map(plain.fullmatch, patterns))


def _listed(pattern: Expression) -> Args:
    """The patterns of LIKE ANY and LIKE ALL, or the one of LIKE."""
    return pattern.args if isinstance(pattern, Call) and pattern.name == "tuple" else (pattern,)


def is_instant(text: str) -> bool:
    """Whether a text is a date or time that every cast can read."""
    try:
        datetime.fromisoformat(text) if len(text) > 10 else date.fromisoformat(text)
    except ValueError:
        return False
    return _INSTANT.fullmatch(text) is not None


def _small(args: Args) -> bool:
    """Whether arguments are numbers so small that no sum or product overflows, or constants that
    stay in range."""
    digits, numbers = 0, True
    for count, node in enumerate(chain.from_iterable(map(walk, args))):
        if isinstance(node, Literal):
            digits += len(node.text)
            numbers = numbers and node.kind in ("number", "null")
        else:
            numbers = numbers and isinstance(node, Call) and node.name in ("+", "-", "*")
        if count >= _NODES and (digits > _DIGITS or not numbers):
            return False  # too many to stay in range; a short walk, as each operand is asked too
    return digits <= _DIGITS if numbers else stays_in_range(args)


def stays_in_range(args: Args) -> bool:
    """Whether arguments are dates, the current time, and small amounts, whose sums stay in the
    range of their type."""
    nodes = [*islice(chain.from_iterable(map(walk, args)), _NODES + 1)]
    return len(nodes) <= _NODES and all(map(_in_range, nodes))


def _in_range(node: Expression) -> bool:
    match node:
        case Literal(kind="number", text=text):
            return len(text.lstrip("-")) <= _FEW
        case Literal(kind="typed", text=text, type=kind) if parse(kind) in (DATE, TIMESTAMP):
            return is_instant(text)
        case Literal(kind="typed", text=text, type=kind) if kind.startswith("interval"):
            return all(len(number) <= _FEW for number in re.findall(r"\d+", text))
        case Literal(kind="string", text=text):
            return is_instant(text) or text.lower() in _UNITS  # date_trunc('MONTH', …)
        case Call(name=name):
            near = name in tagged("clock") or name in tagged("near")
            return near or part_range(name) is not None
        case Cast(type=kind):
            return parse(kind) in (DATE, TIMESTAMP)
        case _:
            return False


def _day(args: Args) -> bool:
    """Whether the arguments are literals of a valid date or time: ``to_date('2024-01-01')``,
    ``make_date(2024, 1, 1)``."""
    texts = [arg.text for arg in args if isinstance(arg, Literal)]
    try:
        match texts if len(texts) == len(args) else []:
            case [text]:
                return is_instant(text)
            case [text, pattern]:
                form = FORMATS[pattern]
                return datetime.strptime(text, form).strftime(form) == text
            case [_, _, _]:
                return date(*map(int, texts)) is not None
            case [_, _, _, _, _, _]:
                return datetime(*map(int, texts)) is not None  # type: ignore[arg-type]
            case _:
                return False
    except (ValueError, KeyError):
        return False


def _divisor(args: Args) -> bool:
    """Whether the arguments are small, and the divisor is a literal other than 0 and -1."""
    return _small(args) and all(
        isinstance(arg, Literal) and arg.text.strip("0.") not in ("", "-1") for arg in args[1:]
    )


def _behind(test: Callable[[str], bool]) -> Callable[[Args], bool]:
    """A check that all arguments after the first are literals whose texts pass a test."""
    return lambda args: all(isinstance(arg, Literal) and test(arg.text) for arg in args[1:])


def _text_of(arg: Expression) -> str:
    """The text of a literal, empty for any other expression."""
    return arg.text if isinstance(arg, Literal) else ""


def _position(args: Args) -> bool:
    """Whether a position in an array is a number of few digits and not 0, which is an error; a
    negative one counts from the end."""
    place = _text_of(args[1]).removeprefix("-")
    return place.isdigit() and 0 < len(place.lstrip("0")) <= _FEW


def _slice(args: Args) -> bool:
    """Whether the start is a number other than 0, and the length a number that is not negative."""
    start, length = map(_text_of, args[1:])
    return start.removeprefix("-").strip("0").isdigit() and length.isdigit()


def _choice(args: Args) -> bool:
    """Whether the first argument is the number of one of the others."""
    first = _text_of(args[0])
    return first.isdigit() and 0 < int(first) < len(args)


def _schema(args: Args) -> bool:
    """Whether the schema is a literal with columns of plain types, and there are no options."""
    text = _text_of(args[1])
    return len(args) == 2 and _COLUMNS.fullmatch(text) is not None and "_corrupt" not in text


def _steps(args: Args) -> bool:
    """Whether a sequence has only a few numbers, or the days or months between two literal
    dates."""
    ends = [arg.text for arg in args[:2] if isinstance(arg, Literal)]
    step = args[2] if len(args) > 2 else None
    if len(ends) < 2 or not (step is None or isinstance(step, Literal)):
        return False
    if all(len(end) <= _FEW and end.isdigit() for end in ends):
        plain = step is None or (step.text.isdigit() and len(step.text) <= _FEW)
        return plain and (step is None or (int(step.text) > 0 and int(ends[0]) <= int(ends[1])))
    units = ("interval day", "interval month")
    named = step is None or (step.type in units and step.text.isdigit() and int(step.text) > 0)
    return named and all(map(is_instant, ends)) and ends[0] <= ends[1]


def _zones(args: Args) -> bool:
    """Whether all arguments but one are known names of time zones."""
    others = [arg for arg in args if not (isinstance(arg, Literal) and arg.text in zones())]
    return len(others) == 1


CHECKS: Mapping[str, Callable[[Args], bool]] = {
    "pattern": _pattern,
    "expression": _expression,
    "unescaped": _unescaped,
    "small": _small,
    "day": _day,
    "divisor": _divisor,
    "literals": _behind(lambda text: len(text) < _DIGITS),
    # keeps digits behind the point, so nothing is rounded up beyond its type
    "scale": _behind(str.isdigit),
    "groups": _groups,
    "replacement": _replacement,
    "weekday": _behind(lambda text: text.lower() in _WEEKDAYS),
    "nonzero": _nonzero,
    "utf8": _behind(lambda text: text.lower() == "utf-8"),
    "slice": _slice,
    "chosen": _choice,
    # a unit that dates have, too: Trino takes no hours of a date
    "unit": lambda args: _text_of(args[0]).lower() in ("day", "week", "month", "quarter", "year"),
    "schema": _schema,
    "steps": _steps,
    "bit": lambda args: _text_of(args[1]) in {*"01234567"},  # the bits of the narrowest integer
    "inserted": _position,
    "zones": _zones,
    "marks": _behind(lambda text: re.fullmatch(r"[ ,;:=&#/_-]", text) is not None),
    "alone": lambda args: len(args) == 1,
}
"""The checks named by ``unless`` in the table of functions."""
