"""``range``: ``p >= (SELECT min(a.k) …) AND p <= (SELECT max(a.k) …)``, the smallest and the
largest key; of a join by ``<`` or ``>=`` the one end that bounds the fact.

Where the column is one that the rows are clustered by, Spark pushes a scalar subquery down to the
row groups, but not the two ends once it has merged their queries to one, as it does where they
differ in the function alone (``MergeSubplans``). So the second end is asked for in another way:
with an IS NOT NULL more, which changes no largest key, or, where Spark would find that of both, as
the largest of a set (docs/spark.md, "Files and row groups").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlrewrite.find.restrictions import columns_named
from sqlrewrite.judge.benefit.already_pruned import is_authors_in
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.plan.algebra import Scan
from sqlrewrite.write.derived_values import or_stray_rows, smaller_units_of, unit_bound
from sqlrewrite.write.fact_values import fact_value
from sqlrewrite.write.forms.predicate import Predicate
from sqlrewrite.write.key_queries import KeyQueries

END = {">": "min({})", "<": "max({})"}
"""Of the keys that the fact is to be above, or below, the one that the others imply."""

LARGEST_OF_ALL = "array_max(collect_set({}))"
"""The largest key as well, by an aggregate that Spark merges with no other kind."""


def write(proposals: Sequence[Proposal], queries: KeyQueries) -> list[Predicate]:
    """A predicate for each end."""
    first, author, operator = proposals[0], queries.author, proposals[0].pair.operator
    value, derived = fact_value(first, author), first.pair.derived is not None
    by_units = derived and len(proposals) == 1 and bool(smaller_units_of(first))
    found: list[Predicate] = []
    for sign in (">=", "<=") if operator in ("=", "<=>") else (operator,):
        if sign[0] == "<" and first.clustered:
            query = _unmerged_query(proposals, queries)
        elif by_units:
            key = replace(first, pair=replace(first.pair, derived=None))
            query = queries.over([key], END[sign[0]])
        else:
            query = queries.over(proposals, END[sign[0]], end=sign[0])
        if by_units:
            text = unit_bound(first, author, value, sign[0], query)
        else:
            # One value of a derived column may be that of keys on either side.
            text = f"{value} {sign[0]}= {query}" if derived else f"{value} {sign} {query}"
            text = or_stray_rows(first, author, value, text, sign[0])
        found.append(Predicate(text, value, (query,)))
    return found


def _unmerged_query(proposals: Sequence[Proposal], queries: KeyQueries) -> str:
    """The query for the largest key that Spark does not merge with that for the smallest."""
    if len(proposals) == 1 and _may_be_null(proposals[0]):
        return queries.over(proposals, END["<"], not_null=True)
    return queries.over(proposals, LARGEST_OF_ALL)


def _may_be_null(proposal: Proposal) -> bool:
    """Whether Spark infers of neither query by itself that the key is not NULL: it does of a column
    that is declared so, and of one that a condition speaks of. Beside an IN of the author's both
    ask for those that are not."""
    pair = proposal.pair
    if not isinstance(pair.dimension, Scan) or not pair.key_plain or is_authors_in(pair):
        return False
    column = pair.dimension.table.column(pair.key.name)
    asked = {ref.name for ref in columns_named(proposal.restrictions)}
    return column is not None and column.nullable and pair.key.name not in asked
