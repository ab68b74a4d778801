"""Names to columns: what a column reference means at a place, as Spark resolves it.

A scope is the join tree visible at that place and the scopes around it. Resolution never guesses:
a name that more than one relation could have, or that only an unknown relation could have, is None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from functools import lru_cache

from sqlrewrite.frozen import dataclass
from sqlrewrite.model import Span
from sqlrewrite.plan.columns import column_names
from sqlrewrite.plan.expressions import ColumnRef, Expression, Unknown
from sqlrewrite.plan.nodes import (
    CteReference,
    Derived,
    Generate,
    Join,
    JoinType,
    Node,
    Opaque,
    Relation,
    Scan,
)

_LEFT_ONLY = (JoinType.SEMI, JoinType.ANTI)


@dataclass(slots=True)
class Scope:
    """What is visible: a join tree (None before FROM is bound), the CTEs, the scope outside.

    ``outer`` collects the references that a query makes to the scopes around it.
    """

    ctes: Mapping[str, int]
    parent: Scope | None = None
    source: Node | None = None
    outer: list[ColumnRef] = field(default_factory=list)
    _listed: tuple[Node, list[_Listed] | None] | None = None
    _visible: tuple[Node, list[Relation | Generate]] | None = None

    def visible(self) -> list[Relation | Generate]:
        """The relations whose columns can be named here without leaving the scope."""
        if self.source is None:
            return []
        if self._visible is None or self._visible[0] is not self.source:
            self._visible = (self.source, visible(self.source))
        return self._visible[1]

    def listed(self) -> list[_Listed] | None:
        """The visible relations with their columns, where none of these is merged by USING."""
        if self.source is None:
            return []
        if self._listed is None or self._listed[0] is not self.source:
            listed: list[_Listed] | None = None
            if not _merges(self.source):
                listed = []
                for leaf in self.visible():
                    listed.append((leaf.relation, _counted(column_names(leaf) or ())))
            self._listed = (self.source, listed)
        return self._listed[1]


_Listed = tuple[int, Mapping[str, int]]
"""A relation, and how often it has a column of each name."""


@lru_cache(1024)  # of tables mostly, each of which is read by many queries
def _counted(names: tuple[str, ...]) -> Mapping[str, int]:
    return Counter(names)


def _merges(node: Node) -> bool:
    match node:
        case Join(using=using, left=left, right=right):
            return bool(using) or _merges(left) or _merges(right)
        case Generate(child=child):
            return _merges(child)
        case _:
            return False


def resolve(scope: Scope, parts: tuple[str, ...], span: Span | None) -> Expression:
    """A column reference as written (lower case, without backquotes) in a scope.

    Returns a ColumnRef, or Unknown with the reason.
    """
    crossed: list[Scope] = []
    current: Scope | None = scope
    while current is not None:
        found = _in_source(current, parts, span)
        if found is not None:
            if isinstance(found, ColumnRef):
                for inner in crossed:
                    inner.outer.append(found)
            return found
        if _has_unknown(current.source, parts):
            return Unknown(f"column {'.'.join(parts)} cannot be told from the catalog")
        crossed.append(current)
        current = current.parent
    return Unknown(f"column {'.'.join(parts)} is not known")


def _in_source(scope: Scope, parts: tuple[str, ...], span: Span | None) -> Expression | None:
    node = scope.source
    if node is None:
        return None
    if len(parts) == 1:
        return _one(named(scope, parts[0], span), parts)
    *qualifier, name = parts
    wanted = tuple(qualifier)
    matches = [leaf for leaf in scope.visible() if _named(leaf, wanted)]
    if not matches:
        return _field_access(scope, node, parts, span)
    if len(matches) > 1:
        return Unknown(f"{'.'.join(parts)} is ambiguous")
    names = column_names(matches[0])
    if names is not None and names.count(name) != 1:
        return Unknown(f"column {'.'.join(parts)} is not known")
    return ColumnRef(matches[0].relation, name, span)


def named(scope: Scope, name: str, span: Span | None) -> list[Expression]:
    """The columns of that name in a scope's own FROM, each merged pair once."""
    listed = scope.listed()
    if listed is None:
        return find(scope.source, name, span) if scope.source is not None else []
    found: list[Expression] = []
    for relation, counts in listed:
        if name in counts:
            found += [ColumnRef(relation, name, span, False)] * counts[name]
    return found


def lacks(scope: Scope, name: str) -> bool:
    """Whether surely no relation of the scope's own FROM has a column of that name."""
    return not named(scope, name, None) and not _has_unknown(scope.source, (name,))


def _one(found: list[Expression], parts: tuple[str, ...]) -> Expression | None:
    if not found:
        return None
    return found[0] if len(found) == 1 else Unknown(f"column {'.'.join(parts)} is ambiguous")


def _field_access(
    scope: Scope, node: Node, parts: tuple[str, ...], span: Span | None
) -> Expression | None:
    """``column.field`` of a struct: the column is known, its field is not plain."""
    for depth in (1, 2):
        head = parts[:depth]
        if depth < len(parts) and (depth == 1 or len(parts) > 2):
            found = _in_source(scope, head, span) if depth == 1 else _qualified(node, head, span)
            if isinstance(found, ColumnRef):
                return Unknown("a field of a struct", (found,))
    return None


def _qualified(node: Node, parts: tuple[str, ...], span: Span | None) -> Expression | None:
    matches = [leaf for leaf in visible(node) if _named(leaf, parts[:1])]
    if len(matches) != 1:
        return None
    names = column_names(matches[0])
    return (
        ColumnRef(matches[0].relation, parts[1], span)
        if names is not None and parts[1] in names
        else None
    )


def _named(leaf: Relation | Generate, qualifier: tuple[str, ...]) -> bool:
    if len(qualifier) == 1:
        return leaf.alias.lower() == qualifier[0]
    if isinstance(leaf, Scan) or (isinstance(leaf, Derived) and leaf.view):
        # db.t.x names the table itself, and only where no alias hides that name.
        return leaf.alias.lower() == leaf.parts[-1].lower() and leaf.parts[
            -len(qualifier) :
        ] == tuple(qualifier)
    return False


def _has_unknown(node: Node | None, parts: tuple[str, ...]) -> bool:
    if node is None:
        return False
    if len(parts) > 1:
        return False
    # An empty name is one that the engine makes up: CAST(k AS INT) may well be called k.
    return any((names := column_names(leaf)) is None or "" in names for leaf in visible(node))


def visible(node: Node | None) -> list[Relation | Generate]:
    """The relations whose columns can be named above a join tree: not a semi-join's right side."""
    found: list[Relation | Generate] = []
    stack = [node]
    while stack:
        top = stack.pop()
        match top:
            case Join(left=left, right=right, type=kind):
                stack += [left] if kind in _LEFT_ONLY else [right, left]
            case Generate(child=child):
                found += [*visible(child), top]
            case Scan() | Derived() | CteReference() | Opaque():
                found.append(top)
            case _:
                pass
    return found


def find(node: Node, name: str, span: Span | None = None) -> list[Expression]:
    """The columns of that name in a join tree, one for each pair merged by USING or NATURAL."""
    match node:
        case Join(using=using, left=left, right=right, declared=kind):
            if name in using:
                if kind is JoinType.FULL:
                    merged = (*find(left, name, span), *find(right, name, span))
                    return [Unknown("a column merged by a FULL join", merged)]
                return find(right if kind is JoinType.RIGHT else left, name, span)
            if kind in _LEFT_ONLY:
                return find(left, name, span)
            return find(left, name, span) + find(right, name, span)
        case Generate(child=child, columns=columns, relation=relation):
            own: list[Expression] = [ColumnRef(relation, name, span, False)]
            return find(child, name, span) + own * (columns or ()).count(name)
        case Scan() | Derived() | CteReference() | Opaque():
            names = column_names(node)
            count = 0 if names is None else names.count(name)
            return [ColumnRef(node.relation, name, span, False)] * count
        case _:
            return []


def star(node: Node | None) -> list[tuple[str, Expression]] | None:
    """The columns of ``*`` over a join tree, merged columns first and once; None if not known."""
    match node:
        case Join(left=left, right=right, declared=kind, using=using):
            one = star(left)
            if kind in _LEFT_ONLY:
                return one
            other = star(right)
            if one is None or other is None:
                return None
            merged = [(name, found[0]) for name in using if (found := find(node, name))]
            rest = [(name, ref) for name, ref in one + other if name not in using]
            return merged + rest
        case Generate(child=child, columns=columns, relation=relation):
            below = star(child)
            own = [(name, ColumnRef(relation, name, None)) for name in columns or ()]
            return None if below is None or columns is None else [*below, *own]
        case Scan() | Derived() | CteReference() | Opaque():
            names = column_names(node)
            if names is None:
                return None
            return [(name, ColumnRef(node.relation, name, None)) for name in names]
        case _:
            return None
