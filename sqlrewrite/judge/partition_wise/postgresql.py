"""Whether PostgreSQL joins two tables partition by partition, by the bounds of their partitions.

In: a ``ScanJoin`` of two tables whose ``Parts`` are known. Out: ``PartitionJoins``: the number of
joins of partitions, or why there are none. The conditions of ``enable_partitionwise_join``
(``try_partitionwise_join``, ``have_partkey_equi_join`` and ``partition_bounds_merge`` in
PostgreSQL's sources; ``tests/postgres`` checks them by its EXPLAIN):

1. both tables are partitioned by the same strategy and by equally many columns of the same types;
2. an equality (not null-safe) joins each partition column with that in the same position;
3. the bounds are the same; or, for lists and ranges, the rows of each partition match those of at
   most one partition of the other table; a default partition has all other values;
4. in an outer join or anti-join each partition of the preserved side has a partner.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from math import inf

from msgspec import Struct

from sqlrewrite.find.join_edges import JoinKey, ScanJoin
from sqlrewrite.plan.algebra import ColumnRef, JoinType, Plan
from sqlrewrite.plan.columns import type_of
from sqlrewrite.plan.facts.coercion import is_integral, read_as
from sqlrewrite.plan.facts.types import DATE, STRING, Type
from sqlrewrite.warehouse import BoundValue, Part, PartitionBound, Parts

_KEEPS_LEFT = frozenset({JoinType.LEFT, JoinType.ANTI, JoinType.FULL})
_KEEPS_RIGHT = frozenset({JoinType.RIGHT, JoinType.FULL})
_STRATEGIES = ("list", "range", "hash")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


class PartitionJoins(Struct, frozen=True):
    """The number of joins of partitions, or ``why`` whole tables are joined."""

    joins: int = 0
    why: str = ""


class _Refusal(Exception):  # noqa: N818 - not an error: how the search for partners ends
    """Why two tables are not joined partition by partition."""


def partition_joins(plan: Plan, join: ScanJoin) -> PartitionJoins:
    """The joins of partitions that PostgreSQL makes of a join of two of its tables."""
    one, other = join.one.table.parts, join.other.table.parts
    if one is None or other is None:
        table = (join.one if one is None else join.other).parts[-1]
        why = f"`{table}` is not partitioned, or not all of its bounds are known"
        return PartitionJoins(why=why)
    if join.kind is JoinType.UNKNOWN:
        return PartitionJoins(why="the type of the join is not known")
    try:
        return PartitionJoins(_Matching(plan, join).count(one, other))
    except _Refusal as refusal:
        return PartitionJoins(why=str(refusal))


class _Matching(Struct, frozen=True, eq=False):
    """The search for partners among the partitions of two tables, level by level."""

    plan: Plan
    join: ScanJoin

    def count(self, one: Parts, other: Parts) -> int:
        """The number of joins of partitions. Raises _Refusal."""
        if one.strategy != other.strategy:
            raise _Refusal(
                f"one is partitioned by {one.strategy.upper()}, the other by "
                f"{other.strategy.upper()}"
            )
        if one.strategy not in _STRATEGIES:
            raise _Refusal(f"partitions by {one.strategy.upper()} are not known")
        if len(one.keys) != len(other.keys):
            raise _Refusal("they have different numbers of partition columns")
        kinds = [self._kind(*key) for key in zip(one.keys, other.keys, strict=True)]
        first, second = (_read(parts, kinds) for parts in (one, other))
        links = self._links(one.strategy, first, second, ordered=STRING not in kinds)
        return sum(self._below(*link) for link in links)

    def _below(self, one: Part, other: Part) -> int:
        if one.below is None or other.below is None:
            return 1
        try:
            return self.count(one.below, other.below)
        except _Refusal:
            return 1

    def _kind(self, one: str, other: str) -> Type:
        """The type of two partition columns that an equality joins. Raises _Refusal."""
        if not one or not other:
            raise _Refusal("a partition key is an expression")
        if JoinKey(one, other) not in self.join.keys:
            raise _Refusal(f"no equality joins `{one}` with `{other}`")
        kinds = [
            type_of(self.plan, ColumnRef(scan.relation, name, None))
            for scan, name in ((self.join.one, one), (self.join.other, other))
        ]
        if None in kinds:
            raise _Refusal(f"the type of `{one}` or `{other}` is not known")
        first, second = (read_as(kind) for kind in kinds if kind is not None)
        if first != second:
            raise _Refusal(f"`{one}` is {first} and `{other}` is {second}")
        return first

    def _links(
        self, strategy: str, one: Sequence[Part], other: Sequence[Part], *, ordered: bool
    ) -> list[tuple[Part, Part]]:
        """The pairs of partitions that are joined. Raises _Refusal."""
        bounds = [{part.bound: part for part in parts} for parts in (one, other)]
        if bounds[0].keys() == bounds[1].keys() and one:
            return [(part, bounds[1][bound]) for bound, part in bounds[0].items()]
        if strategy == "hash":
            raise _Refusal("partitions by HASH must have the same moduli and remainders")
        if strategy == "range" and not ordered:
            raise _Refusal("their bounds differ, and the order of strings depends on a collation")
        kind = self.join.kind
        links = _Links(_default(one), _default(other))
        if strategy == "list":
            _merge_lists(one, other, kind, links)
        else:
            _merge_ranges(one, other, links)
        if links.defaults[0] is not None and links.defaults[1] is not None:
            links.link(links.defaults[0], links.defaults[1])
        for keeps, parts, side in ((_KEEPS_LEFT, one, 0), (_KEEPS_RIGHT, other, 1)):
            alone = [part for part in parts if part not in links.partners[side]]
            if kind in keeps and alone:
                raise _Refusal(f"no partition matches `{alone[0].name[-1]}`")
        if not links.partners[0]:
            raise _Refusal("no two partitions have values in common")
        return list(links.partners[0].items())


class _Links:
    """The partners so far of the partitions of each side, and the default partition of each."""

    def __init__(self, one: Part | None, other: Part | None) -> None:
        self.defaults = one, other
        self.partners: tuple[dict[Part, Part], dict[Part, Part]] = ({}, {})

    def link(self, one: Part, other: Part) -> None:
        """Makes two partitions partners. Raises _Refusal if one of them has another partner."""
        for side, part, its in ((0, one, other), (1, other, one)):
            if self.partners[side].setdefault(part, its) is not its:
                raise _Refusal(f"`{part.name[-1]}` has values of more than one partition")

    def link_default(self, part: Part, side: int) -> None:
        """Links a partition, which has values that no partition of the other side lists, with the
        default partition of that side, if there is one. Raises _Refusal."""
        default = self.defaults[1 - side]
        if default is None:
            return
        if self.defaults[side] is not None:
            raise _Refusal(f"values of `{part.name[-1]}` may be in the default partition")
        self.link(*((part, default) if side == 0 else (default, part)))


def _default(parts: Sequence[Part]) -> Part | None:
    return next((part for part in parts if part.bound.default), None)


def _merge_lists(one: Sequence[Part], other: Sequence[Part], kind: JoinType, links: _Links) -> None:
    by_value = [
        {value: part for part in parts for value in part.bound.values} for parts in (one, other)
    ]
    first, second = by_value
    nulls = first.pop(None, None), second.pop(None, None)
    for value in first.keys() & second.keys():
        links.link(first[value], second[value])
    for value, part in first.items():
        if value not in second:
            links.link_default(part, 0)
    for value, part in second.items():
        if value not in first:
            links.link_default(part, 1)
    # NULL equals nothing, but the rows of a preserved side must be in some join.
    if kind in _KEEPS_LEFT | _KEEPS_RIGHT and nulls[0] is not None and nulls[1] is not None:
        unlinked = nulls[0] not in links.partners[0], nulls[1] not in links.partners[1]
        if all(unlinked):
            links.link(nulls[0], nulls[1])


def _merge_ranges(one: Sequence[Part], other: Sequence[Part], links: _Links) -> None:
    sides = [[part for part in parts if not part.bound.default] for parts in (one, other)]
    for part in sides[0]:
        for its in sides[1]:
            if max(part.bound.low, its.bound.low) < min(part.bound.high, its.bound.high):
                links.link(part, its)
    for side, parts in enumerate(sides):
        for part in parts:
            partner = links.partners[side].get(part)
            if partner is None:
                links.link_default(part, side)
                continue
            ours, theirs = part.bound, partner.bound
            covered = theirs.default or (theirs.low <= ours.low and ours.high <= theirs.high)
            if links.defaults[1 - side] is not None and not covered:
                raise _Refusal(f"values of `{part.name[-1]}` may be in the default partition")


# --- bounds as values of their column's type


def _read(parts: Parts, kinds: Sequence[Type]) -> list[Part]:
    """The partitions, with their bounds as values of the columns' types."""
    return [
        Part(part.name, _bound(parts.strategy, part.bound, kinds), part.below)
        for part in parts.parts
    ]


def _bound(strategy: str, bound: PartitionBound, kinds: Sequence[Type]) -> PartitionBound:
    if strategy == "hash" or bound.default:
        return bound
    if strategy == "list":
        read = (None if value is None else _constant(value, kinds[0]) for value in bound.values)
        return PartitionBound(values=tuple(sorted(read, key=lambda it: (it is None, str(it)))))
    if any(len(end) != len(kinds) for end in (bound.low, bound.high)):
        raise _Refusal("a bound does not have one value for each partition column")
    low, high = (tuple(map(_constant, end, kinds)) for end in (bound.low, bound.high))
    return PartitionBound(low=low, high=high)


def _constant(value: BoundValue, kind: Type) -> BoundValue:
    """A bound as a value of a type, so that equal bounds are identical. Raises _Refusal."""
    if value in (inf, -inf):
        return value
    if is_integral(kind):
        with suppress(ValueError):
            return int(value)
    if isinstance(value, str) and (kind == STRING or (kind == DATE and _DAY.fullmatch(value))):
        return value
    raise _Refusal(f"the bound `{value}` is not understood as {kind}")
