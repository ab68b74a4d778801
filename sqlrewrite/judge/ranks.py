"""The rules for a scan that is bounded by the first values of its own column: each condition on the
rows that are ranked is repeated, or the first value of other rows would be asked for."""

from __future__ import annotations

from sqlrewrite.find.restrictions import Conjunct
from sqlrewrite.judge.case import Case, Judgement, failed, passed
from sqlrewrite.judge.conditions import of_conjunct
from sqlrewrite.judge.repeatable import of_whole
from sqlrewrite.plan.columns import type_of
from sqlrewrite.plan.facts.comparisons import identical


def judge_repeated(case: Case) -> Judgement:
    """Whether all conditions on the rows that are ranked can be repeated as they are."""
    block = case.pair.tie.block
    if block.strange or block.unknowns:
        return failed((*block.strange, *block.unknowns)[0])
    if len(case.kept) < len(block.where):
        return failed("a condition on the rows is on more than this table")
    why = next((reason for _, reason in of_whole(case, case.pair.scan)), None)
    if why is not None:
        return failed(why)
    for item in (it for it in case.kept if isinstance(it, Conjunct)):
        why = next((reason for _, reason in of_conjunct(case, item)), None)
        if why is not None:
            return failed(f"a condition on the rows that are ranked is not repeated: {why}")
    return passed("the same rows are asked for the first values")


def judge_type(case: Case) -> Judgement:
    """Whether the values of the column are in one order, and equal ones are the same."""
    kind = type_of(case.plan, case.pair.fact)
    if kind is None or not identical(kind):
        return failed(f"{case.label(case.pair.fact)} is {kind or 'of a type that is not known'}")
    return passed(f"ranked as {kind}")
