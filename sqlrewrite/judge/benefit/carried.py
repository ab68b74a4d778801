"""Constants on the key that the engine carries over an equality to the fact by itself.

Spark infers from ``f.k = d.k`` and ``d.k > 3`` that ``f.k > 3``, in every plan
(``InferFiltersFromConstraints``; docs/spark.md, "Constants on the key"). An IN over keys that
nothing else restricts adds nothing to that.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlrewrite.find.reducers import own_conditions
from sqlrewrite.find.restrictions import Conjunct, Restriction
from sqlrewrite.judge.form import chosen_form
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.columns import type_of
from sqlrewrite.plan.expressions import columns, walk
from sqlrewrite.plan.facts.coercion import identical
from sqlrewrite.plan.facts.functions import function
from sqlrewrite.plan.memo import remembered
from sqlrewrite.settings.forms import VALUES
from sqlrewrite.settings.options import ALONE

_INTEGERS = frozenset({"tinyint", "smallint", "int", "bigint"})
"""Among these the engine widens the fact's column, and prunes by the cast."""


@remembered
def carries_constants(proposal: Proposal) -> bool:
    """Whether all that restricts the keys are constants that the engine carries to the fact."""
    pair = proposal.pair
    direct = pair.operator == "=" and pair.fact_plain and pair.key_side.operand is not None
    if f"{pair.edge.kind} {pair.side}" not in proposal.engine.carries_constants or not direct:
        return False
    if pair.first or pair.derived is not None or chosen_form(proposal) == VALUES:
        return False  # known keys may be fewer than the constants let pass
    if not pair.key_plain or not _alike(proposal.plan, pair.fact, pair.key):
        return False
    found = _on_key(proposal.plan, pair.dimension, pair.key.name, proposal.restrictions)
    if found is None:
        return False
    ours = {
        id(it.condition)
        for it in own_conditions(proposal.plan, pair.dimension.relation, ALONE)
        if isinstance(it, Conjunct)
    }
    ours |= {id(it) for it in (pair.edge.join.conditions if pair.edge.join else ())}
    # A condition that was itself carried over an equality is carried no further.
    outside = [it for it in proposal.restrictions if isinstance(it, Conjunct)]
    return bool(found) and all(id(it.condition) in ours for it in outside)


def _alike(plan: ra.Plan, one: ra.ColumnRef, other: ra.ColumnRef) -> bool:
    """Whether two columns are compared as they are, or by widening integers."""
    kinds = type_of(plan, one), type_of(plan, other)
    if kinds[0] is None or kinds[1] is None:
        return False
    return (kinds[0] == kinds[1] and identical(kinds[0])) or {str(it) for it in kinds} <= _INTEGERS


def _on_key(
    plan: ra.Plan, relation: ra.Node, key: str, found: tuple[Restriction, ...]
) -> list[ra.Expression] | None:
    """The conditions on a relation's rows and inside it, if each is one of constants on its key."""
    if not all(isinstance(it, Conjunct) and not it.condition.in_or for it in found):
        return None
    here = [it.expression for it in found if isinstance(it, Conjunct)]
    if not all(_constants_on(it, key) for it in here):
        return None
    match relation:
        case ra.Scan(sampled=False):
            return here
        case ra.Derived(sampled=False, query=query) | ra.CteReference(sampled=False, query=query):
            below = list(_inside(plan, query, relation, key))
            return None if len(below) != 1 or below[0] is None else [*here, *below[0]]
        case _:
            return None


def _inside(
    plan: ra.Plan, query: ra.Query, relation: ra.Derived | ra.CteReference, key: str
) -> Iterator[list[ra.Expression] | None]:
    """The same for the one SELECT of a derived table over one relation."""
    names = relation.columns or query.names
    if len(query.top) != 1 or names is None or names.count(key) != 1:
        return
    block = plan.blocks[query.top[0]]
    column = block.outputs[names.index(key)].expression if block.complete else None
    if block.limit is not None or block.having or not isinstance(column, ra.ColumnRef):
        return
    if isinstance(block.source, ra.Relation) and column.relation == block.source.relation:
        conditions = tuple(Conjunct(it, it.expression) for it in block.where)
        yield _on_key(plan, block.source, column.name, conditions)


def _constants_on(condition: ra.Expression, key: str) -> bool:
    """Whether a condition compares nothing but the key, and the same way each time."""
    return {ref.name for ref in columns(condition)} == {key} and all(
        not isinstance(node, ra.Subquery | ra.Unknown)
        and (not isinstance(node, ra.Call) or _repeats(node.name))
        for node in walk(condition)
    )


def _repeats(name: str) -> bool:
    known = function(name)
    return known is not None and known.repeatable
