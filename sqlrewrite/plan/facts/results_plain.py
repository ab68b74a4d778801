"""Rules for the results of functions on plain values, and of aggregates.

Each has the name that the table of functions has for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlrewrite.plan.facts import types
from sqlrewrite.plan.facts.call import Argument, Arguments, ResultRule
from sqlrewrite.plan.facts.coercion import (
    bounded,
    common_of_all,
    common_of_known,
    common_without_strings,
    is_decimal,
    is_integral,
    is_numeric,
)
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.plan.facts.types import Type, is_day_time, is_year_month


def _number(call: Arguments) -> Argument:
    """The argument's own type, a string being cast to DOUBLE."""
    kind = call.first
    if kind is None:
        return None
    return types.DOUBLE if kind.is_string or kind == types.VOID else kind


def _integral(call: Arguments) -> Argument:
    """The wider of integers."""
    kinds = call.known()
    if not kinds or not all(map(is_integral, kinds)):
        return None
    return common_of_all(kinds, call.world.ansi)


def _shift(call: Arguments) -> Argument:
    kind = call.first
    if kind is None or not is_integral(kind):
        return None
    return types.BIGINT if kind == types.BIGINT else types.INT


def _text(call: Arguments) -> Argument:
    """BINARY of a binary, else a string."""
    kind = call.first
    if kind is None or kind == types.BINARY:
        return kind
    return kind if kind.is_string else types.STRING


def _reverse(call: Arguments) -> Argument:
    kind = call.first
    return kind if kind is not None and kind.name == "array" else _text(call)


def _concat(call: Arguments) -> Argument:
    kinds = call.known()
    if kinds is None:
        return None
    if kinds and any(kind.name == "array" for kind in kinds):
        return common_of_all(kinds, call.world.ansi)
    return types.BINARY if kinds and set(kinds) == {types.BINARY} else types.STRING


def _elt(call: Arguments) -> Argument:
    kinds = call.known(1)
    if kinds is None:
        return None
    return types.BINARY if kinds and set(kinds) == {types.BINARY} else types.STRING


def _case(call: Arguments) -> Argument:
    """``when(condition, value, …, otherwise)``: what its values have in common."""
    count = len(call.types)
    values = [call.types[at] for at in range(1, count, 2)]
    if count % 2:
        values.append(call.types[-1])
    return common_of_known(values, call.world.ansi)


def _decode(call: Arguments) -> Argument:
    """Of two arguments bytes and their charset, of more a CASE."""
    if len(call.types) == 2:
        return types.STRING
    count = len(call.types)
    values = [call.types[at] for at in range(2, count, 2)]
    values.append(call.types[-1] if count % 2 == 0 else types.STRING)  # the NULL for all others
    return common_of_known(values, call.world.ansi)


def _least(call: Arguments) -> Argument:
    kinds = call.known()
    return None if kinds is None else common_without_strings(kinds, call.world.ansi)


def _zero(call: Arguments) -> Argument:
    """``zeroifnull(x)`` is ``coalesce(x, 0)``."""
    kind = call.first
    return None if kind is None else common_of_all((kind, types.INT), call.world.ansi)


def _nanvl(call: Arguments) -> Argument:
    kinds = call.known()
    if kinds is None or not all(map(is_numeric, kinds)):
        return None
    return types.FLOAT if set(kinds) == {types.FLOAT} else types.DOUBLE


def _round(call: Arguments) -> Argument:
    """``RoundBase.dataType``."""
    kind = _number(call)
    if kind is None or not is_decimal(kind):
        return kind
    scale = call.number(1, 0)
    return None if scale is None else _rounded(kind, scale)


def _rounded(kind: Type, scale: int) -> Type:
    precision, digits = kind.numbers
    whole = precision - digits + 1
    if scale < 0:
        return types.decimal(min(max(whole, 1 - scale), types.MAX_PRECISION), 0)
    kept = min(digits, scale)
    return types.decimal(min(whole + kept, types.MAX_PRECISION), kept)


_AS_DECIMAL = {"tinyint": (3, 0), "smallint": (5, 0), "int": (10, 0), "bigint": (20, 0)}
_AS_DECIMAL |= {"float": (14, 7), "double": (30, 15), "string": (38, 18)}


def _ceil(call: Arguments) -> Argument:
    """``Ceil.dataType``, and of two arguments ``RoundCeil``, which is of decimals."""
    kind = call.first
    if kind is None:
        return None
    if len(call.types) > 1:
        scale = call.number(1, 0)
        exact = kind if is_decimal(kind) else None
        if exact is None and kind.name in _AS_DECIMAL:
            exact = types.decimal(*_AS_DECIMAL[kind.name])
        return None if scale is None or exact is None else _rounded(exact, scale)
    if is_decimal(kind):
        return bounded(kind.numbers[0] - kind.numbers[1] + 1, 0)
    return types.BIGINT


def _date_part(call: Arguments) -> Argument:
    """``Extract.createExpr``, by its literal field."""
    field, kind = call.literal(0), call.types[1] if len(call.types) > 1 else None
    if field is None or kind is None:
        return None
    field = field.lower()
    if field in ("second", "s", "sec", "seconds", "secs"):
        return types.decimal(8, 6)
    months = field in ("month", "mon", "mons", "months")
    hours = field in ("hour", "h", "hours", "hr", "hrs", "minute", "m", "min", "mins", "minutes")
    if is_year_month(kind) or is_day_time(kind) or kind == types.INTERVAL:
        return types.TINYINT if months or hours else types.INT
    return types.INT


def _variant_get(call: Arguments) -> Argument:
    if len(call.types) < 3:
        return types.VARIANT
    text = call.literal(2)
    return None if text is None else parse(text)


def _timestampadd(call: Arguments) -> Argument:
    kind = call.types[2] if len(call.types) > 2 else None
    return (
        types.TIMESTAMP
        if kind == types.DATE
        else kind
        if kind in (types.TIMESTAMP, types.TIMESTAMP_NTZ)
        else None
    )


def _to_number(call: Arguments) -> Argument:
    """``ToNumberParser``: the digits of the format, and those behind its point."""
    text = call.literal(1)
    if text is None:
        return None
    whole, _, part = text.upper().replace("D", ".").partition(".")
    digits, scale = (sum(it in "09" for it in side) for side in (whole, part))
    return (
        types.decimal(digits + scale, scale) if 0 < digits + scale <= types.MAX_PRECISION else None
    )


def _sum(call: Arguments) -> Argument:
    kind = call.first
    if kind is None:
        return None
    if is_decimal(kind):
        return types.decimal(min(types.MAX_PRECISION, kind.numbers[0] + 10), kind.numbers[1])
    if is_year_month(kind) or is_day_time(kind):
        return kind
    return types.BIGINT if is_integral(kind) else types.DOUBLE


def _avg(call: Arguments) -> Argument:
    kind = call.first
    if kind is None:
        return None
    if is_decimal(kind):
        precision, scale = kind.numbers
        return types.decimal(
            min(types.MAX_PRECISION, precision + 4), min(types.MAX_PRECISION, scale + 4)
        )
    return _widest_interval(kind) or types.DOUBLE


def _widest_interval(kind: Type) -> Argument:
    if is_year_month(kind):
        return types.interval("year", "month")
    return types.interval("day", "second") if is_day_time(kind) else None


def _percentile(call: Arguments) -> Argument:
    kind = call.first
    if kind is None:
        return None
    return _for_each(call, kind if kind.name == "time" else _widest_interval(kind) or types.DOUBLE)


def _percentile_approx(call: Arguments) -> Argument:
    kind = _number(call)
    return None if kind is None else _for_each(call, kind)


def _kll(kind: Type) -> Callable[[Arguments], Argument]:
    return lambda call: _for_each(call, kind)


def _for_each(call: Arguments, kind: Type) -> Argument:
    """A value for the second argument, or an array of them for an array."""
    if len(call.types) < 2:
        return kind
    wanted = call.types[1]
    if wanted is None:
        return None
    return types.array(kind) if wanted.name == "array" else kind


def _max_by(call: Arguments) -> Argument:
    kind = call.first
    return types.array(kind) if kind is not None and len(call.types) > 2 else kind


def _histogram(call: Arguments) -> Argument:
    kind = _number(call)
    return None if kind is None else types.array(types.struct(("x", kind), ("y", types.DOUBLE)))


PLAIN: Mapping[str, ResultRule] = {
    "@first": lambda call: call.first,
    "@number": _number,
    "@integral": _integral,
    "@shift": _shift,
    "@text": _text,
    "@reverse": _reverse,
    "@concat": _concat,
    "@elt": _elt,
    "@case": _case,
    "@decode": _decode,
    "@least": _least,
    "@zero": _zero,
    "@nanvl": _nanvl,
    "@round": _round,
    "@ceil": _ceil,
    "@date_part": _date_part,
    "@variant_get": _variant_get,
    "@timestampadd": _timestampadd,
    "@reduce": lambda call: call.types[3 if len(call.types) > 3 else 1],
    "@to_number": _to_number,
    "@sum": _sum,
    "@avg": _avg,
    "@percentile": _percentile,
    "@percentile_approx": _percentile_approx,
    "@kll bigint": _kll(types.BIGINT),
    "@kll double": _kll(types.DOUBLE),
    "@kll float": _kll(types.FLOAT),
    "@max_by": _max_by,
    "@histogram_numeric": _histogram,
}
