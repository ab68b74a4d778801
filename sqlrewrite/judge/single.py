"""Whether there is but one key, as of a join with a maximum: ``p = (SELECT …)`` says all of it, and
``p >= (SELECT …)`` of a join by ``>=``."""

from __future__ import annotations

from sqlrewrite.judge.case import Case
from sqlrewrite.plan.algebra import CteReference, Derived
from sqlrewrite.plan.relations import one_row

_ANY = frozenset({"=", "<", "<=", ">", ">="})
"""The comparisons that hold of no NULL."""


def is_single(case: Case) -> bool:
    """Whether the key is of the one row of an aggregate over all rows, or of LIMIT 1."""
    pair, dimension = case.pair, case.pair.dimension
    if not pair.fact_plain or pair.derived is not None or pair.operator not in _ANY:
        return False
    if of_whole_query(case):
        return True
    if not isinstance(dimension, Derived | CteReference):
        return False
    if pair.operator != "=" and case.clustered:
        return False  # of two such ends Spark would make one, and push neither down
    return one_row(case.plan, dimension.query)


def of_whole_query(case: Case) -> bool:
    """Whether the key is what the whole subquery of an author's IN gives: its one row."""
    pair, query = case.pair, case.pair.tie.query
    if query is None or pair.side != "outside" or not one_row(case.plan, query):
        return False
    return len(case.plan.blocks[query.top[0]].outputs) == 1  # several are those of a tuple
