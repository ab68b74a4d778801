"""DPP112 key-types: the join and the predicate compare the two columns in the same way.

Measured (ANSI mode off): ``p STRING = k INT`` finds '01', ``p IN (SELECT k …)`` does not, because
IN casts both sides to string. So the types must be known, and such that ``=``, IN, array_contains
and the order of values all compare them as one type (``plan/facts/comparisons.py``).
"""

from __future__ import annotations

from sqlrewrite.find.derived import DerivedColumn
from sqlrewrite.judge.case import Case, Judgement, failed, passed, unknown
from sqlrewrite.plan.algebra import ColumnRef, Expression, Plan
from sqlrewrite.plan.columns import type_of
from sqlrewrite.plan.facts.comparisons import alike, exactly_alike, family, identical, read_as
from sqlrewrite.plan.facts.types import FLOATING, Type

TYPES = "DPP112"


def judge(case: Case) -> Judgement:
    """Whether the fact's column, as stored and as joined, and the key compare alike."""
    pair = case.pair
    if pair.derived is not None:
        known = pair.derived.formula is not None
        return _of_derived(case, pair.derived) if known else passed("not asked")
    name = f"{'.'.join(pair.scan.parts)}.{pair.path.column}"
    sides: list[tuple[str, Expression]] = [(case.label(pair.fact), pair.fact_side.expression)]
    if pair.fact_plain and not pair.path.computed:
        sides.insert(0, (name, ColumnRef(pair.scan.relation, pair.path.column, None)))
    sides.append((case.label(pair.key), pair.key_side.expression))
    kinds: list[Type] = []
    for shown, expression in sides:
        kind = type_of(case.plan, expression)
        if kind is None:
            if not isinstance(expression, ColumnRef):
                return unknown(f"the type of an expression over {shown} is not known")
            declare = f"declare the type of {expression.name}"
            return unknown(f"the type of {shown} is not known: {declare}")
        kinds.append(kind)
    stored, joined, key = kinds[0], kinds[-2], kinds[-1]
    if not exactly_alike(stored, joined, key):
        other = stored if alike(joined, key) else joined
        return failed(_differ(name, other, case.label(pair.key), key))
    distinct = list(dict.fromkeys(map(str, kinds)))
    return passed(f"both are {distinct[0]}" if len(distinct) == 1 else " and ".join(distinct))


def _of_derived(case: Case, derived: DerivedColumn) -> Judgement:
    """Whether what is compared with the source, or its day, is a value of the very same type, and
    the derived column of the type of its expression."""
    pair = case.pair
    stored = ColumnRef(pair.scan.relation, pair.path.column, None)
    column = ColumnRef(pair.scan.relation, derived.column, None)
    sides: list[tuple[str, Type | None]] = [
        (f"{pair.scan.alias}.{column.name}", type_of(case.plan, column)),
        (derived.derivation.expression, derived.type),
        (f"{pair.scan.alias}.{stored.name}", type_of(case.plan, stored)),
        (case.label(pair.fact), type_of(case.plan, pair.fact)),
        ("the fact's side", type_of(case.plan, pair.fact_side.expression)),
        (case.label(pair.key), type_of(case.plan, pair.key_side.expression)),
    ]
    for shown, kind in sides:
        if kind is None:
            return unknown(f"the type of {shown} is not known")
    of_column, of_expression, source, joined, fact, key = (read_as(it) for _, it in sides if it)
    if not alike(of_column, of_expression):
        return failed(_differ(sides[0][0], of_column, sides[1][0], of_expression))
    if source != joined:
        return failed(_differ(sides[2][0], source, sides[3][0], joined))
    if fact != key or not identical(key):
        return failed(_differ(sides[4][0], fact, sides[5][0], key))
    return passed(f"both are {key}, and {derived.column} is {of_column}")


def unlike(plan: Plan, one: ColumnRef, other: ColumnRef) -> str | None:
    """Why ``=`` and IN might compare two columns differently, or None."""
    first, second = type_of(plan, one), type_of(plan, other)
    if first is None or second is None:
        return f"the type of {one.name if first is None else other.name} is not known"
    if alike(first, second):
        return None
    return _differ(one.name, first, other.name, second)


def _differ(one: str, kind: Type, other: str, its: Type) -> str:
    if kind in FLOATING or its in FLOATING:
        return "floating-point keys are left alone: NaN and -0.0 compare in ways of their own"
    if kind == its and family(kind) is None:
        return f"{one} and {other} are {kind}: values of that type are no keys"
    return f"{one} is {kind} and {other} is {its}: = and IN would compare them differently"
