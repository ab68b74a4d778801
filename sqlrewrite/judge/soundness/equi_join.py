"""DPP102 equi-join: the columns are tied by ``=`` or a comparison that the keys' ends bound, or by
``<=>`` where no NULL can meet a NULL."""

from __future__ import annotations

from sqlrewrite.judge.nullability import never_null
from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed


def judge(proposal: Proposal) -> Judgement:
    """Whether a fact row's partners are those whose key equals its partition column."""
    pair = proposal.pair
    if pair.operator == "=":
        return passed("the columns are tied by =")
    if pair.operator in ("<", "<="):
        return passed(f"tied by {pair.operator}: the largest key bounds the column")
    if pair.operator in (">", ">="):
        return passed(f"tied by {pair.operator}: the smallest key bounds the column")
    # Of the comparison's own operand: what another relation has in its place says nothing of NULL.
    own_key = pair.key_plain and pair.key_side.operand is not None
    given = own_key and never_null(proposal.plan, pair.key)
    if pair.fact_plain and (given or (pair.key_plain and never_null(proposal.plan, pair.fact))):
        return passed("tied by <=>, and one side is NOT NULL")
    if pair.derived is not None and pair.derived.strict:
        return passed("tied by <=>: what is computed of NULL is NULL, and those rows stay")
    return failed(
        "<=> pairs NULL with NULL and IN does not: one of the columns must be NOT NULL in a table "
        "that enforces it (Delta, Iceberg)"
    )
