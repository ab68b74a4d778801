"""``range``: ``p >= (SELECT min(a.k) …) AND p <= (SELECT max(a.k) …)``, the smallest and the
largest key; of a join by ``<`` or ``>=`` the one end that bounds the fact."""

from __future__ import annotations

from collections.abc import Sequence

from sqlrewrite.judge.case import Case
from sqlrewrite.write.forms.predicate import Predicate
from sqlrewrite.write.key_queries import KeyQueries
from sqlrewrite.write.names import fact

END = {">": "min({})", "<": "max({})"}
"""Of the keys that the fact is to be above, or below, the one that the others imply."""


def write(cases: Sequence[Case], queries: KeyQueries) -> list[Predicate]:
    """A predicate for each end."""
    operator = cases[0].pair.operator
    bounded = fact(cases[0], queries.anchors, queries.style)
    found = []
    for sign in (">=", "<=") if operator in ("=", "<=>") else (operator,):
        query = queries.over(cases, END[sign[0]])
        found.append(Predicate(f"{bounded} {sign} {query}", (query,)))
    return found
