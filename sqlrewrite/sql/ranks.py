"""Windows that put the rows of a SELECT in the order of one column, from one end on.

In: a SELECT and what translates its expressions. Out: that column, and whether its greatest values
come first, where each window of the SELECT ranks all rows so. Its first rows are then the same
whether or not the last ones are there (docs/soundness.md, "The latest partition").
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqlrewrite.plan.algebra import ColumnRef
from sqlrewrite.sql.translate import Translator

RANKS = frozenset({"rank", "dense_rank", "row_number"})
_FIRST = {"max": True, "min": False}
"""Functions over all rows of which the value is that of the first ones."""


def ranked(node: exp.Select, translator: Translator) -> tuple[ColumnRef, bool] | None:
    """The column that all windows of a SELECT rank its rows by, and whether it descends."""
    alone = ("distinct", "group", "having", "laterals", "pivots")
    if any(node.args.get(it) for it in alone):
        return None
    found = {_ranked(it, translator) for it in _windows(node)}
    return found.pop() if len(found) == 1 else None


def _windows(node: exp.Select) -> Iterator[exp.Window]:
    for clause in (*node.expressions, node.args.get("qualify"), node.args.get("order")):
        if clause is not None:
            yield from clause.find_all(exp.Window)


def _ranked(window: exp.Window, translator: Translator) -> tuple[ColumnRef, bool] | None:
    named, base = window.args.get("alias"), window
    if isinstance(named, exp.Expr):
        found = translator.windows.get(named.name.lower())
        if not isinstance(found, exp.Window) or window.args.get("order"):
            return None
        base = found
    called, order = window.this, base.args.get("order")
    plain = not (base.args.get("partition_by") or base.args.get("spec") or window.args.get("spec"))
    if not plain or not isinstance(called, exp.Anonymous):
        return None
    name, given = called.name.lower(), called.expressions
    if name in _FIRST and order is None and len(given) == 1:
        return _column(given[0], translator, _FIRST[name])
    if name not in RANKS or given or order is None:
        return None
    if name == "row_number" and len(order.expressions) == 1:
        return None  # of rows that are equal in its only key any may come first
    first = order.expressions[0]
    if not isinstance(first, exp.Ordered):
        return None
    return _column(first.this, translator, bool(first.args.get("desc")))


def _column(
    tree: exp.Expr, translator: Translator, descends: bool
) -> tuple[ColumnRef, bool] | None:
    found = translator.translate(tree) if isinstance(tree, exp.Column) else None
    return (
        (ColumnRef(found.relation, found.name, None), descends)
        if isinstance(found, ColumnRef)
        else None
    )
