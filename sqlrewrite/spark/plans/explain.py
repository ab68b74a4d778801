"""The pruning of each fact scan in Spark's plans, before and after; and ``--when missed`` by that
plan.

A scan's pruning is called planned if the plan shows that it will happen, else possible. A pair is
left to Spark only if each scan of its table is certainly pruned by its column, with keys from its
dimension and all neighbours that our predicate would use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import SequenceMatcher
from enum import Enum

from msgspec import Struct

from sqlrewrite.copies import replace
from sqlrewrite.decision.statement_decision import StatementDecision
from sqlrewrite.document import Decision, decide, read
from sqlrewrite.find.pairs import Pair, PairPlace
from sqlrewrite.find.restrictions import Restriction, SemiJoin, flattened, neighbours
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.expressions import walk
from sqlrewrite.plan.relations import read_by
from sqlrewrite.results import PlanLine, Rewrite, Verdict
from sqlrewrite.rewriting import result
from sqlrewrite.run.file_rewriting import Request
from sqlrewrite.spark.plans.empty_tables import Stock, warehouse
from sqlrewrite.spark.plans.planned import (
    LayoutColumns,
    PhysicalPlan,
    Planned,
    PlannedScan,
    ScanFilter,
    plan,
    planned,
)
from sqlrewrite.spark.plans.scans import RowGroups, planned_row_groups
from sqlrewrite.spark.script import (
    QueryPair,
    enter,
    known_after,
    layout_columns,
    pairs,
    partitioned,
)
from sqlrewrite.spark.session import Session, fresh
from sqlrewrite.sql.statements.effects import statement_texts
from sqlrewrite.text.markers import group_insertions
from sqlrewrite.warehouse import Name, Warehouse

Groups = Mapping[str, RowGroups]


class By(Enum):
    """What prunes a scan."""

    STATIC = "static filter"
    NATIVE = "dynamic pruning"
    OURS = "our predicate"


class Pruning(Struct, frozen=True):
    """A filter that prunes a scan. ``planned``: it certainly will; else it may."""

    by: By
    planned: bool = True


class ScanState(Struct, frozen=True):
    """A fact scan in one plan, and what prunes it; row groups only of a table with a layout."""

    filters: tuple[str, ...]
    pruned_by: tuple[Pruning, ...]
    laid_out: bool = False
    row_groups: RowGroups | None = None


class ExplainedScan(Struct, frozen=True):
    """A fact scan in both plans; None for a plan that does not have it."""

    table: str
    before: ScanState | None
    after: ScanState | None


class Explained(Struct, frozen=True):
    """The plans of one statement; ``exchanges`` are the shuffles before and after."""

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
    """Explains the statements of a text that have candidates, without running them, and passes each
    result to ``keep``. ``settings`` are set, by statement, for the plan after. In an embedded Spark
    the tables are created first. Raises SparkError."""
    catalog = known_after(path, rewrite.original, catalog)
    facts, layout = partitioned(catalog), layout_columns(catalog)
    with warehouse(session, catalog, [rewrite.original]) as stock:
        for pair in pairs(path, rewrite):
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
    """Plans both texts of a statement, the rewritten one under the settings ``under``."""
    before = plan(session, pair.before.text, f"{pair.place}: Spark cannot plan the query")
    after = before
    if pair.changed or under:
        failing = f"{pair.place}: Spark cannot plan the rewritten query"
        with set_to(session, under or {}):
            after = plan(session, pair.after.text, failing)
    first, second = (planned(session, tree, facts, layout) for tree in (before, after))
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
    """Sets settings of a session inside, and restores them afterwards."""
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
    return sum(operator.name == "Exchange" for operator in plan.operators)


def _row_groups(session: Session, pair: QueryPair, layout: LayoutColumns) -> Groups:
    """The row groups that both plans read; none in an embedded Spark, whose files are empty."""
    if not layout or not session.classic or session.target.embedded:
        return {}
    return planned_row_groups(session.spark, (pair.before.text, pair.after.text), layout)


# Scan by scan


def _compared(
    pair: QueryPair, before: Planned, after: Planned, groups: Groups
) -> Iterator[ExplainedScan]:
    """The scans of both plans in pairs: of the same table, and of the same columns if there are
    several. A scan of the second plan without a partner, as in a key query, is alone. In a text by
    groups of partitions no filter is a predicate of ours."""
    grouped = bool(group_insertions(pair.after.text))
    unpaired = list(after.scans)
    for scan in before.scans:
        same = [other for other in unpaired if other.table == scan.table]
        other = next(
            (alike for alike in same if alike.schema == scan.schema), same[0] if same else None
        )
        if other is not None:
            unpaired.remove(other)
        yield ExplainedScan(
            scan.table,
            _state(scan, scan, groups),
            None if other is None else _state(other, other if grouped else scan, groups),
        )
    for scan in unpaired:
        yield ExplainedScan(scan.table, None, _state(scan, scan, groups))


def _state(scan: PlannedScan, before: PlannedScan, groups: Groups) -> ScanState:
    """The state of a scan; the filters that ``before`` lacks come from our predicate."""
    filters = scan.filters
    ours = _added(filters, before.filters)
    certain: dict[By, bool] = {}
    for number, condition in enumerate(filters):
        if number in ours:
            by = By.OURS
        elif condition.dynamic:
            by = By.NATIVE
        elif condition.scalar or not condition.trivial:
            by = By.STATIC
        else:
            continue
        certain[by] = certain.get(by, False) or condition.planned
    pruned = tuple(Pruning(by, certain[by]) for by in By if by in certain)
    return ScanState(
        tuple(filter_.text for filter_ in filters), pruned, bool(scan.key), groups.get(scan.key)
    )


def _added(filters: Sequence[ScanFilter], before: Sequence[ScanFilter]) -> frozenset[int]:
    """The indexes of the filters that ``before`` lacks. Of several on join keys, those whose keys a
    semi-join reads come first: our IN becomes a semi-join."""
    scalar = [number for number, filter_ in enumerate(filters) if filter_.scalar]
    dynamic = [number for number, filter_ in enumerate(filters) if filter_.dynamic]
    dynamic.sort(key=lambda number: not filters[number].semi)
    more = len(dynamic) - sum(filter_.dynamic for filter_ in before)
    semis = sum(filter_.semi for filter_ in filters) - sum(filter_.semi for filter_ in before)
    scalars = len(scalar) - sum(filter_.scalar for filter_ in before)
    return frozenset((*dynamic[: max(more, semis, 0)], *scalar[: max(scalars, 0)]))


# The plans


def _text(plan: PhysicalPlan) -> str:
    return "\n".join(prefix + text for prefix, text in plan.lines())


def _diff(before: PhysicalPlan, after: PhysicalPlan) -> Iterator[PlanLine]:
    """Both trees as one; a line that both have is shown once, at any depth."""
    old, new = before.lines(), after.lines()
    matcher = SequenceMatcher(
        None, [line[1] for line in old], [line[1] for line in new], autojunk=False
    )
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            yield from (PlanLine(" ", prefix + text) for prefix, text in new[c:d])
            continue
        yield from (PlanLine("-", prefix + text) for prefix, text in old[a:b])
        yield from (PlanLine("+", prefix + text) for prefix, text in new[c:d])


def missed(session: Session, path: str, rewrite: Rewrite, request: Request) -> Rewrite:
    """The rewriting without the predicates that Spark's plan makes needless."""
    options = request.options()
    document = read(rewrite.original, request.catalog, options.limits)
    every = decide(document, options.with_all())
    engine = options.engine
    if not every.statements or engine.planner != "spark" or not engine.native_joins:
        return rewrite  # rewriting is switched off in the text, or the planner is not Spark's
    needless = frozenset(_left_to_spark(fresh(session), path, every, request.catalog))
    return result(decide(document, replace(options, planned=needless)))


def _left_to_spark(
    session: Session, path: str, decision: Decision, catalog: Warehouse
) -> Iterator[PairPlace]:
    """The places of the pairs that Spark prunes by itself."""
    text = decision.document.stripped.author_text
    catalog = known_after(path, text, catalog)
    facts = partitioned(catalog)
    with warehouse(session, catalog, [text]):
        for query, decided in zip(statement_texts(text), decision.statements, strict=True):
            pair = QueryPair(path, query, query)
            if enter(session, pair) or not decided.matters:
                continue
            written = [one for one in decided.proposals if one.verdict is Verdict.REWRITTEN]
            if written:
                failing = f"{pair.place}: Spark cannot plan the query"
                scans = planned(session, plan(session, query.text, failing), facts)
                yield from _pruned(decided, written, scans)


def _pruned(
    statement: StatementDecision, written: Sequence[Proposal], planned: Planned
) -> Iterator[PairPlace]:
    """The places of the pairs in ``written`` that the plan prunes."""
    needed = {proposal: _tables_read(statement.plan, proposal) for proposal in written}
    for proposal in written:
        pair = proposal.pair
        alike = [other for other in written if _bounded_column(other.pair) == _bounded_column(pair)]
        certain = [
            scan.certain(pair.path.column)
            for scan in planned.scans
            if scan.short_name == pair.scan.table.name[-2:]
        ]
        # Spark makes one filter for each join: with fewer filters than pairs, some pair has none.
        if certain and all(
            len(keys) >= len(alike) and any(needed[proposal] <= Counter(key.tables) for key in keys)
            for keys in certain
        ):
            yield pair.place


def _bounded_column(pair: Pair) -> tuple[int, str]:
    return pair.target.relation, pair.target_column


def _tables_read(plan: ra.Plan, proposal: Proposal) -> Counter[Name]:
    """How often each table is read by the key query of a predicate."""
    near = {
        relation.relation: relation
        for relation in (proposal.pair.dimension, *neighbours(proposal.restrictions))
    }
    for condition in _conditions(proposal.restrictions):
        for inner in walk(condition):
            if isinstance(inner, ra.Subquery):
                near |= {leaf.relation: leaf for leaf in _leaves(plan, inner.query)}
    return sum((_tables(plan, relation) for relation in near.values()), Counter[Name]())


def _conditions(kept: Sequence[Restriction]) -> Iterator[ra.Expression]:
    """The conditions that the key query repeats, including those on neighbours."""
    for restriction in flattened(kept):
        if isinstance(restriction, SemiJoin):
            yield from _conditions(restriction.inner)
        else:
            yield restriction.expression


def _leaves(plan: ra.Plan, query: ra.Query) -> Iterator[ra.Scan | ra.Opaque]:
    """The tables and unknown relations that a query reads."""
    return (
        relation for relation in read_by(plan, query) if isinstance(relation, ra.Scan | ra.Opaque)
    )


def _tables(plan: ra.Plan, relation: ra.Relation) -> Counter[Name]:
    """How often each table is read by a relation; unknown relations count under an empty name."""
    match relation:
        case ra.Scan(table=table):
            return Counter([table.name[-2:]])
        case ra.Derived(query=query) | ra.CteReference(query=query):
            return sum((_tables(plan, leaf) for leaf in _leaves(plan, query)), Counter[Name]())
        case _:
            return Counter([()])
