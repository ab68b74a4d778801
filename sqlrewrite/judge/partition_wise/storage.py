"""Whether Spark joins two tables partition by partition, without an exchange, or what it needs.

In: a ``ScanJoin`` and the known settings. Out: a ``Storage``. Each condition was found by changing
one setting and looking for the Exchange in Spark's plan (docs/partition-wise.md, "What Spark
needs"):

1. buckets (``CLUSTERED BY … INTO n BUCKETS`` in a format of Spark's own): both tables have them by
   joined columns, in the same order and of the same types, and the same number of buckets, or one
   a small multiple of the other;
2. storage partitions (Iceberg): both tables have fields of joined columns with the same transform,
   or compatible ones;
3. partitions of Spark's own formats (``PARTITIONED BY``) never suffice: the advice is other DDL.

Other tables get no advice.

``group_count`` is the number of groups for which writing them pays; its limits are measured
(docs/partition-wise.md, "When groups pay").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

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
"""The sides (0 or 1) that a join may broadcast, without an exchange."""


class Storage(Struct, frozen=True):
    """How two joined tables are stored: their common ``layout`` in words, and the ``settings``,
    each with its value, and the ``ddl`` that a join without an exchange still needs."""

    layout: str
    settings: tuple[tuple[str, str], ...] = ()
    ddl: tuple[str, ...] = ()


def joins_with_storage(
    plan: Plan, engine: Engine, conf: Mapping[str, str]
) -> Iterator[tuple[ScanJoin, Storage | None]]:
    """The scan joins of a plan, each with its storage; None if the tables have no common layout, if
    one is broadcast anyway, or if that is not known."""
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
    """Whether a side is known to be small enough to be broadcast."""
    sizes = join.one.table.size_in_bytes, join.other.table.size_in_bytes
    sides = (sizes[side] for side in BROADCAST_SIDES.get(join.kind, ()))
    return any(side is not None and side <= threshold for side in sides)


def _same_type(plan: Plan, join: ScanJoin, column: str) -> bool:
    """Whether both columns of a key have one type: a cast hides how a column is stored."""
    other = next(key.other for key in join.keys if key.one == column)
    kinds = {
        None if kind is None else read_as(kind)
        for scan, name in ((join.one, column), (join.other, other))
        for kind in [type_of(plan, ColumnRef(scan.relation, name, None))]
    }
    return len(kinds) == 1 and None not in kinds and kinds.isdisjoint(FLOATING)


def _missing(conf: Mapping[str, str], *needed: tuple[str, bool]) -> tuple[tuple[str, str], ...]:
    """The ``needed`` settings whose value differs; none if the values of all of them are unknown,
    as with an unknown version of Spark."""
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
    """The storage of two Iceberg tables, by their partition fields in order; None if they do not
    match."""
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
    """How two partition fields match: ``same``, ``compatible`` (one can be computed from the
    other), or None."""
    transforms = {one.transform, other.transform}
    if not transforms <= _TRANSFORMS:
        return None
    if len(transforms) == 1 and one.number == other.number:
        same_number = one.transform not in ("bucket", "truncate") or one.number is not None
        return "same" if same_number else None
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
    """The storage of two tables of Spark's own formats, partitioned by a common key, with DDL that
    would avoid the exchange; None if they have none."""
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
    """The number of buckets: a power of two, for about 128 MB of the larger table in each; ``n`` if
    its size is not known."""
    sizes = [scan.table.size_in_bytes for scan in (join.one, join.other)]
    if None in sizes:
        return "n"
    needed = -(-max(size or 0 for size in sizes) // _BUCKET_BYTES)
    return str(1 << max(1, (needed - 1).bit_length()))


def remedies(storage: Storage) -> Iterator[str]:
    """The advice as it would be written: DDL, then settings."""
    yield from storage.ddl
    yield from (f"SET {name} = {value}" for name, value in storage.settings)


MOST = 4
"""The most groups that were faster than one sort-merge join, for a table of ``ENOUGH`` bytes."""

ENOUGH = 64 << 20
"""The stored bytes of the larger table below which groups were not always faster."""

TIMES = 8
"""The least ratio of the other table to the broadcast one: at five times, the groups did not save
what the broadcasts cost."""

_ROOM = 1.5
"""How many times as large as the average a group may be: rows are split by a hash, or at bounds."""


def group_count(joins: Sequence[ScanJoin], engine: Engine, asked: int | None) -> int:
    """The number of groups: the ``asked`` one, else one that pays. Raises Unsplit if none does."""
    if asked is not None:
        return asked
    # The left side of a join further up is a join: only the first has a table there to broadcast.
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
            "not known to be faster: see what Spark needs to join the tables partition by "
            f"partition, or write groups by `--groups {count}` and measure with `verify`"
        )
    return count


def _groups_needed(join: ScanJoin, threshold: int, sides: Sequence[int]) -> int:
    """The number of groups that makes one of these sides small enough to be broadcast; 1 if a side
    is small already. Raises Unsplit if that is not known, or does not pay."""
    sizes = join.one.table.size_in_bytes, join.other.table.size_in_bytes
    broadcastable = [sizes[side] for side in sides if side in BROADCAST_SIDES.get(join.kind, ())]
    if not broadcastable:
        kind = join.kind.value.upper()
        raise Unsplit(f"Spark can broadcast no table of its {kind} JOIN, so groups save nothing")
    if any(size is not None and size <= threshold for size in broadcastable):
        return 1
    if None in sizes:
        raise Unsplit(
            "the sizes of its tables are not known: give the number of groups, `--groups N`"
        )
    if max(size or 0 for size in sizes) < ENOUGH:
        raise Unsplit(
            f"its larger table has less than {ENOUGH >> 20} MB, for which groups were not faster "
            "when measured (`--groups N` writes them anyway, `verify` measures them)"
        )
    smaller = min(size or 0 for size in broadcastable)
    if max(size or 0 for size in sizes) < TIMES * smaller:
        raise Unsplit(
            f"its larger table is less than {TIMES} times the other: groups then cost as much as "
            "they saved when measured (`--groups N` writes them anyway)"
        )
    return max(2, -(-int(smaller * _ROOM) // threshold))
