"""Where a predicate goes in the text, and the check of the result, which is parsed again."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlrewrite.dialects import HINT
from sqlrewrite.judge.proposal import Predicate, Proposal, Slot
from sqlrewrite.judge.soundness.join_type import ClauseKind, clause_for
from sqlrewrite.plan.algebra import Clause
from sqlrewrite.sql import edited_clauses
from sqlrewrite.sql.bind.binder import Bound
from sqlrewrite.sql.managed.recognition import QUERY_PLACEHOLDER
from sqlrewrite.sql.parse.statements import TokenError
from sqlrewrite.sql.places import ConditionClause, NoPlaceError, Places
from sqlrewrite.text.edits import Edit, apply
from sqlrewrite.text.markers import MARKER, marker_behind, read_keys_note
from sqlrewrite.text.template_syntax import takes_line_end
from sqlrewrite.text.templates import Refer
from sqlrewrite.write.repeated_text import AuthorText

# Up to its last character that shows: blanks behind it stay behind what is inserted.
_LINE_COMMENT = re.compile(r"[ \t\v]*--[^\r\n]*?(?=\s*?(?:[\r\n]|\Z))")
_INDENT = re.compile(r"[ \t]*")
_SHARED = "several SELECTs share this FROM, so a predicate in it would bound all of them"


def slot(proposal: Proposal, places: Places) -> Slot:
    """The clause for a proposal's predicate. Raises NoPlaceError where it is not found."""
    pair, block = proposal.pair, proposal.target_block
    if pair.filtered and (own := _authors_clause(proposal, places)) is not None:
        return own
    here = block.number == pair.edge.block.number
    on = here and clause_for(pair) is ClauseKind.ON
    at = pair.at
    if block.no_where and not on:
        written = next(
            (condition.clause for condition in block.where if condition.clause is not None), None
        )
        if written is not None and at is not None and at < written.start:
            return Slot(places.clause(written), block.number)
        on = here
        if not on:
            raise NoPlaceError(block.no_where)
    if block.shared and (on or block.select_offset is None):
        raise NoPlaceError(_SHARED)
    if on:
        clause = _on_clause(proposal)
        return Slot(places.clause(clause), block.number, clause)
    if at is None:
        raise NoPlaceError("the fact is not found in the text")
    return Slot(places.where(block), block.number)


def _authors_clause(proposal: Proposal, places: Places) -> Slot | None:
    """The clause of the author's own condition, for what follows from it; None if that is in a
    block around the target's."""
    condition, block = proposal.pair.edge.condition, proposal.target_block
    if condition.relations != {proposal.pair.target.relation} or condition.clause is None:
        return None
    if block.shared:
        raise NoPlaceError(_SHARED)
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


def edits(slot: Slot, predicates: Sequence[Predicate], places: Places) -> list[Edit]:
    """The insertions that add the predicates to a clause, in the order of their offsets."""
    clause, words = slot.clause, author_text(slot, places)
    marked = [predicate.marked for predicate in predicates]
    conjunction = words.word("AND")
    if clause.disjunction:
        front = f" {conjunction} ".join(marked) + f" {conjunction} ("
        return [Edit.at(clause.condition.start, front), Edit.at(clause.condition.end, ")")]
    end = offset = _end_with_markers(places, clause.condition.end)
    if clause.keyword is None and (hint := HINT.match(places.text, offset)) is not None:
        offset = hint.end()  # that of the last table
    comment = _LINE_COMMENT.match(places.text, offset)
    separator = _separator(clause, places)
    if comment and comment.group().strip() and not takes_line_end(comment.group()):
        offset = comment.end()
        separator = separator if "\n" in separator else _newline(places.text, offset)
    if clause.keyword is None:
        where = f"{separator}{words.word('WHERE')} "
        inner = separator + "  " if "\n" in separator else " "
        return [Edit.at(offset, where + f"{inner}{conjunction} ".join(marked))]
    column = _and_at_line_end(clause, places)
    if column is not None and offset == end:
        return [Edit.at(offset, "".join(f" {conjunction}{column}{text}" for text in marked))]
    return [Edit.at(offset, "".join(f"{separator}{conjunction} {text}" for text in marked))]


def _end_with_markers(places: Places, offset: int) -> int:
    """The end of a clause, including markers and notes behind it. They belong to a predicate that
    the author has copied, or that stays because its scan is suppressed."""
    while (marker := marker_behind(places.text, offset)) is not None:
        note = read_keys_note(places.text, marker.end)
        offset = marker.end if note is None else note[2]
    return offset


def _and_at_line_end(clause: ConditionClause, places: Places) -> str | None:
    """The line end and indentation behind an AND at the end of a line, if the author writes it
    there; else None."""
    if len(clause.conjuncts) < 2:
        return None
    behind = clause.conjuncts[-1].start
    start = places.tokens[places.index(behind) - 1].start
    if "\n" in places.text[start:behind] and not _opens_line(places.text, start):
        return _newline(places.text, behind) + _indent(places.text, behind)
    return None


def _separator(clause: ConditionClause, places: Places) -> str:
    """The text before AND or WHERE: a space, or a new line indented like those around it."""
    text = places.text
    if clause.keyword is None:
        # A new WHERE stands under its SELECT where the statement spreads over lines.
        if "\n" not in text[clause.lead : clause.condition.end]:
            return " "
        return _newline(text, clause.lead) + _indent(text, clause.lead)
    for conjunct in reversed(clause.conjuncts[1:]):
        start = places.tokens[places.index(conjunct.start) - 1].start  # where its AND begins
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


def check(
    slot: Slot,
    predicates: Sequence[Predicate],
    edits: Sequence[Edit],
    places: Places,
    bound: Bound,
    parsed: set[str],
    refer: Refer,
) -> str | None:
    """The fault of the edits of one clause, or None. ``parsed`` collects the key queries that were
    parsed: several clauses may share one. ``refer`` resolved the statement's templates."""
    clause, text = slot.clause, places.text
    # For a new WHERE, parse from the FROM (or SELECT) on; else only the last conjunct.
    if clause.keyword is None:
        behind = clause.opening == clause.lead  # the FROM stands before the SELECT
        lead, start = "" if behind else "SELECT 1 ", clause.opening
    else:
        opening = "MERGE" if bound.plan.blocks[slot.block].role == "merge" else "SELECT"
        lead = f"{opening} {places.raw(places.index(clause.keyword))} "
        start = clause.conjuncts[-1].start
    end = max(clause.condition.end, edits[-1].span.start)
    # A text that is a query by itself is the same query in parentheses anywhere: each is parsed
    # once, and the clause with a number in its place.
    queries = tuple(dict.fromkeys(query for item in predicates for query in item.queries))
    for query in queries:
        if query not in parsed and not edited_clauses.is_query(query, refer):
            return "a key query does not read as a query"
        parsed.add(query)
    before = text[start:end]
    insertions = (
        Edit.at(span.start - start, _with_placeholders(new, queries)) for span, new in edits
    )
    after = apply(before, insertions)
    before, after = lead + before, lead + after
    around = "" if all(item.queries or item.note for item in predicates) else text
    try:
        read = edited_clauses.clause(after, clause.keyword is None, refer, around)
    except TokenError:
        return "the result cannot be lexed"
    # A predicate of ours that stays, because its scan is suppressed, is on both sides.
    if MARKER in before:
        before = edited_clauses.clause(before, clause.keyword is None, refer, around).bare
    if read.bare != before:
        return "a second run would not find the text as it was"
    if clause.keyword is None:
        gained = edited_clauses.where_gained(bound.selects[slot.block], read.tree, len(predicates))
    else:
        tree = bound.condition(slot.block, slot.on)
        gained = edited_clauses.condition_gained(tree, read.tree, len(predicates))
    return None if gained else "the result does not read as the query and the predicate"


def _with_placeholders(text: str, queries: Sequence[str]) -> str:
    """An insertion with a short placeholder for each key query, which is parsed by itself."""
    for query in sorted(queries, key=len, reverse=True):  # one may contain another
        text = text.replace(query, QUERY_PLACEHOLDER)
    return text
