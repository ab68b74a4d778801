"""Queries to their columns: SELECT, set operations, CTEs and the pipe syntax."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from sqlrewrite.plan.facts import types
from sqlrewrite.sql.types.relations import column_type, columns_of
from sqlrewrite.sql.types.scope import (
    ScopeColumns,
    TypedColumn,
    TypedExpression,
    TypeScope,
    UnknownOutputError,
    star_columns,
    visible,
    with_names,
)
from sqlrewrite.sql.types.syntax import tree


def analyze(query: tree.WrittenQuery, scope: TypeScope) -> ScopeColumns:
    """The columns of a query in an outer scope. Raises UnknownOutputError."""
    return visible(_query(query, scope))


def _query(query: tree.WrittenQuery, scope: TypeScope) -> ScopeColumns:
    for cte in query.ctes:
        columns = _cte(cte, scope, query.recursive)
        scope = replace(scope, context=scope.context.with_cte(cte.name, columns))
    return _body(query.body, scope)


def _cte(cte: tree.WrittenCte, scope: TypeScope, recursive: bool) -> ScopeColumns | None:
    """A CTE's columns, or None where they are not known: that matters only where it is used."""
    if cte.name.lower() in scope.context.ctes:
        return None  # spark.sql.legacy.ctePrecedencePolicy says which of the two it is
    before = len(scope.outer_references)
    try:
        if recursive and isinstance(cte.query.body, tree.WrittenSetOperation):
            left = replace(cte.query, body=cte.query.body.left)
            anchor = with_names(analyze(left, scope), cte.columns)
            inner = replace(scope, context=scope.context.with_cte(cte.name, anchor))
            analyze(cte.query, inner)
            return anchor
        return with_names(analyze(cte.query, scope), cte.columns)
    except UnknownOutputError:
        return None
    finally:
        if len(scope.outer_references) > before:
            scope.outer_references.append("")  # Spark counts these only where the CTE is used


def _body(body: tree.Body, scope: TypeScope) -> ScopeColumns:
    match body:
        case tree.Select():
            return _select(body, scope)
        case tree.WrittenSetOperation():
            return _set_operation(body, scope)
        case tree.WrittenQuery():
            return _query(body, scope)
        case tree.Piped():
            return _piped(body, scope)
        case _:
            return columns_of(body, scope)


def _select(it: tree.Select, outer: TypeScope) -> ScopeColumns:
    columns = () if it.source is None else columns_of(it.source, outer)
    scope = outer.inner(columns, it.windows)
    if it.script is not None:  # all strings if no types are given; key and value if no names are
        given = it.script or (("key", None), ("value", None))
        return tuple(TypedColumn(name, column_type(text or "string")) for name, text in given)
    found = tuple(items(it.items, scope))
    for condition in (*it.conditions, *it.groups):  # notes the outer columns that they refer to
        with suppress(UnknownOutputError):  # HAVING may refer to a name of SELECT, say
            scope.typed(condition)
    return found


def items(
    given: tuple[tree.WrittenItem, ...], scope: TypeScope, groups: int = 0
) -> list[TypedColumn]:
    """The columns that items of SELECT make; the first ``groups`` are those of |> AGGREGATE, where
    a number stands for a column."""
    found: list[TypedColumn] = []
    aliases: dict[str, TypedExpression] = {}
    for number, item in enumerate(given):
        if isinstance(item.value, tree.Star) and not item.names:
            found += [TypedColumn(it.name, it.type) for it in star_columns(item.value, scope)]
            continue
        known = _numbered(item.value, scope) if number < groups else None
        known = known or replace(scope, aliases=dict(aliases)).typed(item.value)
        if known.generator is not None:
            found += with_names(known.generator, item.names)
            continue
        if len(item.names) > 1:
            raise UnknownOutputError("several names for one column")
        name = item.names[0] if item.names else (known.name or known.text)
        found.append(TypedColumn(name, known.type))
        if item.names:
            aliases[item.names[0].lower()] = known
    return found


def _numbered(value: tree.Expr, scope: TypeScope) -> TypedExpression | None:
    """The column that an INT in GROUP BY stands for (``SubstituteUnresolvedOrdinals``); None of
    what is no such number. Raises UnknownOutputError where there is no such column."""
    known = scope.typed(value) if isinstance(value, tree.WrittenLiteral) else None
    if known is None or known.type != types.INT or not isinstance(known.constant, int):
        return None
    columns = visible(scope.columns)
    if not 1 <= known.constant <= len(columns):
        raise UnknownOutputError(f"no column {known.constant}")
    column = columns[known.constant - 1]
    return TypedExpression(None, column.type, column.name, column=True)


def _set_operation(it: tree.WrittenSetOperation, scope: TypeScope) -> ScopeColumns:
    left, right = visible(_body(it.left, scope)), visible(_body(it.right, scope))
    if len(left) != len(right) or it.by_name:
        raise UnknownOutputError("as many columns on both sides wanted")
    return tuple(
        TypedColumn(one.name, scope.common((one.type, other.type)))
        for one, other in zip(left, right, strict=True)
    )


def _piped(it: tree.Piped, outer: TypeScope) -> ScopeColumns:
    before = _body(it.source, outer)
    scope = outer.inner(before, it.windows)
    match it.operator:
        case "SELECT":
            return tuple(items(it.items, scope))
        case "EXTEND":
            return (*before, *items(it.items, scope))
        case "SET":
            return _set(it, before, scope)
        case "DROP":
            gone = {name.lower() for name in it.names}
            return tuple(c for c in before if c.key not in gone)
        case "AS":
            return tuple(TypedColumn(c.name, c.type, it.names) for c in visible(before))
        case "AGGREGATE":
            return tuple(items((*it.groups, *it.items), scope, groups=len(it.groups)))
        case "WHERE":
            return before
        case _:
            assert it.relation is not None
            return columns_of(it.relation, outer, before)


def _set(it: tree.Piped, before: ScopeColumns, scope: TypeScope) -> ScopeColumns:
    found = list(before)
    for item in it.items:
        [made] = items((item,), replace(scope, columns=tuple(found)))
        places = [n for n, c in enumerate(found) if c.key == item.names[0].lower()]
        if len(places) != 1:
            raise UnknownOutputError("one column to set wanted")
        found[places[0]] = TypedColumn(item.names[0], made.type)
    return tuple(found)
