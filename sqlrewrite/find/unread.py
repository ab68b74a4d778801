"""Joins that could not be read, because the statement or query around them is not understood.

A statement without candidates has nothing to report, except that a join in it was not read: then
the join's place and the reason are reported.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlrewrite.plan.algebra import Block, CteReference, Derived, Join, Opaque, Plan
from sqlrewrite.plan.relations import leaves
from sqlrewrite.sql.bind.scope import NAMELESS

_NOT_READ = "a join here is not understood: "


def unread_join(plan: Plan) -> tuple[int | None, str] | None:
    """Why a join of a statement was not understood, and the offset where; None where each was."""
    for block in plan.blocks:
        if block.in_view or not isinstance(block.source, Join):
            continue
        why = next(_reasons(plan, block), None)
        if why is not None:
            spans = (getattr(leaf, "span", None) for leaf in leaves(block.source))
            return next((it.start for it in spans if it is not None), None), _NOT_READ + why
    return None


def _reasons(plan: Plan, block: Block) -> Iterator[str]:
    yield from block.strange
    for leaf in leaves(block.source):
        if isinstance(leaf, Opaque) and leaf.unread:
            yield leaf.reason
        if leaf.alias == NAMELESS:
            yield from block.unknowns
        if isinstance(leaf, Derived | CteReference):
            for number in leaf.query.blocks:
                yield from plan.blocks[number].strange
