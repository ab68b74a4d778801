"""The rules for a scan that the first values of its own column bound: each condition on the ranked
rows must be repeated, or the predicate would find the first values of other rows."""

from __future__ import annotations

from itertools import chain

from sqlrewrite.find.rank_pairs import conditions_on_ranked_rows
from sqlrewrite.find.restrictions import Conjunct
from sqlrewrite.judge.conditions import describe, objections_to_conjunct
from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed
from sqlrewrite.judge.raising import raising_inside
from sqlrewrite.judge.repeatable import objections_to_copying, objections_to_relation
from sqlrewrite.plan.algebra import Scan
from sqlrewrite.plan.facts.coercion import identical


def judge_repeated(proposal: Proposal) -> Judgement:
    """Whether all conditions on the ranked rows can be repeated as they are."""
    pair = proposal.pair
    block = proposal.plan.blocks[proposal.plan.owner[pair.key.relation]]
    if block.unknown_syntax or block.unknown_values:
        return failed((*block.unknown_syntax, *block.unknown_values)[0])
    if len(proposal.restrictions) < len(conditions_on_ranked_rows(proposal.plan, pair)):
        return failed("a condition on the rows is on more than this table")
    if pair.dimension is not pair.target and not _same_rows(proposal):
        return failed("the rows beyond are not all of the same table: there may be none of them")
    reading = objections_to_relation(proposal, pair.dimension)
    objections = chain(reading, objections_to_copying(pair.dimension))
    why = next((reason for _, reason in objections), None)
    if why is not None:
        return failed(why)
    culprit = raising_inside(proposal, pair.dimension)
    if culprit is not None:
        return failed(f"{describe(culprit)} inside {proposal.dimension_name} can raise an error")
    for item in (it for it in proposal.restrictions if isinstance(it, Conjunct)):
        why = next((reason for _, reason in objections_to_conjunct(proposal, item)), None)
        if why is not None:
            return failed(f"a condition on the rows that are ranked is not repeated: {why}")
    return passed("the same rows are asked for the first values")


def _same_rows(proposal: Proposal) -> bool:
    """Whether the rows beyond are all rows of the fact's own table, by the same column: then each
    row without the first value has a row beyond it."""
    scan, beyond, asked = (
        proposal.pair.scan,
        proposal.pair.dimension,
        conditions_on_ranked_rows(proposal.plan, proposal.pair),
    )
    own = isinstance(beyond, Scan) and scan.table is beyond.table
    plain = not scan.version and isinstance(beyond, Scan) and not beyond.version
    return own and plain and proposal.pair.fact.name == proposal.pair.key.name and not asked


def judge_type(proposal: Proposal) -> Judgement:
    """Whether the values of the column have one order, and equal values are the same."""
    kind = proposal.type_of(proposal.pair.fact)
    if kind is None or not identical(kind):
        return failed(
            f"{proposal.label(proposal.pair.fact)} is {kind or 'of a type that is not known'}"
        )
    return passed(f"ranked as {kind}")
