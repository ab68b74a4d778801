"""One text of a history, judged: what it is, its fact scans with their verdicts, its new text.

In come a text and the schema that was current, out goes a ``Judged``, which is plain enough to be a
row. A text that takes too long, or in which something of ours fails, costs only itself.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType

from sqlrewrite.document import decide, read
from sqlrewrite.frozen import dataclass
from sqlrewrite.results import Candidate, Outcome, Rewrite, Verdict
from sqlrewrite.rewriting import result
from sqlrewrite.settings.options import LEFT_TO_ENGINE, Options
from sqlrewrite.sql.collector import at_rest
from sqlrewrite.text.limits import over
from sqlrewrite.warehouse import Table, Warehouse

BY_ENGINE = "pruned-by-engine"
"""The verdict on a scan that the engine prunes by itself."""

_MOST_REASON = 300
_MOST_SCANS = 50


@dataclass(frozen=True, slots=True)
class Scan:
    """A fact scan and what could bound it. ``only`` says whether the rule that speaks against it is
    the only one; ``partitions`` is how many the table has."""

    fact: str
    alias: str
    column: str
    dimension: str
    key: str
    verdict: str
    code: str = ""
    reason: str = ""
    only: bool = False
    predicate: str = ""
    partitions: int | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """A text, judged. ``outcome`` is ``rewritten``, ``pruned`` (each fact scan that a join could
    bound is bounded, by the author or the engine), ``rejected`` (one is not), ``nothing`` (no join
    could bound any), ``skipped`` or ``error``; ``reason`` says why the last two."""

    outcome: str
    reason: str = ""
    rewritten: str = ""
    scans: tuple[Scan, ...] = ()


class TooLongError(Exception):
    """A text took longer than it may."""


def judged(
    text: str, schema: str | None, catalog: Warehouse, options: Options, most: float
) -> Judged:
    """What a text comes to, in at most so many seconds. Raises nothing."""
    if len(text) > options.limits.statement:
        return Judged("skipped", over("statement", len(text), options.limits.statement))
    try:
        known = catalog.use(schema) if schema else catalog
        with _within(most), at_rest(text):
            found = result(decide(read(text, known, options.limits), options))
        return _told(found, known)
    except TooLongError:
        return Judged("skipped", f"it takes more than {most:g} s")
    except Exception as error:
        return Judged("error", f"{type(error).__name__}: {error}"[:_MOST_REASON])


def _told(found: Rewrite, catalog: Warehouse) -> Judged:
    scans = tuple(_scan(it, catalog) for it in found.candidates[:_MOST_SCANS])
    verdicts = {it.verdict for it in scans}
    if found.changed:
        return Judged("rewritten", rewritten=found.sql, scans=scans)
    if Verdict.REJECTED.value in verdicts:
        return Judged("rejected", scans=scans)
    if verdicts:
        return Judged("pruned", scans=scans)
    for problem in found.errors:
        return Judged("error", problem.message[:_MOST_REASON])
    for problem in found.skipped:
        return Judged("skipped", problem.message[:_MOST_REASON])
    return Judged("nothing")


def _scan(it: Candidate, catalog: Warehouse) -> Scan:
    relation = catalog.resolve(tuple(it.fact.table.lower().split(".")))
    against = [rule for rule in it.rules if rule.outcome is not Outcome.PASS]
    rejected = it.verdict is Verdict.REJECTED and bool(against)
    scan = Scan(
        fact=".".join(relation.name) if relation is not None else it.fact.table.lower(),
        alias=it.fact.alias,
        column=it.fact.column.lower(),
        dimension=it.dimension.table.lower(),
        key=it.dimension.column.lower(),
        verdict=it.verdict.value,
        predicate=it.predicate or "",
        partitions=relation.partition_count if isinstance(relation, Table) else None,
    )
    if not rejected:
        return scan
    first = against[0]
    if {rule.code for rule in against} == {LEFT_TO_ENGINE}:
        return replace(scan, verdict=BY_ENGINE, reason=first.message[:_MOST_REASON])
    return replace(
        scan, code=first.code, reason=first.message[:_MOST_REASON], only=len(against) == 1
    )


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raises TooLongError inside after so many seconds, where the system can."""
    here = threading.current_thread() is threading.main_thread()
    if not here or not hasattr(signal, "setitimer"):
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
