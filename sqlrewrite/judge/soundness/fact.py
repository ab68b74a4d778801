"""The rules about the query around the fact: DPP105 barriers, DPP106 shared-cte, DPP107 streaming,
DPP108 determinism and DPP116 clause.

``lineage`` finds the operators between join and scan; which of them a predicate may pass is in
docs/soundness.md, "Operators between the join and the scan".
"""

from __future__ import annotations

from sqlrewrite.judge.form import has_key_query
from sqlrewrite.judge.proposal import (
    Judgement,
    Proposal,
    called,
    failed,
    passed,
    relation_name,
    unknown,
)
from sqlrewrite.judge.repeatable import STREAMING
from sqlrewrite.judge.soundness.join_type import ClauseKind, clause_for
from sqlrewrite.plan.algebra import CteReference, Opaque, Plan, Scan
from sqlrewrite.plan.memo import remembered
from sqlrewrite.plan.relations import reference_counts
from sqlrewrite.settings.options import DECLARED_IN
from sqlrewrite.text.templates import is_template
from sqlrewrite.warehouse import TEMPORAL


def judge_barriers(proposal: Proposal) -> Judgement:
    """Whether a predicate may be pushed from the join down to the scan."""
    barriers = proposal.pair.path.barriers
    if barriers:
        return failed(f"the predicate cannot be pushed below {', '.join(dict.fromkeys(barriers))}")
    return passed("nothing between the join and the scan stops the predicate")


def judge_shared(proposal: Proposal) -> Judgement:
    """Whether no CTE between join and scan has other references, which the predicate would prune
    too. If every reference has a bound, ``decision/decide.py`` overrules this."""
    plan = proposal.plan
    for relation in proposal.pair.path.relations:
        if relation is proposal.pair.target:
            break  # the predicate stands at this reference alone
        if not isinstance(relation, CteReference):
            continue
        if relation.cte in plan.unbound or reference_counts(plan)[relation.cte] > 1:
            name = relation_name(relation)
            return failed(
                f"the CTE `{name}` is read more than once: pruning it for one reference would "
                "lose rows of the others"
            )
    return passed("no other reference reads the fact through the same CTE")


def judge_streaming(proposal: Proposal) -> Judgement:
    """Whether neither side reads a stream."""
    if proposal.context.catalog.streaming:
        return failed(
            "Flink reads tables as streams: SET 'execution.runtime-mode' = 'batch' if the job is "
            "a batch job"
        )
    scan = proposal.pair.scan
    if scan.streaming:
        why = f" ({scan.table.unsteady})" if scan.table.unsteady else ""
        return failed(
            f"`{scan.alias}` is a stream{why}: pruning would change the state of the join"
        )
    reason = proposal.objection(STREAMING) or _other_stream(proposal.plan)
    return failed(reason) if reason else passed("neither side is a stream")


@remembered
def _other_stream(plan: Plan) -> str:
    """The reason if the statement also reads a stream, else ``""``: Flink runs a statement in one
    mode, so tables beside a stream are joined as streams, too."""
    for relation in plan.relations.values():
        if isinstance(relation, Scan) and relation.streaming and relation.table.unsteady:
            why = relation.table.unsteady
            return f"`{relation.alias}` in the same statement is a stream ({why})"
        if isinstance(relation, Opaque) and relation.reason == TEMPORAL:
            return f"`{relation.alias}` in the same statement is a stream ({TEMPORAL})"
    return ""


def judge_determinism(proposal: Proposal) -> Judgement:
    """Whether all functions in the blocks between join and scan are deterministic."""
    for number in _blocks(proposal):
        for reason in proposal.plan.blocks[number].unknown_syntax:
            return unknown(f"the query around the fact is not understood: {reason}")
        for name in sorted(proposal.plan.blocks[number].functions - {"?"}):
            row = proposal.options.function(name)
            if row is None:
                advice = "" if is_template(name) else f": if it is, declare it in {DECLARED_IN}"
                return unknown(
                    f"{called(name)} in the fact's SELECT is not known to be deterministic{advice}"
                )
            if not row.deterministic:
                return failed(
                    f"`{name}()` in the fact's SELECT gives other values when fewer rows are "
                    "read, so pruning would change the result"
                )
    return passed("all functions around the fact are deterministic")


def _blocks(proposal: Proposal) -> set[int]:
    owners = {proposal.plan.owner[relation.relation] for relation in proposal.pair.path.relations}
    return owners | {proposal.pair.edge.block.number}


def judge_clause(proposal: Proposal) -> Judgement:
    """Whether a clause of the text can take the predicate."""
    pair = proposal.pair
    if pair.at is None:
        return failed(
            f"no clause of this statement can take a condition on `{pair.target.alias}` alone"
        )
    if proposal.target_block.role == "change":
        return _judge_change(proposal)
    elsewhere = proposal.target_block.number != pair.edge.block.number
    if elsewhere or clause_for(pair) is not ClauseKind.ON:
        return passed("goes into the WHERE of the fact's SELECT")
    join = pair.edge.join
    if join is None or join.using or join.natural:
        return failed("the join has no ON for the predicate: write ON instead of USING or NATURAL")
    if not any(condition.clause is not None for condition in join.conditions):
        return failed("the ON of the join is not in this text")
    if not proposal.engine.queries_in_on and has_key_query(proposal):
        why = f"{proposal.engine.title} raises an error for a subquery in an ON"
        return failed(f"{why}: `--predicate values` writes constants there")
    return passed("goes into the ON of the join")


def _judge_change(proposal: Proposal) -> Judgement:
    """Whether the table's format allows a subquery in the condition of a DELETE or UPDATE."""
    provider = proposal.pair.scan.table.provider
    if provider == "iceberg":
        return passed("Iceberg allows a subquery in the WHERE of a DELETE or UPDATE")
    if provider == "delta":
        return failed("Delta allows no subquery in the WHERE of a DELETE or UPDATE")
    return failed("only Iceberg is known to allow a subquery in the WHERE of a DELETE or UPDATE")
