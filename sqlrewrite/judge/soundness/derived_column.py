"""DPP117 derived-column and DPP118 time-zone: what a bound on a column says of the partition column
that is computed from it.

In: a proposal whose pair goes by a derived column. Out: the ``DerivedBound`` from one to the other:
as an equality, as an order, wider by some days; or which rule forbids it. The proofs are in
docs/soundness.md, "Derived partition columns".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from sqlrewrite.find.derived_columns import (
    DAY,
    SAME,
    THROUGH,
    DerivedColumn,
    decided_by_weeks,
    stands_for,
)
from sqlrewrite.find.pairs import Pair
from sqlrewrite.frozen import dataclass
from sqlrewrite.judge.conditions import describe
from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed
from sqlrewrite.judge.raising import total
from sqlrewrite.plan.algebra import Call, Cast, Expression, Literal
from sqlrewrite.plan.expressions import walk
from sqlrewrite.plan.facts.coercion import is_integral
from sqlrewrite.plan.facts.derivations import NUMBER, Shape, safe
from sqlrewrite.plan.facts.type_text import parse
from sqlrewrite.plan.facts.types import DATE, STRING, TIMESTAMP, TIMESTAMP_NTZ, Type
from sqlrewrite.sql.bind.formulas import Formula, wide

DERIVED, ZONE = "DPP117", "DPP118"

ITSELF = (SAME, THROUGH)
"""The steps in which what is compared is the derived column, or the same expression over it."""

# A time zone of one offset, in which a later moment never is an earlier time of day.
_FIXED = re.compile(
    r"(?:etc/)?(?:utc|gmt|uct|zulu|universal|greenwich)|z|ut|(?:utc?|gmt)?[+-]\d{1,2}(?::?\d\d)*"
    r"|etc/gmt[+-]?\d{1,2}",
    re.IGNORECASE,
)

# How many days apart one moment may be in two sessions: offsets go to 18 hours either way.
_ANY_ZONE = 2
# How far a clock may go back in one zone: by a day, as in Alaska in 1867.
_ONE_ZONE = 1


@dataclass(frozen=True, slots=True)
class DerivedBound:
    """How a bound on the source becomes one on the derived column.

    ``step`` is what the bounded expression is to it; ``days`` by how many its value is wider on
    either side, ``more`` by how many besides at the end of the later ones; ``ranged``: only as the
    smallest and the largest. ``nulls`` and ``stray`` are of its shape: rows that may be elsewhere.
    ``tried``: it is computed in a form that gives NULL where it would raise an error; ``wide``: as
    a BIGINT, in which no date's digits are too many. ``apart``: what is said of the day holds of
    one that many days from it.
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


def derived_bound(proposal: Proposal) -> DerivedBound | tuple[str, str]:
    """The way of a proposal to its derived column, or the objection to it."""
    pair = proposal.pair
    derived = pair.derived
    assert derived is not None
    shape = derived.shape
    if shape is None or derived.formula is None:
        return DERIVED, f"{derived.shown}: {derived.why}"
    if pair.path.computed:
        return DERIVED, f"the join compares an expression that {derived.source} is only a part of"
    if derived.ends:  # only filters by days are found of it
        more = 0 if derived.type == DATE else 1 + day_may_recur(proposal, derived.type)
        return DerivedBound(DAY, more=more)
    step = stands_for(pair.fact_side.expression, derived, proposal.type_of(pair.stored))
    if step is None:
        said = f"the join compares an expression over {derived.source}"
        return DERIVED, f"{said}, which does not bound {derived.shown}"
    if (
        step == DAY
        and not shape.daily
        and derived.type is not None
        and compares_own_expression(pair)
    ):
        step = SAME
    found = _bound_by_step(proposal, derived, shape, step)
    if isinstance(found, DerivedBound) and pair.operator == "<=>":
        found = replace(found, nulls=True)  # NULL meets NULL, and gives NULL
    if isinstance(found, tuple) or step in ITSELF:
        return found
    if shape.stray == NUMBER:
        if wide(derived.formula.text) is None:
            return DERIVED, f"{derived.shown}: write the number as CAST(… AS INT) or AS BIGINT"
        return replace(found, wide=True)
    culprits = list(_raising(proposal, derived.formula))
    if any(not _can_be_tried(it, derived.formula) for it in culprits):
        return DERIVED, f"{describe(culprits[0])} can raise an error in {derived.shown}"
    return replace(found, tried=True, nulls=True) if culprits else found


def day_may_recur(proposal: Proposal, kind: Type | None) -> bool:
    """Whether a day of a time may begin once more behind the beginning of the next one, as where a
    clock goes back over midnight: Spark takes it to end there when it compares with constants."""
    return kind != TIMESTAMP_NTZ and _zone(proposal) != "fixed"


def _raising(proposal: Proposal, formula: Formula) -> Iterator[Expression]:
    """What can raise an error in an expression for values that the query does not compute it of."""
    there = replace(proposal, plan=formula.plan)
    for node in walk(formula.expression):
        if not safe(node, formula.of) and not total(there, node):
            yield node


def _can_be_tried(node: Expression, formula: Formula) -> bool:
    """Whether a node has a form that gives NULL where it raises an error, and is written so."""
    written = re.sub(r"'[^']*'", "''", formula.text).lower()
    if isinstance(node, Cast):
        by_name = re.search(r"\bcast\s*\(", written) is not None and "::" not in written
        return by_name and _null_where_it_fails(node, formula)
    return isinstance(node, Call) and node.name == "to_date" and len(node.args) == 1


def _null_where_it_fails(cast: Cast, formula: Formula) -> bool:
    """Whether a cast that raises an error in ANSI mode gives NULL without: a number that is too
    great for an integer wraps around there, and of a text all behind its point is cut off."""
    wanted, digits = parse(cast.type), False
    match cast.operand:
        case Call(name="date_format", args=(_, Literal(kind="string", text=pattern))):
            digits = "." not in pattern
    if formula.of(cast.operand) != STRING or wanted is None:
        return False
    return digits or not is_integral(wanted)


def compares_own_expression(pair: Pair) -> bool:
    """Whether the fact's side is the derived column's own expression."""
    derived = pair.derived
    return derived is not None and stands_for(pair.fact_side.expression, derived, None) == SAME


def _bound_by_step(
    proposal: Proposal, derived: DerivedColumn, shape: Shape, step: str
) -> DerivedBound | tuple[str, str]:
    if step == DAY and not shape.daily:
        return _bound_by_hours(proposal, derived, shape)
    equality = proposal.pair.operator in ("=", "<=>", "in")
    ordered = shape.ordered or step in ITSELF
    off = proposal.options.disabled
    if not equality and not ordered and DERIVED not in off:
        return DERIVED, f"a larger {derived.source} may have a smaller {derived.shown}"
    stray = "" if step in ITSELF else shape.stray
    # The empty text is stored as NULL, also where the column's own expression is compared.
    nulls = shape.nulls and (
        step not in ITSELF or (derived.type == STRING and not _is_text(proposal.pair))
    )
    zone = _zone(proposal)
    timed = derived.type == TIMESTAMP  # read in another zone it is another moment
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
    """Whether a text is compared that is written out and not empty, by ``=``."""
    match pair.key_side.expression:
        case Literal(kind="string", text=text):
            return pair.operator == "=" and text != ""
        case _:
            return False


def _bound_by_hours(
    proposal: Proposal, derived: DerivedColumn, shape: Shape
) -> DerivedBound | tuple[str, str]:
    """The way from a day to what tells hours of it, in the order of time: from the day's first
    moment to that of the next."""
    if not shape.ordered or derived.type is None:
        said = f"the join compares the day of {derived.source}"
        return DERIVED, f"{said}, which does not decide {derived.shown}"
    timed = derived.type == TIMESTAMP
    exact = not (shape.zoned or timed) or _zone(proposal) == "fixed"
    days = 0 if exact else _days(_zone(proposal), DAY, timed=timed)
    return DerivedBound(DAY, days, 1, ranged=True, nulls=shape.nulls, stray=shape.stray)


def _apart(proposal: Proposal) -> tuple[int, ...]:
    """The days from the column's own that may be a moment's day elsewhere; of a week and what is
    longer the ends of them, since no third one is between."""
    if decided_by_weeks(proposal.pair.fact_side.expression):
        return (-_ANY_ZONE, _ANY_ZONE)
    return tuple(range(-_ANY_ZONE, _ANY_ZONE + 1))


def _days(zone: str, step: str, *, timed: bool) -> int:
    """By how many days a bound is wider."""
    days = _ANY_ZONE if zone == "any" else 0 if step == DAY else _ONE_ZONE
    return days + timed


def _zone(proposal: Proposal) -> str:
    """What is known of the time zones of those who write and read: ``fixed``, one of a single
    offset; ``one``; ``any``."""
    declared = None if proposal.context.catalog.zone_set else proposal.options.time_zone
    if declared is None:
        return "any"
    return "fixed" if _FIXED.fullmatch(declared.strip()) else "one"


def _zone_not_declared(derived: DerivedColumn) -> str:
    return (
        f"{derived.shown}, depends on the session's time zone: declare that of all sessions with "
        "time-zone in [tool.dpp-rewrite]"
    )


def judge(proposal: Proposal) -> Judgement:
    """Whether what is said of the column says something of the one that is computed from it."""
    derived = proposal.pair.derived
    if derived is None:
        return passed(f"{proposal.pair.path.column} is joined itself")
    found = derived_bound(proposal)
    if isinstance(found, tuple) and found[0] == DERIVED:
        return failed(found[1])
    return passed(derived.shown)


def judge_zone(proposal: Proposal) -> Judgement:
    """Whether those who wrote the rows and those who read them see the same days."""
    derived = proposal.pair.derived
    found = None if derived is None else derived_bound(proposal)
    if isinstance(found, tuple) and found[0] == ZONE:
        return failed(found[1])
    if isinstance(found, DerivedBound) and found.days:
        return passed(f"wider by {found.days} days, as time zones differ")
    return passed("no time zone matters")
