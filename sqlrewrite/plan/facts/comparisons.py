"""Whether all ways to compare two types agree.

A join compares ``p = k``, a predicate ``p IN (SELECT k …)``, ``array_contains(collect_set(k), p)``
or ``p >= min(k)``, and Spark finds the common type for each by rules of its own. One can replace
another only if all of them use the same type, with and without ANSI mode, and if that type orders
its values plainly. ``tests/referee/test_comparisons.py`` compares this with Spark's rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from sqlrewrite.plan.facts import coercion, types
from sqlrewrite.plan.facts.types import Type, fields_of

MODES = (False, True)
"""Without ANSI mode, and with it."""

# A DATE is compared with a TIMESTAMP as its first moment. With TIMESTAMP_NTZ it is, too, but not in
# arrays; and TIMESTAMP and TIMESTAMP_NTZ have no common order.
_DAYS = {"date", "timestamp"}


def family(kind: Type) -> str | None:
    """The family of comparable types that a type is in; None if its values do not compare plainly:
    floats (NaN, -0.0), collations, nested types, types without an order."""
    if coercion.is_integral(kind) or coercion.is_decimal(kind):
        return "number"
    if kind in (types.STRING, types.BOOLEAN, types.BINARY, *types.MOMENTS):
        return kind.name
    if kind.name in ("string", "varchar"):
        return "string" if kind.collation in (None, types.BINARY_COLLATION) else None
    if kind.name == "char" and kind.collation in (None, types.BINARY_COLLATION):
        return str(kind)  # CHAR of another length is padded, or not
    return "time" if kind.name == "time" else str(kind) if fields_of(kind) else None


@lru_cache(maxsize=4096)
def compare_alike(one: Type, other: Type) -> bool:
    """Whether =, IN, array_contains and the order compare two types as one type, in both modes."""
    families = {family(one), family(other)}
    if None in families or (len(families) > 1 and families != _DAYS):
        return False
    one, other = read_as(one), read_as(other)
    met = {meet(one, other, ansi) for meet in _MEETINGS for ansi in MODES}
    at = met.pop()
    # array_contains casts no array of keys where a key could become NULL (Cast.forceNullable).
    return not met and at is not None and lossless(one, at) and lossless(other, at)


@lru_cache(maxsize=4096)
def lossless(source: Type, target: Type) -> bool:
    """Whether a cast keeps all values apart and in order: no rounding, no error."""
    source, target = read_as(source), read_as(target)
    if source == target:
        return family(source) is not None
    if coercion.is_decimal(target) and (
        coercion.is_integral(source) or coercion.is_decimal(source)
    ):
        return coercion.holds(target, coercion.as_decimal(source))
    if coercion.is_integral(source) and coercion.is_integral(target):
        return coercion.holds(coercion.as_decimal(target), coercion.as_decimal(source))
    if source.name == target.name == "time":
        return source.numbers <= target.numbers
    return (source, target) == (types.DATE, types.TIMESTAMP)


def stored_alike(stored: Type, joined: Type, key: Type) -> bool:
    """Whether a column stored as one type and joined as another compares alike with a key."""
    if stored == joined:
        return compare_alike(joined, key)
    if not (lossless(stored, joined) and compare_alike(joined, key) and compare_alike(stored, key)):
        return False
    return all(
        at is not None and lossless(kind, at) and lossless(key, at)
        for kind in (stored, joined)
        for at in [coercion.comparison_type(read_as(kind), read_as(key), ansi=False)]
    )


def identical(kind: Type) -> bool:
    """Whether equal values are identical, so that any condition gives the same for both. 0.0 and
    -0.0 are not, nor are strings that a collation equates."""
    return family(kind) is not None


_MEETINGS: tuple[Callable[[Type, Type, bool], Type | None], ...] = (
    coercion.comparison_type,
    lambda one, other, ansi: coercion.comparison_type(one, other, ansi, equality=False),
    lambda one, other, ansi: coercion.in_list((one, other), ansi),
    lambda one, other, ansi: coercion.common_without_strings((one, other), ansi),
)
"""``=`` and ``<=>``, ``<`` and the like, IN, array_contains."""


def read_as(kind: Type) -> Type:
    """The type in expressions: a VARCHAR column is read as STRING."""
    plain = kind.name in ("string", "varchar") and kind.collation in (None, types.BINARY_COLLATION)
    return types.STRING if plain else kind
