"""One text of a history: its kind, the fingerprint of its shape, and the judgement of it.

``folded`` says whether a text can be judged, and which texts are of one shape. ``judged`` returns
an ``AuditedText`` for a text and its current schema, plain enough to be a row. Both raise nothing:
a text that takes too long, or makes our code fail, affects no other.
"""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from types import FrameType

from sqlrewrite.copies import replace
from sqlrewrite.document import Decision, decide, read
from sqlrewrite.judge.benefit.cost import BY_RATIO
from sqlrewrite.linting.merge_checks import MERGED, whole
from sqlrewrite.results import Candidate, Outcome, Rewrite, Verdict
from sqlrewrite.rewriting import result
from sqlrewrite.settings.options import LEFT_TO_ENGINE, Options
from sqlrewrite.sql.python_runtime import at_rest
from sqlrewrite.sql.statements.fingerprint import fingerprint, shape
from sqlrewrite.text.limits import over
from sqlrewrite.warehouse import Table, Warehouse

TEXT, EMPTY, MASKED, CUT, OTHER = "text", "empty", "masked", "cut", "other"
"""The kinds of texts: to be judged; empty; masked; cut off; neither a query nor a write."""

_MOST_REMEMBERED = 10_000
"""Longer texts are not remembered, so that a process holds at most some 50 MB of them."""

_MASKED = re.compile(r"\W*+(?:(?:redacted|masked|hidden|confidential|x++)\W*+)*+", re.IGNORECASE)
_CUT = ("...", "…")
_WORD = re.compile(r"[^a-z(]*([a-z]+|\()")
_JUDGED = frozenset(
    "( select with from insert merge create replace cache values table as update delete".split()
)

BY_ENGINE = "pruned-by-engine"
"""The verdict on a scan that the engine prunes by itself."""

_MOST_REASON = 300
_MOST_SCANS = 50


@dataclass(frozen=True, slots=True)
class AuditedScan:
    """A fact scan and what could bound it. ``only``: the failing rule is the only one.
    ``partitions``: how many the table has, ``kept`` how many of them the predicate keeps, if
    statistics of columns say so."""

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
    kept: int | None = None


@dataclass(frozen=True, slots=True)
class AuditedText:
    """The judgement of a text. ``outcome``: ``rewritten``, ``pruned`` (each fact scan that a join
    could bound is bounded, by the author or the engine), ``rejected`` (one is not), ``nothing`` (no
    join could bound any), ``skipped`` or ``error``. ``reason`` explains the last two. ``unknown``:
    the tables that it reads and that are not in the catalog."""

    outcome: str
    reason: str = ""
    rewritten: str = ""
    scans: tuple[AuditedScan, ...] = ()
    unknown: tuple[str, ...] = ()


def folded(text: str | None) -> str:
    """The kind of a text, and the fingerprint of one to be judged: ``text:0f…``. Raises nothing."""
    if text is None or not text.strip():
        return f"{EMPTY}:"
    return _remembered(text) if len(text) <= _MOST_REMEMBERED else _folded(text)


def _folded(text: str) -> str:
    if _MASKED.fullmatch(text):
        return f"{MASKED}:"
    if text.rstrip().endswith(_CUT):
        return f"{CUT}:"
    shape_of_text = shape(text)
    word = _WORD.match(shape_of_text)
    what = TEXT if word is not None and word[1] in _JUDGED else OTHER
    return f"{what}:{fingerprint(shape_of_text)}" if what == TEXT else f"{OTHER}:"


_remembered = lru_cache(maxsize=5_000)(_folded)


class TooLong(BaseException):
    """A text took too long. It is no ``Exception``, so that no handler takes it for a failure."""


def judged(
    text: str, schema: str | None, catalog: Warehouse, options: Options, most: float
) -> AuditedText:
    """The judgement of a text, in at most ``most`` seconds of processor time. Raises nothing."""
    if len(text) > options.limits.statement:
        return AuditedText("skipped", over("statement", len(text), options.limits.statement))
    try:
        catalog_here = catalog.use(schema)
        with _within(most), at_rest(text):
            decision = decide(read(text, catalog_here, options.limits, named=True), options)
            rewrite, merged = result(decision), tuple(_merged(decision))
        scans = (
            *(_scan(candidate, catalog_here) for candidate in rewrite.candidates[:_MOST_SCANS]),
            *merged,
        )
        return replace(_outcome(rewrite, scans), unknown=_unknown(decision))
    except TooLong:
        return AuditedText("skipped", f"it takes more than {most:g} s")
    except Exception as error:
        return AuditedText("error", f"{type(error).__name__}: {error}"[:_MOST_REASON])


def _outcome(rewrite: Rewrite, scans: tuple[AuditedScan, ...]) -> AuditedText:
    verdicts = {scan.verdict for scan in scans}
    if rewrite.changed:
        return AuditedText("rewritten", rewritten=rewrite.sql, scans=scans)
    if Verdict.REJECTED.value in verdicts:
        return AuditedText("rejected", scans=scans)
    if verdicts:
        return AuditedText("pruned", scans=scans)
    for problem in rewrite.errors:
        return AuditedText("error", problem.message[:_MOST_REASON])
    for problem in rewrite.skipped:
        return AuditedText("skipped", problem.message[:_MOST_REASON])
    return AuditedText("nothing")


def _unknown(decision: Decision) -> tuple[str, ...]:
    """The unknown relations that a text reads, each once."""
    names = {
        ".".join(name).lower()
        for statement in decision.statements
        for name in statement.reading.names
        if statement.reading.catalog.resolve(name) is None
    }
    return tuple(sorted(names)[:_MOST_SCANS])


def _scan(candidate: Candidate, catalog: Warehouse) -> AuditedScan:
    relation = catalog.resolve(tuple(candidate.fact.table.lower().split(".")))
    against = [rule for rule in candidate.rules if rule.outcome is not Outcome.PASS]
    rejected = candidate.verdict is Verdict.REJECTED and bool(against)
    scan = AuditedScan(
        fact=".".join(relation.name) if relation is not None else candidate.fact.table.lower(),
        alias=candidate.fact.alias,
        column=candidate.fact.column.lower(),
        dimension=candidate.dimension.table.lower(),
        key=candidate.dimension.column.lower(),
        verdict=candidate.verdict.value,
        predicate=candidate.predicate or "",
        partitions=relation.partition_count if isinstance(relation, Table) else None,
    )
    estimate, count = candidate.estimate, scan.partitions
    if count is not None and estimate is not None and estimate.basis != BY_RATIO:
        scan = replace(scan, kept=round(count * (1 - estimate.share)))
    if not rejected:
        return scan
    first = against[0]
    if {rule.code for rule in against} == {LEFT_TO_ENGINE}:
        return replace(scan, verdict=BY_ENGINE, reason=first.message[:_MOST_REASON])
    return replace(
        scan, code=first.code, reason=first.message[:_MOST_REASON], only=len(against) == 1
    )


def _merged(decision: Decision) -> Iterator[AuditedScan]:
    """The targets of MERGEs, with the partition columns that can only be bounded by constants."""
    for statement in decision.statements:
        if statement.reading.bound is None:
            continue
        merge = whole(statement.plan, statement.reading.pairs)
        if merge is None:
            continue
        table, reason = merge.scan.table, f"{merge.why}; {merge.how}"[:_MOST_REASON]
        scan = AuditedScan(
            fact=".".join(table.name),
            alias=merge.scan.alias,
            column="",
            dimension="",
            key="",
            verdict=Verdict.REJECTED.value,
            code=MERGED,
            reason=reason,
            only=True,
            partitions=table.partition_count,
        )
        yield from (replace(scan, column=column) for column in merge.joined or merge.columns)


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raises TooLong in the code inside after so many seconds of processor time, which does not
    depend on what else the machine does; and then repeatedly, because a ``__del__`` may swallow it.
    Has no effect on systems without such a timer."""
    here = threading.current_thread() is threading.main_thread()
    if not here or not hasattr(signal, "setitimer"):
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
