"""The values of lint: findings, their places and fixes, and the table of their codes.

They are plain values that may cross a process boundary and go into a cache. Offsets count code
points of the file's text, lines and columns count from 1, and a place ends before the character at
its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from msgspec import Struct

from sqlrewrite.results import Problem
from sqlrewrite.text.edits import Edit, Span


class Severity(Enum):
    """How much a finding matters; settings may change a code's own."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Code(Struct, frozen=True):
    """A kind of finding; its page in ``rules/`` has the same code and name."""

    code: str
    name: str
    severity: Severity


CODES: tuple[Code, ...] = (
    Code("DPP000", "not-parsed", Severity.NOTE),
    Code("DPP001", "missing-predicate", Severity.WARNING),
    Code("DPP002", "stale-predicate", Severity.ERROR),
    Code("DPP003", "redundant-predicate", Severity.ERROR),
    Code("DPP004", "wrapped-partition-column", Severity.WARNING),
    Code("DPP005", "key-types-differ", Severity.WARNING),
    Code("DPP006", "outer-join-undone", Severity.WARNING),
    Code("DPP007", "unbounded-scan", Severity.WARNING),
    Code("DPP008", "suppression", Severity.WARNING),
    Code("DPP009", "foreign-marker", Severity.NOTE),
    Code("DPP010", "merge-reads-all", Severity.WARNING),
    Code("DPP011", "latest-partition", Severity.WARNING),
    Code("DPP012", "build-side", Severity.WARNING),
    Code("DPP013", "exchanged-alike", Severity.NOTE),
    Code("DPP014", "dbt-merge-reads-all", Severity.WARNING),
)
BY_CODE = {code.code: code for code in CODES}


@dataclass(frozen=True, slots=True)
class Place:
    """A span of a file's text, with its lines and columns."""

    span: Span
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Replacement:
    """New text for a span of the old one; an insertion where the span is empty."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """The fix of a finding: all that ``dpp-rewrite --write`` changes in its statement."""

    replacements: tuple[Replacement, ...]

    @property
    def edits(self) -> Iterator[Edit]:
        """Its replacements, without their lines and columns."""
        return (Edit(change.place.span, change.text) for change in self.replacements)


@dataclass(frozen=True, slots=True)
class Suppression:
    """Why a finding does not count: a comment in the source, or the baseline."""

    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. ``subject`` names what it is about, and ``statement`` is a hash of the tokens of
    its statement: both stay the same when lines move. ``choice`` is a change that is right if the
    author says so, which no run makes by itself."""

    code: str
    message: str
    place: Place
    subject: str
    statement: str
    severity: Severity
    help: str = ""
    fix: Fix | None = None
    choice: Fix | None = None
    suppression: Suppression | None = None
    counts: bool = True

    @property
    def name(self) -> str:
        """The name of its code."""
        return BY_CODE[self.code].name


def unsuppressed(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings that nothing suppresses."""
    return tuple(finding for finding in findings if finding.suppression is None)


MOST_CHARACTERS = 299
"""The longest message. What a rule quotes of the text may be of any length."""


def clipped(message: str) -> str:
    """A message, shortened to what any report shows whole."""
    return message if len(message) <= MOST_CHARACTERS else f"{message[: MOST_CHARACTERS - 1]}…"


LintResult = tuple[tuple[Finding, ...], tuple[Problem, ...]]
"""The findings of a text, and the failures."""


def of_no_statement(
    code: str, message: str, place: Place, subject: str = "", help: str = "", counts: bool = True
) -> Finding:
    """A finding about the text, not about a statement."""
    severity = BY_CODE[code].severity
    return Finding(code, clipped(message), place, subject, "", severity, help, counts=counts)
