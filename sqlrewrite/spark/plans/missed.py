"""``--when missed`` by Spark's plan: leaves to Spark the pairs that its plan prunes by itself.

All predicates are decided. Each statement that gets one is planned as the author wrote it, and the
pairs that this plan prunes are left out when the predicates are decided again.

A pair is left to Spark only if every scan of its table in the plan is certainly pruned by its
column (``ScanFilter.planned``), with keys that come from its dimension and from all neighbours that
our predicate would follow. A pair that cannot be matched in this way keeps its predicate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlrewrite.decision.statement_decision import PairDecision, StatementDecision
from sqlrewrite.document import Decision, decide, read
from sqlrewrite.find.pairs import Pair, PairPlace
from sqlrewrite.find.restrictions import Restriction, SemiJoin, flattened, neighbours
from sqlrewrite.plan import algebra as ra
from sqlrewrite.plan.expressions import walk
from sqlrewrite.plan.relations import read_by
from sqlrewrite.results import Rewrite, Verdict
from sqlrewrite.rewriting import result
from sqlrewrite.run.runner import Request
from sqlrewrite.spark import query_pairs
from sqlrewrite.spark.plans.empty_tables import warehouse
from sqlrewrite.spark.plans.planned import Planned, plan, planned
from sqlrewrite.spark.session import Session, fresh
from sqlrewrite.sql.statements.execution import statement_texts
from sqlrewrite.warehouse import Name, Warehouse


def missed(session: Session, path: str, rewrite: Rewrite, request: Request) -> Rewrite:
    """The rewriting with only the predicates that Spark's own plan does not make needless. Raises
    SparkError."""
    options = request.options()
    document = read(rewrite.original, request.catalog, options.limits)
    every = decide(document, options.with_all())
    engine = options.engine
    if not every.statements or engine.planner != "spark" or not engine.native_joins:
        return rewrite  # rewriting is switched off in the text, or this is not Spark's planner
    left = frozenset(_left_to_spark(fresh(session), path, every, request.catalog))
    return result(decide(document, replace(options, planned=left)))


def _left_to_spark(
    session: Session, path: str, decision: Decision, catalog: Warehouse
) -> Iterator[PairPlace]:
    """The places of the pairs that Spark prunes by itself."""
    text = decision.document.stripped.text
    catalog = query_pairs.known_after(path, text, catalog)
    facts = query_pairs.partitioned(catalog)
    with warehouse(session, catalog, [text]):
        for query, decided in zip(statement_texts(text), decision.statements, strict=True):
            pair = query_pairs.QueryPair(path, query, query)
            if query_pairs.enter(session, pair) or not decided.matters:
                continue
            written = [it for it in decided.judged if it.verdict is Verdict.REWRITTEN]
            if written:
                failing = f"{pair.place}: Spark cannot plan the query"
                found = planned(session, plan(session, query.text, failing), facts)
                yield from _pruned(decided, written, found)


def _pruned(
    statement: StatementDecision, written: Sequence[PairDecision], found: Planned
) -> Iterator[PairPlace]:
    """The places of the pairs in ``written`` that the plan prunes."""
    needed = {it: _tables_read(statement.plan, it) for it in written}
    for it in written:
        pair = it.proposal.pair
        alike = [
            other
            for other in written
            if _bounded_column(other.proposal.pair) == _bounded_column(pair)
        ]
        certain = [
            scan.certain(pair.path.column)
            for scan in found.scans
            if scan.short_name == pair.scan.table.name[-2:]
        ]
        # Spark makes one filter of each join: with fewer filters than pairs, some pair has none.
        if certain and all(
            len(keys) >= len(alike) and any(needed[it] <= Counter(key.tables) for key in keys)
            for keys in certain
        ):
            yield pair.place


def _bounded_column(pair: Pair) -> tuple[int, str]:
    return pair.target.relation, pair.target_column


def _tables_read(plan: ra.Plan, judged: PairDecision) -> Counter[Name]:
    """How often each table is read for the keys of a predicate: by the dimension, its neighbours
    that the key query follows, and the subqueries in its conditions."""
    proposal = judged.proposal
    near = {it.relation: it for it in (proposal.pair.dimension, *neighbours(proposal.restrictions))}
    for condition in _conditions(proposal.restrictions):
        for inner in walk(condition):
            if isinstance(inner, ra.Subquery):
                near |= {it.relation: it for it in _leaves(plan, inner.query)}
    return sum((_tables(plan, it) for it in near.values()), Counter[Name]())


def _conditions(kept: Sequence[Restriction]) -> Iterator[ra.Expression]:
    """The conditions that the key query repeats, with those on neighbours."""
    for it in flattened(kept):
        if isinstance(it, SemiJoin):
            yield from _conditions(it.inner)
        else:
            yield it.expression


def _leaves(plan: ra.Plan, query: ra.Query) -> Iterator[ra.Scan | ra.Opaque]:
    """The tables and unknown relations that a query reads."""
    return (it for it in read_by(plan, query) if isinstance(it, ra.Scan | ra.Opaque))


def _tables(plan: ra.Plan, relation: ra.Relation) -> Counter[Name]:
    """How often each table is read for a relation; an unknown one counts under an empty name."""
    match relation:
        case ra.Scan(table=table):
            return Counter([table.name[-2:]])
        case ra.Derived(query=query) | ra.CteReference(query=query):
            return sum((_tables(plan, it) for it in _leaves(plan, query)), Counter[Name]())
        case _:
            return Counter([()])
