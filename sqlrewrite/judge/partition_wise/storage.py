"""Whether Spark joins two tables partition by partition, without an exchange, or what it lacks.

In: a ``ScanJoin``, and the settings that are known. Out: a ``Storage``. Each condition was found by
switching one setting and looking for the Exchange in Spark's plan, Iceberg's tables and Spark's own
(docs/partition-wise.md, "What Spark needs"):

1. buckets (``CLUSTERED BY … INTO n BUCKETS``, a format of Spark's own): both tables have them by
   columns that the join ties, in the same order, of the same types and of the same number, or of
   numbers of which the one is a few times the other;
2. storage partitions (Iceberg): both tables have fields that the join ties, with the same transform
   or compatible ones;
3. partitions of Spark's own formats (``PARTITIONED BY``) never count: the advice is DDL that would.

For tables that are in none of these rows no advice is given.

``group_count`` says by how many groups a join is written, and whether that pays; its limits are
measured (docs/partition-wise.md, "When groups pay").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlrewrite.find.join_edges import ScanJoin, scan_joins
from sqlrewrite.judge.partition_wise.aggregates import Unsplit
from sqlrewrite.plan.algebra import ColumnRef, JoinType, Plan
from sqlrewrite.plan.columns import type_of
from sqlrewrite.plan.facts.coercion import read_as
from sqlrewrite.plan.facts.types import FLOATING
from sqlrewrite.rulebook import Engine
from sqlrewrite.settings import spark_conf
from sqlrewrite.warehouse import Buckets, PartitionField

_OWN = frozenset({"parquet", "orc", "csv", "json", "avro", "text"})
_TRANSFORMS = frozenset({"identity", "years", "months", "days", "hours", "bucket", "truncate"})
_MOST_TIMES = 4  # spark.sql.bucketing.coalesceBucketsInJoin.maxBucketRatio
_BUCKET_BYTES = 128 << 20
_BY_STORAGE = ((spark_conf.GROUPING, True), (spark_conf.STORED, True), (spark_conf.PUSHED, True))
BROADCAST_SIDES = {
    JoinType.INNER: (0, 1),
    JoinType.LEFT: (1,),
    JoinType.RIGHT: (0,),
    JoinType.SEMI: (1,),
    JoinType.ANTI: (1,),
}
"""The sides that a join may broadcast, from 0; then nothing is exchanged."""


@dataclass(frozen=True, slots=True)
class Storage:
    """How two joined tables are stored: ``layout`` is their common layout in words; ``settings``
    are those that a join without an exchange still needs, each with its value, and ``ddl`` what the
    tables' definitions lack. With neither, Spark exchanges nothing."""

    layout: str
    settings: tuple[tuple[str, str], ...] = ()
    ddl: tuple[str, ...] = ()


def joins_with_storage(
    plan: Plan, engine: Engine, conf: Mapping[str, str]
) -> Iterator[tuple[ScanJoin, Storage | None]]:
    """The scan joins of a plan, each with its storage; None where the tables have no common layout,
    where one of them is broadcast anyway, or where that is not known."""
    engine = spark_conf.engine_under(engine, conf)
    for join in scan_joins(plan):
        yield join, _storage(plan, join, engine, conf)


def _storage(plan: Plan, join: ScanJoin, engine: Engine, conf: Mapping[str, str]) -> Storage | None:
    if engine.name != "spark" or broadcast(join, engine.broadcast_threshold):
        return None
    one, other = join.one.table, join.other.table
    if not all(table.buckets or table.partitioned_by for table in (one, other)):
        return None
    tied = {key.one: key.other for key in join.keys if _same_type(plan, join, key.one)}
    if "iceberg" in (one.provider, other.provider):
        return _by_fields(join, tied, conf) if one.provider == other.provider else None
    if not {one.provider, other.provider} <= _OWN:
        return None
    if one.buckets is not None and other.buckets is not None:
        storage = _by_buckets(one.buckets, other.buckets, tied, len(join.keys), conf)
        if storage is not None:
            return storage
    return _by_partitions(join, tied, conf)


def broadcast(join: ScanJoin, threshold: int) -> bool:
    """Whether a side is small enough to be broadcast, as far as sizes are known."""
    sizes = join.one.table.size_in_bytes, join.other.table.size_in_bytes
    sides = (sizes[side] for side in BROADCAST_SIDES.get(join.kind, ()))
    return any(side is not None and side <= threshold for side in sides)


def _same_type(plan: Plan, join: ScanJoin, column: str) -> bool:
    """Whether both columns of a key have one type: a cast of one of them hides how it is stored."""
    other = next(key.other for key in join.keys if key.one == column)
    kinds = {
        None if kind is None else read_as(kind)
        for scan, name in ((join.one, column), (join.other, other))
        for kind in [type_of(plan, ColumnRef(scan.relation, name, None))]
    }
    return len(kinds) == 1 and None not in kinds and kinds.isdisjoint(FLOATING)


def _missing(conf: Mapping[str, str], *needed: tuple[str, bool]) -> tuple[tuple[str, str], ...]:
    """The ``needed`` settings that do not have the value that is needed; none if that is not
    certain of any, for a version of Spark that is not known."""
    values = {name: spark_conf.is_on(conf, name) for name, _ in needed}
    missing = [(name, value) for name, value in needed if values[name] is not value]
    if all(values[name] is None for name, _ in missing):
        return ()
    return tuple((name, str(value).lower()) for name, value in missing)


def _by_buckets(
    one: Buckets, other: Buckets, tied: Mapping[str, str], keys: int, conf: Mapping[str, str]
) -> Storage | None:
    if tuple(tied.get(column) for column in one.columns) != other.columns:
        return None
    fewer, more = sorted((one.count, other.count))
    if more % fewer or more // fewer > _MOST_TIMES:
        return None
    if more != fewer and keys > len(one.columns):  # coalesced only where all keys are the buckets'
        return None
    needed = [(spark_conf.BUCKETS, True)]
    needed += [(spark_conf.COALESCED, True)] if more != fewer else []
    needed += [(spark_conf.ALL_KEYS, False)] if keys > len(one.columns) else []
    into = f"{one.count} buckets" if fewer == more else f"{one.count} and {other.count} buckets"
    layout = f"clustered by {', '.join(one.columns)} into {into}"
    return Storage(layout, _missing(conf, *needed))


def _by_fields(join: ScanJoin, tied: Mapping[str, str], conf: Mapping[str, str]) -> Storage | None:
    """The storage of two Iceberg tables, whose partition fields are compared in order."""
    sides = join.one.table.partitioned_by, join.other.table.partitioned_by
    first = [side for side in sides[0] if side.column.lower() in tied]
    reached = {tied[field.column.lower()] for field in first}
    second = [side for side in sides[1] if side.column.lower() in reached]
    if not first or [tied[field.column.lower()] for field in first] != [
        field.column.lower() for field in second
    ]:
        return None
    relations = {_relation(a, b) for a, b in zip(first, second, strict=True)}
    if None in relations:
        return None
    needed = [*_BY_STORAGE]
    needed += [(spark_conf.COMPATIBLE, True)] if "compatible" in relations else []
    fewer = max(map(len, sides)) > len(first)
    if fewer and not any(spark_conf.is_on(conf, name) for name in spark_conf.SUBSETS):
        needed.append((spark_conf.SUBSETS[0], True))
    if fewer or len(join.keys) > len({field.column for field in first}):
        needed.append((spark_conf.ALL_KEYS, False))
    return Storage(f"partitioned by {', '.join(map(_shown, first))}", _missing(conf, *needed))


def _relation(one: PartitionField, other: PartitionField) -> str | None:
    """How the partition fields of two tables for one key match: ``same``; ``compatible``, where one
    is computed from the other; or None."""
    transforms = {one.transform, other.transform}
    if not transforms <= _TRANSFORMS:
        return None
    if len(transforms) == 1 and one.number == other.number:
        known = one.transform not in ("bucket", "truncate") or one.number is not None
        return "same" if known else None
    if transforms == {"days", "hours"}:
        return "compatible"
    if transforms == {"bucket"} and one.number and other.number:
        fewer, more = sorted((one.number, other.number))
        return None if more % fewer else "compatible"
    return None


def _shown(field: PartitionField) -> str:
    if field.transform == "identity":
        return field.column
    number = "" if field.number is None else f"{field.number}, "
    return f"{field.transform}({number}{field.column})"


def _by_partitions(
    join: ScanJoin, tied: Mapping[str, str], conf: Mapping[str, str]
) -> Storage | None:
    """The storage of two tables of Spark's own formats that are partitioned by a common key, with
    definitions that would avoid the exchange."""
    scans = (join.one, join.other)
    fields = [scan.table.identities for scan in scans]
    columns = [field for field in fields[0] if tied.get(field) in fields[1]]
    if not columns:
        return None
    others = [(one, two) for one, two in tied.items() if one not in fields[0]]
    others = [(one, two) for one, two in others if two not in fields[1]]
    layout = f"partitioned by {', '.join(columns)}"
    names = [*zip(*(others or [(column, tied[column]) for column in columns]), strict=True)]
    clause, needed = "USING iceberg PARTITIONED BY ({})", [*_BY_STORAGE]
    if others:
        clause = f"CLUSTERED BY ({{}}) INTO {_count(join)} BUCKETS"
        needed = [(spark_conf.BUCKETS, True), (spark_conf.ALL_KEYS, False)]
    both = zip(scans, names, strict=True)
    ddl = (f"{scan.parts[-1]}: {clause.format(', '.join(its))}" for scan, its in both)
    return Storage(layout, _missing(conf, *needed), tuple(ddl))


def _count(join: ScanJoin) -> str:
    """The number of buckets: a power of two, about 128 MB of the larger table in each; ``n`` where
    its size is not known."""
    sizes = [scan.table.size_in_bytes for scan in (join.one, join.other)]
    if None in sizes:
        return "n"
    needed = -(-max(size or 0 for size in sizes) // _BUCKET_BYTES)
    return str(1 << max(1, (needed - 1).bit_length()))


def remedies(found: Storage) -> Iterator[str]:
    """The advice as it would be written: definitions, then settings."""
    yield from found.ddl
    yield from (f"SET {name} = {value}" for name, value in found.settings)


MOST = 4
"""Up to this number, groups were faster than one sort-merge join, if a table has ``ENOUGH``
bytes."""

ENOUGH = 64 << 20
"""The stored bytes of the larger table below which groups are not surely faster."""

TIMES = 8
"""The least ratio of the other table to the one that is broadcast: at five times, the groups did
not save what the broadcasts cost."""

_ROOM = 1.5
"""Groups differ in size: they are cut by the hash of a value, or at bounds."""


def group_count(joins: Sequence[ScanJoin], engine: Engine, asked: int | None) -> int:
    """The number of groups that is asked for, or else pays. Raises Unsplit where none does."""
    if asked is not None:
        return asked
    # The left side of a join further up is a join, no table that could be broadcast.
    threshold = max(1, engine.broadcast_threshold)
    first = min(joins, key=lambda it: it.other.relation)
    count = max(
        _groups_needed(join, threshold, (0, 1) if join is first else (1,)) for join in joins
    )
    if count == 1:
        raise Unsplit("one side is small enough to be broadcast without groups")
    if count > MOST:
        raise Unsplit(
            f"it would take {count} groups to broadcast a side of each, and more than {MOST} are "
            "not known to be faster: see what Spark needs to join them part by part by itself, "
            f"or write them by --groups {count} and measure by verify"
        )
    return count


def _groups_needed(join: ScanJoin, threshold: int, sides: Sequence[int]) -> int:
    """How many groups make one of these sides small enough to be broadcast; 1 where a side is small
    already. Raises Unsplit where that is not known, or does not pay."""
    sizes = join.one.table.size_in_bytes, join.other.table.size_in_bytes
    known = [sizes[side] for side in sides if side in BROADCAST_SIDES.get(join.kind, ())]
    if not known:
        kind = join.kind.value.upper()
        raise Unsplit(f"Spark broadcasts no table of its {kind} JOIN, so that groups save nothing")
    if any(size is not None and size <= threshold for size in known):
        return 1
    if None in sizes:
        raise Unsplit("the sizes of its tables are not known: --groups N says how many groups")
    if max(size or 0 for size in sizes) < ENOUGH:
        raise Unsplit(
            f"its larger table has less than {ENOUGH >> 20} MB: groups of joins so small were not "
            "faster when measured (--groups N writes them anyway, verify measures them)"
        )
    smaller = min(size or 0 for size in known)
    if max(size or 0 for size in sizes) < TIMES * smaller:
        raise Unsplit(
            f"its larger table is less than {TIMES} times the other: broadcasting that in groups "
            "then cost as much as it saved when measured (--groups N writes them anyway)"
        )
    return max(2, -(-int(smaller * _ROOM) // threshold))
