"""The name that Spark gives an expression (``toPrettySQL``), and its type by the analyzer's rules.

Names are printed as ``usePrettyExpression`` has them: strings without quotes, no implicit cast, no
qualifier of a column.
"""

from __future__ import annotations

from dataclasses import replace

from sqlrewrite.plan.facts import types
from sqlrewrite.plan.facts.result_types import result_type
from sqlrewrite.plan.facts.signatures import Arguments
from sqlrewrite.plan.facts.type_text import collation, parse
from sqlrewrite.plan.facts.types import valued
from sqlrewrite.sql.types import literals
from sqlrewrite.sql.types.call_names import filled
from sqlrewrite.sql.types.calls import call
from sqlrewrite.sql.types.operators import operation, replaced_by_analyzer
from sqlrewrite.sql.types.scope import (
    UNTYPED,
    TypedExpression,
    TypeScope,
    UnknownOutputError,
    field_access,
)
from sqlrewrite.sql.types.syntax import tree


def typed(it: tree.Expr, scope: TypeScope) -> TypedExpression:
    """The name and type of an expression. Raises UnknownOutputError for an unknown name."""
    match it:
        case tree.WrittenLiteral() if it.kind != "interval":
            return literals.literal(it, scope.settings) or UNTYPED
        case tree.WrittenLiteral() | tree.Interval():
            return _interval(it, scope)
        case tree.WrittenName() | tree.Field():
            return _named(it, scope)
        case tree.Operation():
            return operation(it, [typed(part, scope) for part in it.operands], scope)
        case tree.WrittenCast():
            return _cast(it, scope)
        case tree.WrittenCase():
            return _case(it, scope)
        case tree.WrittenSubquery():
            return _subquery(it, scope)
        case tree.WrittenCall():
            return call(it, scope)
        case tree.SpecialForm():
            return _special(it, scope)
        case tree.WrittenRow():
            return _row(it, scope)
        case tree.Lambda() | tree.Star():
            return UNTYPED


def _interval(it: tree.WrittenLiteral | tree.Interval, scope: TypeScope) -> TypedExpression:
    """An interval: ``interval day``, or the one type of intervals that there was before 3.2."""
    if scope.settings.legacy_interval is not False:
        return UNTYPED
    if isinstance(it, tree.WrittenLiteral):
        return literals.literal(it, scope.settings) or UNTYPED
    return literals.interval(it) or UNTYPED


def parts_of(it: tree.Expr) -> tuple[str, ...] | None:
    """The parts of a qualified name; None of any other expression."""
    if isinstance(it, tree.WrittenName):
        return (it.text,)
    if isinstance(it, tree.Field):
        before = parts_of(it.base)
        return None if before is None else (*before, it.name)
    return None


def _named(it: tree.WrittenName | tree.Field, scope: TypeScope) -> TypedExpression:
    parts = parts_of(it)
    if parts is None:
        assert isinstance(it, tree.Field)
        found = field_access(typed(it.base, scope), it.name)
        if found is None:
            raise UnknownOutputError(f"no field {it.name}")
        return replace(found, name=None)
    known = scope.resolve(parts)
    if known is not None:
        return known
    if len(parts) == 1 and parts[0].lower() in _BARE:
        return _bare(parts[0].lower(), scope)
    raise UnknownOutputError(f"no column {'.'.join(parts)}")


_BARE = frozenset(
    "current_catalog current_database current_date current_schema current_time"
    " current_timestamp localtime current_user session_user user".split()
)
"""Functions that need no parentheses."""


def _bare(word: str, scope: TypeScope) -> TypedExpression:
    """A function without parentheses. Within a larger expression Spark 4.1 prints it without them
    and 4.3 with them, so no text is told."""
    found = call(tree.WrittenCall((word,), ()), scope)
    return replace(found, text=None, name=found.text)


def _cast(it: tree.WrittenCast, scope: TypeScope) -> TypedExpression:
    operand = typed(it.operand, scope)
    kind = parse(it.to)
    if kind is None:
        return replace(UNTYPED, name=operand.name if operand.column else None)
    ntz = scope.settings.ntz
    if ntz and kind == types.TIMESTAMP and it.to.strip().lower() in _TIMESTAMP:
        kind = types.TIMESTAMP_NTZ
    kind = valued(kind)
    path = isinstance(it.operand, tree.SpecialForm) and it.operand.name == ":"
    name = operand.name if operand.column or path else None
    if kind.items or kind.name == "struct":
        return TypedExpression(operand.text, kind, name)
    word = "TRY_CAST" if it.safe else "CAST"
    plain = kind.collation is None  # as ``DataType.sql`` writes it
    shown = str(kind).upper() if plain else f"STRING COLLATE {kind.collation}"
    return TypedExpression(filled("{}({} AS {})", word, operand, shown), kind, name)


_TIMESTAMP = ("timestamp", "timestamp(6)")


def _case(it: tree.WrittenCase, scope: TypeScope) -> TypedExpression:
    operand = None if it.operand is None else typed(it.operand, scope)
    form, parts, results = "CASE", [], []
    for condition, value in it.branches:
        when, then = typed(condition, scope), typed(value, scope)
        if operand is not None and replaced_by_analyzer("=", operand, when):
            when = replace(when, text=None)
        form += " WHEN {} THEN {}" if operand is None else " WHEN ({} = {}) THEN {}"
        parts += [when, then] if operand is None else [operand, when, then]
        results.append(then)
    if it.otherwise is not None:
        other = typed(it.otherwise, scope)
        form += " ELSE {}"
        parts.append(other)
        results.append(other)
    return TypedExpression(filled(f"{form} END", *parts), scope.common(it.type for it in results))


def _subquery(it: tree.WrittenSubquery, scope: TypeScope) -> TypedExpression:
    """A subquery is printed with the outer columns that it refers to; of several the order is not
    known."""
    operand = None if it.operand is None else typed(it.operand, scope)
    before = len(scope.outer_references)
    columns = scope.context.analyze(it.query, scope)
    outer = scope.outer_references[before:]
    value = columns[0].type if len(columns) == 1 else None
    kind = value if it.kind == "scalar" else types.BOOLEAN
    if len(outer) > 1 or "" in outer or isinstance(it.operand, tree.WrittenRow):
        return TypedExpression(None, kind)
    parts = ("".join(outer),) if operand is None else (operand, "".join(outer))
    return TypedExpression(filled(_SUBQUERIES[it.kind], *parts), kind)


_SUBQUERIES = {
    "exists": "exists({})",
    "scalar": "scalarsubquery({})",
    "in": "({} IN (listquery({})))",
}


def _special(it: tree.SpecialForm, scope: TypeScope) -> TypedExpression:
    parts = [typed(part, scope) for part in it.arguments]
    match it.name:
        case "LIKE ESCAPE":
            return TypedExpression(filled("{} LIKE {} ESCAPE '{}'", *parts, it.word), types.BOOLEAN)
        case "ILIKE ESCAPE":
            return TypedExpression(None, types.BOOLEAN)
        case "COLLATE":
            name = collation(it.word)
            given = parts[0].type is not None and parts[0].type.is_string
            kind = types.string(name) if name is not None and given else None
            return TypedExpression(filled("collate({}, {})", *parts, it.word), kind)
        case ":":
            variant = parts[0].type == types.VARIANT
            kind = types.VARIANT if variant else None
            return TypedExpression(None, kind, it.word if variant and it.word else None)
        case "CURRENT":
            return _bare(it.word.lower(), scope)
        case "EXTRACT":
            field = tree.WrittenLiteral("string", it.word)
            return call(tree.WrittenCall(("extract",), (field, *it.arguments)), scope)
        case "TRIM":
            return _trim(it, parts, scope)
        case "POSITION":
            return TypedExpression(filled("locate({}, {}, 1)", *parts), types.INT)
        case "TIMESTAMPADD":
            return _timestamp_add(it.word, *parts)
        case "TIMESTAMPDIFF":
            text = filled("timestampdiff({}, {}, {})", it.word, *parts)
            return TypedExpression(text, types.BIGINT)
        case _:
            return UNTYPED


def _trim(it: tree.SpecialForm, parts: list[TypedExpression], scope: TypeScope) -> TypedExpression:
    name = {"BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}[it.word]
    found = call(tree.WrittenCall((name,), (it.arguments[-1],)), scope)
    if len(parts) == 1:
        return found
    if any(part.type is None or part.type.collation for part in parts):
        found = replace(found, type=None)
    return replace(found, text=filled("TRIM({} {} FROM {})", it.word, *parts))


def _timestamp_add(unit: str, amount: TypedExpression, start: TypedExpression) -> TypedExpression:
    kind = start.type
    if kind is not None and kind not in (types.TIMESTAMP, types.TIMESTAMP_NTZ):
        kind = types.TIMESTAMP if kind == types.DATE or kind.is_string else None
    return TypedExpression(filled("timestampadd({}, {}, {})", unit, amount, start), kind)


def _row(it: tree.WrittenRow, scope: TypeScope) -> TypedExpression:
    """``(1, 2)`` is a named_struct; ``struct(1, 2 AS b)`` keeps its name."""
    if any(isinstance(item.value, tree.Star) for item in it.items):
        return UNTYPED
    values = [typed(item.value, scope) for item in it.items]
    names: list[str] = []
    for number, (item, value) in enumerate(zip(it.items, values, strict=True), 1):
        cast = isinstance(item.value, tree.WrittenCast | tree.WrittenCall)  # has no name in a row
        given = item.names[0] if item.names else None if cast else value.name
        names.append(f"col{number}" if given is None else given)
    kinds = tuple(value.type for value in values)
    kind = result_type("struct", Arguments(kinds, scope.settings, names=tuple(names)))
    form, parts = list[str](), list[TypedExpression | str]()
    for item, name, value in zip(it.items, names, values, strict=True):
        if not it.written:
            form.append("{}, {}")
            parts += [name, value]
        else:
            form.append("{} AS {}" if item.names else "{}")
            parts += [value, name] if item.names else [value]
    word = "struct" if it.written else "named_struct"
    return TypedExpression(filled(f"{word}({', '.join(form)})", *parts), kind)
