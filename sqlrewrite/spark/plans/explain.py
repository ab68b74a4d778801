"""``explain --spark``: what prunes each fact scan in Spark's plans before and after; their diff.

In: a statement before and after. Out: an ``Explained``. A scan's pruning is called planned where
the plan shows that it will happen, else possible (``planned.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum

from sqlrewrite.results import PlanLine, Rewrite
from sqlrewrite.spark.plans.empty_tables import Stock, warehouse
from sqlrewrite.spark.plans.physical import PhysicalPlan
from sqlrewrite.spark.plans.planned import (
    LayoutColumns,
    Planned,
    PlannedScan,
    ScanFilter,
    plan,
    planned,
)
from sqlrewrite.spark.plans.row_groups import RowGroups, planned_row_groups
from sqlrewrite.spark.query_pairs import (
    QueryPair,
    enter,
    known_after,
    layout_columns,
    pairs,
    partitioned,
)
from sqlrewrite.spark.session import Session
from sqlrewrite.text.markers import group_insertions
from sqlrewrite.warehouse import Warehouse

_TRIVIAL = ("isnotnull(", "true")
_NOT_NULL = " IS NOT NULL"  # in Iceberg's words
Groups = Mapping[str, RowGroups]


class By(Enum):
    """What prunes a scan."""

    STATIC = "static filter"
    NATIVE = "dynamic pruning"
    OURS = "our predicate"


@dataclass(frozen=True, slots=True)
class Pruning:
    """One thing that prunes a scan. ``planned``: it certainly will; else it may."""

    by: By
    planned: bool = True


@dataclass(frozen=True, slots=True)
class ScanState:
    """A fact scan in one plan: its filters, and what they amount to. ``laid_out``: its table has
    layout columns; then ``row_groups`` are those that the filters leave, if that is known."""

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
    """One statement, explained: its place, its fact scans, both plans and their diff; ``exchanges``
    counts the shuffles in each."""

    path: str
    line: int
    changed: bool
    scans: tuple[ExplainedScan, ...]
    before: str
    after: str
    diff: tuple[PlanLine, ...]
    exchanges: tuple[int, int] = (0, 0)


def explain_text(
    session: Session,
    path: str,
    rewrite: Rewrite,
    catalog: Warehouse,
    keep: Callable[[Explained], None],
    settings: Mapping[int, Mapping[str, str]] | None = None,
) -> Stock:
    """Explains the statements of a text that have candidates, without running them, and hands each
    to ``keep``. ``settings`` are set, by statement, for the plan after. In an embedded Spark the
    tables are made first. Raises SparkError."""
    catalog = known_after(path, rewrite.original, catalog)
    facts, layout = partitioned(catalog), layout_columns(catalog)
    found = pairs(path, rewrite)
    with warehouse(session, catalog, [rewrite.original]) as stock:
        for pair in found:
            under = (settings or {}).get(pair.before.index, {})
            if not enter(session, pair) and (pair.candidates or pair.changed or under):
                keep(explain(session, pair, facts, layout, under))
    return stock


def explain(
    session: Session,
    pair: QueryPair,
    facts: frozenset[str],
    layout: LayoutColumns | None = None,
    under: Mapping[str, str] | None = None,
) -> Explained:
    """Plans both texts of a statement, the second under the settings ``under``; ``facts`` are the
    last names of partitioned tables. Raises SparkError."""
    before = plan(session, pair.before.text, f"{pair.place}: Spark cannot plan the query")
    after = before
    if pair.changed or under:
        failing = f"{pair.place}: Spark cannot plan the rewritten query"
        with set_to(session, under or {}):
            after = plan(session, pair.after.text, failing)
    first, second = (planned(session, it, facts, layout) for it in (before, after))
    return Explained(
        path=pair.path,
        line=pair.before.line,
        changed=pair.changed,
        scans=tuple(_compared(pair, first, second, _row_groups(session, pair, layout or {}))),
        before=_text(before),
        after=_text(after),
        diff=tuple(_diff(before, after)),
        exchanges=(_exchanges(before), _exchanges(after)),
    )


@contextmanager
def set_to(session: Session, settings: Mapping[str, str]) -> Iterator[None]:
    """Sets a session's settings inside, and restores them afterwards."""
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
    """The number of shuffles in a plan."""
    return sum(it.name == "Exchange" for it in plan.operators)


def _row_groups(session: Session, pair: QueryPair, layout: LayoutColumns) -> Groups:
    """The row groups that both plans leave; none in an embedded Spark, whose files are empty."""
    if not layout or not session.classic or session.target.embedded:
        return {}
    return planned_row_groups(session.spark, (pair.before.text, pair.after.text), layout)


# Scan by scan


def _compared(
    pair: QueryPair, before: Planned, after: Planned, groups: Groups
) -> Iterator[ExplainedScan]:
    """The scans of both plans in pairs: of one table, and with the same columns if several are.

    A scan of the plan after that has no partner, as in a key query, stands alone. In a text by
    groups of partitions no filter is a predicate of ours.
    """
    grouped = bool(group_insertions(pair.after.text))
    left = list(after.scans)
    for scan in before.scans:
        same = [it for it in left if it.table == scan.table]
        other = next((it for it in same if it.schema == scan.schema), same[0] if same else None)
        if other is not None:
            left.remove(other)
        yield ExplainedScan(
            scan.table,
            _state(scan, scan, groups),
            None if other is None else _state(other, other if grouped else scan, groups),
        )
    for scan in left:
        yield ExplainedScan(scan.table, None, _state(scan, scan, groups))


def _state(scan: PlannedScan, before: PlannedScan, groups: Groups) -> ScanState:
    """The state of a scan; the filters that ``before`` lacks come from our predicate."""
    filters = scan.filters
    ours = _added(filters, before.filters)
    found: dict[By, bool] = {}
    for number, it in enumerate(filters):
        if number in ours:
            by = By.OURS
        elif it.dynamic:
            by = By.NATIVE
        elif it.scalar or not (it.text.startswith(_TRIVIAL) or it.text.endswith(_NOT_NULL)):
            by = By.STATIC
        else:
            continue
        found[by] = found.get(by, False) or it.planned
    pruned = tuple(Pruning(by, found[by]) for by in By if by in found)
    return ScanState(tuple(it.text for it in filters), pruned, bool(scan.key), groups.get(scan.key))


def _added(filters: Sequence[ScanFilter], before: Sequence[ScanFilter]) -> frozenset[int]:
    """The numbers of the new filters: of each kind, as many as there are more than before. Our IN
    becomes a semi-join, so filters that a semi-join feeds are taken first."""
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
    """Both trees as one: a line of both stands once, whatever its depth."""
    old, new = before.lines(), after.lines()
    matcher = SequenceMatcher(None, [it[1] for it in old], [it[1] for it in new], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            yield from (PlanLine(" ", prefix + text) for prefix, text in new[c:d])
            continue
        yield from (PlanLine("-", prefix + text) for prefix, text in old[a:b])
        yield from (PlanLine("+", prefix + text) for prefix, text in new[c:d])
