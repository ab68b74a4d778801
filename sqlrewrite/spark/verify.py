"""Runs a query and its rewriting: the same rows? And what did the fact scans read, in what time?

In comes a pair of texts, out goes a ``Verified``. Only queries are run, never a statement that may
write. A LIMIT keeps any of several rows that its ORDER BY calls equal, and some queries give other
rows each time: such a difference is none of the rewriting's, and is told apart here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from statistics import median
from threading import Timer
from typing import TYPE_CHECKING

from sqlrewrite.frozen import dataclass
from sqlrewrite.model import Rewrite
from sqlrewrite.schema import Catalog
from sqlrewrite.spark.bags import Comparison, compare
from sqlrewrite.spark.pairs import Pair, enter, known_after, pairs, use
from sqlrewrite.spark.sample import Sampled, sampled
from sqlrewrite.spark.scans import TableScan, partitioned_scans, reported_scans
from sqlrewrite.spark.session import Session, literal_name, spark_errors
from sqlrewrite.spark.target import SparkError
from sqlrewrite.sql.queries import Kind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


_UNHASHED = ("map<", "variant")


class Outcome(Enum):
    """What the comparison came to."""

    SAME = "same rows"
    TIES = "same rows but for ties at the LIMIT"
    DIFFERENT = "different rows"
    UNSTABLE = "undecided: the query itself gives other rows each time"
    SKIPPED = "not run: it may write, and only queries are run"


@dataclass(frozen=True, slots=True)
class ScanRead:
    """What one fact scan read, before and after, and how many partitions the table has."""

    table: str
    partitions: int | None
    before: TableScan | None
    after: TableScan | None


@dataclass(frozen=True, slots=True)
class Verified:
    """One statement, verified; seconds are those of each run, in order, ``sample`` what was taken
    of its facts where they were not read whole."""

    path: str
    line: int
    outcome: Outcome
    comparison: Comparison | None = None
    scans: tuple[ScanRead, ...] = ()
    seconds_before: tuple[float, ...] = ()
    seconds_after: tuple[float, ...] = ()
    sample: tuple[Sampled, ...] = ()

    @property
    def medians(self) -> tuple[float, float]:
        """The median seconds of both sides."""
        return median(self.seconds_before), median(self.seconds_after)


def verify_text(
    session: Session,
    path: str,
    rewrite: Rewrite,
    catalog: Catalog,
    keep: Callable[[Verified], None],
    *,
    runs: int = 1,
    timeout: float | None = None,
    sample: int | None = None,
) -> None:
    """Verifies the statements of a text in which something was inserted, and hands each to
    ``keep``; on ``sample`` partitions of each fact, where given. Raises SparkError, also for a
    statement that takes longer than ``timeout`` seconds."""
    with _hinted(session):
        use(session, catalog)
        for pair in pairs(path, rewrite):
            catalog = known_after(path, pair.before.text, catalog)
            if enter(session, pair) or not pair.changed:
                continue
            if pair.before.kind is not Kind.QUERY:
                keep(Verified(path, pair.before.line, Outcome.SKIPPED))
                continue
            with _time_limit(session, pair, timeout):
                if sample is None:
                    keep(_verified(session, pair, runs))
                    continue
                with sampled(session, pair, catalog, sample) as (smaller, taken):
                    keep(_verified(session, smaller, runs, taken))


@contextmanager
def _hinted(session: Session) -> Iterator[None]:
    """Says what to do where a table is missing because no Spark that has it was named."""
    try:
        yield
    except SparkError as error:
        if not session.target.embedded or "_NOT_FOUND]" not in str(error):
            raise
        hint = "this Spark of our own has no tables: give --master or --remote (or --conf, for a "
        raise SparkError(f"{error}\n{hint}metastore of your own)") from error


def _verified(
    session: Session, pair: Pair, runs: int, sample: tuple[Sampled, ...] = ()
) -> Verified:
    before, after = _alternating(session, pair, runs)
    outcome, comparison = _compared(session, pair)
    return Verified(
        path=pair.path,
        line=pair.before.line,
        outcome=outcome,
        comparison=comparison,
        scans=tuple(_in_pairs(session, before.scans, after.scans, sample)),
        seconds_before=tuple(before.seconds),
        seconds_after=tuple(after.seconds),
        sample=sample,
    )


# The rows


def _compared(session: Session, pair: Pair) -> tuple[Outcome, Comparison]:
    def frame(text: str) -> DataFrame:
        with spark_errors(f"{pair.place}: Spark cannot run the query"):
            return session.spark.sql(text)

    with spark_errors(f"{pair.place}: the rows cannot be compared"):
        found = compare(frame(pair.before.text), frame(pair.after.text))
        if found.same:
            return Outcome.SAME, found
        old, new = pair.before.endless, pair.after.endless
        if old is not None and new is not None:
            whole = compare(frame(old), frame(new))
            if whole.same:
                return Outcome.TIES, found
            found = whole
            text = old
        else:
            text = pair.before.text
        if not compare(frame(text), frame(text)).same:
            return Outcome.UNSTABLE, found
        return Outcome.DIFFERENT, found


# Time, and what is read


@dataclass(frozen=True, slots=True)
class _Runs:
    """The runs of one side: their seconds, and the scans of the last."""

    text: str
    what: str
    seconds: list[float]
    scans: list[TableScan]


def _alternating(session: Session, pair: Pair, runs: int) -> tuple[_Runs, _Runs]:
    """Runs both sides in turn, each first every other time, so that a slow moment hits both."""
    before = _Runs(pair.before.text, f"{pair.place}: Spark cannot run the query", [], [])
    after = _Runs(pair.after.text, f"{pair.place}: Spark cannot run the rewritten query", [], [])
    for number in range(runs):
        for side in (before, after) if number % 2 == 0 else (after, before):
            with spark_errors(side.what):
                frame = session.spark.sql(side.text)
                start = time.perf_counter()
                ran = _run(session, frame)
                side.seconds.append(time.perf_counter() - start)
                side.scans[:] = partitioned_scans(ran) if session.classic else reported_scans(ran)
    return before, after


def _run(session: Session, frame: DataFrame) -> DataFrame:
    """Runs a query to its end, and leaves its rows where they are; returns what knows its scans."""
    if session.classic:  # this very plan, so that its metrics can be read
        frame._jdf.queryExecution().toRdd().count()
        return frame
    hashed = _hashed(frame)
    if hashed is None:
        frame.write.format("noop").mode("overwrite").save()
        return frame
    hashed.collect()
    return hashed


def _hashed(frame: DataFrame) -> DataFrame | None:
    """One row made of all columns of all rows: Connect tells what was read of what is collected
    alone. None where a column cannot be hashed, or Connect is older than that."""
    from pyspark.sql import functions as f

    kinds = [it.dataType.simpleString() for it in frame.schema.fields]
    if not hasattr(type(frame), "executionInfo") or any(it in " ".join(kinds) for it in _UNHASHED):
        return None
    names = [f"c{number}" for number in range(len(kinds))]
    return frame.toDF(*names).agg(f.bit_xor(f.xxhash64(*names)))


def _in_pairs(
    session: Session,
    before: Sequence[TableScan],
    after: Sequence[TableScan],
    sample: Sequence[Sampled],
) -> Iterator[ScanRead]:
    """The scans of both runs in pairs, table by table and in the order of the plan."""
    taken = {it.table: len(it.taken) for it in sample if not it.whole}
    tables = dict.fromkeys(it.qualified for it in (*before, *after))
    for table in tables:
        old = [it for it in before if it.qualified == table]
        new = [it for it in after if it.qualified == table]
        partitions = taken.get(table) or _partitions(session, table)
        for number in range(max(len(old), len(new))):
            yield ScanRead(
                table,
                partitions,
                old[number] if number < len(old) else None,
                new[number] if number < len(new) else None,
            )


def _partitions(session: Session, table: str) -> int | None:
    try:
        with spark_errors("no partitions"):
            name = literal_name(tuple(table.split(".")))
            return int(session.spark.sql(f"SHOW PARTITIONS {name}").count())
    except SparkError:
        return None


@contextmanager
def _time_limit(session: Session, pair: Pair, seconds: float | None) -> Iterator[None]:
    """Stops what runs inside when its time is over."""
    if seconds is None:
        yield
        return
    over: list[bool] = []

    def stop() -> None:
        over.append(True)
        while not done:  # between two jobs there is nothing to stop: the next one is
            if session.classic:
                session.spark.sparkContext.cancelAllJobs()
            else:
                session.spark.interruptAll()
            time.sleep(0.2)

    done: list[bool] = []
    timer = Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    except SparkError as error:
        if over:
            raise SparkError(f"{pair.place}: stopped after {seconds:g} s (--timeout)") from error
        raise
    finally:
        done.append(True)
        timer.cancel()
