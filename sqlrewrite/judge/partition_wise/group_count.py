"""How many groups of partitions a join is written by, and whether that pays.

In: the joins of tables. Out: a number. Groups pay only where one side of each is small enough
to be broadcast and the whole of it is not, and where the other is so large that its shuffle costs
more than planning a branch for each; from where on was measured (docs/partition-wise.md, "When
groups pay").
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlrewrite.find.scan_joins import ScanJoin
from sqlrewrite.judge.partition_wise.aggregates import Unsplit
from sqlrewrite.judge.partition_wise.storage import BROADCAST_SIDES
from sqlrewrite.rulebook import Engine

MOST = 4
"""Up to these groups were faster than one sort-merge join, from a table of ``ENOUGH`` on."""

ENOUGH = 64 << 20
"""The bytes of the larger table, as it is stored, below which groups are no faster for sure."""

TIMES = 8
"""How many times the table that is broadcast the other is, at least: where it was five times, what
the broadcasts cost was not saved."""

_ROOM = 1.5
"""Groups are not all of one size: they are cut by the hash of a value, or at bounds."""


def group_count(joins: Sequence[ScanJoin], engine: Engine, asked: int | None) -> int:
    """The number of groups that is asked for, or that pays. Raises Whole where none does."""
    if asked is not None:
        return asked
    # What is joined further up is no table any more on its left, whatever it was made of.
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
    """How many groups make one of some sides of a join small, one where it is. Raises Whole where
    that is not known, or does not pay."""
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
