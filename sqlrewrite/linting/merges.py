"""DPP010: a MERGE that reads the whole of a partitioned target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlrewrite.decision.decided import Decided
from sqlrewrite.find.pairs import Pair
from sqlrewrite.linting.findings import Finding
from sqlrewrite.linting.scans import bounds
from sqlrewrite.linting.subject import Subject
from sqlrewrite.plan.algebra import Join, Plan, Scan

_HOW = (
    "a MERGE prunes its target by constants alone: `--predicate values` writes the source's keys "
    "into the ON right before it runs; or restrict {shown} there by hand"
)
_NONE = "join by {shown}, too, where the source has it, or restrict it in the ON"


def whole_target(subject: Subject, decided: Decided) -> Iterator[Finding]:
    """DPP010: nothing in the ON of a MERGE says by itself which partitions of the target count."""
    found = target(decided.plan)
    if found is None:
        return
    join, scan = found
    table = scan.table
    names = frozenset(field.column.lower() for field in table.partitioned_by)
    if scan.span is None or not names:
        return
    # By what a partition is computed from, and by what orders its rows, files are left out too.
    sources = (name for it in table.derived if it.column.lower() in names for name in it.sources)
    choosing = names.union(sources, table.clustered_by)
    if any(bounds(it.expression, scan.relation, choosing) for it in join.conditions):
        return
    joined = _joined(decided.reading.pairs, scan)
    shown = ", ".join(joined or sorted(names))
    count = f"{len(joined)} partition column{'s are' if len(joined) > 1 else ' is'} joined"
    why = f"{count}, {shown}" if joined else f"nothing in its ON speaks of {shown}"
    yield subject.finding(
        "DPP010",
        subject.original(scan.span),
        scan.alias or scan.parts[-1],
        f"this MERGE reads the whole target: {why}",
        (_HOW if joined else _NONE).format(shown=shown),
    )


def target(plan: Plan) -> tuple[Join, Scan] | None:
    """The join that a MERGE runs, and its target; None for what is no MERGE, or one whose target is
    no known table, or is read whole for what matches nothing."""
    block = next((it for it in plan.blocks if it.role == "merge"), None)
    if block is None or not isinstance(block.source, Join):
        return None
    scan = block.source.right
    return (block.source, scan) if isinstance(scan, Scan) else None


def _joined(pairs: Sequence[Pair], scan: Scan) -> list[str]:
    """The partition columns of a MERGE's target that its source has keys for."""
    mine = (it for it in pairs if it.target is scan and it.tie.block.role == "merge")
    return sorted({it.target_column for it in mine})
