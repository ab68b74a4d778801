"""Keeps predicates of an earlier run that still follow from the query exactly as they stand.

An author adds conditions behind a predicate of ours, and a formatter breaks its lines. It says the
same then, and there is nothing to write: neither its place nor its spaces are fought over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlrewrite.sql.managed import Earlier
from sqlrewrite.sql.parse.statements import tokenize
from sqlrewrite.sql.places.anchors import Anchors
from sqlrewrite.text.edits import MARKER
from sqlrewrite.text.templates import templated
from sqlrewrite.write.forms.predicate import Predicate
from sqlrewrite.write.placement import Slot


def earlier_in(
    slot: Slot, anchors: Anchors, earlier: Mapping[int, Earlier], end: int
) -> Earlier | None:
    """What an earlier run wrote into a clause of a statement, which ends at an offset; its new
    WHERE is looked for where one would go."""
    clause, tokens = slot.clause, anchors.tokens
    if not earlier:
        return None
    if clause.keyword is not None:
        return earlier.get(tokens[clause.keyword].start)
    behind = clause.condition.end
    start = tokens[behind - 1].end + 1
    end = tokens[behind].start if behind < len(tokens) else end
    return next((earlier[at] for at in range(start, end + 1) if at in earlier), None)


def settled(found: Earlier, predicates: Sequence[Predicate]) -> dict[Predicate, Predicate] | None:
    """The predicates as they stand in a clause already; None where it does not have just the
    ``predicates`` that follow now."""
    if len(found.predicates) != len(predicates):
        return None
    left = list(found.predicates)
    theirs: dict[Predicate, Predicate] = {}
    for predicate in predicates:
        same = next((text for text in left if says_the_same(text, predicate.marked)), None)
        if same is None:
            return None
        left.remove(same)
        text = predicate.text if same == predicate.marked else same.partition(MARKER)[0].rstrip()
        theirs[predicate] = replace(predicate, text=text)
    return theirs


def stands(predicate: Predicate, found: Earlier) -> bool:
    """Whether a predicate is one of those that stand in a clause already."""
    return any(says_the_same(text, predicate.marked) for text in found.predicates)


def says_the_same(one: str, other: str) -> bool:
    """Whether two marked predicates say the same: spaces and line breaks between tokens do not."""
    if one == other:
        return True
    if any(text.count(MARKER) > 1 or templated(text) for text in (one, other)):
        return False
    (before, _, note), (after, _, other_note) = one.partition(MARKER), other.partition(MARKER)
    return note == other_note and _words(before) == _words(after)


def _words(text: str) -> list[tuple[object, str]]:
    return [(token.token_type, token.text) for token in tokenize(text)]
