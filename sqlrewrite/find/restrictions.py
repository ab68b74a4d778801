"""The restrictions on a relation's rows, as values: conjuncts, disjunctions, semi-joins.

Each row that matters to the result satisfies all of them; leaving one out only widens a bound.
``reducers`` finds them, ``judge/conditions.py`` sifts them, ``write/`` writes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from sqlrewrite.copies import replace
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.expressions import columns

Path = tuple[int, ...]
"""The path down to a node of an expression: the position of the operand at each step."""

Forms = tuple[tuple[Path, str], ...]
"""Nodes of an expression that can raise an error, each with the form that is written instead."""


class Attempts(Struct, frozen=True):
    """The error-free forms that replace parts of a condition. ``doubtful``: a form gives NULL where
    the value is unknown, so the key query tests that the condition IS NOT FALSE. ``merged``: a form
    is in a scalar subquery, which Spark computes together with the author's."""

    forms: Forms
    doubtful: bool
    merged: bool = False


class Conjunct(Struct, frozen=True):
    """A ``condition`` of the query as an ``expression`` over one relation's columns. The spans in
    it are those of the author's condition, whose columns may have other names."""

    condition: ra.Condition
    expression: ra.Expression
    attempts: Attempts | None = None


class AnyOf(Struct, frozen=True):
    """A disjunction: a branch for each reference to a CTE, or for each operand of an OR."""

    branches: tuple[tuple[Restriction, ...], ...]


class SemiJoin(Struct, frozen=True):
    """``key IN (SELECT other FROM relation WHERE inner)``: the row has a partner in a neighbour. A
    step of a semi-join program (Bernstein and Chiu 1981)."""

    key: ra.ColumnRef
    relation: ra.Relation
    other: ra.ColumnRef
    inner: tuple[Restriction, ...]


Restriction = Conjunct | AnyOf | SemiJoin


def any_of(branches: Sequence[tuple[Restriction, ...]]) -> tuple[Restriction, ...]:
    """The restrictions that follow if all restrictions of at least one branch hold; empty if a
    branch has none.

    What all branches share stays as it is; semi-joins with the same neighbour become one with a
    disjunction inside, which Spark plans best (docs/spark.md, q2).
    """
    if len(branches) == 1:
        return branches[0]
    different = tuple(dict.fromkeys(branches))
    if not different or not all(different):
        return ()
    if len(different) == 1:
        return different[0]
    first, *others = different
    common = tuple(item for item in first if all(item in other for other in others))
    rest = tuple(tuple(item for item in branch if item not in common) for branch in different)
    if not all(rest):
        return common
    merged = _merged(rest)
    return (*common, *(merged if merged is not None else (AnyOf(rest),)))


def _merged(branches: tuple[tuple[Restriction, ...], ...]) -> tuple[Restriction, ...] | None:
    """One semi-join in place of branches that are each a semi-join with the same neighbour, empty
    if it restricts nothing; None for other branches."""
    joins = [branch[0] for branch in branches if len(branch) == 1]
    first = joins[0] if len(joins) == len(branches) else None
    if not isinstance(first, SemiJoin):
        return None
    inner: list[tuple[Restriction, ...]] = []
    for join in joins:
        if not isinstance(join, SemiJoin) or not _same_neighbour(first, join):
            return None
        inner.append(join.inner)
    merged = any_of(inner)
    return (replace(first, inner=merged),) if merged else ()


def _same_neighbour(one: SemiJoin, other: SemiJoin) -> bool:
    return (
        (one.key.relation, one.key.name) == (other.key.relation, other.key.name)
        and one.other.name == other.other.name
        and same_rows(one.relation, other.relation)
    )


def same_rows(one: ra.Relation, other: ra.Relation) -> bool:
    """Whether two relations of a statement read the same rows, under the same column names."""
    if isinstance(one, ra.Scan) and isinstance(other, ra.Scan):
        plain = not (one.sampled or other.sampled or one.streaming or other.streaming)
        return plain and one.table is other.table and one.version == other.version
    if isinstance(one, ra.CteReference) and isinstance(other, ra.CteReference):
        return one.cte == other.cte and one.columns == other.columns
    if isinstance(one, ra.Derived) and isinstance(other, ra.Derived):
        return bool(one.view) and one.view == other.view and one.columns == other.columns
    return False


def plain_conditions(restrictions: Iterable[Restriction]) -> Iterator[ra.Expression]:
    """The conditions among restrictions that are conjuncts."""
    return (item.expression for item in restrictions if isinstance(item, Conjunct))


def flattened(restrictions: Sequence[Restriction]) -> Iterator[Conjunct | SemiJoin]:
    """The conjuncts and semi-joins among restrictions, those of disjunctions included."""
    for item in restrictions:
        if isinstance(item, AnyOf):
            for branch in item.branches:
                yield from flattened(branch)
        else:
            yield item


def within(restrictions: Sequence[Restriction]) -> Iterator[Conjunct | SemiJoin]:
    """The conjuncts and semi-joins among restrictions and within their semi-joins."""
    for item in flattened(restrictions):
        yield item
        if isinstance(item, SemiJoin):
            yield from within(item.inner)


def neighbours(restrictions: Sequence[Restriction]) -> Iterator[ra.Relation]:
    """The relations that the semi-joins among restrictions read."""
    for item in flattened(restrictions):
        if isinstance(item, SemiJoin):
            yield item.relation
            yield from neighbours(item.inner)


def merges_subqueries(restrictions: Sequence[Restriction]) -> bool:
    """Whether Spark would compute a scalar subquery in the restrictions together with the author's:
    then an IN prunes nothing, since its broadcast is no longer the one in the plan."""
    return any(
        merges_subqueries(item.inner)
        if isinstance(item, SemiJoin)
        else item.attempts is not None and item.attempts.merged
        for item in flattened(restrictions)
    )


def columns_named(restrictions: Sequence[Restriction]) -> Iterator[ra.ColumnRef]:
    """The columns of the restricted relation that the restrictions name."""
    for item in flattened(restrictions):
        yield from (item.key,) if isinstance(item, SemiJoin) else columns(item.expression)
