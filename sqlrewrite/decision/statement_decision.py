"""The decision on one statement: its pairs with their verdicts, and its insertions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlrewrite.find.reading import Reading
from sqlrewrite.results import Outcome, RuleResult, Verdict
from sqlrewrite.sql.parse.statements import Failure
from sqlrewrite.text.edits import Edit

if TYPE_CHECKING:
    from sqlrewrite.judge.proposal import Proposal
    from sqlrewrite.plan.algebra import Plan
    from sqlrewrite.write.forms.predicate import Predicate
    from sqlrewrite.write.placement import Slot


@dataclass(frozen=True, slots=True, eq=False)
class PairDecision:
    """A pair with its verdict; ``predicates`` and ``slot`` where it is to be written, which an
    earlier run has done where it ``stands``; ``unasked`` is what literals would bound, where nobody
    was asked for them."""

    proposal: Proposal
    rules: tuple[RuleResult, ...]
    verdict: Verdict
    predicates: tuple[Predicate, ...] = ()
    slot: Slot | None = None
    stands: bool = False
    unasked: str | None = None

    @property
    def failing(self) -> frozenset[str]:
        """The codes of the rules that did not pass."""
        return frozenset(r.code for r in self.rules if r.outcome is not Outcome.PASS)


@dataclass(frozen=True, slots=True, eq=False)
class StatementDecision:
    """What is decided of one statement; ``written`` are the marked predicates that now follow in a
    clause into which an earlier run wrote some, by its offset: the text of each, as it stands if it
    stays, and what it bounds.

    Nothing in the statement concerns us unless it ``matters``. With a ``failure`` the edits put
    back what an earlier run wrote.
    """

    reading: Reading
    matters: bool = False
    judged: tuple[PairDecision, ...] = ()
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
        """The marked predicates that are to be written, by what they bound, as the text has it."""
        written = (it for item in reversed(self.judged) for it in item.predicates)
        return {it.bounded: it.marked for it in written}

    @property
    def unasked(self) -> frozenset[str]:
        """What predicates of literals would bound, had someone been asked for the keys."""
        return frozenset(item.unasked for item in self.judged if item.unasked)
