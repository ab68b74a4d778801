"""The type of an operator's result from the types of its operands; None if Spark refuses them, or
the type is not known.

Sources: ``BinaryArithmetic``, ``BinaryArithmeticWithDatetimeResolver`` and the coercion rules of
Spark 4.3; all pairs of types are asked of Spark in ``tests/referee/test_types.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

from sqlrewrite.plan.facts import types
from sqlrewrite.plan.facts.coercion import (
    as_decimal,
    common_type,
    is_atomic,
    is_decimal,
    is_integral,
    is_numeric,
    tightest_type,
)
from sqlrewrite.plan.facts.types import ExactSettings, Type, fields_of, is_day_time, is_year_month

_MIN_ADJUSTED_SCALE = 6

PREDICATES = frozenset(
    "= == <=> <> != < <= > >= between in and or not isnull is like ilike rlike exists".split()
)
"""Operators whose result is a BOOLEAN."""

_INSTANTS = (types.TIMESTAMP, types.TIMESTAMP_NTZ)
_DAY = types.interval("day")
_DAY_TO_SECOND = types.interval("day", "second")
_HOUR_TO_SECOND = types.interval("hour", "second")
_YEAR_TO_MONTH = types.interval("year", "month")


def unary(sign: str, operand: Type) -> Type | None:
    """The type of ``-x``, ``+x`` and ``~x``."""
    if sign == "~":
        return types.INT if operand == types.VOID else operand if is_integral(operand) else None
    if operand.is_string or operand == types.VOID:
        return types.DOUBLE
    spans = operand == types.INTERVAL or fields_of(operand) is not None
    return operand if is_numeric(operand) or spans else None


@lru_cache(maxsize=4096)
def binary(sign: str, one: Type, other: Type, settings: ExactSettings) -> Type | None:
    """The type of an operator with two operands. A literal integer beside a decimal is passed as
    the decimal of its own digits."""
    result = _RESULTS.get(sign)
    return None if result is None else result(one, other, settings)


def _add(one: Type, other: Type, settings: ExactSettings) -> Type | None:
    for a, b in ((one, other), (other, one)):
        moved = _moved(a, b)
        if moved is not None:
            return moved
        if a == types.VOID and b != types.VOID:
            if b == types.DATE:
                return types.TIMESTAMP
            if b in _INSTANTS or fields_of(b) is not None:
                return b
            if b.name == "time":
                return types.time()
    return _of_intervals(one, other, settings) or _arithmetic("+", one, other, settings)


def _subtract(one: Type, other: Type, settings: ExactSettings) -> Type | None:
    moved = _moved(one, other)
    if moved is not None:
        return moved
    if other == types.VOID and (one == types.INTERVAL or fields_of(one) is not None):
        return one
    if one == types.VOID and fields_of(other) is not None:
        return other
    interval = _of_intervals(one, other, settings) or _between(one, other, settings)
    return interval or _arithmetic("-", one, other, settings)


def _of_intervals(one: Type, other: Type, settings: ExactSettings) -> Type | None:
    if one == other == types.INTERVAL:
        return types.INTERVAL
    both = fields_of(one) is not None and fields_of(other) is not None
    return tightest_type(one, other, settings.ansi) if both else None


def _moved(start: Type, by: Type) -> Type | None:
    """The type of a date or time plus days or an interval."""
    if start == types.DATE and by in types.SHORT:
        return types.DATE
    if by == types.INTERVAL or is_year_month(by) or is_day_time(by):
        if start == types.DATE:
            return types.TIMESTAMP if is_day_time(by) and by != _DAY else types.DATE
        if start in _INSTANTS:
            return start
        if start.is_string and not is_year_month(by):
            return start
        if start.name == "time" and is_day_time(by):
            return types.time() if by.name.endswith("second") else start
    return None


def _between(one: Type, other: Type, settings: ExactSettings) -> Type | None:
    """The type of the difference of two dates or times, one of which may be NULL, or a string."""
    for a, b in ((one, other), (other, one)):
        text = (
            b.is_string
            and b.collation is None
            and (settings.ansi or (a == types.DATE and b is one))
        )
        if a == types.DATE and (b in (types.DATE, types.VOID) or text):
            return _DAY
        if a in _INSTANTS and (b in (types.DATE, types.VOID, *_INSTANTS) or text):
            return _DAY_TO_SECOND
        if a.name == "time" and (b.name == "time" or b == types.VOID or text):
            return _HOUR_TO_SECOND
    return None


def _multiply(one: Type, other: Type, settings: ExactSettings) -> Type | None:
    for a, b in ((one, other), (other, one)):
        if _is_factor(b) and _scaled(a) is not None:
            return _scaled(a)
    return _arithmetic("*", one, other, settings)


def _divide(one: Type, other: Type, settings: ExactSettings) -> Type | None:
    if _is_factor(other) and _scaled(one) is not None:
        return _scaled(one)
    quotient = _arithmetic("/", one, other, settings)
    if quotient is None or one == types.VOID:
        return None if quotient is None else types.DOUBLE
    return quotient if is_decimal(quotient) else types.DOUBLE


def _scaled(kind: Type) -> Type | None:
    """The type of an interval times a number."""
    if kind == types.INTERVAL:
        return types.INTERVAL
    if is_year_month(kind):
        return _YEAR_TO_MONTH
    return _DAY_TO_SECOND if is_day_time(kind) else None


def _is_factor(kind: Type) -> bool:
    return is_numeric(kind) or kind.is_string or kind == types.VOID


def _integral_divide(one: Type, other: Type, settings: ExactSettings) -> Type | None:
    kinds = {one, other} - {types.VOID}
    if is_year_month(one) or is_year_month(other):
        return types.BIGINT if all(map(is_year_month, kinds)) else None
    if is_day_time(one) or is_day_time(other):
        return types.BIGINT if all(map(is_day_time, kinds)) else None
    if any(kind.is_string for kind in kinds):
        return types.BIGINT if settings.ansi and _integer_and_string(one, other) else None
    return types.BIGINT if all(is_integral(kind) or is_decimal(kind) for kind in kinds) else None


def _bitwise(one: Type, other: Type, settings: ExactSettings) -> Type | None:
    if one == other == types.VOID:
        return types.INT
    if _integer_and_string(one, other):
        return types.BIGINT if settings.ansi else None
    integers = all(is_integral(kind) or kind == types.VOID for kind in (one, other))
    return tightest_type(one, other, settings.ansi) if integers else None


def _integer_and_string(one: Type, other: Type) -> bool:
    return (one.is_string and is_integral(other)) or (is_integral(one) and other.is_string)


def _concatenate(one: Type, other: Type, settings: ExactSettings) -> Type | None:
    if one == other == types.BINARY:
        return types.BINARY
    if one.name == other.name == "array":
        return common_type(one, other, settings.ansi)
    kinds = {kind for kind in (one, other) if kind.is_string} or {types.STRING}
    loose = (types.VOID, types.INTERVAL) if settings.ansi else (types.VOID,)
    plain = all(is_atomic(kind) or kind in loose for kind in (one, other))
    return kinds.pop() if plain and len(kinds) == 1 else None


def _arithmetic(sign: str, one: Type, other: Type, settings: ExactSettings) -> Type | None:
    """The type of arithmetic over numbers, strings cast to numbers, and NULL."""
    if one.is_string or other.is_string:
        return _with_string(one, other, settings)
    if one == types.VOID or other == types.VOID:
        one = other = other if one == types.VOID else one
        if one == types.VOID:
            return types.DOUBLE
    if not (is_numeric(one) and is_numeric(other)):
        return None
    decimals = (is_decimal(one) or is_integral(one)) and (is_decimal(other) or is_integral(other))
    if decimals and (is_decimal(one) or is_decimal(other)):
        rule = _exact if not settings.precision_loss else _rounded
        return rule(sign, *as_decimal(one).numbers, *as_decimal(other).numbers)
    if is_decimal(one) or is_decimal(other):
        return types.DOUBLE
    return tightest_type(one, other, settings.ansi)


def _with_string(one: Type, other: Type, settings: ExactSettings) -> Type | None:
    """The type of arithmetic with a string, which is a DOUBLE; in ANSI mode beside an integer it is
    a BIGINT, and two strings are an error."""
    kinds = [kind for kind in (one, other) if not kind.is_string]
    if not kinds or kinds == [types.VOID]:
        return None if settings.ansi else types.DOUBLE
    if not is_numeric(kinds[0]):
        return None
    return types.BIGINT if settings.ansi and is_integral(kinds[0]) else types.DOUBLE


def _digits(sign: str, p1: int, s1: int, p2: int, s2: int) -> tuple[int, int]:
    """The precision and scale that lose no digit."""
    scale = max(s1, s2)
    if sign in "+-":
        return max(p1 - s1, p2 - s2) + scale + 1, scale
    if sign == "*":
        return p1 + p2 + 1, s1 + s2
    if sign == "%":
        return min(p1 - s1, p2 - s2) + scale, scale
    scale = max(_MIN_ADJUSTED_SCALE, s1 + p2 + 1)
    return p1 - s1 + s2 + scale, scale


def _rounded(sign: str, p1: int, s1: int, p2: int, s2: int) -> Type:
    """The type with allowPrecisionLoss: if there are too many digits, those behind the point are
    cut off, down to six (``DecimalType.adjustPrecisionScale``)."""
    precision, scale = _digits(sign, p1, s1, p2, s2)
    if precision <= types.MAX_PRECISION:
        return types.decimal(precision, scale)
    least = min(scale, _MIN_ADJUSTED_SCALE)
    return types.decimal(types.MAX_PRECISION, max(types.MAX_PRECISION - (precision - scale), least))


def _exact(sign: str, p1: int, s1: int, p2: int, s2: int) -> Type:
    """The type without allowPrecisionLoss."""
    precision, scale = _digits(sign, p1, s1, p2, s2)
    if sign == "/":
        whole = min(types.MAX_PRECISION, p1 - s1 + s2)
        scale = min(types.MAX_PRECISION, scale)
        over = whole + scale - types.MAX_PRECISION
        if over > 0:
            scale -= over // 2 + 1
            whole = types.MAX_PRECISION - scale
        precision = whole + scale
    return types.decimal(min(precision, types.MAX_PRECISION), min(scale, types.MAX_PRECISION))


_Result = Callable[[Type, Type, ExactSettings], Type | None]

_RESULTS: dict[str, _Result] = {
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "/": _divide,
    "%": partial(_arithmetic, "%"),
    "div": _integral_divide,
    "&": _bitwise,
    "|": _bitwise,
    "^": _bitwise,
    "||": _concatenate,
    **dict.fromkeys(PREDICATES, lambda one, other, settings: types.BOOLEAN),
}
