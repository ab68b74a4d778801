"""sqlglot's expression trees to the plan's own expressions, columns resolved on the way.

An operator is a ``Call`` under its SQL sign, a function one under the name the author wrote
(sqlglot renames them; the text has the name). What is not in the tables here becomes ``Unknown``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlglot import exp

from sqlrewrite.model import Span
from sqlrewrite.plan.expressions import (
    Call,
    Cast,
    Expression,
    Literal,
    Parameter,
    Subquery,
    Unknown,
)
from sqlrewrite.sql.scope import Scope, resolve

_OPERATORS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.NullSafeEQ: "<=>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.Between: "between",
    exp.Like: "like",
    exp.ILike: "ilike",
    exp.RegexpLike: "rlike",
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.IntDiv: "div",
    exp.DPipe: "||",
    exp.Case: "case",
    exp.If: "if",
    exp.Dot: ".",
    exp.Bracket: "[]",
    exp.Extract: "extract",
    exp.Trim: "trim",
    exp.CurrentDate: "current_date",
    exp.CurrentTimestamp: "current_timestamp",
    exp.CurrentUser: "current_user",
    exp.Distinct: "distinct",
    exp.Filter: "filter",
    exp.Order: "order",
    exp.Ordered: "ordered",
    exp.Tuple: "tuple",
    exp.Concat: "concat",
    exp.Any: "any",
    exp.WithinGroup: "within group",
    exp.IgnoreNulls: "ignore nulls",
    exp.RespectNulls: "respect nulls",
    exp.Array: "array",
}

# What sqlglot wraps around an argument of a function it normalises; Spark knows nothing of them.
_WRAPPERS = (exp.TsOrDsToDate, exp.TimeStrToTime, exp.TsOrDsToTimestamp)

_TYPE_NAMES = {"TEXT": "string", "DECIMAL": "decimal(10,0)", "TIMESTAMPTZ": "timestamp"}


@dataclass(slots=True)
class Facts:
    """What the expressions of one block contain beside their values."""

    functions: set[str] = field(default_factory=set)
    unknowns: list[str] = field(default_factory=list)
    partitions: list[tuple[Expression, ...]] = field(default_factory=list)
    aggregates: bool = False


@dataclass(slots=True)
class Translator:
    """Translates the expressions of one text; ``in_view`` where that is not the author's own."""

    text: str
    in_view: bool
    bind_subquery: Callable[
        [exp.Expr, Scope, str, Expression | None, bool, bool], Subquery | Unknown
    ]

    def translate(
        self,
        node: exp.Expr,
        scope: Scope,
        facts: Facts,
        *,
        windows: dict[str, exp.Expr] | None = None,
        required: bool = False,
        negated: bool = False,
    ) -> Expression:
        """The plan's expression for a tree; ``required`` for a top-level conjunct of WHERE, whose
        own EXISTS or IN then decides over the row (``negated`` under one NOT)."""

        def down(child: exp.Expr) -> Expression:
            return self.translate(child, scope, facts, windows=windows)

        match node:
            case exp.Column():
                return self._column(node, scope, facts)
            case exp.Literal():
                return Literal("string" if node.is_string else "number", node.name)
            case exp.Paren():
                return self.translate(
                    node.this, scope, facts, windows=windows, required=required, negated=negated
                )
            case exp.And() | exp.Or():
                operands = _operands(node, type(node))
                return Call(
                    "and" if isinstance(node, exp.And) else "or",
                    tuple(down(operand) for operand in operands),
                )
            case exp.Not():
                inner = self.translate(
                    node.this,
                    scope,
                    facts,
                    windows=windows,
                    required=required and not negated,
                    negated=True,
                )
                return Call("not", (inner,))
            case exp.Exists() if isinstance(node.this, (exp.Query, exp.Subquery)):
                return self._subquery(node.this, scope, "exists", None, required, negated, facts)
            case exp.In() if node.args.get("query") is not None:
                operand = down(node.this)
                return self._subquery(
                    node.args["query"], scope, "in", operand, required, negated, facts
                )
            case exp.In():
                if node.args.get("unnest") or node.args.get("field"):
                    return self._unknown(node, down, facts)
                return Call("in", (down(node.this), *(down(item) for item in node.expressions)))
            case exp.Query():
                return self._subquery(node, scope, "scalar", None, False, False, facts)
            case exp.Is():
                if isinstance(node.expression, exp.Null):
                    return Call("isnull", (down(node.this),))
                return Call("is", (down(node.this), down(node.expression)))
            case exp.Null():
                return Literal("null")
            case exp.Boolean():
                return Literal("boolean", str(bool(node.this)).lower())
            case exp.Star():
                return Literal("star")
            case exp.Placeholder():
                if node.this is None:
                    facts.functions.add("?")
                return Parameter(positional=node.this is None)
            case exp.Cast():
                return self._cast(node, down)
            case exp.Neg():
                inner = down(node.this)
                return inner if isinstance(inner, Literal) else Call("-", (inner,))
            case exp.Interval() if isinstance(node.this, exp.Literal):
                return Literal("typed", node.name)
            case exp.Window():
                return self._window(node, down, facts, windows)
            case exp.Alias():
                return down(node.this)
            case exp.Lambda() | exp.Kwarg() | exp.PropertyEQ():
                return self._unknown(node, down, facts)
            case _:
                return self._call(node, down, facts)

    def _column(self, node: exp.Column, scope: Scope, facts: Facts) -> Expression:
        identifiers = [part for part in node.parts if isinstance(part, exp.Identifier)]
        if len(identifiers) != len(node.parts):
            return Unknown("a star of columns")
        parts = tuple(part.name.lower() for part in identifiers)
        found = resolve(scope, parts, self._span(identifiers))
        if isinstance(found, Unknown) and not found.args:
            facts.unknowns.append(found.reason)
        return found

    def _span(self, identifiers: list[exp.Identifier]) -> Span | None:
        start, end = identifiers[0].meta.get("start"), identifiers[-1].meta.get("end")
        if self.in_view or start is None or end is None:
            return None
        return Span(start, end + 1)

    def _cast(self, node: exp.Expr, down: Callable[[exp.Expr], Expression]) -> Expression:
        operand = down(node.this)
        if isinstance(operand, Literal) and operand.kind in ("string", "number", "null"):
            return Literal("typed", operand.text)
        return Cast(operand, type_name(node.args["to"]))

    def _window(
        self,
        node: exp.Expr,
        down: Callable[[exp.Expr], Expression],
        facts: Facts,
        windows: dict[str, exp.Expr] | None,
    ) -> Expression:
        # Aggregates under OVER are no aggregation of the block.
        before = facts.aggregates
        inner = down(node.this)
        facts.aggregates = before
        named = node.args.get("alias")
        base = (windows or {}).get(named.name.lower()) if isinstance(named, exp.Expr) else node
        keys = base.args.get("partition_by") or [] if base is not None else []
        partition = tuple(down(key) for key in keys)
        facts.partitions.append(partition)
        order = node.args.get("order")
        rest = tuple(down(item) for item in order.expressions) if order is not None else ()
        return Call("over", (inner, *partition, *rest))

    def _subquery(
        self,
        node: exp.Expr,
        scope: Scope,
        kind: str,
        operand: Expression | None,
        required: bool,
        negated: bool,
        facts: Facts,
    ) -> Expression:
        bound = self.bind_subquery(node, scope, kind, operand, required, negated)
        if isinstance(bound, Unknown):
            facts.unknowns.append(bound.reason)
        return bound

    def _call(
        self, node: exp.Expr, down: Callable[[exp.Expr], Expression], facts: Facts
    ) -> Expression:
        operator = _OPERATORS.get(type(node))
        if isinstance(node, exp.Like | exp.ILike) and node.args.get("negate"):
            return Call(
                "not", (Call(operator or "like", (down(node.this), down(node.expression))),)
            )
        if isinstance(node, _WRAPPERS) and "start" not in node.meta:
            return down(node.this)
        if isinstance(node, exp.AggFunc):
            facts.aggregates = True
        if operator is None and isinstance(node, exp.Func):
            operator = self._function_name(node)
            if operator is None:
                return self._unknown(node, down, facts)
            facts.functions.add(operator)
        if operator is None:
            return self._unknown(node, down, facts)
        return Call(operator, tuple(down(child) for child in _children(node)))

    def _function_name(self, node: exp.Expr) -> str | None:
        start, end = node.meta.get("start"), node.meta.get("end")
        if start is None or end is None:
            # Spelled with a syntax of their own (SUBSTRING(x FROM 1)): only these lack a position.
            return type(node).sql_names()[0].lower() if isinstance(node, exp.Func) else None
        written = self.text[start : end + 1].lower()
        # A function behind a qualifier (db.f) is the user's own, whatever its last name says.
        if isinstance(node.parent, exp.Dot) and node.parent.expression is node:
            return f"{node.parent.this.name.lower()}.{written}"
        return written.strip("`")

    def _unknown(
        self, node: exp.Expr, down: Callable[[exp.Expr], Expression], facts: Facts
    ) -> Unknown:
        reason = f"{type(node).__name__.lower()} is not understood"
        if not isinstance(node, exp.Var | exp.Identifier | exp.DataType):
            facts.unknowns.append(reason)
        return Unknown(reason, tuple(down(child) for child in _children(node)))


def type_name(node: exp.Expr) -> str:
    """A type as Spark writes it, lower case: ``int``, ``decimal(7,2)``, ``char(5)``."""
    plain = str(node.this.value) if hasattr(node.this, "value") else str(node.this)
    if not node.expressions:
        return _TYPE_NAMES.get(plain, plain.lower())
    return node.sql("spark").lower().replace(" ", "")


def _operands(node: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    """The operands of a chain of one connective, without recursion: chains run to thousands."""
    found: list[exp.Expr] = []
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, kind):
            stack.append(current.args["expression"])
            stack.append(current.this)
        else:
            found.append(current)
    return found


def _children(node: exp.Expr) -> list[exp.Expr]:
    """Operands in the text's order where sqlglot keeps it; names and types are no operands."""
    skipped = (exp.Identifier, exp.Var, exp.DataType, exp.TableAlias)
    found: list[exp.Expr] = []
    for value in node.args.values():
        items = value if isinstance(value, list) else [value]
        found.extend(
            item for item in items if isinstance(item, exp.Expr) and not isinstance(item, skipped)
        )
    return found
