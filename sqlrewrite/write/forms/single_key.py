"""``p = (SELECT a.m FROM (SELECT max(p) AS m FROM fact) AS a)``: one key, looked up before the
scan, which prunes by it everywhere; an IN or a join with a maximum that nothing filters reads all.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.write.fact_values import fact_value
from sqlrewrite.write.forms.predicate import Predicate
from sqlrewrite.write.key_queries import KeyQueries


def write(proposals: Sequence[Proposal], queries: KeyQueries) -> list[Predicate]:
    """The one predicate; of an author's IN, its own subquery."""
    first = proposals[0]
    bounded = fact_value(first, queries.author)
    query = queries.whole(proposals[:1])
    return [Predicate(f"{bounded} {first.pair.operator} {query}", bounded, (query,))]
