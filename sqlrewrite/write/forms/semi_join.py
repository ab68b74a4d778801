"""``in``: ``p IN (SELECT a.k FROM dim AS a WHERE …)``, a semi-join, also of several columns as a
tuple. Spark prunes by it with its own dynamic pruning."""

from __future__ import annotations

from collections.abc import Sequence

from sqlrewrite.judge.benefit.keys import repeats_keys
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.judge.soundness.dimension import in_sides
from sqlrewrite.write.fact_values import fact_value
from sqlrewrite.write.forms.predicate import Predicate
from sqlrewrite.write.key_queries import KeyQueries


def write(proposals: Sequence[Proposal], queries: KeyQueries) -> list[Predicate]:
    """The one predicate of all proposals."""
    first = proposals[0]
    bounded = proposals[:1] if queries.union else proposals
    named = [in_sides(it)[0].replace("{}", fact_value(it, queries.author)) for it in bounded]
    columns = named[0] if len(named) == 1 else f"({', '.join(named)})"
    query = queries.over(proposals, hint=first.options.hint, distinct=repeats_keys(first))
    return [Predicate(f"{columns} {queries.author.word('IN')} {query}", columns, (query,))]
