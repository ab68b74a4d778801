"""Windows that rank all rows of a SELECT by one column.

In: a SELECT and what translates its expressions. Out: that column, and whether its greatest values
come first, if each window ranks all rows so. The first rows are then the same whether or not the
last ones are there (docs/soundness.md, "The latest partition").
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqlrewrite.plan.algebra import ColumnRef
from sqlrewrite.plan.facts.functions import tagged
from sqlrewrite.sql.bind.translate import Translator

_FIRST = {"max": True, "min": False}
"""Functions over all rows that return the first value of a column, and whether that is the
greatest."""

OF_FIRST = frozenset({"first_value", "first"})
"""Functions that return a value of the first row in the order of the window."""

OF_LAST = frozenset({"last_value", "last"})
"""Functions that return a value of the last row, if the frame holds all rows."""


def ranked(node: exp.Select, translator: Translator) -> tuple[ColumnRef, bool] | None:
    """The column by which all windows of a SELECT rank its rows, and whether it descends; None if
    they do not all rank by one column. All must put NULLs at the same end: otherwise removing rows
    in the middle would change the rank of rows at one end."""
    alone = ("distinct", "group", "having", "laterals", "pivots")
    if any(node.args.get(clause) for clause in alone):
        return None
    bases = [(window, translator.window_definition(window)) for window in _windows(node)]
    rankings = {_ranked(window, base, translator) for window, base in bases}
    first = {
        bool(key.args.get("nulls_first")) is not _is_turned(window)
        for window, base in bases
        for key in _keys(base)[:1]
    }
    return rankings.pop() if len(rankings) == 1 and len(first) < 2 else None


def _windows(node: exp.Select) -> Iterator[exp.Window]:
    for clause in (*node.expressions, node.args.get("qualify"), node.args.get("order")):
        if clause is not None:
            yield from clause.find_all(exp.Window)


def _keys(base: exp.Expr | None) -> list[exp.Expr]:
    order = base.args.get("order") if base is not None else None
    return order.expressions if order is not None else []


def _ranked(
    window: exp.Window, base: exp.Expr | None, translator: Translator
) -> tuple[ColumnRef, bool] | None:
    if not isinstance(base, exp.Window) or (base is not window and window.args.get("order")):
        return None
    called, keys = window.this, _keys(base)
    frames = [
        frame for frame in (base.args.get("spec"), window.args.get("spec")) if frame is not None
    ]
    whole = bool(frames) and all(map(_is_whole, frames))
    plain = not base.args.get("partition_by") and (whole or not frames)
    if not plain or not isinstance(called, exp.Anonymous):
        return None
    name, arguments = called.name.lower(), called.expressions
    if name in _FIRST and (whole or not keys) and len(arguments) == 1:
        return _column(arguments[0], translator, _FIRST[name])
    first = keys[0] if keys else None
    if not isinstance(first, exp.Ordered):
        return None
    descends = bool(first.args.get("desc")) is not _is_turned(window)
    column = _column(first.this, translator, descends)
    if name in OF_FIRST or (name in OF_LAST and whole):
        alone = (
            column == _column(arguments[0], translator, descends) if len(arguments) == 1 else False
        )
        return column if alone else None
    if name not in tagged("numbers") or arguments or frames:
        return None
    if name == "row_number" and len(keys) == 1:
        return None  # rows with equal keys may come in any order
    return column


def _is_whole(frame: exp.Expr) -> bool:
    """Whether a frame holds all rows of its partition."""
    ends = (f"{frame.args.get(edge)} {frame.args.get(f'{edge}_side')}" for edge in ("start", "end"))
    return [end.upper() for end in ends] == ["UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING"]


def _is_turned(window: exp.Window) -> bool:
    """Whether the function of a window returns the last value in its order."""
    return isinstance(window.this, exp.Anonymous) and window.this.name.lower() in OF_LAST


def _column(
    tree: exp.Expr, translator: Translator, descends: bool
) -> tuple[ColumnRef, bool] | None:
    column = translator.translate(tree) if isinstance(tree, exp.Column) else None
    return (
        (ColumnRef(column.relation, column.name, None), descends)
        if isinstance(column, ColumnRef)
        else None
    )
