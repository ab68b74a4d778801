"""After the edit: the result parses, says what it said and our predicates besides, and a second
run would find just the text it started from.

Trino's DynamicFiltersChecker is the model: a check of its own, after the work, that trusts none of
it. What fails it is discarded, and reported as a bug of ours.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlrewrite.model import Edit
from sqlrewrite.pruning.placement import Slot
from sqlrewrite.source import apply
from sqlrewrite.sql.anchors import Anchors
from sqlrewrite.sql.bind import Bound
from sqlrewrite.sql.managed import strip
from sqlrewrite.sql.parse import TokenError, tokenize
from sqlrewrite.sql.verify import condition_gained, where_gained


def check(
    found: Slot, predicates: Sequence[str], edits: Sequence[Edit], anchors: Anchors, bound: Bound
) -> str | None:
    """What is wrong with the edits of one clause, or None."""
    clause, tokens, text = found.clause, anchors.tokens, anchors.text
    # What has to be seen: the FROM before a new WHERE, the whole of a condition that gets
    # parentheses, else its last conjunct, which the predicates follow.
    if clause.keyword is None:
        lead, first = "SELECT 1 ", clause.opening
    else:
        lead = f"SELECT 1 {anchors.raw(clause.keyword)} "
        ends = [] if clause.disjunction else anchors.connectives(clause.condition)
        first = max([clause.keyword, *ends]) + 1
    start = tokens[first].start
    end = max(tokens[clause.condition.end - 1].end + 1, edits[-1].offset)
    before = text[start:end]
    after = apply(before, [Edit(edit.offset - start, edit.text) for edit in edits])
    before, after = lead + before, lead + after
    try:
        lexed = tokenize(after)
    except TokenError:
        return "the result cannot be lexed"
    if strip(after, lexed).text != before:
        return "a second run would not find the text as it was"
    if clause.keyword is None:
        gained = where_gained(bound.selects[found.block], lexed, after, predicates)
    else:
        tree = bound.condition(found.block, found.on)
        gained = tree is not None and condition_gained(tree, lexed[3:], after, predicates)
    return None if gained else "the result does not read as the query and the predicate"
