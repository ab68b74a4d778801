"""What the scans of a query that has run really read, from its executed plan.

In: a DataFrame that has run. Out: its scans with their metrics: Spark's own of files, by which
Delta's tables are read too, and those of Iceberg, which tells what it read. Only a plan that has
run says so: under adaptive execution a dynamic filter may still turn into `true` (docs/spark.md). A
classic session has the plan itself; a Connect server, from Spark 4, tells the metrics of what was
collected, but for the scans in scalar subqueries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlrewrite.frozen import dataclass
from sqlrewrite.spark.physical import PhysicalOperator

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

QUERY_STAGES = {"ShuffleQueryStageExec", "BroadcastQueryStageExec", "ResultQueryStageExec"}


NO_FACTS: frozenset[str] = frozenset()

# What Iceberg's scans count: the splits that were read, the files and bytes that were planned
# before any filter at run time.
_SPLITS, _PLANNED_FILES, _PLANNED_BYTES = "numSplits", "resultDataFiles", "totalDataFileSize"


@dataclass(frozen=True)
class TableScan:
    """What one scan of a table read; `static_files` is without the dynamic filter. None is what the
    format does not count: Iceberg no partitions, and no bytes behind a filter at run time; row
    groups are counted apart (``row_groups.py``)."""

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
        """Whether a dynamic filter has spared it a file."""
        # In files, because `isnotnull(key)` takes the null partition off before any dynamic filter.
        return self.dynamic_filter and self.files < self.static_files


def fact_scans(
    frame: DataFrame,
    facts: frozenset[str] = NO_FACTS,
    groups: Callable[[Any], int | None] = lambda scan: None,
) -> list[TableScan]:
    """The scans of partitioned tables, and of the tables with those last names, in the plan of a
    DataFrame that has run, each once; ``groups`` counts the row groups of a scan of files."""
    found = []
    for node in plan_nodes(frame._jdf.queryExecution().executedPlan(), set()):
        kind = class_name(node)
        if kind == "FileSourceScanExec" and (
            has_metric(node, "numPartitions") or last_name(node) in facts
        ):
            found.append(replace(table_scan(node), row_groups=groups(node)))
        elif kind == "BatchScanExec" and has_metric(node, _SPLITS):
            scan = batch_scan(node)
            found += [scan] if scan.table.lower() in facts else []
    return found


def shuffled(frame: DataFrame) -> int:
    """The bytes that the exchanges of a DataFrame that has run have written."""
    plan = frame._jdf.queryExecution().executedPlan()
    return sum(
        metric(node, "shuffleBytesWritten")
        for node in plan_nodes(plan, set())
        if class_name(node) == "ShuffleExchangeExec" and has_metric(node, "shuffleBytesWritten")
    )


def table_name(scan: Any) -> str:
    """The qualified name of the table that a scan of files reads; empty where it is of no table."""
    identifier = scan.tableIdentifier()
    return str(identifier.get().unquotedString()) if identifier.isDefined() else ""


def last_name(scan: Any) -> str:
    """The last part of that name, in lower case."""
    return table_name(scan).rpartition(".")[2].lower()


def reported_scans(frame: DataFrame, facts: frozenset[str]) -> list[TableScan]:
    """The scans of partitioned tables, and of the tables with those last names, that a Connect
    server has reported with the rows that were collected, each once; none where it reports
    nothing."""
    info: Any = getattr(frame, "executionInfo", None)
    if info is None or info.metrics is None:
        return []
    found: dict[int, TableScan] = {}
    for node in info.metrics._metrics:
        table = PhysicalOperator(node.plan_id, node.name, ()).table
        told = {it.name: int(it.value) for it in node.metrics}
        if table is None:
            continue
        short = table.rpartition(".")[2]
        if _SPLITS in told and short.lower() in facts:
            # Whether it has a filter at run time is not told; then fewer are read than planned.
            fewer = told[_SPLITS] < told[_PLANNED_FILES]
            found[node.plan_id] = _of_iceberg(table, told, fewer)
        elif "numFiles" in told and ("numPartitions" in told or short.lower() in facts):
            found[node.plan_id] = TableScan(
                table=short,
                partitions=told.get("numPartitions"),
                files=told["numFiles"],
                static_files=told.get("staticFilesNum", told["numFiles"]),
                dynamic_filter="staticFilesNum" in told,
                bytes=told["filesSize"],
                rows=told["numOutputRows"],
                qualified=table,
            )
    return list(found.values())


def plan_nodes(node: Any, seen: set[int]) -> Iterator[Any]:
    """Every node of an executed plan, once: a reused exchange or subquery is the same object.

    A query stage's `id` counts stages, any other node's counts nodes, so stages are looked through.
    """
    if class_name(node) in QUERY_STAGES:
        yield from plan_nodes(node.plan(), seen)
    elif node.id() not in seen:
        seen.add(node.id())
        yield node
        for below in nodes_below(node):
            yield from plan_nodes(below, seen)


def nodes_below(node: Any) -> Iterator[Any]:
    """What a node reads: its inputs, its subqueries, and what it stands for."""
    match class_name(node):
        case "AdaptiveSparkPlanExec":
            yield node.executedPlan()
        case "ReusedExchangeExec" | "ReusedSubqueryExec":
            yield node.child()
        case "EmptyRelationExec":  # adaptive execution saw that the result is empty
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


def table_scan(scan: Any) -> TableScan:
    """The metrics of a FileSourceScanExec."""
    files = metric(scan, "numFiles")
    dynamic_filter = any(is_live_dynamic_filter(f) for f in elements(scan.partitionFilters()))
    return TableScan(
        table=table_name(scan).rpartition(".")[2],
        partitions=metric(scan, "numPartitions") if has_metric(scan, "numPartitions") else None,
        files=files,
        static_files=metric(scan, "staticFilesNum") if dynamic_filter else files,
        dynamic_filter=dynamic_filter,
        bytes=metric(scan, "filesSize"),
        rows=metric(scan, "numOutputRows"),
        qualified=table_name(scan),
    )


def batch_scan(scan: Any) -> TableScan:
    """The metrics of a BatchScanExec over a table of Iceberg's."""
    told = {
        name: metric(scan, name)
        for name in (_SPLITS, _PLANNED_FILES, _PLANNED_BYTES, "numOutputRows")
        if has_metric(scan, name)
    }
    dynamic = any(is_live_dynamic_filter(f) for f in elements(scan.runtimeFilters()))
    return _of_iceberg(str(scan.table().name()), told, dynamic)


def _of_iceberg(table: str, told: Mapping[str, int], dynamic: bool) -> TableScan:
    splits = told[_SPLITS]
    return TableScan(
        table=table.rpartition(".")[2],
        partitions=None,
        files=splits,
        static_files=told.get(_PLANNED_FILES, splits),
        dynamic_filter=dynamic,
        bytes=None if dynamic else told.get(_PLANNED_BYTES),
        rows=told.get("numOutputRows", 0),
        qualified=table,
    )


def is_live_dynamic_filter(expression: Any) -> bool:
    """Whether it is a DynamicPruningExpression that adaptive execution has not made `true`."""
    return (
        class_name(expression) == "DynamicPruningExpression"
        and class_name(expression.child()) != "Literal"
    )


def has_metric(scan: Any, name: str) -> bool:
    """Whether a scan counts that at all: only those of partitioned tables count partitions."""
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
