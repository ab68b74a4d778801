"""Forms of an expression that cannot raise an error.

An ``Attempt`` gives NULL where a function or operator raises an error, as ``try_divide`` does. It
is looked up by name and types in the table of functions (``rules/functions/spark.toml``,
``attempt``); None if no form is known to give the same values for arguments of these types.

A ``Wrapping`` is integer arithmetic in wider numbers, brought back into the range. Whether ``k +
3`` over INT overflows with an error or wraps around is a session's setting; the form wraps around
under both: where the original raises an error, it only adds a key. Spark's
ReorderAssociativeOperator could make ``if(k > …, k - 2147483647 - …, k + 3)`` overflow, but not
this form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeGuard

from msgspec import Struct

from sqlrewrite.plan.algebra import Call, Cast, ColumnRef, Expression, Literal
from sqlrewrite.plan.facts import functions, types
from sqlrewrite.plan.facts.coercion import is_decimal, is_integral, is_numeric
from sqlrewrite.plan.facts.constants import FORMATS
from sqlrewrite.plan.facts.functions import part_range
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.plan.facts.types import (
    BIGINT,
    BITS,
    DATE,
    INT,
    TIMESTAMP,
    Type,
    ends_of,
    is_day_time,
    is_year_month,
)

_EVERY = "{...}"
_IF_TEXT = "if(typeof({0}) = 'string', CAST({0} AS STRING), NULL)"
_LOWER_HALF = "CAST(shiftright(shiftleft({}, 32), 32) AS INT)"
_LEAST = {kind: types.ends_of(kind)[0] for kind in types.BITS}

Types = Sequence[Type | None]


class Attempt(Struct, frozen=True):
    """A form: ``text`` with ``{0}`` for the first argument.

    ``exact``: it gives what the function gives without ANSI mode, NULL or a value; if not, its NULL
    may stand for any value. ``plain``: the optimizer concludes the same from the function and from
    the form; in ANSI mode it takes some functions for never NULL, since they raise an error
    instead. ``check`` names a check that the arguments must pass (``constants.CHECKS``).
    """

    text: str
    exact: bool
    plain: bool = False
    check: str = ""


def attempt(name: str, kinds: Types) -> Attempt | None:
    """The form for a function or operator with arguments of these types."""
    rows, first = functions.attempts(), str(kinds[0]) if kinds else ""
    row = rows.get(f"{name}/{len(kinds)}") or rows.get(f"{name}/{first}") or rows.get(name)
    if row is None:
        return None
    legacy, of, text = row
    of, _, check = of.partition("/")
    if not _CLASSES[of](kinds):
        return None
    if of == "text":
        return Attempt(_as_numbers(text, kinds), False)
    least = _LEAST.get(kinds[0]) if kinds[0] is not None else None
    every = ", ".join(f"{{{at}}}" for at in range(len(kinds)))
    text = text.replace(_EVERY, every).replace("{least}", str(least))
    return Attempt(text, legacy != "value", legacy == "nullable", check)


def attempted_comparison(name: str, kinds: Types, given: Sequence[int]) -> Attempt | None:
    """The form of a comparison of STRINGs with the arguments at ``given``, constants of unknown
    type. If one of these is no STRING, the comparison would cast the others to its type."""
    row = functions.attempts().get(name)
    if row is None or row[1] != "text":
        return None
    if any(kind != types.STRING for at, kind in enumerate(kinds) if at not in given):
        return None
    text = row[2]
    for at in given:
        text = text.replace(f"{{{at}}}", _IF_TEXT.format(f"{{{at}}}"))
    return Attempt(text, exact=False)


def attempted_cast(given: Type | None, wanted: Type | None) -> Attempt | None:
    """The form of a cast of a STRING, or of a number to a number, for which both modes give the
    same values; None for any other cast."""
    if given is None or wanted is None:
        return None
    number = is_integral(wanted) or is_decimal(wanted)
    plain = given.name in ("string", "varchar") and given.collation is None
    text = plain and (
        number or wanted in (types.BOOLEAN, types.DATE, types.TIMESTAMP, *types.FLOATING)
    )
    if not (text or (number and is_numeric(given))):
        return None
    exact = wanted in (types.DATE, types.BOOLEAN) or is_decimal(wanted)
    return Attempt(functions.attempts()["cast"][2].replace("{type}", str(wanted).upper()), exact)


def legacy_cast(given: Type | None, wanted: Type | None) -> Attempt | None:
    """The form of a cast to an integer that gives what Spark gives without ANSI mode: for a BIGINT
    its lower half, for a DOUBLE out of range the nearest end, for a STRING the digits before its
    point (``'.'`` gives 0)."""
    if (given, wanted) == (types.BIGINT, types.INT):
        return Attempt(_LOWER_HALF.format("{0}"), exact=True, plain=True)
    if given is None or wanted not in _LEAST:
        return None
    least = _LEAST[wanted]
    if given == types.DOUBLE and wanted in (types.INT, types.BIGINT):
        near = f"least(greatest(nanvl({{0}}, 0D), {least}D), {-1 - least}D)"
        return Attempt(f"CAST({near} AS {str(wanted).upper()})", exact=True)
    if given == types.STRING:
        whole = f"try_cast(regexp_replace({{0}}, '[.][0-9]*', '') AS {str(wanted).upper()})"
        return Attempt(f"nvl2({{0}}, coalesce({whole}, 0), NULL)", exact=True)
    return None


def moved(unit: str) -> Attempt:
    """The form of a time that is moved by a few units; NULL in years where it might overflow."""
    near = "if(year({2}) BETWEEN -200000 AND 200000, {2}, NULL)"
    return Attempt(f"timestampadd({unit.upper()}, {{1}}, {near})", exact=False)


def legacy_sum(name: str, kinds: Types) -> Attempt | None:
    """The form of arithmetic that gives what Spark gives without ANSI mode: integers wrap around
    (computed in wider numbers and brought back into the range), decimals overflow to NULL."""
    operands = [kind for kind in kinds if kind is not None]
    if len(operands) < len(kinds) or not all(
        is_integral(kind) or is_decimal(kind) for kind in operands
    ):
        return None
    if any(map(is_decimal, operands)):
        form = attempt(name, kinds)
        return form and Attempt(form.text, exact=True)
    if name == "abs":
        return Attempt(f"coalesce(abs(nullif({{0}}, {_LEAST[operands[0]]})), {{0}})", exact=True)
    if name not in ("+", "-", "*") or not {types.INT, types.BIGINT} & {*operands}:
        return None
    to = "DECIMAL(38,0)" if types.BIGINT in operands else "BIGINT"
    wide = f"CAST({{0}} AS {to})"
    wide = f"-{wide}" if len(operands) == 1 else f"{wide} {name} {{1}}"
    if types.BIGINT not in operands:
        return Attempt(_LOWER_HALF.format(wide), exact=True, plain=True)
    text = f"CAST(pmod({wide} + {1 << 63}, {1 << 64}) - {1 << 63} AS BIGINT)"
    return Attempt(text, exact=True, plain=True)


def _as_numbers(text: str, kinds: Types) -> str:
    """The form of a comparison whose STRING is cast as in ANSI mode: to a DATE, a BIGINT or a
    DOUBLE."""
    target = next(kind for kind in kinds if kind is not None and kind.name != "string")
    to = "BIGINT" if is_integral(target) else "DATE" if target == types.DATE else "DOUBLE"
    at = next(at for at, kind in enumerate(kinds) if kind is not None and kind.name == "string")
    return text.replace(f"{{{at}}}", f"try_cast({{{at}}} AS {to})")


def _numbers(kinds: Types) -> bool:
    return all(kind is not None and is_numeric(kind) for kind in kinds)


def _integers(kinds: Types) -> bool:
    """Whether all types are integers, and none is BIGINT, whose least value divided by -1
    overflows."""
    return all(kind is not None and is_integral(kind) and kind != types.BIGINT for kind in kinds)


def _sums(kinds: Types) -> bool:
    """Whether the types are two numbers, two dates or times, or a date or time and an interval."""
    if list(kinds) == [types.TIMESTAMP, types.TIMESTAMP]:
        return True
    if len(kinds) == 2 and kinds[0] in (types.DATE, types.TIMESTAMP) and kinds[1] is not None:
        if kinds[0] == types.TIMESTAMP and kinds[1] == types.DATE:
            return False
        return kinds[1] == types.DATE or is_year_month(kinds[1]) or is_day_time(kinds[1])
    return len(kinds) == 2 and _numbers(kinds)


def _text(kinds: Types) -> bool:
    """Whether one of two types is a STRING, and the other an integer, a DOUBLE or a DATE."""
    known_kinds = [kind for kind in kinds if kind is not None]
    plain = [kind for kind in known_kinds if kind.name == "string" and kind.collation is None]
    others = [
        kind for kind in known_kinds if is_integral(kind) or kind in (types.DOUBLE, types.DATE)
    ]
    return (len(kinds), len(plain), len(others)) == (2, 1, 1)


def _dated(kinds: Types) -> bool:
    """Whether the types are a STRING, which is read as a date, and an integer, the number of
    days."""
    day = kinds[0] if len(kinds) == 2 else None
    plain = day is not None and day.name == "string" and day.collation is None
    return plain and kinds[1] in types.SHORT


def _array(kinds: Types) -> bool:
    """Whether the types are an array and an INT, or an integer that fits into an INT."""
    array = kinds[0] if len(kinds) == 2 else None
    return array is not None and array.name == "array" and kinds[1] in types.SHORT


_CLASSES: Mapping[str, Callable[[Types], bool]] = {
    "numbers": _numbers,
    "integers": _integers,
    "integer": lambda kinds: len(kinds) == 1 and kinds[0] in _LEAST,
    "sums": _sums,
    "text": _text,
    "array": _array,
    "long": lambda kinds: list(kinds) in ([types.INT], [types.BIGINT]),
    "double": lambda kinds: list(kinds) == [types.DOUBLE],
    "dated": _dated,
    "days": lambda kinds: len(kinds) == 3 and _integers(kinds),
    "months": lambda kinds: len(kinds) == 2 and kinds[0] == types.DATE and _integers(kinds[1:]),
    "conv": lambda kinds: len(kinds) == 3 and kinds[0] == types.STRING and _integers(kinds[1:]),
    "variant": lambda kinds: kinds[:1] == [types.VARIANT] and _CLASSES["strings"](kinds[1:]),
    "moment": lambda kinds: kinds[0] in (types.DATE, types.TIMESTAMP),
    "local": lambda kinds: kinds[2] == types.TIMESTAMP_NTZ,
    "maps": lambda kinds: all(
        kind and kind.name == "map" and kind.element == types.STRING for kind in kinds
    ),
    "strings": lambda kinds: all(kind is not None and kind.name == "string" for kind in kinds),
    "cast": lambda kinds: False,  # has two types: see ``attempted_cast``
}
"""The classes of argument types that the table's column ``of`` names."""


def attempted_day(expression: Expression, of: TypeOf) -> Wrapping | None:
    """The form of a STRING column read as a date: a text that is no date becomes NULL, with and
    without ANSI mode. It uses functions that Spark 3.5 has (``try_to_date`` is younger)."""
    form = "try_cast({} AS DATE)"
    match expression:
        case Call(name="to_date", args=(ColumnRef() as column,)):
            pass
        case Cast(operand=ColumnRef() as column, type="date", safe=False):
            pass
        case Call(name="to_date", args=(ColumnRef() as column, Literal(kind="string", text=text))):
            if text not in FORMATS:
                return None
            form = f"CAST(try_to_timestamp({{}}, '{text}') AS DATE)"
        case _:
            return None
    return Wrapping("{}", form, anew=True) if of(column) == types.STRING else None


TypeOf = Callable[[Expression], Type | None]

_RING = ("+", "-", "*")


class Wrapping(Struct, frozen=True):
    """A form without errors: a template that is filled with each ``column``, and one for the
    ``whole`` expression. With ``anew`` the latter is filled with the column, not with the author's
    text of the expression."""

    column: str
    whole: str
    anew: bool = False


_OF_INT = Wrapping("CAST({} AS BIGINT)", "CAST(shiftright(shiftleft({}, 32), 32) AS INT)")


ValueRange = tuple[int, int]
"""The least and the greatest value of an integer expression, computed without overflow."""

RangeOf = Callable[[Expression], ValueRange | None]


def wrapping(expression: Expression, of: TypeOf, range_of_part: RangeOf) -> Wrapping | None:
    """A form of sums and products of INTs that raises no error; None if there is none."""
    ring = _is_ring(expression, of)
    return _OF_INT if ring and fits(range_of_part(expression), BIGINT) else None


def is_ring_operation(expression: Expression) -> TypeGuard[Call]:
    """Whether an expression is a sum, a difference or a product."""
    return isinstance(expression, Call) and expression.name in _RING


def _is_ring(expression: Expression, of: TypeOf) -> bool:
    """Whether an expression has only INT columns, constants, and operators that give INT: then
    wrapping around once at the end equals wrapping around at each step."""
    match expression:
        case ColumnRef():
            kind = of(expression)
            return kind is not None and is_integral(kind) and kind != BIGINT
        case Literal(kind="number"):
            return of(expression) == INT
        case Call(name=name, args=args) if name in _RING and args:
            return of(expression) == INT and all(_is_ring(arg, of) for arg in args)
        case _:
            return False


def fits(values: ValueRange | None, kind: Type | None) -> bool:
    """Whether a type of integers holds all values of a range; False if one is unknown."""
    if values is None or kind is None or kind not in BITS:
        return False
    least, most = ends_of(kind)
    return least <= values[0] and values[1] <= most


def range_of(expression: Expression, of: TypeOf, range_of_part: RangeOf) -> ValueRange | None:
    """The range of an expression, from those of its operands; None if unknown."""
    match expression:
        case Literal(kind="number", text=text) if text.lstrip("-").isdigit():
            return int(text), int(text)
        case Literal(kind="typed", text=text, type=name) if parse(name) in BITS:
            return int(text), int(text)
        case ColumnRef() | Cast():
            kind = of(expression)
            if kind not in BITS:
                return None
            inside = range_of_part(expression.operand) if isinstance(expression, Cast) else None
            return inside if inside and fits(inside, kind) else ends_of(kind)
        case Call(name="-", args=(arg,)):
            values = range_of_part(arg)
            return None if values is None else (-values[1], -values[0])
        case Call(name=name, args=(arg,)) if (fields := part_range(name)) is not None:
            return fields if of(arg) in (DATE, TIMESTAMP) else None
        case Call(name=name, args=(one, other)) if name in _RING:
            first, second = range_of_part(one), range_of_part(other)
            return None if first is None or second is None else _combined(name, first, second)
        case _:
            return None


def _combined(name: str, one: ValueRange, other: ValueRange) -> ValueRange:
    if name == "+":
        return one[0] + other[0], one[1] + other[1]
    if name == "-":
        return one[0] - other[1], one[1] - other[0]
    corners = [a * b for a in one for b in other]
    return min(corners), max(corners)
