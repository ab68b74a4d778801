"""The results for a caller: candidates with their verdicts, problems, plans, and the new text.

Any of them may cross a process boundary. Lines and columns count from 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

NOT_PARSED = "DPP000"
"""The code of a text that could not be read."""

Output = tuple[tuple[str | None, str | None], ...]
"""The columns that a query returns: of each its name and its Spark type, None where not known."""


class ConfigError(Exception):
    """Settings or options that cannot be used; the message names them and what is allowed."""


class Outcome(Enum):
    """A rule's answer for a candidate; a predicate is written only if every rule says ``PASS``."""

    PASS = "pass"
    FAIL = "fail"
    UNKNOWN = "unknown"


class Verdict(Enum):
    """The outcome for a candidate."""

    REWRITTEN = "rewritten"
    ALREADY_PRUNED = "already-pruned"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class RuleResult:
    """One rule's outcome for one candidate, with its reason."""

    code: str
    name: str
    outcome: Outcome
    message: str


@dataclass(frozen=True, slots=True)
class TableUse:
    """One side of a candidate: the table, its alias, the column, and the place in the text."""

    table: str
    alias: str
    column: str
    line: int
    column_number: int


@dataclass(frozen=True, slots=True)
class JoinUse:
    """The join of a candidate: its type in the words of SQL, and its place."""

    type: str
    line: int
    column_number: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimated cost and benefit of a predicate; None means not known.

    ``reads`` are the bytes and ``rows`` the rows that are read again for the keys, ``scans`` the
    bytes that the fact's scan reads without the predicate, ``share`` the part of these that it
    saves, and ``basis`` the source of that number.
    """

    reads: int | None
    rows: int | None
    scans: int | None
    share: float
    basis: str

    @property
    def saves(self) -> int | None:
        """The bytes that the scan saves."""
        return None if self.scans is None else round(self.share * self.scans)


class PrunesAlone(Enum):
    """Whether an engine prunes a scan by itself; ``MAY_PRUNE``: it does under usual assumptions
    about unknown facts, such as that a dimension is small enough to be broadcast."""

    PRUNES = "prunes"
    MAY_PRUNE = "may prune"
    MISSES = "misses"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class EngineAlone:
    """Whether the engine of that name prunes a fact scan by itself, and why."""

    name: str
    pruning: PrunesAlone
    reason: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fact scan, one of its partition columns, and a relation whose join keys bound it."""

    statement: int
    fact: TableUse
    dimension: TableUse
    join: JoinUse
    verdict: Verdict
    rules: tuple[RuleResult, ...]
    predicate: str | None = None
    estimate: Estimate | None = None
    engine: EngineAlone | None = None

    @property
    def reason(self) -> RuleResult | None:
        """The first rule that did not pass: the reason to show; None where all passed."""
        return next((rule for rule in self.rules if rule.outcome is not Outcome.PASS), None)


@dataclass(frozen=True, slots=True)
class Problem:
    """A statement or file that was left alone, with its place and the reason."""

    code: str
    message: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Removed:
    """A predicate of an earlier run that was removed, and why; ``by`` is the one that replaces it,
    if any."""

    statement: int
    text: str
    line: int
    column: int
    by: str = ""
    reason: str = (
        "it no longer follows from the query and the options; to keep a predicate that you have "
        "edited, remove its marker"
    )

    @property
    def refreshed(self) -> bool:
        """Whether another predicate replaces it."""
        return bool(self.by)


@dataclass(frozen=True, slots=True)
class PlanLine:
    """One line of the explain diff: ``mark`` is ``+``, ``-`` or a space."""

    mark: str
    text: str


@dataclass(frozen=True, slots=True)
class PlanDiff:
    """The logical plan of one changed statement, before and after, as one tree with marks: either
    ``drawn`` already, or drawn by ``draw`` on demand."""

    statement: int
    line: int
    drawn: tuple[PlanLine, ...] = ()
    draw: Callable[[], tuple[PlanLine, ...]] | None = field(default=None, compare=False)

    @property
    def lines(self) -> tuple[PlanLine, ...]:
        """The tree, line by line."""
        return self.drawn if self.draw is None else self.draw()


@dataclass(frozen=True, slots=True)
class Rewrite:
    """The result of ``rewrite`` for one text.

    ``skipped`` are statements left alone unread (templates, unsupported syntax), ``errors`` those
    that do not parse; ``statements`` counts all of them. ``removed`` are predicates of an earlier
    run that no longer follow, ``notes`` further remarks with their places. ``grouped`` are the
    numbers of the statements that were written by groups of partitions.
    """

    original: str
    sql: str
    statements: int
    candidates: tuple[Candidate, ...] = ()
    errors: tuple[Problem, ...] = ()
    skipped: tuple[Problem, ...] = ()
    plans: tuple[PlanDiff, ...] = ()
    removed: tuple[Removed, ...] = ()
    notes: tuple[Problem, ...] = ()
    grouped: tuple[int, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether the text differs from what was given."""
        return self.sql != self.original

    def explain(self) -> str:
        """The logical explain diff as plain text; empty where nothing was inserted."""
        return "\n\n".join(
            "\n".join(f"{line.mark} {line.text}".rstrip() for line in plan.lines)
            for plan in self.plans
        )
