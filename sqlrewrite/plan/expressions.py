"""What an expression is made of: its operands, columns, conjuncts, and columns put in place of
others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from sqlrewrite.plan.algebra import (
    Aggregate,
    Call,
    Cast,
    ColumnRef,
    Expression,
    Filter,
    Limit,
    Literal,
    Node,
    Project,
    Query,
    Subquery,
    Unknown,
    Variable,
    Window,
)


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


def operands(expression: Expression) -> tuple[Expression, ...]:
    """What an expression is computed of as it is written: of a subquery, what its one SELECT has in
    its list (but EXISTS asks for no value), its WHERE and its HAVING."""
    if not isinstance(expression, Subquery):
        return children(expression)
    operand = () if expression.operand is None else (expression.operand,)
    shown, conditions = written_in(expression.query)
    return (*operand, *(() if expression.kind == "exists" else shown), *conditions)


def written_in(query: Query) -> tuple[tuple[Expression, ...], tuple[Expression, ...]]:
    """The SELECT list, and the conjuncts of WHERE and HAVING, of a query that is one SELECT."""
    shown: tuple[Expression, ...] = ()
    conditions: tuple[Expression, ...] = ()
    node: Node = query.node
    while True:
        match node:
            case Project(child=node, outputs=outputs):
                shown = tuple(it.expression for it in outputs)
            case Filter(child=node, conditions=found):
                conditions = (*(it.expression for it in found), *conditions)
            case Limit(child=node) | Aggregate(child=node) | Window(child=node):
                pass
            case _:
                return shown, conditions


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
        case Variable(given=given):
            return replace(expression, given=tuple(substitute(it, of) for it in given))
        case _:
            return expression


def said(expression: Expression) -> object:
    """An expression as a value to compare, wherever it stands, whosever its columns are."""
    match expression:
        case ColumnRef(name=name):
            return ("column", name)
        case Call(name=name, args=args):
            return (name, *map(said, args))
        case Cast(operand=operand, type=kind, safe=safe):
            return ("cast", said(operand), kind, safe)
        case _:
            return expression
