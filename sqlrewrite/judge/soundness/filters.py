"""The rules for a scan bounded by its own query: by a filter on the source of a derived column, or
by the first values of its own column (a rank).

If f keeps the order, ``x >= c`` implies ``f(x) >= f(c)``, which is written beside the author's
condition. For a rank, every condition on the ranked rows is repeated.
"""

from __future__ import annotations

from itertools import chain

from msgspec import Struct

from sqlrewrite.copies import replace
from sqlrewrite.find.filter_pairs import restricts
from sqlrewrite.find.rank_pairs import conditions_on_ranked_rows
from sqlrewrite.find.reducers import own_conditions
from sqlrewrite.find.restrictions import Conjunct, plain_conditions
from sqlrewrite.judge.conditions import (
    GUARDS,
    describe,
    objections_to_conjunct,
    objections_to_value,
)
from sqlrewrite.judge.errors.copied import raising_for_constant
from sqlrewrite.judge.errors.raising import raising_inside
from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed, unknown
from sqlrewrite.judge.repeatable import objections_to_copying, objections_to_relation
from sqlrewrite.judge.soundness.derived_column import (
    DERIVED,
    DerivedBound,
    compares_own_expression,
    derived_bound,
)
from sqlrewrite.plan.algebra import Call, Cast, ColumnRef, Expression, Literal, Parameter, Scan
from sqlrewrite.plan.expressions import columns
from sqlrewrite.plan.facts.coercion import compare_alike, identical, is_integral, lossless, read_as
from sqlrewrite.plan.facts.constants import is_instant
from sqlrewrite.plan.facts.functions import tagged
from sqlrewrite.plan.facts.types import DATE, STRING, TIMESTAMP, TIMESTAMP_NTZ, Type
from sqlrewrite.plan.memo import shared
from sqlrewrite.settings.options import ALONE

_DIGITS = 4
_ORDERED = ("<", "<=", ">", ">=")

MOST = 100
"""The most values of an IN that are repeated."""


class Constant(Struct, frozen=True):
    """How a constant is compared: ``cast`` to a type as Spark does, or as it is. ``later``: it may
    be a time after midnight, so that an upper bound needs the day after its own."""

    cast: str = ""
    later: bool = False


def constants(proposal: Proposal) -> tuple[Expression, ...]:
    """The constants that the filter compares the column with."""
    its = proposal.pair.key_side.expression
    return its.args[1:] if isinstance(its, Call) and its.name == "in" else (its,)


def judge_pruned(proposal: Proposal) -> Judgement:
    """Whether the query does not restrict the derived column itself."""
    scan, column = proposal.pair.scan, proposal.pair.pruned
    ends = proposal.pair.derived is not None and proposal.pair.derived.ends
    for condition in _conditions_naming(proposal, scan.relation, column):
        if not ends or restricts(proposal.plan, condition, proposal.pair):
            return failed(f"the query restricts `{column}` itself already")
    if proposal.pair.key_side.operand is None and _is_implied(proposal):
        return failed(f"the query's condition on the expression of `{column}` is tighter")
    return passed(f"the query does not restrict `{column}` itself")


@shared
def _conditions_naming(proposal: Proposal, relation: int, column: str) -> tuple[Expression, ...]:
    """The conditions on a relation that name one of its columns."""
    return tuple(
        condition
        for condition in plain_conditions(own_conditions(proposal.plan, relation, ALONE))
        if any(ref.name == column for ref in columns(condition))
    )


def _is_implied(proposal: Proposal) -> bool:
    """Whether the same condition also bounds the derived column through the column's own
    expression, which is tighter."""
    others = (
        pair for pair in proposal.pairs if pair.edge.condition is proposal.pair.edge.condition
    )
    own = (other for other in others if other.key_side.operand is not None)
    same = [replace(proposal, pair=pair) for pair in own if pair.derived is proposal.pair.derived]
    lossless = (other for other in same if compares_own_expression(other.pair))
    return any(isinstance(derived_bound(other), DerivedBound) for other in lossless)


def judge_constant(proposal: Proposal) -> Judgement:
    """Whether the constants may be written a second time."""
    values = constants(proposal)
    if len(values) > MOST:
        return failed(f"the IN has {len(values)} values: at most {MOST} are repeated")
    for constant in values:
        near = is_moment(constant)
        reasons = (
            why
            for code, why in objections_to_value(proposal, constant)
            if not (near and code == GUARDS)
        )
        why = next(reasons, None)
        if why is not None:
            return failed(f"the compared value cannot be repeated: {why}")
    return passed("the compared value is the same each time it is computed")


def judge_constant_guards(proposal: Proposal) -> Judgement:
    """Whether no condition on the bounded column raises an error for the constant: after ``p = c``
    Spark puts c for p in other conditions and evaluates them when it plans."""
    one = proposal.pair.operator not in _ORDERED  # an IN may be reduced to one value
    culprit = raising_for_constant(proposal) if one else None
    if culprit is not None:
        where = f"in a condition on `{proposal.pair.pruned}`"
        why = "can raise an error, and Spark would evaluate it for this constant when it plans"
        return failed(f"{describe(culprit)} {where} {why}")
    return passed("no condition on the column can raise an error for the constant")


def judge_types(proposal: Proposal) -> Judgement:
    """Whether the constants are compared as values of the column's own type."""
    pair = proposal.pair
    derived = pair.derived
    assert derived is not None
    column = proposal.type_of(ColumnRef(pair.scan.relation, derived.column, None))
    side = compared_type(proposal)
    if derived.formula is None:
        return passed(f"judged by {DERIVED}")
    if column is None or derived.type is None or side is None:
        name = derived.column if column is None else pair.path.column
        return unknown(f"the type of `{name}` is not known: declare it in the catalog")
    if not compare_alike(read_as(column), read_as(derived.type)):
        expression = derived.derivation.expression
        return failed(f"`{derived.column}` is {column} and `{expression}` is {derived.type}")
    if not identical(side):
        return failed(f"`{pair.path.column}` is {side}, whose values can be equal and still differ")
    for constant in constants(proposal):
        if read_constant(proposal, constant, side) is None:
            kind = proposal.type_of(constant)
            what = "a value of an unknown type" if kind is None else f"{kind}"
            return failed(f"`{pair.path.column}` is {side} and is compared with {what}")
    return passed(f"compared as {side}, and `{derived.column}` is {column}")


def compared_type(proposal: Proposal) -> Type | None:
    """The type that the condition compares; None if unknown."""
    kind = proposal.type_of(proposal.pair.fact_side.expression)
    return None if kind is None else read_as(kind)


def read_constant(proposal: Proposal, constant: Expression, side: Type) -> Constant | None:
    """How a constant is compared with a value of a type; None if unknown, or if Spark casts the
    column instead."""
    literal = isinstance(constant, Literal)
    kind = proposal.type_of(constant)
    if compares_own_expression(proposal.pair) and not literal:
        return None
    if kind is not None and read_as(kind) == side:
        return Constant()
    if (isinstance(constant, Parameter) or is_moment(constant)) and side in (DATE, TIMESTAMP):
        return Constant(f"CAST({{}} AS {side})", later=side == DATE)
    if kind is None:
        return None
    kind = read_as(kind)
    to = f"({{}} AS {side})"
    if side in (DATE, TIMESTAMP, TIMESTAMP_NTZ) and kind == STRING:
        # If the text is no date, the author's condition holds for no row, or raises the error.
        read = isinstance(constant, Literal) and (
            constant.kind == "template" or is_instant(constant.text)
        )
        return Constant(f"CAST{to}" if read else f"TRY_CAST{to}")
    if side in (TIMESTAMP, TIMESTAMP_NTZ) and kind == DATE:
        return Constant(f"CAST{to}")
    if side == DATE and kind == TIMESTAMP:
        return Constant(f"CAST{to}", later=True)
    if is_integral(side) and is_integral(kind) and lossless(kind, side):
        return Constant(f"CAST{to}")
    return None


def is_moment(constant: Expression) -> bool:
    """Whether a constant surely is a date or time within range: the clock or a literal, plus or
    minus a small interval, or truncated."""
    match constant:
        case Call(name=name, args=()):
            return name in tagged("clock")
        case Literal(kind="typed", type="date" | "timestamp", text=text):
            return is_instant(text)
        case Cast(operand=operand, type="date" | "timestamp"):
            return is_moment(operand)
        case Call(name="+" | "-", args=(one, Literal(kind="typed", type="", text=text))):
            return is_moment(one) and text.isdigit() and len(text) <= _DIGITS
        case Call(name="to_timestamp", args=(Literal(kind="string", text=text),)):
            return is_instant(text)
        case Call(name="trunc", args=(one, Literal())):
            return is_moment(one)
        case Call(name="date_trunc", args=(Literal(), one)):
            return is_moment(one)
        case Call(name=name, args=(one, Literal(text=text))) if name in tagged("near"):
            return is_moment(one) and text.lstrip("-").isdigit() and len(text) <= _DIGITS
        case _:
            return False


def within_years(constant: Expression) -> bool:
    """Whether a constant is a literal day in the years 1000 to 9998."""
    if not isinstance(constant, Literal) or constant.kind not in ("string", "typed"):
        return False
    text = constant.text.strip()
    return is_instant(text) and "1000" <= text[:4] <= "9998"


def judge_repeated(proposal: Proposal) -> Judgement:
    """Whether all conditions on the ranked rows can be repeated as they are."""
    pair = proposal.pair
    block = proposal.plan.blocks[proposal.plan.owner[pair.key.relation]]
    if block.unknown_syntax or block.unknown_values:
        return failed((*block.unknown_syntax, *block.unknown_values)[0])
    if len(proposal.restrictions) < len(conditions_on_ranked_rows(proposal.plan, pair)):
        return failed("a condition on the ranked rows refers to another table as well")
    if pair.dimension is not pair.target and not _same_rows(proposal):
        return failed("a row may be compared with rows of another table, or with none")
    reading = objections_to_relation(proposal, pair.dimension)
    objections = chain(reading, objections_to_copying(pair.dimension))
    why = next((reason for _, reason in objections), None)
    if why is not None:
        return failed(why)
    culprit = raising_inside(proposal, pair.dimension)
    if culprit is not None:
        return failed(f"{describe(culprit)} inside {proposal.quoted_dimension} can raise an error")
    for item in (
        restriction for restriction in proposal.restrictions if isinstance(restriction, Conjunct)
    ):
        why = next((reason for _, reason in objections_to_conjunct(proposal, item)), None)
        if why is not None:
            return failed(f"a condition on the ranked rows cannot be repeated: {why}")
    return passed("the key query ranks the same rows")


def _same_rows(proposal: Proposal) -> bool:
    """Whether a row is compared with all rows of its own table by the same column: then each row
    but those with the first value has a row before it."""
    scan, beyond, conditions = (
        proposal.pair.scan,
        proposal.pair.dimension,
        conditions_on_ranked_rows(proposal.plan, proposal.pair),
    )
    own = isinstance(beyond, Scan) and scan.table is beyond.table
    plain = not scan.version and isinstance(beyond, Scan) and not beyond.version
    return own and plain and proposal.pair.fact.name == proposal.pair.key.name and not conditions


def judge_type(proposal: Proposal) -> Judgement:
    """Whether equal values of the column are identical, so that their order is total."""
    kind, name = proposal.type_of(proposal.pair.fact), proposal.label(proposal.pair.fact)
    if kind is None:
        return failed(f"the type of {name} is not known: declare it in the catalog")
    if not identical(kind):
        return failed(f"{name} is {kind}, whose values can be equal and still differ")
    return passed(f"ranked as {kind}")
