"""The common type of two or more types, as Spark's analyzer finds it.

``common_type`` is for branches of CASE and COALESCE, for set operations and IN. ``comparison_type``
is for ``=`` and ``<``, and differs. None: Spark refuses it, or we do not know.

``compare_alike`` says whether all ways to compare two types agree. A join compares ``p = k``, a
predicate ``p IN (SELECT k …)``, ``array_contains(collect_set(k), p)`` or ``p >= min(k)``, and Spark
finds the common type for each by rules of its own: one can replace another only if all of them use
the same type, with and without ANSI mode, and that type orders its values plainly.
``tests/referee/test_comparisons.py`` compares this with Spark's rows.

Sources: ``TypeCoercion``, ``AnsiTypeCoercion``, ``TypeCoercionHelper``, ``CollationTypeCoercion``,
``DecimalPrecisionTypeCoercion`` of Spark 4.3; all pairs are asked of Spark in
``tests/referee/test_types.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from sqlrewrite.plan.facts import types
from sqlrewrite.plan.facts.types import Type, fields_of

# Narrowest first.
_NUMBERS = (types.TINYINT, types.SMALLINT, types.INT, types.BIGINT, types.FLOAT, types.DOUBLE)
_DIGITS = {types.TINYINT: 3, types.SMALLINT: 5, types.INT: 10, types.BIGINT: 20}

Common = Callable[[Type, Type, bool], Type | None]


def is_integral(kind: Type) -> bool:
    """Whether a type is one of the four integers."""
    return kind in _DIGITS


def is_decimal(kind: Type) -> bool:
    """Whether a type is a decimal of any precision."""
    return kind.name == "decimal"


def is_numeric(kind: Type) -> bool:
    """Whether a type is a number."""
    return kind in _NUMBERS or is_decimal(kind)


def is_atomic(kind: Type) -> bool:
    """Whether a type is one of Spark's AtomicType."""
    return not kind.items and kind not in (types.VOID, types.INTERVAL) and kind.name != "struct"


def is_orderable(kind: Type) -> bool:
    """Whether values of a type can be compared at all (``RowOrdering.isOrderable``)."""
    if kind in (types.INTERVAL, types.VARIANT) or kind.name in ("map", "geometry", "geography"):
        return False
    return all(map(is_orderable, kind.items))


def as_decimal(kind: Type) -> Type:
    """The decimal that holds all values of an integer type (``DecimalType.forType``); a decimal as
    it is."""
    return kind if is_decimal(kind) else types.decimal(_DIGITS[kind], 0)


def bounded(precision: int, scale: int) -> Type:
    """The decimal of this precision and scale, cut to 38 digits at the end of its fraction
    (``DecimalType.boundedPreferIntegralDigits``)."""
    over = max(0, precision - types.MAX_PRECISION)
    return types.decimal(precision - over, max(0, scale - over))


def wider_decimal(one: Type, other: Type) -> Type:
    """The decimal that holds the values of two types, as far as 38 digits allow."""
    (first, scale), (second, other_scale) = as_decimal(one).numbers, as_decimal(other).numbers
    widest = max(scale, other_scale)
    return bounded(max(first - scale, second - other_scale) + widest, widest)


def holds(wide: Type, narrow: Type) -> bool:
    """Whether a decimal holds all values of another (``DecimalType.isWiderThan``)."""
    (first, scale), (second, other) = wide.numbers, narrow.numbers
    return first - scale >= second - other and scale >= other


@lru_cache(maxsize=4096)
def tightest_type(one: Type, other: Type, ansi: bool) -> Type | None:
    """``findTightestCommonType``: the type that both can be cast to with nothing lost."""
    if one == other or other == types.VOID:
        return one
    if one == types.VOID:
        return other
    for a, b in ((one, other), (other, one)):
        if is_decimal(a) and is_integral(b):
            return a if holds(a, as_decimal(b)) else None
    if one in _NUMBERS and other in _NUMBERS:
        widest = max(one, other, key=_NUMBERS.index)
        return types.DOUBLE if ansi and widest == types.FLOAT else widest
    return (
        _datetime(one, other) or _interval(one, other) or _nested(one, other, ansi, tightest_type)
    )


@lru_cache(maxsize=4096)
def common_type(one: Type, other: Type, ansi: bool) -> Type | None:
    """``findWiderTypeForTwo``: the type of a set operation's column, or of IN and its list."""
    return (
        tightest_type(one, other, ansi)
        or _with_decimal(one, other)
        or (_promoted(one, other) if ansi else _to_string(one, other))
        or _collated(one, other)
        or _nested(one, other, ansi, common_type)
    )


def common_of_all(kinds: Iterable[Type], ansi: bool) -> Type | None:
    """``findWiderCommonType``: the common type of the branches of CASE, COALESCE, an array."""
    kinds = list(kinds)
    if not ansi:  # strings come first: the fold is not associative
        kinds.sort(key=lambda kind: not _has_string(kind))
    return _folded(kinds, ansi, common_type)


def common_of_known(kinds: Iterable[Type | None], ansi: bool) -> Type | None:
    """``common_of_all``; None if one of the types is not known."""
    listed = tuple(kinds)
    known_kinds = [kind for kind in listed if kind is not None]
    return common_of_all(known_kinds, ansi) if len(known_kinds) == len(listed) else None


def in_list(kinds: Iterable[Type], ansi: bool) -> Type | None:
    """The type at which IN compares its operand with a list, or with a subquery's column."""
    common = common_of_all(kinds, ansi)
    return common if common is not None and is_orderable(common) else None


def common_without_strings(kinds: Iterable[Type], ansi: bool) -> Type | None:
    """``findWiderTypeWithoutStringPromotion``: the common type for GREATEST and LEAST."""

    def both(one: Type, other: Type, ansi: bool) -> Type | None:
        return (
            tightest_type(one, other, ansi)
            or _with_decimal(one, other)
            or _nested(one, other, ansi, both)
        )

    return _folded(kinds, ansi, both)


@lru_cache(maxsize=4096)
def comparison_type(one: Type, other: Type, ansi: bool, equality: bool = True) -> Type | None:
    """The type in which two operands, no literals, are compared; ``equality``: by = or <=>."""
    common = (
        (_promoted(one, other) if ansi else _compared_string(one, other))
        or tightest_type(one, other, ansi)
        or _with_decimal(one, other)
        or _collated(one, other)
    )
    if common is None and equality and not ansi and types.BOOLEAN in (one, other):
        number = other if one == types.BOOLEAN else one
        common = number if is_numeric(number) else None
    return common if common is not None and is_orderable(common) else None


def _folded(kinds: Iterable[Type], ansi: bool, both: Common) -> Type | None:
    common: Type | None = types.VOID
    for kind in kinds:
        common = None if common is None else both(common, kind, ansi)
    return common


def _datetime(one: Type, other: Type) -> Type | None:
    kinds = {one, other}
    if one.name == other.name == "time":
        return max(one, other, key=lambda kind: kind.numbers)
    if not kinds <= {*types.MOMENTS}:
        return None
    return types.TIMESTAMP if types.TIMESTAMP in kinds else types.TIMESTAMP_NTZ


def _interval(one: Type, other: Type) -> Type | None:
    """The ANSI interval from the longer first field to the shorter last field."""
    first, second = fields_of(one), fields_of(other)
    if first is None or second is None:
        return None
    for fields in (types.YEAR_MONTH, types.DAY_TIME):
        if first[0] in fields and second[0] in fields:
            starts, ends = zip(first, second, strict=True)
            return types.interval(min(starts, key=fields.index), max(ends, key=fields.index))
    return None


def _with_decimal(one: Type, other: Type) -> Type | None:
    """``findWiderTypeForDecimal``: the common type of a decimal and a number."""
    for a, b in ((one, other), (other, one)):
        if is_decimal(a):
            if is_integral(b) or is_decimal(b):
                return wider_decimal(a, b)
            return types.DOUBLE if b in types.FLOATING else None
    return None


def _to_string(one: Type, other: Type) -> Type | None:
    """The type of the string, which the other value is cast to without ANSI mode
    (``stringPromotion``)."""
    for a, b in ((one, other), (other, one)):
        plain = not b.is_string and is_atomic(b) and b not in (types.BINARY, types.BOOLEAN)
        if a.is_string and plain:
            return a
    return None


def _promoted(one: Type, other: Type) -> Type | None:
    """The type that a string and the other value are cast to in ANSI mode
    (``findWiderTypeForString``)."""
    for a, b in ((one, other), (other, one)):
        if not a.is_string or b.is_string:
            continue
        if is_integral(b):
            return types.BIGINT
        if b in types.FLOATING or is_decimal(b):
            return types.DOUBLE
        if is_atomic(b) and fields_of(b) is None:
            return b
    return None


def _compared_string(one: Type, other: Type) -> Type | None:
    """``findCommonTypeForBinaryComparison``: what a string is compared as without ANSI mode."""
    for a, b in ((one, other), (other, one)):
        if not a.is_string or b.is_string:
            continue
        if is_decimal(b) and b.numbers[1]:
            return types.DOUBLE
        return b if is_atomic(b) and fields_of(b) is None else None
    return None


def _collated(one: Type, other: Type) -> Type | None:
    """The common type of two strings, if their collations are the same: columns have equal
    precedence."""
    if not (one.is_string and other.is_string):
        return None
    same = (one.collation or types.BINARY_COLLATION) == (other.collation or types.BINARY_COLLATION)
    return one if same else None


def _nested(one: Type, other: Type, ansi: bool, both: Common) -> Type | None:
    """``findTypeForComplex``: the common type of two arrays, maps or structs, by that of their
    items, which ``both`` finds."""
    if one.name != other.name or not one.items or len(one.items) != len(other.items):
        return None
    if [name.lower() for name in one.names] != [name.lower() for name in other.names]:
        return None
    commons = [both(a, b, ansi) for a, b in zip(one.items, other.items, strict=True)]
    items = tuple(kind for kind in commons if kind is not None)
    if len(items) < len(commons):
        return None
    if one.name == "map" and not all(
        _never_null(map_type.element, items[0]) for map_type in (one, other)
    ):
        return None
    return Type(one.name, items=items, names=one.names)


def _never_null(given: Type, wanted: Type) -> bool:
    """Whether no key of a map can become NULL by a cast (the reverse of ``Cast.forceNullable``)."""
    if given in (wanted, types.VOID):
        return True
    if is_decimal(wanted):
        return (is_decimal(given) or is_integral(given)) and holds(wanted, as_decimal(given))
    return not given.is_string and (wanted.is_string or is_numeric(given))


def never_fails(given: Type, wanted: Type) -> bool:
    """Whether no value of a type makes its cast to another raise an error, in ANSI mode either
    (``Cast.canAnsiCast``, ``Cast.canUpCast`` and what they do at run time)."""
    if given in (wanted, types.VOID):
        return True
    if wanted.name in ("string", "char", "varchar"):  # a cast to CHAR(n) is a cast to STRING
        return is_atomic(given) and given != types.BINARY and fields_of(given) is None
    if given in types.MOMENTS and wanted in types.MOMENTS:
        return True
    if wanted == types.BINARY:
        return given.name in ("string", "varchar")  # its bytes
    if wanted in types.FLOATING:
        return is_numeric(given) or given == types.BOOLEAN
    if wanted == types.BOOLEAN:
        return is_numeric(given)
    exact = is_integral(given) or is_decimal(given)
    if is_integral(wanted):
        narrow = is_integral(given) and holds(as_decimal(wanted), as_decimal(given))
        return given == types.BOOLEAN or narrow
    return is_decimal(wanted) and exact and holds(wanted, as_decimal(given))


def _has_string(kind: Type) -> bool:
    return kind.is_string or (kind.name == "array" and _has_string(kind.element))


MODES = (False, True)
"""The values of ``ansi``: without ANSI mode, and with it."""

# A DATE compares with a TIMESTAMP as midnight, everywhere; with a TIMESTAMP_NTZ not in arrays, and
# TIMESTAMP and TIMESTAMP_NTZ have no common order.
_DAYS = {"date", "timestamp"}


def family(kind: Type) -> str | None:
    """The family of types with which a type compares plainly; None if it does with none: floats
    (NaN, -0.0), collations, nested types, types without an order."""
    if is_integral(kind) or is_decimal(kind):
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
    common_types = {common(one, other, ansi) for common in _COMMON_TYPES for ansi in MODES}
    common_type = common_types.pop()
    if common_types or common_type is None:
        return False
    # array_contains casts no array of keys where a key could become NULL (Cast.forceNullable).
    return lossless(one, common_type) and lossless(other, common_type)


@lru_cache(maxsize=4096)
def lossless(source: Type, target: Type) -> bool:
    """Whether a cast keeps all values apart and in order: no rounding, no error."""
    source, target = read_as(source), read_as(target)
    if source == target:
        return family(source) is not None
    if is_decimal(target) and (is_integral(source) or is_decimal(source)):
        return holds(target, as_decimal(source))
    if is_integral(source) and is_integral(target):
        return holds(as_decimal(target), as_decimal(source))
    if source.name == target.name == "time":
        return source.numbers <= target.numbers
    return (source, target) == (types.DATE, types.TIMESTAMP)


def listed_alike(one: Type, listed: Iterable[Type]) -> bool:
    """Whether IN compares a value with a whole list as ``=`` does with each type of it: IN casts
    all of them to one type, which must keep their values apart."""
    kinds = (one, *listed)
    if not all(compare_alike(one, kind) for kind in kinds):
        return False
    common_types = [in_list(map(read_as, kinds), ansi) for ansi in MODES]
    return all(
        common is not None and lossless(kind, common) for common in common_types for kind in kinds
    )


def stored_alike(stored: Type, joined: Type, key: Type) -> bool:
    """Whether a column stored as one type and joined as another compares alike with a key."""
    if stored == joined:
        return compare_alike(joined, key)
    if not (lossless(stored, joined) and compare_alike(joined, key) and compare_alike(stored, key)):
        return False
    return all(
        at is not None and lossless(kind, at) and lossless(key, at)
        for kind in (stored, joined)
        for at in [comparison_type(read_as(kind), read_as(key), ansi=False)]
    )


def identical(kind: Type) -> bool:
    """Whether equal values of a type are identical, so that any condition gives the same for both:
    not 0.0 and -0.0, nor strings that a collation equates."""
    return family(kind) is not None


_COMMON_TYPES: tuple[Callable[[Type, Type, bool], Type | None], ...] = (
    comparison_type,
    lambda one, other, ansi: comparison_type(one, other, ansi, equality=False),
    lambda one, other, ansi: in_list((one, other), ansi),
    lambda one, other, ansi: common_without_strings((one, other), ansi),
)
"""Spark's rules for the type in which two operands are compared: by ``=`` and ``<=>``, by ``<``
etc., by IN, by array_contains."""


def read_as(kind: Type) -> Type:
    """The type in expressions: a VARCHAR column is read as STRING."""
    plain = kind.name in ("string", "varchar") and kind.collation in (None, types.BINARY_COLLATION)
    return types.STRING if plain else kind
