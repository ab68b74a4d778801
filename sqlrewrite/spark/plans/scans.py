"""The partitions, files and rows that the fact scans of a query really read, from its executed
plan.

Adaptive execution may still replace a dynamic filter by `true`, so only a plan that has run shows
it. A Connect server, from Spark 4 on, sends metrics with the collected rows, but not for scans in
scalar subqueries. Row groups are chosen by Parquet's own reader, with the predicates that Spark's
``ParquetFilters`` makes, as in a task.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from sqlrewrite.copies import replace
from sqlrewrite.spark.plans.planned import KEY_DETAILS, PhysicalOperator, scan_key
from sqlrewrite.spark.session import tried

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


QUERY_STAGES = {"ShuffleQueryStageExec", "BroadcastQueryStageExec", "ResultQueryStageExec"}


NO_FACTS: frozenset[str] = frozenset()

# Metrics: files read, files that the scan would read without a runtime filter, bytes; of Iceberg
# splits read, and the files and bytes planned before a runtime filter.
_OF_FILES = ("numFiles", "staticFilesNum", "filesSize")
_SPLITS = "numSplits"
_OF_ICEBERG = (_SPLITS, "resultDataFiles", "totalDataFileSize")
_COUNTED = (*_OF_FILES, *_OF_ICEBERG, "numPartitions", "numOutputRows")


@dataclass(frozen=True)
class TableScan:
    """The partitions, files and bytes that one scan of a table read; ``static_files`` would be read
    without the dynamic filter. None: the format does not count it (Iceberg counts no partitions,
    and no bytes behind a runtime filter). ``row_groups``: those read of Parquet files."""

    table: str
    partitions: int | None
    files: int
    static_files: int
    dynamic_filter: bool
    bytes: int | None
    rows: int
    qualified: str
    row_groups: int | None = None

    @property
    def pruned(self) -> bool:
        """Whether a dynamic filter has excluded a file."""
        # Not partitions: `isnotnull(key)` excludes the NULL partition statically.
        return self.dynamic_filter and self.files < self.static_files


def fact_scans(
    frame: DataFrame,
    facts: frozenset[str] = NO_FACTS,
    groups: Callable[[Any], int | None] = lambda scan: None,
) -> list[TableScan]:
    """The scans of partitioned tables and of ``facts`` in the plan of a frame that has run."""
    scans = []
    for node in plan_nodes(frame._jdf.queryExecution().executedPlan(), set()):
        kind, scan = class_name(node), None
        if kind == "FileSourceScanExec":
            scan = _scan(table_name(node), _metrics(node), facts, node.partitionFilters())
            scan = scan and replace(scan, row_groups=groups(node))
        elif kind == "BatchScanExec":
            name = str(node.table().name())
            scan = _scan(name, _metrics(node), facts, node.runtimeFilters())
        scans += [scan] if scan is not None else []
    return scans


def shuffled(frame: DataFrame) -> int:
    """The bytes written by the exchanges of a DataFrame that has run."""
    plan = frame._jdf.queryExecution().executedPlan()
    return sum(
        metric(node, "shuffleBytesWritten")
        for node in plan_nodes(plan, set())
        if class_name(node) == "ShuffleExchangeExec" and has_metric(node, "shuffleBytesWritten")
    )


def table_name(scan: Any) -> str:
    """The qualified name of the table that a scan of files reads; empty if it reads files without a
    table."""
    identifier = scan.tableIdentifier()
    return str(identifier.get().unquotedString()) if identifier.isDefined() else ""


def last_name(scan: Any) -> str:
    """The last part of the name of a scan's table, in lower case."""
    return table_name(scan).rpartition(".")[2].lower()


def reported_scans(frame: DataFrame, facts: frozenset[str]) -> list[TableScan]:
    """The scans that a Connect server has reported with the collected rows."""
    info: Any = getattr(frame, "executionInfo", None)
    if info is None or info.metrics is None:
        return []
    scans: dict[int, TableScan] = {}
    for node in info.metrics._metrics:
        table = PhysicalOperator(node.plan_id, node.name, ()).table
        metrics = {metric.name: int(metric.value) for metric in node.metrics}
        scan = None if table is None else _scan(table, metrics, facts)
        if scan is not None:
            scans[node.plan_id] = scan
    return list(scans.values())


def plan_nodes(node: Any, seen: set[int]) -> Iterator[Any]:
    """Every node of an executed plan, once: a reused exchange or subquery is the same object. Query
    stages are not deduplicated, because their ``id`` counts stages and not nodes."""
    if class_name(node) in QUERY_STAGES:
        yield from plan_nodes(node.plan(), seen)
    elif node.id() not in seen:
        seen.add(node.id())
        yield node
        for below in nodes_below(node):
            yield from plan_nodes(below, seen)


def nodes_below(node: Any) -> Iterator[Any]:
    """The nodes below a node: its inputs, its subqueries, and the plan that it wraps."""
    match class_name(node):
        case "AdaptiveSparkPlanExec":
            yield node.executedPlan()
        case "ReusedExchangeExec" | "ReusedSubqueryExec":
            yield node.child()
        case "EmptyRelationExec":  # adaptive execution found the result empty
            yield from executed_stages(node.logical())
        case _:
            yield from elements(node.children())
            yield from elements(node.subqueries())


def executed_stages(logical: Any) -> Iterator[Any]:
    """The stages that had run below a logical plan when adaptive execution replaced it."""
    match class_name(logical):
        case "LogicalQueryStage":
            yield logical.physicalPlan()
        case "EmptyRelation":
            yield from executed_stages(logical.logical())
        case _:
            for child in elements(logical.children()):
                yield from executed_stages(child)


def _scan(
    table: str, metrics: Mapping[str, int], facts: frozenset[str], filters: Any = None
) -> TableScan | None:
    """A scan by its metrics (over Connect these stand for ``filters`` too); None for other
    tables."""
    last, iceberg = table.rpartition(".")[2], _SPLITS in metrics
    of_files, of_all, of_bytes = _OF_ICEBERG if iceberg else _OF_FILES
    partitioned = "numPartitions" in metrics and not iceberg
    if of_files not in metrics or not (partitioned or last.lower() in facts):
        return None
    files = metrics[of_files]
    planned = metrics.get(of_all, files)
    if filters is not None:
        dynamic = any(map(_is_live_dynamic_filter, elements(filters)))
    else:  # a file scan counts static files only behind a dynamic filter
        dynamic = files < planned if iceberg else of_all in metrics
    return TableScan(
        table=last,
        partitions=metrics.get("numPartitions") if partitioned else None,
        files=files,
        static_files=planned if dynamic or iceberg else files,
        dynamic_filter=dynamic,
        bytes=None if dynamic and iceberg else metrics.get(of_bytes),
        rows=metrics.get("numOutputRows", 0),
        qualified=table,
    )


def _is_live_dynamic_filter(expression: Any) -> bool:
    """Whether this is a DynamicPruningExpression that adaptive execution has not replaced by
    `true`."""
    return (
        class_name(expression) == "DynamicPruningExpression"
        and class_name(expression.child()) != "Literal"
    )


def _metrics(scan: Any) -> dict[str, int]:
    """The metrics of a scan."""
    return {name: metric(scan, name) for name in _COUNTED if has_metric(scan, name)}


def has_metric(scan: Any, name: str) -> bool:
    """Whether a scan has that metric: only scans of partitioned tables count partitions."""
    return bool(scan.metrics().contains(name))


def metric(scan: Any, name: str) -> int:
    """A metric's value."""
    return int(scan.metrics().apply(name).value())


def elements(sequence: Any) -> Iterator[Any]:
    """The items of a Scala sequence."""
    return (sequence.apply(i) for i in range(sequence.size()))


def class_name(node: Any) -> str:
    """The class of a JVM object, without its package."""
    return str(node.getClass().getSimpleName())


MOST_FILES = 200
"""The most files of a scan whose footers are read: each is a request to the storage."""

_PARQUET = "org.apache.spark.sql.execution.datasources.parquet.ParquetFilters"


class RowGroups(Struct, frozen=True):
    """The row groups of a scan's files, those that its filters keep, and the rows in them."""

    total: int
    read: int
    rows: int


def row_groups(spark: Any, scan: Any) -> RowGroups | None:
    """The row groups of a scan of Parquet files; None if too many, or not known yet."""
    counts: list[tuple[int, int, int]] = []
    with tried(), suppress(TypeError):  # a TypeError: an older Spark lacks the class
        if "Parquet" not in class_name(scan.relation().fileFormat()):
            return None
        tasks = elements(scan.inputRDD().filePartitions())
        paths = sorted({str(file.toPath().toString()) for task in tasks for file in task.files()})
        if len(paths) > MOST_FILES:
            return None
        counts = [(0, 0, 0), *(_of_file(spark._jvm, scan, path) for path in paths)]
    return RowGroups(*(sum(column) for column in zip(*counts, strict=True))) if counts else None


def planned_row_groups(
    spark: Any, texts: Iterable[str], tables: Container[str]
) -> dict[str, RowGroups]:
    """The row groups that the plans of texts read from these tables, by ``scan_key``."""
    groups_by_key: dict[str, RowGroups] = {}
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
                        key: str(metadata.apply(key))
                        for key in KEY_DETAILS
                        if metadata.contains(key)
                    }
                    groups_by_key[scan_key(table_name(node), details)] = groups
    return groups_by_key


def _of_file(jvm: Any, scan: Any, path: str) -> tuple[int, int, int]:
    """The row groups of one file, those that the filters keep, and the rows in these."""
    parquet, state = jvm.org.apache.parquet, scan.relation().sparkSession().sessionState()
    hadoop, where = state.newHadoopConf(), jvm.org.apache.hadoop.fs.Path(path)
    file = parquet.hadoop.util.HadoopInputFile.fromPath(where, hadoop)
    options = parquet.HadoopReadOptions.builder(hadoop, where)
    whole = parquet.hadoop.ParquetFileReader.open(file, options.build())
    schema, total = whole.getFileMetaData().getSchema(), whole.getRowGroups().size()
    whole.close()
    both = getattr(parquet.filter2.predicate.FilterApi, "and")
    predicate = None
    for one in _predicates(jvm, scan, state.conf(), schema):
        predicate = one if predicate is None else both(predicate, one)
    if predicate is not None:
        options.withRecordFilter(parquet.filter2.compat.FilterCompat.get(predicate))
    chosen = parquet.hadoop.ParquetFileReader.open(file, options.build())
    groups, rows = chosen.getRowGroups().size(), chosen.getFilteredRecordCount()
    chosen.close()
    return total, groups, rows


def _predicates(jvm: Any, scan: Any, conf: Any, schema: Any) -> Iterator[Any]:
    """A scan's filters as predicates of Parquet's, under the session's settings."""
    if not conf.parquetFilterPushDown():
        return
    policy = jvm.org.apache.spark.sql.internal.LegacyBehaviorPolicy
    rebase = getattr(jvm.org.apache.spark.sql.catalyst.util, "RebaseDateTime$RebaseSpec")
    nothing = jvm.scala.Option.empty()
    arguments = (
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
    more = (nothing,) * (constructor.getParameterCount() - len(arguments))  # one from Spark 4.3 on
    filters = jvm.org.apache.spark.sql.execution.datasources.parquet.ParquetFilters(
        *arguments, *more
    )
    for pushed in elements(scan.pushedDownFilters()):
        predicate = filters.createFilter(pushed)
        if predicate.isDefined():
            yield predicate.get()
