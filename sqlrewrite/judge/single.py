"""Whether there is but one key, as of a join with a maximum: ``p = (SELECT …)`` says all of it."""

from __future__ import annotations

from sqlrewrite.judge.case import Case
from sqlrewrite.plan.algebra import CteReference, Derived
from sqlrewrite.plan.relations import one_row


def is_single(case: Case) -> bool:
    """Whether the key is the one row of an aggregate over all rows."""
    pair, dimension = case.pair, case.pair.dimension
    if pair.operator != "=" or not pair.fact_plain or pair.derived is not None:
        return False
    if of_whole_query(case):
        return True
    if not isinstance(dimension, Derived | CteReference) or not pair.key_plain:
        return False
    return one_row(case.plan, dimension.query)


def of_whole_query(case: Case) -> bool:
    """Whether the key is what the whole subquery of an author's IN gives: its one row."""
    pair, query = case.pair, case.pair.tie.query
    if query is None or pair.side != "outside" or not one_row(case.plan, query):
        return False
    return len(case.plan.blocks[query.top[0]].outputs) == 1  # several are those of a tuple
