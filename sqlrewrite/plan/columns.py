"""The columns of relations and queries by name and position, and the types of expressions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TypeGuard

from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.facts.coercion import common_of_known, read_as
from sqlrewrite.plan.facts.constants import number_type
from sqlrewrite.plan.facts.error_free import (
    ValueRange,
    Wrapping,
    attempted_day,
    fits,
    is_ring_operation,
    range_of,
    wrapping,
)
from sqlrewrite.plan.facts.functions import Arguments, function
from sqlrewrite.plan.facts.result_types import (
    fixed_result,
    lambda_parameters,
    result_type,
    takes,
)
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.plan.facts.types import (
    BOOLEAN,
    STRING,
    TIMESTAMP_NTZ,
    VOID,
    ExactSettings,
    Type,
    field_of,
    valued,
)
from sqlrewrite.plan.memo import count_steps, remembered_by_node
from sqlrewrite.warehouse import Table


def outputs(node: ra.Node) -> tuple[ra.OutputColumn, ...] | None:
    """The columns that a query returns, in order; None if they are not all known."""
    while isinstance(node, ra.SetOperation | ra.Limit | ra.Aggregate):
        node = node.left if isinstance(node, ra.SetOperation) else node.child
    return node.outputs if isinstance(node, ra.Project) and node.complete else None


def column_names(leaf: ra.Relation | ra.Generate) -> tuple[str, ...] | None:
    """The columns of a relation, in order and lower case; None if they are not all known."""
    match leaf:
        case ra.Scan(table=table):
            return table.names or None
        case (
            ra.Derived(query=query, columns=columns) | ra.CteReference(query=query, columns=columns)
        ):
            return columns or query.names
        case ra.Generate(columns=columns) | ra.Inline(columns=columns) | ra.Opaque(columns=columns):
            return columns


def computed_as(plan: ra.Plan, ref: ra.ColumnRef) -> tuple[ra.Expression, ...]:
    """The expressions that the top blocks of a derived table, CTE or view compute for a column;
    empty for a table's column, and if the columns are not all known."""
    count_steps()
    relation = plan.relations[ref.relation]
    if not isinstance(relation, ra.Derived | ra.CteReference):
        return ()
    names = column_names(relation)
    if names is None or ref.name not in names:
        return ()
    shown = [plan.blocks[number].outputs for number in relation.query.top]
    place = names.index(ref.name)
    return tuple(columns[place].expression for columns in shown if len(columns) == len(names))


def keeps_type(plan: ra.Plan, column: ra.ColumnRef, below: ra.ColumnRef) -> bool:
    """Whether a column of a derived table or CTE has the type of the column ``below`` that one of
    its SELECTs returns for it, so that a condition says the same of both: a UNION casts its
    branches to one type. ``CAST(c AS STRING) = '1.0'`` is true of a DECIMAL and not of the INT that
    it was, ``c = 'a'`` of a CHAR and not of the STRING that becomes of it."""
    relation = plan.relations[column.relation]
    if isinstance(relation, ra.Derived | ra.CteReference) and len(relation.query.top) == 1:
        return True
    kind, own = type_of(plan, column), type_of(plan, below)
    return kind is not None and own is not None and read_as(kind) == read_as(own)


def expression_type(plan: ra.Plan, expression: ra.Expression) -> str | None:
    """``type_of`` as text."""
    kind = type_of(plan, expression)
    return None if kind is None else str(kind)


def type_of(plan: ra.Plan, expression: ra.Expression) -> Type | None:
    """The Spark type of an expression; None if it is not known, or not the same under all settings
    of the plan."""
    match expression:
        case ra.ColumnRef():
            return _of_column(plan, expression)
        case ra.Literal():
            return _agreed(_of_literal(expression, settings) for settings in plan.settings)
        case _:
            return _of_node(plan, expression)


@remembered_by_node
def _of_node(plan: ra.Plan, expression: ra.Expression) -> Type | None:
    return _agreed(_of_expression(plan, expression, settings) for settings in plan.settings)


def _agreed(kinds: Iterable[Type | None]) -> Type | None:
    """The one type among ``kinds``; None if they differ."""
    distinct = set(kinds)
    return distinct.pop() if len(distinct) == 1 else None


def arithmetic(plan: ra.Plan, expression: ra.Expression) -> Wrapping | None:
    """The error-free form of integer arithmetic; None if it raises no error as it is, or has no
    such form."""
    if stays_in_range(plan, expression):
        return None
    return wrapping(expression, partial(type_of, plan), partial(_range_of, plan))


@remembered_by_node
def stays_in_range(plan: ra.Plan, expression: ra.Expression) -> bool:
    """Whether integer arithmetic never leaves the range of its type: ``CAST(k AS BIGINT) + 1``."""
    if not fits(_range_of(plan, expression), type_of(plan, expression)):
        return False
    parts = expression.args if is_ring_operation(expression) else ()
    return all(not isinstance(part, ra.Call) or stays_in_range(plan, part) for part in parts)


@remembered_by_node
def _range_of(plan: ra.Plan, expression: ra.Expression) -> ValueRange | None:
    return range_of(expression, partial(type_of, plan), partial(_range_of, plan))


def harmless(plan: ra.Plan, expression: ra.Expression) -> Wrapping | None:
    """The error-free form of a key; None if it raises no error as it is, or has no such form."""
    return arithmetic(plan, expression) or attempted_day(expression, partial(type_of, plan))


def _of_column(plan: ra.Plan, ref: ra.ColumnRef) -> Type | None:
    key = ("type", ref.relation, ref.name)
    if key not in plan.memo:
        plan.memo[key] = _of_leaf(plan, ref)
    kind: Type | None = plan.memo[key]
    return kind


def _of_leaf(plan: ra.Plan, ref: ra.ColumnRef) -> Type | None:
    leaf = plan.relations[ref.relation]
    match leaf:
        case ra.Scan(table=table):
            return _declared(plan, table, ref.name)
        case ra.Derived(query=query) | ra.CteReference(query=query):
            names = column_names(leaf)
            if names is None or names.count(ref.name) != 1:
                return None
            return _of_branches(plan, query.node, names.index(ref.name))
        case ra.Generate(expression=generator, columns=names) if (
            names and names.count(ref.name) == 1
        ):
            columns, place = type_of(plan, generator), names.index(ref.name)
            return columns.items[place] if columns and len(columns.items) == len(names) else None
        case ra.Opaque(renamed=Table() as table, columns=names) if (
            names and len(names) == len(table.names) and names.count(ref.name) == 1
        ):
            return _declared(plan, table, table.names[names.index(ref.name)])
        case ra.Inline(rows=rows, columns=names) if names.count(ref.name) == 1:
            place = names.index(ref.name)
            return _common(plan, [type_of(plan, row[place]) for row in rows])
        case _:
            return None


def _declared(plan: ra.Plan, table: Table, name: str) -> Type | None:
    column = table.column(name)
    kind = None if column is None or column.type is None else parse(column.type)
    # The table may have been made where TIMESTAMP had a time zone.
    unsure = any(setting.ntz for setting in plan.settings) and "timestamp" in str(kind)
    return None if unsure else kind


def _of_literal(literal: ra.Literal, settings: ExactSettings) -> Type | None:
    match literal.kind:
        case "string" | "template":
            return STRING
        case "boolean":
            return BOOLEAN
        case "null":
            return VOID
        case "number":
            return number_type(literal.text)
        case _:
            zoned = literal.type == "timestamp" and _ZONE.search(literal.text)
            unsure = settings.ntz and zoned and not literal.folded
            interval = literal.type.startswith("interval") and not literal.folded
            unsure = unsure or (interval and settings.legacy_interval is not False)
            return None if unsure else _named_type(literal.type, settings)


_ZONED = ("timestamp_ltz", "timestamp_ntz")
_ZONE = re.compile(r"[A-Za-z]{2}|[Zz]$|\d[+-]\d+:\d+$")


def _named_type(text: str, settings: ExactSettings) -> Type | None:
    """The type of a cast or constant by its name; None if that depends on the session."""
    kind = parse(text) if text else None
    if settings.ntz and text.removesuffix("(6)") == "timestamp":
        return TIMESTAMP_NTZ
    if kind is None or (settings.ntz and "timestamp" in str(kind) and text not in _ZONED):
        return None
    return valued(kind)


def _of_expression(
    plan: ra.Plan, expression: ra.Expression, settings: ExactSettings
) -> Type | None:
    if isinstance(expression, ra.ColumnRef):
        return _of_column(plan, expression)
    return _under_settings(plan, expression, settings)


@remembered_by_node
def _under_settings(
    plan: ra.Plan, expression: ra.Expression, settings: ExactSettings
) -> Type | None:
    count_steps()
    match expression:
        case ra.Literal():
            return _of_literal(expression, settings)
        case ra.Cast(type=text):
            return _named_type(text, settings)
        case ra.Call(name=".", args=(base, ra.Literal(text=name))):
            return field_of(_of_expression(plan, base, settings), name)
        case ra.Call(name="over" | "filter where", args=(arg, *_)):
            return _of_expression(plan, arg, settings)
        case ra.Call(name="within group", args=(ra.Call() as call, *order)):
            return _of_expression(plan, _over_ordered(call, order), settings)
        case ra.Call(name="=>", args=(body,)):
            return _of_expression(plan, body, settings)
        case ra.Variable(name=name, number=number, place=place):
            beside = tuple(_of_expression(plan, other, settings) for other in expression.arguments)
            lambdas = lambda_parameters(expression.function, Arguments(beside, settings))
            reaching = (kinds for kinds in lambdas[number:] if place < len(kinds))
            return next((kinds[place] for kinds in reaching), None)
        case ra.Call(name="case", args=args):
            first = 0 if is_when(args[0]) else 1  # an operand stands before the first WHEN
            parts = [
                part for arg in args[first:] for part in (arg.args if is_when(arg) else (arg,))
            ]
            kinds = tuple(_of_expression(plan, part, settings) for part in parts)
            return result_type("case", Arguments(kinds, settings, (None,) * len(kinds)))
        case ra.Call(name=name, args=(ra.Call(name="distinct", args=args),)):
            return _of_expression(plan, ra.Call(name, args), settings)
        case ra.Call(name=name, args=args):
            fixed = fixed_result(name, len(args))
            if fixed is not None:
                return fixed
            kinds = tuple([_of_expression(plan, arg, settings) for arg in args])
            if name == "tuple":
                if any(map(_has_name, args)):
                    return None
                row = Arguments(kinds, settings, names=(None,) * len(args))
                return result_type("struct", row)
            literals = tuple(map(_constant_text, args))
            return result_type(name, Arguments(kinds, settings, literals))
        case ra.Subquery(kind="scalar", query=query):
            return _of_position(plan, query.node, 0)
        case ra.Subquery():
            return BOOLEAN
        case ra.Unknown(merged=True, args=args) if plan.columns_only:
            return _common(plan, [_of_expression(plan, arg, settings) for arg in args])
        case _:
            return None


def _over_ordered(call: ra.Call, order: Sequence[ra.Expression]) -> ra.Call:
    """A call before WITHIN GROUP, with the ORDER BY value as its first operand if it takes one:
    ``percentile_cont(0.5)`` and ``mode()`` do, ``listagg(x)`` does not."""
    if takes(call.name, len(call.args)):
        return call
    while order and isinstance(order[0], ra.Call) and order[0].name in ("order", "ordered"):
        order = order[0].args
    return ra.Call(call.name, (*order[:1], *call.args))


def _constant_text(arg: ra.Expression) -> str | None:
    """The text of a literal in the sense of Spark's typing rules; None for anything else."""
    if not isinstance(arg, ra.Literal) or arg.kind == "null" or arg.folded:
        return None
    return arg.text


def _has_name(arg: ra.Expression) -> bool:
    """Whether a value in a row gives its field a name, which the plan has in lower case only."""
    return isinstance(arg, ra.ColumnRef | ra.Variable) or (
        isinstance(arg, ra.Call) and arg.name == "."
    )


def is_when(arg: ra.Expression) -> TypeGuard[ra.Call]:
    """Whether an argument of a CASE is a WHEN and its THEN."""
    return isinstance(arg, ra.Call) and arg.name == "if" and len(arg.args) == 2


def _of_position(plan: ra.Plan, node: ra.Node, position: int) -> Type | None:
    """The type of a query's column as its reader sees it, where CHAR has become STRING."""
    kind = _of_branches(plan, node, position)
    return None if kind is None else valued(kind)


def output_types(plan: ra.Plan, count: int) -> tuple[Type | None, ...]:
    """The types of the ``count`` columns that a statement returns."""
    return tuple(_of_position(plan, plan.query.node, position) for position in range(count))


def _of_branches(plan: ra.Plan, node: ra.Node, position: int) -> Type | None:
    """The type of a query's column inside a statement, where CHAR stays CHAR; for a set operation
    the common type of its branches."""
    listed = [project.outputs for project in branches(node) or ()]
    if not listed or any(position >= len(outputs) for outputs in listed):
        return None
    return _common(plan, [_shown(plan, outputs[position].expression) for outputs in listed])


def branches(node: ra.Node) -> list[ra.Project] | None:
    """The SELECTs whose rows a query returns; None if the columns of one are not all known."""
    projects: list[ra.Project] = []
    stack = [node]
    while stack:
        match stack.pop():
            case ra.SetOperation(left=left, right=right):
                stack += [right, left]
            case ra.Limit(child=child) | ra.Aggregate(child=child):
                stack.append(child)
            case ra.Project(complete=True) as project:
                projects.append(project)
            case _:
                return None
    return projects


def _shown(plan: ra.Plan, expression: ra.Expression) -> Type | None:
    """The type of an item in a SELECT list; for a generator that of its only column."""
    kind = type_of(plan, expression)
    if kind is None or not isinstance(expression, ra.Call) or kind.name != "struct":
        return kind
    row = function(expression.name)
    if row is None or not row.generator:
        return kind
    return kind.items[0] if len(kind.items) == 1 else None


def _common(plan: ra.Plan, kinds: Sequence[Type | None]) -> Type | None:
    """The common type of rows; None unless it is the same with and without ANSI mode."""
    if len(set(kinds)) == 1:
        return kinds[0]
    plain = [None if kind is None else valued(kind) for kind in kinds]
    return _agreed(
        common_of_known(plain, ansi) for ansi in {setting.ansi for setting in plan.settings}
    )
