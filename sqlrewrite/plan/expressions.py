"""The parts of an expression: operands, columns, conjuncts; and the replacement of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sqlrewrite.copies import replace
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.memo import count_steps


def children(expression: ra.Expression) -> tuple[ra.Expression, ...]:
    """The direct operands; of a subquery its operand and its outer references."""
    below: tuple[ra.Expression, ...]
    match expression:
        case ra.Call(args=args) | ra.Unknown(args=args):
            below = args
        case ra.Cast(operand=operand):
            below = (operand,)
        case ra.Subquery(operand=operand, outer=outer):
            below = outer if operand is None else (operand, *outer)
        case _:
            return ()
    count_steps(len(below))
    return below


_LEAVES = frozenset({ra.ColumnRef, ra.Literal})
"""The expressions without operands that most are."""


def operands(expression: ra.Expression) -> tuple[ra.Expression, ...]:
    """The expressions evaluated for an expression: its operands and, for a subquery that is one
    SELECT, its list (except under EXISTS), WHERE and HAVING."""
    if not isinstance(expression, ra.Subquery):
        return children(expression)
    operand = () if expression.operand is None else (expression.operand,)
    shown, conditions = written_in(expression.query)
    return (*operand, *(() if expression.kind == "exists" else shown), *conditions)


def written_in(query: ra.Query) -> tuple[tuple[ra.Expression, ...], tuple[ra.Expression, ...]]:
    """The SELECT list, and the conjuncts of WHERE and HAVING, of a query that is one SELECT."""
    shown: tuple[ra.Expression, ...] = ()
    conditions: tuple[ra.Expression, ...] = ()
    node: ra.Node = query.node
    while True:
        match node:
            case ra.Project(child=node, outputs=outputs):
                shown = tuple(output.expression for output in outputs)
            case ra.Filter(child=node, conditions=own):
                conditions = (*(condition.expression for condition in own), *conditions)
            case ra.Limit(child=node) | ra.Aggregate(child=node) | ra.Window(child=node):
                pass
            case _:
                return shown, conditions


def walk(expression: ra.Expression) -> Iterator[ra.Expression]:
    """The expression and all below it, parents first."""
    stack = [expression]
    while stack:
        node = stack.pop()
        yield node
        if type(node) not in _LEAVES:
            stack.extend(children(node))


def shared_nodes(expressions: Iterable[ra.Expression]) -> Iterator[ra.Expression]:
    """The expressions and all below them, parents first, and each that several share once: a column
    that FULL joins merge stands in the conditions of all joins above."""
    seen: set[int] = set()
    for expression in expressions:
        stack = [expression]
        while stack:
            node = stack.pop()
            if id(node) not in seen:
                seen.add(id(node))
                yield node
                stack.extend(children(node))


def columns(expression: ra.Expression, *, inside: bool = True) -> tuple[ra.ColumnRef, ...]:
    """All column references; with ``inside`` also the outer references of subqueries."""
    if type(expression) is ra.ColumnRef:
        return (expression,)
    refs: list[ra.ColumnRef] = []
    stack = [expression]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is ra.ColumnRef:
            refs.append(node)  # type: ignore[arg-type]
        elif kind is ra.Call or kind is ra.Unknown:
            stack += node.args  # type: ignore[union-attr]
        elif kind is ra.Literal:
            continue
        elif isinstance(node, ra.Subquery) and not inside:
            stack += () if node.operand is None else (node.operand,)
        else:
            stack += children(node)
    count_steps(len(refs))
    return tuple(refs)


def relations(expression: ra.Expression) -> frozenset[int]:
    """The numbers of the relations that an expression refers to."""
    return frozenset([ref.relation for ref in columns(expression)])


def conjuncts(expression: ra.Expression) -> Iterator[ra.Expression]:
    """The operands of a conjunction, nested ones flattened, in the author's order."""
    if isinstance(expression, ra.Call) and expression.name == "and":
        for arg in expression.args:
            yield from conjuncts(arg)
    else:
        yield expression


def substitute(
    expression: ra.Expression, of: Callable[[ra.ColumnRef], ra.Expression]
) -> ra.Expression:
    """The expression with each column reference replaced by ``of`` it, outer references of
    subqueries too."""
    match expression:
        case ra.ColumnRef():
            return of(expression)
        case ra.Call(name=name, args=args):
            return ra.Call(name, tuple([substitute(arg, of) for arg in args]))
        case ra.Unknown(args=args):
            return replace(expression, args=tuple([substitute(arg, of) for arg in args]))
        case ra.Cast(operand=operand):
            return replace(expression, operand=substitute(operand, of))
        case ra.Subquery(operand=operand, outer=outer):
            return replace(
                expression,
                operand=None if operand is None else substitute(operand, of),
                outer=tuple(column for ref in outer for column in columns(of(ref))),
            )
        case ra.Variable(arguments=args):
            return replace(expression, arguments=tuple(substitute(arg, of) for arg in args))
        case _:
            return expression


def canonical(expression: ra.Expression) -> object:
    """A key that is equal for expressions of the same form: columns count by name alone."""
    match expression:
        case ra.ColumnRef(name=name):
            return ("column", name)
        case ra.Call(name=name, args=args):
            return (name, *map(canonical, args))
        case ra.Cast(operand=operand, type=kind, safe=safe):
            return ("cast", canonical(operand), kind, safe)
        case _:
            return expression
