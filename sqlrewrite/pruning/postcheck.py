"""After the edit: the result parses, says what it said and our predicates besides, and a second
run would find just the text it started from.

Trino's DynamicFiltersChecker is the model: a check of its own, after the work, that trusts none of
it. What fails it is discarded, and reported as a bug of ours.
"""

from __future__ import annotations

from sqlrewrite.model import Edit
from sqlrewrite.pruning.placement import Slot
from sqlrewrite.source import apply
from sqlrewrite.sql.anchors import Anchors
from sqlrewrite.sql.managed import strip
from sqlrewrite.sql.verify import condition_gained, where_gained


def check(found: Slot, predicates: list[str], edits: list[Edit], anchors: Anchors) -> str | None:
    """What is wrong with the edits of one clause, or None."""
    clause, tokens, text = found.clause, anchors.tokens, anchors.text
    if clause.keyword is None:
        start, end = tokens[0].start, max(tokens[-1].end + 1, edits[-1].offset)
        condition = start
    else:
        # From the keyword on: what strip needs to see of the clause.
        start = tokens[clause.keyword].start
        condition = tokens[clause.condition.start].start
        end = max(tokens[clause.condition.end - 1].end + 1, edits[-1].offset)
    before = text[start:end]
    after = apply(before, [Edit(edit.offset - start, edit.text) for edit in edits])
    if strip(after).text != before:
        return "a second run would not find the text as it was"
    lead = condition - start
    gained = where_gained if clause.keyword is None else condition_gained
    if not gained(before[lead:], after[lead:], predicates):
        return "the result does not read as the query and the predicate"
    return None
