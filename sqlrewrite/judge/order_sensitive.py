"""Sums and averages: of which values they are the same in any order of the rows
(docs/soundness.md, "The dimension side is read twice").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlrewrite.plan.algebra import Call, Cast, ColumnRef, Expression, Literal, Plan
from sqlrewrite.plan.columns import computed_as, expression_type
from sqlrewrite.plan.facts.functions import function, tagged
from sqlrewrite.plan.facts.literals import of_number

_ROOM = 28
_EXACT = frozenset({"tinyint", "smallint", "int"})
"""Their sum is a BIGINT, with room for four billion of the greatest. That of BIGINT has none: in
ANSI mode it raises an error where it leaves the range on its way; in another order it need not."""


def order_sensitive(plan: Plan, nodes: Iterable[Expression]) -> Iterator[Call]:
    """The sums and the like among nodes that may give another value of the same rows."""
    for node in nodes:
        if (
            isinstance(node, Call)
            and is_exact_by_type(node.name)
            and not _same_in_any_order(plan, node)
        ):
            yield node


def _same_in_any_order(plan: Plan, call: Call) -> bool:
    """Whether an aggregate gives the same of the same rows. An average of integers is that of
    DOUBLEs, whose sum is exact up to 2^53: of an INT four million of the greatest may pass it. Of
    the values of a percentile none are added up."""
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
    """Why it may."""
    name, summed = call.name, call.args[0]
    if name in tagged("average") | tagged("ranked"):
        kind = expression_type(plan, summed)
        return f"{name}() of {kind or 'what is not known'} depends on the order of rows"
    if expression_type(plan, summed) == "bigint":
        return "a sum of BIGINT may overflow in one order of its rows and not in another"
    return "a sum that may be of floating-point numbers depends on the order"


def is_exact_by_type(name: str) -> bool:
    """Whether a function is exact of integers and decimals alone."""
    found = function(name)
    return found is not None and found.again == "exact"


def _exact(plan: Plan, expression: Expression) -> bool:
    """Whether adding up such values gives the same in any order: integers and decimals that have
    room, and counts."""
    match expression:
        case Literal(kind="number", text=text):
            number = str(of_number(text))
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
    """Whether a column counts rows: all of them together are no more than there are."""
    found = computed_as(plan, ref)
    return bool(found) and all(isinstance(it, Call) and it.name == "count" for it in found)


def _has_room(kind: str) -> bool:
    """Whether it is a decimal whose sum has ten digits more. Where there are less, a sum that goes
    beyond them on its way is NULL, or an error, and in another order it need not be."""
    name, _, digits = kind.partition("(")
    return name == "decimal" and int(digits.partition(",")[0]) <= _ROOM
