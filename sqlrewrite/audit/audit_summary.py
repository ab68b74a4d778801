"""The summary of an audit: the shapes worth a change, the tables they read, and what prevents
rewrites. ``spark/audit.py`` computes these plain values, ``report/`` shows them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Total:
    """Shapes and runs with one outcome or reason (``what``), and the bytes and microseconds of
    these runs; None if the history does not have them."""

    what: str
    shapes: int
    runs: int
    bytes: int | None = None
    micros: int | None = None


@dataclass(frozen=True, slots=True)
class KeptPartitions:
    """How many of a fact's partitions (``total``) a scan reads with its predicate (``kept``); None
    if unknown. ``alias`` is the fact's name in the predicate."""

    fact: str
    alias: str
    predicate: str
    total: int | None
    kept: int | None = None


@dataclass(frozen=True, slots=True)
class AuditedShape:
    """A shape that gets predicates: its runs, one of its texts before and after, and its scans.
    ``saved``: the share of its bytes that would not be read. ``how``: how that number was computed.
    """

    shape: str
    schema: str | None
    runs: int
    users: int
    bytes: int | None
    micros: int | None
    text: str
    rewritten: str
    scans: tuple[KeptPartitions, ...]
    saved: float | None = None
    how: str = "not known: --measure asks Spark for the partitions"

    @property
    def saved_partitions(self) -> int | None:
        """The partitions that one run would not read, if each scan runs once: a CTE with several
        references may be computed once or several times."""
        if self.saved is None:
            return None
        return sum((scan.total or 0) - (scan.kept or 0) for scan in self.scans)

    @property
    def saved_bytes(self) -> int | None:
        """The bytes that all its runs would not read."""
        both_known = self.saved is not None and self.bytes is not None
        return round(self.bytes * self.saved) if both_known else None  # type: ignore[operator]

    @property
    def saved_micros(self) -> int | None:
        """The time of all its runs that would be saved, if time is proportional to bytes."""
        both_known = self.saved is not None and self.micros is not None
        return round(self.micros * self.saved) if both_known else None  # type: ignore[operator]


@dataclass(frozen=True, slots=True)
class ColumnReason:
    """The only reason why a fact's column gets no predicate, and the affected runs."""

    fact: str
    column: str
    code: str
    reason: str
    shapes: int
    runs: int
    bytes: int | None


@dataclass(frozen=True, slots=True)
class FactSummary:
    """A fact table: the runs that read it and get a predicate (``rewritten``), need none
    (``pruned``) or can have none (``rejected``), and the runs in which each dimension bounds it."""

    name: str
    rewritten: int
    pruned: int
    rejected: int
    bytes: int | None
    bounded_by: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class AuditSummary:
    """The whole summary. ``decided``: how many shapes this run has judged. ``unknown``: the tables
    that are not in the catalog."""

    shapes: int
    decided: int
    runs: int
    bytes: int | None
    totals: tuple[Total, ...]
    not_judged: tuple[Total, ...]
    top: tuple[AuditedShape, ...]
    facts: tuple[FactSummary, ...]
    reasons: tuple[ColumnReason, ...]
    unknown: tuple[Total, ...] = ()


@dataclass(frozen=True, slots=True)
class ScanCounts:
    """The scans of a table in the final plans of an event log: pruned by a condition of the query
    (``static``), by join keys (``dynamic``), by join keys until Spark dropped that filter at run
    time (``dropped``), or by nothing (``unpruned``)."""

    table: str
    scans: int
    static: int
    dynamic: int
    dropped: int
    unpruned: int
