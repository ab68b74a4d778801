"""Columns whose types ``=`` and IN might compare differently, and why."""

from __future__ import annotations

from sqlrewrite.plan.algebra import ColumnRef, Plan
from sqlrewrite.plan.columns import type_of
from sqlrewrite.plan.facts.comparisons import alike, family
from sqlrewrite.plan.facts.types import FLOATING, Type

TYPES = "DPP112"


def unlike(plan: Plan, one: ColumnRef, other: ColumnRef) -> str | None:
    """Why ``=`` and IN might compare two columns differently, or None."""
    first, second = type_of(plan, one), type_of(plan, other)
    if first is None or second is None:
        return f"the type of {one.name if first is None else other.name} is not known"
    if alike(first, second):
        return None
    return differ(one.name, first, other.name, second)


def differ(one: str, kind: Type, other: str, its: Type) -> str:
    """Why two columns of these types compare otherwise by IN than by ``=``."""
    if kind in FLOATING or its in FLOATING:
        return "floating-point keys are left alone: NaN and -0.0 compare in ways of their own"
    if kind == its and family(kind) is None:
        return f"{one} and {other} are {kind}: values of that type are no keys"
    return f"{one} is {kind} and {other} is {its}: = and IN would compare them differently"
