"""DPP120 selective-predicate: the dimension is filtered by something likely to be selective.

The list is that of Spark's ``PartitionPruning.isLikelySelective``, kept in the engine's file.
"""

from __future__ import annotations

from sqlrewrite.eligibility.case import Case, Judgement, failed, passed
from sqlrewrite.plan.expressions import Call, Expression, Subquery
from sqlrewrite.plan.nodes import CteReference, Derived, Relation
from sqlrewrite.pruning.restrictions import AnyOf, Conjunct, Restriction, SemiJoin
from sqlrewrite.rulebook import Engine


def judge(case: Case) -> Judgement:
    """Whether some condition on the dimension, or in it, is selective."""
    if any(restricts(case, item) for item in case.kept):
        return passed(f"{case.dimension_name} is filtered")
    if _filtered_inside(case, case.pair.dimension):
        return passed(f"{case.dimension_name} is filtered inside")
    if case.left_out:
        return failed(
            f"no condition on {case.dimension_name} can be repeated: {case.left_out[0][1]}"
        )
    return failed(f"nothing filters {case.dimension_name}: its keys would rule out nothing")


def restricts(case: Case, item: Restriction) -> bool:
    """Whether a restriction is likely to leave few rows."""
    match item:
        case Conjunct(expression=expression):
            return selective(case.engine, expression)
        case AnyOf(branches=branches):
            return all(any(restricts(case, inner) for inner in branch) for branch in branches)
        case SemiJoin(relation=relation, inner=inner):
            return any(restricts(case, found) for found in inner) or _filtered_inside(
                case, relation
            )


def _filtered_inside(case: Case, relation: Relation) -> bool:
    """Whether a derived table, view or CTE has a selective condition of its own."""
    numbers = relation.query.blocks if isinstance(relation, Derived | CteReference) else ()
    blocks = (case.plan.blocks[number] for number in numbers)
    return any(
        selective(case.engine, condition.expression)
        for block in blocks
        for condition in (*block.where, *block.having)
    )


def selective(engine: Engine, expression: Expression) -> bool:
    """Whether a condition is likely to leave few rows, as Spark sees it."""
    match expression:
        case Call(name="and", args=args):
            return any(selective(engine, arg) for arg in args)
        case Call(name="or", args=args):
            return all(selective(engine, arg) for arg in args)
        case Call(name="not", args=(inner,)):
            return selective(engine, inner)
        case Call(name=name):
            return name in engine.predicates
        case Subquery(kind="in"):
            return True
        case _:
            return False
