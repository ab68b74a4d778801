"""What Trino and DuckDB prune by themselves: the side of a hash join that is built hands its keys
to the scans of the side that probes it. An IN that we write is such a join, too.

Trino (``PredicatePushDown``, ``RemoveUnsupportedDynamicFilters``; docs/engines.md, "Trino"):

1. the join is inner, or RIGHT with the fact on its left, or an IN or EXISTS over the dimension;
2. the fact stands on the probe side: the left one, unless the sizes of both say that it is smaller;
3. an equality or a comparison ties the fact's own column, which comes up to the join as itself, or
   in a cast that Trino undoes for the keys;
4. the ON of a RIGHT join keeps none of the dimension's rows from what is built.

DuckDB builds the smaller side by its statistics, wherever it stands in the text, and prunes
hive-partitioned files by its keys, or by their ends from 50 keys on.
"""

from __future__ import annotations

from dataclasses import replace

from sqlrewrite.find.reducers import conditions_on
from sqlrewrite.find.restrictions import Conjunct, SemiJoin
from sqlrewrite.judge.planners.join_order import (
    filtering_side,
    hidden_column,
    join_of,
    operators,
    restricted_further,
    unlisted_join,
)
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.facts.coercion import family
from sqlrewrite.plan.facts.types import DATE, FLOATING, MOMENTS
from sqlrewrite.plan.relations import leaves, numbers

_OPERATORS = frozenset({"=", "<", "<=", ">", ">=", "<=>"})


def missed(proposal: Proposal) -> str | None:
    """Why the engine does not find as good a bound by itself; None where it does."""
    pair, why = proposal.pair, unlisted_join(proposal.engine, proposal.pair)
    if why is not None:
        return why
    if pair.operator not in _OPERATORS or not pair.fact_plain:
        return "no comparison joins the fact's own column with the dimension"
    if not _undone(proposal):
        return "a cast hides the column, or may: the types of the two are not alike"
    why = on_build_side(proposal)
    if why is not None:
        return (
            f"{why}: a dynamic filter prunes only the other side; FROM fact JOIN dimension gets one"
        )
    if pair.edge.kind == "right" and _in_its_on(proposal):
        name = proposal.dimension_name
        return f"the ON of a RIGHT join keeps no row of {name} from what is built"
    return hidden_column(proposal) or restricted_further(proposal)


def _undone(proposal: Proposal) -> bool:
    """Whether the fact's column is compared as itself, or in a cast that Trino can undo for the
    keys: it has saturated floor casts between numbers and between strings, and none from a moment
    to a day. (It has some for floating-point numbers, but not under <=>.)"""
    pair = proposal.pair
    fact, key = (proposal.type_of(side.expression) for side in (pair.fact_side, pair.key_side))
    if fact is None or key is None:
        return False
    if fact == key:
        return fact not in FLOATING or pair.operator != "<=>"
    same = family(fact) is not None and family(fact) == family(key)
    return same or (fact in MOMENTS and key == DATE)


def _in_its_on(proposal: Proposal) -> bool:
    """Whether a condition on the dimension stands only in the ON of its join."""
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
    """Why no dynamic filter reaches the fact: it is on the build side of its join, or may be. None
    if it is not."""
    pair = proposal.pair
    fact, key = pair.fact.relation, pair.key.relation
    join = join_of(pair.edge.block.source, fact, key)
    if join is None or fact in numbers(join.left):
        return None
    dimension, size = _size(join.left), _size(join.right)
    if dimension is not None and size is not None and dimension < size:
        return None  # the sides are changed by cost
    return f"{pair.scan.parts[-1]} is on the build side of its join with {proposal.dimension_name}"


def _size(node: ra.Node) -> int | None:
    """The bytes of a side of a join, if it consists of tables of known sizes."""
    sizes = [
        leaf.table.size_in_bytes if isinstance(leaf, ra.Scan) else None for leaf in leaves(node)
    ]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


_NO_WINDOW = (ra.SetOperation, ra.Project, ra.Filter, ra.Limit, ra.Aggregate)


def missed_by_duckdb(proposal: Proposal) -> str | None:
    """Why the engine does not find as good a bound by itself; None where it does."""
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
        return "no key passes through a window"
    return hidden_column(proposal) or restricted_further(proposal)


def windowed(query: ra.Query) -> bool:
    """Whether a query has a window, or an operator that is not known, above what it reads."""
    return not all(isinstance(operator, _NO_WINDOW) for operator in operators(query))
