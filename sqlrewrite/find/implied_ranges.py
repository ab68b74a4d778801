"""What a condition on a column implies for columns that are computed from it.

``day_range``: the days that a condition on a date or time allows, from literals of the years 1000
to 9998; a day too many at an end does no harm. ``prefix_bounds``: the comparisons that follow from
a prefix of a string (docs/soundness.md, "Derived partition columns").
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta

from sqlrewrite.copies import replace
from sqlrewrite.find.derived_columns import DerivedColumn, column_of_day
from sqlrewrite.find.join_edges import FLIPPED
from sqlrewrite.plan.algebra import Call, ColumnRef, Expression, Literal
from sqlrewrite.plan.facts.constants import is_instant
from sqlrewrite.plan.facts.derivations import unit
from sqlrewrite.plan.facts.functions import tagged
from sqlrewrite.plan.facts.types import DATE, TIMESTAMP, Type

DayRange = tuple[date | None, date | None]

_UNITS = {
    **dict.fromkeys(("year", "yyyy", "yy"), "year"),
    **dict.fromkeys(("month", "mon", "mm"), "month"),
    **dict.fromkeys(("day", "dd", "hour", "minute", "second"), "day"),
    "week": "week",
    "quarter": "quarter",
}
_FORMATS = {
    "yyyy": r"(\d{4})",
    "yyyyMM": r"(\d{4})(\d\d)",
    "yyyy-MM": r"(\d{4})-(\d\d)",
    "yyyyMMdd": r"(\d{4})(\d\d)(\d\d)",
    "yyyy-MM-dd": r"(\d{4})-(\d\d)-(\d\d)",
}
_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_FIELDS = ("year", "month", "day")


def day_range(condition: Expression, column: str, *, kind: Type) -> DayRange | None:
    """The days for which a condition on a column of the type ``kind`` may hold; None if unknown."""
    match condition:
        case Call(name="and", args=args):
            return _intersection(day_range(arg, column, kind=kind) for arg in args)
        case Call(name="or", args=args):
            return _union(day_range(arg, column, kind=kind) for arg in args)
        case Call(name="in", args=(side, *constants)):
            return _union(
                _allowed_days("=", side, constant, column, kind=kind) for constant in constants
            )
        case Call(name="between", args=(side, low, high)):
            ends = (("<=", high), (">=", low))
            return _intersection(
                _allowed_days(operator, side, end, column, kind=kind) for operator, end in ends
            )
        case Call(name="not", args=(Call() as inner,)):
            opposite = _negation(inner)
            return None if opposite is None else day_range(opposite, column, kind=kind)
        case Call(name="<=>", args=args):  # only a comparison with a literal counts, no NULL
            return day_range(Call("=", args), column, kind=kind)
        case Call(name=name, args=(one, other)) if name in FLIPPED:
            if isinstance(one, Literal):
                name, one, other = FLIPPED[name], other, one
            return _allowed_days(name, one, other, column, kind=kind)
        case _:
            return None


def _negation(condition: Call) -> Expression | None:
    """The condition that is true where another is false: for AND and OR by De Morgan's laws."""
    match condition:
        case Call(name="not", args=(inner,)):
            return inner
        case Call(name="and" | "or" as name, args=args):
            return Call(
                "or" if name == "and" else "and", tuple(Call("not", (arg,)) for arg in args)
            )
        case Call(name="between", args=(side, low, high)):
            return Call("or", (Call("<", (side, low)), Call(">", (side, high))))
        case Call(name=name, args=args) if name in _NEGATED:
            return Call(_NEGATED[name], args)
        case _:
            return None


def _union(ranges: Iterable[DayRange | None]) -> DayRange | None:
    """The smallest range that contains all ranges; None if one of them is None, or if it is
    unbounded at both ends."""
    firsts, lasts = zip(*((None, None) if days is None else days for days in ranges), strict=True)
    first = None if None in firsts else min(firsts)
    last = None if None in lasts else max(lasts)
    return (first, last) if first or last else None


def _intersection(ranges: Iterable[DayRange | None]) -> DayRange | None:
    """The days in all ranges that are not None; None if all are."""
    known_ranges = [days for days in ranges if days is not None]
    first = max((days[0] for days in known_ranges if days[0]), default=None)
    last = min((days[1] for days in known_ranges if days[1]), default=None)
    return (first, last) if known_ranges else None


def narrowed(days: DayRange, beside: Sequence[Expression], column: str) -> DayRange:
    """The range of one whole year narrowed to the month or day that the conditions ``beside`` it
    fix: ``year(ts) = 2024 AND month(ts) = 2``; any other range as it is."""
    first, last = days
    if first is None or last is None or _calendar_period([first.year]) != days:
        return days
    fields = [first.year]
    for name in _FIELDS[1:]:
        number = next(filter(None, (_value_of_unit(name, other, column) for other in beside)), None)
        if number is None:
            break
        fields.append(number)
    return _calendar_period(fields) or days


def _value_of_unit(name: str, condition: Expression, column: str) -> int | None:
    """The value that a condition fixes for a unit of the column: 2 for ``month(ts) = 2``."""
    match condition:
        case Call(name="=", args=(Literal(kind="number", text=text), side)):
            pass
        case Call(name="=", args=(side, Literal(kind="number", text=text))):
            pass
        case _:
            return None
    its = unit(side) if isinstance(side, Call) else None
    matches = its is not None and its[0] == name and _is_day(its[1], column)
    return int(text) if matches and text.isdecimal() else None


def is_part(node: Expression) -> bool:
    """Whether a node computes a unit of a date or time, or truncates it to one; its day does not
    count."""
    return isinstance(node, Call) and (
        node.name in tagged("year") | tagged("cut") or unit(node) is not None
    )


def _allowed_days(
    operator: str, side: Expression, constant: Expression, column: str, *, kind: Type
) -> DayRange | None:
    """The days that one comparison allows."""
    if not isinstance(constant, Literal):
        return None
    period = _period_with_value(operator, side, constant, column)
    if period is None or not all(1000 <= day.year <= 9998 for day in period):
        return None
    (first, last), name = period, side.name if isinstance(side, Call) else ""
    moment = isinstance(side, ColumnRef) or name == "date_trunc"
    if kind != DATE and moment and operator != "=":  # a clock may go back over midnight
        first, last = first - _DAY, last + _DAY
    else:
        of_clock = name == "date_trunc" or (kind == TIMESTAMP and moment)
        written = constant.type == "timestamp"
        if (written and not of_clock) or (kind != TIMESTAMP and name in _READ_BY_THE_CLOCK):
            first -= _DAY
        if written or of_clock:
            later = (date.fromisoformat(constant.text.strip()[:10]) + _DAY).isoformat()
            constant = replace(constant, text=later)
            _, last = _period_with_value(operator, side, constant, column) or period
    lower, upper = operator in ("=", ">", ">="), operator in ("=", "<", "<=")
    return first if lower else None, last if upper else None


_DAY = timedelta(1)
_READ_BY_THE_CLOCK = frozenset({"date_trunc", "date_format"})
"""Functions that cast a DATE or TIMESTAMP_NTZ to TIMESTAMP, as a comparison with a TIMESTAMP does.
A local time that the session's clock skips becomes a later one, at most of the next day (Apia had
no 2011-12-30). TIMESTAMP literals and constants that are cast do the same."""


def _period_with_value(
    operator: str, side: Expression, constant: Literal, column: str
) -> tuple[date, date] | None:
    """The first and the last day for which a side of a comparison equals a constant."""
    match side:
        case Call(name=name, args=(inner,)) if name in tagged("year"):
            unit = "year"
        case Call(name="extract" | "date_part", args=(Literal(text=text), inner)):
            unit = "year" if text.lower() == "year" else ""
        case (
            Call(name="trunc", args=(inner, Literal(text=text)))
            | Call(name="date_trunc", args=(Literal(text=text), inner))
        ):
            return _period_around(inner, column, constant, _UNITS.get(text.lower(), ""))
        case Call(name="date_format", args=(inner, Literal(text=text))) if operator == "=":
            digits = re.fullmatch(_FORMATS.get(text, "(?!)"), constant.text, re.ASCII)
            if digits is None or constant.kind != "string" or not _is_day(inner, column):
                return None
            return _calendar_period([int(group) for group in digits.groups()])
        case _:
            return _period_around(side, column, constant, "day")
    number = constant.text if constant.kind == "number" and unit else ""
    return _calendar_period([int(number)]) if number.isdigit() and _is_day(inner, column) else None


def _is_day(side: Expression, column: str) -> bool:
    """Whether an expression is the column or its day."""
    ref = side if isinstance(side, ColumnRef) else column_of_day(side)
    return ref is not None and ref.name == column


def _period_around(
    side: Expression, column: str, constant: Literal, unit: str
) -> tuple[date, date] | None:
    """The period of a unit (week, quarter …) that contains a constant."""
    text = constant.text.strip()
    typed = constant.kind == "string" or constant.type in ("date", "timestamp", "timestamp_ntz")
    if not (typed and unit and is_instant(text) and _is_day(side, column)):
        return None
    day = date.fromisoformat(text[:10])
    if unit == "week":
        first = day - timedelta(day.weekday())
        return first, first + timedelta(6)
    if unit == "quarter":
        month = (day.month - 1) // 3 * 3 + 1
        last = _calendar_period([day.year, month + 2])
        return None if last is None else (date(day.year, month, 1), last[1])
    fields = (day.year, day.month, day.day)
    return _calendar_period(list(fields[: _FIELDS.index(unit) + 1]))


def _calendar_period(fields: list[int]) -> tuple[date, date] | None:
    """The first and the last day of the period that ``fields`` name: a year; a year and month; or a
    year, month and day."""
    try:
        first = date(*[*fields, 1, 1][:3])
    except ValueError:
        return None
    if len(fields) == 3:
        return first, first
    month = 12 if len(fields) == 1 else first.month
    return first, date(first.year, month, monthrange(first.year, month)[1])


def end_comparisons(days: DayRange) -> Iterator[tuple[str, Literal]]:
    """A range as comparisons: ``>=`` its first day, ``<=`` its last."""
    for operator, day in zip((">=", "<="), days, strict=True):
        if day is not None:
            yield operator, Literal("typed", day.isoformat(), "date")


# Characters without a special meaning in a string or a pattern of LIKE.
_PLAIN = re.compile(r"[\w .-]*")
_LAST = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)

PrefixBound = tuple[str, Expression, Literal]
"""An operator, the compared expression, and the string that it is compared with."""


def prefix_bounds(condition: Expression, derived: DerivedColumn) -> Iterator[PrefixBound]:
    """The comparisons that follow from a condition on a prefix of the source column: one of the
    derived column with its value, if the prefix is long enough, else bounds of the source
    column."""
    prefix = _prefix_of(condition, derived.source)
    formula = None if derived.formula is None else derived.formula.expression
    if prefix is None or not isinstance(formula, Call) or formula.name not in tagged("beginning"):
        return
    column, text = prefix
    length = _prefix_length(formula)
    if length is not None and length <= len(text):
        own = Call(formula.name, (column, *formula.args[1:]))
        yield "=", own, Literal("string", text[:length])
    elif text:
        yield ">=", column, Literal("string", text)
        behind = ord(text[-1]) + 1
        if behind not in _SURROGATES and behind <= _LAST:
            yield "<", column, Literal("string", text[:-1] + chr(behind))


def _prefix_of(condition: Expression, column: str) -> tuple[ColumnRef, str] | None:
    """The column as the condition names it, and its prefix."""
    match condition:
        case Call(name="like", args=(ColumnRef() as ref, Literal(kind="string", text=text))):
            text = re.split(r"[%_]", text, maxsplit=1)[0]
        case Call(name="startswith", args=(ColumnRef() as ref, Literal(kind="string", text=text))):
            pass
        case Call(
            name="=",
            args=(Call(args=(ColumnRef() as ref, *_)) as part, Literal(kind="string", text=text))
            | (Literal(kind="string", text=text), Call(args=(ColumnRef() as ref, *_)) as part),
        ) if part.name in tagged("beginning"):
            if len(text) > (_prefix_length(part) or 0):
                return None
        case _:
            return None
    plain = _PLAIN.match(text)
    return (ref, plain[0]) if ref.name == column and plain is not None else None


def _prefix_length(beginning: Call) -> int | None:
    """The length of the prefix that a call takes; None for ``substring(x, 1)``, which is all of
    x."""
    match beginning:
        case Call(name="left", args=(_, Literal(kind="number", text=length))):
            pass
        case Call(
            name="substring" | "substr",
            args=(_, Literal(kind="number", text="1"), Literal(kind="number", text=length)),
        ):
            pass
        case _:
            return None
    return int(length) if length.isdecimal() else None
