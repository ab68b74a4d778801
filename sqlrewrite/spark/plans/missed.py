"""``--when missed``, read from the plan: what Spark has planned to prune by itself is left to it.

In come a session, a text and how it was to be rewritten, out comes the ``Rewrite`` again. All
predicates are derived; each statement that gets one is planned as it stands without; what that plan
prunes is left out when the predicates are derived once more.

A pair is left to Spark only if every scan of its table in the plan is pruned by its column, surely
(``Pruning.planned``), with keys that come from its dimension and all neighbours that our predicate
would follow. What cannot be matched so keeps its predicate.
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
from sqlrewrite.sql.statements.queries import queries
from sqlrewrite.warehouse import Name, Warehouse


def missed(session: Session, path: str, rewrite: Rewrite, request: Request) -> Rewrite:
    """The rewriting with those predicates alone that Spark's own plan does not make needless.
    Raises SparkError."""
    wanted = request.options()
    document = read(rewrite.original, request.catalog, wanted.limits)
    every = decide(document, wanted.with_all())
    if not every.statements or wanted.engine.planner != "spark" or not wanted.engine.native_joins:
        return rewrite  # it asks to be left alone, or these are not Spark's plans
    left = frozenset(_left(fresh(session), path, every, request.catalog))
    return result(decide(document, replace(wanted, planned=left)))


def _left(session: Session, path: str, every: Decision, catalog: Warehouse) -> Iterator[PairPlace]:
    """The places of the pairs that Spark prunes by itself."""
    text = every.document.stripped.text
    catalog = query_pairs.known_after(path, text, catalog)
    facts = query_pairs.partitioned(catalog)
    with warehouse(session, catalog, [text]):
        for query, decided in zip(queries(text), every.statements, strict=True):
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
    """The places of those pairs, of all that have a predicate, that the plan prunes."""
    needed = {it: _read(statement.plan, it) for it in written}
    for it in written:
        pair = it.proposal.pair
        alike = [other for other in written if _bounds(other.proposal.pair) == _bounds(pair)]
        sure = [
            scan.sure(pair.path.column)
            for scan in found.scans
            if scan.short == pair.scan.table.name[-2:]
        ]
        # Spark makes one filter of each join: with fewer than there are pairs, whose is which?
        if sure and all(
            len(keys) >= len(alike) and any(needed[it] <= Counter(key.tables) for key in keys)
            for keys in sure
        ):
            yield pair.place


def _bounds(pair: Pair) -> tuple[int, str]:
    return pair.target.relation, pair.target_column


def _read(plan: ra.Plan, judged: PairDecision) -> Counter[Name]:
    """How often each table is read for the keys of a predicate: by the dimension, by the neighbours
    that are followed from it, by the subqueries in its conditions."""
    proposal = judged.proposal
    near = {it.relation: it for it in (proposal.pair.dimension, *neighbours(proposal.restrictions))}
    for condition in _conditions(proposal.restrictions):
        for inner in walk(condition):
            if isinstance(inner, ra.Subquery):
                near |= {it.relation: it for it in _leaves(plan, inner.query)}
    return sum((_tables(plan, it) for it in near.values()), Counter[Name]())


def _conditions(kept: Sequence[Restriction]) -> Iterator[ra.Expression]:
    """The conditions that the key query repeats, those on neighbours too."""
    for it in flattened(kept):
        if isinstance(it, SemiJoin):
            yield from _conditions(it.inner)
        else:
            yield it.expression


def _leaves(plan: ra.Plan, query: ra.Query) -> Iterator[ra.Scan | ra.Opaque]:
    """The tables that a query reads, and what else it reads."""
    return (it for it in read_by(plan, query) if isinstance(it, ra.Scan | ra.Opaque))


def _tables(plan: ra.Plan, relation: ra.Relation) -> Counter[Name]:
    """How often each table is read for a relation; one that nobody can know under no name."""
    match relation:
        case ra.Scan(table=table):
            return Counter([table.name[-2:]])
        case ra.Derived(query=query) | ra.CteReference(query=query):
            return sum((_tables(plan, it) for it in _leaves(plan, query)), Counter[Name]())
        case _:
            return Counter([()])
