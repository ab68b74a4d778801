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
    clause, tokens = found.clause, anchors.tokens
    first = clause.opening if clause.keyword is None else clause.keyword
    start = tokens[first].start
    end = max(tokens[clause.condition.end - 1].end + 1, edits[-1].offset)
    before = anchors.text[start:end]
    after = apply(before, [Edit(edit.offset - start, edit.text) for edit in edits])
    try:
        lexed = tokenize(after)
    except TokenError:
        return "the result cannot be lexed"
    if strip(after, lexed).text != before:
        return "a second run would not find the text as it was"
    if clause.keyword is None:
        gained = where_gained(bound.selects[found.block], after, predicates)
    else:
        # The predicates follow the last conjunct; parentheses go around the whole.
        last = max([clause.keyword, *anchors.connectives(clause.condition)])
        tail = lexed[1 if clause.disjunction else last - first + 1 :]
        tree = bound.condition(found.block, found.on)
        gained = tree is not None and condition_gained(tree, tail, after, predicates)
    return None if gained else "the result does not read as the query and the predicate"
