"""Counts the row groups of Parquet files that a scan reads, which Spark's metrics do not.

In: a scan of files in a classic session's plan. Out: the row groups of its files, those that its
pushed filters leave, and the rows in these. Only footers are read: Parquet's own reader chooses by
the predicates that Spark's ``ParquetFilters`` makes of the filters, as in a task
(``SpecificParquetRecordReaderBase``).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlrewrite.spark.plans.physical import plain
from sqlrewrite.spark.plans.scans import class_name, elements, last_name, plan_nodes, table_name
from sqlrewrite.spark.session import tried

MOST_FILES = 200
"""The footers of a scan of more files are not read: each is a request to where they are stored."""

_PARQUET = "org.apache.spark.sql.execution.datasources.parquet.ParquetFilters"
_KEY_DETAILS = ("ReadSchema", "PartitionFilters", "PushedFilters")


@dataclass(frozen=True, slots=True)
class RowGroups:
    """The row groups of all files of a scan, those that its filters leave, and the rows in them."""

    total: int
    left: int
    rows: int


def row_groups(spark: Any, scan: Any) -> RowGroups | None:
    """The row groups of a scan; None if its files are not Parquet, more than ``MOST_FILES`` or out
    of reach, or if the value of a filter is not known before the query runs."""
    counts: list[tuple[int, int, int]] = []
    with tried(), suppress(TypeError):  # a TypeError: an older Spark lacks the class
        if "Parquet" not in class_name(scan.relation().fileFormat()):
            return None
        tasks = elements(scan.inputRDD().filePartitions())
        paths = sorted({str(it.toPath().toString()) for task in tasks for it in task.files()})
        if len(paths) > MOST_FILES:
            return None
        counts = [(0, 0, 0), *(_of_file(spark._jvm, scan, path) for path in paths)]
    return RowGroups(*(sum(it) for it in zip(*counts, strict=True))) if counts else None


def planned_row_groups(
    spark: Any, texts: Iterable[str], tables: Container[str]
) -> dict[str, RowGroups]:
    """The row groups of the scans of these tables (last names) in the plans of texts, by
    ``scan_key``. Nothing is run, so scans with a filter by a subquery are left out."""
    found: dict[str, RowGroups] = {}
    with tried():
        state = spark._jsparkSession.sessionState()
        skip = spark._jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
        for text in texts:
            planned = state.executePlan(state.sqlParser().parsePlan(text), skip).executedPlan()
            for node in plan_nodes(planned, set()):
                if class_name(node) != "FileSourceScanExec" or last_name(node) not in tables:
                    continue
                groups, metadata = row_groups(spark, node), node.metadata()
                if groups is not None:
                    details = {
                        it: str(metadata.apply(it)) for it in _KEY_DETAILS if metadata.contains(it)
                    }
                    found[scan_key(table_name(node), details)] = groups
    return found


def scan_key(table: str, details: Mapping[str, str]) -> str:
    """A key that is the same for two scans of a table with the same columns and filters, whether it
    is taken from EXPLAIN's text or from the plan itself."""
    return plain(" ".join((table, *(details.get(it, "[]") for it in _KEY_DETAILS))))


def _of_file(jvm: Any, scan: Any, path: str) -> tuple[int, int, int]:
    """The row groups of one file, those that the filters leave, and the rows in these."""
    parquet, state = jvm.org.apache.parquet, scan.relation().sparkSession().sessionState()
    hadoop, where = state.newHadoopConf(), jvm.org.apache.hadoop.fs.Path(path)
    file = parquet.hadoop.util.HadoopInputFile.fromPath(where, hadoop)
    options = parquet.HadoopReadOptions.builder(hadoop, where)
    whole = parquet.hadoop.ParquetFileReader.open(file, options.build())
    schema, total = whole.getFileMetaData().getSchema(), whole.getRowGroups().size()
    whole.close()
    both = getattr(parquet.filter2.predicate.FilterApi, "and")
    made = None
    for one in _predicates(jvm, scan, state.conf(), schema):
        made = one if made is None else both(made, one)
    if made is not None:
        options.withRecordFilter(parquet.filter2.compat.FilterCompat.get(made))
    chosen = parquet.hadoop.ParquetFileReader.open(file, options.build())
    groups, rows = chosen.getRowGroups().size(), chosen.getFilteredRecordCount()
    chosen.close()
    return total, groups, rows


def _predicates(jvm: Any, scan: Any, conf: Any, schema: Any) -> Iterator[Any]:
    """Parquet's predicates of a scan's filters, under the session's settings."""
    if not conf.parquetFilterPushDown():
        return
    policy = jvm.org.apache.spark.sql.internal.LegacyBehaviorPolicy
    rebase = getattr(jvm.org.apache.spark.sql.catalyst.util, "RebaseDateTime$RebaseSpec")
    nothing = jvm.scala.Option.empty()
    given = (
        schema,
        conf.parquetFilterPushDownDate(),
        conf.parquetFilterPushDownTimestamp(),
        conf.parquetFilterPushDownDecimal(),
        conf.parquetFilterPushDownStringPredicate(),
        conf.parquetFilterPushDownInFilterThreshold(),
        conf.caseSensitiveAnalysis(),
        rebase(policy.CORRECTED(), nothing),
    )
    (constructor,) = jvm.java.lang.Class.forName(_PARQUET).getConstructors()
    more = (nothing,) * (constructor.getParameterCount() - len(given))  # one from Spark 4.3 on
    filters = jvm.org.apache.spark.sql.execution.datasources.parquet.ParquetFilters(*given, *more)
    for pushed in elements(scan.pushedDownFilters()):
        made = filters.createFilter(pushed)
        if made.isDefined():
            yield made.get()
