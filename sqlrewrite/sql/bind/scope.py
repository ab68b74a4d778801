"""Names to columns: what a column reference means at a place, as Spark resolves it.

A scope is the join tree visible at that place and the scopes around it. Resolution never guesses: a
name that several relations could have, or only a relation whose columns are unknown, is Unknown.
The columns of a join tree, merged ones included, are those of Spark's
NaturalAndUsingJoinResolution.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec import Struct, field

from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import column_names
from sqlrewrite.plan.expressions import columns
from sqlrewrite.plan.memo import remembered
from sqlrewrite.plan.relations import LEFT_ONLY, named
from sqlrewrite.text.edits import Span

# How many parts of db.t.x.y may name the relation, in the order tried: the next part is its column,
# the rest are fields. If none fits, the first part is a column.
_QUALIFIERS = (3, 2, 1)

Spans = Sequence[Span | None]

NAMELESS = "*"
"""The alias of a relation whose real alias is known only at run time."""


PRECEDENCE = "with spark.sql.ansi.relationPrecedence a JOIN binds tighter than a comma"


class Scope(Struct):
    """The names visible at a place.

    ``source``: the join tree, None before FROM is bound.
    ``parent``: the scope of the enclosing query.
    ``outer``: collects the references of a query to enclosing scopes.
    ``narrow``: the same place under spark.sql.ansi.relationPrecedence, where a join after a comma
    sees less.
    """

    ctes: Mapping[str, int]
    parent: Scope | None = None
    source: ra.Node | None = None
    outer: list[ra.ColumnRef] = field(default_factory=list)
    narrow: Scope | None = None
    _listed: tuple[ra.Node, list[_Listed] | None] | None = None
    _visible: tuple[ra.Node, tuple[ra.Relation | ra.Generate, ...]] | None = None

    def visible(self) -> tuple[ra.Relation | ra.Generate, ...]:
        """The relations of its own FROM whose columns can be named here."""
        if self.source is None:
            return ()
        if self._visible is None or self._visible[0] is not self.source:
            self._visible = (self.source, named(self.source))
        return self._visible[1]

    def listed(self) -> list[_Listed] | None:
        """The visible relations with their columns; None if USING or NATURAL merges columns."""
        if self.source is None:
            return []
        if self._listed is None or self._listed[0] is not self.source:
            listed: list[_Listed] | None = None
            if not _has_merged_columns(self.source):
                listed = []
                for leaf in self.visible():
                    listed.append((leaf.relation, _counts(column_names(leaf) or ())))
            self._listed = (self.source, listed)
        return self._listed[1]


_Listed = tuple[int, Mapping[str, int]]
"""The number of a relation, and how often it has a column of each name."""


@lru_cache(1024)  # of tables mostly, each of which is read by many queries
def _counts(names: tuple[str, ...]) -> Mapping[str, int]:
    return Counter(names)


def _has_merged_columns(node: ra.Node) -> bool:
    match node:
        case ra.Join(left=left, right=right):
            own = bool(node.using) or not node.merge_known
            return own or _has_merged_columns(left) or _has_merged_columns(right)
        case ra.Generate(child=child):
            return _has_merged_columns(child)
        case _:
            return False


def resolve(scope: Scope, parts: tuple[str, ...], spans: Spans) -> ra.Expression:
    """The meaning of a column reference in a scope: a ColumnRef, a field of a struct in such a
    column, or Unknown with the reason.

    ``parts`` are in lower case and without backquotes; ``spans`` are those of the first part, the
    first two, and so on. A name that a scope certainly lacks is looked up in the scope around it.
    """
    column, crossed = _look_up(scope, parts, spans)
    if column is None:
        return ra.Unknown(f"the column `{'.'.join(parts)}` is not known")
    for inner in crossed:
        inner.outer += columns(column)
    return column


def _look_up(
    scope: Scope, parts: tuple[str, ...], spans: Spans
) -> tuple[ra.Expression | None, list[Scope]]:
    """The meaning of a name in a scope or in those around it, None if it has none; and the scopes
    passed on the way, which lack it. Unknown if the name means something else under
    spark.sql.ansi.relationPrecedence; not if it means nothing there, since Spark then refuses the
    query."""
    crossed: list[Scope] = []
    current: Scope | None = scope
    while current is not None:
        column = _resolve_in(current, parts, spans)
        if column is not None:
            if current.narrow is not None:
                other, _ = _look_up(current.narrow, parts, spans)
                if other not in (None, column):
                    column = ra.Unknown(f"`{'.'.join(parts)}` may be another column: {PRECEDENCE}")
            return column, crossed
        crossed.append(current)
        current = current.parent
    return None, crossed


def _resolve_in(scope: Scope, parts: tuple[str, ...], spans: Spans) -> ra.Expression | None:
    """The meaning of a name in a scope's own FROM; None if it certainly has none there."""
    candidates: list[ra.Expression] = []
    if len(parts) > 1:
        if any(leaf.alias == NAMELESS for leaf in scope.visible()):
            return _undecidable(parts)
        for depth in _QUALIFIERS:
            if depth < len(parts):
                candidates = _of_relation(scope, parts, depth, spans[depth])
                if candidates:
                    return _only_one(candidates, parts, parts[depth + 1 :])
    candidates = columns_named(scope, parts[0], spans[0])
    if candidates:
        return _only_one(candidates, parts, parts[1:])
    visible = scope.visible()
    if len(visible) == 1 and _partitions(visible[0], parts[0]):
        # The innermost FROM comes first, and no table has two columns of one name.
        return _only_one(
            [ra.ColumnRef(visible[0].relation, parts[0], spans[0], False)], parts, parts[1:]
        )
    return _undecidable(parts) if any(map(_may_have_more, visible)) else None


def _partitions(leaf: ra.Relation | ra.Generate, name: str) -> bool:
    """Whether a relation is a table whose columns are not all known, partitioned by one of this
    name."""
    return isinstance(leaf, ra.Scan) and _may_have_more(leaf) and name in leaf.table.partitioning


def _of_relation(
    scope: Scope, parts: tuple[str, ...], depth: int, span: Span | None
) -> list[ra.Expression]:
    """The columns that a name means if its first ``depth`` parts name a relation."""
    qualifier, name = parts[:depth], parts[depth]
    refs: list[ra.Expression] = []
    for leaf in scope.visible():
        if not _has_qualifier(leaf, qualifier):
            continue
        names = column_names(leaf)
        ref = ra.ColumnRef(leaf.relation, name, span)
        if names is not None and "" not in names:
            refs += [ref] * names.count(name)
        elif len(parts) > depth + 1 or _may_be_a_struct(scope, leaf, parts[0]):
            refs.append(ra.Unknown(f"the catalog does not say what `{'.'.join(parts)}` is", (ref,)))
        else:
            refs.append(ref)
    return refs


def _may_be_a_struct(scope: Scope, but: ra.Relation | ra.Generate, name: str) -> bool:
    """Whether a visible relation other than ``but`` may have a column of this name, perhaps a
    struct."""
    return any(
        leaf is not but and (_may_have_more(leaf) or name in (column_names(leaf) or ()))
        for leaf in scope.visible()
    )


def _may_have_more(leaf: ra.Relation | ra.Generate) -> bool:
    """Whether a relation may have columns whose names are not known: all of them, or those that the
    engine names itself (``CAST(k AS INT)`` may be called k)."""
    names = column_names(leaf)
    return names is None or "" in names


def _undecidable(parts: tuple[str, ...]) -> ra.Unknown:
    return ra.Unknown(f"the catalog does not say what `{'.'.join(parts)}` is")


def columns_named(scope: Scope, name: str, span: Span | None) -> list[ra.Expression]:
    """The columns of a name in a scope's own FROM; a merged pair counts once."""
    listed = scope.listed()
    if listed is None:
        return columns_in(scope.source, name, span) if scope.source is not None else []
    refs: list[ra.Expression] = []
    for relation, counts in listed:
        if name in counts:
            refs += [ra.ColumnRef(relation, name, span, False)] * counts[name]
    return refs


def lacks(scope: Scope, name: str) -> bool:
    """Whether certainly no relation of the scope's own FROM has a column of that name."""
    return not columns_named(scope, name, None) and not any(map(_may_have_more, scope.visible()))


def tree_lacks(node: ra.Node, name: str) -> bool:
    """Whether certainly no relation of a join tree has a column of that name."""
    return not columns_in(node, name) and not _some_may_have_more(node)


def nowhere_in_sight(scope: Scope, name: str) -> bool:
    """Whether certainly no relation of this scope or of those around it has a column of that
    name."""
    current: Scope | None = scope
    while current is not None:
        if not lacks(current, name):
            return False
        current = current.parent
    return True


def _only_one(
    candidates: list[ra.Expression], parts: tuple[str, ...], fields: tuple[str, ...]
) -> ra.Expression:
    """The only candidate, or the field in it that ``fields`` name; Unknown if there are several."""
    if len(candidates) > 1:
        return ra.Unknown(f"the column `{'.'.join(parts)}` is ambiguous")
    whole = candidates[0]
    for name in fields:
        whole = ra.Call(".", (whole, ra.Literal("string", name)))
    return whole


def _has_qualifier(leaf: ra.Relation | ra.Generate, qualifier: tuple[str, ...]) -> bool:
    if len(qualifier) == 1:
        return leaf.alias.lower() == qualifier[0]
    if isinstance(leaf, ra.Scan):
        return not leaf.aliased and leaf.table.name[-len(qualifier) :] == qualifier
    if isinstance(leaf, ra.Derived) and leaf.view:
        return not leaf.aliased and leaf.view[-len(qualifier) :] == qualifier
    return False


def columns_in(node: ra.Node, name: str, span: Span | None = None) -> list[ra.Expression]:
    """The columns of a name in a join tree; a pair merged by USING or NATURAL counts once."""
    match node:
        case ra.Join():
            return _columns_in_join(node, name, span)
        case ra.Generate(child=child, columns=columns, relation=relation):
            own: list[ra.Expression] = [ra.ColumnRef(relation, name, span, False)]
            return columns_in(child, name, span) + own * (columns or ()).count(name)
        case ra.Scan() | ra.Derived() | ra.CteReference() | ra.Inline() | ra.Opaque():
            names = column_names(node)
            count = 0 if names is None else names.count(name)
            return [ra.ColumnRef(node.relation, name, span, False)] * count
        case _:
            return []


@remembered
def _columns_in_join(join: ra.Join, name: str, span: Span | None) -> list[ra.Expression]:
    if name in join.using:
        merged = merged_column(join, name, span)
        return [merged or ra.Unknown(f"the column `{name}` of USING is not known")]
    sides = [join.left] if join.declared in LEFT_ONLY else [join.left, join.right]
    refs = [ref for side in sides for ref in columns_in(side, name, span)]
    if join.merge_known or not join.natural:
        return refs
    return [ra.Unknown(f"the column `{name}` may be merged by NATURAL", (ref,)) for ref in refs]


def merged_column(join: ra.Join, name: str, span: Span | None = None) -> ra.Expression | None:
    """The column that USING makes of two: the left one, for a RIGHT JOIN the right one, for a FULL
    JOIN whichever is not NULL. None if unknown."""
    ours, theirs = using_key(join.left, name, span), using_key(join.right, name, span)
    if not join.merge_known:
        return None
    match join.declared:
        case ra.JoinType.RIGHT:
            return theirs
        case ra.JoinType.INNER | ra.JoinType.LEFT | ra.JoinType.SEMI | ra.JoinType.ANTI:
            return ours
        case ra.JoinType.FULL if ours is not None and theirs is not None:
            return ra.Unknown("a column merged by a FULL join", (ours, theirs), merged=True)
        case _:
            return None


def using_key(side: ra.Node, name: str, span: Span | None = None) -> ra.Expression | None:
    """The column of one side of a join that a name in USING means; None if unknown. Spark takes the
    first of several columns of that name, so no relation before it may have unknown columns."""
    return _join_key(side, name, span) if isinstance(side, ra.Join) else _key(side, name, span)


def _key(side: ra.Node, name: str, span: Span | None) -> ra.Expression | None:
    refs = columns_in(side, name, span)
    if len(refs) != 1:
        return None
    (ref,) = refs
    if not _some_may_have_more(side):
        return ref
    for leaf in named(side):
        if _may_have_more(leaf):
            return None
        if isinstance(ref, ra.ColumnRef) and leaf.relation == ref.relation:
            break
    return ref


def _some_may_have_more(node: ra.Node) -> bool:
    """Whether a relation of a join tree may have columns whose names are not known."""
    if isinstance(node, ra.Join):
        return _some_of_join(node)
    return any(map(_may_have_more, named(node)))


@remembered
def _some_of_join(join: ra.Join) -> bool:
    right = join.type not in LEFT_ONLY and _some_may_have_more(join.right)
    return right or _some_may_have_more(join.left)


@remembered
def _join_key(join: ra.Join, name: str, span: Span | None) -> ra.Expression | None:
    return _key(join, name, span)


NamedColumn = tuple[str, ra.Expression]
"""A column of a join tree under its name."""


def star_columns(node: ra.Node | None) -> list[NamedColumn] | None:
    """The columns of ``*`` over a join tree, in order; None if not all are known."""
    match node:
        case ra.Join():
            return _columns_of_join(node)
        case ra.Generate(child=child, columns=columns, relation=relation):
            below = star_columns(child)
            if below is None or columns is None:
                return None
            return [*below, *((name, ra.ColumnRef(relation, name, None)) for name in columns)]
        case ra.Scan() | ra.Derived() | ra.CteReference() | ra.Inline() | ra.Opaque():
            names = column_names(node)
            if names is None:
                return None
            return [(name, ra.ColumnRef(node.relation, name, None)) for name in names]
        case _:
            return None


@remembered
def _columns_of_join(join: ra.Join) -> list[NamedColumn] | None:
    if not join.merge_known:
        return None
    columns: list[NamedColumn] = []
    for shared in join.using:
        both = merged_column(join, shared)
        if both is None or not all(using_key(side, shared) for side in (join.left, join.right)):
            return None
        columns.append((shared, both))
    using = frozenset(join.using)
    for side in [join.left] if join.declared in LEFT_ONLY else [join.left, join.right]:
        own = star_columns(side)
        if own is None:
            return None
        columns += [(name, ref) for name, ref in own if name not in using]
    return columns


def qualified_star(node: ra.Node | None, qualifier: tuple[str, ...]) -> list[NamedColumn] | None:
    """The columns of ``t.*`` in order, those that USING hides first; None if not all are known."""
    relations = [leaf for leaf in named(node) if _has_qualifier(leaf, qualifier)]
    if len(relations) != 1 or node is None or isinstance(relations[0], ra.Generate):
        return None
    if not _has_merged_columns(node):
        return star_columns(relations[0])
    shown, number = star_columns(node), relations[0].relation
    if shown is None:
        return None
    return [
        (name, ref)
        for name, ref in _hidden_by_using(node) + shown
        if isinstance(ref, ra.ColumnRef) and ref.relation == number
    ]


def _hidden_by_using(node: ra.Node) -> list[NamedColumn]:
    """The columns that only a qualified name reaches, because USING puts another in their place."""
    match node:
        case ra.Join(left=left, right=right, declared=kind, using=using):
            if kind in LEFT_ONLY:
                return _hidden_by_using(left)
            sides: Sequence[ra.Node] = (left, right)
            if kind is not ra.JoinType.FULL:
                sides = (left,) if kind is ra.JoinType.RIGHT else (right,)
            pairs = [(name, using_key(side, name)) for side in sides for name in using]
            own = [(name, ref) for name, ref in pairs if ref is not None]
            return own + _hidden_by_using(left) + _hidden_by_using(right)
        case ra.Generate(child=child):
            return _hidden_by_using(child)
        case _:
            return []
