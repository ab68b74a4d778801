"""A fact inside a CTE that is referenced more than once: bounded only if each reference is.

Among the pairs that fail only for ``shared-cte``, every path to the fact needs one; then the union
of their keys bounds the rows that any reference can need (docs/soundness.md, "Operators between the
join and the scan").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlrewrite.find.pairs import Pair
from sqlrewrite.plan.algebra import Plan
from sqlrewrite.plan.relations import readers

# CTEs that each read the one before twice have exponentially many paths: later ones are not tried.
_MOST_PATHS = 100


def coverings(plan: Plan, pairs: Sequence[Pair]) -> list[tuple[Pair, ...]]:
    """The sets of ``pairs`` that together stand on every path to a fact."""
    found: list[tuple[Pair, ...]] = []
    facts: dict[tuple[int, str], dict[tuple[int, ...], Pair]] = {}
    for pair in pairs:
        # For a derived column each reference may keep other rows besides: no common bound.
        if pair.operator == "=" and pair.target is pair.scan and pair.derived is None:
            by_path = facts.setdefault((pair.scan.relation, pair.pruned), {})
            by_path.setdefault(tuple(it.relation for it in pair.path.relations), pair)
    for (fact, _), by_path in facts.items():
        covering = _cover(plan, (fact,), by_path)
        if covering and len(set(covering)) > 1:
            found.append(tuple(dict.fromkeys(covering)))
    return found


def _cover(
    plan: Plan, path: tuple[int, ...], by_path: Mapping[tuple[int, ...], Pair]
) -> list[Pair] | None:
    """The pairs on every path that ends with ``path``; None where a path has none."""
    if path in by_path:
        return [by_path[path]]
    block = plan.owner[path[0]]
    reading = readers(plan, block)
    if reading is None or plan.blocks[block].role == "view":
        return None
    found: list[Pair] = []
    for reader in reading:
        covering = _cover(plan, (reader, *path), by_path)
        if covering is None or len(found) > _MOST_PATHS:
            return None
        found += covering
    return found or None
