"""Converts a key to the value of a derived column: ``p IN (SELECT date_format(a.k, 'yyyy-MM') …)``.

In: the text of a key. Out: the text of the derived column's value for it, by the column's own
expression; where time zones differ, for the days around the key too. Rows that may have another
value are let through by an OR. Why each is right is in docs/soundness.md, "Derived partition
columns".
"""

from __future__ import annotations

from itertools import takewhile

from sqlrewrite.copies import replace
from sqlrewrite.find.derived_columns import DAY, DerivedColumn, is_day, smaller_units
from sqlrewrite.judge.proposal import Proposal
from sqlrewrite.judge.soundness.derived_column import ITSELF, DerivedBound, derived_bound
from sqlrewrite.plan.algebra import Cast, ColumnRef
from sqlrewrite.plan.facts.coercion import compare_alike
from sqlrewrite.plan.facts.derivations import TEXT
from sqlrewrite.plan.facts.types import DATE, Type
from sqlrewrite.sql.bind.formulas import with_bigint_casts, with_try_casts
from sqlrewrite.sql.places import NoPlaceError
from sqlrewrite.write.fact_values import disjunction, fact_value
from sqlrewrite.write.repeated_text import AuthorText


def checked_bound(proposal: Proposal) -> DerivedBound:
    """The bound of a passed proposal on its derived column. Raises NoPlaceError for any other."""
    bound = derived_bound(proposal)
    if isinstance(bound, tuple):
        raise NoPlaceError(bound[1])
    return bound


def derived_value(
    proposal: Proposal,
    author: AuthorText,
    key: str,
    end: str = "",
    day: str = "",
    *,
    in_range: bool = False,
    of: DerivedColumn | None = None,
) -> str:
    """The value of the derived column for a key. ``end`` is ``>`` for a lower bound, ``<`` for an
    upper one, else empty; ``day`` is the number of days to add to the key; ``in_range``: the key is
    certainly of a year from 1 to 9999; ``of`` is another column that is computed from the same
    source."""
    derived = of or proposal.pair.derived
    if derived is None:
        return key
    bound = checked_bound(proposal)
    if bound.step in ITSELF:
        return key
    assert derived.formula is not None
    moved = _shifted(proposal, bound, author, key, end, day)
    its = derived.formula.expression
    a_day = bound.days and isinstance(its, Cast) and is_day(its)
    if derived.ends or a_day:
        return moved  # a day already
    text = derived.formula.over(moved)
    if bound.tried:
        text = with_try_casts(text)
    elif bound.wide:
        text = with_bigint_casts(text) or text
    beyond = end == "<" and bound.stray == TEXT and not in_range and of is None
    # A year after 9999 begins with a sign, which sorts before all digits; a colon sorts after them.
    return f"replace({text}, '+', ':')" if beyond else text


def _shifted(
    proposal: Proposal, bound: DerivedBound, author: AuthorText, key: str, end: str, day: str
) -> str:
    if not (bound.days or (bound.more and end == "<")):
        return key
    # A constant is compared as the column's type.
    kind = proposal.type_of(proposal.pair.fact_side.expression)
    date = key if kind == DATE else author.word("CAST({} AS DATE)").replace("{}", key)
    if end == ">":
        return f"date_sub({date}, {bound.days})"
    return f"date_add({date}, {bound.days + bound.more if end == '<' else day})"


def unit_bound(
    proposal: Proposal,
    author: AuthorText,
    column: str,
    end: str,
    key: str,
    *,
    in_range: bool = False,
) -> str:
    """``column >= value``; with columns of smaller units their common order: ``(y > 2024 OR (y =
    2024 AND m >= 3))``."""
    steps = [(column, derived_value(proposal, author, key, end, in_range=in_range))]
    for unit in smaller_units_of(proposal):
        there = replace(
            proposal, pair=replace(proposal.pair, derived=unit, target_column=unit.column)
        )
        steps.append(
            (fact_value(there, author), derived_value(proposal, author, key, end, of=unit))
        )
    (name, bound), *larger = reversed(steps)
    text = f"{name} {end}= {bound}"
    either, both = author.word("OR"), author.word("AND")
    for name, bound in larger:
        text = f"({name} {end} {bound} {either} ({name} = {bound} {both} {text}))"
    return or_stray_rows(proposal, author, column, text, end, in_range=in_range)


def smaller_units_of(proposal: Proposal) -> tuple[DerivedColumn, ...]:
    """The columns of smaller units that refine a bound on a year, up to the first that is not
    certainly a whole number."""
    pair = proposal.pair
    derived = pair.derived
    if derived is None or pair.target is not pair.scan:
        return ()
    bound = checked_bound(proposal)
    if bound.step in ITSELF:
        return ()
    units = smaller_units(proposal.plan, pair.scan, derived)
    a_day = bound.days or bound.step == DAY  # a bound that has no hour
    kinds = (proposal.type_of(ColumnRef(pair.scan.relation, unit.column, None)) for unit in units)
    return tuple(
        unit
        for unit, _ in takewhile(_is_alike, zip(units, kinds, strict=True))
        if not (a_day and unit.shape is not None and not unit.shape.daily)
    )


def _is_alike(typed: tuple[DerivedColumn, Type | None]) -> bool:
    """Whether a column compares as its expression of this type does."""
    derived, kind = typed
    return kind is not None and derived.type is not None and compare_alike(kind, derived.type)


def days_around(proposal: Proposal) -> int:
    """The number of days before and after each key whose partitions are needed too."""
    derived = proposal.pair.derived
    if derived is None:
        return 0
    bound = checked_bound(proposal)
    return 0 if bound.ranged else bound.days


def or_stray_rows(
    proposal: Proposal,
    author: AuthorText,
    column: str,
    text: str,
    end: str = "",
    *,
    in_range: bool = False,
) -> str:
    """A predicate on the derived column, with an OR for rows whose value there may be another:
    NULL, and for a bound (``end``) years outside of 1 to 9999, unless an ``in_range`` bound rules
    these years out."""
    if proposal.pair.derived is None:
        return text
    bound, others = checked_bound(proposal), list[str]()
    if bound.stray and end and not (in_range and (end == "<" or bound.stray != TEXT)):
        others.append(f"{column} < {bound.stray}")
    if bound.nulls:
        others.append(f"{column} {author.word('IS NULL')}")
    return disjunction(author, [text, *others])
