"""The columns of relations: tables, views, CTEs, joins, VALUES, functions, PIVOT and UNPIVOT."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from sqlrewrite.plan.facts import types
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.plan.facts.types import Type
from sqlrewrite.sql.types.calls import call, constant_text
from sqlrewrite.sql.types.scope import (
    ScopeColumns,
    TypedColumn,
    TypeScope,
    UnknownOutputError,
    visible,
    with_names,
)
from sqlrewrite.sql.types.syntax import tree
from sqlrewrite.sql.types.syntax.cursor import UnsupportedSyntaxError
from sqlrewrite.sql.types.syntax.queries import query_in
from sqlrewrite.warehouse import Table, View


def columns_of(
    it: tree.WrittenRelation, scope: TypeScope, pipe_input: ScopeColumns = ()
) -> ScopeColumns:
    """The columns of a relation; ``pipe_input`` are those before a pipe.

    Raises UnknownOutputError.
    """
    match it:
        case tree.TableName():
            return _table(it.parts, scope)
        case tree.WrittenDerived():
            columns = visible(scope.context.analyze(it.query, scope))
            return tuple(replace(column, qualifier=()) for column in columns)
        case tree.Aliased():
            columns = with_names(visible(columns_of(it.relation, scope, pipe_input)), it.columns)
            return tuple(replace(column, qualifier=(it.name,)) for column in columns)
        case tree.Values():
            return _values(it, scope)
        case tree.WrittenCall():
            return _function(it, scope)
        case tree.WrittenJoin():
            return _join(it, scope, pipe_input)
        case tree.Pivot():
            return _pivot(it, scope, columns_of(it.relation, scope, pipe_input))
        case tree.Unpivot():
            return _unpivot(it, scope, columns_of(it.relation, scope, pipe_input))
        case tree.PipeInput():
            return pipe_input
        case _:
            assert_never(it)


def _table(parts: tuple[str, ...], scope: TypeScope) -> ScopeColumns:
    context = scope.context
    if len(parts) == 1 and parts[0].lower() in context.ctes:
        known = context.ctes[parts[0].lower()]
        if known is None:
            raise UnknownOutputError(f"unknown CTE {parts[0]}")
        return tuple(TypedColumn(it.name, it.type, (parts[0],)) for it in known)
    relation = context.catalog.resolve(parts)
    name = context.catalog.qualify(parts) if relation is None else relation.name
    if isinstance(relation, Table):
        if not relation.complete or not relation.columns:
            raise UnknownOutputError(f"the columns of {'.'.join(parts)}")
        kinds = [column_type(it.type) for it in relation.columns]
        if context.settings.ntz:  # the table may have been made where TIMESTAMP had a time zone
            kinds = [None if kind and "timestamp" in str(kind) else kind for kind in kinds]
        return tuple(
            TypedColumn(it.name, kind, name[-3:])
            for it, kind in zip(relation.columns, kinds, strict=True)
        )
    if isinstance(relation, View) and name not in context.views:
        return tuple(replace(it, qualifier=name[-3:]) for it in _view(relation, name, scope))
    raise UnknownOutputError(f"unknown relation {'.'.join(parts)}")


def column_type(text: str | None) -> Type | None:
    """The type of a stored column as a query reads it: CHAR and VARCHAR are strings."""
    kind = None if text is None else parse(text)
    return None if kind is None else _as_read(kind)


def _as_read(kind: Type) -> Type:
    if kind.name in ("char", "varchar"):
        return types.string(kind.collation)
    return replace(kind, items=tuple(map(_as_read, kind.items))) if kind.items else kind


def _view(view: View, name: tuple[str, ...], scope: TypeScope) -> ScopeColumns:
    context = scope.context
    inner = replace(
        context,
        catalog=context.catalog.within(view),
        ctes={},
        views=(*context.views, name),
    )
    try:
        query = query_in(view.query)
    except UnsupportedSyntaxError as error:
        raise UnknownOutputError(str(error)) from None
    return with_names(context.analyze(query, TypeScope(inner)), view.columns)


def _values(it: tree.Values, scope: TypeScope) -> ScopeColumns:
    rows = []
    for row in it.rows:
        cells = [item.value for item in row.items] if isinstance(row, tree.WrittenRow) else [row]
        rows.append([scope.typed(cell) for cell in cells])
    if len({len(row) for row in rows}) > 1:
        raise UnknownOutputError("rows of one length wanted")
    return tuple(
        TypedColumn(f"col{number}", scope.common(it.type for it in cells))
        for number, cells in enumerate(zip(*rows, strict=True), 1)
    )


def _function(it: tree.WrittenCall, scope: TypeScope) -> ScopeColumns:
    found = call(it, scope)
    if found.generator is not None:
        return found.generator
    if found.type is None or found.type.name != "struct":
        raise UnknownOutputError("a function of unknown columns")
    return tuple(map(TypedColumn, found.type.names, found.type.items))


def _join(it: tree.WrittenJoin, scope: TypeScope, pipe_input: ScopeColumns) -> ScopeColumns:
    left = columns_of(it.left, scope, pipe_input)
    right = it.right.relation if isinstance(it.right, tree.Aliased) else it.right
    lateral = isinstance(right, tree.WrittenCall) or (
        isinstance(right, tree.WrittenDerived) and right.lateral
    )
    beside = TypeScope(scope.context, left, outer=scope) if lateral else scope
    others = columns_of(it.right, beside)
    if it.on is not None:
        replace(scope, columns=(*left, *others)).typed(it.on)
    names = _shared(left, others) if it.natural else it.using
    if names:
        return _merged(it.kind, left, others, names, scope)
    return left if it.kind in ("semi", "anti") else (*left, *others)


def _shared(left: ScopeColumns, right: ScopeColumns) -> tuple[str, ...]:
    """The names that both sides of a NATURAL join have."""
    if any(it.name is None for it in (*left, *right)):
        raise UnknownOutputError("NATURAL with an unknown name")
    others = {it.key for it in visible(right)}
    return tuple(str(it.name) for it in visible(left) if it.key in others)


def _merged(
    kind: str, left: ScopeColumns, right: ScopeColumns, names: tuple[str, ...], scope: TypeScope
) -> ScopeColumns:
    """The columns of a join by USING or NATURAL: the merged ones first, then those of the left and
    of the right (``Analyzer.commonNaturalJoinProcessing``)."""
    keys = [(_key(name, left), _key(name, right)) for name in names]
    lefts, rights = {id(one) for one, _ in keys}, {id(other) for _, other in keys}
    rest_left = tuple(it for it in left if id(it) not in lefts)
    rest_right = tuple(it for it in right if id(it) not in rights)
    if kind in ("semi", "anti"):
        return (*(one for one, _ in keys), *rest_left)
    if kind == "full":
        first = tuple(
            replace(one, type=scope.common((one.type, other.type)), qualifier=())
            for one, other in keys
        )
        hidden = [it for pair in keys for it in pair]
    elif kind == "right":
        first = tuple(other for _, other in keys)
        hidden = [one for one, _ in keys]
    else:
        first = tuple(one for one, _ in keys)
        hidden = [other for _, other in keys]
    return (*first, *rest_left, *rest_right, *(replace(it, hidden=True) for it in hidden))


def _key(name: str, columns: ScopeColumns) -> TypedColumn:
    found = [it for it in visible(columns) if it.key == name.lower()]
    if len(found) != 1:
        raise UnknownOutputError(f"one column {name} wanted")
    return found[0]


def _pivot(it: tree.Pivot, scope: TypeScope, before: ScopeColumns) -> ScopeColumns:
    """The columns that neither an aggregate nor FOR mentions, then one a value and aggregate."""
    inner = TypeScope(scope.context, before, outer=scope.outer)
    used = {name.lower() for name in it.columns}
    for item in it.aggregates:
        used |= _column_names(item.value)
    if any(column.name is None for column in before):
        raise UnknownOutputError("PIVOT over an unknown name")
    kept = [
        TypedColumn(column.name, column.type)
        for column in visible(before)
        if column.key not in used
    ]
    found = [(item, inner.typed(item.value)) for item in it.aggregates]
    for value in it.values:
        known = inner.typed(value.value)  # cast to a string
        said = "null" if known.type == types.VOID else constant_text(known)
        name = value.names[0] if value.names else said
        for item, aggregate in found:
            own = item.names[0] if item.names else aggregate.text
            full = f"{name}_{own}" if own is not None and name is not None else None
            kept.append(TypedColumn(name if len(found) == 1 else full, aggregate.type))
    return tuple(kept)


def _column_names(it: object) -> set[str]:
    """The names of the columns that an expression mentions, by their last part."""
    if isinstance(it, tree.WrittenName):
        return {it.text.lower()}
    if isinstance(it, tree.Field):
        return {it.name.lower(), *_column_names(it.base)}
    if isinstance(it, tree.Star):
        return set()
    parts: set[str] = set()
    for name in getattr(type(it), "__slots__", ()):
        held = getattr(it, name)
        for inner in held if isinstance(held, tuple) else (held,):
            if hasattr(type(inner), "__slots__") and not isinstance(inner, str):
                parts |= _column_names(inner)
    return parts


def _unpivot(it: tree.Unpivot, scope: TypeScope, before: ScopeColumns) -> ScopeColumns:
    """The columns that stay, then the one of names, then those of values."""
    inner = TypeScope(scope.context, before)
    taken: set[str] = set()
    kinds: list[list[Type | None]] = [[] for _ in it.values]
    for group in it.sets:
        for position, parts in enumerate(group):
            known = inner.resolve(parts)
            if known is None or not known.column:
                raise UnknownOutputError("UNPIVOT of an unknown column")
            taken.add(parts[-1].lower())
            kinds[position].append(known.type)
    rest = (c for c in visible(before) if c.key not in taken)
    kept = [TypedColumn(c.name, c.type) for c in rest]
    kept.append(TypedColumn(it.name, types.STRING))
    for name, found in zip(it.values, kinds, strict=True):
        kept.append(TypedColumn(name, scope.common(found)))
    return tuple(kept)
