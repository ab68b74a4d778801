"""Integer arithmetic in a form that cannot raise an error.

Whether ``k + 3`` over INT overflows with an error or wraps around is a session's setting. Computed
in wider numbers and then brought back into the range, it wraps around under both settings: where
the original raises an error, the form only adds a key. Spark's ReorderAssociativeOperator cannot
turn this form into an overflow, as it does with ``if(k > …, k - 2147483647 - …, k + 3)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlrewrite.plan.algebra import Call, Cast, ColumnRef, Expression, Literal
from sqlrewrite.plan.facts.coercion import is_integral
from sqlrewrite.plan.facts.functions import part_range
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.plan.facts.types import BIGINT, BITS, DATE, INT, TIMESTAMP, Type, ends_of

TypeOf = Callable[[Expression], Type | None]

_RING = ("+", "-", "*")


@dataclass(frozen=True, slots=True)
class Wrapping:
    """A form without errors: the template for each ``column``, and the one for the ``whole``
    expression; with ``anew`` that stands around the column and not around the author's text."""

    column: str
    whole: str
    anew: bool = False


_OF_INT = Wrapping("CAST({} AS BIGINT)", "CAST(shiftright(shiftleft({}, 32), 32) AS INT)")


def wrapping(expression: Expression, of: TypeOf) -> Wrapping | None:
    """The form of sums and products of INTs without errors; None if there is none, or no need."""
    if in_range(expression, of) or not _is_ring(expression, of):
        return None
    values = _range(expression, of)
    return _OF_INT if values is not None and _within(values, BIGINT) else None


def in_range(expression: Expression, of: TypeOf) -> bool:
    """Whether integer arithmetic never leaves the range of its type: ``CAST(k AS BIGINT) + 1``."""
    kind, values = of(expression), _range(expression, of)
    if kind is None or values is None or kind not in BITS or not _within(values, kind):
        return False
    match expression:
        case Call(name=name, args=args) if name in _RING:
            return all(not isinstance(arg, Call) or in_range(arg, of) for arg in args)
        case _:
            return True


def _is_ring(expression: Expression, of: TypeOf) -> bool:
    """Whether an expression has only INT columns, constants, and operators that give INT: then
    wrapping around once at the end equals wrapping around at each step."""
    match expression:
        case ColumnRef():
            kind = of(expression)
            return kind is not None and is_integral(kind) and kind != BIGINT
        case Literal(kind="number"):
            return of(expression) == INT
        case Call(name=name, args=args) if name in _RING and args:
            return of(expression) == INT and all(_is_ring(arg, of) for arg in args)
        case _:
            return False


def _within(values: tuple[int, int], kind: Type) -> bool:
    least, most = ends_of(kind)
    return least <= values[0] and values[1] <= most


def _range(expression: Expression, of: TypeOf) -> tuple[int, int] | None:
    """The least and the greatest value of an expression, computed without overflow."""
    match expression:
        case Literal(kind="number", text=text) if text.lstrip("-").isdigit():
            return int(text), int(text)
        case Literal(kind="typed", text=text, type=name) if parse(name) in BITS:
            return int(text), int(text)
        case ColumnRef() | Cast():
            kind = of(expression)
            if kind not in BITS:
                return None
            inside = _range(expression.operand, of) if isinstance(expression, Cast) else None
            return inside if inside and _within(inside, kind) else ends_of(kind)
        case Call(name="-", args=(arg,)):
            values = _range(arg, of)
            return None if values is None else (-values[1], -values[0])
        case Call(name=name, args=(arg,)) if (range_of := part_range(name)) is not None:
            return range_of if of(arg) in (DATE, TIMESTAMP) else None
        case Call(name=name, args=(one, other)) if name in _RING:
            first, second = _range(one, of), _range(other, of)
            return None if first is None or second is None else _combined(name, first, second)
        case _:
            return None


def _combined(name: str, one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    if name == "+":
        return one[0] + other[0], one[1] + other[1]
    if name == "-":
        return one[0] - other[1], one[1] - other[0]
    corners = [a * b for a in one for b in other]
    return min(corners), max(corners)
