"""Rules for result types that a pattern of types cannot express, by their names in the table of
functions. The result of a generator is a struct of its columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlrewrite.plan.facts import coercion, types
from sqlrewrite.plan.facts.functions import Argument, Arguments
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.plan.facts.types import Type, is_day_time, is_year_month

ResultRule = Callable[[Arguments], Argument]
"""The type of a call's result, from its arguments."""

# --- rules that take the type of the first argument -----------------------------------------------


def _number(kind: Type) -> Type:
    """The argument's type; DOUBLE for a string, which is cast to it."""
    return types.DOUBLE if kind.is_string or kind == types.VOID else kind


def _shifted(kind: Type) -> Type:
    """BIGINT for a BIGINT, else INT."""
    return types.BIGINT if kind == types.BIGINT else types.INT


def _text(kind: Type) -> Type:
    """BINARY for a BINARY, else a string."""
    return kind if kind == types.BINARY or kind.is_string else types.STRING


def _round(kind: Type, call: Arguments) -> Argument:
    """The type of a rounded number (``RoundBase.dataType``)."""
    kind = _number(kind)
    if not coercion.is_decimal(kind):
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


def _ceil(kind: Type, call: Arguments) -> Argument:
    """The type of CEIL and FLOOR (``Ceil.dataType``); with two arguments a decimal
    (``RoundCeil``)."""
    if len(call.types) > 1:
        scale = call.number(1, 0)
        exact = kind if coercion.is_decimal(kind) else None
        if exact is None and kind.name in _AS_DECIMAL:
            exact = types.decimal(*_AS_DECIMAL[kind.name])
        return None if scale is None or exact is None else _rounded(exact, scale)
    if coercion.is_decimal(kind):
        precision, digits = kind.numbers
        return coercion.bounded(precision - digits + 1, 0) if digits else kind
    return types.BIGINT


def _sum(kind: Type) -> Type:
    if coercion.is_decimal(kind):
        precision, scale = kind.numbers
        return types.decimal(min(types.MAX_PRECISION, precision + 10), scale)
    if is_year_month(kind) or is_day_time(kind):
        return kind
    return types.BIGINT if coercion.is_integral(kind) else types.DOUBLE


def _avg(kind: Type) -> Type:
    if coercion.is_decimal(kind):
        return types.decimal(*(min(types.MAX_PRECISION, number + 4) for number in kind.numbers))
    return _middle(kind)


def _avg_of_number(kind: Type) -> Type:
    return _avg(kind) if coercion.is_decimal(kind) else types.DOUBLE


def _middle(kind: Type) -> Type:
    """The type of an average, except for decimals and times."""
    if is_year_month(kind):
        return types.interval("year", "month")
    return types.interval("day", "second") if is_day_time(kind) else types.DOUBLE


def _for_each(call: Arguments, kind: Type) -> Argument:
    """The type of one result, or an array of it if the second argument is an array."""
    if len(call.types) < 2:
        return kind
    kind_of_unit = call.types[1]
    if kind_of_unit is None:
        return None
    return types.array(kind) if kind_of_unit.name == "array" else kind


def _map_from_entries(kind: Type) -> Argument:
    pairs = kind.name == "array" and len(kind.element.items) == 2
    return types.map_of(*kind.element.items) if pairs else None


def _window(kind: Type) -> Type:
    kind = kind if kind == types.TIMESTAMP_NTZ else types.TIMESTAMP
    return types.struct(("start", kind), ("end", kind))


def _explode(kind: Type, *before: tuple[str, Type]) -> Argument:
    match kind.name:
        case "array":
            return types.struct(*before, ("col", kind.element))
        case "map":
            return types.struct(*before, ("key", kind.items[0]), ("value", kind.items[1]))
    return None


_OF_FIRST_ALONE: Mapping[str, Callable[[Type], Argument]] = {
    "@first": lambda kind: kind,
    "@number": _number,
    "@shift": _shifted,
    "@text": _text,
    "@string": lambda kind: kind if kind.is_string else types.STRING,
    "@reverse": lambda kind: kind if kind.name == "array" else _text(kind),
    "@sum": _sum,
    "@avg": _avg,
    "@first's avg": _avg_of_number,
    "@histogram_numeric": lambda kind: types.array(
        types.struct(("x", _number(kind)), ("y", types.DOUBLE))
    ),
    "@element_at": lambda kind: kind.items[-1] if kind.name in ("array", "map") else None,
    "@map_from_entries": _map_from_entries,
    "@approx_top_k": lambda kind: types.array(
        types.struct(("item", kind), ("count", types.BIGINT))
    ),
    **dict.fromkeys(("@window", "@session"), _window),
    "@explode": _explode,
    "@posexplode": lambda kind: _explode(kind, ("pos", types.INT)),
    "@inline": lambda kind: kind.element if kind.name == "array" else None,
}

_OF_FIRST: Mapping[str, Callable[[Type, Arguments], Argument]] = {
    "@round": _round,
    "@ceil": _ceil,
    # ``zeroifnull(x)`` is ``coalesce(x, 0)``
    "@zero": lambda kind, call: coercion.common_of_all((kind, types.INT), call.settings.ansi),
    "@percentile": lambda kind, call: _for_each(
        call, kind if kind.name == "time" else _middle(kind)
    ),
    "@percentile_approx": lambda kind, call: _for_each(call, _number(kind)),
    "@max_by": lambda kind, call: types.array(kind) if len(call.types) > 2 else kind,
}


# --- rules that take the types of all arguments ---------------------------------------------------

_Types = tuple[Type, ...]


def _integral(kinds: _Types, call: Arguments) -> Argument:
    """The widest type among the arguments; None if one of them is no integer."""
    if not kinds or not all(map(coercion.is_integral, kinds)):
        return None
    return coercion.common_of_all(kinds, call.settings.ansi)


def _concat(kinds: _Types, call: Arguments) -> Argument:
    if any(kind.name == "array" for kind in kinds):
        return coercion.common_of_all(kinds, call.settings.ansi)
    return _texts(kinds)


def _texts(kinds: _Types) -> Type:
    return types.BINARY if set(kinds) == {types.BINARY} else types.STRING


def _padded(kinds: _Types, call: Arguments) -> Argument:
    """BINARY for a BINARY that is filled up with a BINARY, or by default; else a string."""
    return _texts(kinds[::2]) if types.BINARY in kinds[::2] else _text(kinds[0])


def _united(one: Type, other: Type) -> Argument:
    """The type of an array that holds the elements of two arrays, by
    ``TypeCoercion.findTightestCommonType`` in either mode."""
    return coercion.tightest_type(one, other, ansi=False) if one.name == "array" else None


def _nanvl(kinds: _Types, call: Arguments) -> Argument:
    if not all(map(coercion.is_numeric, kinds)):
        return None
    return types.FLOAT if set(kinds) == {types.FLOAT} else types.DOUBLE


def _sequence(kinds: _Types, call: Arguments) -> Argument:
    if set(kinds[:2]) <= {*types.MOMENTS}:
        element = coercion.common_of_all(kinds[:2], call.settings.ansi)
    else:
        element = _integral(kinds[:3], call)
    return None if element is None else types.array(element)


def _arrays_zip(kinds: _Types, call: Arguments) -> Argument:
    if any(kind.name != "array" for kind in kinds) or len(call.names) < len(kinds):
        return None
    pairs = enumerate(zip(call.names, kinds, strict=False))
    return types.array(
        types.struct(*((name or str(at), kind.element) for at, (name, kind) in pairs))
    )


def _struct(kinds: _Types, call: Arguments) -> Argument:
    """A struct whose fields have the names of the arguments, or ``col`` and their number."""
    if len(call.names) < len(kinds):
        return None
    pairs = enumerate(zip(call.names, kinds, strict=False), 1)
    return types.struct(*((name or f"col{at}", kind) for at, (name, kind) in pairs))


_OF_ALL: Mapping[str, Callable[[_Types, Arguments], Argument]] = {
    "@concat": _concat,
    "@least": lambda kinds, call: coercion.common_without_strings(kinds, call.settings.ansi),
    "@united": lambda kinds, call: _united(*kinds[:2]),
    "@extended": lambda kinds, call: _united(kinds[0], types.array(kinds[-1])),
    "@nanvl": _nanvl,
    "@pad": _padded,
    "@sequence": _sequence,
    "@arrays_zip": _arrays_zip,
    "@struct": _struct,
}


# --- rules that take the call itself --------------------------------------------------------------


def _case(call: Arguments) -> Argument:
    """The common type of the values in ``when(condition, value, …, otherwise)``."""
    values = [*call.types[1::2], *(call.types[-1:] if len(call.types) % 2 else ())]
    return coercion.common_of_known(values, call.settings.ansi)


def _decode(call: Arguments) -> Argument:
    """STRING for two arguments, which decode bytes; else the type of a CASE."""
    if len(call.types) == 2:
        return types.STRING
    values = list(call.types[2::2])
    values.append(
        call.types[-1] if len(call.types) % 2 == 0 else types.STRING
    )  # the NULL if none is equal
    return coercion.common_of_known(values, call.settings.ansi)


def _date_part(call: Arguments) -> Argument:
    """The type of a field of a date, time or interval (``Extract.createExpr``)."""
    field, kind = call.literal(0), _at(call, 1)
    if call.first == types.VOID:
        return types.DOUBLE
    if field is None or kind is None:
        return None
    field = field.lower()
    if field in ("second", "s", "sec", "seconds", "secs"):
        return types.decimal(8, 6)
    span = is_year_month(kind) or is_day_time(kind) or kind == types.INTERVAL
    return types.TINYINT if span and field in _SHORT else types.INT


_SHORT = frozenset("month mon mons months hour h hours hr hrs minute m min mins minutes".split())
"""Fields of an interval that are a TINYINT."""


def _at(call: Arguments, position: int) -> Argument:
    return call.types[position] if position < len(call.types) else None


def _variant_get(call: Arguments) -> Argument:
    return types.VARIANT if len(call.types) < 3 else parse(call.literal(2) or "")


def _timestampadd(call: Arguments) -> Argument:
    """TIMESTAMP_NTZ for a TIMESTAMP_NTZ, else TIMESTAMP."""
    kind = _at(call, 2)
    return types.TIMESTAMP_NTZ if kind == types.TIMESTAMP_NTZ else kind and types.TIMESTAMP


def _make_timestamp(call: Arguments) -> Argument:
    """The type that spark.sql.timestampType names, for fields; TIMESTAMP for a date and a time."""
    of_fields = len(call.types) > 3
    return types.TIMESTAMP_NTZ if call.settings.ntz and of_fields else types.TIMESTAMP


def _uniform(call: Arguments) -> Argument:
    """``Uniform.dataType``: a floating-point type, the decimal, or the wider of two integers."""
    kinds = (call.first, _at(call, 1))
    for wide in (types.DOUBLE, types.FLOAT):
        if wide in kinds:
            return wide
    exact = [kind for kind in kinds if kind is not None and coercion.is_decimal(kind)]
    if exact:
        return exact[0] if len(exact) == 1 and types.VOID not in kinds else None
    known_kinds = tuple(kind for kind in kinds if kind is not None)
    return _integral(known_kinds, call) if len(known_kinds) == len(kinds) else None


def _time_trunc(call: Arguments) -> Argument:
    kind = _at(call, 1)
    return None if kind is None else kind if kind.name == "time" else types.time()


def _clock_time(call: Arguments) -> Argument:
    """TIME with the precision that the argument gives; None if that is no literal."""
    digits = call.number(0, types.MICROSECONDS)
    return None if digits is None else types.time(digits)


def _to_number(call: Arguments) -> Argument:
    """The decimal with as many digits before and after its point as the format has
    (``ToNumberParser``)."""
    text = call.literal(1)
    if text is None:
        return None
    whole, _, part = text.upper().replace("D", ".").partition(".")
    digits, scale = (sum(sign in "09" for sign in side) for side in (whole, part))
    fits = 0 < digits + scale <= types.MAX_PRECISION
    return types.decimal(digits + scale, scale) if fits else None


def _map(call: Arguments) -> Argument:
    key = coercion.common_of_known(call.types[::2], call.settings.ansi)
    value = coercion.common_of_known(call.types[1::2], call.settings.ansi)
    return None if key is None or value is None else types.map_of(key, value)


def _named_struct(call: Arguments) -> Argument:
    kinds = call.known(1, 2)
    names = [call.literal(at) for at in range(0, len(call.types), 2)]
    if kinds is None or len(kinds) != len(names):
        return None
    fields = [(name, kind) for name, kind in zip(names, kinds, strict=True) if name is not None]
    return types.struct(*fields) if len(fields) == len(kinds) else None


def _schema(call: Arguments) -> Argument:
    """The type in a literal schema: a type, or the columns of a struct."""
    text = call.literal(1)
    return None if text is None else parse(text) or parse(f"struct<{text}>")


def _stack(call: Arguments) -> Argument:
    """``stack(rows, …)``: each column has the type of its first value."""
    rows, kinds = call.number(0, 1), call.known(1)
    if not rows or rows < 1 or kinds is None:
        return None
    width = -(-len(kinds) // rows)
    columns = [[kind for kind in kinds[at::width] if kind != types.VOID] for at in range(width)]
    if any(len({*column}) > 1 for column in columns):
        return None
    firsts = (column[0] if column else types.VOID for column in columns)
    return types.struct(*((f"col{at}", kind) for at, kind in enumerate(firsts)))


def _with_first_alone(rule: Callable[[Type], Argument]) -> ResultRule:
    return lambda call: None if call.first is None else rule(call.first)


def _with_first(rule: Callable[[Type, Arguments], Argument]) -> ResultRule:
    return lambda call: None if call.first is None else rule(call.first, call)


def _with_all(rule: Callable[[_Types, Arguments], Argument]) -> ResultRule:
    return lambda call: None if (kinds := call.known()) is None else rule(kinds, call)


RESULTS: Mapping[str, ResultRule] = {
    **{name: _with_first_alone(rule) for name, rule in _OF_FIRST_ALONE.items()},
    **{name: _with_first(rule) for name, rule in _OF_FIRST.items()},
    **{name: _with_all(rule) for name, rule in _OF_ALL.items()},
    "@elt": lambda call: None if (kinds := call.known(1)) is None else _texts(kinds),
    "@case": _case,
    "@decode": _decode,
    "@date_part": _date_part,
    "@variant_get": _variant_get,
    "@timestampadd": _timestampadd,
    "@reduce": lambda call: call.types[3 if len(call.types) > 3 else 1],
    "@to_number": _to_number,
    "@kll bigint": lambda call: _for_each(call, types.BIGINT),
    "@kll double": lambda call: _for_each(call, types.DOUBLE),
    "@kll float": lambda call: _for_each(call, types.FLOAT),
    "@map": _map,
    "@named_struct": _named_struct,
    "@schema": _schema,
    "@time_bucket": lambda call: _at(call, 1),
    "@time_trunc": _time_trunc,
    "@second's avg": lambda call: (kind := _at(call, 1)) and _avg_of_number(kind),
    "@uniform": _uniform,
    "@clock time": _clock_time,
    "@make timestamp": _make_timestamp,
    "@make timestamp_ltz": lambda _: types.TIMESTAMP,
    "@make timestamp_ntz": lambda _: types.TIMESTAMP_NTZ,
    "@stack": _stack,
    "@json_tuple": lambda call: types.struct(
        *((f"c{at}", types.STRING) for at in range(len(call.types) - 1))
    ),
    "@variant_explode": lambda _: parse("struct<pos:int,key:string,value:variant>"),
    "@sql_keywords": lambda _: parse("struct<keyword:string,reserved:boolean>"),
    "@range": lambda _: parse("struct<id:bigint>"),
}
"""The rule for each result in the table that begins with ``@``."""
