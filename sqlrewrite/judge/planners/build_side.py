"""What Trino and DuckDB prune by themselves: the build side of a hash join passes its keys to the
scans of the probe side. An IN that we write is such a join, too.

Trino (``PredicatePushDown``, ``RemoveUnsupportedDynamicFilters``; docs/engines.md, "Trino"):

1. the join is inner, or RIGHT with the fact on its left, or an IN or EXISTS over the dimension;
2. the fact is on the probe side: the left one, unless by the sizes of both it is the smaller one;
3. an equality or comparison is on the fact's own column, which reaches the join unchanged, or in a
   cast that Trino reverses for the keys;
4. no condition in the ON of a RIGHT join restricts the dimension: it would not filter the build.

DuckDB builds the smaller side by its statistics, whatever the order in the text, and prunes
hive-partitioned files by the keys, or from 50 keys on by the smallest and the largest.
"""

from __future__ import annotations

from sqlrewrite.copies import replace
from sqlrewrite.find.reducers import conditions_on
from sqlrewrite.find.restrictions import Conjunct, SemiJoin
from sqlrewrite.judge.planners.join_order import (
    filtering_side,
    hidden_column,
    join_of,
    restricted_further,
    unlisted_join,
)
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.facts.coercion import family
from sqlrewrite.plan.facts.types import DATE, FLOATING, MOMENTS
from sqlrewrite.plan.relations import leaves, numbers, operators

_OPERATORS = frozenset({"=", "<", "<=", ">", ">=", "<=>"})


def missed(proposal: Proposal) -> str | None:
    """Why Trino does not find as good a bound by itself; None if it does."""
    pair, why = proposal.pair, unlisted_join(proposal.engine, proposal.pair)
    if why is not None:
        return why
    if pair.operator not in _OPERATORS or not pair.fact_plain:
        return "no comparison joins the fact's own column with the dimension"
    if not _is_reversible(proposal):
        return "the types of the two columns differ, so a cast may hide the fact's column"
    why = on_build_side(proposal)
    if why is not None:
        return f"{why}, and only the other side is pruned: write FROM fact JOIN dimension"
    if pair.edge.kind == "right" and _in_its_on(proposal):
        name = proposal.quoted_dimension
        return f"the ON of a RIGHT JOIN does not filter {name} before its keys are collected"
    return hidden_column(proposal) or restricted_further(proposal)


def _is_reversible(proposal: Proposal) -> bool:
    """Whether the fact's column is compared as itself, or in a cast that Trino reverses for the
    keys: it has saturated floor casts between numbers and between strings, but none from a
    timestamp to a date. (Those of floating-point numbers do not hold under <=>.)"""
    pair = proposal.pair
    fact, key = (proposal.type_of(side.expression) for side in (pair.fact_side, pair.key_side))
    if fact is None or key is None:
        return False
    if fact == key:
        return fact not in FLOATING or pair.operator != "<=>"
    same = family(fact) is not None and family(fact) == family(key)
    return same or (fact in MOMENTS and key == DATE)


def _in_its_on(proposal: Proposal) -> bool:
    """Whether a condition on the dimension stands only in the ON of the join."""
    conditions = conditions_on(
        proposal.plan, proposal.pair.dimension.relation, proposal.options.reach
    )
    own = [
        restriction
        for restriction in proposal.restrictions
        if not isinstance(restriction, SemiJoin)
    ]
    plain = (replace(item, attempts=None) if isinstance(item, Conjunct) else item for item in own)
    return any(item not in conditions for item in plain)


def on_build_side(proposal: Proposal) -> str | None:
    """Why no dynamic filter reaches the fact: it is, or may be, on the build side; else None."""
    pair = proposal.pair
    fact, key = pair.fact.relation, pair.key.relation
    join = join_of(pair.edge.block.source, fact, key)
    if join is None or fact in numbers(join.left):
        return None
    dimension, size = _size(join.left), _size(join.right)
    if dimension is not None and size is not None and dimension < size:
        return None  # the optimizer swaps the sides by cost
    name = pair.scan.parts[-1]
    return f"`{name}` is on the build side of its join with {proposal.quoted_dimension}"


def _size(node: ra.Node) -> int | None:
    """The bytes of the tables on a side of a join; None if unknown."""
    sizes = [
        leaf.table.size_in_bytes if isinstance(leaf, ra.Scan) else None for leaf in leaves(node)
    ]
    known_sizes = [size for size in sizes if size is not None]
    return sum(known_sizes) if len(known_sizes) == len(sizes) else None


_NO_WINDOW = (ra.SetOperation, ra.Project, ra.Filter, ra.Limit, ra.Aggregate)


def missed_by_duckdb(proposal: Proposal) -> str | None:
    """Why DuckDB does not find as good a bound by itself; None if it does."""
    pair, why = proposal.pair, unlisted_join(proposal.engine, proposal.pair)
    if why is not None:
        return why
    if pair.operator != "=" or not pair.fact_plain or not filtering_side(proposal.plan, pair):
        return "no equality joins the fact's own column with the dimension itself"
    if any(
        windowed(relation.query)
        for relation in pair.path.relations
        if isinstance(relation, ra.Derived)
    ):
        return "it passes no keys through a window function"
    return hidden_column(proposal) or restricted_further(proposal)


def windowed(query: ra.Query) -> bool:
    """Whether a query has a window function or an unknown operator."""
    return not all(isinstance(operator, _NO_WINDOW) for operator in operators(query))
