"""The fact scans in Spark's plan of a query, each with the filters that prune it.

``plan`` asks Spark for the plan of a text, ``planned`` finds the scans in it. A plan that has not
run shows a dynamic filter in the scan of every candidate, and over a sort-merge join that filter
becomes ``true`` at run time. So a filter is called planned only where the filtering side is a
broadcast in the plan, else possible (docs/spark.md, "Where native dynamic partition pruning
stops").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlrewrite.spark.plans.physical import (
    PhysicalOperator,
    PhysicalPlan,
    PhysicalSubquery,
    items,
    parse,
    plain,
)
from sqlrewrite.spark.plans.row_groups import scan_key
from sqlrewrite.spark.session import Session, reason, spark_errors
from sqlrewrite.spark.target import SparkError
from sqlrewrite.warehouse import Name

_REUSE_ONLY = "spark.sql.optimizer.dynamicPartitionPruning.reuseBroadcastOnly"
_DYNAMIC = "dynamicpruningexpression("
_FILTERS = ("PartitionFilters", "RuntimeFilters")
# The filters by which a scan of Iceberg's chooses files, and the column that a pushed filter names.
_OF_ICEBERG = re.compile(r"\bfilters=(.*?), (?:runtimeFilters|groupedBy)=")
_PUSHED = re.compile(r"(?!IsNotNull)\w+\(([\w.]+)\s*,")
LayoutColumns = Mapping[str, frozenset[str]]
"""By a table's last name, the columns by which its files leave parts of it out."""


@dataclass(frozen=True, slots=True)
class ScanFilter:
    """A filter on partition columns: a condition, a scalar subquery (``scalar``), or the keys of a
    join (``dynamic``). These have the ``column`` that they bound and the ``tables``
    (``short_name``) that they are read from; ``semi``: a semi-join reads them too; ``planned``:
    they will be there.
    """

    text: str
    dynamic: bool = False
    scalar: bool = False
    semi: bool = False
    planned: bool = True
    column: str = ""
    tables: tuple[Name, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannedScan:
    """A scan in a plan: its table, its filters, the columns that it reads; ``key`` is its
    ``scan_key`` if its table has layout columns."""

    table: str
    filters: tuple[ScanFilter, ...]
    schema: str
    key: str

    @property
    def short_name(self) -> Name:
        """The ``short_name`` of its table."""
        return short_name(self.table)

    def certain(self, column: str) -> tuple[ScanFilter, ...]:
        """The filters of join keys that will certainly bound a column."""
        wanted = column.lower()
        return tuple(it for it in self.filters if it.dynamic and it.planned and it.column == wanted)


def short_name(table: str) -> Name:
    """The last two parts of a qualified name: an embedded Spark has only one catalog."""
    return tuple(table.lower().split("."))[-2:]


def plan(session: Session, sql: str, failing: str) -> PhysicalPlan:
    """The physical plan of a statement. Raises SparkError."""
    with spark_errors(failing):
        rows = session.spark.sql(f"EXPLAIN FORMATTED {sql}").collect()
        text = "\n".join(str(row[0]) for row in rows)
    try:
        return parse(text)
    except ValueError as error:  # Spark prints the error in place of a plan
        raise SparkError(f"{failing}: {plain(reason(error))}") from error


def planned(
    session: Session, plan: PhysicalPlan, facts: frozenset[str], layout: LayoutColumns | None = None
) -> Planned:
    """The scans of a plan as they are run under the session's settings."""
    reuse_only = str(session.spark.conf.get(_REUSE_ONLY, "true")) == "true"
    return Planned(plan, reuse_only, facts, layout or {})


class Planned:
    """A plan with its broadcasts, its semi-joins and its fact scans."""

    def __init__(
        self, plan: PhysicalPlan, reuse_only: bool, facts: frozenset[str], layout: LayoutColumns
    ) -> None:
        self.layout = layout
        operators = list(plan.operators)
        self.reuse_only = reuse_only
        self.subqueries = plan.subqueries
        self.broadcasts = {
            side.children[0].identity
            for join in operators
            if join.name.startswith("BroadcastHashJoin")
            for side in join.children
            if side.name == "BroadcastExchange" and side.children
        }
        self.semi = {
            _below_exchange(join.children[1]).identity
            for join in operators
            if "Join LeftSemi" in join.name and len(join.children) == 2
        }
        self.scans = [
            PlannedScan(
                it.table,
                self._filters(it),
                it.details.get("ReadSchema", ""),
                scan_key(it.table, it.details) if _last_name(it) in layout else "",
            )
            for it in _executed(plan)
            if it.table and (_last_name(it) in {*facts, *layout} or _on_partitions(it))
        ]

    def _filters(self, scan: PhysicalOperator) -> tuple[ScanFilter, ...]:
        own = _filters_of(scan, self.layout)
        # A scan of another format shows its runtime filters only as the host of their subqueries.
        hosted = (it.expression for it in self.subqueries if it.host == scan.number)
        at_run = (f"{_DYNAMIC}{it})" for it in hosted if "dynamicpruning#" in it)
        found = dict.fromkeys((*own, *at_run)) if scan.name.startswith("BatchScan") else own
        return tuple(self._filter(scan, text) for text in found)

    def _filter(self, scan: PhysicalOperator, text: str) -> ScanFilter:
        shown = plain(text)
        if text.startswith(_DYNAMIC):
            inner = text[len(_DYNAMIC) : -1]
            source = next(
                (it for it in self.subqueries if (it.host, it.expression) == (scan.number, inner)),
                None,
            )
            if source is None:  # switched off by the planner, or not shown
                return ScanFilter(
                    "true" if inner == "true" else shown, inner != "true", planned=False
                )
            return ScanFilter(
                shown,
                dynamic=True,
                semi=source.root.identity in self.semi,
                planned=self._runs(source),
                column=plain(inner).partition(" IN ")[0].lower(),
                tables=tuple(short_name(it.table) for it in source.root.walk() if it.table),
            )
        return ScanFilter(shown, scalar="subquery#" in text.lower())

    def _runs(self, source: PhysicalSubquery) -> bool:
        """Whether the filter's keys will be computed: as a broadcast that the join needs anyhow, or
        by a query of their own if the settings allow that."""
        if not self.reuse_only or source.root.name != "AdaptiveSparkPlan":
            return True
        return source.root.identity in self.broadcasts


def _executed(plan: PhysicalPlan) -> Iterator[PhysicalOperator]:
    """The operators that run, each once; not those in the plan of a dynamic filter, which is only
    matched with a broadcast."""
    seen: set[int] = set()
    runs = (it.root for it in plan.subqueries if "dynamicpruning#" not in it.expression)
    for root in (plan.root, *runs):
        for operator in root.walk():
            if operator.number not in seen:
                seen.add(operator.number)
                yield operator


def _filters_of(scan: PhysicalOperator, layout: LayoutColumns) -> tuple[str, ...]:
    """The filters that leave out parts of a scan's table: on partitions, at run time, those of
    Iceberg, and those on layout columns, which reach files and row groups."""
    found = _on_partitions(scan)
    chosen = _OF_ICEBERG.search(" ".join(scan.details.values()))
    found += items(f"[{chosen[1]}]") if chosen is not None else ()
    columns = layout.get(_last_name(scan), frozenset())
    pushed = items(scan.details.get("PushedFilters", "[]")) if columns else ()
    named = ((_PUSHED.match(item), item) for item in pushed)
    found += [item for of, item in named if of is not None and of[1].lower() in columns]
    return tuple(found)


def _on_partitions(scan: PhysicalOperator) -> list[str]:
    return [item for key in _FILTERS for item in items(scan.details.get(key, "[]"))]


def _last_name(scan: PhysicalOperator) -> str:
    return (scan.table or "").split(".")[-1].lower()


def _below_exchange(operator: PhysicalOperator) -> PhysicalOperator:
    while operator.name in ("Sort", "Exchange", "BroadcastExchange") and operator.children:
        operator = operator.children[0]
    return operator
