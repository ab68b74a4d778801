"""Rules for the results of functions that make or take apart arrays, maps and structs, and of
generators, whose result is a struct of their columns."""

from __future__ import annotations

from collections.abc import Mapping

from sqlrewrite.plan.facts import types
from sqlrewrite.plan.facts.call import Argument, Arguments, ResultRule
from sqlrewrite.plan.facts.coercion import common_of_all, is_integral
from sqlrewrite.plan.facts.type_text import parse


def _element_at(call: Arguments) -> Argument:
    kind = call.first
    if kind is None or kind.name not in ("array", "map"):
        return None
    return kind.items[-1]


def _sequence(call: Arguments) -> Argument:
    kinds = call.known()
    if kinds is None:
        return None
    if not set(kinds[:2]) <= {types.DATE, types.TIMESTAMP, types.TIMESTAMP_NTZ}:
        kinds = kinds[:3]
        if not all(map(is_integral, kinds)):
            return None
        found = common_of_all(kinds, call.world.ansi)
    else:
        found = common_of_all(kinds[:2], call.world.ansi)
    return None if found is None else types.array(found)


def _arrays_zip(call: Arguments) -> Argument:
    kinds = call.known()
    if kinds is None or any(kind.name != "array" for kind in kinds) or len(call.names) < len(kinds):
        return None
    pairs = zip(call.names, kinds, strict=False)
    fields = [(name or str(at), kind.element) for at, (name, kind) in enumerate(pairs)]
    return types.array(types.struct(*fields))


def _map(call: Arguments) -> Argument:
    keys, values = call.known(0, 2), call.known(1, 2)
    if keys is None or values is None:
        return None
    key, value = common_of_all(keys, call.world.ansi), common_of_all(values, call.world.ansi)
    return None if key is None or value is None else types.map_of(key, value)


def _map_from_entries(call: Arguments) -> Argument:
    kind = call.first
    if kind is None or kind.name != "array" or len(kind.element.items) != 2:
        return None
    return types.map_of(*kind.element.items)


def _struct(call: Arguments) -> Argument:
    """Its fields have the names of its arguments, those without one their number."""
    kinds = call.known()
    if kinds is None or len(call.names) < len(kinds):
        return None
    pairs = zip(call.names, kinds, strict=False)
    return types.struct(*((name or f"col{at + 1}", kind) for at, (name, kind) in enumerate(pairs)))


def _named_struct(call: Arguments) -> Argument:
    kinds = call.known(1, 2)
    names = [call.literal(at) for at in range(0, len(call.types), 2)]
    if kinds is None or len(kinds) != len(names):
        return None
    fields = [(name, kind) for name, kind in zip(names, kinds, strict=True) if name is not None]
    return types.struct(*fields) if len(fields) == len(kinds) else None


def _schema(call: Arguments) -> Argument:
    """The type that a schema's literal says: a type, or the columns of a struct."""
    text = call.literal(1)
    return None if text is None else parse(text) or parse(f"struct<{text}>")


def _top_k(call: Arguments) -> Argument:
    kind = call.first
    return (
        None if kind is None else types.array(types.struct(("item", kind), ("count", types.BIGINT)))
    )


def _window(call: Arguments) -> Argument:
    kind = call.first
    if kind is None:
        return None
    kind = kind if kind == types.TIMESTAMP_NTZ else types.TIMESTAMP
    return types.struct(("start", kind), ("end", kind))


def _time_bucket(call: Arguments) -> Argument:
    return call.types[1] if len(call.types) > 1 else None


def _explode(call: Arguments) -> Argument:
    kind = call.first
    if kind is None or kind.name not in ("array", "map"):
        return None
    if kind.name == "array":
        return types.struct(("col", kind.element))
    return types.struct(("key", kind.items[0]), ("value", kind.items[1]))


def _posexplode(call: Arguments) -> Argument:
    found = _explode(call)
    if found is None:
        return None
    return types.struct(("pos", types.INT), *zip(found.names, found.items, strict=True))


def _inline(call: Arguments) -> Argument:
    kind = call.first
    return kind.element if kind is not None and kind.name == "array" else None


def _stack(call: Arguments) -> Argument:
    """So many rows: each column is of the first value that stands in it."""
    rows, kinds = call.number(0, 1), call.known(1)
    if not rows or rows < 1 or kinds is None:
        return None
    width = -(-len(kinds) // rows)
    columns = [[kind for kind in kinds[at::width] if kind != types.VOID] for at in range(width)]
    if any(len({*found}) > 1 for found in columns):
        return None
    return types.struct(
        *((f"col{at}", found[0] if found else types.VOID) for at, found in enumerate(columns))
    )


def _json_tuple(call: Arguments) -> Argument:
    return types.struct(*((f"c{at}", types.STRING) for at in range(len(call.types) - 1)))


NESTED: Mapping[str, ResultRule] = {
    "@element_at": _element_at,
    "@sequence": _sequence,
    "@arrays_zip": _arrays_zip,
    "@map": _map,
    "@map_from_entries": _map_from_entries,
    "@struct": _struct,
    "@named_struct": _named_struct,
    "@schema": _schema,
    "@approx_top_k": _top_k,
    "@window": _window,
    "@session": _window,
    "@time_bucket": _time_bucket,
    "@explode": _explode,
    "@posexplode": _posexplode,
    "@inline": _inline,
    "@stack": _stack,
    "@json_tuple": _json_tuple,
    "@variant_explode": lambda _: types.struct(
        ("pos", types.INT), ("key", types.STRING), ("value", types.VARIANT)
    ),
    "@sql_keywords": lambda _: parse("struct<keyword:string,reserved:boolean>"),
    "@range": lambda _: types.struct(("id", types.BIGINT)),
}
