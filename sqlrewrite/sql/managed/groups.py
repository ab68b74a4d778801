"""Finds what an earlier run inserted to join by groups of partitions, by the marks around it.

In: a text and its tokens. Out: the spans to take out, marks included. Formatters change the white
space around the marks, and may move a mark behind the `;`. If more has changed, as when sqlfluff
makes a CTE of a derived table, nothing is taken out, and the reason is given.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct
from sqlglot import Token

from sqlrewrite.text.edits import Span
from sqlrewrite.text.markers import GROUPS_END, group_insertions

GROUPS = "DPP013"
_IN_STRING = "a mark of groups of partitions stands in a string: the text is left as it is"
_MOVED = (
    "the marks of groups of partitions are no longer around what was inserted (has a formatter "
    "moved them?): the text is left as it is; write it anew from the query without groups"
)
_OPENINGS = {
    "(": "table",
    "where": "condition",
    "union": "branches",
    "select": "around",
    ",": "around",
    "true": "around",
}
"""The first words of the insertions of ``write/groups.py``, each with its kind: the derived table
and its condition, the further branches, and what is around them: the SELECT, more columns of the
branches, and a HAVING that is true."""


class GroupInsertions(Struct, frozen=True):
    """The ``spans`` of what was inserted; or ``why`` nothing may be taken out, else empty."""

    spans: tuple[Span, ...] = ()
    why: str = ""


def find_groups(text: str, tokens: Sequence[Token]) -> GroupInsertions:
    """The insertions in a text, given its tokens."""
    marked = group_insertions(text)
    starts, ends = [token.start for token in tokens], [token.end for token in tokens]
    spans, kinds = list[Span](), Counter[str]()
    for span in marked:
        first, behind = bisect_left(starts, span.start), bisect_left(starts, span.end)
        if any(
            ends[index - 1] >= at
            for index, at in ((first, span.start), (behind, span.end))
            if index
        ):
            return GroupInsertions(why=_IN_STRING)
        words = [token.text.lower() for token in tokens[first:behind]]
        if words and words[-1] == ";":
            at = starts[behind - 1]
            spans += [Span(span.start, at), Span(at + 1, span.end)]
            words.pop()
        else:
            spans.append(span)
        kinds[_kind(words)] += 1
    whole = kinds["table"] == kinds["condition"] and not kinds["unknown"]
    if marked and not (whole and text.count(GROUPS_END) == len(marked)):
        return GroupInsertions(why=_MOVED)
    return GroupInsertions(tuple(spans))


def _kind(words: Sequence[str]) -> str:
    """The kind of an insertion, by its first words; "unknown" if we write none like it."""
    if words and words[0] == "(" and words != ["(", "select", "*", "from"]:
        return "unknown"
    begins = next((word for word in words if word != ")"), None)
    return "nothing" if begins is None else _OPENINGS.get(begins, "unknown")
