"""Into which clause a predicate goes, and the insertion that puts it there.

A conjunct at the end of the WHERE or ON; a new WHERE where there is none; and where the condition
has an OR at its top, in front of it, with the condition in parentheses: only an insertion of ours
has that form, so it can be taken out again for certain (``managed``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.judge.soundness.join_type import ClauseKind, clause_for
from sqlrewrite.plan.algebra import Clause
from sqlrewrite.sql.places import ConditionClause, NoPlaceError, Places
from sqlrewrite.text.edits import Edit
from sqlrewrite.text.markers import marker_behind, read_keys_note
from sqlrewrite.text.template_syntax import takes_line_end
from sqlrewrite.write.forms.predicate import Predicate
from sqlrewrite.write.names import AuthorText

# Up to its last character that shows: blanks behind it stay behind what is inserted.
_LINE_COMMENT = re.compile(r"[ \t]*--[^\r\n]*?(?=\s*?(?:[\r\n]|\Z))")
_INDENT = re.compile(r"[ \t]*")


class Slot(NamedTuple):
    """A clause to insert into, an ON or else the WHERE of a block; equal for all predicates that go
    to the same one."""

    clause: ConditionClause
    block: int
    on: Clause | None = None


def slot(proposal: Proposal, places: Places) -> Slot:
    """The clause for a proposal's predicate. Raises NoPlaceError where it is not found."""
    pair, block = proposal.pair, proposal.target_block
    if pair.filtered and (own := _authors_clause(proposal, places)) is not None:
        return own
    here = block.number == pair.edge.block.number
    on = here and clause_for(pair) is ClauseKind.ON
    at = pair.at
    if block.no_where and not on:
        written = next((it.clause for it in block.where if it.clause is not None), None)
        if written is not None and at is not None and at < written.start:
            return Slot(places.clause(written), block.number)
        on = here
        if not on:
            raise NoPlaceError(block.no_where)
    if block.shared and (on or block.select_offset is None):
        raise NoPlaceError("several SELECTs share the text of this FROM")
    if on:
        clause = _on_clause(proposal)
        return Slot(places.clause(clause), block.number, clause)
    if at is None:
        raise NoPlaceError("the fact is not found in the text")
    return Slot(places.where(block), block.number)


def _authors_clause(proposal: Proposal, places: Places) -> Slot | None:
    """The clause that the author's own condition stands in, for what follows from it; None where
    that is in a block around."""
    condition, block = proposal.pair.edge.condition, proposal.target_block
    if condition.relations != {proposal.pair.target.relation} or condition.clause is None:
        return None
    if block.shared:
        raise NoPlaceError("several SELECTs share the text of this FROM")
    on = condition.clause if condition.clause.kind == "on" else None
    return Slot(places.clause(condition.clause), block.number, on)


def _on_clause(proposal: Proposal) -> Clause:
    join = proposal.pair.edge.join
    for condition in join.conditions if join is not None else ():
        if condition.clause is not None:
            return condition.clause
    raise NoPlaceError("the join has no ON")


def author_text(slot: Slot, places: Places) -> AuthorText:
    """The author's text, its keywords in the case of the word that opens the block or the ON."""
    return AuthorText(places, lower=places.raw(places.index(slot.clause.lead)).islower())


def edits(found: Slot, predicates: Sequence[Predicate], places: Places) -> list[Edit]:
    """The insertions that add the predicates to a clause, in the order of their offsets."""
    clause, words = found.clause, author_text(found, places)
    marked = [predicate.marked for predicate in predicates]
    conjunction = words.word("AND")
    if clause.disjunction:
        front = f" {conjunction} ".join(marked) + f" {conjunction} ("
        return [Edit(clause.condition.start, front), Edit(clause.condition.end, ")")]
    end = offset = _end_with_markers(places, clause.condition.end)
    comment = _LINE_COMMENT.match(places.text, offset)
    separator = _separator(clause, places)
    if comment and comment.group().strip() and not takes_line_end(comment.group()):
        offset = comment.end()
        separator = separator if "\n" in separator else _newline(places.text, offset)
    if clause.keyword is None:
        where = f"{separator}{words.word('WHERE')} "
        inner = separator + "  " if "\n" in separator else " "
        return [Edit(offset, where + f"{inner}{conjunction} ".join(marked))]
    column = _and_at_line_end(clause, places)
    if column is not None and offset == end:
        return [Edit(offset, "".join(f" {conjunction}{column}{text}" for text in marked))]
    return [Edit(offset, "".join(f"{separator}{conjunction} {text}" for text in marked))]


def _end_with_markers(places: Places, offset: int) -> int:
    """Where a clause ends, with the markers behind it and their notes: of a predicate that stays
    because its scan is suppressed, or the author has put one more."""
    while (marker := marker_behind(places.text, offset)) is not None:
        note = read_keys_note(places.text, marker.end)
        offset = marker.end if note is None else note[2]
    return offset


def _and_at_line_end(clause: ConditionClause, places: Places) -> str | None:
    """The new line and indentation behind an AND at the end of a line, where the author writes it
    there."""
    if len(clause.conjuncts) < 2:
        return None
    behind = clause.conjuncts[-1].start
    start = places.tokens[places.index(behind) - 1].start
    if "\n" in places.text[start:behind] and not _opens_line(places.text, start):
        return _newline(places.text, behind) + _indent(places.text, behind)
    return None


def _separator(clause: ConditionClause, places: Places) -> str:
    """What goes before AND or WHERE: a space, or a new line indented like those around it."""
    text = places.text
    if clause.keyword is None:
        # A new WHERE stands under its SELECT where the statement spreads over lines.
        if "\n" not in text[clause.lead : clause.condition.end]:
            return " "
        return _newline(text, clause.lead) + _indent(text, clause.lead)
    for conjunct in reversed(clause.conjuncts[1:]):
        start = places.tokens[places.index(conjunct.start) - 1].start  # of its AND
        if _opens_line(text, start):
            return _newline(text, start) + _indent(text, start)
    first, keyword = clause.condition.start, clause.keyword
    if "\n" in text[keyword:first]:
        return _newline(text, first) + _indent(text, first)
    if _opens_line(text, keyword):
        return _newline(text, keyword) + _indent(text, keyword) + "  "
    return " "


def _opens_line(text: str, offset: int) -> bool:
    start = text.rfind("\n", 0, offset) + 1
    return start > 0 and not text[start:offset].strip()


def _indent(text: str, offset: int) -> str:
    """The white space that the line of an offset begins with."""
    match = _INDENT.match(text, text.rfind("\n", 0, offset) + 1)
    return match.group() if match else ""


def _newline(text: str, offset: int) -> str:
    """The line end in use around an offset."""
    at = text.rfind("\n", 0, offset)
    at = at if at >= 0 else text.find("\n", offset)
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"
