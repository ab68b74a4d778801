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
from sqlrewrite.sql.places.anchors import AnchorError, Anchors, ConditionClause
from sqlrewrite.text.edits import Edit
from sqlrewrite.text.markers import marker_behind, read_keys_note
from sqlrewrite.text.template_comments import takes_line_end
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


def slot(proposal: Proposal, anchors: Anchors) -> Slot:
    """The clause for a proposal's predicate. Raises AnchorError where it is not found."""
    pair, block = proposal.pair, proposal.target_block
    if pair.filtered and (own := _authors_clause(proposal, anchors)) is not None:
        return own
    here = block.number == pair.edge.block.number
    on = here and clause_for(pair) is ClauseKind.ON
    at = pair.at
    if block.no_where and not on:
        written = next((it.clause for it in block.where if it.clause is not None), None)
        if written is not None and at is not None and at < written.anchor:
            return Slot(anchors.clause(written), block.number)
        on = here
        if not on:
            raise AnchorError(block.no_where)
    if block.shared and (on or block.select_offset is None):
        raise AnchorError("several SELECTs share the text of this FROM")
    if on:
        clause = _on_clause(proposal)
        return Slot(anchors.clause(clause), block.number, clause)
    if at is None:
        raise AnchorError("the fact is not found in the text")
    return Slot(
        anchors.where(at if block.select_offset is None else block.select_offset), block.number
    )


def _authors_clause(proposal: Proposal, anchors: Anchors) -> Slot | None:
    """The clause that the author's own condition stands in, for what follows from it; None where
    that is in a block around."""
    condition, block = proposal.pair.edge.condition, proposal.target_block
    if condition.relations != {proposal.pair.target.relation} or condition.clause is None:
        return None
    if block.shared:
        raise AnchorError("several SELECTs share the text of this FROM")
    on = condition.clause if condition.clause.kind == "on" else None
    return Slot(anchors.clause(condition.clause), block.number, on)


def _on_clause(proposal: Proposal) -> Clause:
    join = proposal.pair.edge.join
    for condition in join.conditions if join is not None else ():
        if condition.clause is not None:
            return condition.clause
    raise AnchorError("the join has no ON")


def author_text(slot: Slot, anchors: Anchors) -> AuthorText:
    """The author's text, its keywords in the case of the word that opens the block or the ON."""
    return AuthorText(anchors, lower=anchors.raw(slot.clause.lead).islower())


def edits(found: Slot, predicates: Sequence[Predicate], anchors: Anchors) -> list[Edit]:
    """The insertions that add the predicates to a clause, in the order of their offsets."""
    clause, words = found.clause, author_text(found, anchors)
    marked = [predicate.marked for predicate in predicates]
    conjunction = words.word("AND")
    if clause.disjunction:
        first, last = anchors.tokens[clause.condition.start], clause.condition.end - 1
        front = f" {conjunction} ".join(marked) + f" {conjunction} ("
        return [Edit(first.start, front), Edit(anchors.tokens[last].end + 1, ")")]
    last = clause.condition.end - 1
    offset = _end_with_markers(anchors, last)
    comment = _LINE_COMMENT.match(anchors.text, offset)
    separator = _separator(clause, anchors)
    if comment and comment.group().strip() and not takes_line_end(comment.group()):
        offset = comment.end()
        separator = separator if "\n" in separator else _newline(anchors.text, offset)
    if clause.keyword is None:
        where = f"{separator}{words.word('WHERE')} "
        inner = separator + "  " if "\n" in separator else " "
        return [Edit(offset, where + f"{inner}{conjunction} ".join(marked))]
    column = _and_at_line_end(clause, anchors)
    if column is not None and offset == _end_with_markers(anchors, last):
        return [Edit(offset, "".join(f" {conjunction}{column}{text}" for text in marked))]
    return [Edit(offset, "".join(f"{separator}{conjunction} {text}" for text in marked))]


def _end_with_markers(anchors: Anchors, last: int) -> int:
    """Where a clause's last token ends, and with it markers with their notes: of a predicate that
    stays because its scan is suppressed, or the author has put one more."""
    offset = anchors.tokens[last].end + 1
    while (marker := marker_behind(anchors.text, offset)) is not None:
        note = read_keys_note(anchors.text, marker.end)
        offset = marker.end if note is None else note[2]
    return offset


def _and_at_line_end(clause: ConditionClause, anchors: Anchors) -> str | None:
    """The new line and indentation behind an AND at the end of a line, where the author writes it
    there."""
    for index in reversed(anchors.connectives(clause.condition)):
        start, behind = anchors.tokens[index].start, anchors.tokens[index + 1].start
        if "\n" in anchors.text[start:behind] and not _opens_line(anchors.text, start):
            return _newline(anchors.text, behind) + _indent(anchors.text, behind)
        return None
    return None


def _separator(clause: ConditionClause, anchors: Anchors) -> str:
    """What goes before AND or WHERE: a space, or a new line indented like those around it."""
    text, tokens = anchors.text, anchors.tokens
    if clause.keyword is None:
        # A new WHERE stands under its SELECT where the statement spreads over lines.
        lead, last = tokens[clause.lead], tokens[clause.condition.end - 1]
        if "\n" not in text[lead.start : last.end]:
            return " "
        return _newline(text, lead.start) + _indent(text, lead.start)
    for index in reversed(anchors.connectives(clause.condition)):
        start = tokens[index].start
        if _opens_line(text, start):
            return _newline(text, start) + _indent(text, start)
    first, keyword = tokens[clause.condition.start].start, tokens[clause.keyword].start
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
