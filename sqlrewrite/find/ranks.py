"""Conditions on a rank that only rows of the first partitions can meet: ``rank() OVER (ORDER BY p
DESC) = 1``, in QUALIFY or around a derived table, and ``p = max(p) OVER ()``.

In: a plan. Out: a ``Pair`` for each scan that is ranked by a column it is pruned by. The scan is
its own dimension: the first values of its column, among the rows that are ranked, bound it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlrewrite.find.derived import bounded
from sqlrewrite.find.pairs import Pair
from sqlrewrite.find.reducers import conditions_reaching
from sqlrewrite.find.ties import RANK, Side, Tie
from sqlrewrite.plan.algebra import (
    Block,
    Call,
    ColumnRef,
    Condition,
    CteReference,
    Derived,
    Expression,
    Limit,
    Literal,
    Plan,
    Scan,
    SetOperation,
)
from sqlrewrite.plan.columns import column_names
from sqlrewrite.plan.facts.functions import known
from sqlrewrite.plan.facts.literals import whole
from sqlrewrite.plan.lineage import LineagePath, same

MOST = 100
"""How many values at most are asked for."""


def find_ranks(plan: Plan) -> Iterator[Pair]:
    """All such pairs of a plan."""
    for block in plan.blocks:
        scan = block.source
        if block.ranked is None or not isinstance(scan, Scan):
            continue
        ref, descends = block.ranked
        away = block.in_view or block.shared or scan.sampled or scan.streaming or scan.span is None
        if away or ref.relation != scan.relation or not bounded(scan, ref.name):
            continue
        for condition, meant in _conditions(plan, block):
            count = _most(condition.expression, meant, ref)
            if 0 < count <= MOST:
                yield _pair(block, condition, scan, ref, ">=" if descends else "<=", count)
                break


def _pair(
    block: Block, condition: Condition, scan: Scan, ref: ColumnRef, operator: str, count: int
) -> Pair:
    column = Side(ref, None)
    return Pair(
        tie=Tie(block, condition, operator, RANK, None, True),
        operator=operator,
        side=RANK,
        path=LineagePath((scan,), ref.name),
        fact=ref,
        fact_side=column,
        target=scan,
        target_column=ref.name,
        dimension=scan,
        key=ref,
        key_side=column,
        first=count,
    )


Meaning = Callable[[Expression], Expression]
"""What an expression of a condition is in the SELECT with the window."""


def _conditions(plan: Plan, block: Block) -> Iterator[tuple[Condition, Meaning]]:
    """The conditions that each row must meet which comes out of a SELECT and matters."""
    yield from ((it, lambda expression: expression) for it in block.having)  # it is QUALIFY
    reads = [
        it
        for it in plan.relations.values()
        if isinstance(it, Derived | CteReference) and block.number in it.query.top
    ]
    if len(reads) != 1 or block.limit is not None or not block.complete:
        return
    (relation,) = reads
    alone = isinstance(relation, Derived) or relation.cte not in plan.unbound
    if relation.sampled or not alone or isinstance(relation.query.node, Limit | SetOperation):
        return
    names = column_names(relation) or ()

    def meant(expression: Expression) -> Expression:
        match expression:
            case ColumnRef(relation=number, name=name) if number == relation.relation:
                at = names.index(name) if names.count(name) == 1 else len(block.outputs)
                return block.outputs[at].expression if at < len(block.outputs) else expression
            case _:
                return expression

    yield from ((it, meant) for it in conditions_reaching(plan, relation.relation))


def _most(condition: Expression, meant: Meaning, ref: ColumnRef) -> int:
    """The greatest rank for which a condition may hold; 0 where it says nothing of that."""
    match condition:
        case Call(name="=", args=(one, other)) if {_called(meant(one)), _called(meant(other))} & {
            "max",
            "min",
        }:
            plain = (meant(it) for it in (one, other))
            return int(any(isinstance(it, ColumnRef) and same(it, ref) for it in plain))
        case Call(name="=" | "<=" | "<" as name, args=(one, Literal() as most)):
            found = one
        case Call(name="=" | ">=" | ">" as name, args=(Literal() as most, one)):
            found = one
        case Call(name="between" as name, args=(found, Literal(), Literal() as most)):
            pass
        case _:
            return 0
    if _called(meant(found)) not in known("numbers") or most.kind != "number":
        return 0
    return whole(most.text) - (name in ("<", ">"))


def _called(expression: Expression) -> str:
    """The function of a window."""
    match expression:
        case Call(name="over", args=(Call(name=name), *_)):
            return name
        case _:
            return ""
