"""Outer joins inside derived tables, CTEs and views, simplified by the blocks that read them.

``SELECT … FROM (SELECT f.x, d.c FROM f LEFT JOIN d ON …) q WHERE q.c = 'a'`` keeps no row that the
join has null-extended, so the join is an inner one (docs/soundness.md, "Joins"). Within a single
block ``joins.simplify`` does that; here conditions are carried into the blocks below.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import column_names
from sqlrewrite.plan.expressions import columns, relations, substitute
from sqlrewrite.plan.joins import OUTER, reaching_conditions, simplify
from sqlrewrite.plan.lineage import steps
from sqlrewrite.plan.relations import joins, readers


def simplify_inner_blocks(plan: ra.Plan) -> ra.Plan:
    """The plan, with the outer joins of inner blocks simplified by conditions of their readers."""
    inner = [
        block
        for block in plan.blocks
        if any(join.type in OUTER for join in joins(block.source))
        and readers(plan, block.number) is not None
    ]
    if not inner:
        return plan
    carried = _Carried(plan)
    sources = {
        block.number: source
        for block in inner
        if (source := carried.source(block)) is not block.source
    }
    if not sources:
        return plan
    blocks = tuple(
        replace(block, source=sources[block.number]) if block.number in sources else block
        for block in plan.blocks
    )
    return replace(plan, blocks=blocks, memo={})


class _Carried:
    """The conditions that its reader puts on the rows of each block, worked out once."""

    def __init__(self, plan: ra.Plan) -> None:
        self.plan = plan
        self._of: dict[int, tuple[ra.Condition, ...]] = {}

    def source(self, block: ra.Block) -> ra.Node:
        """The join tree of a block, simplified by its own conditions and its reader's."""
        return simplify(block.source, (*block.where, *self.conditions(block)))

    def conditions(self, block: ra.Block) -> tuple[ra.Condition, ...]:
        """The conditions of the only block that reads this one, in terms of its own relations."""
        number, plan = block.number, self.plan
        if number not in self._of:
            self._of[number] = ()
            reading = readers(plan, number) or ()
            if len(reading) == 1 and block.limit is None:
                self._of[number] = tuple(self._down(block, reading[0]))
        return self._of[number]

    def _down(self, block: ra.Block, reader: int) -> Iterator[ra.Condition]:
        around = self.plan.blocks[self.plan.owner[reader]]
        above = (*around.where, *self.conditions(around))
        for relation, conditions in reaching_conditions(self.source(around), above):
            for condition in conditions if relation == reader else ():
                inside = self._below(condition.expression, block, reader)
                if inside is not None:
                    yield ra.Condition(inside, relations(inside))

    def _below(
        self, expression: ra.Expression, block: ra.Block, reader: int
    ) -> ra.Expression | None:
        """A condition on the columns of a reader as one on the relations of the block that it
        reads, where nothing is in the way of one; a column of another relation stays as it is."""
        plan, relation = self.plan, self.plan.relations[reader]
        assert isinstance(relation, ra.Derived | ra.CteReference)
        names = column_names(relation)
        if names is None or relation.sampled or not block.complete:
            return None
        of: dict[str, ra.Expression] = {}
        for name in {ref.name for ref in columns(expression) if ref.relation == reader}:
            if names.count(name) != 1 or len(names) != len(block.outputs):
                return None
            below = [
                step
                for step in steps(plan, relation, name)
                if plan.owner[step.end.relation] == block.number
            ]
            if any(step.barriers for step in below):
                return None
            of[name] = block.outputs[names.index(name)].expression
        return substitute(expression, lambda ref: of[ref.name] if ref.relation == reader else ref)
