"""How Spark prints a constant in the name of a column.

Sources: ``AstBuilder.visitTypeConstructor``, ``Literal.sql``, ``IntervalUtils``.
"""

from __future__ import annotations

import re
import struct
from decimal import Decimal, InvalidOperation

from msgspec import Struct
from sqlglot import exp

from sqlrewrite.plan.facts import types
from sqlrewrite.plan.facts.coercion import is_integral
from sqlrewrite.plan.facts.types import Type
from sqlrewrite.sql.bind.trees import chained
from sqlrewrite.sql.parse.spans import SPAN


class Printed(Struct, frozen=True):
    """An expression in the name of a column.

    ``text``: as ``toPrettySQL`` prints it, None if unknown; ``kind``: its type.
    ``constant``: the value of a number, string or boolean that is written as a literal.
    """

    text: str | None
    kind: Type | None = None
    constant: Decimal | int | str | bool | None = None


_DATE = re.compile(r"\s*(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?\s*")
_TIME = re.compile(r"\s*(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?\s*")
_TIMESTAMP = re.compile(
    r"\s*(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})"
    r"(?:[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6})\d*)?)?)?)?)?\s*"
)


def number(text: str, kind: Type | None) -> Printed | None:
    """A number of a type as printed; None for one that Spark refuses."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    if kind == types.DOUBLE:
        return Printed(_java_double(float(value)), kind)
    if kind == types.FLOAT:
        return Printed(_java_double(_single(value)), kind)
    if kind is not None and is_integral(kind):
        return Printed(str(int(text)), kind, int(text))
    return _decimal(value, kind)


def _decimal(value: Decimal, kind: Type | None) -> Printed | None:
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    if exponent > types.MAX_PRECISION:
        return None
    if exponent > 0:
        value = Decimal(f"{value:f}")
    value = value or abs(value)
    return Printed(str(value), kind, value)


def _java_double(value: float) -> str | None:
    """A number as Java's ``Double.toString`` writes it."""
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    if value in (float("inf"), float("-inf")):
        return None
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits))
    power = exponent + len(text) - 1
    return f"{'-' * sign}{text[0]}.{text[1:] or '0'}E{power}"


def _single(value: Decimal) -> float:
    """The number with the fewest digits that is the same value as a FLOAT."""
    try:
        single = struct.pack("f", float(value))
    except OverflowError:
        return float("inf")
    shortest = (float(f"{float(value):.{digits}g}") for digits in range(1, 10))
    return next((digits for digits in shortest if struct.pack("f", digits) == single), float(value))


def typed_constant(text: str, kind: Type | None) -> str | None:
    """``DATE '…'``, TIME or TIMESTAMP as printed; None for an unusual form."""
    if kind == types.DATE:
        match = _DATE.fullmatch(text)
        return f"DATE '{_date(*match.groups())}'" if match else None
    if kind is not None and kind.name == "time":
        match = _TIME.fullmatch(text)
        return f"TIME '{_time(*match.groups())}'" if match else None
    match = _TIMESTAMP.fullmatch(text)
    if match is None or kind not in (types.TIMESTAMP, types.TIMESTAMP_NTZ):
        return None
    fields = match.groups()
    return f"{str(kind).upper()} '{_date(*fields[:3])} {_time(*fields[3:])}'"


def binary(digits: str) -> str | None:
    """``X'1F'`` as printed; None if a digit is not hexadecimal."""
    if not re.fullmatch("[0-9A-Fa-f]*", digits):
        return None
    return f"X'{'0' * (len(digits) % 2)}{digits.upper()}'"


def _date(year: str, month: str | None, day: str | None) -> str:
    return f"{year}-{int(month or 1):02}-{int(day or 1):02}"


def _time(hour: str | None, minute: str | None, second: str | None, fraction: str | None) -> str:
    whole = ":".join(f"{int(field or 0):02}" for field in (hour, minute, second))
    return f"{whole}.{fraction or ''}".rstrip("0").rstrip(".") if fraction else whole


_MICROS = {
    "WEEK": 7 * 86_400_000_000,
    "DAY": 86_400_000_000,
    "HOUR": 3_600_000_000,
    "MINUTE": 60_000_000,
    "SECOND": 1_000_000,
    "MILLISECOND": 1_000,
    "MICROSECOND": 1,
}
_FIELD = {"WEEK": "DAY", "MILLISECOND": "SECOND", "MICROSECOND": "SECOND"}
_SIGNS = {"--": "", "-+": "-", "+": ""}
_MONTHS = {"YEAR": 12, "MONTH": 1}
_FIELDS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
_FIELD_FORMATS = {
    ("YEAR", "MONTH"): r"([+-])?(\d+)-(\d+)",
    ("DAY", "HOUR"): r"([+-])?(\d+) +(\d{1,2})",
    ("DAY", "MINUTE"): r"([+-])?(\d+) +(\d{1,2}):(\d{1,2})",
    ("DAY", "SECOND"): r"([+-])?(\d+) +(\d{1,2}):(\d{1,2}):(\d{1,2}(?:\.\d{1,9})?)",
    ("HOUR", "MINUTE"): r"([+-])?(\d+):(\d{1,2})",
    ("HOUR", "SECOND"): r"([+-])?(\d+):(\d{1,2}):(\d{1,2}(?:\.\d{1,9})?)",
    ("MINUTE", "SECOND"): r"([+-])?(\d+):(\d{1,2}(?:\.\d{1,9})?)",
}
Amount = tuple[str, str]
"""A value in an interval, and its unit in upper case without a final S."""


def interval(amounts: tuple[Amount, ...]) -> Printed | None:
    """An interval of values and units; None for one that Spark refuses."""
    units = {unit for _, unit in amounts}
    if units <= set(_MONTHS):
        months = _total(amounts, _MONTHS)
        return None if months is None else _year_month_interval(months, units)
    if units <= set(_MICROS):
        micros = _total(amounts, _MICROS)
        fields = {_FIELD.get(unit, unit) for unit in units}
        return None if micros is None else _day_time_interval(micros, fields)
    return None


def interval_text(text: str) -> Printed | None:
    """The interval ``INTERVAL '1 day 2 hours'``, by its text."""
    words = text.lower().removeprefix("interval ").split()
    amounts = tuple(
        (value, unit.upper().removesuffix("S"))
        for value, unit in zip(words[::2], words[1::2], strict=False)
    )
    return None if len(words) % 2 or not amounts else interval(amounts)


def field_interval(text: str, start: str, end: str) -> Printed | None:
    """``INTERVAL '1-2' YEAR TO MONTH`` and the like; None for one that Spark refuses."""
    pattern = _FIELD_FORMATS.get((start, end))
    outer = -1 if text.startswith("-") and text[1:2] in "+-" else 1
    match = re.fullmatch(pattern, text[1:] if outer < 0 else text) if pattern else None
    if match is None:
        return None
    sign = outer * (-1 if match[1] == "-" else 1)
    sizes, printed = (
        (_MONTHS, _year_month_interval) if end == "MONTH" else (_MICROS, _day_time_interval)
    )
    pairs = zip(_fields({start, end}), match.groups()[1:], strict=True)
    total = sum(int(Decimal(value) * sizes[field]) for field, value in pairs)
    return printed(sign * total, {start, end})


def _total(amounts: tuple[Amount, ...], sizes: dict[str, int]) -> int | None:
    """The sum of an interval's values in its smallest unit; None for one that Spark refuses."""
    total = Decimal(0)
    for written, unit in amounts:
        value = re.sub(r"^(--|-\+|\+)", lambda signs: _SIGNS[signs[0]], written.strip())
        if not re.fullmatch(r"-?(\d+(\.\d{0,9})?|\.\d{1,9})", value):
            return None
        if "." in value and unit != "SECOND":
            return None
        total += (Decimal(value) * sizes[unit]).to_integral_value(rounding="ROUND_DOWN")
    return int(total)


def _fields(units: set[str]) -> tuple[str, ...]:
    """The fields of an interval, from the longest of ``units`` down to the shortest."""
    places = [_FIELDS.index(unit) for unit in units]
    return _FIELDS[min(places) : max(places) + 1]


def _year_month_interval(months: int, units: set[str]) -> Printed:
    fields = _fields(units)
    sign, months = "-" * (months < 0), abs(months)
    text = {
        ("YEAR",): f"{months // 12}",
        ("MONTH",): f"{months}",
        ("YEAR", "MONTH"): f"{months // 12}-{months % 12}",
    }[fields]
    return _of_fields(f"{sign}{text}", fields)


def _day_time_interval(micros: int, units: set[str]) -> Printed:
    """An interval of days to seconds, as ``IntervalUtils.toDayTimeIntervalString`` writes it."""
    fields = _fields(units)
    sign, rest = "-" * (micros < 0), abs(micros)
    text = ""
    for field in fields:
        if field == "SECOND":
            whole, fraction = divmod(rest, 1_000_000)
            decimals = f"{fraction:06}".rstrip("0")
            text += f"{whole:02}{'.' * bool(decimals)}{decimals}"
        else:
            value, rest = divmod(rest, _MICROS[field])
            text += f"{value}" if field == "DAY" else f"{value:02}"
        text += "" if field == fields[-1] else " " if field == "DAY" else ":"
    return _of_fields(f"{sign}{text}", fields)


def _of_fields(text: str, fields: tuple[str, ...]) -> Printed:
    kind = types.interval(fields[0].lower(), fields[-1].lower())
    return Printed(f"INTERVAL '{text}' {kind.name.removeprefix('interval ').upper()}", kind)


def printed_interval(node: exp.Expr) -> Printed | None:
    """``INTERVAL '1' DAY`` and the like, of constants; None if it is not understood."""
    value, unit = node.this, node.args.get("unit")
    sign = "-" if isinstance(value, exp.Neg) else ""
    value = value.this if sign else value
    if not isinstance(value, exp.Literal):
        return None
    text = sign + value.name
    if unit is None:
        return interval_text(text)
    if isinstance(unit, exp.IntervalSpan):
        return field_interval(text, unit.this.name.upper(), unit.expression.name.upper())
    return interval(((text, unit.name.upper().removesuffix("S")),))


def summed_interval(node: exp.Expr) -> tuple[Amount, ...] | None:
    """The values and units of ``INTERVAL 1 DAY 2 HOURS``, which sqlglot reads as a sum of intervals
    without spans; None for any other sum."""
    parts = chained(node, exp.Add)
    if not all(isinstance(part, exp.Interval) and SPAN not in part.meta for part in parts):
        return None
    if not all(isinstance(part.this, exp.Literal) and part.args.get("unit") for part in parts):
        return None
    return tuple(
        (part.this.name, part.args["unit"].name.upper().removesuffix("S")) for part in parts
    )
