"""A fact inside a CTE that is referenced more than once: bounded only if each reference is.

Of the pairs that fail for nothing but ``shared-cte``, one is wanted for every way down to the fact;
then the union of their keys bounds what any reference can ask for (docs/soundness.md,
"Operators between the join and the scan").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlrewrite.find.pairs import Pair
from sqlrewrite.plan.algebra import Plan
from sqlrewrite.plan.relations import readers

# CTEs that each read the one before twice have exponentially many ways down: no one looks at them.
_MOST_WAYS = 100


def coverings(plan: Plan, pairs: Sequence[Pair]) -> list[tuple[Pair, ...]]:
    """The sets of pairs, of those given, that together stand on every way down to a fact."""
    found: list[tuple[Pair, ...]] = []
    facts: dict[tuple[int, str], dict[tuple[int, ...], Pair]] = {}
    for pair in pairs:
        # Of a derived column each reference may need other rows besides: it has no common bound.
        if pair.operator == "=" and pair.target is pair.scan and pair.derived is None:
            ways = facts.setdefault((pair.scan.relation, pair.pruned), {})
            ways.setdefault(tuple(it.relation for it in pair.path.relations), pair)
    for (fact, _), ways in facts.items():
        covering = _cover(plan, (fact,), ways)
        if covering and len(set(covering)) > 1:
            found.append(tuple(dict.fromkeys(covering)))
    return found


def _cover(
    plan: Plan, way: tuple[int, ...], ways: Mapping[tuple[int, ...], Pair]
) -> list[Pair] | None:
    """The pairs on every way down to the end of ``way``; None where one has none."""
    if way in ways:
        return [ways[way]]
    block = plan.owner[way[0]]
    reading = readers(plan, block)
    if reading is None or plan.blocks[block].role == "view":
        return None
    found: list[Pair] = []
    for reader in reading:
        covering = _cover(plan, (reader, *way), ways)
        if covering is None or len(found) > _MOST_WAYS:
            return None
        found += covering
    return found or None
