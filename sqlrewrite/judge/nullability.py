"""Which columns are never NULL: declared so, by a table whose format enforces it.

Measured on Spark 4.3: a Parquet table with ``a INT NOT NULL`` accepts a NULL and its scan says
nullable. Delta and Iceberg refuse the row at the write.
"""

from __future__ import annotations

from sqlrewrite.plan.algebra import ColumnRef, Plan, Scan
from sqlrewrite.plan.joins import extended

_ENFORCING = frozenset({"delta", "iceberg"})


def never_null(plan: Plan, ref: ColumnRef) -> bool:
    """Whether a column of a base table is NOT NULL where its block uses it."""
    scan = plan.relations[ref.relation]
    if not isinstance(scan, Scan) or scan.table.provider not in _ENFORCING:
        return False
    column = scan.table.column(ref.name)
    block = plan.blocks[plan.owner[ref.relation]]
    if column is None or column.nullable:
        return False
    return not extended(block.source, ref.relation)
