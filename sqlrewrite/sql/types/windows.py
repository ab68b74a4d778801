"""How Spark prints a window and the keys of an ORDER BY, frame and all."""

from __future__ import annotations

from collections.abc import Callable

from sqlrewrite.sql.types import tree
from sqlrewrite.sql.types.scope import TypeScope
from sqlrewrite.sql.types.typed import Typed, UnknownError

Typing = Callable[[tree.Expr, TypeScope], Typed]

_WHOLE = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
_SO_FAR = "BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
_RANKS = frozenset({"row_number", "rank", "dense_rank", "percent_rank", "ntile"})


def window(it: tree.WrittenCall, name: str, scope: TypeScope, typed: Typing) -> str | None:
    """What stands behind OVER."""
    over = it.over
    while over is not None and over.name is not None:
        over = scope.windows.get(over.name.lower())
    if over is None:
        raise UnknownError("an unknown window")
    keys = [typed(key, scope).text for key in over.partition]
    orders = [order(key, scope, typed) for key in over.order]
    frame = _frame(over, scope, typed) if over.frame else _default_frame(it, name, over)
    if None in keys or None in orders or frame is None:
        return None
    parts = []
    if keys:
        parts.append(f"PARTITION BY {', '.join(map(str, keys))}")
    if orders:
        parts.append(f"ORDER BY {', '.join(map(str, orders))}")
    return f"({' '.join([*parts, frame])})"


def order(key: tree.Order, scope: TypeScope, typed: Typing) -> str | None:
    text = typed(key.key, scope).text
    direction = "DESC" if key.descending else "ASC"
    return None if text is None else f"{text} {direction} NULLS {key.nulls}"


def _default_frame(it: tree.WrittenCall, name: str, over: tree.WrittenWindow) -> str | None:
    if name in ("lag", "lead"):
        step = "1"
        if len(it.arguments) > 1:
            offset = it.arguments[1]
            step = getattr(offset, "text", "") if getattr(offset, "kind", "") == "integer" else ""
        if not step.isdigit():
            return None
        step = f"-{step}" if name == "lag" else step
        return f"ROWS BETWEEN {step} FOLLOWING AND {step} FOLLOWING"
    if name in _RANKS:
        return f"ROWS {_SO_FAR}"
    if over.order or name == "cume_dist":
        return f"RANGE {_SO_FAR}"
    return _WHOLE


def _frame(over: tree.WrittenWindow, scope: TypeScope, typed: Typing) -> str | None:
    frame = over.frame
    assert frame is not None
    bounds = []
    for value, word in (frame.start, frame.end):
        if value is None:
            bounds.append(word)
            continue
        bound = typed(value, scope)
        if bound.text is None:
            return None
        same = frame.unit == "ROWS" or _same_type(bound, over, scope, typed)
        if not same and word == "PRECEDING":  # cast to the type of the key, minus and all
            bounds.append(f"(- {bound.text}) FOLLOWING")
        else:
            bounds.append(f"{bound.text} {word}")
    return f"{frame.unit} BETWEEN {bounds[0]} AND {bounds[1]}"


def _same_type(bound: Typed, over: tree.WrittenWindow, scope: TypeScope, typed: Typing) -> bool:
    key = typed(over.order[0].key, scope).type if over.order else None
    if key is None or bound.type is None:
        raise UnknownError("a RANGE over an unknown type")
    return key == bound.type or key.name.startswith(("date", "timestamp"))
