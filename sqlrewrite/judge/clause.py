"""DPP116 clause: there is a WHERE or an ON in the author's text that the predicate can join."""

from __future__ import annotations

from sqlrewrite.judge.case import Case, Judgement, failed, passed
from sqlrewrite.judge.join_type import ClauseKind, place


def judge(case: Case) -> Judgement:
    """Whether the predicate has a place to stand."""
    pair = case.pair
    if pair.target.span is None:
        return failed(f"{pair.target.alias} has no place of its own in the text")
    if case.target_block.role == "change":
        return failed(
            "nothing is written into the condition of a DELETE or UPDATE itself: who takes it out "
            "again by mistake changes other rows"
        )
    if case.target_block.number != pair.tie.block.number or place(pair) is not ClauseKind.ON:
        return passed("in the WHERE of the fact's own block")
    join = pair.tie.join
    if join is None or join.using or join.natural:
        return failed("the join has no ON to put the predicate into; write ON instead of USING")
    if not any(condition.clause is not None for condition in join.conditions):
        return failed("the ON cannot be found in the text")
    return passed("in the ON of the join")
