"""``(p >= (SELECT max(a.p) FROM fact AS a WHERE …) OR p IS NULL)``: the rows of the first partition
among those that are ranked; of several, from the last of these on. Why those without a value stay
is in docs/soundness.md, "The latest partition".
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.write.fact_values import fact_value
from sqlrewrite.write.forms.predicate import Predicate
from sqlrewrite.write.key_queries import KeyQueries

_FIRST = {">=": "max({})", "<=": "min({})"}
_LAST = {
    ">=": "array_min(slice(sort_array(collect_set({}), false), 1, %d))",
    "<=": "array_max(slice(sort_array(collect_set({})), 1, %d))",
}
"""The last of several first values; neither holds NULL."""


def write(proposals: Sequence[Proposal], queries: KeyQueries) -> list[Predicate]:
    """The one predicate."""
    pair, word = proposals[0].pair, queries.author.word
    column = fact_value(proposals[0], queries.author)
    asked = _FIRST[pair.operator] if pair.first == 1 else _LAST[pair.operator] % pair.first
    query = queries.over(proposals, asked)
    text = f"({column} {pair.operator} {query} {word('OR')} {column} {word('IS NULL')})"
    return [Predicate(text, column, (query,))]
