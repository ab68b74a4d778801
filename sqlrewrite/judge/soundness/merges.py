"""The rules for the target of a MERGE whose keys are bounded by constants of its source.

Each row of the source has a key for which ``k >= c`` holds, or that is NULL. With ``t.p = s.k`` in
the ON, a row of the target that matches has that key as its own: ``t.p >= c`` holds for it, where
both columns have one type and equal values of it are the same (docs/soundness.md, "Statements that
change rows").
"""

from __future__ import annotations

from sqlrewrite.judge.conditions import describe, objections_to_value
from sqlrewrite.judge.errors.copied import raising_for_constant
from sqlrewrite.judge.proposal import Judgement, Proposal, called, failed, passed, unknown
from sqlrewrite.plan.algebra import Call, Expression, Literal, Parameter
from sqlrewrite.plan.expressions import columns, walk
from sqlrewrite.plan.facts.coercion import compare_alike, identical, is_integral, read_as
from sqlrewrite.plan.facts.constants import is_instant
from sqlrewrite.plan.facts.functions import function
from sqlrewrite.plan.facts.types import DATE, STRING, TIMESTAMP, TIMESTAMP_NTZ, Type

_MOMENTS = frozenset({DATE, TIMESTAMP, TIMESTAMP_NTZ})

_ONE_PLAN = frozenset({"iceberg"})
"""Formats whose MERGE is one plan, during which the clock stands still; Delta runs several."""


def judge_restricted(proposal: Proposal) -> Judgement:
    """Whether the ON has no condition on the partition column and other columns of the target."""
    pair, join = proposal.pair, proposal.pair.edge.join
    for condition in join.conditions if join is not None else ():
        named = {ref.name for ref in columns(condition.expression)}
        if condition.relations == {pair.scan.relation} and pair.path.column in named:
            return failed(f"the ON restricts {proposal.label(pair.fact)} itself already")
    return passed(f"the ON has no condition on {proposal.label(pair.fact)} alone")


def judge_constants(proposal: Proposal) -> Judgement:
    """Whether the constants may be written a second time."""
    for constant in _constants(proposal):
        why = next((reason for _, reason in objections_to_value(proposal, constant)), None)
        if why is not None:
            return failed(f"the constant is not repeated: {why}")
        for node in walk(constant):
            row = function(node.name) if isinstance(node, Call) else None
            table = proposal.pair.scan.table
            if row is not None and row.again == "query" and table.provider not in _ONE_PLAN:
                return failed(
                    f"{called(row.name)} may return another day in a later step of the same MERGE: "
                    "give the day as a constant or a parameter"
                )
    return passed("the source's constants have the same value in the ON")


def judge_types(proposal: Proposal) -> Judgement:
    """Whether the target's column compares with the constants as the key does, without an error."""
    pair = proposal.pair
    stored, key = proposal.type_of(pair.stored), proposal.type_of(pair.key)
    fact_name, key_name = proposal.label(pair.fact), proposal.label(pair.key)
    if stored is None or key is None:
        name = fact_name if stored is None else key_name
        return unknown(f"the type of {name} is not known: declare it")
    if not identical(stored):
        return failed(f"{fact_name} is {stored}: two of its values can be equal but not identical")
    # A day as a string becomes a date in each of the comparisons, but has another order before.
    as_text = stored in _MOMENTS and key == STRING
    equal = all(bound.operator == "in" for bound in pair.bounds)
    if stored != key and not (as_text and equal):
        return failed(
            f"{fact_name} is {stored} and {key_name} is {key}: the same constant may compare "
            "differently with each of them"
        )
    for constant in _constants(proposal):
        if not _compares(proposal, constant, stored):
            kind = proposal.type_of(constant) or "of a type that is not known"
            return failed(
                f"a constant that {key_name} is compared with is {kind} and {fact_name} is {stored}"
            )
    return passed(f"the constants compare with {fact_name} as with {key_name}, as {stored}")


def _compares(proposal: Proposal, constant: Expression, stored: Type) -> bool:
    """Whether a comparison of a column of type ``stored`` with a constant casts the constant alone,
    and not to what it cannot be."""
    kind = proposal.type_of(constant)
    if kind is not None and (read_as(kind) == read_as(stored) or compare_alike(stored, kind)):
        return kind != STRING or stored == STRING
    if stored not in _MOMENTS:
        return isinstance(constant, Parameter) and is_integral(stored)
    match constant:
        case Literal(kind="string", text=text):
            return is_instant(text)
        case Literal(kind="template") | Parameter():
            return True
        case _:
            return False


def judge_guards(proposal: Proposal) -> Judgement:
    """Whether no condition on the target's column can fail for the constants: Spark puts a constant
    in its place and computes the condition beforehand."""
    culprit = raising_for_constant(proposal)
    if culprit is not None:
        return failed(
            f"{describe(culprit)} in a condition on {proposal.label(proposal.pair.fact)} can raise "
            "an error, and Spark would evaluate it for the constant beforehand"
        )
    return passed("no condition on the column can raise an error for a constant")


def _constants(proposal: Proposal) -> list[Expression]:
    return [constant for bound in proposal.pair.bounds for constant in bound.constants]
