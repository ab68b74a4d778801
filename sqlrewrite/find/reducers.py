"""Which keys of the dimension matter: the conditions that the query puts on its rows.

The argument has two steps. Rows of the dimension that fail these conditions can be taken away
without changing the result (predicate push-down: Levy, Mumick and Sagiv 1994); then facts without
a partner among the rest can be taken away too (the semi-join of Bernstein and Chiu 1981). A
dimension's rows without a partner in a restricted neighbour go in the same way, outward along the
join tree; for acyclic joins that is all (Yannakakis 1981).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import TypeGuard

from sqlrewrite.copies import replace
from sqlrewrite.find.join_edges import Side
from sqlrewrite.find.pairs import Pair
from sqlrewrite.find.restrictions import AnyOf, Conjunct, Restriction, SemiJoin, any_of, within
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import keeps_type, type_of
from sqlrewrite.plan.expressions import columns, conjuncts, relations, substitute
from sqlrewrite.plan.facts.coercion import identical
from sqlrewrite.plan.joins import null_extended, reaching_conditions
from sqlrewrite.plan.lineage import steps
from sqlrewrite.plan.memo import remembered
from sqlrewrite.plan.null_rejection import rejects_null
from sqlrewrite.plan.relations import joins, leaves, read_by, readers
from sqlrewrite.settings.options import Reach

MOST_SHARED = 500
"""The most restrictions, nested ones included, that are followed from the readers of a CTE into it.
If each CTE of a chain reads the one before twice, their number doubles with each."""


def restrictions(plan: ra.Plan, pair: Pair, reach: Reach) -> tuple[Restriction, ...]:
    """All conditions that the dimension's rows must satisfy to matter to the pair."""
    dimension, fact = pair.dimension.relation, pair.fact.relation
    return _restrictions(plan, dimension, fact, pair.edge.join, reach)


@remembered
def _restrictions(
    plan: ra.Plan, dimension: int, fact: int, join: ra.Join | None, reach: Reach
) -> tuple[Restriction, ...]:
    # A condition that is carried over from the fact bounds the fact already.
    items = tuple(
        [
            item
            for item in conditions_on(plan, dimension, reach)
            if not isinstance(item, Conjunct) or fact not in item.condition.relations
        ]
    )
    items += _neighbours(plan, dimension, reach, avoid=fact)
    if join is None:
        return items
    # In `D LEFT JOIN F ON …` two rows match only if the ON's own conditions on D hold, too.
    conditions = {id(item.condition) for item in items if isinstance(item, Conjunct)}
    for condition in join.conditions:
        if condition.relations == {dimension} and id(condition) not in conditions:
            items += (Conjunct(condition, condition.expression),)
        elif dimension in condition.relations:
            implied = _implied(condition, condition.expression, dimension)
            items += tuple(item for item in implied if item not in items)
    return items


def restrictions_on_fact(plan: ra.Plan, pair: Pair, reach: Reach) -> tuple[Restriction, ...]:
    """The conditions on the fact's column alone, carried over to the key. They bound the fact
    already, but perhaps no key of the dimension meets them."""
    fact = pair.fact.relation
    return tuple(
        item
        for item in conditions_on(plan, pair.dimension.relation, reach)
        if isinstance(item, Conjunct) and item.condition.relations == {fact}
    )


@remembered
def all_restrictions(plan: ra.Plan, relation: int, reach: Reach) -> tuple[Restriction, ...]:
    """All that restricts a relation: the conditions on it, and semi-joins with its neighbours."""
    return conditions_on(plan, relation, reach) + _neighbours(plan, relation, reach)


@remembered
def conditions_on(plan: ra.Plan, relation: int, reach: Reach) -> tuple[Restriction, ...]:
    """The conditions on a relation: those of its own block, those that an equality carries over
    from another relation there, and those of surrounding blocks that can be pushed down to it."""
    return (*own_conditions(plan, relation, reach), *_carried(plan, relation, reach))


@remembered
def own_conditions(plan: ra.Plan, relation: int, reach: Reach) -> tuple[Restriction, ...]:
    """The conditions on a relation in its own block and in the blocks around it, without those that
    an equality carries over."""
    inside: list[Restriction] = []
    for condition in conditions_reaching(plan, relation):
        if len(condition.relations) == 1:
            inside.append(Conjunct(condition, condition.expression))
        else:
            inside += _implied(condition, condition.expression, relation)
    return (*inside, *_from_readers(plan, relation, reach)[0])


def _implied(
    condition: ra.Condition, expression: ra.Expression, relation: int
) -> tuple[Restriction, ...]:
    """The restriction that an OR puts on one relation: the conjuncts on it alone, if each branch
    has some."""
    if not isinstance(expression, ra.Call) or expression.name != "or":
        return ()
    branches: list[tuple[Restriction, ...]] = []
    for branch in expression.args:
        own: list[Restriction] = []
        for part in conjuncts(branch):
            about = relations(part)
            if about == {relation}:
                conjunct = replace(condition, expression=part, relations=about, in_or=True)
                own.append(Conjunct(conjunct, part))
            elif relation in about:
                own += _implied(condition, part, relation)
        branches.append(tuple(own))
    return any_of(branches)


def conditions_reaching(plan: ra.Plan, relation: int) -> tuple[ra.Condition, ...]:
    """The conditions of a relation's block that name it and hold for all its rows that matter; none
    for a relation that an operator hides, as UNPIVOT does."""
    return _reaching(plan, plan.owner[relation]).get(relation, ())


@remembered
def _reaching(plan: ra.Plan, block: int) -> dict[int, tuple[ra.Condition, ...]]:
    return dict(reaching_conditions(plan.blocks[block].source, plan.blocks[block].where))


@remembered
def _equalities(plan: ra.Plan, relation: int) -> list[tuple[ra.ColumnRef, ra.ColumnRef]]:
    """The equalities of a relation's columns with columns of others, its own column first."""
    equalities: list[tuple[ra.ColumnRef, ra.ColumnRef]] = []
    for condition in conditions_reaching(plan, relation):
        match condition.expression:
            case ra.Call(name="=", args=(ra.ColumnRef() as one, ra.ColumnRef() as other)):
                ours, theirs = (one, other) if one.relation == relation else (other, one)
                beside = plan.owner[theirs.relation] == plan.owner[relation]
                if beside and theirs.relation != relation:
                    equalities.append((ours, theirs))
    return equalities


def _carried(
    plan: ra.Plan, relation: int, reach: Reach, without: int | None = None
) -> Iterator[Conjunct]:
    """The conditions on other relations' columns that equal one of this relation's, carried over to
    the latter: only rows with a partner matter (predicate move-around). The types must be the same,
    else the condition might compare in another type. Over one equality only, so that the work stays
    linear."""
    for ours, theirs in _equalities(plan, relation):
        if theirs.relation == without:
            continue
        items = own_conditions(plan, theirs.relation, reach)
        about = [item for item in items if _is_on_column(item, theirs.name)]
        kind = type_of(plan, ours) if about else None
        if kind is not None and identical(kind) and kind == type_of(plan, theirs):
            for item in about:
                names: dict[str, str | None] = {theirs.name: ours.name}
                yield Conjunct(item.condition, _renamed(item.expression, relation, names))


def _is_on_column(item: Restriction, column: str) -> TypeGuard[Conjunct]:
    """Whether a restriction is one condition on one column."""
    return isinstance(item, Conjunct) and all(r.name == column for r in columns(item.expression))


def _neighbours(
    plan: ra.Plan, root: int, reach: Reach, avoid: int | None = None
) -> tuple[SemiJoin, ...]:
    """The semi-joins of a relation with its neighbours that restrict it, outward along the
    equalities of its block: the nearest first, each relation once, no fact unless ``reach`` says
    so."""
    below: dict[int, list[tuple[ra.ColumnRef, ra.ColumnRef]]] = {}
    seen, edge = {root, avoid}, [root]
    for _ in range(reach.depth):
        further: list[int] = []
        for relation in edge:
            for ours, theirs in _equalities(plan, relation):
                if theirs.relation in seen or not _passable(plan, theirs.relation, reach):
                    continue
                seen.add(theirs.relation)
                further.append(theirs.relation)
                below.setdefault(relation, []).append((ours, theirs))
        edge = further
    return tuple(_branches(plan, root, reach, below)) if below else ()


def _branches(
    plan: ra.Plan,
    relation: int,
    reach: Reach,
    below: dict[int, list[tuple[ra.ColumnRef, ra.ColumnRef]]],
) -> Iterator[SemiJoin]:
    for ours, theirs in below.get(relation, ()):
        number = theirs.relation
        inner: tuple[Restriction, ...] = (
            *own_conditions(plan, number, reach),
            *_carried(plan, number, reach, without=relation),
            *_branches(plan, number, reach, below),
        )
        neighbour = plan.relations[number]
        assert isinstance(neighbour, ra.Relation)
        # Skip a neighbour that only repeats the condition that was carried over to the key.
        if isinstance(neighbour, ra.Derived | ra.CteReference | ra.Inline) or not all(
            _is_on_column(item, theirs.name) and type_of(plan, ours) == type_of(plan, theirs)
            for item in inner
        ):
            yield SemiJoin(ours, neighbour, theirs, inner)


def _passable(plan: ra.Plan, number: int, reach: Reach) -> bool:
    """Whether a relation may be followed as a neighbour: known, and no fact (a partitioned table)
    unless ``reach`` says so."""
    match plan.relations[number]:
        case ra.Scan(table=table):
            return bool(reach.through_facts) or not table.partitioned_by
        case ra.Inline():
            return True
        case ra.Derived(query=query) | ra.CteReference(query=query):
            return bool(reach.through_facts) or not _reads_a_fact(plan, query)
        case _:
            return False


@remembered
def _reads_a_fact(plan: ra.Plan, query: ra.Query) -> bool:
    """Whether a query reads a partitioned table at any depth."""
    return any(
        isinstance(inner, ra.Scan) and bool(inner.table.partitioned_by)
        for inner in read_by(plan, query)
    )


def follows_all(plan: ra.Plan, relation: int, reach: Reach) -> bool:
    """Whether none of the restrictions that all readers of a relation's block share was left out
    because they are too many."""
    return _from_readers(plan, relation, reach)[1]


@remembered
def _from_readers(
    plan: ra.Plan, relation: int, reach: Reach
) -> tuple[tuple[Restriction, ...], bool]:
    """The restrictions that all readers of a relation's block share, and whether none of them was
    left out because they are too many."""
    reading = readers(plan, plan.owner[relation])
    if reading is None:
        return (), True  # not all readers are known: nothing is sure to restrict the rows
    branches: list[tuple[Restriction, ...]] = []
    for reader in reading:
        items = all_restrictions(plan, reader, reach)
        branches.append(tuple(_moved_down(plan, items, reader, relation)))
    shared = any_of(branches)
    if len(branches) > 1 and sum(1 for _ in within(shared)) > MOST_SHARED:
        return (), False  # leaving out restrictions only widens the bound
    return shared, all(follows_all(plan, reader, reach) for reader in reading)


def _moved_down(
    plan: ra.Plan, items: tuple[Restriction, ...], reader: int, relation: int
) -> Iterator[Restriction]:
    """The conditions on the columns of a ``reader`` (a derived table, a CTE), pushed down to a
    relation in it. Those that cannot be pushed down are left out, which only widens the bound."""
    # Where an outer join extends the relation by NULLs, a condition that NULL meets would hold for
    # rows without a partner and remove their partners.
    extended = bool(items) and null_extended(plan.blocks[plan.owner[relation]].source, relation)
    for item in items:
        match item:
            case AnyOf(branches=branches):
                moved = [tuple(_moved_down(plan, branch, reader, relation)) for branch in branches]
                yield from any_of(moved)
            case Conjunct(condition=condition, expression=expression):
                refs = columns(expression)
                names = {
                    ref.name: _column_below(plan, ref.relation, ref.name, relation) for ref in refs
                }
                if all(names.values()) and (
                    not extended or rejects_null(expression, frozenset({reader}))
                ):
                    yield Conjunct(condition, _renamed(expression, relation, names))
            case SemiJoin(key=key):
                column = _column_below(plan, key.relation, key.name, relation)
                if column is not None:
                    below = ra.ColumnRef(relation, column, key.span, key.qualified)
                    yield SemiJoin(below, item.relation, item.other, item.inner)


def _renamed(
    expression: ra.Expression, relation: int, names: dict[str, str | None]
) -> ra.Expression:
    def below(ref: ra.ColumnRef) -> ra.ColumnRef:
        return ra.ColumnRef(relation, names[ref.name] or ref.name, ref.span, ref.qualified)

    return substitute(expression, below)


@remembered
def _column_below(plan: ra.Plan, number: int, name: str, relation: int) -> str | None:
    """The column of a relation that a reader's column comes from, if conditions may be pushed down
    to it."""
    reader = plan.relations[number]
    if not isinstance(reader, ra.Derived | ra.CteReference) or reader.sampled:
        return None
    names = {
        step.column
        for step in steps(plan, reader, name)
        if step.end.relation == relation and not step.barriers and not step.computed
    }
    if len(names) != 1:
        return None
    below = ra.ColumnRef(relation, names.pop(), None)
    return below.name if keeps_type(plan, ra.ColumnRef(number, name, None), below) else None


def may_be_restricted(plan: ra.Plan, pair: Pair, relation: int, reach: Reach) -> bool:
    """Whether ``restrictions`` of a pair with this relation as its dimension may have any; a quick
    test for the many relations that are far from every condition."""
    if relation in _near_a_condition(plan, reach):
        return True
    join = pair.edge.join
    return join is not None and any(relation in on.relations for on in join.conditions)


@remembered
def _near_a_condition(plan: ra.Plan, reach: Reach) -> frozenset[int]:
    """The relations from which few enough equalities lead to one with a condition of its own, or
    with something in it that may leave few rows."""
    blocks = {block.number for block in plan.blocks if _may_leave_few_rows(block)}
    tied_to: dict[int, list[int]] = {}
    for number in plan.relations:
        for _, theirs in _equalities(plan, number):
            tied_to.setdefault(theirs.relation, []).append(number)
    near = edge = {
        number
        for number, relation in plan.relations.items()
        if _may_have_few_rows(relation, blocks)
        or own_conditions(plan, number, reach._replace(through_facts=None))
        or own_conditions(plan, number, reach._replace(through_facts=True))
    }
    for _ in range(reach.depth + 1):
        edge = {number for relation in edge for number in tied_to.get(relation, ())} - near
        near = near | edge
    return frozenset(near)


def _may_have_few_rows(relation: ra.Relation | ra.Generate, blocks: set[int]) -> bool:
    """Whether a relation may have few rows: a query with a LIMIT or with one of the ``blocks`` in
    it, or anything that is neither query nor table."""
    if isinstance(relation, ra.Derived | ra.CteReference):
        query = relation.query
        return isinstance(query.node, ra.Limit) or not blocks.isdisjoint(query.blocks)
    return not isinstance(relation, ra.Scan)


def _may_leave_few_rows(block: ra.Block) -> bool:
    """Whether a block has conditions on its rows, groups them, or reads something besides tables
    and queries, as constants."""
    conditions = (on for join in joins(block.source) for on in join.conditions)
    return bool(
        (block.where or block.having or block.aggregate)
        or any(len(on.relations) == 1 for on in conditions)
        or not all(
            isinstance(leaf, ra.Scan | ra.Derived | ra.CteReference)
            for leaf in leaves(block.source)
        )
    )


def alternatives(plan: ra.Plan, pair: Pair, is_candidate: Callable[[int], bool]) -> Iterator[Pair]:
    """The pair with other dimensions: relations with a column that must equal the key, the nearest
    first, and relations inside a derived table or CTE that the key comes from, as far as they are
    candidates. They stand in for a dimension that cannot be read again or is a fact (``t.day =
    r.day AND r.day = c.day``)."""
    if not pair.key_plain:
        return
    seen = {pair.dimension.relation, pair.fact.relation}
    waiting = deque([pair.key])
    while waiting:
        ref = waiting.popleft()
        for other in _tied_columns(plan, ref.relation, ref.name):
            relation = plan.relations[other.relation]
            if other.relation in seen or not isinstance(relation, ra.Relation):
                continue
            seen.add(other.relation)
            waiting.append(other)
            if is_candidate(other.relation):
                yield replace(pair, dimension=relation, key=other, key_side=Side(other, None))


@remembered
def _tied_columns(plan: ra.Plan, relation: int, name: str) -> tuple[ra.ColumnRef, ...]:
    """The columns of other relations that a column surely equals."""
    ref = ra.ColumnRef(relation, name, None)
    return (*_same_column(plan, ref), *_column_inside(plan, ref))


def _same_column(plan: ra.Plan, ref: ra.ColumnRef) -> Iterator[ra.ColumnRef]:
    for ours, theirs in _equalities(plan, ref.relation):
        kind = type_of(plan, ours) if ours.name == ref.name else None
        if kind is not None and identical(kind) and kind == type_of(plan, theirs):
            yield theirs


def _column_inside(plan: ra.Plan, ref: ra.ColumnRef) -> Iterator[ra.ColumnRef]:
    """The column inside a derived table or CTE from which its column ``ref`` comes unchanged,
    through any operators; empty if there is none."""
    relation = plan.relations[ref.relation]
    if isinstance(relation, ra.Derived | ra.CteReference) and len(relation.query.top) == 1:
        ways = steps(plan, relation, ref.name)
        if len(ways) == 1 and not ways[0].computed:
            yield ra.ColumnRef(ways[0].end.relation, ways[0].column, None)
