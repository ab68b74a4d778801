"""Which columns are never NULL: declared so, by a table whose format enforces it.

Measured on Spark 4.3: a Parquet table with ``a INT NOT NULL`` accepts a NULL and its scan says
nullable. Delta and Iceberg refuse the row at the write.
"""

from __future__ import annotations

from sqlrewrite.plan.expressions import ColumnRef
from sqlrewrite.plan.joins import LEFT, PRESERVED, RIGHT
from sqlrewrite.plan.nodes import Generate, Join, Node, Plan, Scan, numbers

_ENFORCING = frozenset({"delta", "iceberg"})


def never_null(plan: Plan, ref: ColumnRef) -> bool:
    """Whether a column of a base table is NOT NULL where its block uses it."""
    scan = plan.relations[ref.relation]
    if not isinstance(scan, Scan) or scan.table.provider not in _ENFORCING:
        return False
    column = scan.table.column(ref.name)
    block = plan.blocks[plan.owner[ref.relation]]
    return column is not None and not column.nullable and _kept(block.source, ref.relation)


def _kept(node: Node, relation: int) -> bool:
    """Whether no join of the tree null-extends a relation."""
    while isinstance(node, Join | Generate):
        if isinstance(node, Generate):
            node = node.child
            continue
        side = LEFT if relation in numbers(node.left) else RIGHT
        if side not in PRESERVED[node.type]:
            return False
        node = node.left if side == LEFT else node.right
    return True
