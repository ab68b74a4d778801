"""Computed keys that Spark tests for rows for which the query never computes them.

If ``f.p`` is joined with ``CAST(d.k AS INT)``, Spark copies a condition on ``f.p`` to the cast and
pushes it below the other joins of ``d`` (docs/soundness.md, "What Spark copies").
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter

from sqlrewrite.judge.errors.copied import (
    ColumnId,
    Placed,
    alike,
    blocks_inside,
    blocks_tested,
    conditions_in,
    conditions_of,
)
from sqlrewrite.judge.errors.raising import raising_in
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import computed_as
from sqlrewrite.plan.expressions import columns, relations, walk
from sqlrewrite.plan.facts.coercion import is_integral
from sqlrewrite.plan.facts.functions import function
from sqlrewrite.plan.facts.types import BIGINT
from sqlrewrite.plan.memo import remembered, shared
from sqlrewrite.plan.relations import direct_readers, leaves, numbers, operators
from sqlrewrite.text.limits import SPARK

_Raising = tuple[ra.Expression, ra.Relation | ra.Generate]
"""An expression that can raise an error, and the relation of its columns."""

_TEXTS = ("string", "char", "varchar")

_PRESERVED = {
    ra.JoinType.LEFT: ("left",),
    ra.JoinType.RIGHT: ("right",),
    ra.JoinType.FULL: ("left", "right"),
}
"""The sides whose rows an outer join keeps."""


def raising_for_rows(proposal: Proposal) -> _Raising | None:
    """An expression joined with the fact's column that can raise an error for rows which another
    join removes first in the query, and its relation; None if there is none."""
    if proposal.options.limits.dialect != SPARK:
        return None
    # Shared by all pairs of a column, of which there may be many.
    return _raising_for_rows(proposal, proposal.pair.scan.relation, proposal.pair.path.column)


@shared
def _raising_for_rows(proposal: Proposal, relation: int, column: str) -> _Raising | None:
    computed, plan = _computed(proposal), proposal.plan
    same = alike(plan, relation, column) if computed else frozenset()
    facts = _above(plan, relation)
    for plain, placed, ref, below, culprit in computed:
        if (
            plain in same
            and ref.relation not in facts
            and _is_copied(plan, placed, ref)
            and _is_narrowed(proposal, _sources(plan, ref) if below else [ref], facts)
        ):
            return culprit, plan.relations[ref.relation]
    return None


_Computed = tuple[ColumnId, Placed, ra.ColumnRef, bool, ra.Expression]


@shared
def _computed(proposal: Proposal) -> list[_Computed]:
    """The columns that an equality casts, or a derived table computes, before it compares them with
    a plain column. Each has that column before it, by which they are in order, and the place of the
    equality; and behind it whether it is computed below the equality, and what can raise an error
    in computing it."""
    every = (
        computed
        for block in proposal.plan.blocks
        for placed in conditions_in(block)
        for computed in _computed_in(proposal, placed)
    )
    return sorted(every, key=itemgetter(0))


def _computed_in(proposal: Proposal, placed: Placed) -> Iterator[_Computed]:
    match placed[2]:
        case ra.Call(name="=" | "<=>", args=(one, other)) as condition:
            pass
        case _:
            return
    for plain, side in ((one, other), (other, one)):
        ref = _cast_column(side)
        if ref is None or not isinstance(plain, ra.ColumnRef):
            continue
        culprit, cast = raising_in(proposal, side), side is ref and _is_cast(proposal, plain, ref)
        if cast:
            culprit = culprit or condition
        if culprit is not None:
            yield (plain.relation, plain.name), placed, ref, side is ref and not cast, culprit


def _sources(plan: ra.Plan, ref: ra.ColumnRef) -> list[ra.ColumnRef]:
    """The columns from which derived tables, CTEs and views compute a column. They do so for all
    rows that they read, also rows that outer queries remove."""
    sources: list[ra.ColumnRef] = []
    stack = [ref]
    seen: set[ColumnId] = set()
    while stack:
        ref = stack.pop()
        if (ref.relation, ref.name) not in seen:
            seen.add((ref.relation, ref.name))
            for expression in computed_as(plan, ref):
                plain = isinstance(expression, ra.ColumnRef)
                (stack if plain else sources).extend(columns(expression))
    return sources


def _cast_column(side: ra.Expression) -> ra.ColumnRef | None:
    """The column that a side of an equality is, or casts (to_date and date are casts to Spark);
    None for another expression."""
    match side:
        case ra.ColumnRef():
            return side
        case ra.Cast(operand=ra.ColumnRef() as ref) | ra.Call(args=(ra.ColumnRef() as ref,)):
            return ref
        case _:
            return None


def _is_cast(proposal: Proposal, plain: ra.ColumnRef, ref: ra.ColumnRef) -> bool:
    """Whether Spark casts a STRING to compare it with a column. Beside a shorter integer it casts
    both to BIGINT, and then copies nothing."""
    stored, compared = proposal.type_of(plain), proposal.type_of(ref)
    if stored is None or compared is None or compared.name not in _TEXTS or stored.name in _TEXTS:
        return False
    return not is_integral(stored) or stored == BIGINT


def _is_copied(plan: ra.Plan, placed: Placed, ref: ra.ColumnRef) -> bool:
    """Whether Spark copies conditions to a column from the other side of an equality: not to the
    preserved side of an outer join, nor out of a scalar subquery whose value no condition tests."""
    block, join, _ = placed
    if plan.owner[ref.relation] != block.number:
        inside = block.number in blocks_inside(plan)
        tested = block.role == "scalar" and block.number in blocks_tested(plan)
        return block.role == "lateral" or tested or (block.role in ("exists", "in") and inside)
    return join is None or not _is_preserved(join, ref.relation)


def _is_preserved(join: ra.Join, relation: int) -> bool:
    sides = _PRESERVED.get(join.type, ())
    return any(relation in numbers(getattr(join, side)) for side in sides)


def _is_narrowed(proposal: Proposal, sources: list[ra.ColumnRef], facts: frozenset[int]) -> bool:
    """Whether the query may remove rows of the columns' relations before it joins them with the
    fact, but after the place where Spark tests copied conditions. A condition on the values of one
    row does not count: Spark tests it first."""
    plan = proposal.plan
    stack = [*sources]
    seen: set[ColumnId] = set()
    while stack:
        ref = stack.pop()
        if (ref.relation, ref.name) in seen:
            continue
        seen.add((ref.relation, ref.name))
        for block, join, condition in conditions_of(plan).get(ref.relation, ()):
            here = plan.owner[ref.relation] == block.number or block.role == "lateral"
            kept = join is not None and _is_preserved(join, ref.relation)
            if here and not kept and _leaves_out_late(proposal, condition, ref.relation, facts):
                return True
        if _is_read_in_part(plan, ref.relation):
            return True
        stack += [column for part in computed_as(plan, ref) for column in columns(part)]
    return False


def _leaves_out_late(
    proposal: Proposal, condition: ra.Expression, relation: int, facts: frozenset[int]
) -> bool:
    """Whether a condition joins a relation with one other than the fact, or tests a value that
    Spark computes above the scan of the relation."""
    plan = proposal.plan
    for node in walk(condition):
        match node:
            case ra.Subquery(query=query, outer=outer) if outer or node.kind != "scalar":
                within = set(query.blocks)
                if all(plan.owner[fact] not in within for fact in facts):
                    return True
            case ra.ColumnRef() if _is_computed_late(proposal, node.relation, node.name):
                return True
            case ra.Call(name=name) if function(name) is None:  # a Python UDF
                return True
            case _:
                pass
    return not relations(condition) <= facts | {relation}


@shared
def _is_computed_late(proposal: Proposal, relation: int, name: str) -> bool:
    """Whether a column of a derived table, CTE or view is computed from several rows, by a subquery
    or by a user's function."""
    plan = proposal.plan
    for expression in computed_as(plan, ra.ColumnRef(relation, name, None)):
        for node in walk(expression):
            match node:
                case ra.Subquery():
                    return True
                case ra.ColumnRef() if _is_computed_late(proposal, node.relation, node.name):
                    return True
                case ra.Call(name=called):
                    row = function(called)
                    if row is None or row.kind in ("aggregate", "window", "generator"):
                        return True
                case _:
                    pass
    return False


def _is_read_in_part(plan: ra.Plan, relation: int) -> bool:
    """Whether a HAVING, a generator, EXCEPT or INTERSECT leaves out rows of a relation."""
    beside = leaves(plan.blocks[plan.owner[relation]].source)
    if any(isinstance(leaf, ra.Generate) and leaf.relation != relation for leaf in beside):
        return True
    read = plan.relations[relation]
    if not isinstance(read, ra.Derived | ra.CteReference):
        return False
    if any(plan.blocks[number].having for number in read.query.top):
        return True
    sets = (node for node in operators(read.query) if isinstance(node, ra.SetOperation))
    return any(node.kind != "union" for node in sets)


@remembered
def _above(plan: ra.Plan, relation: int) -> frozenset[int]:
    """A relation, with the derived tables, CTE references and views that read it."""
    above: set[int] = set()
    stack = [relation]
    while stack:
        number = stack.pop()
        if number not in above:
            above.add(number)
            stack += direct_readers(plan).get(plan.owner[number], ())
    return frozenset(above)
