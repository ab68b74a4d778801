"""The rules for the target of a MERGE whose source bounds its keys by constants.

If every key of the source is NULL or satisfies ``k >= c``, and the ON has ``t.p = s.k``, then
``t.p >= c`` holds for each row of the target that matches, provided that both columns have one type
in which equal values are identical (docs/soundness.md, "Statements that change rows").
"""

from __future__ import annotations

from sqlrewrite.judge.conditions import objections_to_value
from sqlrewrite.judge.proposal import Judgement, Proposal, called, failed, passed, unknown
from sqlrewrite.plan.algebra import Call, Expression, Literal, Parameter
from sqlrewrite.plan.expressions import columns, walk
from sqlrewrite.plan.facts.coercion import (
    compare_alike,
    identical,
    is_integral,
    listed_alike,
    read_as,
)
from sqlrewrite.plan.facts.constants import is_instant
from sqlrewrite.plan.facts.functions import function
from sqlrewrite.plan.facts.types import DATE, MOMENTS, STRING, Type

_ONE_PLAN = frozenset({"iceberg"})
"""Formats whose MERGE is one plan with one ``current_date()``; Delta runs several plans."""


def judge_restricted(proposal: Proposal) -> Judgement:
    """Whether the ON does not restrict the partition column by columns of the target alone."""
    pair, join = proposal.pair, proposal.pair.edge.join
    for condition in join.conditions if join is not None else ():
        named = {ref.name for ref in columns(condition.expression)}
        if condition.relations == {pair.scan.relation} and pair.path.column in named:
            return failed(f"the ON restricts {proposal.label(pair.fact)} itself already")
    return passed(f"the ON does not restrict {proposal.label(pair.fact)} itself")


def judge_constants(proposal: Proposal) -> Judgement:
    """Whether the constants may be written a second time."""
    for constant in _constants(proposal):
        why = next((reason for _, reason in objections_to_value(proposal, constant)), None)
        if why is not None:
            return failed(f"the constant cannot be repeated: {why}")
        for node in walk(constant):
            row = function(node.name) if isinstance(node, Call) else None
            table = proposal.pair.scan.table
            if row is not None and row.again == "query" and table.provider not in _ONE_PLAN:
                return failed(
                    f"{called(row.name)} may return another day in a later step of the same MERGE: "
                    "write the day as a literal or a parameter"
                )
    return passed("the source's constants have the same value in the ON")


def judge_types(proposal: Proposal) -> Judgement:
    """Whether the constants compare with the target's column as with the key."""
    pair = proposal.pair
    stored, key = proposal.type_of(pair.stored), proposal.type_of(pair.key)
    fact_name, key_name = proposal.label(pair.fact), proposal.label(pair.key)
    if stored is None or key is None:
        name = fact_name if stored is None else key_name
        return unknown(f"the type of {name} is not known: declare it in the catalog")
    if not identical(stored):
        return failed(f"{fact_name} is {stored}, whose values can be equal and still differ")
    if read_as(stored) != read_as(key):
        return failed(
            f"{fact_name} is {stored} and {key_name} is {key}: a constant may compare differently "
            "with each of them"
        )
    for constant in _constants(proposal):
        if not _compares(proposal, constant, stored):
            kind = proposal.type_of(constant) or "of an unknown type"
            return failed(f"{fact_name} is {stored}, and a constant that bounds the keys is {kind}")
    lists = (bound.constants for bound in pair.bounds if len(bound.constants) > 1)
    if not all(_same_in_list(proposal, constants, stored) for constants in lists):
        return failed(
            f"{fact_name} is {stored}, and IN may compare it with the constants as another type "
            "than `=` does"
        )
    return passed(f"the constants are compared with {fact_name} as with {key_name}: as {stored}")


def _compares(proposal: Proposal, constant: Expression, stored: Type) -> bool:
    """Whether a comparison with a column of type ``stored`` casts only the constant, and the cast
    raises no error."""
    kind = proposal.type_of(constant)
    if kind is not None and (read_as(kind) == read_as(stored) or compare_alike(stored, kind)):
        return kind != STRING or read_as(stored) == STRING
    if stored not in MOMENTS:
        return isinstance(constant, Parameter) and is_integral(stored)
    match constant:
        case Literal(kind="string", text=text):
            return is_instant(text)
        case Literal(kind="template") | Parameter():
            return True
        case _:
            return False


def _same_in_list(proposal: Proposal, constants: tuple[Expression, ...], stored: Type) -> bool:
    """Whether the column compares with each constant of an IN's list as it does beside ``=``.
    Outside of ANSI mode an IN over a date and a text casts both to STRING, where ``=`` casts the
    text: ``'2024-03-01 10:00:00'`` is the day then, and is not in the list."""
    kinds = [proposal.type_of(constant) for constant in constants]
    list_types = [kind for kind in kinds if kind is not None]
    if len(list_types) < len(kinds) or any(isinstance(one, Parameter) for one in constants):
        return False
    if stored == DATE and all(map(_is_day, constants, kinds)):
        return True  # of each day there is one such text
    return listed_alike(stored, list_types)


def _is_day(constant: Expression, kind: Type | None) -> bool:
    """Whether a constant is a DATE, or a text that is written as a DATE is as a STRING."""
    text = constant.text if isinstance(constant, Literal) and constant.kind == "string" else ""
    return kind == DATE or (is_instant(text) and len(text) == len("2024-03-01"))


def _constants(proposal: Proposal) -> list[Expression]:
    return [constant for bound in proposal.pair.bounds for constant in bound.constants]
