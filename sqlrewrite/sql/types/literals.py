"""The types of constants, and how Spark prints them in the name of a column.

Sources: ``AstBuilder.visitTypeConstructor``, ``Literal.sql``, ``IntervalUtils``.
"""

from __future__ import annotations

import re
import struct
from decimal import Decimal, InvalidOperation

from sqlrewrite.plan.facts import types
from sqlrewrite.plan.facts.coercion import is_integral
from sqlrewrite.plan.facts.literals import number_type
from sqlrewrite.plan.facts.session import ExactSettings
from sqlrewrite.plan.facts.types import Type
from sqlrewrite.sql.types.scope import TypedExpression
from sqlrewrite.sql.types.syntax import tree

_SUFFIXED = {
    "L": types.BIGINT,
    "S": types.SMALLINT,
    "Y": types.TINYINT,
    "D": types.DOUBLE,
    "F": types.FLOAT,
}
_DATE = re.compile(r"\s*(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?\s*")
_TIME = re.compile(r"\s*(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?\s*")
_TIMESTAMP = re.compile(
    r"\s*(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})"
    r"(?:[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6})\d*)?)?)?)?)?\s*"
)
_ZONE = re.compile(r"[A-Za-z]{2}|[Zz]$|\d[+-]\d+:\d+$")


def literal(it: tree.WrittenLiteral, settings: ExactSettings) -> TypedExpression | None:
    """The type and name of a constant; None for one that Spark refuses."""
    match it.kind:
        case "string":
            return TypedExpression(it.text, types.STRING, constant=it.text)
        case "null":
            return TypedExpression("NULL", types.VOID)
        case "boolean":
            return TypedExpression(it.text.lower(), types.BOOLEAN, constant=it.text == "TRUE")
        case "x":
            digits = it.text.upper()
            if not re.fullmatch("[0-9A-F]*", digits):
                return None
            return TypedExpression(f"X'{'0' * (len(digits) % 2)}{digits}'", types.BINARY)
        case "date" | "timestamp" | "timestamp_ltz" | "timestamp_ntz" | "time":
            return _datetime(it, settings)
        case "interval":
            return _interval_text(it.text)
        case _:
            return _number(it)


def _number(it: tree.WrittenLiteral) -> TypedExpression | None:
    try:
        value = Decimal(it.text)
    except InvalidOperation:
        return None
    kind = _SUFFIXED.get(it.kind) or (number_type(it.text) if it.kind == "number" else None)
    if kind == types.DOUBLE:
        return TypedExpression(java_double(float(value)), kind)
    if kind == types.FLOAT:
        return TypedExpression(java_double(_single(value)), kind)
    if kind is not None and is_integral(kind):
        return TypedExpression(str(int(it.text)), kind, constant=int(it.text))
    return _decimal(value)


def _decimal(value: Decimal) -> TypedExpression | None:
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    if exponent > 0:
        if exponent > types.MAX_PRECISION:
            return None
        value, exponent = Decimal(f"{value:f}"), 0
    value = value or abs(value)
    digits, scale = len(value.as_tuple().digits), -exponent
    precision = max(digits, scale)
    if precision > types.MAX_PRECISION:
        return None
    return TypedExpression(str(value), types.decimal(precision, scale), constant=value)


def java_double(value: float) -> str | None:
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
    """The number with the fewest digits that is the same FLOAT."""
    try:
        wanted = struct.pack("f", float(value))
    except OverflowError:
        return float("inf")
    shortest = (float(f"{float(value):.{digits}g}") for digits in range(1, 10))
    return next((it for it in shortest if struct.pack("f", it) == wanted), float(value))


def _datetime(it: tree.WrittenLiteral, settings: ExactSettings) -> TypedExpression | None:
    """A DATE, TIME or TIMESTAMP; its text is not told where it is none of the usual forms."""
    if it.kind == "date":
        found = _DATE.fullmatch(it.text)
        text = f"DATE '{_date(*found.groups())}'" if found else None
        return TypedExpression(text, types.DATE)
    if it.kind == "time":
        found = _TIME.fullmatch(it.text)
        text = f"TIME '{_time(*found.groups())}'" if found else None
        return TypedExpression(text, Type("time", (6,)))
    ntz = it.kind == "timestamp_ntz" or (it.kind == "timestamp" and settings.ntz)
    if ntz and it.kind == "timestamp" and _ZONE.search(it.text):
        return None  # with a zone in it, it is one with a local time zone
    kind, word = (types.TIMESTAMP_NTZ, "TIMESTAMP_NTZ") if ntz else (types.TIMESTAMP, "TIMESTAMP")
    found = _TIMESTAMP.fullmatch(it.text)
    if found is None:
        return TypedExpression(None, kind)
    fields = found.groups()
    return TypedExpression(f"{word} '{_date(*fields[:3])} {_time(*fields[3:])}'", kind)


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


def interval(it: tree.Interval) -> TypedExpression | None:
    """The type and name of an interval; None for one that Spark refuses."""
    if it.to is not None:
        return _field_interval(it)
    units = {unit for _, unit in it.parts}
    if units <= set(_MONTHS):
        months = _total(it, _MONTHS)
        return None if months is None else _year_month_interval(months, units)
    if units <= set(_MICROS):
        micros = _total(it, _MICROS)
        fields = {_FIELD.get(unit, unit) for unit in units}
        return None if micros is None else _day_time_interval(micros, fields)
    return None


def _total(it: tree.Interval, sizes: dict[str, int]) -> int | None:
    """The sum of an interval's values in the smallest unit; None for one that Spark refuses."""
    total = Decimal(0)
    for written, unit in it.parts:
        value = re.sub(r"^(--|-\+|\+)", lambda signs: _SIGNS[signs[0]], written.strip())
        if not re.fullmatch(r"-?(\d+(\.\d{0,9})?|\.\d{1,9})", value):
            return None
        if "." in value and unit != "SECOND":
            return None
        total += (Decimal(value) * sizes[unit]).to_integral_value(rounding="ROUND_DOWN")
    return int(total)


def _field_interval(it: tree.Interval) -> TypedExpression | None:
    """``INTERVAL '1-2' YEAR TO MONTH`` and its like."""
    (written, start), end = it.parts[0], it.to or ""
    pattern = _FIELD_FORMATS.get((start, end))
    outer = -1 if written.startswith("-") and written[1:2] in "+-" else 1
    found = re.fullmatch(pattern, written[1:] if outer < 0 else written) if pattern else None
    if found is None:
        return None
    sign = outer * (-1 if found[1] == "-" else 1)
    sizes, printed = (
        (_MONTHS, _year_month_interval) if end == "MONTH" else (_MICROS, _day_time_interval)
    )
    pairs = zip(_fields({start, end}), found.groups()[1:], strict=True)
    total = sum(int(Decimal(value) * sizes[field]) for field, value in pairs)
    return printed(sign * total, {start, end})


def _fields(units: set[str]) -> tuple[str, ...]:
    """The fields from the longest of some units down to the shortest."""
    places = [_FIELDS.index(unit) for unit in units]
    return _FIELDS[min(places) : max(places) + 1]


def _year_month_interval(months: int, units: set[str]) -> TypedExpression:
    fields = _fields(units)
    sign, months = "-" * (months < 0), abs(months)
    text = {
        ("YEAR",): f"{months // 12}",
        ("MONTH",): f"{months}",
        ("YEAR", "MONTH"): f"{months // 12}-{months % 12}",
    }[fields]
    return _printed_interval(f"{sign}{text}", fields)


def _day_time_interval(micros: int, units: set[str]) -> TypedExpression:
    """As ``IntervalUtils.toDayTimeIntervalString`` writes it."""
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
    return _printed_interval(f"{sign}{text}", fields)


def _printed_interval(text: str, fields: tuple[str, ...]) -> TypedExpression:
    kind = types.interval(fields[0].lower(), fields[-1].lower())
    return TypedExpression(f"INTERVAL '{text}' {kind.name.removeprefix('interval ').upper()}", kind)


def _interval_text(text: str) -> TypedExpression | None:
    """``INTERVAL '1 day 2 hours'``."""
    words = text.lower().removeprefix("interval ").split()
    pairs = list(zip(words[::2], words[1::2], strict=False))
    if len(words) % 2 or not pairs:
        return None
    return interval(
        tree.Interval(tuple((value, unit.upper().removesuffix("S")) for value, unit in pairs))
    )
