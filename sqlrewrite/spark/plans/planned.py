"""The scans in Spark's plan of a query, each with what it leaves parts of its table out by.

In comes a text, out goes its physical plan, ``Planned``. A plan that has not run shows a dynamic
filter in every candidate's scan, and over a sort-merge join that filter becomes ``true`` at run
time: only where the filtering side is a broadcast in the plan is the filter called planned, else
possible (docs/spark.md, "Where native dynamic partition pruning stops").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sqlrewrite.frozen import dataclass
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
# How a scan of Iceberg's tells what it chooses its files by, and a pushed filter names its column.
_OF_ICEBERG = re.compile(r"\bfilters=(.*?), (?:runtimeFilters|groupedBy)=")
_PUSHED = re.compile(r"(?!IsNotNull)\w+\(([\w.]+)\s*,")
Laid = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class ScanFilter:
    """A filter on partition columns: not dynamic, a scalar subquery, or a set of join keys, which
    has the column that they are for, and the tables, by ``short``, that they are read from."""

    text: str
    dynamic: bool = False
    scalar: bool = False
    semi: bool = False
    planned: bool = True
    column: str = ""
    tables: tuple[Name, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannedScan:
    """A scan in a plan: its table, its filters on partition columns, and the columns it reads; its
    ``scan_key`` where the rows are laid out by a column."""

    table: str
    filters: tuple[ScanFilter, ...]
    schema: str
    key: str

    @property
    def short(self) -> Name:
        """The table by ``short``."""
        return short(self.table)

    def sure(self, column: str) -> tuple[ScanFilter, ...]:
        """The filters of join keys that will bound a column."""
        wanted = column.lower()
        return tuple(it for it in self.filters if it.dynamic and it.planned and it.column == wanted)


def short(table: str) -> Name:
    """The last two parts of a qualified name: in a Spark of our own all catalogs are one."""
    return tuple(table.lower().split("."))[-2:]


def plan(session: Session, sql: str, failing: str) -> PhysicalPlan:
    """The physical plan of a statement. Raises SparkError."""
    with spark_errors(failing):
        rows = session.spark.sql(f"EXPLAIN FORMATTED {sql}").collect()
        text = "\n".join(str(row[0]) for row in rows)
    try:
        return parse(text)
    except ValueError as error:  # Spark puts what it cannot analyse into the plan's place
        raise SparkError(f"{failing}: {plain(reason(error))}") from error


def planned(
    session: Session, plan: PhysicalPlan, facts: frozenset[str], laid: Laid | None = None
) -> Planned:
    """A plan as the session's settings have it run."""
    reuse_only = str(session.spark.conf.get(_REUSE_ONLY, "true")) == "true"
    return Planned(plan, reuse_only, facts, laid or {})


class Planned:
    """A plan with what is asked of it more than once: its broadcasts and its fact scans."""

    def __init__(
        self, plan: PhysicalPlan, reuse_only: bool, facts: frozenset[str], laid: Laid
    ) -> None:
        self.laid = laid
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
                scan_key(it.table, it.details) if _last(it) in laid else "",
            )
            for it in _read(plan)
            if it.table and (_last(it) in facts or _last(it) in laid or _on_partitions(it))
        ]

    def _filters(self, scan: PhysicalOperator) -> tuple[ScanFilter, ...]:
        told = _filters_of(scan, self.laid)
        # A scan of another format names its filters at run time as the host of their queries alone.
        hosted = (it.expression for it in self.subqueries if it.host == scan.number)
        at_run = (f"{_DYNAMIC}{it})" for it in hosted if "dynamicpruning#" in it)
        found = dict.fromkeys((*told, *at_run)) if scan.name.startswith("BatchScan") else told
        return tuple(self._filter(scan, text) for text in found)

    def _filter(self, scan: PhysicalOperator, text: str) -> ScanFilter:
        shown = plain(text)
        if text.startswith(_DYNAMIC):
            inner = text[len(_DYNAMIC) : -1]
            source = next(
                (it for it in self.subqueries if (it.host, it.expression) == (scan.number, inner)),
                None,
            )
            if source is None:  # switched off when it was planned, or not to be seen
                return ScanFilter(
                    "true" if inner == "true" else shown, inner != "true", planned=False
                )
            return ScanFilter(
                shown,
                dynamic=True,
                semi=source.root.identity in self.semi,
                planned=self._runs(source),
                column=plain(inner).partition(" IN ")[0].lower(),
                tables=tuple(short(it.table) for it in source.root.walk() if it.table),
            )
        return ScanFilter(shown, scalar="subquery#" in text.lower())

    def _runs(self, source: PhysicalSubquery) -> bool:
        """Whether the filter's keys will be there: a broadcast that the join needs anyhow, or a
        query of its own where the settings allow that."""
        if not self.reuse_only or source.root.name != "AdaptiveSparkPlan":
            return True
        return source.root.identity in self.broadcasts


def _read(plan: PhysicalPlan) -> Iterator[PhysicalOperator]:
    """The operators that a run of the plan runs, each once; a dynamic filter's own plan is there to
    be matched with a broadcast."""
    seen: set[int] = set()
    runs = (it.root for it in plan.subqueries if "dynamicpruning#" not in it.expression)
    for root in (plan.root, *runs):
        for operator in root.walk():
            if operator.number not in seen:
                seen.add(operator.number)
                yield operator


def _filters_of(scan: PhysicalOperator, laid: Laid) -> tuple[str, ...]:
    """What a scan leaves parts of its table out by: filters on partitions and at run time; those of
    Iceberg; those that reach files and row groups, on columns by which these are laid out."""
    found = _on_partitions(scan)
    chosen = _OF_ICEBERG.search(" ".join(scan.details.values()))
    found += items(f"[{chosen[1]}]") if chosen is not None else ()
    columns = laid.get(_last(scan), frozenset())
    pushed = items(scan.details.get("PushedFilters", "[]")) if columns else ()
    named = ((_PUSHED.match(item), item) for item in pushed)
    found += [item for of, item in named if of is not None and of[1].lower() in columns]
    return tuple(found)


def _on_partitions(scan: PhysicalOperator) -> list[str]:
    return [item for key in _FILTERS for item in items(scan.details.get(key, "[]"))]


def _last(scan: PhysicalOperator) -> str:
    return (scan.table or "").split(".")[-1].lower()


def _below_exchange(operator: PhysicalOperator) -> PhysicalOperator:
    while operator.name in ("Sort", "Exchange", "BroadcastExchange") and operator.children:
        operator = operator.children[0]
    return operator
