"""Expressions of the plan: what a condition says, with no trace of how it was parsed.

An operator or function is a ``Call`` under its SQL name (``and``, ``=``, ``between``, ``upper``),
so that what is legal can be a table of names. Column references are resolved: a relation's number
and a lower-case column name, and the span of text where the author wrote it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlrewrite.frozen import dataclass
from sqlrewrite.model import Span

if TYPE_CHECKING:
    from sqlrewrite.plan.nodes import Query


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """A column of the relation with that number; ``qualified`` as written."""

    relation: int
    name: str
    span: Span | None
    qualified: bool = True


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant: ``string``, ``number``, ``null``, ``boolean``, ``star``, ``typed`` (DATE '…',
    with its ``type``)."""

    kind: str
    text: str = ""
    type: str = ""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter marker; a positional one (``?``) must not be repeated in the text."""

    positional: bool


@dataclass(frozen=True, slots=True)
class Call:
    """An operator or function under its lower-case SQL name."""

    name: str
    args: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Cast:
    """A cast to a Spark type, lower case; ``safe`` is TRY_CAST, which gives NULL where CAST raises
    an error."""

    operand: Expression
    type: str
    safe: bool = False


@dataclass(frozen=True, slots=True)
class Subquery:
    """A query inside an expression: ``scalar``, ``exists`` or ``in`` (then with its operand).

    ``outer`` are the columns of enclosing queries it refers to.
    """

    kind: str
    query: Query
    operand: Expression | None = None
    outer: tuple[ColumnRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Unknown:
    """What the binder does not know: never copied, never reasoned about."""

    reason: str
    args: tuple[Expression, ...] = ()


Expression = ColumnRef | Literal | Parameter | Call | Cast | Subquery | Unknown


def children(expression: Expression) -> tuple[Expression, ...]:
    """The direct operands, with a subquery's outer references but not its insides."""
    match expression:
        case Call(args=args) | Unknown(args=args):
            return args
        case Cast(operand=operand):
            return (operand,)
        case Subquery(operand=operand, outer=outer):
            return outer if operand is None else (operand, *outer)
        case _:
            return ()


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and all below it, parents first."""
    stack = [expression]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(children(node))


def columns(expression: Expression, *, inside: bool = True) -> tuple[ColumnRef, ...]:
    """All column references, with those of subqueries to the outside unless ``inside`` is False."""
    found: list[ColumnRef] = []
    stack = [expression]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is ColumnRef:
            found.append(node)  # type: ignore[arg-type]
        elif kind is Call:
            stack += node.args  # type: ignore[union-attr]
        elif kind is Literal:
            continue
        elif isinstance(node, Subquery) and not inside:
            stack += () if node.operand is None else (node.operand,)
        else:
            stack += children(node)
    return tuple(found)


def relations(expression: Expression) -> frozenset[int]:
    """The numbers of the relations that an expression refers to."""
    return frozenset([ref.relation for ref in columns(expression)])


def conjuncts(expression: Expression) -> Iterator[Expression]:
    """The operands of a conjunction, nested ones flattened, in the author's order."""
    if isinstance(expression, Call) and expression.name == "and":
        for arg in expression.args:
            yield from conjuncts(arg)
    else:
        yield expression


def substitute(expression: Expression, of: Callable[[ColumnRef], ColumnRef]) -> Expression:
    """The expression with each column reference replaced."""
    match expression:
        case ColumnRef():
            return of(expression)
        case Call(args=args) | Unknown(args=args):
            return replace(expression, args=tuple(substitute(arg, of) for arg in args))
        case Cast(operand=operand):
            return replace(expression, operand=substitute(operand, of))
        case Subquery(operand=operand, outer=outer):
            return replace(
                expression,
                operand=None if operand is None else substitute(operand, of),
                outer=tuple(of(ref) for ref in outer),
            )
        case _:
            return expression
