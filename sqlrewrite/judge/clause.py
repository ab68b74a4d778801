"""DPP116 clause: there is a WHERE or an ON in the author's text that the predicate can join."""

from __future__ import annotations

from sqlrewrite.judge.case import Case, Judgement, failed, passed
from sqlrewrite.judge.form import asks
from sqlrewrite.judge.join_type import ClauseKind, place


def judge(case: Case) -> Judgement:
    """Whether the predicate has a place to stand."""
    pair = case.pair
    if pair.at is None:
        return failed(f"the text has no place for a condition on {pair.target.alias} alone")
    if case.target_block.role == "change":
        return _of_a_change(case)
    if case.target_block.number != pair.tie.block.number or place(pair) is not ClauseKind.ON:
        return passed("in the WHERE of the fact's own block")
    join = pair.tie.join
    if join is None or join.using or join.natural:
        return failed("the join has no ON to put the predicate into; write ON instead of USING")
    if not any(condition.clause is not None for condition in join.conditions):
        return failed("the ON cannot be found in the text")
    if not case.engine.queries_in_on and asks(case):
        why = f"{case.engine.name} raises an error for a subquery in an ON"
        return failed(f"{why}: --predicate values writes constants there")
    return passed("in the ON of the join")


def _of_a_change(case: Case) -> Judgement:
    """Whether the condition of a DELETE or UPDATE may hold a query, as the format has it."""
    provider = case.pair.scan.table.provider
    if provider == "iceberg":
        return passed("in the condition of the DELETE or UPDATE, where Iceberg takes a query")
    if provider == "delta":
        return failed("Delta takes no query in the condition of a DELETE or UPDATE")
    return failed("of Iceberg alone it is known that a DELETE or UPDATE takes a query there")
