"""DPP103 partition-column and DPP104 key-column: what the two sides of the equality are."""

from __future__ import annotations

from sqlrewrite.eligibility.case import Case, Judgement, failed, passed
from sqlrewrite.plan.nodes import Opaque


def judge(case: Case) -> Judgement:
    """Whether the fact's column is a partition column by itself, and reaches the join as such."""
    path = case.pair.path
    transforms = {
        field.transform
        for field in case.pair.scan.table.partitioned_by
        if field.column.lower() == path.column
    }
    usable = transforms & case.engine.transforms
    if not usable:
        shown = ", ".join(sorted(transforms))
        return failed(
            f"the table is partitioned by {shown} of {path.column}, not by the column itself"
        )
    if path.computed or not case.pair.fact_plain:
        return failed(f"{path.column} is inside an expression at the join")
    return passed(f"{path.column} is a partition column of {'.'.join(case.pair.scan.parts)}")


def judge_key(case: Case) -> Judgement:
    """Whether the other side is a plain column of a relation that is known."""
    pair = case.pair
    if isinstance(pair.dimension, Opaque):
        return failed(
            f"what {pair.dimension.alias or 'it'} reads is not known: {pair.dimension.reason}"
        )
    if not pair.key_plain:
        return failed(f"the key is an expression over {case.label(pair.key)}, not a column")
    return passed(f"the key is a column of {case.dimension_name}")
