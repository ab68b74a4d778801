"""DPP117 derived-column and DPP118 time-zone: from a bound on a column to a bound on the partition
column that is computed from it.

In: a proposal for a derived column. Out: a ``DerivedBound`` (an equality, a comparison, or a range
widened by some days), or the objection to it. The proofs are in docs/soundness.md, "Derived
partition columns".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from sqlrewrite.copies import replace
from sqlrewrite.find.derived_columns import (
    DAY,
    SAME,
    THROUGH,
    DerivedColumn,
    decided_by_weeks,
    stands_for,
)
from sqlrewrite.find.pairs import Pair
from sqlrewrite.judge.conditions import describe
from sqlrewrite.judge.errors.raising import total
from sqlrewrite.judge.proposal import Judgement, Objection, Proposal, failed, passed
from sqlrewrite.plan.algebra import Call, Cast, Expression, Literal
from sqlrewrite.plan.expressions import walk
from sqlrewrite.plan.facts.coercion import is_integral
from sqlrewrite.plan.facts.derivations import NUMBER, Shape, safe
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.plan.facts.types import DATE, STRING, TIMESTAMP, TIMESTAMP_NTZ, Type
from sqlrewrite.sql.bind.formulas import Formula, with_bigint_casts

DERIVED, ZONE = "DPP117", "DPP118"

ITSELF = (SAME, THROUGH)
"""The kinds of comparison in which the join compares the derived column's own value."""

# A time zone with a fixed offset: its clocks never go back.
_FIXED = re.compile(
    r"(?:etc/)?(?:utc|gmt|uct|zulu|universal|greenwich)|z|ut|(?:utc?|gmt)?[+-]\d{1,2}(?::?\d\d)*"
    r"|etc/gmt[+-]?\d{1,2}",
    re.IGNORECASE,
)

# Days by which the date of one moment may differ between two sessions: offsets go up to 18 hours.
_ANY_ZONE = 2
# Days by which a clock may go back within one zone: one, as in Alaska in 1867.
_ONE_ZONE = 1


class DerivedBound(Struct, frozen=True):
    """How a bound on the source column becomes one on the derived column.

    ``step``: how the compared expression relates to the derived column (``find.derived_columns``).
    ``days``: by how many days the bound is widened at both ends; ``more``: further days at the
    upper end. ``ranged``: only the smallest and the largest key bound the column. ``nulls``,
    ``stray``: partitions with NULL, or with the values of ``stray``, must be read too. ``tried``:
    the column's expression is written in a form that gives NULL instead of an error; ``wide``:
    with BIGINT casts, since INT does not hold the digits of every date. ``apart``: the offsets in
    days at which the compared day may lie.
    """

    step: str
    days: int = 0
    more: int = 0
    ranged: bool = False
    nulls: bool = False
    stray: str = ""
    tried: bool = False
    wide: bool = False
    apart: tuple[int, ...] = ()


def derived_bound(proposal: Proposal) -> DerivedBound | Objection:
    """The bound on a proposal's derived column, or the objection to it."""
    pair = proposal.pair
    derived = pair.derived
    assert derived is not None
    shape = derived.shape
    if shape is None or derived.formula is None:
        return DERIVED, f"{derived.shown}: {derived.why}"
    if pair.path.computed:
        return DERIVED, f"the join compares an expression over more than `{derived.source}`"
    if derived.ends:  # its pairs are filters by days only
        more = 0 if derived.type == DATE else 1 + day_may_recur(proposal, derived.type)
        return DerivedBound(DAY, more=more)
    step = stands_for(pair.fact_side.expression, derived, proposal.type_of(pair.stored))
    if step is None:
        compared = f"the join compares an expression over `{derived.source}`"
        return DERIVED, f"{compared}, whose value does not bound {derived.shown}"
    typed = derived.type is not None
    if step == DAY and not shape.daily and typed and compares_own_expression(pair):
        step = SAME
    bound = _bound_by_step(proposal, derived, shape, step)
    if isinstance(bound, DerivedBound) and pair.operator == "<=>":
        bound = replace(bound, nulls=True)  # NULL matches NULL, and the derived value is NULL
    if isinstance(bound, tuple) or step in ITSELF:
        return bound
    if shape.stray == NUMBER:
        if with_bigint_casts(derived.formula.text) is None:
            return DERIVED, f"{derived.shown}: write the number as CAST(… AS INT) or AS BIGINT"
        return replace(bound, wide=True)
    culprits = list(_raising(proposal, derived.formula))
    if any(not _can_be_tried(culprit, derived.formula) for culprit in culprits):
        return DERIVED, f"{describe(culprits[0])} can raise an error in {derived.shown}"
    return replace(bound, tried=True, nulls=True) if culprits else bound


def day_may_recur(proposal: Proposal, kind: Type | None) -> bool:
    """Whether a clock may go back over midnight, so that a day recurs. Spark takes a day that is
    compared with a constant to end at its first midnight."""
    return kind != TIMESTAMP_NTZ and _zone(proposal) != "fixed"


def _raising(proposal: Proposal, formula: Formula) -> Iterator[Expression]:
    """The nodes of a derived column's expression that can raise an error."""
    there = replace(proposal, plan=formula.plan)
    for node in walk(formula.expression):
        if not safe(node, formula.of) and not total(there, node):
            yield node


def _can_be_tried(node: Expression, formula: Formula) -> bool:
    """Whether a node can be written in a form that gives NULL instead of an error."""
    written = re.sub(r"'[^']*'", "''", formula.text).lower()
    if isinstance(node, Cast):
        by_name = re.search(r"\bcast\s*\(", written) is not None and "::" not in written
        return by_name and _null_where_it_fails(node, formula)
    return isinstance(node, Call) and node.name == "to_date" and len(node.args) == 1


def _null_where_it_fails(cast: Cast, formula: Formula) -> bool:
    """Whether a cast that raises an error in ANSI mode gives NULL without ANSI mode. (A number too
    large for an integer wraps around instead, and a string is cut off at its decimal point.)"""
    kind, digits = parse(cast.type), False
    match cast.operand:
        case Call(name="date_format", args=(_, Literal(kind="string", text=pattern))):
            digits = "." not in pattern
    if formula.of(cast.operand) != STRING or kind is None:
        return False
    return digits or not is_integral(kind)


def compares_own_expression(pair: Pair) -> bool:
    """Whether the join compares the derived column's own expression."""
    derived = pair.derived
    return derived is not None and stands_for(pair.fact_side.expression, derived, None) == SAME


def _bound_by_step(
    proposal: Proposal, derived: DerivedColumn, shape: Shape, step: str
) -> DerivedBound | Objection:
    if step == DAY and not shape.daily:
        return _bound_by_hours(proposal, derived, shape)
    equality = proposal.pair.operator in ("=", "<=>", "in")
    ordered = shape.ordered or step in ITSELF
    off = proposal.options.disabled
    if not equality and not ordered and DERIVED not in off:
        return DERIVED, f"a larger `{derived.source}` may have a smaller {derived.shown}"
    stray = "" if step in ITSELF else shape.stray
    # An empty string is stored in the partition of NULL.
    empty = derived.type == STRING and not _is_text(proposal.pair)
    nulls = shape.nulls and (step not in ITSELF or empty)
    zone = _zone(proposal)
    timed = derived.type == TIMESTAMP  # its text in a path is another moment in another zone
    if not (shape.zoned or timed) or zone == "fixed" or ZONE in off:
        return DerivedBound(step, nulls=nulls, stray=stray)
    days = _days(zone, step, timed=timed)
    if step in ITSELF:
        if zone == "one" and not timed:
            return DerivedBound(step, nulls=nulls)
        bounds = proposal.pair.filtered or proposal.pair.operator == "="
        if step == THROUGH and not timed and bounds:
            return DerivedBound(step, apart=_apart(proposal))
        return ZONE, _zone_not_declared(derived)
    if equality and days == 0:
        return DerivedBound(step, nulls=nulls, stray=stray)
    if equality and zone == "one" and not timed:
        return DerivedBound(step, nulls=nulls, stray=stray)
    more = 0 if shape.daily else 1
    if equality and shape.daily and not timed:
        return DerivedBound(step, days, nulls=nulls, stray=stray)
    if not ordered and DERIVED not in off:
        return ZONE, _zone_not_declared(derived)
    return DerivedBound(step, days, more, ranged=True, nulls=nulls, stray=stray)


def _is_text(pair: Pair) -> bool:
    """Whether ``=`` compares the column with a string literal that is not empty."""
    match pair.key_side.expression:
        case Literal(kind="string", text=text):
            return pair.operator == "=" and text != ""
        case _:
            return False


def _bound_by_hours(
    proposal: Proposal, derived: DerivedColumn, shape: Shape
) -> DerivedBound | Objection:
    """The range for a day on a column of hours: from the day's first moment to the next day's."""
    if not shape.ordered or derived.type is None:
        compared = f"the join compares the day of `{derived.source}`"
        return DERIVED, f"{compared}, which does not decide {derived.shown}"
    timed = derived.type == TIMESTAMP
    exact = not (shape.zoned or timed) or _zone(proposal) == "fixed"
    days = 0 if exact else _days(_zone(proposal), DAY, timed=timed)
    return DerivedBound(DAY, days, 1, ranged=True, nulls=shape.nulls, stray=shape.stray)


def _apart(proposal: Proposal) -> tuple[int, ...]:
    """The days by which a moment's date may differ in another zone. For weeks or longer units the
    two extremes are enough: no third unit lies between them."""
    if decided_by_weeks(proposal.pair.fact_side.expression):
        return (-_ANY_ZONE, _ANY_ZONE)
    return tuple(range(-_ANY_ZONE, _ANY_ZONE + 1))


def _days(zone: str, step: str, *, timed: bool) -> int:
    """The number of days to widen a bound by."""
    days = _ANY_ZONE if zone == "any" else 0 if step == DAY else _ONE_ZONE
    return days + timed


def _zone(proposal: Proposal) -> str:
    """The declared time zone of all sessions: ``fixed`` (with one offset), ``one``, or ``any``
    (none declared)."""
    declared = None if proposal.context.catalog.zone_set else proposal.options.time_zone
    if declared is None:
        return "any"
    return "fixed" if _FIXED.fullmatch(declared.strip()) else "one"


def _zone_not_declared(derived: DerivedColumn) -> str:
    return (
        f"{derived.shown}, which depends on the session's time zone: declare `time-zone` in "
        "`[tool.dpp-rewrite]` if all sessions use the same one"
    )


def judge_derived(proposal: Proposal) -> Judgement:
    """Whether the bound on the joined column bounds the partition column computed from it."""
    derived = proposal.pair.derived
    if derived is None:
        return passed(f"the join compares `{proposal.pair.path.column}` itself")
    bound = derived_bound(proposal)
    if isinstance(bound, tuple) and bound[0] == DERIVED:
        return failed(bound[1])
    return passed(derived.shown)


def judge_zone(proposal: Proposal) -> Judgement:
    """Whether a moment has the same day in the sessions that write and those that read."""
    derived = proposal.pair.derived
    bound = None if derived is None else derived_bound(proposal)
    if isinstance(bound, tuple) and bound[0] == ZONE:
        return failed(bound[1])
    if isinstance(bound, DerivedBound) and bound.days:
        return passed(f"widened by {bound.days} days, as sessions may use different time zones")
    return passed("does not depend on the session's time zone")
