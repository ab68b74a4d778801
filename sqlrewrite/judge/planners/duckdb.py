"""What DuckDB prunes by itself: hive-partitioned files that no key of the build side of a hash join
reaches (``rules/engines/duckdb.toml``).

The build side is the smaller one by its statistics, wherever it stands in the text. Its keys reach
the scan one by one, or from 50 keys on (``dynamic_or_filter_threshold``) as their smallest and
largest. An IN that we write is such a join, too, and would prune no more.
"""

from __future__ import annotations

from sqlrewrite.judge.planners.joins import (
    filtering_side,
    hidden_column,
    operators,
    restricted_further,
    unlisted_join,
)
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.plan import algebra as ra

_NO_WINDOW = (ra.SetOperation, ra.Project, ra.Filter, ra.Limit, ra.Aggregate)


def missed(proposal: Proposal) -> str | None:
    """Why the engine does not find as good a bound by itself; None where it does."""
    pair, why = proposal.pair, unlisted_join(proposal.engine, proposal.pair)
    if why is not None:
        return why
    if pair.operator != "=" or not pair.fact_plain or not filtering_side(proposal.plan, pair):
        return "no equality joins the fact's own column with the dimension itself"
    if any(windowed(it.query) for it in pair.path.relations if isinstance(it, ra.Derived)):
        return "no key passes a window"
    return hidden_column(proposal) or restricted_further(proposal)


def windowed(query: ra.Query) -> bool:
    """Whether a query has a window, or an operator that is not known, above what it reads."""
    return not all(isinstance(it, _NO_WINDOW) for it in operators(query))
