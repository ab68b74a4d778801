"""The names and types of calls: of functions, aggregates, window functions and generators.

Types come from ``plan/facts/result_types.py``, names from ``call_names.py``.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from sqlrewrite.plan.facts import types
from sqlrewrite.plan.facts.functions import function
from sqlrewrite.plan.facts.result_types import lambda_parameters, result_type
from sqlrewrite.plan.facts.signatures import Arguments, signature
from sqlrewrite.plan.facts.types import Type
from sqlrewrite.sql.types.call_names import printed
from sqlrewrite.sql.types.scope import (
    UNTYPED,
    TypedColumn,
    TypedExpression,
    TypeScope,
    UnknownOutputError,
    star_columns,
)
from sqlrewrite.sql.types.syntax import tree

_CASTS = frozenset(
    "bigint binary boolean date decimal double float int smallint string time timestamp"
    " tinyint".split()
)
"""Functions that are casts, and printed as what they cast."""


def call(it: tree.WrittenCall, scope: TypeScope) -> TypedExpression:
    """The name and type of a call."""
    name = ".".join(it.name).lower().removeprefix("system.").removeprefix("builtin.")
    known = function(name)
    given = _arguments(it, name, scope)
    over = None if it.over is None else _window(it, name, scope)
    conditions = [] if it.filter is None else [scope.typed(it.filter)]
    orders = [_order(key, scope) for key in it.within]
    if known is None:
        return UNTYPED
    of = Arguments(
        tuple(part.type for part in given),
        scope.settings,
        tuple(map(constant_text, given)),
        tuple(part.name for part in given),
    )
    if it.within and name in _ORDERED_SETS:
        key = scope.typed(it.within[0].key)  # the first argument of these
        literals, names = (None, *of.literals), (key.name, *of.names)
        of = replace(of, types=(key.type, *of.types), literals=literals, names=names)
    kind = _type(name, of) if signature(known.signature).takes(len(of.types)) else None
    if known.generator:
        return _generator(kind)
    if name in _CASTS and len(given) == 1:
        return TypedExpression(given[0].text, kind, given[0].name if given[0].column else None)
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
    return TypedExpression(text, kind)


def _type(name: str, of: Arguments) -> Type | None:
    if name in ("current_time", "localtime") and of.types:
        return None
    return result_type(name, of)


def constant_text(it: TypedExpression) -> str | None:
    """The text of a constant; None of any other expression."""
    if isinstance(it.constant, bool):
        return str(it.constant).lower()
    return str(it.constant) if isinstance(it.constant, int | str | Decimal) else None


def _arguments(it: tree.WrittenCall, name: str, scope: TypeScope) -> list[TypedExpression]:
    if name == "count" and it.arguments == (tree.Star(),) and not it.distinct:
        return [TypedExpression("1", types.INT, constant=1)]
    if name == "count" and any(isinstance(part, tree.Star) for part in it.arguments):
        return [UNTYPED]  # spark.sql.legacy.allowStarWithSingleTableIdentifierInCount
    found: list[TypedExpression] = []
    for part in it.arguments:
        if isinstance(part, tree.Star):
            found += [
                TypedExpression(c.name, c.type, c.name, column=True)
                for c in star_columns(part, scope)
            ]
        elif isinstance(part, tree.SpecialForm) and part.name == "=>":
            return [UNTYPED]
        else:
            found.append(UNTYPED if isinstance(part, tree.Lambda) else scope.typed(part))
    if not any(isinstance(part, tree.Lambda) for part in it.arguments):
        return found
    of = Arguments(tuple(part.type for part in found), scope.settings)
    kinds = iter(lambda_parameters(name, of))
    for position, part in enumerate(it.arguments):
        if isinstance(part, tree.Lambda):
            found[position] = _lambda(part, next(kinds, ()), scope)
    return found


def _lambda(it: tree.Lambda, kinds: tuple[Type | None, ...], scope: TypeScope) -> TypedExpression:
    known = [*kinds, *(None,) * len(it.parameters)]
    own = {name.lower(): kind for name, kind in zip(it.parameters, known, strict=False)}
    body = replace(scope, parameters={**scope.parameters, **own}).typed(it.body)
    variables = ", ".join(["namedlambdavariable()"] * len(it.parameters))
    text = None if body.text is None else f"lambdafunction({body.text}, {variables})"
    return TypedExpression(text, body.type)


def _generator(kind: Type | None) -> TypedExpression:
    if kind is None or kind.name != "struct":
        raise UnknownOutputError("a generator of unknown columns")
    return TypedExpression(None, generator=tuple(map(TypedColumn, kind.names, kind.items)))


_ORDERED_SETS = frozenset({"percentile_cont", "percentile_disc", "mode"})
_LISTS = frozenset({"listagg", "string_agg"})


def _with_order(text: str | None, name: str, orders: list[str | None]) -> str | None:
    """A call with its WITHIN GROUP; None for one of ``_ORDERED_SETS``, whose keys Spark prints
    without NULLS and ASC."""
    if text is None or None in orders or name not in _LISTS:
        return None
    return f"{text} WITHIN GROUP (ORDER BY {', '.join(map(str, orders))})"


_WHOLE = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
_SO_FAR = "BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
_RANKS = frozenset({"row_number", "rank", "dense_rank", "percent_rank", "ntile"})


def _window(it: tree.WrittenCall, name: str, scope: TypeScope) -> str | None:
    """The window behind OVER as Spark prints it; None where that is not known."""
    over = it.over
    while over is not None and over.name is not None:
        over = scope.windows.get(over.name.lower())
    if over is None:
        raise UnknownOutputError("an unknown window")
    keys = [scope.typed(key).text for key in over.partition]
    orders = [_order(key, scope) for key in over.order]
    frame = _frame(over, scope) if over.frame else _default_frame(it, name, over)
    if None in keys or None in orders or frame is None:
        return None
    parts = []
    if keys:
        parts.append(f"PARTITION BY {', '.join(map(str, keys))}")
    if orders:
        parts.append(f"ORDER BY {', '.join(map(str, orders))}")
    return f"({' '.join([*parts, frame])})"


def _order(key: tree.Order, scope: TypeScope) -> str | None:
    text = scope.typed(key.key).text
    direction = "DESC" if key.descending else "ASC"
    return None if text is None else f"{text} {direction} NULLS {key.nulls}"


def _default_frame(it: tree.WrittenCall, name: str, over: tree.WrittenWindow) -> str | None:
    if name in ("lag", "lead"):
        step = "1"
        if len(it.arguments) > 1:
            match it.arguments[1]:
                case tree.WrittenLiteral(kind="number", text=text):
                    step = text
                case _:
                    step = ""
        if not step.isdigit():
            return None
        step = f"-{step}" if name == "lag" else step
        return f"ROWS BETWEEN {step} FOLLOWING AND {step} FOLLOWING"
    if name in _RANKS:
        return f"ROWS {_SO_FAR}"
    if over.order or name == "cume_dist":
        return f"RANGE {_SO_FAR}"
    return _WHOLE


def _frame(over: tree.WrittenWindow, scope: TypeScope) -> str | None:
    frame = over.frame
    assert frame is not None
    bounds = []
    for value, word in (frame.start, frame.end):
        if value is None:
            bounds.append(word)
            continue
        bound = scope.typed(value)
        if bound.text is None:
            return None
        same = frame.unit == "ROWS" or _same_type(bound, over, scope)
        if not same and word == "PRECEDING":  # cast to the type of the key, with its minus
            bounds.append(f"(- {bound.text}) FOLLOWING")
        else:
            bounds.append(f"{bound.text} {word}")
    return f"{frame.unit} BETWEEN {bounds[0]} AND {bounds[1]}"


def _same_type(bound: TypedExpression, over: tree.WrittenWindow, scope: TypeScope) -> bool:
    key = scope.typed(over.order[0].key).type if over.order else None
    if key is None or bound.type is None:
        raise UnknownOutputError("a RANGE over an unknown type")
    return key == bound.type or key.name.startswith(("date", "timestamp"))
