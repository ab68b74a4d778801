"""Statements that handle each partition by itself, so that reading all of them is meant: a GROUP BY
of the partition column, an INSERT that takes its partitions from the rows.

There DPP007 is a note: it tells that a condition is missing to who forgot it, and fails no build.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlrewrite.linting.statement import CheckedStatement
from sqlrewrite.plan.algebra import Block, ColumnRef, Expression, Literal, Scan
from sqlrewrite.sql.statements.execution import writes_each_partition

_WRITTEN = "; the statement writes each partition that its query gives"


def each_partition(checked: CheckedStatement, scan: Scan, names: frozenset[str]) -> str:
    """What a statement does with each partition of a scan, whose partition columns have those
    names, as the end of a sentence; empty if nothing of the kind."""
    for key in _keys(checked.plan.blocks[checked.plan.owner[scan.relation]]):
        if isinstance(key, ColumnRef) and key.relation == scan.relation and key.name in names:
            return f"; the query groups by {key.name}"
    return _WRITTEN if writes_each_partition(checked.decided.reading.statement) else ""


def _keys(block: Block) -> Iterator[Expression]:
    """What a block groups by; a number is the place of an output."""
    places = {str(at): column.expression for at, column in enumerate(block.outputs, 1)}
    for key in block.keys:
        yield places.get(key.text, key) if isinstance(key, Literal) else key
