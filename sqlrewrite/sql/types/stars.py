"""What a star stands for."""

from __future__ import annotations

from sqlrewrite.sql.types import tree
from sqlrewrite.sql.types.scope import ScopeColumns, TypeScope
from sqlrewrite.sql.types.typed import TypedColumn, UnknownError


def expanded(star: tree.Star, scope: TypeScope) -> ScopeColumns:
    """The columns of ``*`` or ``a.*``, without those in EXCEPT. Raises UnknownError."""
    found = _columns(star, scope)
    if not star.excluded:
        return found
    if any(len(parts) > 1 for parts in star.excluded):
        raise UnknownError("EXCEPT of a field, or of a qualified column")
    out = {parts[0].lower() for parts in star.excluded}
    if any(it.name is None for it in found) or not out <= {str(it.name).lower() for it in found}:
        raise UnknownError("EXCEPT of an unknown column")
    return tuple(it for it in found if str(it.name).lower() not in out)


def _columns(star: tree.Star, scope: TypeScope) -> ScopeColumns:
    wanted = tuple(part.lower() for part in star.qualifier)
    if not wanted:
        return tuple(it for it in scope.columns if not it.hidden)
    hidden_first = sorted(scope.columns, key=lambda it: not it.hidden)
    found = tuple(
        it
        for it in hidden_first
        if tuple(part.lower() for part in it.qualifier[-len(wanted) :]) == wanted
    )
    if found:
        return found
    known = scope.resolve(star.qualifier)
    if known is None or known.type is None or known.type.name != "struct":
        raise UnknownError(f"no relation {'.'.join(star.qualifier)}")
    return tuple(
        TypedColumn(name, kind)
        for name, kind in zip(known.type.names, known.type.items, strict=True)
    )
