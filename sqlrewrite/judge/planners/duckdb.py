"""What DuckDB leaves out by itself of hive-partitioned files: those that no key of a hash join's
other side reaches (``rules/engines/duckdb.toml``).

The side that it builds is the smaller one by its statistics, whichever stands where in the text;
what it built reaches the scan as the keys, or from 50 on (``dynamic_or_filter_threshold``) as the
smallest and the largest. An IN that we write is such a join, too, and would find no more.
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
    """Whether a window stands in a query, around all that it reads, or what is not known."""
    return not all(isinstance(it, _NO_WINDOW) for it in operators(query))
