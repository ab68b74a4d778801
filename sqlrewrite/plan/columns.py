"""The columns of relations and queries, by name and by position, and their types."""

from __future__ import annotations

from sqlrewrite.plan.expressions import Call, Cast, ColumnRef, Expression, Literal
from sqlrewrite.plan.nodes import (
    Aggregate,
    CteReference,
    Derived,
    Generate,
    Limit,
    Node,
    Opaque,
    Output,
    Plan,
    Project,
    Relation,
    Scan,
    SetOperation,
)

# The types that functions return, where that does not depend on their arguments.
_RETURNS = {
    **dict.fromkeys(("count", "count_if", "unix_timestamp"), "bigint"),
    **dict.fromkeys(
        "year month day dayofmonth dayofweek dayofyear weekday weekofyear quarter hour minute "
        "second length datediff date_diff instr locate rank dense_rank row_number ntile".split(),
        "int",
    ),
    **dict.fromkeys(
        "upper lower ucase lcase trim ltrim rtrim btrim substr substring left right concat "
        "concat_ws || initcap reverse replace date_format lpad rpad dayname monthname".split(),
        "string",
    ),
    **dict.fromkeys("current_date to_date date_add date_sub last_day next_day".split(), "date"),
    **dict.fromkeys("current_timestamp now to_timestamp date_trunc".split(), "timestamp"),
}

# Widest first: a set operation over several of them is of the widest.
_INTEGERS = ("bigint", "int", "smallint", "tinyint")

# Functions that return one of their arguments, whose type is then theirs.
_SAME_TYPE = frozenset({"min", "max", "coalesce", "nvl", "ifnull", "distinct"})


def outputs(node: Node) -> tuple[Output, ...] | None:
    """The columns a query returns, in order; None where they are not all known."""
    while True:
        match node:
            case Project(outputs=found, complete=complete):
                return found if complete else None
            case SetOperation(left=child):
                node = child
            case Limit(child=child) | Aggregate(child=child):
                node = child
            case _:
                return None


def column_names(leaf: Relation | Generate) -> tuple[str, ...] | None:
    """The columns of a relation in order, lower case; None where they are not all known."""
    match leaf:
        case Scan(columns=names):
            return names or None
        case Derived(query=query, columns=columns) | CteReference(query=query, columns=columns):
            return columns or query.names
        case Generate(columns=columns) | Opaque(columns=columns):
            return columns


def column_type(plan: Plan, ref: ColumnRef) -> str | None:
    """The Spark type of a column, or None where it is not known for sure."""
    key = ("type", ref.relation, ref.name)
    if key not in plan.memo:
        plan.memo[key] = _column_type(plan, ref)
    found: str | None = plan.memo[key]
    return found


def _column_type(plan: Plan, ref: ColumnRef) -> str | None:
    leaf = plan.relations[ref.relation]
    match leaf:
        case Scan(table=table):
            column = table.column(ref.name)
            return None if column is None else column.type
        case Derived(query=query, columns=renamed) | CteReference(query=query, columns=renamed):
            names = renamed or query.names
            if names is None or names.count(ref.name) != 1:
                return None
            return _position_type(plan, query.node, names.index(ref.name))
        case _:
            return None


def expression_type(plan: Plan, expression: Expression) -> str | None:
    """The Spark type of an expression, or None where it is not known for sure."""
    match expression:
        case ColumnRef():
            return column_type(plan, expression)
        case Cast(type=kind):
            return kind
        case Call(name=name) if name in _RETURNS:
            return _RETURNS[name]
        case Literal(kind="typed", type=kind):
            return kind or None
        case Literal(kind="string" | "boolean" as kind):
            return kind
        case Literal(kind="number", text=text) if text.isdigit() and len(text) < 10:
            return "int"
        case Call(name=name, args=args) if name in _SAME_TYPE and args:
            types = {expression_type(plan, arg) for arg in args}
            return types.pop() if len(types) == 1 else None
        case _:
            return None


def _position_type(plan: Plan, node: Node, position: int) -> str | None:
    """The type of a query's column; a set operation's only where all its branches agree, or are
    integers."""
    kinds: set[str | None] = set()
    stack = [node]
    while stack and None not in kinds:
        top = stack.pop()
        match top:
            case Project(outputs=found, complete=True) if position < len(found):
                kinds.add(expression_type(plan, found[position].expression))
            case SetOperation(left=left, right=right):
                stack += [left, right]
            case Limit(child=child) | Aggregate(child=child):
                stack.append(child)
            case _:
                return None
    if len(kinds) > 1 and all(kind in _INTEGERS for kind in kinds):
        return next(kind for kind in _INTEGERS if kind in kinds)
    return kinds.pop() if len(kinds) == 1 else None
