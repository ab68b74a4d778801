"""DPP112 key-types: the join and the predicate compare the two columns in the same way.

Measured (ANSI mode off): ``p STRING = k INT`` finds '01', ``p IN (SELECT k …)`` does not, because
IN casts both sides to string. So the types must be known, and ``=``, IN, array_contains and the
order of values must compare them as one type (``plan/facts/coercion.py``). An IN may also get
casts that make it compare as the join does (docs/soundness.md, "Types").
"""

from __future__ import annotations

from sqlrewrite.find.derived_columns import DerivedColumn
from sqlrewrite.judge.conditions import why_unlike
from sqlrewrite.judge.form import chosen_form
from sqlrewrite.judge.proposal import Judgement, Proposal, failed, passed, unknown
from sqlrewrite.plan.algebra import ColumnRef, Expression
from sqlrewrite.plan.facts.coercion import (
    compare_alike,
    identical,
    is_integral,
    lossless,
    read_as,
    stored_alike,
)
from sqlrewrite.plan.facts.error_free import legacy_cast
from sqlrewrite.plan.facts.types import BIGINT, DATE, STRING, Type
from sqlrewrite.settings.forms import IN
from sqlrewrite.text.limits import SPARK


def judge(proposal: Proposal) -> Judgement:
    """Whether the fact's column, as stored and as joined, compares with the key as one type."""
    pair = proposal.pair
    if pair.derived is not None:
        known = pair.derived.formula is not None
        return _of_derived(proposal, pair.derived) if known else passed("not asked")
    name = f"{'.'.join(pair.scan.parts)}.{pair.path.column}"
    sides: list[tuple[str, Expression]] = [(proposal.label(pair.fact), pair.fact_side.expression)]
    if pair.fact_plain and not pair.path.computed:
        sides.insert(0, (name, pair.stored))
    sides.append((proposal.label(pair.key), pair.key_side.expression))
    kinds: list[Type] = []
    for shown, expression in sides:
        kind = proposal.type_of(expression)
        if kind is None:
            if not isinstance(expression, ColumnRef):
                return unknown(f"the type of an expression over {shown} is not known")
            declare = f"declare the type of {expression.name}"
            return unknown(f"the type of {shown} is not known: {declare}")
        kinds.append(kind)
    stored, joined, key = kinds[0], kinds[-2], kinds[-1]
    if not stored_alike(stored, joined, key):
        exactly = stored == joined or lossless(stored, joined)
        if exactly and _only_in(proposal) and _sides(joined, key):
            why = "try_cast gives NULL where the join's own cast may raise an error"
            return passed(f"IN compares {joined} and {key} as the join does: {why}")
        other = stored if compare_alike(joined, key) else joined
        return failed(why_unlike(name, other, proposal.label(pair.key), key))
    distinct = list(dict.fromkeys(map(str, kinds)))
    return passed(f"both are {distinct[0]}" if len(distinct) == 1 else " and ".join(distinct))


def in_sides(proposal: Proposal) -> tuple[str, str]:
    """The templates by which an IN writes the two sides of a join, to compare them as the join
    does."""
    pair = proposal.pair
    joined, key = (proposal.type_of(it.expression) for it in (pair.fact_side, pair.key_side))
    if pair.derived is not None or joined is None or key is None or compare_alike(joined, key):
        return _AS_THEY_ARE
    return _sides(joined, key) or _AS_THEY_ARE


_AS_THEY_ARE = ("{}", "{}")
_AS_A_DATE = "try_cast({} AS DATE)"


def _only_in(proposal: Proposal) -> bool:
    """Whether the predicate will be an IN over a subquery, on Spark."""
    spark = proposal.options.limits.dialect == SPARK
    return (
        spark
        and proposal.pair.operator == "="
        and chosen_form(proposal) == IN
        and not proposal.context.literals
    )


def _sides(joined: Type, key: Type) -> tuple[str, str] | None:
    """The templates for two types that differ; None where an IN would compare them otherwise. Spark
    casts a STRING to DATE in either mode; beside an integer it casts it to that type or to BIGINT,
    and all keys of both modes are among those of a cast to BIGINT without ANSI mode."""
    joined, key = read_as(joined), read_as(key)
    if is_integral(joined) and key == STRING:
        form = legacy_cast(STRING, BIGINT)
        return None if form is None else ("{}", form.text.replace("{0}", "{}"))
    if (joined, key) == (STRING, DATE):
        return _AS_A_DATE, "{}"
    return ("{}", _AS_A_DATE) if (joined, key) == (DATE, STRING) else None


def _of_derived(proposal: Proposal, derived: DerivedColumn) -> Judgement:
    """Whether the key has the very type of the source, or of its day, and the derived column the
    type of its expression."""
    pair = proposal.pair
    column = ColumnRef(pair.scan.relation, derived.column, None)
    sides: list[tuple[str, Type | None]] = [
        (f"{pair.scan.alias}.{column.name}", proposal.type_of(column)),
        (derived.derivation.expression, derived.type),
        (f"{pair.scan.alias}.{pair.path.column}", proposal.type_of(pair.stored)),
        (proposal.label(pair.fact), proposal.type_of(pair.fact)),
        ("the fact's side", proposal.type_of(pair.fact_side.expression)),
        (proposal.label(pair.key), proposal.type_of(pair.key_side.expression)),
    ]
    for shown, kind in sides:
        if kind is None:
            return unknown(f"the type of {shown} is not known")
    of_column, of_expression, source, joined, fact, key = (read_as(it) for _, it in sides if it)
    if not compare_alike(of_column, of_expression):
        return failed(why_unlike(sides[0][0], of_column, sides[1][0], of_expression))
    if source != joined:
        return failed(why_unlike(sides[2][0], source, sides[3][0], joined))
    if fact != key or not identical(key):
        return failed(why_unlike(sides[4][0], fact, sides[5][0], key))
    return passed(f"both are {key}, and {derived.column} is {of_column}")
