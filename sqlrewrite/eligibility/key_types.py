"""DPP112 key-types: ``=`` and IN compare the two columns in the same way.

Measured (ANSI mode off): ``p STRING = k INT`` finds '01', ``p IN (SELECT k …)`` does not, because
IN casts both sides to string. So the types must be known, and of one family.
"""

from __future__ import annotations

from sqlrewrite.eligibility.case import Case, Judgement, failed, passed, unknown
from sqlrewrite.plan.columns import column_type, expression_type
from sqlrewrite.plan.expressions import ColumnRef, Expression
from sqlrewrite.plan.nodes import Plan

# Types within a family are compared alike by = and by IN, whatever their widths.
_FAMILIES = {
    "tinyint": "integer",
    "smallint": "integer",
    "int": "integer",
    "bigint": "integer",
    "date": "datetime",
    "timestamp": "datetime",
    "string": "string",
    "boolean": "boolean",
    "binary": "binary",
}
_UNSAFE = ("float", "double")
_FLOATING = "floating-point keys are left alone: NaN and -0.0 compare in ways of their own"

TYPES = "DPP112"


def judge(case: Case) -> Judgement:
    """Whether the fact's column, as stored and as joined, and the key are of one family."""
    pair = case.pair
    name = f"{'.'.join(pair.scan.parts)}.{pair.path.column}"
    sides: list[tuple[str, Expression]] = [(case.label(pair.fact), pair.fact_side.expression)]
    if pair.fact_plain:
        sides.insert(0, (name, ColumnRef(pair.scan.relation, pair.path.column, None)))
    sides.append((case.label(pair.key), pair.key_side.expression))
    kinds: list[str] = []
    for shown, expression in sides:
        kind = expression_type(case.plan, expression)
        if kind is None:
            plain = isinstance(expression, ColumnRef)
            what = shown if plain else f"an expression over {shown}"
            return unknown(f"the type of {what} is not known")
        kinds.append(kind)
    if any(kind in _UNSAFE for kind in kinds):
        return failed(_FLOATING)
    if len({family(kind) for kind in kinds}) > 1:
        key = case.label(pair.key)
        return failed(_differ(name, kinds[0], key, kinds[-1]))
    distinct = list(dict.fromkeys(kinds))
    return passed(f"both are {distinct[0]}" if len(distinct) == 1 else " and ".join(distinct))


def unlike(plan: Plan, one: ColumnRef, other: ColumnRef) -> str | None:
    """Why ``=`` and IN might compare two columns differently, or None."""
    kinds = column_type(plan, one), column_type(plan, other)
    for ref, kind in zip((one, other), kinds, strict=True):
        if kind is None:
            return f"the type of {ref.name} is not known"
        if kind in _UNSAFE:
            return _FLOATING
    first, second = kinds
    if first is None or second is None or family(first) == family(second):
        return None
    return _differ(one.name, first, other.name, second)


def _differ(one: str, kind: str, other: str, its: str) -> str:
    return f"{one} is {kind} and {other} is {its}: = and IN would compare them differently"


def family(kind: str) -> str:
    """The family of a type; one without a family is alike only to itself."""
    if kind.startswith("decimal"):
        return "decimal"
    return _FAMILIES.get(kind, kind)
