"""The decision on one statement: the verdict on each pair, the insertions, and which predicates of
an earlier run stay, change or go."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from msgspec import Struct, field

from sqlrewrite.copies import replace
from sqlrewrite.find.reading import Reading
from sqlrewrite.results import Candidate, Verdict
from sqlrewrite.settings.options import LEFT_TO_ENGINE
from sqlrewrite.sql.lex.tokens import comparable
from sqlrewrite.sql.managed.strip import ManagedClause, RemovedPredicate, Stripped
from sqlrewrite.sql.parse.statements import Failure
from sqlrewrite.text.edits import Edit, Span
from sqlrewrite.text.markers import MARKER, read_keys_note

if TYPE_CHECKING:
    from sqlrewrite.judge.proposal import Predicate, Proposal
    from sqlrewrite.plan.algebra import Plan


class StatementDecision(Struct, frozen=True, eq=False):
    """The decision on one statement.

    ``written``: for each clause into which an earlier run wrote, by its offset, the text of each
    marked predicate that belongs there now, with the value that it bounds. ``matters``: False if
    there is nothing to decide. With a ``failure`` the edits put back what an earlier run wrote.
    """

    reading: Reading
    matters: bool = False
    proposals: tuple[Proposal, ...] = ()
    edits: tuple[Edit, ...] = ()
    bugs: tuple[tuple[int, str], ...] = ()
    written: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    failure: Failure | None = None

    @property
    def plan(self) -> Plan:
        """The plan of a statement that matters."""
        assert self.reading.bound is not None
        return self.reading.bound.plan

    @property
    def bounded(self) -> dict[str, str]:
        """The predicates to be written, with their markers, by the text of what they bound."""
        written = (
            predicate for proposal in reversed(self.proposals) for predicate in proposal.predicates
        )
        return {predicate.bounded: predicate.marked for predicate in written}

    @property
    def unasked(self) -> frozenset[str]:
        """The values that predicates of literals would bound, if someone had been asked for the
        keys."""
        return frozenset(proposal.unasked for proposal in self.proposals if proposal.unasked)


def as_they_stand(
    clause: ManagedClause, predicates: Sequence[Predicate]
) -> dict[Predicate, Predicate] | None:
    """The ``predicates`` that follow now, each as it stands in a clause; None if the clause holds
    other ones."""
    if len(clause.predicates) != len(predicates):
        return None
    unmatched = [standing_one.text for standing_one in clause.predicates]
    standing: dict[Predicate, Predicate] = {}
    for predicate in predicates:
        same = next((text for text in unmatched if same_tokens(text, predicate.marked)), None)
        if same is None:
            return None
        unmatched.remove(same)
        text = predicate.text if same == predicate.marked else same.partition(MARKER)[0].rstrip()
        standing[predicate] = replace(predicate, text=text)
    return standing


def stands_in(predicate: Predicate, clause: ManagedClause) -> bool:
    """Whether a predicate is one of those that stand in a clause already."""
    return any(same_tokens(standing.text, predicate.marked) for standing in clause.predicates)


def same_tokens(one: str, other: str) -> bool:
    """Whether two marked predicates differ in no more than a formatter changes: the white space
    between tokens, and the case of words."""
    if one == other:
        return True
    if any(text.count(MARKER) > 1 for text in (one, other)):
        return False
    (before, _, note), (after, _, other_note) = one.partition(MARKER), other.partition(MARKER)
    return _comparable_note(note) == _comparable_note(other_note) and (
        comparable(before) == comparable(after)
    )


def _comparable_note(note: str) -> tuple[str, tuple[str, ...]] | None:
    """The time and the key query of the comment behind a marker; None if there is none."""
    read = read_keys_note(note, 0)
    return None if read is None else (read[0], comparable(read[1]))


def stale(stripped: Stripped, decided: StatementDecision) -> dict[Span, str]:
    """The predicates of an earlier run in a statement, by their spans in the original, that do not
    follow now, each with the predicate that replaces it, if any."""
    if decided.failure is not None:  # its edits put them all back
        return {}
    clauses, statement = stripped.clauses, decided.reading.statement
    gone: list[tuple[RemovedPredicate, dict[str, str]]] = []
    first = bisect_left(clauses, statement.start, key=lambda clause: clause.at)
    for clause in takewhile(lambda clause: clause.at <= statement.end, clauses[first:]):
        follow = dict(decided.written.get(clause.at, {}))
        gone += [
            (predicate, follow)
            for predicate in clause.predicates
            if follow.pop(predicate.text, None) is None
        ]
    elsewhere = decided.bounded if gone else {}
    replacements: dict[Span, str] = {}
    for removed, follow in gone:
        here = next((text for text, value in follow.items() if value == removed.value), None)
        replacements[removed.span] = here or elsewhere.get(removed.value, "")
        if here:
            del follow[here]
    return replacements


def changes_dml_condition(stripped: Stripped, decided: StatementDecision) -> bool:
    """Whether a DELETE or UPDATE would lose or change a marked predicate in its own condition. If
    an author put the marker there, the statement would change other rows then."""
    start, end = decided.reading.statement.start, decided.reading.statement.end
    for clause in stripped.clauses:
        if clause.in_dml and start <= clause.at <= end:
            follow = decided.written.get(clause.at, {})
            if {predicate.text for predicate in clause.predicates} != follow.keys():
                return True
    return False


def left_to_engine(candidates: Sequence[Candidate]) -> dict[str, str]:
    """Why no predicate is written for a column (``day``, ``s.day``), if the reason is that the
    engine prunes by itself."""
    reasons: dict[str, str] = {}
    for candidate in candidates:
        reason = candidate.reason if candidate.verdict is not Verdict.REWRITTEN else None
        if reason is not None and reason.code == LEFT_TO_ENGINE:
            names = ("", f"{candidate.fact.alias.lower()}.", f"{candidate.fact.table.lower()}.")
            for name in names:
                reasons.setdefault(name + candidate.fact.column, reason.message)
    return reasons


def bounded_columns(value: str) -> list[str]:
    """The columns in the value that a predicate bounds: one, or those of a tuple."""
    return [column.strip().replace("`", "") for column in value.strip("()").split(",")]
