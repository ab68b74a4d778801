"""Spark's plan of a query, from the text of EXPLAIN FORMATTED, and the fact scans in it.

Numbers of columns and plans connect a subquery with its place; ``plain`` removes them for display.
A plan that has not run shows a dynamic filter in the scan of every candidate, so pruning is called
planned only if the filtering side is a broadcast (docs/spark.md, "Where native dynamic partition
pruning stops").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from msgspec import Struct

from sqlrewrite.spark.session import Session, reason, spark_errors
from sqlrewrite.spark.target import SparkError
from sqlrewrite.warehouse import Name

_TREE = re.compile(r"((?:   |:  |:- |\+- )*)(?:\* )?(\S.*?) \((\d+)\)")
_HEAD = re.compile(r"\((\d+)\) \S.*")
_DETAIL = re.compile(r"([A-Z][A-Za-z ]*?)(?: \[\d+\])? ?: (.*)")
_SUBQUERY = re.compile(
    r"Subquery:\d+ Hosting operator id = (\d+) Hosting Expression = (.*)", re.DOTALL
)
_SCAN = re.compile(r"(?:Batch)?Scan (?:\w+ )?([^\s()]+\.[^\s()]+)")

# Numbers that differ each time a query is planned.
_NUMBERS = (
    (re.compile(r",? ?\[plan_id=\d+\]"), ""),
    (re.compile(r",? ?\[id=#\d+\]"), ""),
    (re.compile(r"\[codegen id : \d+\]"), ""),
    (re.compile(r"#\d+L?"), ""),
    (re.compile(r"dynamicpruningexpression\((.*?) IN dynamicpruning\)"), r"\1 IN dynamic keys"),
    (re.compile(r"(?:Reused)?Subquery subquery"), "(subquery)"),
)
_DYNAMIC_NUMBER = re.compile(r"(dynamicpruning|subquery)#\d+|\[(plan_)?id=#?\d+\]|codegen id : \d+")

# The details that are shown of an operator.
_SHOWN = (
    ("Scan", ("PartitionFilters", "RuntimeFilters", "PushedFilters")),
    ("BatchScan", ("RuntimeFilters", "PushedFilters")),
    ("Filter", ("Condition",)),
    ("HashAggregate", ("Keys",)),
    ("Exchange", ("Arguments",)),
)
_WRAPPING = frozenset({"AdaptiveSparkPlan", "ColumnarToRow"})
_JOIN = re.compile(r"(?:BroadcastHash|SortMerge|ShuffledHash|BroadcastNestedLoop)Join|Cartesian")


KEY_DETAILS = ("ReadSchema", "PartitionFilters", "PushedFilters")


@dataclass(frozen=True)
class PhysicalOperator:
    """One operator: its number in the text, its name, its inputs, and its details."""

    number: int
    name: str
    children: tuple[PhysicalOperator, ...]
    details: dict[str, str] = field(default_factory=dict)

    @property
    def table(self) -> str | None:
        """The table that a scan reads, qualified; None for any other operator."""
        match = _SCAN.match(self.name)
        return match[1].replace("`", "") if match else None

    @cached_property
    def identity(self) -> str:
        """A text that is equal for two operators with the same result."""
        if self.name in _WRAPPING and self.children:
            return self.children[0].identity
        details = _DYNAMIC_NUMBER.sub("", f"{self.name} {sorted(self.details.items())}")
        return f"{details}({', '.join(child.identity for child in self.children)})"

    def walk(self) -> Iterator[PhysicalOperator]:
        """This operator and all below it, from the top."""
        yield self
        for child in self.children:
            yield from child.walk()


class PhysicalSubquery(Struct, frozen=True):
    """The plan of a subquery in an ``expression`` of the operator with the number ``host``."""

    host: int
    expression: str
    root: PhysicalOperator


class PhysicalPlan(Struct, frozen=True):
    """A plan and its subqueries, each subquery once."""

    root: PhysicalOperator
    subqueries: tuple[PhysicalSubquery, ...]

    @property
    def operators(self) -> Iterator[PhysicalOperator]:
        """All operators of the plan, those of its subqueries last."""
        yield from self.root.walk()
        for subquery in self.subqueries:
            yield from subquery.root.walk()

    def lines(self) -> tuple[tuple[str, str], ...]:
        """The tree as printed: for each operator the branches before it, and its text."""
        return tuple(_lines(self.root, "", ""))


def parse(text: str) -> PhysicalPlan:
    """The plan in the output of EXPLAIN FORMATTED. Raises ValueError for any other text."""
    lines = text.splitlines()
    details = _details(lines)
    roots: list[tuple[str, PhysicalOperator]] = []
    at, heading = 0, ""
    while at < len(lines):
        if lines[at].startswith("Subquery:"):
            heading = lines[at]
        if _TREE.fullmatch(lines[at]):
            end = at
            while end < len(lines) and _TREE.fullmatch(lines[end]):
                end += 1
            roots.append((heading, _tree(lines[at:end], details)))
            at, heading = end, ""
        else:
            at += 1
    if not roots:
        raise ValueError(text.strip() or "an empty plan")
    subqueries = []
    for heading, root in roots[1:]:
        match = _SUBQUERY.match(heading)
        if match:
            subqueries.append(PhysicalSubquery(int(match[1]), match[2], root))
    return PhysicalPlan(roots[0][1], tuple(subqueries))


def plain(text: str) -> str:
    """The text of a plan without the numbers that differ each time it is planned."""
    for pattern, instead in _NUMBERS:
        text = pattern.sub(instead, text)
    return " ".join(text.split())


def scan_key(table: str, details: Mapping[str, str]) -> str:
    """A key of a scan's table, columns and filters, from EXPLAIN's text or from the plan."""
    return plain(" ".join((table, *(details.get(key, "[]") for key in KEY_DETAILS))))


def items(text: str) -> tuple[str, ...]:
    """The items of ``[a, b(c, d)]``."""
    inner = text.strip().removeprefix("[").removesuffix("]")
    parts: list[str] = []
    depth = start = 0
    for at, letter in enumerate(inner):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0 and inner.startswith(", ", at):
            parts.append(inner[start:at])
            start = at + 2
    return tuple(item for item in (*parts, inner[start:]) if item)


def _details(lines: list[str]) -> dict[int, dict[str, str]]:
    """The details of each operator, from the paragraph that begins with its number."""
    operators: dict[int, dict[str, str]] = {}
    inside: dict[str, str] | None = None
    last = ""
    for line in lines:
        head = _HEAD.fullmatch(line)
        if head:
            inside = operators.setdefault(int(head[1]), {})
        elif not line.strip():
            inside = None
        elif inside is not None:
            match = _DETAIL.fullmatch(line)
            if match:
                last = match[1].strip()
                inside[last] = match[2]
            elif last in inside:
                inside[last] += f" {line.strip()}"
    return operators


def _tree(lines: list[str], details: dict[int, dict[str, str]]) -> PhysicalOperator:
    """The top operator of an indented tree; each level is indented by three characters."""
    below: dict[int, list[PhysicalOperator]] = {}
    for line in reversed(lines):
        match = _TREE.fullmatch(line)
        assert match is not None
        depth, number = len(match[1]) // 3, int(match[3])
        children = tuple(reversed(below.pop(depth + 1, [])))
        operator = PhysicalOperator(number, match[2], children, details.get(number, {}))
        below.setdefault(depth, []).append(operator)
    return below[0][0]


def _lines(operator: PhysicalOperator, first: str, rest: str) -> Iterator[tuple[str, str]]:
    if (
        operator.name in _WRAPPING and operator.children
    ):  # wrapper nodes say nothing about the query
        yield from _lines(operator.children[0], first, rest)
        return
    yield first, _shown(operator)
    for number, child in enumerate(operator.children, 1):
        branch, under = ("└─ ", "   ") if number == len(operator.children) else ("├─ ", "│  ")
        yield from _lines(child, rest + branch, rest + under)


def _shown(operator: PhysicalOperator) -> str:
    details = operator.details
    if _JOIN.match(operator.name):
        left, right = (plain(details.get(f"{side} keys", "")) for side in ("Left", "Right"))
        keys = f": {left} = {right}" if left else ""
        condition = plain(details.get("Join condition", "None"))
        return operator.name + keys + ("" if condition == "None" else f" and {condition}")
    names = next((names for name, names in _SHOWN if operator.name.startswith(name)), ())
    parts = [f"{key} {plain(details[key])}" for key in names if details.get(key, "[]") != "[]"]
    return operator.name + (f": {'; '.join(parts)}" if parts else "")


_REUSE_ONLY = "spark.sql.optimizer.dynamicPartitionPruning.reuseBroadcastOnly"
_DYNAMIC = "dynamicpruningexpression("
_FILTERS = ("PartitionFilters", "RuntimeFilters")
# The filters by which a scan of Iceberg's chooses files, and the column that a pushed filter names.
_OF_ICEBERG = re.compile(r"\bfilters=(.*?), (?:runtimeFilters|groupedBy)=")
_PUSHED = re.compile(r"(?!IsNotNull)\w+\(([\w.]+)\s*,")
LayoutColumns = Mapping[str, frozenset[str]]
"""The columns by which the files of each table are laid out, so that files or row groups can be
skipped; by the table's last name."""


class ScanFilter(Struct, frozen=True):
    """A filter on partition columns: a condition, a scalar subquery (``scalar``), or the keys of a
    join (``dynamic``). The last two have the ``column`` that they bound and the ``tables``
    (``short_name``) that their keys come from. ``semi``: a semi-join reads the same keys.
    ``planned``: the filter is certain to be used."""

    text: str
    dynamic: bool = False
    scalar: bool = False
    semi: bool = False
    planned: bool = True
    column: str = ""
    tables: tuple[Name, ...] = ()

    @property
    def trivial(self) -> bool:
        """Whether it only excludes NULLs, in Spark's syntax or Iceberg's."""
        return self.text.startswith(("isnotnull(", "true")) or self.text.endswith(" IS NOT NULL")


class PlannedScan(Struct, frozen=True):
    """A scan in a plan; ``key`` is its ``scan_key`` if its table has layout columns."""

    table: str
    filters: tuple[ScanFilter, ...]
    schema: str
    key: str

    @property
    def short_name(self) -> Name:
        """The ``short_name`` of its table."""
        return short_name(self.table)

    def certain(self, column: str) -> tuple[ScanFilter, ...]:
        """The dynamic filters that are certain to bound a column."""
        lowered = column.lower()
        return tuple(
            filter_
            for filter_ in self.filters
            if filter_.dynamic and filter_.planned and filter_.column == lowered
        )


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
    """The scans of a plan as the session's settings run them."""
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
                scan.table,
                self._filters(scan),
                scan.details.get("ReadSchema", ""),
                scan_key(scan.table, scan.details) if _last_name(scan) in layout else "",
            )
            for scan in _executed(plan)
            if scan.table and (_last_name(scan) in {*facts, *layout} or _on_partitions(scan))
        ]

    def _filters(self, scan: PhysicalOperator) -> tuple[ScanFilter, ...]:
        own = _filters_of(scan, self.layout)
        # A scan of another format shows its runtime filters only as the host of their subqueries.
        hosted = (
            subquery.expression for subquery in self.subqueries if subquery.host == scan.number
        )
        at_run = (
            f"{_DYNAMIC}{expression})" for expression in hosted if "dynamicpruning#" in expression
        )
        texts = dict.fromkeys((*own, *at_run)) if scan.name.startswith("BatchScan") else own
        return tuple(self._filter(scan, text) for text in texts)

    def _filter(self, scan: PhysicalOperator, text: str) -> ScanFilter:
        shown = plain(text)
        if text.startswith(_DYNAMIC):
            inner = text[len(_DYNAMIC) : -1]
            source = next(
                (
                    subquery
                    for subquery in self.subqueries
                    if (subquery.host, subquery.expression) == (scan.number, inner)
                ),
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
                tables=tuple(short_name(node.table) for node in source.root.walk() if node.table),
            )
        return ScanFilter(shown, scalar="subquery#" in text.lower())

    def _runs(self, source: PhysicalSubquery) -> bool:
        """Whether the keys of a filter will be computed, by a broadcast or by a query."""
        if not self.reuse_only or source.root.name != "AdaptiveSparkPlan":
            return True
        return source.root.identity in self.broadcasts


def _executed(plan: PhysicalPlan) -> Iterator[PhysicalOperator]:
    """The operators that run, each once; those that only describe a dynamic filter do not."""
    seen: set[int] = set()
    runs = (
        subquery.root
        for subquery in plan.subqueries
        if "dynamicpruning#" not in subquery.expression
    )
    for root in (plan.root, *runs):
        for operator in root.walk():
            if operator.number not in seen:
                seen.add(operator.number)
                yield operator


def _filters_of(scan: PhysicalOperator, layout: LayoutColumns) -> tuple[str, ...]:
    """The filters that exclude partitions, files or row groups of a scan's table."""
    filters = _on_partitions(scan)
    chosen = _OF_ICEBERG.search(" ".join(scan.details.values()))
    filters += items(f"[{chosen[1]}]") if chosen is not None else ()
    columns = layout.get(_last_name(scan), frozenset())
    pushed = items(scan.details.get("PushedFilters", "[]")) if columns else ()
    named = ((_PUSHED.match(item), item) for item in pushed)
    filters += [item for of, item in named if of is not None and of[1].lower() in columns]
    return tuple(filters)


def _on_partitions(scan: PhysicalOperator) -> list[str]:
    return [item for key in _FILTERS for item in items(scan.details.get(key, "[]"))]


def _last_name(scan: PhysicalOperator) -> str:
    return (scan.table or "").split(".")[-1].lower()


def _below_exchange(operator: PhysicalOperator) -> PhysicalOperator:
    while operator.name in ("Sort", "Exchange", "BroadcastExchange") and operator.children:
        operator = operator.children[0]
    return operator
