"""Calls: how Spark prints them, and their types.

The types are those of ``plan/facts/results.py``, the names those of ``printed.py``.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from sqlrewrite.plan.facts import types
from sqlrewrite.plan.facts.call import Arguments
from sqlrewrite.plan.facts.functions import function
from sqlrewrite.plan.facts.results import parameters, result
from sqlrewrite.plan.facts.signatures import signature
from sqlrewrite.plan.facts.types import Type
from sqlrewrite.sql.types import tree
from sqlrewrite.sql.types.printed import printed
from sqlrewrite.sql.types.scope import TypeScope
from sqlrewrite.sql.types.stars import expanded
from sqlrewrite.sql.types.typed import NOTHING, Typed, UnknownError
from sqlrewrite.sql.types.windows import Typing, order, window

_CASTS = frozenset(
    """
    bigint binary boolean date decimal double float int smallint string time timestamp tinyint
    """.split()
)
"""Functions that are casts, and printed as what they cast."""


_SCHEMAS = frozenset({"from_json", "from_csv", "from_xml"})


def call(it: tree.WrittenCall, scope: TypeScope, typed: Typing) -> Typed:
    """What is known of a call; ``typed`` is asked for its arguments."""
    name = ".".join(it.name).lower().removeprefix("system.").removeprefix("builtin.")
    known = function(name)
    given = _given(it, name, scope, typed)
    over = None if it.over is None else window(it, name, scope, typed)
    conditions = [] if it.filter is None else [typed(it.filter, scope)]
    orders = [order(key, scope, typed) for key in it.within]
    if known is None:
        return NOTHING
    of = Arguments(
        tuple(part.type for part in given),
        scope.context.world,
        tuple(map(constant, given)),
        tuple(part.name for part in given),
    )
    if it.within and name in _ORDERED:
        of = _within(of, name, it, scope, typed)
    kind = _type(name, of) if signature(known.signature).takes(len(of.types)) else None
    if known.generator:
        return _generator(kind)
    if name in _CASTS and len(given) == 1:
        return Typed(given[0].text, kind, given[0].name if given[0].column else None)
    text = printed(name, given, it.distinct)
    if name == "from_json" and (kind is None or kind.name == "map"):
        text = None if kind is None else "entries"
    if it.within:
        text = _with_order(text, name, orders)
    if conditions and text is not None:
        kept = conditions[0].text
        text = None if kept is None else f"{text} FILTER (WHERE {kept})"
    if it.over is not None:
        text = None if text is None or over is None else f"{text} OVER {over}"
    return Typed(text, kind)


def _type(name: str, of: Arguments) -> Type | None:
    """The type of a call. Of strings with a collation that is none of all of them, or may be one,
    none is told: it depends on which of them is explicit."""
    kind = result(name, of)
    if kind is not None and name in _SCHEMAS and of.world.ntz and "timestamp" in str(kind):
        return None  # of a TIMESTAMP in the text of a schema
    if name in ("lpad", "rpad") and len(of.types) == 3 and of.types[0] != of.types[2]:
        return None
    if name in ("current_time", "localtime") and of.types:
        return None
    if kind is None or "string" not in str(kind):
        return kind
    strings = {str(it) for it in of.types if it is None or "string" in str(it)}
    plain = strings <= {"string", "array<string>", "map<string,string>"}
    return kind if plain or (len(strings) == 1 and None not in of.types) else None


def constant(it: Typed) -> str | None:
    """A constant's text."""
    if isinstance(it.constant, bool):
        return str(it.constant).lower()
    return str(it.constant) if isinstance(it.constant, int | str | Decimal) else None


# --- arguments ------------------------------------------------------------------------------------


def _given(it: tree.WrittenCall, name: str, scope: TypeScope, typed: Typing) -> list[Typed]:
    if (
        name == "count"
        and len(it.arguments) == 1
        and it.arguments[0] == tree.Star()
        and not it.distinct
    ):
        return [Typed("1", types.INT, constant=1)]
    if name == "count" and any(isinstance(part, tree.Star) for part in it.arguments):
        return [NOTHING]  # spark.sql.legacy.allowStarWithSingleTableIdentifierInCount
    found: list[Typed] = []
    for part in it.arguments:
        if isinstance(part, tree.Star):
            found += [Typed(c.name, c.type, c.name, column=True) for c in expanded(part, scope)]
        elif isinstance(part, tree.Special) and part.name == "=>":
            return [NOTHING]
        else:
            found.append(NOTHING if isinstance(part, tree.Lambda) else typed(part, scope))
    if not any(isinstance(part, tree.Lambda) for part in it.arguments):
        return found
    of = Arguments(tuple(part.type for part in found), scope.context.world)
    kinds = iter(parameters(name, of))
    for position, part in enumerate(it.arguments):
        if isinstance(part, tree.Lambda):
            found[position] = _lambda(part, next(kinds, ()), scope, typed)
    return found


def _lambda(
    it: tree.Lambda, kinds: tuple[Type | None, ...], scope: TypeScope, typed: Typing
) -> Typed:
    known = [*kinds, *(None,) * len(it.parameters)]
    own = {name.lower(): kind for name, kind in zip(it.parameters, known, strict=False)}
    body = typed(it.body, replace(scope, parameters={**scope.parameters, **own}))
    variables = ", ".join(["namedlambdavariable()"] * len(it.parameters))
    text = None if body.text is None else f"lambdafunction({body.text}, {variables})"
    return Typed(text, body.type)


def _generator(kind: Type | None) -> Typed:
    if kind is None or kind.name != "struct":
        raise UnknownError("a generator of unknown columns")
    return Typed(None, generator=tuple(zip(kind.names, kind.items, strict=True)))


# --- WITHIN GROUP ---------------------------------------------------------------------------------

_ORDERED = frozenset({"percentile_cont", "percentile_disc", "mode"})
_LISTS = frozenset({"listagg", "string_agg"})


def _within(
    of: Arguments, name: str, it: tree.WrittenCall, scope: TypeScope, typed: Typing
) -> Arguments:
    """The key of ORDER BY is the first argument of these."""
    key = typed(it.within[0].key, scope)
    return replace(
        of,
        types=(key.type, *of.types),
        literals=(None, *of.literals),
        names=(key.name, *of.names),
    )


def _with_order(text: str | None, name: str, orders: list[str | None]) -> str | None:
    if text is None or None in orders or not (name in _LISTS or name in _ORDERED):
        return None
    shown = ", ".join(map(str, orders))
    if name in _ORDERED:  # their keys are printed without NULLS, and ASC goes without saying
        return None
    return f"{text} WITHIN GROUP (ORDER BY {shown})"
