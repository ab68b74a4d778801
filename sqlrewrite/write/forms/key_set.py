"""``set``: ``array_contains((SELECT collect_set(a.k) FROM dim AS a WHERE …), p)``. The keys are an
array that the scan's own filter holds, which prunes without the engine's dynamic pruning."""

from __future__ import annotations

from collections.abc import Sequence

from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.write.derived_values import or_stray_rows
from sqlrewrite.write.fact_values import disjunction, fact_values
from sqlrewrite.write.forms.predicate import Predicate
from sqlrewrite.write.key_queries import KeyQueries


def write(proposals: Sequence[Proposal], queries: KeyQueries) -> list[Predicate]:
    """The one predicate of all proposals."""
    query = queries.whole(proposals, "collect_set({})")
    bounded = fact_values(proposals[0], queries.author)
    text = disjunction(queries.author, [f"array_contains({query}, {it})" for it in bounded])
    text = or_stray_rows(proposals[0], queries.author, bounded[0], text)
    return [Predicate(text, bounded[0], (query,))]
