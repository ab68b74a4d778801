"""Which keys of the dimension matter: the conditions that the query puts on it.

The argument has two steps. Rows of the dimension that fail these conditions can be taken away
without changing the result (predicate push-down: Levy, Mumick and Sagiv 1994); then facts without
a partner among the rest can be taken away too (the semi-join of Bernstein and Chiu 1981). A
dimension's rows without a partner in a restricted neighbour go in the same way, outward along the
join tree; on acyclic joins nothing more is to be had (Yannakakis 1981).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeGuard

from sqlrewrite.find.join_edges import Side
from sqlrewrite.find.pairs import Pair
from sqlrewrite.find.restrictions import AnyOf, Conjunct, Restriction, SemiJoin, any_of
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import type_of
from sqlrewrite.plan.expressions import columns, conjuncts, relations, substitute
from sqlrewrite.plan.facts.comparisons import identical
from sqlrewrite.plan.joins import extended, reaching
from sqlrewrite.plan.lineage import steps
from sqlrewrite.plan.memo import remembered
from sqlrewrite.plan.nulls import rejects_null
from sqlrewrite.plan.relations import read_by, readers
from sqlrewrite.settings.options import Reach


def restrictions(plan: ra.Plan, pair: Pair, reach: Reach) -> tuple[Restriction, ...]:
    """All conditions that the dimension's rows must satisfy to matter to the pair."""
    dimension, fact = pair.dimension.relation, pair.fact.relation
    # What the query asks of the fact itself, carried over, would bound it by what it has already.
    found = tuple(
        [
            item
            for item in conditions_on(plan, dimension, reach)
            if not isinstance(item, Conjunct) or fact not in item.condition.relations
        ]
    )
    found += _neighbours(plan, dimension, reach, avoid=fact)
    if pair.edge.join is None:
        return found
    # In `D LEFT JOIN F ON …` a pair of rows also needs what the ON says of D itself.
    known = {id(item.condition) for item in found if isinstance(item, Conjunct)}
    for condition in pair.edge.join.conditions:
        if condition.relations == {dimension} and id(condition) not in known:
            found += (Conjunct(condition, condition.expression),)
        elif dimension in condition.relations:
            implied = _implied(condition, condition.expression, dimension, condition.path)
            found += tuple(item for item in implied if item not in found)
    return found


def restrictions_on_fact(plan: ra.Plan, pair: Pair, reach: Reach) -> tuple[Restriction, ...]:
    """What the query asks of the fact's column alone, carried over to the key: all that the fact is
    asked for, but of the dimension's keys not all may be among that."""
    fact = pair.fact.relation
    return tuple(
        item
        for item in conditions_on(plan, pair.dimension.relation, reach)
        if isinstance(item, Conjunct) and item.condition.relations == {fact}
    )


@remembered
def all_restrictions(plan: ra.Plan, relation: int, reach: Reach) -> tuple[Restriction, ...]:
    """All that restricts a relation: what is asked of it, and semi-joins with its neighbours."""
    return conditions_on(plan, relation, reach) + _neighbours(plan, relation, reach)


@remembered
def conditions_on(plan: ra.Plan, relation: int, reach: Reach) -> tuple[Restriction, ...]:
    """The conditions on a relation: those of its own block that reach it, those that an equality
    carries over from another relation there, and those of the blocks around it that come down to it
    through their columns."""
    return (*own_conditions(plan, relation, reach), *_carried(plan, relation, reach))


@remembered
def own_conditions(plan: ra.Plan, relation: int, reach: Reach) -> tuple[Restriction, ...]:
    """The conditions on a relation that come neither over an equality nor from a neighbour: those
    of its block that reach it, and of the blocks around it."""
    inside: list[Restriction] = []
    for condition in conditions_reaching(plan, relation):
        if len(condition.relations) == 1:
            inside.append(Conjunct(condition, condition.expression))
        else:
            inside += _implied(condition, condition.expression, relation, condition.path)
    return (*inside, *_from_readers(plan, relation, reach))


def _implied(
    condition: ra.Condition,
    expression: ra.Expression,
    relation: int,
    path: tuple[tuple[int, int], ...],
) -> tuple[Restriction, ...]:
    """What an OR asks of one relation: the conjuncts on it alone, where every branch has some."""
    if not isinstance(expression, ra.Call) or expression.name != "or":
        return ()
    branches: list[tuple[Restriction, ...]] = []
    for number, branch in enumerate(expression.args):
        below = (*path, (number, len(expression.args)))
        parts = tuple(conjuncts(branch))
        said: list[Restriction] = []
        for ordinal, part in enumerate(parts):
            here = (*below, (ordinal, len(parts)))
            about = relations(part)
            if about == {relation}:
                found = replace(condition, expression=part, relations=about, path=here)
                said.append(Conjunct(found, part))
            elif relation in about:
                said += _implied(condition, part, relation, here)
        branches.append(tuple(said))
    return any_of(branches)


def conditions_reaching(plan: ra.Plan, relation: int) -> tuple[ra.Condition, ...]:
    """The conditions of its block that speak of a relation and hold for its rows that matter."""
    return _reaching(plan, plan.owner[relation])[relation]


@remembered
def _reaching(plan: ra.Plan, block: int) -> dict[int, tuple[ra.Condition, ...]]:
    return dict(reaching(plan.blocks[block].source, plan.blocks[block].where))


@remembered
def _equalities(plan: ra.Plan, relation: int) -> list[tuple[ra.ColumnRef, ra.ColumnRef]]:
    """The columns of a relation that equal others' where a row of it matters, its own first."""
    found: list[tuple[ra.ColumnRef, ra.ColumnRef]] = []
    for condition in conditions_reaching(plan, relation):
        match condition.expression:
            case ra.Call(name="=", args=(ra.ColumnRef() as one, ra.ColumnRef() as other)):
                ours, theirs = (one, other) if one.relation == relation else (other, one)
                beside = plan.owner[theirs.relation] == plan.owner[relation]
                if beside and theirs.relation != relation:
                    found.append((ours, theirs))
    return found


def _carried(
    plan: ra.Plan, relation: int, reach: Reach, without: int | None = None
) -> Iterator[Conjunct]:
    """What another relation's conditions on a column say of ours that must equal it: only rows that
    find a partner there matter (predicate move-around). Types must agree: under another type the
    same condition might compare otherwise. One equality far, so that the work stays linear."""
    for ours, theirs in _equalities(plan, relation):
        if theirs.relation == without:
            continue
        asked = own_conditions(plan, theirs.relation, reach)
        about = [item for item in asked if _is_on_column(item, theirs.name)]
        kind = type_of(plan, ours) if about else None
        if kind is not None and identical(kind) and kind == type_of(plan, theirs):
            for item in about:
                names: dict[str, str | None] = {theirs.name: ours.name}
                yield Conjunct(item.condition, _renamed(item.expression, relation, names))


def _is_on_column(item: Restriction, column: str) -> TypeGuard[Conjunct]:
    """Whether a restriction is a single condition on one column."""
    return isinstance(item, Conjunct) and all(r.name == column for r in columns(item.expression))


def _neighbours(
    plan: ra.Plan, root: int, reach: Reach, avoid: int | None = None
) -> tuple[SemiJoin, ...]:
    """The semi-joins of a relation with those around it that restrict it, outward along the
    equalities of its block: the nearest first, each relation once, none of them a fact."""
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
        # What only says of the key what was carried over it is no restriction of its own.
        if isinstance(neighbour, ra.Derived | ra.CteReference | ra.Inline) or not all(
            _is_on_column(item, theirs.name) and type_of(plan, ours) == type_of(plan, theirs)
            for item in inner
        ):
            yield SemiJoin(ours, neighbour, theirs, inner)


def _passable(plan: ra.Plan, number: int, reach: Reach) -> bool:
    """Whether a relation is a neighbour to go by: known, and no fact (a partitioned table)."""
    match plan.relations[number]:
        case ra.Scan(table=table):
            return bool(reach.through_facts) or not table.partitioned_by
        case ra.Inline():
            return True
        case ra.Derived(query=query) | ra.CteReference(query=query):
            return bool(reach.through_facts) or not any(
                isinstance(inner, ra.Scan) and inner.table.partitioned_by
                for inner in read_by(plan, query)
            )
        case _:
            return False


def _from_readers(plan: ra.Plan, relation: int, reach: Reach) -> Iterator[Restriction]:
    number = plan.owner[relation]
    reading = readers(plan, number)
    if reading is None:
        return  # nothing is known to restrict the rows
    branches: list[tuple[Restriction, ...]] = []
    for reader in reading:
        asked = all_restrictions(plan, reader, reach)
        branches.append(tuple(_moved_down(plan, asked, reader, relation)))
    yield from any_of(branches)


def _moved_down(
    plan: ra.Plan, asked: tuple[Restriction, ...], reader: int, relation: int
) -> Iterator[Restriction]:
    """The conditions on a reader's columns as conditions on a relation below, where each column
    comes down to it unhindered; the others are left out, which only widens the bound."""
    for item in asked:
        match item:
            case AnyOf(branches=branches):
                yield from any_of(
                    [tuple(_moved_down(plan, branch, reader, relation)) for branch in branches]
                )
            case Conjunct(condition=condition, expression=expression):
                names = {
                    ref.name: _column_below(plan, ref, relation) for ref in columns(expression)
                }
                # Where an outer join may put NULLs in the place of the relation's own rows, a
                # condition that lets NULLs pass would take a partner for none.
                if all(names.values()) and (
                    not extended(plan.blocks[plan.owner[relation]].source, relation)
                    or rejects_null(expression, frozenset({reader}))
                ):
                    yield Conjunct(condition, _renamed(expression, relation, names))
            case SemiJoin(key=key):
                column = _column_below(plan, key, relation)
                if column is not None:
                    below = ra.ColumnRef(relation, column, key.span, key.qualified)
                    yield replace(item, key=below)


def _renamed(
    expression: ra.Expression, relation: int, names: dict[str, str | None]
) -> ra.Expression:
    def below(ref: ra.ColumnRef) -> ra.ColumnRef:
        return ra.ColumnRef(relation, names[ref.name] or ref.name, ref.span, ref.qualified)

    return substitute(expression, below)


def _column_below(plan: ra.Plan, ref: ra.ColumnRef, relation: int) -> str | None:
    """The column below that a reader's column is, if conditions may go down to it."""
    reader = plan.relations[ref.relation]
    if not isinstance(reader, ra.Derived | ra.CteReference) or reader.sampled:
        return None
    # A set operation may widen its branches' types: the condition would compare another way.
    if len(reader.query.top) > 1 and type_of(plan, ref) is None:
        return None
    found = {
        step.column
        for step in steps(plan, reader, ref.name)
        if step.end.relation == relation and not step.barriers and not step.computed
    }
    return found.pop() if len(found) == 1 else None


def alternatives(plan: ra.Plan, pair: Pair) -> Iterator[Pair]:
    """The same bound by other relations: those whose columns must equal the pair's key, the nearest
    first, also where the key only comes out of a derived table or CTE. For a key that cannot be
    read by itself, or is that of another fact (``t.day = r.day AND r.day = c.day``)."""
    if not pair.key_plain:
        return
    seen = {pair.dimension.relation, pair.fact.relation}
    edge = [pair.key]
    while edge:
        ref = edge.pop(0)
        for other in (*_same_column(plan, ref), *_column_inside(plan, ref)):
            relation = plan.relations[other.relation]
            if other.relation in seen or not isinstance(relation, ra.Relation):
                continue
            seen.add(other.relation)
            edge.append(other)
            yield replace(pair, dimension=relation, key=other, key_side=Side(other, None))


def _same_column(plan: ra.Plan, ref: ra.ColumnRef) -> Iterator[ra.ColumnRef]:
    for ours, theirs in _equalities(plan, ref.relation):
        kind = type_of(plan, ours) if ours.name == ref.name else None
        if kind is not None and identical(kind) and kind == type_of(plan, theirs):
            yield theirs


def _column_inside(plan: ra.Plan, ref: ra.ColumnRef) -> Iterator[ra.ColumnRef]:
    """The column in a derived table that one of its columns is, whatever stands in between."""
    relation = plan.relations[ref.relation]
    if isinstance(relation, ra.Derived | ra.CteReference) and len(relation.query.top) == 1:
        found = steps(plan, relation, ref.name)
        if len(found) == 1 and not found[0].computed:
            yield ra.ColumnRef(found[0].end.relation, found[0].column, None)
