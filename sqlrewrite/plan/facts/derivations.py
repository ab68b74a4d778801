"""How an expression depends on one column: its ``Shape``.

For a derived column ``p = f(x)`` the shape of ``f`` says what follows for ``p`` from a condition on
``x``: whether ``f`` keeps the order of ``x``, may give NULL, depends on the session's time zone. An
expression without a row here or in the table of functions has no shape. Each row is proved in
docs/soundness.md, "Derived partition columns", and measured by ``tests/spark/test_spark_derived``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from sqlrewrite.copies import replace
from sqlrewrite.plan.algebra import Call, Cast, ColumnRef, Expression, Literal
from sqlrewrite.plan.expressions import canonical
from sqlrewrite.plan.facts.coercion import is_integral, lossless
from sqlrewrite.plan.facts.error_free import TypeOf
from sqlrewrite.plan.facts.functions import function, tagged
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.plan.facts.types import (
    BIGINT,
    DATE,
    INT,
    MOMENTS,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Type,
)


class Shape(Struct, frozen=True):
    """What is known of an expression over one column, for values of it that are not NULL.

    - ``ordered``: it does not decrease when the column increases
    - ``nulls``: it may be NULL, or the empty string, which is stored as NULL
    - ``zoned``: it depends on the session's time zone
    - ``daily``: it depends only on the column's day (in that zone)
    - ``stray``: for years outside of 1 to 9999 it is not ordered, and less than this literal
    - ``digits``: it is a text of digits, except for the sign of such years
    """

    ordered: bool = True
    nulls: bool = False
    zoned: bool = False
    daily: bool = True
    stray: str = ""
    digits: bool = False


# The units of trunc and date_trunc (TruncDate, TruncTimestamp); for another word they give NULL.
_DAYS = frozenset("year yyyy yy quarter month mon mm week".split())
_UNITS: Mapping[str, frozenset[str]] = {
    "trunc": _DAYS,
    "date_trunc": _DAYS | frozenset("day dd hour minute second millisecond microsecond".split()),
}
_SHORTER = frozenset("hour minute second millisecond microsecond".split())

# Formats whose texts are in the order of time for the years 1 to 9999. Texts of other years begin
# with a sign, which is less than any digit: '+10000', '-0001'.
_IN_ORDER = frozenset(
    "yyyy yyyyMM yyyy-MM yyyyMMdd yyyy-MM-dd yyyyMMddHH yyyy-MM-dd-HH yyyy/MM yyyy/MM/dd".split()
)
_OF_DAYS = re.compile(r"[yMdDEQLqu\W_]*")
TEXT, NUMBER = "'0'", "0"
"""Literals greater than the text, and the number, of any date outside of the years 1 to 9999."""


def in_order_of_days(pattern: str) -> bool:
    """Whether a format's texts are in the order of time, and have no fields below the day."""
    return pattern in _IN_ORDER and _OF_DAYS.fullmatch(pattern) is not None


def shape(expression: Expression, of: TypeOf) -> Shape | None:
    """The shape of an expression over one column; None if nothing is known."""
    match expression:
        case ColumnRef():
            return Shape(daily=of(expression) == DATE)
        case Literal():
            return Shape()
        case Cast(operand=operand, type=to):
            below = shape(operand, of)
            if below is not None and _has_room(expression, of):
                return replace(below, daily=False)
            return None if below is None else _cast(below, of(operand), parse(to))
        case Call(name=name, args=args):
            year = _year_of(expression)
            return _call(name, args, of) if year is None else shape(part(year), of)
        case _:
            return None


def part(expression: Expression) -> Expression:
    """``extract(YEAR FROM x)`` as ``year(x)``; any other expression as it is."""
    match expression:
        case Call(name="extract" | "date_part", args=(Literal(text=text), moment)):
            name = text.lower()
            return Call(name, (moment,)) if name in _PARTS else expression
        case _:
            return expression


UNITS: Mapping[str, tuple[str, str]] = {
    "year": ("year", "yyyy"),
    "quarter": ("quarter", ""),
    "month": ("month", "MM"),
    "day": ("day", "dd"),
    "dayofmonth": ("day", ""),
    "hour": ("hour", "HH"),
}
"""Units of time by the functions that give them, and the format that writes each at full length."""
_PARTS = frozenset(UNITS) - {"dayofmonth"}
_WRITTEN = {pattern: unit for unit, pattern in UNITS.values() if pattern}


def unit(expression: Expression) -> tuple[str, Expression] | None:
    """The unit of time that an expression gives, as a number or a text of full length (a later one
    is greater), and the expression of the time; None for any other expression."""
    match part(expression):
        case Call(name=name, args=(moment,)) if name in UNITS:
            return UNITS[name][0], moment
        case Call(name="date_format", args=(moment, Literal(kind="string", text=text))):
            return (_WRITTEN[text], moment) if text in _WRITTEN else None
        case Cast(operand=operand, type="int" | "bigint" | "smallint" | "tinyint"):
            return unit(operand)
        case _:
            return None


def _year_of(expression: Call) -> Expression | None:
    """The ``year(x)`` in ``year(x) * 100 + month(x)``: the sum has its order, and no year overflows
    an INT. None for any other sum."""
    match expression:
        case Call(name="+", args=(Call(name="*", args=(Call() as year, by)), Call() as month)):
            units, times = (unit(year), unit(month)), _number(by) or 0
        case _:
            return None
    fields = [(part[0], canonical(part[1])) for part in units if part is not None]
    together = [name[0] for name in fields] == ["year", "month"] and fields[0][1] == fields[1][1]
    written = "date_format" in (year.name, month.name)
    return year if together and not written and _MONTHS < times <= _CENTURY else None


_MONTHS, _CENTURY = 12, 100


def _has_room(cast: Cast, of: TypeOf) -> bool:
    """Whether a cast to an integer type only cuts off a fraction: its operand is the quotient of a
    value that the type holds and a positive number."""
    target = parse(cast.type)
    match cast.operand:
        case Call(name="floor", args=(Call(name="/", args=args),)):
            pass
        case Call(name="div" | "/", args=args):
            pass
        case _:
            return False
    dividend = of(args[0])
    divided = dividend is not None and _divided(args, (dividend,))
    if target is None or dividend is None or not (divided and is_integral(target)):
        return False
    return dividend != BIGINT and lossless(dividend, target)


def _cast(below: Shape, source: Type | None, target: Type | None) -> Shape | None:
    if source is None or target is None:
        return None
    if target == DATE and source in MOMENTS:
        return _and(below, Shape(zoned=source == TIMESTAMP))
    if target == STRING and source == DATE:
        return _and(below, Shape(stray=TEXT, daily=False))
    if below.digits and target in (INT, BIGINT):
        # A text of ten digits may be too great for an INT, from the year 2148 on.
        nulls = target == INT or below.nulls
        return replace(below, nulls=nulls, stray=NUMBER, digits=False)
    if source == target or (source == INT and target == BIGINT):
        return below
    zoned = TIMESTAMP in (source, target)  # they differ
    return _and(below, Shape(ordered=False, nulls=True, zoned=zoned, daily=False))


def _call(name: str, args: tuple[Expression, ...], of: TypeOf) -> Shape | None:
    below = Shape()
    if isinstance(extracted := part(Call(name, args)), Call):
        name, args = extracted.name, extracted.args
    for arg in args:
        argument = shape(arg, of)
        if argument is None:
            return None
        below = replace(_and(below, argument), daily=below.daily and argument.daily)
    kinds = tuple(of(arg) for arg in args)
    if None in kinds:
        return None
    own = _moment(name, args, kinds) or _piece(name, args, kinds) or _other(name, args)
    if own is None:
        return None
    if below.stray:  # only its first characters keep that literal's meaning
        begins = name in tagged("beginning") and own.ordered
        own = replace(own, nulls=own.nulls and not begins, ordered=begins)
    return _and(below, own)


def _moment(
    name: str, args: tuple[Expression, ...], kinds: tuple[Type | None, ...]
) -> Shape | None:
    """The shape of a function of a date or time; None for any other."""
    at = 1 if name == "date_trunc" else 0
    moment = kinds[at] if at < len(kinds) else None
    if moment not in MOMENTS:
        return None
    zoned = moment == TIMESTAMP
    if len(args) == 1 and name == "to_date":
        return Shape(zoned=zoned)
    if len(args) == 1 and (name in tagged("year") or name in tagged("days")):
        return Shape(ordered=name in tagged("year"), zoned=zoned)
    if len(args) == 1 and name in tagged("hours"):
        # A day does not begin at midnight in every time zone.
        return Shape(ordered=False, zoned=moment != TIMESTAMP_NTZ, daily=False)
    text = args[1 - at] if len(args) == 2 else None
    if not isinstance(text, Literal) or text.kind != "string":
        return None
    if name in _UNITS and text.text.lower() in _UNITS[name]:
        # date_trunc returns a TIMESTAMP, which depends on the zone when its fields are read.
        daily = text.text.lower() not in _SHORTER
        return Shape(zoned=zoned or name == "date_trunc", daily=daily)
    if name == "date_format":
        daily = _OF_DAYS.fullmatch(text.text) is not None
        in_order = text.text in _IN_ORDER
        stray = TEXT if in_order else ""
        digits = in_order and text.text.isalpha()
        return Shape(in_order, not text.text, zoned or not daily, daily, stray, digits)
    return None


def _piece(name: str, args: tuple[Expression, ...], kinds: tuple[Type | None, ...]) -> Shape | None:
    """The shape of the beginning of a text, or of a quotient; None for anything else."""
    first = args[0] if args else None
    if name in tagged("beginning") and kinds[0] == STRING:
        numbers = [_number(arg) for arg in args[1:]]
        from_start = numbers[:1] == [1] if name != "left" else True
        if from_start and len(numbers) == 2 - (name == "left") and (numbers[-1] or 0) > 0:
            return Shape(nulls=True, daily=False)
    floor = name == "floor" and len(args) == 1 and isinstance(first, Call) and first.name == "/"
    if floor or (name in ("div", "/") and _divided(args, kinds)):
        return Shape(daily=False)  # its argument keeps the order
    return None


def _divided(args: tuple[Expression, ...], kinds: tuple[Type | None, ...]) -> bool:
    """Whether an integer is divided by a positive literal."""
    by = _number(args[1]) if len(args) == 2 else None
    return kinds[0] is not None and is_integral(kinds[0]) and by is not None and by > 0


def _number(expression: Expression) -> int | None:
    """The whole number that a literal is."""
    if isinstance(expression, Literal) and expression.kind == "number":
        return int(expression.text) if expression.text.isdigit() else None
    return None


def _other(name: str, args: tuple[Expression, ...]) -> Shape | None:
    """The shape of any other deterministic function."""
    row = function(name)
    if row is None or row.kind not in ("scalar", "operator"):
        return None
    if row.again not in ("same", "zone"):
        return None
    by = _number(args[1]) if name in tagged("divided") and len(args) == 2 else None
    nulls = name not in tagged("given") and not by and name not in ("+", "-", "*")
    return Shape(ordered=False, nulls=nulls, zoned=row.again == "zone", daily=False)


def _and(below: Shape, own: Shape) -> Shape:
    """The shape of a function over an expression that has a shape itself."""
    return Shape(
        below.ordered and own.ordered,
        below.nulls or own.nulls,
        below.zoned or own.zoned,
        below.daily or own.daily,
        own.stray or below.stray,
        own.digits,
    )


def safe(node: Expression, of: TypeOf) -> bool:
    """Whether a node of a derivation raises no error, although the table of functions says that its
    function can."""
    match node:
        case Call(name="floor", args=(Call(name="/"),)):
            return True
        case Call(name="date_format", args=(one, Literal(kind="string", text=text))):
            return text in _IN_ORDER and of(one) in MOMENTS
        case Cast():
            return _has_room(node, of)
        case _:
            return False
