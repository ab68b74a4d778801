"""Pairs of scans that one join connects by equalities between plain columns.

In: a plan. Out: a ``ScanJoin`` for each such pair, in joins, EXISTS and IN alike. Nothing is
judged: whether the tables lie so that the join needs no exchange is ``judge/partition_wise.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.relations import joins, numbers

_NO_OUTER = (ra.JoinType.INNER, ra.JoinType.CROSS)


@dataclass(frozen=True, slots=True)
class JoinKey:
    """An equality of a scan join: the column of each side, and whether NULL equals NULL in it."""

    one: str
    other: str
    null_safe: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ScanJoin:
    """Two scans that are joined in a block: ``one`` of the left side, or of the query around a
    subquery, and ``other`` of the right side, or of the subquery."""

    block: ra.Block
    kind: ra.JoinType
    one: ra.Scan
    other: ra.Scan
    keys: tuple[JoinKey, ...]


def scan_joins(plan: ra.Plan) -> Iterator[ScanJoin]:
    """The scan joins of a plan, block by block; those in a view are reported at its own text."""
    for block in plan.blocks:
        if block.in_view:
            continue
        for join in joins(block.source):
            kind = ra.JoinType.INNER if join.type in _NO_OUTER else join.type
            above = block.where if kind is ra.JoinType.INNER else ()
            sides = numbers(join.left), numbers(join.right)
            equalities = (it.expression for it in (*join.conditions, *above))
            yield from _joins_by_equalities(plan, block, kind, sides, equalities)
        yield from _joins_of_subquery(plan, block)


def _joins_of_subquery(plan: ra.Plan, block: ra.Block) -> Iterator[ScanJoin]:
    """A block that is the subquery of an EXISTS or IN that its parent's WHERE asks for, or of a
    NOT EXISTS: a semi-join or an anti-join of the two. NOT IN is neither, for its NULLs."""
    if block.parent is None or block.role not in ("exists", "in") or not block.required:
        return
    if block.negated and block.role == "in":
        return
    outer, inner = (
        frozenset(it for it, of in plan.owner.items() if of == number)
        for number in (block.parent, block.number)
    )
    equalities = [it.expression for it in block.where]
    if block.role == "in":
        equalities += _equalities_of_in(plan.blocks[block.parent].where, block)
    kind = ra.JoinType.ANTI if block.negated else ra.JoinType.SEMI
    yield from _joins_by_equalities(plan, block, kind, (outer, inner), equalities)


def _equalities_of_in(where: Sequence[ra.Condition], block: ra.Block) -> Iterator[ra.Expression]:
    """What an IN says: each of its operands is the column in its place."""
    for condition in where:
        match condition.expression:
            case ra.Subquery(kind="in", operand=operand, query=query) if operand is not None:
                several = isinstance(operand, ra.Call) and operand.name == "tuple"
                operands = operand.args if several else (operand,)  # type: ignore[union-attr]
                if query.top == (block.number,) and len(operands) == len(block.outputs):
                    for one, output in zip(operands, block.outputs, strict=True):
                        yield ra.Call("=", (one, output.expression))


def _joins_by_equalities(
    plan: ra.Plan,
    block: ra.Block,
    kind: ra.JoinType,
    sides: tuple[frozenset[int], frozenset[int]],
    equalities: Iterator[ra.Expression] | Sequence[ra.Expression],
) -> Iterator[ScanJoin]:
    found: dict[tuple[int, int], list[JoinKey]] = {}
    for expression in equalities:
        match expression:
            case ra.Call(
                name="=" | "<=>" as name, args=(ra.ColumnRef() as one, ra.ColumnRef() as other)
            ):
                if one.relation in sides[1]:
                    one, other = other, one
                if one.relation in sides[0] and other.relation in sides[1]:
                    key = JoinKey(one.name, other.name, name == "<=>")
                    found.setdefault((one.relation, other.relation), []).append(key)
    for (first, second), keys in found.items():
        left, right = plan.relations[first], plan.relations[second]
        if isinstance(left, ra.Scan) and isinstance(right, ra.Scan):
            yield ScanJoin(block, kind, left, right, tuple(dict.fromkeys(keys)))
