"""Where in the text the nodes of an expression stand, with their operands.

The parser's tree has no places but those of names and constants. So the text of a condition is read
again, by Spark's grammar (``sql/types``), side by side with the plan's expression: where the two do
not say the same, nothing is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlrewrite.frozen import dataclass
from sqlrewrite.plan.algebra import Call, Cast, ColumnRef, Expression
from sqlrewrite.plan.expressions import children
from sqlrewrite.sql.types.expressions import Expressions
from sqlrewrite.sql.types.tokens import UnreadError
from sqlrewrite.sql.types.tree import (
    Expr,
    In,
    Index,
    Operation,
    WrittenCall,
    WrittenCase,
    WrittenCast,
)
from sqlrewrite.sql.walking import AnchorError
from sqlrewrite.text.edits import Span

_WORDS = {"div": "DIV", "like": "LIKE", "ilike": "ILIKE", "rlike": "RLIKE", "between": "BETWEEN"}

_Written = Expr | tuple[Expr, Expr]
"""A node as it is written, or a WHEN with its THEN."""


@dataclass(frozen=True, slots=True)
class Written:
    """A node in the text, without parentheses around it, and its operands with theirs."""

    span: Span
    operands: tuple[Span, ...]


def written(
    text: str, at: int, expression: Expression, paths: Sequence[tuple[int, ...]]
) -> dict[tuple[int, ...], Written]:
    """The nodes of an expression at the ends of some paths; ``text`` is all of its text, which is
    found ``at`` an offset. Raises AnchorError where it is not what the expression says."""
    reader = _Reader(text, at)
    try:
        tree = reader.expression()
    except UnreadError as error:
        raise AnchorError(f"an expression that is not understood: {error}") from error
    if reader.token.kind != "end":
        raise AnchorError("an expression that goes on")
    return {path: _found(reader, tree, expression, path) for path in paths}


class _Reader(Expressions):
    """Reads an expression and notes where each node stands: without its parentheses, and with."""

    def __init__(self, text: str, at: int) -> None:
        super().__init__(text)
        self.offset = at
        self.inner: dict[int, Span] = {}
        self.outer: dict[int, Span] = {}

    def placed(self, start: int, found: Expr) -> Expr:
        first, last = self.tokens[start], self.tokens[self.at - 1]
        span = Span(self.offset + first.start, self.offset + last.end)
        self.inner.setdefault(id(found), span)
        self.outer[id(found)] = span
        return found


def _found(reader: _Reader, tree: Expr, expression: Expression, path: tuple[int, ...]) -> Written:
    node: _Written = tree
    for step in path:
        node = _operands(reader, node, expression)[step]
        expression = children(expression)[step]
    operands = _operands(reader, node, expression)
    if id(node) not in reader.inner or not all(id(it) in reader.outer for it in operands):
        raise AnchorError("an operand that has no place in the text")
    return Written(reader.inner[id(node)], tuple(reader.outer[id(it)] for it in operands))


def _operands(reader: _Reader, node: _Written, expression: Expression) -> tuple[_Written, ...]:
    """The operands of a node as they are written, each the one that the expression has there."""
    found = _as_written(node, expression)
    inside = children(expression)
    if found is None or len(found) != len(inside):
        raise AnchorError("the text of an expression is not that of the tree")
    for it, said in zip(found, inside, strict=True):
        span = reader.inner.get(id(it))
        if isinstance(said, ColumnRef) and span != said.span:
            raise AnchorError("a column of an expression is not that of the tree")
    return found


def _as_written(node: _Written, expression: Expression) -> tuple[_Written, ...] | None:
    match expression, node:
        case Call(name="and" | "or" as name), Operation():
            return tuple(_flat(node, name.upper()))
        case Call(name="not", args=(Call(name="isnull"),)), Operation("IS NOT NULL", operands):
            return (Operation("IS NULL", operands),)
        case Call(name="not"), Operation("NOT", operands):
            return operands
        case Call(name="isnull"), Operation("IS NULL", operands):
            return operands
        case Call(name="in"), In(operand, values):
            return (operand, *values)
        case Call(name="[]"), Index(base, index):
            return base, index
        case Call(name="case"), WrittenCase(operand, branches, otherwise):
            around = [() if it is None else (it,) for it in (operand, otherwise)]
            return (*around[0], *branches, *around[1])
        case Call(name="if"), (condition, value):
            return condition, value
        case Call(name="-", args=(_,)), Operation("unary -", operands):
            return operands
        case Cast(), WrittenCast(operand):
            return (operand,)
        case Cast(), WrittenCall(arguments=(argument,)):
            return (argument,)
        case Call(name=name), Operation(operator, operands):
            return operands if operator == _WORDS.get(name, name) else None
        case Call(name=name), WrittenCall(called, arguments):
            return arguments if ".".join(called).lower() == name else None
        case _:
            return None


def _flat(node: Expr, operator: str) -> Iterator[Expr]:
    if isinstance(node, Operation) and node.operator == operator:
        for operand in node.operands:
            yield from _flat(operand, operator)
    else:
        yield node
