"""Predicates that an earlier run wrote and this one would not, for the report and the linter."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import takewhile

from sqlrewrite.decision.decided import Decided
from sqlrewrite.results import Candidate, Verdict
from sqlrewrite.settings.options import LEFT_TO_ENGINE
from sqlrewrite.sql.managed import Stripped
from sqlrewrite.sql.marked import plain
from sqlrewrite.text.edits import Span


def stale(stripped: Stripped, decided: Decided) -> dict[Span, str]:
    """The predicates of an earlier run in a statement, by their spans in the original, that are not
    the ones that follow now in their clauses; each with the one that does in its place, if one
    does."""
    if decided.failure is not None:  # they are put back
        return {}
    clauses, statement = stripped.clauses, decided.reading.statement
    gone: list[tuple[Span, str, dict[str, str]]] = []
    first = bisect_left(clauses, statement.start, key=lambda clause: clause.at)
    for clause in takewhile(lambda clause: clause.at <= statement.end, clauses[first:]):
        follow = {it.marked: plain(it.value) for it in decided.written.get(clause.at, ())}
        for text, span in zip(clause.predicates, clause.spans, strict=True):
            if follow.pop(text, None) is None:
                gone.append((span, stripped.bounded[span], follow))
    elsewhere = decided.bounded if gone else {}
    found: dict[Span, str] = {}
    for span, about, follow in gone:
        here = next((it for it, value in follow.items() if value == about), None)
        found[span] = here or elsewhere.get(about, "")
        if here:
            del follow[here]
    return found


def changed_otherwise(stripped: Stripped, decided: Decided) -> bool:
    """Whether a DELETE or UPDATE would lose a predicate of its own condition that an earlier run
    has written there, or get another: then it would change other rows, if an author had put our
    marker there."""
    start, end = decided.reading.statement.start, decided.reading.statement.end
    for clause in stripped.clauses:
        if clause.change and start <= clause.at <= end:
            follow = {it.marked for it in decided.written.get(clause.at, ())}
            if set(clause.predicates) != follow:
                return True
    return False


def left_to_engine(candidates: Sequence[Candidate]) -> dict[str, str]:
    """Why no predicate is written for a column (``day``, ``s.day``), where that is because the
    engine prunes by itself."""
    found: dict[str, str] = {}
    for it in candidates:
        reason = it.reason if it.verdict is not Verdict.REWRITTEN else None
        if reason is not None and reason.code == LEFT_TO_ENGINE:
            names = ("", f"{it.fact.alias.lower()}.", f"{it.fact.table.lower()}.")
            for name in names:
                found.setdefault(name + it.fact.column, reason.message)
    return found


def columns_of(about: str) -> list[str]:
    """The columns that a predicate bounds, of what ``bounded`` says of it."""
    return [value.strip().replace("`", "") for value in about.strip("()").split(",")]
