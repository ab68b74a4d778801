"""DPP112 key-types: ``=`` and IN compare the two columns in the same way.

Measured (ANSI mode off): ``p STRING = k INT`` finds '01', ``p IN (SELECT k …)`` does not, because
IN casts both sides to string. So the types must be known, and of one family.
"""

from __future__ import annotations

from sqlrewrite.eligibility.case import Case, Judgement, failed, passed, unknown
from sqlrewrite.plan.columns import column_type
from sqlrewrite.plan.expressions import ColumnRef

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


def judge(case: Case) -> Judgement:
    """Whether the fact's column, as stored and as joined, and the key are of one family."""
    pair = case.pair
    stored = ColumnRef(pair.scan.relation, pair.path.column, None)
    sides = (
        (f"{'.'.join(pair.scan.parts)}.{pair.path.column}", column_type(case.plan, stored)),
        (case.label(pair.fact), column_type(case.plan, pair.fact)),
        (case.label(pair.key), column_type(case.plan, pair.key)),
    )
    for name, kind in sides:
        if kind is None:
            return unknown(f"the type of {name} is not known")
    kinds = [kind for _, kind in sides if kind is not None]
    if any(kind in _UNSAFE for kind in kinds):
        return failed(
            "floating-point keys are left alone: NaN and -0.0 compare in ways of their own"
        )
    if len({family(kind) for kind in kinds}) > 1:
        return failed(
            f"{sides[0][0]} is {kinds[0]} and {sides[2][0]} is {kinds[2]}: = and IN would compare "
            "them differently"
        )
    distinct = list(dict.fromkeys(kinds))
    return passed(f"both are {distinct[0]}" if len(distinct) == 1 else " and ".join(distinct))


def family(kind: str) -> str:
    """The family of a type; one without a family is alike only to itself."""
    if kind.startswith("decimal"):
        return "decimal"
    return _FAMILIES.get(kind, kind)
