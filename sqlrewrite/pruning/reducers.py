"""Which keys of the dimension matter: the conditions that the query puts on it.

The argument has two steps. Rows of the dimension that fail these conditions can be taken away
without changing the result (predicate push-down: Levy, Mumick and Sagiv 1994); then facts without
a partner among the rest can be taken away too (the semi-join of Bernstein and Chiu 1981).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlrewrite.plan.columns import column_type
from sqlrewrite.plan.expressions import (
    Call,
    ColumnRef,
    Expression,
    columns,
    relations,
    substitute,
)
from sqlrewrite.plan.joins import reaching
from sqlrewrite.plan.lineage import trace
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
    found = restricting(plan, dimension)
    if pair.tie.join is None:
        return found
    # In `D LEFT JOIN F ON …` a pair of rows also needs what the ON says of D itself.
    known = {id(item.condition) for item in found if isinstance(item, Conjunct)}
    return found + tuple(
        Conjunct(condition, condition.expression)
        for condition in pair.tie.join.conditions
        if id(condition) not in known and relations(condition.expression) == {dimension}
    )


def restricting(
    plan: Plan, relation: int, seen: frozenset[int] = frozenset()
) -> tuple[Restriction, ...]:
    """The conditions on a relation: those of its own block that reach it, those that an equality
    carries over from another relation there, and those of the blocks around it that come down to it
    through their columns. ``seen`` are relations whose conditions led here."""
    block = plan.blocks[plan.owner[relation]]
    reached = reaching(block.source, relation, block.where)
    own = tuple(Conjunct(c, c.expression) for c in reached if _only(c, relation))
    carried = _carried(plan, relation, reached, seen | {relation})
    return own + tuple(carried) + tuple(_from_outside(plan, relation, seen | {relation}))


def _only(condition: Condition, relation: int) -> bool:
    return relations(condition.expression) == {relation}


def _carried(
    plan: Plan, relation: int, reached: tuple[Condition, ...], seen: frozenset[int]
) -> Iterator[Restriction]:
    """What another relation's conditions on a column say of ours that must equal it: only rows that
    find a partner there matter (predicate move-around). Types must agree: under another type the
    same condition might compare otherwise."""
    for condition in reached:
        match condition.expression:
            case Call(name="=", args=(ColumnRef() as one, ColumnRef() as other)):
                ours, theirs = (one, other) if one.relation == relation else (other, one)
            case _:
                continue
        if ours.relation != relation or theirs.relation in seen or theirs.relation == relation:
            continue
        kind = column_type(plan, ours)
        if kind is None or kind != column_type(plan, theirs):
            continue
        if plan.owner[theirs.relation] != plan.owner[relation]:
            continue
        for item in restricting(plan, theirs.relation, seen):
            if isinstance(item, Conjunct) and all(
                ref.name == theirs.name for ref in columns(item.expression)
            ):
                yield Conjunct(
                    item.condition, _renamed(item.expression, relation, {theirs.name: ours.name})
                )


def _from_outside(plan: Plan, relation: int, seen: frozenset[int]) -> Iterator[Restriction]:
    number = plan.owner[relation]
    if plan.blocks[number].role not in ("derived", "cte"):
        return  # the rows of any other block are results, or values: nothing restricts them
    branches: list[tuple[Restriction, ...]] = []
    for reader in _readers(plan, number):
        asked = restricting(plan, reader, seen)
        branches.append(tuple(_mapped(plan, asked, reader, relation)))
    if len(branches) == 1:
        yield from branches[0]
    elif branches and all(branches):
        yield AnyOf(tuple(dict.fromkeys(branches)))


def _readers(plan: Plan, block: int) -> list[int]:
    """The relations that read a block's rows directly."""
    return [
        number
        for number, relation in plan.relations.items()
        if isinstance(relation, Derived | CteReference) and block in relation.query.top
    ]


def _mapped(
    plan: Plan, asked: tuple[Restriction, ...], reader: int, relation: int
) -> Iterator[Restriction]:
    """The conditions on a reader's columns as conditions on a relation below, where each column
    comes down to it unhindered; the others are left out, which only widens the bound."""
    for item in asked:
        match item:
            case AnyOf(branches=branches):
                below = [tuple(_mapped(plan, branch, reader, relation)) for branch in branches]
                if all(below):
                    yield AnyOf(tuple(dict.fromkeys(below)))
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
    found = {
        path.column
        for path in trace(plan, ref)
        if len(path.relations) == 2
        and path.end.relation == relation
        and not path.barriers
        and not path.computed
    }
    return found.pop() if len(found) == 1 else None
