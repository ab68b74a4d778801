"""The key that a derived table or CTE computes, written anew in the predicate so that it raises no
error: with it what DISTINCT, GROUP BY and set operations compare (docs/soundness.md, "What can
raise an error is attempted").
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlrewrite.judge.attempts import exact_attempts
from sqlrewrite.judge.case import Case
from sqlrewrite.judge.raising import raising_below, raising_in
from sqlrewrite.judge.repeatable import against
from sqlrewrite.plan.algebra import Block, CteReference, Derived, Expression
from sqlrewrite.plan.columns import arithmetic, computed_as
from sqlrewrite.plan.expressions import columns, said, walk


def written_anew(case: Case) -> bool:
    """Whether the key query, which repeats a derived table's text, or a CTE's, writes what computes
    the key in a form that raises no error (``plan/facts/arithmetic.py``, ``judge/attempts.py``)."""
    dimension, plan = case.pair.dimension, case.plan
    match dimension:
        case Derived(anchor=int(), query=query):
            pass
        case CteReference(query=query, cte=cte) if plan.ctes[cte].name:
            if plan.ctes[cte].columns or plan.ctes[cte].outer or len(query.top) != 1:
                return False
            if any(against(case, query.blocks)):  # its text must mean the same there
                return False
        case _:
            return False
    found = computed_as(plan, case.pair.key)
    blocks = [plan.blocks[number] for number in query.top]
    return len(found) == len(blocks) and all(
        raising_in(case, expression) is None
        or (_alone(block, expression) and _harmless(case, expression))
        for block, expression in zip(blocks, found, strict=True)
    )


def grouped_anew(case: Case) -> Iterator[Expression]:
    """The keys of groups that say once more what is written anew in the SELECT list."""
    relation = case.pair.dimension
    if not isinstance(relation, Derived | CteReference):
        return
    blocks = [case.plan.blocks[number] for number in relation.query.top]
    for block, expression in zip(blocks, computed_as(case.plan, case.pair.key), strict=False):
        for key in block.keys:
            if key is not expression and said(key) == said(expression):
                yield key


def _alone(block: Block, expression: Expression) -> bool:
    """Whether the list of a block, and its GROUP BY, say all that is asked of an expression: ORDER
    BY, HAVING and other items may name it, too, and would not find it then."""
    if block.aggregate is None and not block.distinct:
        return True
    if block.order or block.aggregate not in (None, "group by"):
        return False
    same = said(expression)
    if block.aggregate is not None and all(said(key) != same for key in block.keys):
        return False
    others = [it.expression for it in block.outputs if it.expression is not expression]
    others += [condition.expression for condition in block.having]
    return all(said(node) != same for other in others for node in walk(other))


def _harmless(case: Case, expression: Expression) -> bool:
    """Whether an expression has a form that gives just what it gives without ANSI mode."""
    form = arithmetic(case.plan, expression) is not None or bool(exact_attempts(case, expression))
    return form and all(
        ref.span is not None and raising_below(case, ref) is None for ref in columns(expression)
    )
