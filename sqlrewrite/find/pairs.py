"""Fact–dimension joins on partition columns: what the rules judge.

In: a plan. Out: a ``Pair`` for each fact scan, partition column of it, and relation whose column an
equality connects to it, in a WHERE, an ON, a USING, an IN or through a correlation. Nothing is
judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from sqlrewrite.copies import replace
from sqlrewrite.find.derived_columns import (
    DerivedColumn,
    bounded,
    derived_from,
    is_day,
    may_prune,
    prunable,
)
from sqlrewrite.find.join_edges import FILTER, FLIPPED, JoinEdge, Side, columns_of, join_edges
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import column_names
from sqlrewrite.plan.expressions import shared_nodes
from sqlrewrite.plan.joins import LEFT, null_extended, side_of
from sqlrewrite.plan.lineage import LineagePath, ends_along, trace, trace_query
from sqlrewrite.plan.memo import remembered
from sqlrewrite.plan.relations import direct_readers, joins, leaves, readers
from sqlrewrite.sql.bind.scope import NAMELESS, PRECEDENCE

# CTEs that each read the one before twice have exponentially many paths: no more than these count.
MOST_PATHS = 1000

_NOT_READ = "a join here is not understood: "


class KeyBound(Struct, frozen=True):
    """A bound on each key by ``constants`` of the text: the key is one of them (``in``), or
    compares with the only one (``<``, ``<=``, ``>``, ``>=``). ``listed``: the constants are rows of
    VALUES, from which Spark infers nothing."""

    operator: str
    constants: tuple[ra.Expression, ...]
    listed: bool = False


PairPlace = tuple[int, str, int, str]
"""Identifies a pair: the offset of the fact's reference, its column, the dimension's number, the
key's name."""


class Pair(Struct, frozen=True, eq=False):
    """A fact scan and the relation whose key may bound it, not yet judged.

    ``path`` leads from the column of the edge to the scan. ``target`` is the relation in the
    author's text at which a predicate can be written (the scan; the view around it; or the relation
    at the join, where the path computes something), and ``target_column`` its column. ``side`` is
    where the fact stands: ``left`` or ``right`` of the join, ``outside`` or ``inside`` of the
    subquery. ``operator`` is read from the fact's side: ``fact >= key``. ``fact`` and ``key`` are
    columns in the expressions of the two sides (``fact_plain``, ``key_plain``: whether the column
    is the whole side). ``derived`` is a partition column that is computed from the path's column
    and bounded through it; ``target_column`` is then its name. ``first``: for a condition on a
    rank, how many of the first values of its own column bound the scan. ``bounds``: for the target
    of a MERGE, the bounds that constants in its source put on the key.
    """

    edge: JoinEdge
    operator: str
    side: str
    path: LineagePath
    fact: ra.ColumnRef
    fact_side: Side
    target: ra.Relation
    target_column: str
    dimension: ra.Relation
    key: ra.ColumnRef
    key_side: Side
    derived: DerivedColumn | None = None
    first: int = 0
    bounds: tuple[KeyBound, ...] = ()

    @property
    def pruned(self) -> str:
        """The partition column of the scan that is bounded."""
        return self.path.column if self.derived is None else self.derived.column

    @property
    def filtered(self) -> bool:
        """Whether the scan is bounded by a condition on itself, and not by another relation."""
        return self.edge.kind == FILTER

    @property
    def constants_only(self) -> bool:
        """Whether it belongs to a MERGE, which is pruned by constants: its ON takes no subquery."""
        return self.edge.block.role == "merge"

    @property
    def place(self) -> PairPlace:
        """Identifies the pair among all pairs of a text, in every reading of it."""
        at = -1 if self.at is None else self.at
        return at, self.target_column, self.dimension.relation, self.key.name

    @property
    def at(self) -> int | None:
        """The offset in the text of the target's name, or of its alias; None if it has neither."""
        if self.target.span is not None:
            return self.target.span.start
        return self.target.anchor if isinstance(self.target, ra.Derived) else None

    @property
    def fact_plain(self) -> bool:
        """Whether the fact's side of the edge is just its column."""
        return isinstance(self.fact_side.expression, ra.ColumnRef)

    @property
    def key_plain(self) -> bool:
        """Whether the key is just a column."""
        return isinstance(self.key_side.expression, ra.ColumnRef)

    @property
    def stored(self) -> ra.ColumnRef:
        """The column of the scan at the end of the path, as it is stored."""
        return ra.ColumnRef(self.scan.relation, self.path.column, None)

    @property
    def scan(self) -> ra.Scan:
        """The fact's scan."""
        end = self.path.end
        assert isinstance(end, ra.Scan)
        return end


def find_pairs(plan: ra.Plan) -> tuple[Pair, ...]:
    """All pairs of a plan in the order of their edges; each combination of scan and key once."""
    pairs: dict[tuple[object, ...], Pair] = {}
    for block in plan.blocks:
        if block.in_view:
            continue  # such a pair belongs to the view's own text
        for edge, one, other in join_edges(plan, block):
            turned = FLIPPED[edge.operator]
            for operator, fact, key in ((edge.operator, one, other), (turned, other, one)):
                for pair in _pairs(plan, edge, operator, fact, key):
                    pairs.setdefault(_identity(pair), pair)
    return tuple(pairs.values())


def _identity(pair: Pair) -> tuple[object, ...]:
    path = tuple(relation.relation for relation in pair.path.relations)
    # Two expressions over one column are two keys.
    computed = 0 if pair.key_plain and pair.fact_plain else id(pair.edge.condition)
    which = (pair.dimension.relation, pair.key.name, pair.operator, computed)
    return (path, pair.path.column, pair.pruned, *which)


def _pairs(plan: ra.Plan, edge: JoinEdge, operator: str, fact: Side, key: Side) -> Iterator[Pair]:
    keys = columns_of(key.expression)
    if not keys:
        return
    for ref in columns_of(fact.expression):
        if not may_prune(plan, ref) or any(other.relation == ref.relation for other in keys):
            continue
        outside = plan.owner[ref.relation] == edge.block.number
        if edge.query is None or outside:
            paths = _paths(plan, ref.relation, ref.name)
        else:
            # The query's own operators stand above the value of an IN's subquery.
            ways = trace_query(plan, edge.query, 0, plan.relations[ref.relation])
            paths = list(islice(ways, MOST_PATHS))
        dimension = plan.relations[keys[0].relation]
        for path in paths:
            if not prunable(plan, path) or isinstance(dimension, ra.Generate):
                continue
            assert isinstance(path.end, ra.Scan)
            plain = bounded(path.end, path.column)
            side, kind = _side(plan, edge, ref, keys[0])
            for derived in (*[None] * plain, *derived_from(plan, path.end, path.column)):
                if derived is None:
                    its = fact.expression
                    itself = isinstance(its, ra.ColumnRef) or _is_by_day(path, its)
                    target, column = _target(path, paths, itself)
                else:
                    target, column, derived = derived_target(plan, path, derived)
                yield Pair(
                    edge=edge if kind == edge.kind else replace(edge, kind=kind),
                    operator=operator,
                    side=side,
                    path=path,
                    fact=ref,
                    fact_side=fact,
                    target=target,
                    target_column=column,
                    dimension=dimension,
                    key=keys[0],
                    key_side=key,
                    derived=derived,
                )


@remembered
def _paths(plan: ra.Plan, relation: int, column: str) -> list[LineagePath]:
    """The paths down from a column; none if none of them ends at a partition column."""
    paths = list(islice(trace(plan, ra.ColumnRef(relation, column, None)), MOST_PATHS))
    return paths if any(prunable(plan, path) for path in paths) else []


def _target(path: LineagePath, paths: list[LineagePath], plain: bool) -> tuple[ra.Relation, str]:
    """Where a predicate for the scan can be written (at the scan, or at the first view above it),
    and the column's name there. If the column is compared or computed as an expression, only the
    relation at the join will do."""
    if path.computed or not plain:
        return path.relations[0], paths[0].column
    for depth, relation in enumerate(path.relations, 1):
        if isinstance(relation, ra.Derived) and relation.view:
            above = path.relations[:depth]
            return relation, next(other.column for other in paths if other.relations == above)
    return path.end, path.column


def at_reference(plan: ra.Plan, pair: Pair) -> Pair | None:
    """The same pair with its predicate at the reference to a shared CTE, where it filters the rows
    of this reference alone; None if no reference to a shared CTE is on the path."""
    path = pair.path
    for depth, relation in enumerate(path.relations, 1):
        if isinstance(relation, ra.CteReference) and pair.target is not relation:
            if pair.target is path.relations[0] or pair.derived is not None:
                return None
            above = path.relations[:depth]
            paths = _paths(plan, pair.fact.relation, pair.fact.name)
            column = next((other.column for other in paths if other.relations == above), None)
            return None if column is None else replace(pair, target=relation, target_column=column)
    return None


def by_day(pair: Pair) -> bool:
    """Whether the join compares the day of a column that is clustered or transformed, whose minimum
    and maximum prune."""
    return pair.derived is None and _is_by_day(pair.path, pair.fact_side.expression)


def _is_by_day(path: LineagePath, expression: ra.Expression) -> bool:
    scan = path.end
    plain = not isinstance(scan, ra.Scan) or path.column in scan.table.identities
    return not plain and is_day(expression)


def derived_target(
    plan: ra.Plan, path: LineagePath, derived: DerivedColumn
) -> tuple[ra.Relation, str, DerivedColumn]:
    """Where a predicate for a derived column can be written: at the scan, or at the first view
    above it if that selects the column. Else the derived column is ``hidden``."""
    for depth, relation in enumerate(path.relations, 1):
        if isinstance(relation, ra.Derived) and relation.view:
            below = path.relations[depth - 1 :]
            queries = [
                reader.query for reader in below if isinstance(reader, ra.Derived | ra.CteReference)
            ]
            view = ".".join(relation.view)
            for name in column_names(relation) or ():
                ends = ends_along(plan, ra.ColumnRef(relation.relation, name, None), below)
                if (derived.column, False) in ends:
                    if all(len(query.top) == 1 for query in queries):
                        return relation, name, derived
                    other = f"another branch of the UNION in {view}"
                    why = f"{other} may compute {derived.column} in another way"
                    return relation, name, derived.hidden(why)
            why = f"the view {view} does not select {derived.column}: add it there"
            return relation, derived.column, derived.hidden(why)
    return path.end, derived.column, derived


def _side(plan: ra.Plan, edge: JoinEdge, fact: ra.ColumnRef, key: ra.ColumnRef) -> tuple[str, str]:
    """Where the fact stands in a join edge, and the edge's kind as seen from there."""
    block = edge.block
    at_fact, at_key = plan.owner[fact.relation], plan.owner[key.relation]
    if edge.kind in ("in", "not in", "in (not required)"):
        if at_fact != block.number:
            return "inside", edge.kind
        # No single branch of a set operation decides what the fact's column may be.
        alone = edge.query is not None and len(edge.query.top) == 1
        return "outside", (edge.kind if alone or edge.kind != "in" else "in (not required)")
    if at_fact == at_key == block.number:
        join = edge.join if edge.join is not None else _meeting(block.source, fact, key)
        return (LEFT if join is None else side_of(join, fact.relation)), edge.kind
    if at_fact == block.number:
        # The fact is in a subquery, or beside one in its own block's outer join.
        if edge.join is not None and not edge.implied:
            return side_of(edge.join, fact.relation), edge.kind
        return "inside", _role(block)
    # A global aggregate returns a row even where nothing matches.
    direct = at_fact == block.parent and edge.implied and block.aggregate in (None, "group by")
    if direct and block.role == "lateral" and _inner_lateral(plan, block):
        return "outside", "lateral join"
    return "outside", _role(block) if direct else "scalar"


def _inner_lateral(plan: ra.Plan, block: ra.Block) -> bool:
    """Whether a row of the surrounding block needs a row of a LATERAL subquery: it is joined by an
    inner join, and no other branch of a union may have one."""
    assert block.parent is not None
    source = plan.blocks[block.parent].source
    reading = (plan.relations[number] for number in direct_readers(plan).get(block.number, ()))
    return any(
        isinstance(relation, ra.Derived)
        and relation.query.top == (block.number,)
        and not null_extended(source, relation.relation)
        for relation in reading
    )


def _role(block: ra.Block) -> str:
    """The kind of a subquery's edge, by how its rows filter the surrounding block."""
    if block.role in ("exists", "in"):
        if block.negated:
            return f"not {block.role}" if block.role == "exists" else "not in (correlated)"
        return "exists" if block.required else "scalar"
    return block.role if block.role in ("lateral", "scalar") else "scalar"


def _meeting(node: ra.Node, one: ra.ColumnRef, other: ra.ColumnRef) -> ra.Join | None:
    """The lowest join of a tree that is over two relations; None if they are the same relation."""
    generated = False  # whether one of the two is a generator above this node
    while isinstance(node, ra.Join | ra.Generate):
        if isinstance(node, ra.Generate):
            generated = generated or node.relation in (one.relation, other.relation)
            node = node.child
            continue
        side = side_of(node, one.relation)
        if generated or side != side_of(node, other.relation):
            return node
        node = node.left if side == LEFT else node.right
    return None


# --- where there is no pair -----------------------------------------------------------------------


def unread_join(plan: ra.Plan) -> tuple[int | None, str] | None:
    """Why a join of a statement was not understood, and the offset where; None if each was."""
    for block in plan.blocks:
        if block.in_view or not isinstance(block.source, ra.Join):
            continue
        why = next(_not_understood(plan, block), None)
        if why is not None:
            spans = (getattr(leaf, "span", None) for leaf in leaves(block.source))
            return next((span.start for span in spans if span is not None), None), _NOT_READ + why
    return None


def _not_understood(plan: ra.Plan, block: ra.Block) -> Iterator[str]:
    yield from block.unknown_syntax
    conditions = (on.expression for join in joins(block.source) for on in join.conditions)
    unknown = (part.reason for part in shared_nodes(conditions) if isinstance(part, ra.Unknown))
    yield from (reason for reason in unknown if PRECEDENCE in reason)
    for leaf in leaves(block.source):
        if isinstance(leaf, ra.Opaque) and leaf.unread:
            yield leaf.reason
        if leaf.alias == NAMELESS:
            yield from block.unknown_values
        if isinstance(leaf, ra.Derived | ra.CteReference):
            for number in leaf.query.blocks:
                yield from plan.blocks[number].unknown_syntax


# As above: paths are exponentially many, and so are the pairs on them.
_MOST_COVERING = 100


def coverings(plan: ra.Plan, pairs: Sequence[Pair]) -> list[tuple[Pair, ...]]:
    """The sets of ``pairs`` that bound a fact together, one on every path to it."""
    sets: list[tuple[Pair, ...]] = []
    facts: dict[tuple[int, str], dict[tuple[int, ...], Pair]] = {}
    for pair in pairs:
        # For a derived column each reference may keep other rows besides: no common bound.
        if pair.operator == "=" and pair.target is pair.scan and pair.derived is None:
            by_path = facts.setdefault((pair.scan.relation, pair.pruned), {})
            by_path.setdefault(tuple(relation.relation for relation in pair.path.relations), pair)
    for (fact, _), by_path in facts.items():
        covering = _cover(plan, (fact,), by_path)
        if covering and len(set(covering)) > 1:
            sets.append(tuple(dict.fromkeys(covering)))
    return sets


def _cover(
    plan: ra.Plan, path: tuple[int, ...], by_path: Mapping[tuple[int, ...], Pair]
) -> list[Pair] | None:
    """A pair for every path that ends with ``path``; None if a path has none."""
    if path in by_path:
        return [by_path[path]]
    block = plan.owner[path[0]]
    reading = readers(plan, block)
    if reading is None or plan.blocks[block].role == "view":
        return None
    pairs: list[Pair] = []
    for reader in reading:
        covering = _cover(plan, (reader, *path), by_path)
        if covering is None or len(pairs) > _MOST_COVERING:
            return None
        pairs += covering
    return pairs or None
