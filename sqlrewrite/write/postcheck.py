"""After the edit: the result parses, says what it said and our predicates besides, and a second
run would find just the text it started from.

Trino's DynamicFiltersChecker is the model: a check of its own, after the work, that trusts none of
it. What fails it is discarded, and reported as a bug of ours.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlrewrite.sql import verify
from sqlrewrite.sql.bind.binder import Bound
from sqlrewrite.sql.managed.recognition import QUERY_PLACEHOLDER
from sqlrewrite.sql.managed.strip import strip_text
from sqlrewrite.sql.parse.statements import TokenError, tokenize
from sqlrewrite.sql.places import Places
from sqlrewrite.text.edits import Edit
from sqlrewrite.text.markers import MARKER
from sqlrewrite.text.source import apply
from sqlrewrite.text.templates import Refer
from sqlrewrite.write.forms.predicate import Predicate
from sqlrewrite.write.placement import Slot


def check(
    found: Slot,
    predicates: Sequence[Predicate],
    edits: Sequence[Edit],
    places: Places,
    bound: Bound,
    parsed: set[str],
    refer: Refer,
) -> str | None:
    """What is wrong with the edits of one clause, or None; ``parsed`` collects the key queries that
    have been parsed, each of which several clauses of a statement may share; ``refer`` is what the
    statement's templates were read with."""
    clause, text = found.clause, places.text
    # What has to be seen: the FROM (or SELECT) before a new WHERE, the whole of a condition that
    # gets parentheses, else its last conjunct, which the predicates follow.
    if clause.keyword is None:
        behind = clause.opening == clause.lead  # and the FROM before the SELECT
        lead, start = "" if behind else "SELECT 1 ", clause.opening
    else:
        lead = f"SELECT {places.raw(places.index(clause.keyword))} "
        start = clause.conjuncts[-1].start
    end = max(clause.condition.end, edits[-1].offset)
    # A query that is one by itself reads the same between any two tokens: each is parsed once, and
    # the clause with a number in its place.
    queries = tuple(dict.fromkeys(query for item in predicates for query in item.queries))
    for query in queries:
        if query not in parsed and not verify.is_query(query, refer):
            return "a key query does not read as a query"
        parsed.add(query)
    before = text[start:end]
    after = apply(
        before, [Edit(e.offset - start, _with_placeholders(e.text, queries)) for e in edits]
    )
    before, after = lead + before, lead + after
    try:
        read = verify.clause(after, clause.keyword is None, refer)
    except TokenError:
        return "the result cannot be lexed"
    # A predicate of ours that stays, because its scan is suppressed, is on both sides.
    bare = strip_text(before, tokenize(before)) if MARKER in before else before
    if read.bare != bare:
        return "a second run would not find the text as it was"
    if clause.keyword is None:
        gained = verify.where_gained(bound.selects[found.block], read.tree, len(predicates))
    else:
        tree = bound.condition(found.block, found.on)
        gained = verify.condition_gained(tree, read.tree, len(predicates))
    return None if gained else "the result does not read as the query and the predicate"


def _with_placeholders(text: str, queries: Sequence[str]) -> str:
    """An insertion with something in place of each key query that is quickly parsed."""
    for query in sorted(queries, key=len, reverse=True):  # one may hold another
        text = text.replace(query, QUERY_PLACEHOLDER)
    return text
