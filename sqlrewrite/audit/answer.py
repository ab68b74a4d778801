"""The result of an audit: the shapes worth a change, the tables they read, and what prevents a
rewrite. ``spark/audit/summary.py`` makes these plain values, ``report/`` shows them."""

from __future__ import annotations

from sqlrewrite.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Total:
    """How many shapes and runs came to one thing, and what those runs read and took; None where
    the history does not say."""

    what: str
    shapes: int
    runs: int
    bytes: int | None = None
    micros: int | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """How many of its partitions a fact scan reads with a predicate, of how many there are: what is
    not known is None. ``alias`` is what the predicate calls the fact."""

    fact: str
    alias: str
    predicate: str
    total: int | None
    kept: int | None = None


@dataclass(frozen=True, slots=True)
class AuditedShape:
    """A shape that gets predicates: its runs, a text of it as it is and rewritten, and what its
    scans would read. ``saved`` is the part of its bytes that would not be read, ``how`` how that
    was found."""

    shape: str
    schema: str | None
    runs: int
    users: int
    bytes: int | None
    micros: int | None
    text: str
    rewritten: str
    scans: tuple[Kept, ...]
    saved: float | None = None
    how: str = "not known: no partitions were asked for (--measure)"

    @property
    def saved_partitions(self) -> int | None:
        """The partitions that one run would not read, if each scan of the text is run once: a CTE
        of several references may be read several times, or what it gives used again."""
        if self.saved is None:
            return None
        return sum((it.total or 0) - (it.kept or 0) for it in self.scans)

    @property
    def saved_bytes(self) -> int | None:
        """The bytes of all its runs that would not be read."""
        known = self.saved is not None and self.bytes is not None
        return round(self.bytes * self.saved) if known else None  # type: ignore[operator]

    @property
    def saved_micros(self) -> int | None:
        """The time of all its runs that would be saved, if that goes with the bytes."""
        known = self.saved is not None and self.micros is not None
        return round(self.micros * self.saved) if known else None  # type: ignore[operator]


@dataclass(frozen=True, slots=True)
class ColumnReason:
    """A reason in the way of a fact's column, and the runs for which it is the only one."""

    fact: str
    column: str
    code: str
    reason: str
    shapes: int
    runs: int
    bytes: int | None


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact table: the runs that read it with a predicate to be had, with none in need, and with
    none possible, and which dimensions bound it in how many runs."""

    name: str
    rewritten: int
    pruned: int
    rejected: int
    bytes: int | None
    bounded_by: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The whole of it; ``decided`` is how many shapes this run has decided itself."""

    shapes: int
    decided: int
    runs: int
    bytes: int | None
    totals: tuple[Total, ...]
    left: tuple[Total, ...]
    top: tuple[AuditedShape, ...]
    facts: tuple[Fact, ...]
    reasons: tuple[ColumnReason, ...]


@dataclass(frozen=True, slots=True)
class Scanned:
    """The scans of a table in the final plans of an event log: those that a condition of the query
    prunes (``static``), those pruned by join keys (``dynamic``), those from which Spark took such a
    filter away again when it ran (``dropped``), and those without any."""

    table: str
    scans: int
    static: int
    dynamic: int
    dropped: int
    unpruned: int
