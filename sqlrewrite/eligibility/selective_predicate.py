"""DPP120 selective-predicate: the dimension is filtered by something likely to be selective.

The list is that of Spark's ``PartitionPruning.isLikelySelective``, kept in the engine's file.
"""

from __future__ import annotations

from sqlrewrite.eligibility.case import Case, Judgement, failed, passed
from sqlrewrite.plan.expressions import Call, Expression, Subquery
from sqlrewrite.pruning.reducers import AnyOf, Restriction
from sqlrewrite.rulebook import Engine


def judge(case: Case) -> Judgement:
    """Whether some condition on the dimension, or in it, is selective."""
    if any(_restricts(case.engine, item) for item in case.kept):
        return passed(f"{case.dimension_name} is filtered")
    for number in case.dimension_blocks:
        block = case.plan.blocks[number]
        for condition in (*block.where, *block.having):
            if selective(case.engine, condition.expression):
                return passed(f"{case.dimension_name} is filtered inside")
    if case.left_out:
        return failed(
            f"no condition on {case.dimension_name} can be repeated: {case.left_out[0][1]}"
        )
    return failed(f"nothing filters {case.dimension_name}: its keys would rule out nothing")


def _restricts(engine: Engine, item: Restriction) -> bool:
    if isinstance(item, AnyOf):
        return all(any(_restricts(engine, inner) for inner in branch) for branch in item.branches)
    return selective(engine, item.expression)


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
