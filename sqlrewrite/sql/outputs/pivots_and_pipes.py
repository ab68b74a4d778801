"""The columns of what has a syntax of its own: PIVOT, UNPIVOT, TRANSFORM, and the pipe operators
AGGREGATE, SET and DROP. Each function returns None where not all columns are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.facts.constants import number_type
from sqlrewrite.plan.facts.types import INT, STRING, VOID
from sqlrewrite.sql.bind.plan_names import type_name
from sqlrewrite.sql.bind.translate import Translator
from sqlrewrite.sql.outputs.call_names import inside
from sqlrewrite.sql.outputs.output_translator import OutputTranslator

_GROUPINGS = ("all", "grouping_sets", "cube", "rollup", "totals")


def script_columns(script: exp.Expr) -> list[ra.OutputColumn]:
    """The columns of a TRANSFORM: strings if it gives no types, ``key`` and ``value`` if it gives
    no names."""
    schema = script.args.get("schema")
    fields: list[tuple[str, exp.Expr | None]] = [("key", None), ("value", None)]
    if schema is not None:
        fields = [(field.name, field.args.get("kind")) for field in schema.expressions]
    return [_typed(name, str(STRING) if kind is None else type_name(kind)) for name, kind in fields]


def _typed(name: str, kind: str) -> ra.OutputColumn:
    """A column of which only the name and type are known."""
    return ra.OutputColumn(name.lower(), ra.Cast(ra.Literal("null"), kind), name)


def _aggregate(node: exp.Select, translator: Translator) -> list[ra.OutputColumn] | None:
    """``|> AGGREGATE … GROUP BY …``: the keys, then the aggregates."""
    before, group = translator.star(exp.Star()), node.args.get("group")
    if before is None or (group is not None and any(map(group.args.get, _GROUPINGS))):
        return None
    keys = [_key(key, before, translator) for key in (group.expressions if group else ())]
    items = [_item(item, translator) for item in node.expressions[1:]]
    columns = [column for column in (*keys, *items) if column is not None]
    return columns if len(columns) == len(keys) + len(items) else None


def _key(
    key: exp.Expr, before: Sequence[ra.OutputColumn], translator: Translator
) -> ra.OutputColumn | None:
    """The column of a GROUP BY key; an integer is the position of a column in the input."""
    place = inside(key.unalias())
    constant = isinstance(place, exp.Literal) and not place.is_string
    if not constant or number_type(place.name) != INT:
        return _item(key, translator)
    position = int(place.name)
    if not 1 <= position <= len(before):
        return None
    column = before[position - 1]
    label = key.alias or column.label
    return ra.OutputColumn((label or "").lower(), column.expression, label)


def _item(item: exp.Expr, translator: Translator) -> ra.OutputColumn | None:
    """The single column of an item in a list."""
    expression = translator.translate(item)
    label = translator.label(item)
    if translator.may_be_several(item, expression):
        return None
    return ra.OutputColumn((label or "").lower(), expression, label)


def _set(node: exp.Select, translator: Translator) -> list[ra.OutputColumn] | None:
    """``|> SET a = 1``: the columns of the input, one of them with another value."""
    columns, items = translator.star(exp.Star()), node.expressions[1:]
    if columns is None or len(items) != 1 or not isinstance(items[0], exp.EQ):
        return None
    name = items[0].this.name
    places = [at for at, column in enumerate(columns) if column.name == name.lower()]
    if len(places) != 1:
        return None
    value = translator.translate(items[0].expression)
    columns[places[0]] = ra.OutputColumn(name.lower(), value, name)
    return columns


def _drop(node: exp.Select, translator: Translator) -> list[ra.OutputColumn] | None:
    """``|> DROP a``: the columns of the input without ``a``."""
    dropped = {item.name.lower() for item in node.expressions[1:]}
    columns = translator.star(exp.Star())
    if columns is None:
        return None
    return [column for column in columns if column.name not in dropped]


PIPES: dict[str, Callable[[exp.Select, Translator], list[ra.OutputColumn] | None]] = {
    "AGGREGATE": _aggregate,
    "SET": _set,
    "DROP": _drop,
}
"""Functions that return the columns after a pipe operator, by the operator."""


def pivoted(
    pivot: exp.Expr, before: Sequence[ra.OutputColumn], translator: OutputTranslator
) -> list[ra.OutputColumn] | None:
    """The columns after PIVOT: those of the input that neither an aggregate nor FOR mentions, then
    one for each value and aggregate."""
    fields = list(pivot.args.get("fields") or ())
    if len(fields) != 1 or not isinstance(fields[0], exp.In):
        return None
    if any(not column.name for column in before):
        return None
    used = {
        part.name.lower()
        for tree in (*pivot.expressions, fields[0].this)
        for column in tree.find_all(exp.Column)
        for part in column.parts
    }
    columns = [column for column in before if column.name not in used]
    aggregates = []
    for item in pivot.expressions:
        expression = translator.translate(item)
        aggregates.append((translator.label(item), expression))
    for value in fields[0].expressions:
        name = value.alias if isinstance(value, exp.PivotAlias) else _constant(value, translator)
        for label, expression in aggregates:
            full = name
            if len(aggregates) > 1:
                full = None if name is None or label is None else f"{name}_{label}"
            columns.append(ra.OutputColumn((full or "").lower(), expression, full))
    return columns


def _constant(value: exp.Expr, translator: OutputTranslator) -> str | None:
    """A value of a PIVOT cast to a string; None if it is no plain constant."""
    translator.translate(value)
    constant = translator.printer().printed(inside(value))
    if constant.kind == VOID:
        return "null"
    if isinstance(constant.constant, bool):
        return str(constant.constant).lower()
    return None if constant.constant is None else str(constant.constant)


def unpivoted(
    pivot: exp.Expr, before: Sequence[ra.OutputColumn], translator: OutputTranslator
) -> list[ra.OutputColumn] | None:
    """The columns after UNPIVOT: those of the input that it does not take, the column of names, the
    columns of values."""
    fields = list(pivot.args.get("fields") or ())
    if len(fields) != 1 or len(pivot.expressions) != 1:
        return None
    names = _several(pivot.expressions[0])
    taken: set[str] = set()
    values: list[list[ra.Expression]] = [[] for _ in names]
    for group in fields[0].expressions:
        members = _several(group.this if isinstance(group, exp.PivotAlias) else group)
        if len(members) != len(names):
            return None
        for place, member in enumerate(members):
            value = translator.translate(member)
            if not isinstance(value, ra.ColumnRef):
                return None
            taken.add(member.name.lower())
            values[place].append(value)
    columns = [column for column in before if column.name not in taken]
    columns.append(_typed(fields[0].this.name, str(STRING)))
    for label, parts in zip(names, values, strict=True):
        shared = ra.Unknown("a column of UNPIVOT", tuple(parts), merged=True)
        columns.append(ra.OutputColumn(label.name.lower(), shared, label.name))
    return columns


def _several(node: exp.Expr) -> list[exp.Expr]:
    """The members of ``(a, b)``, or of ``a`` alone."""
    return list(node.expressions) if isinstance(node, exp.Tuple) else [inside(node)]
