"""Aggregates whose value depends on the order of their rows, as sums of floating-point numbers do
(docs/soundness.md, "The dimension side is read twice").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlrewrite.plan.algebra import Call, Cast, ColumnRef, Expression, Literal, Plan
from sqlrewrite.plan.columns import computed_as, expression_type
from sqlrewrite.plan.facts.functions import function, tagged
from sqlrewrite.plan.facts.literals import number_type
from sqlrewrite.plan.memo import remembered

_ROOM = 28
_EXACT = frozenset({"tinyint", "smallint", "int"})
"""Their sum is a BIGINT, with room for four billion of the greatest. A sum of BIGINT has no room:
in ANSI mode it raises an error where it overflows on its way, and in another order it need not."""


@remembered
def has_order_sensitive(plan: Plan) -> bool:
    """Whether a statement has an aggregate that may be order-sensitive. Most have none, and no
    column need be followed to what it is computed from."""
    return any(is_exact_by_type(name) for block in plan.blocks for name in block.functions)


def order_sensitive(plan: Plan, nodes: Iterable[Expression]) -> Iterator[Call]:
    """The aggregates among nodes that may give another value for the same rows."""
    aggregates = (it for it in nodes if isinstance(it, Call) and is_exact_by_type(it.name))
    yield from (it for it in aggregates if not _same_in_any_order(plan, it))


def _same_in_any_order(plan: Plan, call: Call) -> bool:
    """Whether an aggregate gives the same value for the same rows. An average of integers adds up
    DOUBLEs, whose sum is exact up to 2^53: four million of the greatest INT may pass it. A
    percentile adds up nothing."""
    (summed, *_), name = call.args, call.name
    if name in tagged("ranked"):
        kind = expression_type(plan, summed) or ""
        return kind in (*_EXACT, "bigint") or kind.startswith("decimal")
    if name in tagged("average"):
        kind = expression_type(plan, summed) or ""
        counts = isinstance(summed, ColumnRef) and _counts(plan, summed)
        return kind in ("tinyint", "smallint") or _has_room(kind) or counts
    return _exact(plan, summed)


def why_order_sensitive(plan: Plan, call: Call) -> str:
    """Why an aggregate may give another value for the same rows."""
    name, summed = call.name, call.args[0]
    if name in tagged("average") | tagged("ranked"):
        kind = expression_type(plan, summed)
        return f"{name}() of {kind or 'what is not known'} depends on the order of rows"
    if expression_type(plan, summed) == "bigint":
        return "a sum of BIGINT may overflow in one order of its rows and not in another"
    return "a sum that may be of floating-point numbers depends on the order"


def is_exact_by_type(name: str) -> bool:
    """Whether a function is exact for integers and decimals only."""
    found = function(name)
    return found is not None and found.again == "exact"


def _exact(plan: Plan, expression: Expression) -> bool:
    """Whether the sum of these values is the same in any order: of integers and decimals that have
    room, and of counts."""
    match expression:
        case Literal(kind="number", text=text):
            number = str(number_type(text))
            return number in _EXACT or _has_room(number)
        case Call(name="distinct", args=args):
            return all(_exact(plan, arg) for arg in args)
        case Cast(type="bigint", operand=operand) if expression_type(plan, operand) in _EXACT:
            return True
        case ColumnRef() if _counts(plan, expression):
            return True
        case ColumnRef() | Cast() | Call():
            kind = expression_type(plan, expression)
            return kind is not None and (kind in _EXACT or _has_room(kind))
        case _:
            return False


def _counts(plan: Plan, ref: ColumnRef) -> bool:
    """Whether a column is a count: all counts together are no more than there are rows."""
    found = computed_as(plan, ref)
    return bool(found) and all(isinstance(it, Call) and it.name == "count" for it in found)


def _has_room(kind: str) -> bool:
    """Whether a type is a decimal whose sum has ten more digits. With fewer, a sum that overflows
    on its way is NULL, or an error, and in another order it need not be."""
    name, _, digits = kind.partition("(")
    return name == "decimal" and int(digits.partition(",")[0]) <= _ROOM
