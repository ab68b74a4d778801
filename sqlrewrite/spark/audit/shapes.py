"""``audit`` as a Spark job: a history in, one row for each distinct shape out.

1. Each text is folded to the fingerprint of its shape, and Spark counts by it. No text is shuffled.
2. For each shape that is not judged yet one text is picked, the same one for the same input.
3. These texts are judged in rounds. Each round is written when it is done, so that a job that was
   cut off continues there, and a later job over a longer history judges only what is new.
4. Counts and judgements are joined and written; ``summary.py`` reads them.

The work is done by plain Python functions, without pandas or Arrow, so that a cluster needs nothing
but this package.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass
from functools import reduce
from hashlib import blake2b
from operator import and_
from typing import TYPE_CHECKING, Any

import sqlrewrite
from sqlrewrite.audit.text import TEXT, folded, judged
from sqlrewrite.settings.options import Options
from sqlrewrite.spark import functions as f
from sqlrewrite.spark.session import Session, spark_errors, tried
from sqlrewrite.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

PER_ROUND = 10_000
"""How many shapes are judged before they are written."""

SCANS = (
    "array<struct<fact: string, alias: string, column: string, dimension: string, key: string, "
    "verdict: string, code: string, reason: string, only: boolean, predicate: string, "
    "partitions: bigint, kept: bigint>>"
)
_JUDGED = (
    f"struct<outcome: string, reason: string, rewritten: string, scans: {SCANS}, "
    "unknown: array<string>>"
)
_DECIDED = (
    f"shape string, schema string, outcome string, reason string, rewritten string, scans {SCANS}, "
    "unknown array<string>, text string, made string"
)


@dataclass(frozen=True, slots=True)
class AuditJob:
    """How a history is judged: ``place`` is the folder of the result, ``timeout`` the seconds for
    one text, ``per_round`` the shapes that are written at a time."""

    catalog: Warehouse
    options: Options
    place: str
    timeout: float = 10.0
    per_round: int = PER_ROUND

    @property
    def made(self) -> str:
        """A hash of all that a judgement depends on besides its text and schema."""
        catalog, wanted = self.catalog, self.options
        depends_on = (
            sqlrewrite.__version__,
            sorted(catalog.relations.items()),
            catalog.namespace,
            sorted(catalog.references.items()),
            sorted(catalog.settings.items()),
            sorted(catalog.variables.items()),
            sorted((name, sorted(it.items())) for name, it in catalog.declared.items()),
            (sorted(catalog.forgotten), catalog.zone_set, wanted.time_zone),
            wanted.engine.name,
            [sorted(it) if isinstance(it, frozenset) else it for it in astuple(wanted.engine)],
            (wanted.form, wanted.when, wanted.hint, wanted.reach, wanted.key_limit),
            (wanted.limits, sorted(wanted.functions.items()), sorted(wanted.disabled)),
        )
        return blake2b(
            repr(depends_on).encode("utf-8", "surrogatepass"), digest_size=16
        ).hexdigest()


@dataclass(frozen=True, slots=True)
class Counts:
    """How many shapes there are, and how many of them this run has judged."""

    shapes: int
    decided: int


OnStep = Callable[[str], None]
"""Called with each step as it begins, for people."""


def decide_shapes(session: Session, history: DataFrame, job: AuditJob, told: OnStep) -> Counts:
    """Judges the shapes that are new in a history, and writes all of them. Raises SparkError."""
    most = job.options.limits.statement + 1  # one more than is judged: longer texts cost memory
    text, schema = f.substring("text", 1, most), f.col("schema")
    history = history.withColumns({"text": _readable(text), "schema": _readable(schema)})
    with spark_errors("the audit cannot be done"):
        told("counting shapes")
        counted = _kept(_counted(history), f"{job.place}/work/counted")
        told("looking for what is new")
        known = _decided(session, job)
        texts = counted.where(f"what = '{TEXT}'")
        both = texts.join(known, _same(texts, known), "left")
        shapes, before = both.agg(f.count(f.lit(1)), f.count(known["made"])).collect()[0]
        count = shapes - before
        if count:
            told(f"picking {count:,} texts")
            new = texts.join(known, _same(texts, known), "left_anti")
            picked = _picked(history, new, count, f"{job.place}/work/texts")
            _decide(session, job, picked, count, told)
        told("writing the result")
        known = _decided(session, job)
        joined = counted.join(known, _same(counted, known), "left")
        joined = joined.select(counted["*"], *(known[it] for it in _RESULT))
        joined.write.mode("overwrite").parquet(f"{job.place}/shapes")
        return Counts(shapes, count)


def _kept(frame: DataFrame, place: str) -> DataFrame:
    """A frame after it was written and read again, with its schema, so that no file is opened."""
    frame.write.mode("overwrite").parquet(place)
    return frame.sparkSession.read.schema(frame.schema).parquet(place)


def _readable(column: Column) -> Column:
    """A text without bytes that are not UTF-8, which Arrow, as Connect uses it, does not read."""
    return f.decode(f.encode(column, "UTF-8"), "UTF-8")


_RESULT = ("outcome", "reason", "rewritten", "scans", "unknown", "text")


def _same(one: DataFrame, other: DataFrame) -> Column:
    alike = (one[it].eqNullSafe(other[it]) for it in ("shape", "schema"))
    return reduce(and_, alike)


def _counted(history: DataFrame) -> DataFrame:
    """The runs of each shape, and the row whose text represents it: that of the smallest hash, and
    the first of these."""
    fold = f.udf(folded, "string", useArrow=False)
    rows = _numbered(history).withColumn("folded", fold("text"))
    return (
        rows.groupBy("folded", "schema")
        .agg(
            f.count(f.lit(1)).alias("runs"),
            f.count_distinct("user").alias("users"),
            f.expr(
                "try_sum(bytes) AS bytes"
            ),  # NULL where wrong values add up to more than a BIGINT
            f.expr("try_sum(micros) AS micros"),
            f.min("at").alias("first"),
            f.max("at").alias("last"),
            f.min(f.struct("hash", "row")).alias("stands"),
        )
        .withColumn("what", f.substring_index("folded", ":", 1))
        .withColumn("shape", f.substring_index("folded", ":", -1))
        .drop("folded")
    )


def _numbered(history: DataFrame) -> DataFrame:
    """The rows with a number, the same whenever the same files are read, and their text's hash."""
    numbered = history.withColumn("row", f.monotonically_increasing_id())
    return numbered.withColumn("hash", f.xxhash64("text"))


def _picked(history: DataFrame, new: DataFrame, count: int, place: str) -> DataFrame:
    """Writes the text of each of ``count`` new shapes, found by the number and hash of its row. If
    an input gives its rows in another order each time, some are missed; these are found by their
    hash alone, for which texts are shuffled."""
    wanted = new.select("shape", "schema", "stands.hash", "stands.row")
    rows = _numbered(history).select("row", "hash", "text")
    found = rows.join(f.broadcast(wanted), ["row", "hash"])
    known = _kept(found.select("shape", "schema", "text"), place)
    if known.count() < count:
        missing = wanted.join(known, _same(wanted, known), "left_anti").drop("row")
        alike = rows.drop("row").join(f.broadcast(missing), "hash").groupBy("shape", "schema")
        alike.agg(f.min("text").alias("text")).write.mode("append").parquet(place)
        known = known.sparkSession.read.schema(known.schema).parquet(place)
    return known


def _decide(session: Session, job: AuditJob, texts: DataFrame, count: int, told: OnStep) -> None:
    """Judges the texts, round by round."""
    judge = f.udf(_Judge(job.catalog, job.options, job.timeout), _JUDGED, useArrow=False)
    rounds = -(-count // job.per_round)
    tasks = _tasks(session)
    for number in range(rounds):
        told(f"deciding {count:,} shapes, round {number + 1} of {rounds}")
        some = texts.where(f.pmod(f.xxhash64("shape"), f.lit(rounds)) == number)
        (
            some.repartition(tasks)
            .withColumn("judged", judge("text", "schema"))
            .select("shape", "schema", "judged.*", "text", f.lit(job.made).alias("made"))
            .write.mode("append")
            .parquet(f"{job.place}/decided")
        )


def _tasks(session: Session) -> int:
    """The number of tasks: several for each core, so that few wait for a slow text."""
    if session.classic:
        return 4 * session.spark.sparkContext.defaultParallelism
    return 4 * int(session.spark.conf.get("spark.sql.shuffle.partitions") or 50)


class _Judge:
    """Judges a text on any machine; Spark sends it there once a task, or once a machine if it is
    large."""

    def __init__(self, catalog: Warehouse, options: Options, timeout: float) -> None:
        self._given = catalog, options, timeout
        self._version = sqlrewrite.__version__

    def __call__(self, text: str, schema: str | None) -> tuple[Any, ...]:
        catalog, options, timeout = self._given
        if self._version != sqlrewrite.__version__:  # another version may judge otherwise
            here = f"dpp-rewrite {sqlrewrite.__version__}"
            raise RuntimeError(f"{here} is on this machine, and {self._version} on the driver's")
        found = judged(text, schema, catalog, options, timeout)
        scans = [astuple(it) for it in found.scans]
        return found.outcome, found.reason, found.rewritten, scans, [*found.unknown]


def _decided(session: Session, job: AuditJob) -> DataFrame:
    """The judgements of this and earlier runs with the same catalog and options."""
    with tried():
        found = session.spark.read.schema(_DECIDED).parquet(f"{job.place}/decided")
        _ = found.schema  # makes Connect look whether the folder exists
        return found.where(found["made"] == job.made).dropDuplicates(["shape", "schema"])
    nothing = session.spark.range(1).where("false")  # the first run
    return nothing.select(f.from_json(f.lit("{}"), _DECIDED).alias("all")).select("all.*")
