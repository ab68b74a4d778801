"""The columns by which a scan may be pruned."""

from __future__ import annotations

from sqlrewrite.find.derived import derived_from
from sqlrewrite.plan.algebra import ColumnRef, Plan, Scan
from sqlrewrite.plan.lineage import LineagePath


def may_prune(plan: Plan, ref: ColumnRef) -> bool:
    """Whether a column may lead down to one that a fact is partitioned by: most are a dimension's,
    or a fact's that is no partition column."""
    relation = plan.relations[ref.relation]
    return not isinstance(relation, Scan) or partitioned(plan, relation, ref.name)


def prunable(plan: Plan, path: LineagePath) -> bool:
    """Whether a path ends in a column that its table is partitioned by, plainly or transformed, or
    that such a column is computed from, or that its rows are clustered by."""
    return isinstance(path.end, Scan) and partitioned(plan, path.end, path.column)


def partitioned(plan: Plan, scan: Scan, column: str) -> bool:
    """Whether a bound on a column is one on the table's partitions, or leads to one."""
    return bounded(scan, column) or bool(derived_from(plan, scan, column))


def bounded(scan: Scan, column: str) -> bool:
    """Whether a table is partitioned by a column, plainly or transformed, or clustered by it."""
    table = scan.table
    return column in table.clustered_by or any(
        field.column.lower() == column for field in table.partitioned_by
    )
