"""By how many groups of partitions a join is written, and whether that pays.

In: the joins of tables. Out: a number. Groups pay only where one side is too large to be broadcast
but its part in each group is not, and where the other side is so large that its shuffle costs more
than planning a branch for each group. The limits are measured (docs/partition-wise.md, "When groups
pay").
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlrewrite.find.scan_joins import ScanJoin
from sqlrewrite.judge.partition_wise.aggregates import Unsplit
from sqlrewrite.judge.partition_wise.storage import BROADCAST_SIDES
from sqlrewrite.rulebook import Engine

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
    count = max(_count(it, threshold, (0, 1) if it is first else (1,)) for it in joins)
    if count == 1:
        raise Unsplit("a side of it is small enough to be broadcast as it is")
    if count > MOST:
        raise Unsplit(
            f"it would take {count} groups to broadcast a side of each, and more than {MOST} are "
            "not known to be faster: see what Spark needs to join them part by part by itself, "
            f"or write them by --groups {count} and measure by verify"
        )
    return count


def _count(join: ScanJoin, threshold: int, sides: Sequence[int]) -> int:
    """How many groups make one of these sides small enough to be broadcast; 1 where a side is small
    already. Raises Unsplit where that is not known, or does not pay."""
    sizes = join.one.table.size_in_bytes, join.other.table.size_in_bytes
    known = [sizes[it] for it in sides if it in BROADCAST_SIDES.get(join.kind, ())]
    if not known:
        kind = join.kind.value.upper()
        raise Unsplit(f"Spark broadcasts no table of its {kind} JOIN, so that groups save nothing")
    if any(it is not None and it <= threshold for it in known):
        return 1
    if None in sizes:
        raise Unsplit("the sizes of its tables are not known: --groups N says how many groups")
    if max(it or 0 for it in sizes) < ENOUGH:
        raise Unsplit(
            f"its larger table has less than {ENOUGH >> 20} MB: groups of joins so small were not "
            "faster when measured (--groups N writes them anyway, verify measures them)"
        )
    smaller = min(it or 0 for it in known)
    if max(it or 0 for it in sizes) < TIMES * smaller:
        raise Unsplit(
            f"its larger table is less than {TIMES} times the other: broadcasting that in groups "
            "then cost as much as it saved when measured (--groups N writes them anyway)"
        )
    return max(2, -(-int(smaller * _ROOM) // threshold))
