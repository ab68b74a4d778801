"""The rules for a scan that is bounded by the first values of its own column: each condition on the
rows that are ranked is repeated, or the first value of other rows would be asked for."""

from __future__ import annotations

from sqlrewrite.find.ranks import of_those_ranked
from sqlrewrite.find.restrictions import Conjunct
from sqlrewrite.judge.case import Case, Judgement, failed, passed
from sqlrewrite.judge.conditions import of_conjunct, shown
from sqlrewrite.judge.raising import raising_inside
from sqlrewrite.judge.repeatable import cannot_stand_alone, of_whole
from sqlrewrite.plan.algebra import Scan
from sqlrewrite.plan.columns import type_of
from sqlrewrite.plan.facts.comparisons import identical


def judge_repeated(case: Case) -> Judgement:
    """Whether all conditions on the rows that are ranked can be repeated as they are."""
    pair = case.pair
    block = case.plan.blocks[case.plan.owner[pair.key.relation]]
    if block.strange or block.unknowns:
        return failed((*block.strange, *block.unknowns)[0])
    if len(case.kept) < len(of_those_ranked(case.plan, pair)):
        return failed("a condition on the rows is on more than this table")
    if pair.dimension is not pair.target and not _same_rows(case):
        return failed("the rows beyond are not all of the same table: there may be none of them")
    against = (*of_whole(case, pair.dimension), *cannot_stand_alone(pair.dimension))
    why = next((reason for _, reason in against), None)
    if why is not None:
        return failed(why)
    culprit = raising_inside(case, pair.dimension)
    if culprit is not None:
        return failed(f"{shown(culprit)} inside {case.dimension_name} can raise an error")
    for item in (it for it in case.kept if isinstance(it, Conjunct)):
        why = next((reason for _, reason in of_conjunct(case, item)), None)
        if why is not None:
            return failed(f"a condition on the rows that are ranked is not repeated: {why}")
    return passed("the same rows are asked for the first values")


def _same_rows(case: Case) -> bool:
    """Whether the rows beyond are all of the fact's own table: it has a first value, where there is
    a row that has one, and any row that is not of it has one beyond."""
    scan, beyond, asked = case.pair.scan, case.pair.dimension, of_those_ranked(case.plan, case.pair)
    own = isinstance(beyond, Scan) and scan.table is beyond.table
    plain = not scan.version and isinstance(beyond, Scan) and not beyond.version
    return own and plain and case.pair.fact.name == case.pair.key.name and not asked


def judge_type(case: Case) -> Judgement:
    """Whether the values of the column are in one order, and equal ones are the same."""
    kind = type_of(case.plan, case.pair.fact)
    if kind is None or not identical(kind):
        return failed(f"{case.label(case.pair.fact)} is {kind or 'of a type that is not known'}")
    return passed(f"ranked as {kind}")
