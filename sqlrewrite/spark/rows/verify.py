"""``verify``: runs a query before and after, and compares rows, scans and times.

In: the statements of a text in pairs. Out: a ``Verified`` for each. Only queries are run, and those
of temporary views. Differences that the rewriting did not cause (ties at a LIMIT, rows that differ
in each run) are reported as such (docs/reference.md, "What counts as the same rows").
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from itertools import zip_longest
from statistics import median
from threading import Event, Timer
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from sqlrewrite.results import Rewrite
from sqlrewrite.spark import column_functions as f
from sqlrewrite.spark.plans.scans import (
    TableScan,
    fact_scans,
    last_name,
    reported_scans,
    row_groups,
    shuffled,
)
from sqlrewrite.spark.rows.bags import BagColumns, Comparison, columns, compare
from sqlrewrite.spark.rows.sample import Sampled, sampled
from sqlrewrite.spark.script import (
    QueryPair,
    enter,
    known_after,
    layout_columns,
    of_view,
    pairs,
    partitioned,
    use,
)
from sqlrewrite.spark.session import Session, spark_errors
from sqlrewrite.spark.target import SparkError, SparkGoneError
from sqlrewrite.sql.statements.effects import StatementKind
from sqlrewrite.warehouse import Warehouse, literal_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


_UNHASHED = ("map<", "variant")


class VerifyOutcome(Enum):
    """The outcome of a comparison."""

    SAME = "same rows"
    TIES = "same rows but for ties at the LIMIT"
    DIFFERENT = "different rows"
    COLUMNS = "other columns"
    NEW_ERROR = "the rewritten query raises an error, the query does not"
    ERROR_GONE = "the query raises an error, the rewritten query does not"
    UNSTABLE = "undecided: the query itself gives other rows each time"
    FAILED = "not compared"
    SKIPPED = "not run: it may write, and only queries are run"

    @property
    def decided(self) -> bool:
        """Whether the comparison gave an answer."""
        return self not in (VerifyOutcome.UNSTABLE, VerifyOutcome.FAILED)

    @property
    def differs(self) -> bool:
        """Whether the rewriting changed the query's result."""
        return self in (
            VerifyOutcome.DIFFERENT,
            VerifyOutcome.COLUMNS,
            VerifyOutcome.NEW_ERROR,
            VerifyOutcome.ERROR_GONE,
        )


class ScanRead(Struct, frozen=True):
    """What one fact scan read, before and after, and how many partitions the table has."""

    table: str
    partitions: int | None
    before: TableScan | None
    after: TableScan | None


class Verified(Struct, frozen=True):
    """The result for one statement: the seconds of each run; the ``sample`` of facts that were not
    read whole; the bytes ``shuffled`` by both sides, if known. ``error`` is Spark's, or names the
    column that differs."""

    path: str
    line: int
    outcome: VerifyOutcome
    comparison: Comparison | None = None
    scans: tuple[ScanRead, ...] = ()
    seconds_before: tuple[float, ...] = ()
    seconds_after: tuple[float, ...] = ()
    sample: tuple[Sampled, ...] = ()
    error: str = ""
    shuffled: tuple[int, int] | None = None

    @property
    def medians(self) -> tuple[float, float]:
        """The median seconds before and after."""
        return median(self.seconds_before), median(self.seconds_after)


class How(Struct, frozen=True):
    """How statements are verified: ``runs`` of each side, ``timeout`` in seconds for a statement, a
    ``sample`` of so many partitions of each fact, relative ``tolerance`` of floating-point values.
    """

    runs: int = 1
    timeout: float | None = None
    sample: int | None = None
    tolerance: float = 0.0


ONCE = How()


def verify_text(
    session: Session,
    path: str,
    rewrite: Rewrite,
    catalog: Warehouse,
    keep: Callable[[Verified], None],
    how: How = ONCE,
    begin: Callable[[str], None] = lambda place: None,
) -> None:
    """Verifies the statements of a text that the rewriting changed: passes the place of each to
    ``begin``, then its result to ``keep``. Raises SparkError if it cannot go on: Spark is gone, a
    statement takes too long, or one fails on which later ones depend."""
    use(session, catalog)
    for pair in pairs(path, rewrite):
        catalog = known_after(path, pair.before.text, catalog)
        view = enter(session, pair)
        if not pair.changed:
            continue
        if not view and pair.before.kind is not StatementKind.QUERY:
            keep(Verified(path, pair.before.line, VerifyOutcome.SKIPPED))
            continue
        begin(pair.place)
        query = of_view(pair) if view else pair
        layout = frozenset(layout_columns(catalog))
        facts = partitioned(catalog) | layout
        with _time_limit(session, query, how.timeout) as over:
            if how.sample is None:
                keep(_Verifying(session, query, how, over, facts, layout).verified())
                continue
            try:
                with sampled(session, query, catalog, how.sample) as (smaller, taken):
                    keep(_Verifying(session, smaller, how, over, facts, layout, taken).verified())
            except SparkGoneError:
                raise
            except SparkError as error:
                raise SparkError(_hinted(session, str(error))) from error


def _hinted(session: Session, error: str) -> str:
    """The error, with a hint if a table is missing because an embedded Spark was used."""
    if not session.target.embedded or "_NOT_FOUND]" not in error:
        return error
    hint = "a local Spark has no tables of yours: give --master or --remote (or --conf, for a "
    return f"{error}\n{hint}metastore of your own)"


class _Side(Struct):
    """The runs of one side: their seconds, the scans of the last run, the first error."""

    text: str
    seconds: list[float]
    scans: list[TableScan]
    columns: BagColumns = ()
    error: str = ""
    shuffled: int | None = None


class _Verifying(Struct, frozen=True):
    """The comparison of one pair. ``over``: whether its time limit has passed. ``facts``: the last
    names of the tables whose scans are reported. ``layout``: the tables whose row groups are
    counted."""

    session: Session
    pair: QueryPair
    how: How
    over: Callable[[], bool]
    facts: frozenset[str]
    layout: frozenset[str]
    sample: tuple[Sampled, ...] = ()

    def verified(self) -> Verified:
        """Runs both sides, then compares their rows. Raises SparkError."""
        before, after = self._runs()
        if self.over():  # the time ran out between two jobs
            raise SparkError(self.pair.place)
        comparison: Comparison | None = None
        error = ""
        if before.error and after.error:
            outcome, error = VerifyOutcome.FAILED, f"Spark cannot run the query: {before.error}"
        elif after.error:
            outcome, error = VerifyOutcome.NEW_ERROR, after.error
        elif before.error:
            outcome, error = VerifyOutcome.ERROR_GONE, before.error
        elif before.columns != after.columns:
            outcome, error = VerifyOutcome.COLUMNS, _first_other(before.columns, after.columns)
        else:
            outcome, comparison, error = self._compared()
        old, new = before.shuffled, after.shuffled
        both = None if old is None or new is None else (old, new)
        return Verified(
            path=self.pair.path,
            line=self.pair.before.line,
            outcome=outcome,
            comparison=comparison,
            scans=tuple(_scan_pairs(self.session, before.scans, after.scans, self.sample)),
            seconds_before=tuple(before.seconds),
            seconds_after=tuple(after.seconds),
            sample=self.sample,
            error=_hinted(self.session, error),
            shuffled=both,
        )

    # Time, and what is read

    def _runs(self) -> tuple[_Side, _Side]:
        """Runs both sides in turn until an error, in alternating order."""
        before, after = (
            _Side(statement.text, [], []) for statement in (self.pair.before, self.pair.after)
        )
        for number in range(self.how.runs):
            for side in (before, after) if number % 2 == 0 else (after, before):
                self._run(side)
            if before.error or after.error:
                break
        return before, after

    def _run(self, side: _Side) -> None:
        try:
            with spark_errors(self.pair.place):
                frame = self.session.spark.sql(side.text)
                side.columns = columns(frame)
                start = time.perf_counter()
                ran = _executed(self.session, frame)
                side.seconds.append(time.perf_counter() - start)
                if self.session.classic:
                    side.scans[:] = fact_scans(ran, self.facts, self._row_groups)
                    side.shuffled = shuffled(ran)
                else:
                    side.scans[:] = reported_scans(ran, self.facts)
        except SparkError as error:
            side.error = self._placeless(error)

    def _row_groups(self, scan: Any) -> int | None:
        """The row groups that a scan has read, if its table has layout columns."""
        if last_name(scan) not in self.layout:
            return None
        groups = row_groups(self.session.spark, scan)
        return None if groups is None else groups.read

    def _placeless(self, error: SparkError) -> str:
        """An error's text without its place. Raises the error if it concerns more than the
        statement."""
        if isinstance(error, SparkGoneError) or self.over():
            raise error
        return str(error).removeprefix(f"{self.pair.place}: ")

    # The rows

    def _compared(self) -> tuple[VerifyOutcome, Comparison | None, str]:
        try:
            with spark_errors(f"{self.pair.place}: the rows cannot be compared"):
                return *self._judged(), ""
        except SparkError as error:
            return VerifyOutcome.FAILED, None, self._placeless(error)

    def _judged(self) -> tuple[VerifyOutcome, Comparison]:
        def both(old: str, new: str) -> Comparison:
            before, after = map(self.session.spark.sql, (old, new))
            return compare(before, after, self.how.tolerance)

        old, new = self.pair.before, self.pair.after
        comparison, text = both(old.text, new.text), old.text
        if comparison.same:
            return VerifyOutcome.SAME, comparison
        if old.endless is not None and new.endless is not None:
            comparison, limited = both(old.endless, new.endless), comparison
            if comparison.same:
                return VerifyOutcome.TIES, limited
            text = old.endless
        if not both(text, text).same:
            return VerifyOutcome.UNSTABLE, comparison
        return VerifyOutcome.DIFFERENT, comparison


def _first_other(before: BagColumns, after: BagColumns) -> str:
    """The first difference between the columns of two results."""
    if len(before) != len(after):
        return f"{len(before)} columns before, {len(after)} after"
    both = enumerate(zip(before, after, strict=True), 1)
    number, (old, new) = next((at, columns) for at, columns in both if columns[0] != columns[1])
    return f"column {number} was {' '.join(old)} and is {' '.join(new)}"


# What a run is, and what it read


def _executed(session: Session, frame: DataFrame) -> DataFrame:
    """Runs a query without collecting its rows; returns the frame that has the metrics."""
    if session.classic:  # runs this plan object, whose metrics can be read afterwards
        rows = frame._jdf.queryExecution().toRdd().toJavaRDD()
        # Without coalesce, an interpreting Spark does not compute rows that are only counted.
        rows.coalesce(max(1, rows.getNumPartitions())).count()
        return frame
    hashed = _hashed(frame)
    if hashed is None:
        frame.write.format("noop").mode("overwrite").save()
        return frame
    hashed.collect()
    return hashed


def _hashed(frame: DataFrame) -> DataFrame | None:
    """A frame with one row computed from all rows, with which Connect sends the metrics; None if a
    type cannot be hashed."""
    kinds = [field.dataType.simpleString() for field in frame.schema.fields]
    if not hasattr(type(frame), "executionInfo") or any(
        kind in " ".join(kinds) for kind in _UNHASHED
    ):
        return None
    names = [f"c{number}" for number in range(len(kinds))]
    return frame.toDF(*names).agg(f.bit_xor(f.xxhash64(*names)))


def _scan_pairs(
    session: Session,
    before: Sequence[TableScan],
    after: Sequence[TableScan],
    sample: Sequence[Sampled],
) -> Iterator[ScanRead]:
    """The scans of both runs in pairs: of the same table, in the order of the plan."""
    taken = {fact.table: len(fact.taken) for fact in sample if not fact.whole}
    tables = dict.fromkeys(scan.qualified for scan in (*before, *after))
    for table in tables:
        old = [scan for scan in before if scan.qualified == table]
        new = [scan for scan in after if scan.qualified == table]
        partitions = taken.get(table) or _partitions(session, table)
        yield from (ScanRead(table, partitions, *pair) for pair in zip_longest(old, new))


def _partitions(session: Session, table: str) -> int | None:
    try:
        with spark_errors("no partitions"):
            name = literal_name(tuple(table.split(".")))
            return int(session.spark.sql(f"SHOW PARTITIONS {name}").count())
    except SparkError:
        return None


@contextmanager
def _time_limit(
    session: Session, pair: QueryPair, seconds: float | None
) -> Iterator[Callable[[], bool]]:
    """Cancels the jobs that run inside when the time is over; yields a function that says whether
    the time is over."""
    over, ended = Event(), Event()

    def stop() -> None:
        over.set()
        while not ended.is_set():  # again and again: between two jobs nothing can be cancelled
            if session.classic:
                session.spark.sparkContext.cancelAllJobs()
            else:
                session.spark.interruptAll()
            ended.wait(0.2)

    timer = Timer(0.0 if seconds is None else seconds, stop)
    timer.daemon = True
    if seconds is not None:
        timer.start()
    try:
        yield over.is_set
    except SparkError as error:
        if over.is_set():
            raise SparkError(f"{pair.place}: stopped after {seconds:g} s (--timeout)") from error
        raise
    finally:
        ended.set()
        timer.cancel()
