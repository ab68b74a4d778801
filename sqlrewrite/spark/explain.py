"""What each fact scan is pruned by in Spark's plan, before and after, and how the plans differ.

In come the texts of a statement, out goes an ``Explained``. A plan that has not run shows a
dynamic filter in every candidate's scan, and over a sort-merge join that filter becomes ``true`` at
run time: only where the filtering side is a broadcast in the plan is the pruning called planned,
else possible (docs/spark.md, "Where native dynamic partition pruning stops").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from difflib import SequenceMatcher
from enum import Enum

from sqlrewrite.frozen import dataclass
from sqlrewrite.results import PlanLine, Rewrite
from sqlrewrite.spark.pairs import (
    QueryPair,
    enter,
    known_after,
    laid_out,
    pairs,
    partitioned,
    use,
)
from sqlrewrite.spark.physical import (
    PhysicalOperator,
    PhysicalPlan,
    PhysicalSubquery,
    items,
    parse,
    plain,
)
from sqlrewrite.spark.row_groups import RowGroups, planned_row_groups, scan_key
from sqlrewrite.spark.session import Session, reason, spark_errors
from sqlrewrite.spark.target import SparkError
from sqlrewrite.spark.warehouse import Stock, warehouse
from sqlrewrite.warehouse import Name, Warehouse

_REUSE_ONLY = "spark.sql.optimizer.dynamicPartitionPruning.reuseBroadcastOnly"
_DYNAMIC = "dynamicpruningexpression("
_SAYS_NOTHING = ("isnotnull(", "true")
_NOT_NULL = " IS NOT NULL"  # in Iceberg's words
_FILTERS = ("PartitionFilters", "RuntimeFilters")
# How a scan of Iceberg's tells what it chooses its files by, and a pushed filter names its column.
_OF_ICEBERG = re.compile(r"\bfilters=(.*?), (?:runtimeFilters|groupedBy)=")
_PUSHED = re.compile(r"(?!IsNotNull)\w+\(([\w.]+)\s*,")
Laid = Mapping[str, frozenset[str]]
Groups = Mapping[str, RowGroups]


class By(Enum):
    """What prunes a scan."""

    STATIC = "static filter"
    NATIVE = "dynamic pruning"
    OURS = "our predicate"


@dataclass(frozen=True, slots=True)
class Pruning:
    """One thing that prunes a scan. ``planned``: it will; else it may, for all the plan says."""

    by: By
    planned: bool = True


@dataclass(frozen=True, slots=True)
class ScanState:
    """A fact scan in one plan: its filters on partition columns, and what they come to; where its
    rows are ``laid_out`` by a column, what they leave of its files, if that is known."""

    filters: tuple[str, ...]
    pruned_by: tuple[Pruning, ...]
    laid_out: bool = False
    row_groups: RowGroups | None = None


@dataclass(frozen=True, slots=True)
class ExplainedScan:
    """A fact scan in both plans; None in the one that lacks it."""

    table: str
    before: ScanState | None
    after: ScanState | None


@dataclass(frozen=True, slots=True)
class Explained:
    """One statement, explained: its place, its fact scans, and the plans as one marked tree."""

    path: str
    line: int
    changed: bool
    scans: tuple[ExplainedScan, ...]
    before: str
    after: str
    diff: tuple[PlanLine, ...]
    exchanges: tuple[int, int] = (0, 0)


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


def explain_text(
    session: Session,
    path: str,
    rewrite: Rewrite,
    catalog: Warehouse,
    keep: Callable[[Explained], None],
    settings: Mapping[int, Mapping[str, str]] | None = None,
) -> Stock:
    """Explains the statements of a text that have candidates, and hands each to ``keep``; none is
    run. In a Spark of our own the tables are made first. Raises SparkError."""
    catalog = known_after(path, rewrite.original, catalog)
    facts, laid = partitioned(catalog), laid_out(catalog)
    found = pairs(path, rewrite)
    with ExitStack() as ends:
        stock = Stock()
        if session.target.embedded:
            stock = ends.enter_context(warehouse(session, catalog, [rewrite.original]))
        else:
            use(session, catalog)
        for pair in found:
            under = (settings or {}).get(pair.before.index, {})
            if not enter(session, pair) and (pair.candidates or pair.changed or under):
                keep(explain(session, pair, facts, laid, under))
    return stock


def explain(
    session: Session,
    pair: QueryPair,
    facts: frozenset[str],
    laid: Laid | None = None,
    under: Mapping[str, str] | None = None,
) -> Explained:
    """Plans both texts of a statement; ``laid`` are the columns by which the files of a table, by
    its last name, leave parts of it out; ``under`` are settings that the second plan is made under.
    Raises SparkError."""
    before = plan(session, pair.before.text, f"{pair.place}: Spark cannot plan the query")
    after = before
    if pair.changed or under:
        failing = f"{pair.place}: Spark cannot plan the rewritten query"
        with set_to(session, under or {}):
            after = plan(session, pair.after.text, failing)
    first, second = (planned(session, it, facts, laid) for it in (before, after))
    return Explained(
        path=pair.path,
        line=pair.before.line,
        changed=pair.changed,
        scans=tuple(_compared(first, second, _row_groups(session, pair, laid or {}))),
        before=_text(before),
        after=_text(after),
        diff=tuple(_diff(before, after)),
        exchanges=(_exchanges(before), _exchanges(after)),
    )


@contextmanager
def set_to(session: Session, settings: Mapping[str, str]) -> Iterator[None]:
    """The session under some settings, which are as they were behind it."""
    before: dict[str, str | None] = {}
    try:
        for name, value in settings.items():
            before[name] = session.spark.conf.get(name, None)
            session.spark.conf.set(name, value)
        yield
    finally:
        for name, old in before.items():
            if old is None:
                session.spark.conf.unset(name)
            else:
                session.spark.conf.set(name, old)


def _exchanges(plan: PhysicalPlan) -> int:
    """How often rows are sent to where their keys belong."""
    return sum(it.name == "Exchange" for it in plan.operators)


def _row_groups(session: Session, pair: QueryPair, laid: Laid) -> Groups:
    """What both plans leave of files: of those that there are, and not of what is made here."""
    if not laid or not session.classic or session.target.embedded:
        return {}
    return planned_row_groups(session.spark, (pair.before.text, pair.after.text), laid)


def plan(session: Session, sql: str, failing: str) -> PhysicalPlan:
    """The physical plan of a statement. Raises SparkError."""
    with spark_errors(failing):
        rows = session.spark.sql(f"EXPLAIN FORMATTED {sql}").collect()
        text = "\n".join(str(row[0]) for row in rows)
    try:
        return parse(text)
    except ValueError as error:  # Spark puts what it cannot analyse into the plan's place
        raise SparkError(f"{failing}: {plain(reason(error))}") from error


# Scan by scan


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


def _compared(before: Planned, after: Planned, groups: Groups) -> Iterator[ExplainedScan]:
    """The scans of both plans in pairs: of one table, alike in their columns if there are several.

    The plan after may read a fact once more, in a key query: that scan stands alone.
    """
    left = list(after.scans)
    for scan in before.scans:
        same = [it for it in left if it.table == scan.table]
        other = next((it for it in same if it.schema == scan.schema), same[0] if same else None)
        if other is not None:
            left.remove(other)
        yield ExplainedScan(
            scan.table,
            _state(scan, scan, groups),
            None if other is None else _state(other, scan, groups),
        )
    for scan in left:
        yield ExplainedScan(scan.table, None, _state(scan, scan, groups))


def _state(scan: PlannedScan, before: PlannedScan, groups: Groups) -> ScanState:
    """What the filters come to; those that ``before`` lacks come from our predicate."""
    filters = scan.filters
    ours = _added(filters, before.filters)
    found: dict[By, bool] = {}
    for number, it in enumerate(filters):
        if number in ours:
            by = By.OURS
        elif it.dynamic:
            by = By.NATIVE
        elif it.scalar or not (it.text.startswith(_SAYS_NOTHING) or it.text.endswith(_NOT_NULL)):
            by = By.STATIC
        else:
            continue
        found[by] = found.get(by, False) or it.planned
    pruned = tuple(Pruning(by, found[by]) for by in By if by in found)
    return ScanState(tuple(it.text for it in filters), pruned, bool(scan.key), groups.get(scan.key))


def _added(filters: Sequence[ScanFilter], before: Sequence[ScanFilter]) -> frozenset[int]:
    """Which filters are new: of each kind, as many as there are more than before. An IN of ours
    becomes a semi-join, so a filter that a semi-join feeds is the first to be taken for new."""
    scalar = [number for number, it in enumerate(filters) if it.scalar]
    dynamic = [number for number, it in enumerate(filters) if it.dynamic]
    dynamic.sort(key=lambda number: not filters[number].semi)
    more = len(dynamic) - sum(it.dynamic for it in before)
    semis = sum(it.semi for it in filters) - sum(it.semi for it in before)
    scalars = len(scalar) - sum(it.scalar for it in before)
    return frozenset((*dynamic[: max(more, semis, 0)], *scalar[: max(scalars, 0)]))


# The plans


def _text(plan: PhysicalPlan) -> str:
    return "\n".join(prefix + text for prefix, text in plan.lines())


def _diff(before: PhysicalPlan, after: PhysicalPlan) -> Iterator[PlanLine]:
    """Both trees as one: what is in both stands once, however deep it has moved."""
    old, new = before.lines(), after.lines()
    matcher = SequenceMatcher(None, [it[1] for it in old], [it[1] for it in new], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            yield from (PlanLine(" ", prefix + text) for prefix, text in new[c:d])
            continue
        yield from (PlanLine("-", prefix + text) for prefix, text in old[a:b])
        yield from (PlanLine("+", prefix + text) for prefix, text in new[c:d])
