"""DPP102 equi-join: the columns are joined by ``=``, by a comparison that the keys' ends bound, or
by ``<=>`` where no NULL can meet a NULL.

A column counts as never NULL only where its format enforces NOT NULL. Measured on Spark 4.3: a
Parquet table with ``a INT NOT NULL`` accepts a NULL and its scan says nullable; Delta and Iceberg
refuse the row at the write.
"""

from __future__ import annotations

from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed
from sqlrewrite.plan.algebra import ColumnRef, Plan, Scan
from sqlrewrite.plan.joins import null_extended

_ENFORCING = frozenset({"delta", "iceberg"})


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


def never_null(plan: Plan, ref: ColumnRef) -> bool:
    """Whether a column of a base table is NOT NULL where its block uses it."""
    scan = plan.relations[ref.relation]
    if not isinstance(scan, Scan) or scan.table.provider not in _ENFORCING:
        return False
    column = scan.table.column(ref.name)
    block = plan.blocks[plan.owner[ref.relation]]
    if column is None or column.nullable:
        return False
    return not null_extended(block.source, ref.relation)
