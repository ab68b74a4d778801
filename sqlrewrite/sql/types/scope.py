"""The scope of an expression: the columns it sees, and what a name means among them.

Source: Spark's ``AttributeSeq.resolve``, and "Name resolution" in its SQL reference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from sqlrewrite.plan.facts.coercion import common_of_known
from sqlrewrite.plan.facts.session import ExactSettings
from sqlrewrite.plan.facts.types import Type, field_of, valued
from sqlrewrite.sql.types.syntax import tree
from sqlrewrite.warehouse import Name, Warehouse


class UnknownOutputError(Exception):
    """What a query returns is not known."""


@dataclass(frozen=True, slots=True)
class TypedExpression:
    """What is known of an expression: ``text`` is what ``toPrettySQL`` prints; None is not known.

    ``name`` is that of an expression that has one: a column, a field of a struct. ``constant`` is
    the value of a number, string or boolean written as such. ``column`` tells that it is a column
    itself, and ``generator`` has the columns that it makes.
    """

    text: str | None
    type: Type | None = None
    name: str | None = None
    constant: object = None
    column: bool = False
    generator: tuple[TypedColumn, ...] | None = None


UNTYPED = TypedExpression(None)
"""An expression of which nothing is known."""


@dataclass(frozen=True, slots=True)
class TypedColumn:
    """A column; a ``hidden`` one, the second that USING merges, is named with a qualifier only.
    ``key`` is its name in lower case, by which it is found."""

    name: str | None
    type: Type | None
    qualifier: tuple[str, ...] = ()
    hidden: bool = False
    key: str | None = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", None if self.name is None else self.name.lower())


ScopeColumns = tuple[TypedColumn, ...]


@dataclass(frozen=True, slots=True)
class AnalysisContext:
    """What all of a query shares: the catalog, the settings, how a query is analyzed and an
    expression typed, the CTEs in force by lower-case name, and the views that are being read, since
    none may hold itself."""

    catalog: Warehouse
    settings: ExactSettings
    analyze: Callable[[tree.WrittenQuery, TypeScope], ScopeColumns]
    typed: Callable[[tree.Expr, TypeScope], TypedExpression]
    ctes: Mapping[str, ScopeColumns | None] = field(default_factory=dict)
    views: tuple[Name, ...] = ()

    def with_cte(self, name: str, columns: ScopeColumns | None) -> AnalysisContext:
        """With one CTE more; None: its columns are not known."""
        return replace(self, ctes={**self.ctes, name.lower(): columns})


@dataclass(frozen=True, slots=True)
class TypeScope:
    """What names may mean in a query. ``columns`` are those of FROM, ``aliases`` the items of
    SELECT before this one, ``parameters`` those of the lambdas around it, ``outer`` is the scope
    of the query around it. ``outer_references`` collects the columns that inner queries take from
    here."""

    context: AnalysisContext
    columns: ScopeColumns = ()
    aliases: Mapping[str, TypedExpression] = field(default_factory=dict)
    windows: Mapping[str, tree.WrittenWindow] = field(default_factory=dict)
    parameters: Mapping[str, Type | None] = field(default_factory=dict)
    outer: TypeScope | None = None
    outer_references: list[str] = field(default_factory=list)

    @property
    def settings(self) -> ExactSettings:
        """The settings under which the query is typed."""
        return self.context.settings

    def inner(
        self, columns: ScopeColumns, windows: Iterable[tuple[str, tree.WrittenWindow]]
    ) -> TypeScope:
        """The scope of a query in this one, with the columns of its FROM and its named windows."""
        by_name = {name.lower(): window for name, window in windows}
        outer = self if self.columns or self.outer is not None else None
        return TypeScope(self.context, columns, windows=by_name, outer=outer)

    def typed(self, it: tree.Expr) -> TypedExpression:
        """The name and type of an expression here. Raises UnknownOutputError."""
        return self.context.typed(it, self)

    def common(self, kinds: Iterable[Type | None]) -> Type | None:
        """The type that several values have in common."""
        known = (None if kind is None else valued(kind) for kind in kinds)
        return common_of_known(known, self.settings.ansi)

    def resolve(self, parts: tuple[str, ...]) -> TypedExpression | None:
        """The column, field, alias or parameter that a name means; None where it means none."""
        found = self._parameter(parts) or _column(self.columns, parts) or self._alias(parts)
        if found is None and self.outer is not None:
            found = self.outer.resolve(parts)
            if found is not None:
                self.outer.outer_references.append(found.text or "")
                found = replace(found, text=None)  # `outer(…)`, with all qualifiers
        return found

    def _parameter(self, parts: tuple[str, ...]) -> TypedExpression | None:
        key = parts[0].lower()
        if key not in self.parameters:
            return None
        kind = self.parameters[key]
        found = TypedExpression("namedlambdavariable()", kind, parts[0])
        return field_path(found, parts[1:])

    def _alias(self, parts: tuple[str, ...]) -> TypedExpression | None:
        """A lateral alias: an item of the same SELECT."""
        known = self.aliases.get(parts[0].lower())
        if known is None:
            return None
        found = TypedExpression(f"lateralAliasReference({parts[0]})", known.type, parts[0])
        if len(parts) == 1:
            return found
        inner = field_path(found, parts[1:])
        return None if inner is None else replace(inner, text=None)


def _column(columns: ScopeColumns, parts: tuple[str, ...]) -> TypedExpression | None:
    """The column that a name means: with the most qualifiers that fit, then its fields."""
    for count in range(min(len(parts) - 1, 3), -1, -1):
        wanted = tuple(part.lower() for part in parts[:count])
        name = parts[count].lower()
        found = [
            it
            for it in columns
            if it.key == name
            and (not it.hidden if count == 0 else _ends_with(it.qualifier, wanted))
        ]
        if found:
            kinds = {it.type for it in found}
            kind = kinds.pop() if len(kinds) == 1 else None
            column = TypedExpression(parts[count], kind, parts[count], column=True)
            return field_path(column, parts[count + 1 :])
        if any(it.name is None for it in columns):
            return TypedExpression(None)
    return None


def _ends_with(qualifier: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    return tuple(part.lower() for part in qualifier[-len(wanted) :]) == wanted


def field_path(base: TypedExpression, names: tuple[str, ...]) -> TypedExpression | None:
    """A column's field, and the field of that; None where it has no such field."""
    for name in names:
        inner = field_access(base, name)
        if inner is None:
            return None
        base = replace(inner, name=name)
    return base


def field_access(base: TypedExpression, name: str) -> TypedExpression | None:
    """``base.name``: the field of a struct, of each struct in an array, or a map's value."""
    kind, text = base.type, base.text
    if kind is None:
        return TypedExpression(None, None, name)
    if kind.name == "map":  # the name is cast to the type of the keys
        return TypedExpression(None if text is None else f"{text}[{name}]", kind.items[1])
    inner = field_of(kind, name.lower())
    if inner is None:
        return None
    return TypedExpression(None if text is None else f"{text}.{name}", inner)


def visible(columns: ScopeColumns) -> ScopeColumns:
    """The columns that ``*`` stands for."""
    return tuple(it for it in columns if not it.hidden)


def with_names(columns: ScopeColumns, names: tuple[str, ...]) -> ScopeColumns:
    """Columns under other names, if any are given. Raises UnknownOutputError."""
    if not names:
        return columns
    if len(names) != len(columns):
        raise UnknownOutputError("as many names as columns wanted")
    return tuple(replace(it, name=name) for name, it in zip(names, columns, strict=True))


def star_columns(star: tree.Star, scope: TypeScope) -> ScopeColumns:
    """The columns of ``*`` or ``a.*``, without those in EXCEPT. Raises UnknownOutputError."""
    found = _of_star(star, scope)
    if not star.excluded:
        return found
    if any(len(parts) > 1 for parts in star.excluded):
        raise UnknownOutputError("EXCEPT of a field, or of a qualified column")
    out = {parts[0].lower() for parts in star.excluded}
    if any(it.name is None for it in found) or not out <= {it.key for it in found}:
        raise UnknownOutputError("EXCEPT of an unknown column")
    return tuple(it for it in found if it.key not in out)


def _of_star(star: tree.Star, scope: TypeScope) -> ScopeColumns:
    wanted = tuple(part.lower() for part in star.qualifier)
    if not wanted:
        return visible(scope.columns)
    hidden_first = sorted(scope.columns, key=lambda it: not it.hidden)
    found = tuple(it for it in hidden_first if _ends_with(it.qualifier, wanted))
    if found:
        return found
    known = scope.resolve(star.qualifier)
    if known is None or known.type is None or known.type.name != "struct":
        raise UnknownOutputError(f"no relation {'.'.join(star.qualifier)}")
    return tuple(map(TypedColumn, known.type.names, known.type.items))
