"""Computes the summary of an audit from the shapes that it has written.

Only what is shown is brought to the driver, the first rows of each list. So the driver's memory
does not grow with the history.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any

from sqlrewrite.audit.summary import (
    AuditedShape,
    AuditSummary,
    ColumnReason,
    FactSummary,
    KeptPartitions,
    Total,
)
from sqlrewrite.catalog.names import literal_name
from sqlrewrite.spark import functions as f
from sqlrewrite.spark.audit.shapes import Counts
from sqlrewrite.spark.catalog.describe import partitions
from sqlrewrite.spark.session import Session, fresh, spark_errors
from sqlrewrite.spark.target import SparkError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row, SparkSession

MOST = 100
"""How many tables and reasons are brought to the driver, those with the most bytes."""

Listed = Callable[[str], tuple[str, int]]
"""From a table's name to a view of its partitions, and their number."""

_PARTITIONS = "dpp_rewrite_partitions"


def summarize(session: Session, place: str, counts: Counts, top: int) -> AuditSummary:
    """The summary of an audit in a folder. Raises SparkError."""
    with spark_errors("the result of the audit cannot be read"):
        shapes = session.spark.read.parquet(f"{place}/shapes")
        shapes = shapes.withColumn("outcome", f.coalesce("outcome", "what"))
        totals = _totals(shapes, "outcome")
        known = [it.bytes for it in totals if it.bytes is not None]
        return AuditSummary(
            shapes=counts.shapes,
            decided=counts.decided,
            runs=sum(it.runs for it in totals),
            bytes=sum(known) if known else None,
            totals=totals,
            left=_totals(shapes.where("reason <> ''"), "reason"),
            top=_top(shapes, top),
            facts=_facts(shapes),
            reasons=_reasons(shapes),
            unknown=_totals(shapes.withColumn("name", f.explode("unknown")), "name"),
        )


def _totals(shapes: DataFrame, column: str) -> tuple[Total, ...]:
    found = _sums(shapes, column).orderBy(*_most(), column).limit(MOST).collect()
    return tuple(Total(it[column], it["n"], it["r"], it["b"], it["m"]) for it in found)


def _sums(rows: DataFrame, *columns: str, beside: Sequence[Column] = ()) -> DataFrame:
    return rows.groupBy(*columns).agg(
        f.count(f.lit(1)).alias("n"),
        f.sum("runs").alias("r"),
        f.expr("try_sum(bytes) AS b"),
        f.expr("try_sum(micros) AS m"),
        *beside,
    )


def _most() -> Sequence[Any]:
    """The order of lists: most bytes first; where the bytes are not known, most runs first."""
    return f.col("b").desc_nulls_last(), f.col("r").desc()


def _top(shapes: DataFrame, top: int) -> tuple[AuditedShape, ...]:
    order = (f.col("bytes").desc_nulls_last(), f.col("micros").desc_nulls_last())
    rewritten = shapes.where("outcome = 'rewritten'")
    found = rewritten.orderBy(*order, f.col("runs").desc(), "shape", "schema").limit(top).collect()
    return tuple(map(_shape, found))


def _shape(row: Row) -> AuditedShape:
    """A shape that gets predicates, with what they keep by the catalog's statistics, if known."""
    scans = tuple(
        KeptPartitions(it["fact"], it["alias"], it["predicate"], it["partitions"], it["kept"])
        for it in row["scans"]
        if it["verdict"] == "rewritten"
    )
    plain = ("shape", "schema", "runs", "users", "bytes", "micros", "text", "rewritten")
    shape = AuditedShape(**{name: row[name] for name in plain}, scans=scans)
    if any(it.kept is None for it in scans):
        return shape
    how = "by the catalog's statistics of columns, all partitions taken to be of one size"
    return _saving(shape, scans, f"estimated {how}")


def _saving(shape: AuditedShape, scans: tuple[KeptPartitions, ...], how: str) -> AuditedShape:
    """A shape with its scans, and the share of partitions that they do not keep."""
    kept, total = sum(it.kept or 0 for it in scans), sum(it.total or 0 for it in scans)
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
    named = [it.alias(name) for it, name in zip(counted, ("r0", "r1", "r2"), strict=True)]
    tables = each.groupBy("fact").agg(
        *named, f.expr("try_sum(bytes) AS b"), f.sum("runs").alias("r")
    )
    found = tables.orderBy(*_most(), "fact").limit(MOST).collect()
    bound = scans.where("rank > 0").dropDuplicates(["shape", "schema", "fact", "dimension"])
    bound = bound.groupBy("fact", "dimension").agg(f.sum("runs").alias("r"))
    wanted = bound.where(f.col("fact").isin([it["fact"] for it in found]))
    by: dict[str, list[tuple[str, int]]] = {}
    for it in wanted.orderBy("fact", f.col("r").desc(), "dimension").limit(MOST * 10).collect():
        by.setdefault(it["fact"], []).append((it["dimension"], it["r"]))
    return tuple(
        FactSummary(
            it["fact"],
            it["r2"] or 0,
            it["r1"] or 0,
            it["r0"] or 0,
            it["b"],
            tuple(by.get(it["fact"], ())),
        )
        for it in found
    )


def _reasons(shapes: DataFrame) -> tuple[ColumnReason, ...]:
    """The reasons that alone prevent predicates; a reason's text is that of one of its shapes."""
    alone = _scans(shapes).where("verdict = 'rejected' AND only")
    keys = ("fact", "column", "code")
    each = alone.groupBy("shape", "schema", *keys, "runs", "bytes", "micros").agg(
        f.min("reason").alias("reason")
    )
    said = f.min("reason").alias("reason")
    found = _sums(each, *keys, beside=[said]).orderBy(*_most(), *keys).limit(MOST)
    return tuple(
        ColumnReason(it["fact"], it["column"], it["code"], it["reason"], it["n"], it["r"], it["b"])
        for it in found.collect()
    )


# --- what predicates keep


def measured(session: Session, found: AuditSummary) -> AuditSummary:
    """The summary with what the predicates of its top shapes keep of the partitions that exist now.
    Each predicate runs over the list of its table's partitions, so only dimensions are read."""
    asked = fresh(session)

    numbers = count()

    @cache
    def listed(fact: str) -> tuple[str, int]:
        return _listed(asked.spark, fact, f"{_PARTITIONS}_{next(numbers)}")

    return replace(found, top=tuple(_measured(asked, it, listed) for it in found.top))


def _measured(session: Session, shape: AuditedShape, listed: Listed) -> AuditedShape:
    try:
        if shape.schema:
            with spark_errors(f"USE {shape.schema}"):
                session.spark.sql(f"USE {literal_name(tuple(shape.schema.split('.')))}")
        scans = tuple(_kept(session.spark, it, listed) for it in shape.scans)
    except SparkError as error:
        before = "not known" if shape.saved is None else f"{shape.how}; not measured"
        return replace(shape, how=f"{before}: {error}")
    how = "each predicate over SHOW PARTITIONS, all partitions taken to be of one size"
    return _saving(shape, scans, how)


def _listed(spark: SparkSession, fact: str, view: str) -> tuple[str, int]:
    """A view of a table's partitions, and how many there are. Raises SparkError."""
    with spark_errors(f"{fact}: its partitions cannot be asked"):
        table = literal_name(tuple(fact.split(".")))
        shown = partitions(spark, table)
        if shown:
            names, rows = list(shown[0]), [tuple(it.values()) for it in shown]
            kinds = dict(spark.table(table).select(names).dtypes)
            listed = spark.createDataFrame(rows, ", ".join(f"`{it}` string" for it in names))
            typed = listed.selectExpr(*(f"CAST(`{it}` AS {kinds[it]}) AS `{it}`" for it in names))
            typed.createOrReplaceTempView(view)
        return view, len(shown)


def _kept(spark: SparkSession, scan: KeptPartitions, listed: Listed) -> KeptPartitions:
    """The scan with its table's partitions counted: all, and those kept. Raises SparkError."""
    view, total = listed(scan.fact)
    if not total:
        return replace(scan, total=0, kept=0)
    with spark_errors(f"{scan.fact}: its partitions cannot be asked"):
        asked = f"SELECT count(*) FROM {view} AS `{scan.alias}` WHERE {scan.predicate}"
        kept = spark.sql(asked).collect()[0][0]
    return replace(scan, total=total, kept=kept)
