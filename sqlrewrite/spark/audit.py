"""``audit`` as a Spark job: a history in, one row for each distinct shape out, and a summary.

1. Each text is reduced to the fingerprint of its shape, and Spark counts by it. No text is
shuffled.
2. For each shape that is not judged yet one text is picked; the same one for the same input.
3. These texts are judged in rounds. Each round is written when it ends, so that an interrupted job
continues there, and a later job over a longer history judges only new shapes.
4. Counts and judgements are joined and written. Only the first rows of each list are brought to the
driver, so that its memory does not grow with the history.

All work is done by plain Python functions, without pandas or Arrow, so that a cluster needs only
this package.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from functools import cache, reduce
from hashlib import blake2b
from itertools import count
from operator import and_
from typing import TYPE_CHECKING, Any

import sqlrewrite
from sqlrewrite.audit.audit_summary import (
    AuditedShape,
    AuditSummary,
    ColumnReason,
    FactSummary,
    KeptPartitions,
    Total,
)
from sqlrewrite.audit.judged_text import TEXT, folded, judged
from sqlrewrite.copies import replace
from sqlrewrite.settings.options import Options
from sqlrewrite.spark import column_functions as f
from sqlrewrite.spark.describe import partitions
from sqlrewrite.spark.session import Session, fresh, spark_errors, tried
from sqlrewrite.spark.target import SparkError
from sqlrewrite.warehouse import Warehouse, literal_name

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row, SparkSession


PER_ROUND = 10_000
"""The number of shapes that are judged before their judgements are written."""

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
    one text, ``per_round`` the number of shapes that are written at a time."""

    catalog: Warehouse
    options: Options
    place: str
    timeout: float = 10.0
    per_round: int = PER_ROUND

    @property
    def judged_by(self) -> str:
        """A hash of everything that a judgement depends on besides its text and schema."""
        catalog, options = self.catalog, self.options
        depends_on = (
            sqlrewrite.__version__,
            sorted(catalog.relations.items()),
            catalog.namespace,
            sorted(catalog.references.items()),
            sorted(catalog.settings.items()),
            sorted(catalog.variables.items()),
            sorted((name, sorted(columns.items())) for name, columns in catalog.declared.items()),
            (sorted(catalog.forgotten), catalog.zone_set, options.time_zone),
            options.engine.name,
            [
                sorted(value) if isinstance(value, frozenset) else value
                for value in astuple(options.engine)
            ],
            (options.form, options.when, options.hint, options.reach, options.key_limit),
            (options.limits, sorted(options.functions.items()), sorted(options.disabled)),
        )
        return blake2b(
            repr(depends_on).encode("utf-8", "surrogatepass"), digest_size=16
        ).hexdigest()


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of shapes, and of those that this run has judged."""

    shapes: int
    decided: int


OnStep = Callable[[str], None]
"""Called with a description of each step as it begins."""


def decide_shapes(session: Session, history: DataFrame, job: AuditJob, step: OnStep) -> Counts:
    """Judges the shapes that are new in a history, and writes all of them. Raises SparkError."""
    most = job.options.limits.statement + 1  # longer texts are not judged: do not read all of them
    text, schema = f.substring("text", 1, most), f.col("schema")
    history = history.withColumns({"text": _readable(text), "schema": _readable(schema)})
    with spark_errors("the audit cannot be done"):
        step("counting shapes")
        counted = _kept(_counted(history), f"{job.place}/work/counted")
        step("looking for what is new")
        decided = _decided(session, job)
        texts = counted.where(f"what = '{TEXT}'")
        both = texts.join(decided, _same(texts, decided), "left")
        shapes, before = both.agg(f.count(f.lit(1)), f.count(decided["made"])).collect()[0]
        count = shapes - before
        if count:
            step(f"picking {count:,} texts")
            new = texts.join(decided, _same(texts, decided), "left_anti")
            picked = _picked(history, new, count, f"{job.place}/work/texts")
            _decide(session, job, picked, count, step)
        step("writing the result")
        decided = _decided(session, job)
        joined = counted.join(decided, _same(counted, decided), "left")
        joined = joined.select(counted["*"], *(decided[column] for column in _RESULT))
        joined.write.mode("overwrite").parquet(f"{job.place}/shapes")
        return Counts(shapes, count)


def _kept(frame: DataFrame, place: str) -> DataFrame:
    """The frame, written to a folder and read back with its schema, so that Spark need not infer it
    from files."""
    frame.write.mode("overwrite").parquet(place)
    return frame.sparkSession.read.schema(frame.schema).parquet(place)


def _readable(column: Column) -> Column:
    """A text without bytes that are not UTF-8: Arrow, which Connect uses, cannot read them."""
    return f.decode(f.encode(column, "UTF-8"), "UTF-8")


_RESULT = ("outcome", "reason", "rewritten", "scans", "unknown", "text")


def _same(one: DataFrame, other: DataFrame) -> Column:
    alike = (one[column].eqNullSafe(other[column]) for column in ("shape", "schema"))
    return reduce(and_, alike)


def _counted(history: DataFrame) -> DataFrame:
    """The runs of each shape, and the row whose text represents it: the one with the smallest
    hash."""
    fold = f.udf(folded, "string", useArrow=False)
    rows = _numbered(history).withColumn("folded", fold("text"))
    return (
        rows.groupBy("folded", "schema")
        .agg(
            f.count(f.lit(1)).alias("runs"),
            f.count_distinct("user").alias("users"),
            # NULL if wrong values add up to more than a BIGINT.
            f.expr("try_sum(bytes) AS bytes"),
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
    """The rows with their texts' hashes and a number, which is the same whenever the same files are
    read."""
    numbered = history.withColumn("row", f.monotonically_increasing_id())
    return numbered.withColumn("hash", f.xxhash64("text"))


def _picked(history: DataFrame, new: DataFrame, count: int, place: str) -> DataFrame:
    """Writes the text of each of ``count`` new shapes, found by the number and hash of its row. If
    an input returns its rows in another order each time, it is found by its hash alone, which
    shuffles texts."""
    stands = new.select("shape", "schema", "stands.hash", "stands.row")
    rows = _numbered(history).select("row", "hash", "text")
    texts = rows.join(f.broadcast(stands), ["row", "hash"])
    picked = _kept(texts.select("shape", "schema", "text"), place)
    if picked.count() < count:
        missing = stands.join(picked, _same(stands, picked), "left_anti").drop("row")
        alike = rows.drop("row").join(f.broadcast(missing), "hash").groupBy("shape", "schema")
        alike.agg(f.min("text").alias("text")).write.mode("append").parquet(place)
        picked = picked.sparkSession.read.schema(picked.schema).parquet(place)
    return picked


def _decide(session: Session, job: AuditJob, texts: DataFrame, count: int, step: OnStep) -> None:
    """Judges the texts, round by round."""
    judge = f.udf(_Judge(job.catalog, job.options, job.timeout), _JUDGED, useArrow=False)
    rounds = -(-count // job.per_round)
    if session.classic:
        cores = session.spark.sparkContext.defaultParallelism
    else:
        cores = int(session.spark.conf.get("spark.sql.shuffle.partitions") or 50)
    tasks = 4 * cores  # several for each core, so that few wait for a slow text
    for number in range(rounds):
        step(f"deciding {count:,} shapes, round {number + 1} of {rounds}")
        some = texts.where(f.pmod(f.xxhash64("shape"), f.lit(rounds)) == number)
        (
            some.repartition(tasks)
            .withColumn("judged", judge("text", "schema"))
            .select("shape", "schema", "judged.*", "text", f.lit(job.judged_by).alias("made"))
            .write.mode("append")
            .parquet(f"{job.place}/decided")
        )


class _Judge:
    """Judges a text on any machine; Spark sends the object there once for each task."""

    def __init__(self, catalog: Warehouse, options: Options, timeout: float) -> None:
        self._given = catalog, options, timeout
        self._version = sqlrewrite.__version__

    def __call__(self, text: str, schema: str | None) -> tuple[Any, ...]:
        catalog, options, timeout = self._given
        if (
            self._version != sqlrewrite.__version__
        ):  # another version of the package may judge otherwise
            here = f"dpp-rewrite {sqlrewrite.__version__}"
            raise RuntimeError(f"{here} is on this machine, and {self._version} on the driver's")
        judgement = judged(text, schema, catalog, options, timeout)
        scans = [astuple(scan) for scan in judgement.scans]
        return judgement.outcome, judgement.reason, judgement.rewritten, scans, [*judgement.unknown]


def _decided(session: Session, job: AuditJob) -> DataFrame:
    """The judgements of this and earlier runs with the same catalog and options."""
    with tried():
        earlier = session.spark.read.schema(_DECIDED).parquet(f"{job.place}/decided")
        _ = earlier.schema  # over Connect, this checks whether the folder exists
        return earlier.where(earlier["made"] == job.judged_by).dropDuplicates(["shape", "schema"])
    nothing = session.spark.range(1).where("false")  # the first run
    return nothing.select(f.from_json(f.lit("{}"), _DECIDED).alias("all")).select("all.*")


MOST = 100
"""How many tables and reasons are brought to the driver: those with the most bytes."""

Listed = Callable[[str], tuple[str, int]]
"""A view of the partitions of each table, and how many there are, by the table's name."""

_PARTITIONS = "dpp_rewrite_partitions"


def summarize(session: Session, place: str, counts: Counts, top: int) -> AuditSummary:
    """The summary of an audit in a folder. Raises SparkError."""
    with spark_errors("the result of the audit cannot be read"):
        shapes = session.spark.read.parquet(f"{place}/shapes")
        shapes = shapes.withColumn("outcome", f.coalesce("outcome", "what"))
        totals = _totals(shapes, "outcome")
        sizes = [total.bytes for total in totals if total.bytes is not None]
        return AuditSummary(
            shapes=counts.shapes,
            decided=counts.decided,
            runs=sum(total.runs for total in totals),
            bytes=sum(sizes) if sizes else None,
            totals=totals,
            not_judged=_totals(shapes.where("reason <> ''"), "reason"),
            top=_top(shapes, top),
            facts=_facts(shapes),
            reasons=_reasons(shapes),
            unknown=_totals(shapes.withColumn("name", f.explode("unknown")), "name"),
        )


def _totals(shapes: DataFrame, column: str) -> tuple[Total, ...]:
    rows = _sums(shapes, column).orderBy(*_most(), column).limit(MOST).collect()
    return tuple(Total(row[column], row["n"], row["r"], row["b"], row["m"]) for row in rows)


def _sums(rows: DataFrame, *columns: str, beside: Sequence[Column] = ()) -> DataFrame:
    return rows.groupBy(*columns).agg(
        f.count(f.lit(1)).alias("n"),
        f.sum("runs").alias("r"),
        f.expr("try_sum(bytes) AS b"),
        f.expr("try_sum(micros) AS m"),
        *beside,
    )


def _most() -> Sequence[Any]:
    """The order of lists: by bytes, or by runs if bytes are unknown; the most first."""
    return f.col("b").desc_nulls_last(), f.col("r").desc()


def _top(shapes: DataFrame, top: int) -> tuple[AuditedShape, ...]:
    order = (f.col("bytes").desc_nulls_last(), f.col("micros").desc_nulls_last())
    rewritten = shapes.where("outcome = 'rewritten'")
    rows = rewritten.orderBy(*order, f.col("runs").desc(), "shape", "schema").limit(top).collect()
    return tuple(map(_audited_shape, rows))


def _audited_shape(row: Row) -> AuditedShape:
    """A shape that gets predicates, with the partitions that they keep according to statistics, if
    known."""
    scans = tuple(
        KeptPartitions(
            scan["fact"], scan["alias"], scan["predicate"], scan["partitions"], scan["kept"]
        )
        for scan in row["scans"]
        if scan["verdict"] == "rewritten"
    )
    plain = ("shape", "schema", "runs", "users", "bytes", "micros", "text", "rewritten")
    shape = AuditedShape(**{name: row[name] for name in plain}, scans=scans)
    if any(scan.kept is None for scan in scans):
        return shape
    how = "by the catalog's statistics of columns, all partitions taken to be of one size"
    return _saving(shape, scans, f"estimated {how}")


def _saving(shape: AuditedShape, scans: tuple[KeptPartitions, ...], how: str) -> AuditedShape:
    """The shape with the share of partitions that its scans need not read."""
    kept, total = sum(scan.kept or 0 for scan in scans), sum(scan.total or 0 for scan in scans)
    if not total:
        return replace(shape, scans=scans, how="not known: there are no partitions")
    return replace(shape, scans=scans, saved=1 - kept / total, how=how)


def _scans(shapes: DataFrame) -> DataFrame:
    """The scans of all shapes, a row each, with the shape's runs and bytes."""
    rows = shapes.select(
        "shape", "schema", "runs", "bytes", "micros", f.explode("scans").alias("s")
    )
    return rows.select("shape", "schema", "runs", "bytes", "micros", "s.*")


def _facts(shapes: DataFrame) -> tuple[FactSummary, ...]:
    """The fact tables; a shape with several scans of one counts once, with the best verdict."""
    rank = f.when(f.col("verdict") == "rewritten", 2)
    rank = rank.when(f.col("verdict") != "rejected", 1).otherwise(0)
    scans = _scans(shapes).withColumn("rank", rank)
    each = scans.groupBy("shape", "schema", "fact", "runs", "bytes").agg(
        f.max("rank").alias("rank")
    )
    counted = (f.sum(f.when(f.col("rank") == number, f.col("runs"))) for number in range(3))
    named = [count.alias(name) for count, name in zip(counted, ("r0", "r1", "r2"), strict=True)]
    sums = (f.expr("try_sum(bytes) AS b"), f.sum("runs").alias("r"))
    tables = each.groupBy("fact").agg(*named, *sums)
    rows = tables.orderBy(*_most(), "fact").limit(MOST).collect()
    bound = scans.where("rank > 0").dropDuplicates(["shape", "schema", "fact", "dimension"])
    bound = bound.groupBy("fact", "dimension").agg(f.sum("runs").alias("r"))
    of_these = bound.where(f.col("fact").isin([row["fact"] for row in rows]))
    by: dict[str, list[tuple[str, int]]] = {}
    for pair in of_these.orderBy("fact", f.col("r").desc(), "dimension").limit(MOST * 10).collect():
        by.setdefault(pair["fact"], []).append((pair["dimension"], pair["r"]))
    return tuple(
        FactSummary(name, best or 0, pruned or 0, none or 0, read, tuple(by.get(name, ())))
        for name, none, pruned, best, read, _ in rows
    )


def _reasons(shapes: DataFrame) -> tuple[ColumnReason, ...]:
    """The reasons that alone prevent predicates, each in the words of one of its shapes."""
    alone = _scans(shapes).where("verdict = 'rejected' AND only")
    keys = ("fact", "column", "code")
    each = alone.groupBy("shape", "schema", *keys, "runs", "bytes", "micros").agg(
        f.min("reason").alias("reason")
    )
    reason = f.min("reason").alias("reason")
    rows = _sums(each, *keys, beside=[reason]).orderBy(*_most(), *keys).limit(MOST)
    return tuple(
        ColumnReason(
            row["fact"], row["column"], row["code"], row["reason"], row["n"], row["r"], row["b"]
        )
        for row in rows.collect()
    )


# --- what predicates keep


def measured(session: Session, summary: AuditSummary) -> AuditSummary:
    """The summary with the partitions that the predicates of its top shapes keep now."""
    copy = fresh(session)

    numbers = count()

    @cache
    def listed(fact: str) -> tuple[str, int]:
        return _listed(copy.spark, fact, f"{_PARTITIONS}_{next(numbers)}")

    return replace(summary, top=tuple(_measured(copy, shape, listed) for shape in summary.top))


def _measured(session: Session, shape: AuditedShape, listed: Listed) -> AuditedShape:
    try:
        if shape.schema:
            with spark_errors(f"USE {shape.schema}"):
                session.spark.sql(f"USE {literal_name(tuple(shape.schema.split('.')))}")
        scans = tuple(_kept_partitions(session.spark, scan, listed) for scan in shape.scans)
    except SparkError as error:
        before = "not known" if shape.saved is None else f"{shape.how}; not measured"
        return replace(shape, how=f"{before}: {error}")
    how = "each predicate over SHOW PARTITIONS, all partitions taken to be of one size"
    return _saving(shape, scans, how)


def _listed(spark: SparkSession, fact: str, view: str) -> tuple[str, int]:
    """A view of a table's partitions, and how many there are. Raises SparkError."""
    with spark_errors(f"{fact}: its partitions cannot be listed"):
        table = literal_name(tuple(fact.split(".")))
        shown = partitions(spark, table)
        if shown:
            names, rows = list(shown[0]), [tuple(partition.values()) for partition in shown]
            kinds = dict(spark.table(table).select(names).dtypes)
            listed = spark.createDataFrame(rows, ", ".join(f"`{name}` string" for name in names))
            typed = listed.selectExpr(
                *(f"CAST(`{name}` AS {kinds[name]}) AS `{name}`" for name in names)
            )
            typed.createOrReplaceTempView(view)
        return view, len(shown)


def _kept_partitions(spark: SparkSession, scan: KeptPartitions, listed: Listed) -> KeptPartitions:
    """The scan with its table's partitions counted: all, and those kept. Raises SparkError."""
    view, total = listed(scan.fact)
    if not total:
        return replace(scan, total=0, kept=0)
    with spark_errors(f"{scan.fact}: its partitions cannot be counted"):
        query = f"SELECT count(*) FROM {view} AS `{scan.alias}` WHERE {scan.predicate}"
        kept = spark.sql(query).collect()[0][0]
    return replace(scan, total=total, kept=kept)
