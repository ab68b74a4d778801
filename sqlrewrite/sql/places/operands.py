"""Where in the text the nodes of an expression stand, with their operands.

sqlglot's tree has places for names and constants only. So the text of a condition is read again by
Spark's grammar (``sql/types``), beside the plan's expression; where the two differ, nothing is
told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlrewrite.plan.algebra import Call, Cast, ColumnRef, Expression, Subquery
from sqlrewrite.plan.expressions import operands
from sqlrewrite.sql.places.token_walk import AnchorError
from sqlrewrite.sql.types.syntax import tree
from sqlrewrite.sql.types.syntax.cursor import UnsupportedSyntaxError
from sqlrewrite.sql.types.syntax.queries import QueryReader
from sqlrewrite.text.edits import Span

_Written = tree.Expr | tuple[tree.Expr, tree.Expr] | tree.WrittenQuery
"""A node as it is written, a WHEN with its THEN, or the query in a subquery."""


@dataclass(frozen=True, slots=True)
class Written:
    """The span of a node without parentheses around it, and those of its operands with theirs."""

    span: Span
    operands: tuple[Span, ...]


def written(
    text: str, at: int, expression: Expression, paths: Sequence[tuple[int, ...]]
) -> dict[tuple[int, ...], Written]:
    """The nodes of an expression at the ends of some paths. ``text`` is the whole text of the
    expression, which begins at the offset ``at``. Raises AnchorError where they do not match."""
    reader = _Reader(text, at)
    try:
        top = reader.expression()
    except UnsupportedSyntaxError as error:
        raise AnchorError(f"an expression that is not understood: {error}") from error
    if reader.token.kind is not None:
        raise AnchorError("an expression that goes on")
    return {path: _found(reader, top, expression, path) for path in paths}


class _Reader(QueryReader):
    """Reads an expression and notes the span of each node, without and with its parentheses; of
    queries, only those behind which a LIMIT may stand."""

    def __init__(self, text: str, at: int) -> None:
        super().__init__(text)
        self.offset = at
        self.inner: dict[int, Span] = {}
        self.outer: dict[int, Span] = {}
        self.noted: list[_Written] = []  # what lives on has a number of its own
        self.end = 0

    def placed(self, start: int, found: tree.Expr) -> tree.Expr:
        self._note(start, found)
        return found

    def _note(self, start: int, found: _Written) -> None:
        first, last = self.tokens[start], self.tokens[self.at - 1]
        span = Span(self.offset + first.start, self.offset + last.end)
        self.inner.setdefault(id(found), span)
        self.outer[id(found)] = span
        self.noted.append(found)

    def query(self) -> tree.WrittenQuery:
        start = self.at
        found = super().query()
        if self.at == self.end:  # no ORDER BY, LIMIT or pipe behind it
            self._note(start, found)
        return found

    def _set_operation(self) -> tree.Body:
        found = super()._set_operation()
        self.end = self.at
        return found


def _found(
    reader: _Reader, top: tree.Expr, expression: Expression, path: tuple[int, ...]
) -> Written:
    node: _Written = top
    for step in path:
        node = _operands(reader, node, expression)[step]
        expression = operands(expression)[step]
    its: tuple[_Written, ...]
    match node:
        case tree.WrittenSubquery("scalar", query):
            its = (query,)
        case _:
            its = _operands(reader, node, expression)
    if id(node) not in reader.inner or not all(id(it) in reader.outer for it in its):
        raise AnchorError("an operand is not found in the text")
    return Written(reader.inner[id(node)], tuple(reader.outer[id(it)] for it in its))


def _operands(reader: _Reader, node: _Written, expression: Expression) -> tuple[_Written, ...]:
    """The operands of a node as written, checked against those of the expression."""
    found = _as_written(node, expression)
    inside = operands(expression)
    if found is None or len(found) != len(inside):
        raise AnchorError("the text of an expression is not that of the tree")
    for it, said in zip(found, inside, strict=True):
        span = reader.inner.get(id(it))
        if isinstance(said, ColumnRef) and span != said.span:
            raise AnchorError("a column of an expression is not that of the tree")
    return found


def _as_written(node: _Written, expression: Expression) -> tuple[_Written, ...] | None:
    match expression, node:
        case Call(name="and" | "or" as name), tree.Operation():
            return tuple(_flat(node, name.upper()))
        case Call(name="not", args=(Call(name="isnull"),)), tree.Operation("IS NOT NULL", operands):
            return (tree.Operation("IS NULL", operands),)
        case Call(name="not"), tree.Operation("NOT", operands):
            return operands
        case Call(name="isnull"), tree.Operation("IS NULL", operands):
            return operands
        case Call(name="."), tree.Field(base, name):
            return base, tree.WrittenName(name)
        case Subquery(kind=kind), tree.WrittenSubquery(its, query, operand) if its == kind:
            return (*(() if operand is None else (operand,)), *_inside(query, kind != "exists"))
        case Call(name="=>"), tree.Lambda(body=body):
            return (body,)
        case Call(name="timestampadd" | "timestampdiff" | "extract" as name), tree.SpecialForm(
            its, arguments
        ):
            alike = its.lower() == name
            return (arguments[0], *arguments) if alike else None  # the unit is a word
        case Call(name="case"), tree.WrittenCase(operand, branches, otherwise):
            around = [() if it is None else (it,) for it in (operand, otherwise)]
            return (*around[0], *branches, *around[1])
        case Call(name="if"), (condition, value):
            return condition, value
        case Call(name="-", args=(_,)), tree.Operation("unary -", operands):
            return operands
        case Cast(), tree.WrittenCast(operand):
            return (operand,)
        case Cast(), tree.WrittenCall(arguments=(argument,)):
            return (argument,)
        case Call(name=name), tree.Operation(operator, operands):
            return operands if operator == name.upper() else None
        case Call(name=name), tree.WrittenCall(called, arguments):
            return arguments if ".".join(called).lower() == name else None
        case _:
            return None


def _inside(query: tree.WrittenQuery, listed: bool) -> Iterator[tree.Expr]:
    """The parts of a query that is one SELECT: its list, if ``listed``, its WHERE and its
    HAVING."""
    if isinstance(query.body, tree.Select):
        yield from (it.value for it in query.body.items if listed)
        for condition in query.body.conditions:
            yield from _flat(condition, "AND")


def _flat(node: tree.Expr, operator: str) -> Iterator[tree.Expr]:
    if isinstance(node, tree.Operation) and node.operator == operator:
        for operand in node.operands:
            yield from _flat(operand, operator)
    else:
        yield node
