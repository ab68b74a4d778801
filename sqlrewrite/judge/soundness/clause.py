"""DPP116 clause: the author's text has a WHERE or an ON that the predicate can be added to."""

from __future__ import annotations

from sqlrewrite.judge.form import has_key_query
from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed
from sqlrewrite.judge.soundness.join_type import ClauseKind, clause_for


def judge(proposal: Proposal) -> Judgement:
    """Whether the predicate has a place to stand."""
    pair = proposal.pair
    if pair.at is None:
        return failed(f"the text has no place for a condition on {pair.target.alias} alone")
    if proposal.target_block.role == "change":
        return _of_a_change(proposal)
    elsewhere = proposal.target_block.number != pair.edge.block.number
    if elsewhere or clause_for(pair) is not ClauseKind.ON:
        return passed("in the WHERE of the fact's own block")
    join = pair.edge.join
    if join is None or join.using or join.natural:
        return failed("the join has no ON to put the predicate into; write ON instead of USING")
    if not any(condition.clause is not None for condition in join.conditions):
        return failed("the ON cannot be found in the text")
    if not proposal.engine.queries_in_on and has_key_query(proposal):
        why = f"{proposal.engine.title} raises an error for a subquery in an ON"
        return failed(f"{why}: --predicate values writes constants there")
    return passed("in the ON of the join")


def _of_a_change(proposal: Proposal) -> Judgement:
    """Whether the condition of a DELETE or UPDATE may hold a query, which depends on the format."""
    provider = proposal.pair.scan.table.provider
    if provider == "iceberg":
        return passed("in the condition of the DELETE or UPDATE, where Iceberg takes a query")
    if provider == "delta":
        return failed("Delta takes no query in the condition of a DELETE or UPDATE")
    return failed("of Iceberg alone it is known that a DELETE or UPDATE takes a query there")
