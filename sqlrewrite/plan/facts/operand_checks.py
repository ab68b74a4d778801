"""Calls that cannot raise an error because of the types of their operands: sums, divisions, dates,
CASE, maps. A row in the table of functions says what holds for all types."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeGuard

from sqlrewrite.plan.algebra import Call, Expression, Literal
from sqlrewrite.plan.facts import types
from sqlrewrite.plan.facts.coercion import as_decimal, is_decimal, is_integral
from sqlrewrite.plan.facts.constants import CHECKS, stays_in_range
from sqlrewrite.plan.facts.error_free import TypeOf
from sqlrewrite.plan.facts.functions import tagged
from sqlrewrite.plan.facts.types import Type

_LONG_UNITS = frozenset("millisecond second minute hour day week month quarter year".split())
"""Units that a BIGINT can count between any two times."""

_DIGITS = re.compile(r"S?\$?[09]+(?:[,G][09]{3})*(?:[.D][09]+)?")
_CONVERSION = re.compile(
    r"%(?:%|(?:-?[1-9]\d?)?(s)|(?:0?[1-9]\d?)?([dx])|(?:[1-9]\d?)?(?:\.\d)?(f))"
)
"""A conversion of format_string that takes any value of its type: text, integers, floats."""

_DAYS = (*types.SHORT, types.interval("day"))


def never_raises(call: Call, of: TypeOf) -> bool:
    """Whether a call raises no error for any values of its columns, in ANSI mode either."""
    match call:
        case Call(name=name, args=(one, Literal(kind="number", text=text))) if name in tagged(
            "divided"
        ):
            # The least BIGINT divided by -1 overflows.
            whole = text.removeprefix("-").isdigit() and int(text) != 0
            return _is_number(of(one)) and whole and (name != "div" or text != "-1")
        case Call(name=name, args=(one,)) if name in tagged("whole") and _is_decimal(of(one)):
            return True  # the result's decimal has room for the next whole number
        case Call(name=name, args=(Call(name="/", args=(one, _)) as part,)) if name in tagged(
            "whole"
        ):
            return of(one) in types.SHORT and never_raises(part, of)
        case Call(name="+" | "-" | "add_months", args=(_, _)) if _moved(call, of):
            return True
        case Call(name="+" | "-" | "*", args=args):
            kinds = [of(arg) for arg in args]
            floating = any(operand in types.FLOATING for operand in kinds) and all(
                map(_is_number, kinds)
            )
            return floating or _has_room(call.name, kinds)
        case Call(name="unix_timestamp" | "to_unix_timestamp", args=(arg, *_)):
            return of(arg) in types.MOMENTS
        case Call(name="to_date", args=(arg,)):
            return of(arg) in types.MOMENTS
        case Call(name="timestamp_seconds" | "timestamp_millis", args=(arg,)):
            return of(arg) in types.SHORT
        case Call(name="timestampdiff", args=(Literal(text=unit), *args)):
            return unit in _LONG_UNITS and all(of(arg) in types.MOMENTS for arg in args)
        case Call(name="timestampadd", args=(Literal(), amount, start)):
            small = isinstance(amount, Literal) and stays_in_range((amount,))
            return small and of(start) == types.DATE
        case Call(name="decode", args=(one, *rest)) if len(rest) > 1:
            pairs = len(rest) // 2 * 2
            values = (*rest[1:pairs:2], *rest[pairs:])
            return _alike(of, (one, *rest[:pairs:2])) and _alike(of, values)
        case Call(name="decode", args=(Call(name="encode", args=inner), *rest)):
            return CHECKS["utf8"](inner) and CHECKS["utf8"]((inner[0], *rest))
        case Call(name="map", args=args):
            return len(args) % 2 == 0 and _different(args[::2]) and _alike(of, args[1::2])
        case Call(
            name="map_from_arrays",
            args=(Call(name="array", args=keys), Call(name="array", args=values)),
        ):
            return len(keys) == len(values) and _different(keys)
        case Call(name="map_from_entries", args=(Call(name="array", args=entries),)):
            structs = [
                entry.args
                for entry in entries
                if isinstance(entry, Call) and entry.name == "struct"
            ]
            return len(structs) == len(entries) and _different([struct[0] for struct in structs])
        case Call(name="format_string" | "printf", args=(Literal(kind="string", text=text), *args)):
            return _formats(text, [of(arg) for arg in args])
        case Call(name="to_char" | "to_varchar", args=(one, Literal(kind="string", text=text))):
            return _is_exact(of(one)) and _DIGITS.fullmatch(text) is not None
        case Call(name="[]" | "element_at", args=(one, key)):
            kind = of(one)  # a map gives NULL for a missing key
            return kind is not None and kind.name == "map" and of(key) == kind.element
        case Call(name="if", args=(_, _)):
            return True  # a WHEN and its THEN; the CASE around it is checked
        case Call(name="case", args=args):
            return _of_one_type(args, of)
        case _:
            return False


def _different(keys: Sequence[Expression]) -> bool:
    """Whether keys are different string literals."""
    texts = {key.text for key in keys if isinstance(key, Literal) and key.kind == "string"}
    return len(texts) == len(keys)


def _formats(text: str, kinds: list[Type | None]) -> bool:
    """Whether a format takes no more values than there are, each of a type that fits."""
    conversions = list(_CONVERSION.finditer(text))
    signs = [conversion[conversion.lastindex] for conversion in conversions if conversion.lastindex]
    if "%" in _CONVERSION.sub("", text) or len(signs) > len(kinds):
        return False
    return all(
        kind is not None
        and (sign == "s" or (kind in types.FLOATING if sign == "f" else is_integral(kind)))
        for sign, kind in zip(signs, kinds, strict=False)
    )


def _moved(call: Call, of: TypeOf) -> bool:
    """Whether a date is moved by a number of days, or by a small constant."""
    start, by = call.args
    if call.name == "+" and of(start) != types.DATE:
        start, by = by, start
    constant = isinstance(by, Literal) and by.kind != "string" and of(by) != types.DATE
    days = call.name != "add_months" and of(by) in _DAYS
    return of(start) == types.DATE and (days or (constant and stays_in_range((by,))))


def _alike(of: TypeOf, args: Sequence[Expression]) -> bool:
    """Whether all values have the same known type, so that none is cast."""
    return None not in {of(arg) for arg in args} and len({of(arg) for arg in args}) == 1


def _has_room(sign: str, kinds: Sequence[Type | None]) -> bool:
    """Whether the result's type has room for every sum or product of two decimals, or of a decimal
    and an integer, without losing digits."""
    if len(kinds) != 2 or not any(map(_is_decimal, kinds)):
        return False
    decimals = [as_decimal(kind) for kind in kinds if _is_exact(kind)]
    if len(decimals) < 2:
        return False
    (p1, s1), (p2, s2) = ((decimal.numbers[0], decimal.numbers[1]) for decimal in decimals)
    digits = p1 + p2 if sign == "*" else max(s1, s2) + max(p1 - s1, p2 - s2)
    return digits + 1 <= types.MAX_PRECISION


def _is_exact(kind: Type | None) -> TypeGuard[Type]:
    """Whether a type is an integer or a decimal."""
    return kind is not None and (is_integral(kind) or is_decimal(kind))


def _is_decimal(kind: Type | None) -> bool:
    return kind is not None and is_decimal(kind)


def _is_number(kind: Type | None) -> bool:
    """Whether a type is an integer, a FLOAT or a DOUBLE."""
    return kind is not None and (is_integral(kind) or kind in types.FLOATING)


def _of_one_type(args: tuple[Expression, ...], of: TypeOf) -> bool:
    """Whether no comparison and no value of a CASE needs a cast that could fail."""
    value_types, condition_type = set(), types.BOOLEAN
    for arg in args:
        match arg:
            case Call(name="if", args=(condition, value)):
                if of(condition) != condition_type:
                    return False
                value_types.add(of(value))
            case _ if arg is args[0]:  # the operand of the CASE
                operand = of(arg)
                if operand is None:
                    return False
                condition_type = operand
            case _:
                value_types.add(of(arg))
    if None in value_types:
        return False
    kinds = {kind for kind in value_types if kind is not None and kind.name != "void"}
    return len(kinds) == 1 or all(map(_is_number, kinds))
