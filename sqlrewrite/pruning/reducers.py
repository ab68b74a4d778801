"""Which keys of the dimension matter: the conditions that the query puts on it.

The argument has two steps. Rows of the dimension that fail these conditions can be taken away
without changing the result (predicate push-down: Levy, Mumick and Sagiv 1994); then facts without
a partner among the rest can be taken away too (the semi-join of Bernstein and Chiu 1981).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from sqlrewrite.plan.columns import column_type
from sqlrewrite.plan.expressions import (
    Call,
    ColumnRef,
    Expression,
    columns,
    substitute,
)
from sqlrewrite.plan.joins import reaching
from sqlrewrite.plan.lineage import steps
from sqlrewrite.plan.nodes import Condition, CteReference, Derived, Plan
from sqlrewrite.pruning.candidates import Pair


@dataclass(frozen=True, slots=True)
class Conjunct:
    """A condition of the query as it reads over the dimension's columns; the references keep the
    spans of the author's text, under which they may have other names."""

    condition: Condition
    expression: Expression


@dataclass(frozen=True, slots=True)
class AnyOf:
    """A disjunction: what each of several references to a CTE asks of it."""

    branches: tuple[tuple[Restriction, ...], ...]


Restriction = Conjunct | AnyOf


def restrictions(plan: Plan, pair: Pair) -> tuple[Restriction, ...]:
    """All conditions that the dimension's rows must satisfy to matter to the pair."""
    dimension = pair.dimension.relation
    # What the query asks of the fact itself, carried over, would bound it by what it has already.
    found = tuple(
        item
        for item in restricting(plan, dimension)
        if isinstance(item, AnyOf) or pair.fact.relation not in item.condition.relations
    )
    if pair.tie.join is None:
        return found
    # In `D LEFT JOIN F ON …` a pair of rows also needs what the ON says of D itself.
    known = {id(item.condition) for item in found if isinstance(item, Conjunct)}
    return found + tuple(
        Conjunct(condition, condition.expression)
        for condition in pair.tie.join.conditions
        if id(condition) not in known and condition.relations == {dimension}
    )


def restricting(plan: Plan, relation: int) -> tuple[Restriction, ...]:
    """The conditions on a relation: those of its own block that reach it, those that an equality
    carries over from another relation there, and those of the blocks around it that come down to
    it through their columns."""
    key = ("restricting", relation)
    found: tuple[Restriction, ...] | None = plan.memo.get(key)
    if found is None:
        found = (*_direct(plan, relation), *_carried(plan, relation))
        plan.memo[key] = found
    return found


def _direct(plan: Plan, relation: int) -> tuple[Restriction, ...]:
    """The conditions on a relation without those carried over an equality."""
    key = ("direct", relation)
    found: tuple[Restriction, ...] | None = plan.memo.get(key)
    if found is None:
        own = (c for c in _reaching(plan, relation) if len(c.relations) == 1)
        inside = tuple(Conjunct(c, c.expression) for c in own)
        found = plan.memo[key] = (*inside, *_from_outside(plan, relation))
    return found


def _reaching(plan: Plan, relation: int) -> tuple[Condition, ...]:
    block = plan.blocks[plan.owner[relation]]
    key = ("reaching", block.number)
    found: dict[int, tuple[Condition, ...]] | None = plan.memo.get(key)
    if found is None:
        found = plan.memo[key] = dict(reaching(block.source, block.where))
    return found[relation]


def _carried(plan: Plan, relation: int) -> Iterator[Restriction]:
    """What another relation's conditions on a column say of ours that must equal it: only rows that
    find a partner there matter (predicate move-around). Types must agree: under another type the
    same condition might compare otherwise. One equality far, so that the work stays linear."""
    for condition in _reaching(plan, relation):
        match condition.expression:
            case Call(name="=", args=(ColumnRef() as one, ColumnRef() as other)):
                ours, theirs = (one, other) if one.relation == relation else (other, one)
            case _:
                continue
        if theirs.relation == relation or plan.owner[theirs.relation] != plan.owner[relation]:
            continue
        about = [item for item in _direct(plan, theirs.relation) if _speaks_of(item, theirs.name)]
        kind = column_type(plan, ours) if about else None
        if kind is not None and kind == column_type(plan, theirs):
            for item in about:
                names: dict[str, str | None] = {theirs.name: ours.name}
                yield Conjunct(item.condition, _renamed(item.expression, relation, names))


def _speaks_of(item: Restriction, column: str) -> TypeGuard[Conjunct]:
    """Whether a restriction is a single condition on one column."""
    return isinstance(item, Conjunct) and all(r.name == column for r in columns(item.expression))


def _from_outside(plan: Plan, relation: int) -> Iterator[Restriction]:
    number = plan.owner[relation]
    if plan.blocks[number].role not in ("derived", "cte"):
        return  # the rows of any other block are results, or values: nothing restricts them
    if any(number in plan.ctes[cte].query.top for cte in plan.unbound):
        return  # someone else reads them, who knows how
    branches: list[tuple[Restriction, ...]] = []
    for reader in _readers(plan).get(number, ()):
        asked = restricting(plan, reader)
        branches.append(tuple(_mapped(plan, asked, reader, relation)))
    different = tuple(dict.fromkeys(branches))
    if len(different) == 1:
        yield from different[0]
    elif different and all(different):
        yield AnyOf(different)


def _readers(plan: Plan) -> dict[int, list[int]]:
    """The relations that read each block's rows directly, by the block's number."""
    found: dict[int, list[int]] | None = plan.memo.get("readers")
    if found is None:
        found = plan.memo["readers"] = {}
        for number, relation in plan.relations.items():
            if isinstance(relation, Derived | CteReference):
                for block in relation.query.top:
                    found.setdefault(block, []).append(number)
    return found


def _mapped(
    plan: Plan, asked: tuple[Restriction, ...], reader: int, relation: int
) -> Iterator[Restriction]:
    """The conditions on a reader's columns as conditions on a relation below, where each column
    comes down to it unhindered; the others are left out, which only widens the bound."""
    for item in asked:
        match item:
            case AnyOf(branches=branches):
                below = [tuple(_mapped(plan, branch, reader, relation)) for branch in branches]
                different = tuple(dict.fromkeys(below))
                if len(different) == 1:
                    yield from different[0]
                elif all(different):
                    yield AnyOf(different)
            case Conjunct(condition=condition, expression=expression):
                names = {
                    ref.name: _column_below(plan, ref, relation) for ref in columns(expression)
                }
                if all(names.values()):
                    yield Conjunct(condition, _renamed(expression, relation, names))


def _renamed(expression: Expression, relation: int, names: dict[str, str | None]) -> Expression:
    def below(ref: ColumnRef) -> ColumnRef:
        return ColumnRef(relation, names[ref.name] or ref.name, ref.span, ref.qualified)

    return substitute(expression, below)


def _column_below(plan: Plan, ref: ColumnRef, relation: int) -> str | None:
    """The column of a relation directly below that a reader's column is, if a condition on the one
    may become a condition on the other."""
    reader = plan.relations[ref.relation]
    if not isinstance(reader, Derived | CteReference) or reader.sampled:
        return None
    if len(reader.query.top) > 1:
        # A set operation may widen its branches' types: the condition would compare another way.
        kind = column_type(plan, ref)
        if kind is None:
            return None
    found = {
        step.column
        for step in steps(plan, reader, ref.name)
        if step.relation.relation == relation and not step.barriers and not step.computed
    }
    return found.pop() if len(found) == 1 else None
