"""How many groups of partitions a join is written by, and whether that pays.

In: the meeting of two tables. Out: a number. Groups pay only where one side of each is small enough
to be broadcast and the whole of it is not; how far was measured (docs/partition-wise.md, "When
groups pay").
"""

from __future__ import annotations

from sqlrewrite.find.meetings import Meeting
from sqlrewrite.judge.combines import Whole
from sqlrewrite.judge.partition_wise import SIDES
from sqlrewrite.rulebook import Engine

MOST = 2
"""More groups than these were slower than one sort-merge join where it was measured."""

_ROOM = 1.5
"""Groups are not all of one size: they are cut by the hash of a value, or at bounds."""


def chosen(meeting: Meeting, engine: Engine, asked: int | None) -> int:
    """The number of groups that is asked for, or that pays. Raises Whole where none does."""
    if asked is not None:
        return asked
    sizes = meeting.one.table.size_in_bytes, meeting.other.table.size_in_bytes
    known = [sizes[it] for it in SIDES.get(meeting.kind, ())]
    if None in sizes:
        raise Whole("the sizes of its tables are not known: --groups N says how many groups")
    if not known:
        raise Whole("Spark broadcasts no side of a FULL JOIN, so that groups would save nothing")
    smaller = min(it or 0 for it in known)
    if smaller <= engine.broadcast_threshold:
        raise Whole("a side of it is small enough to be broadcast as it is")
    count = -(-int(smaller * _ROOM) // max(1, engine.broadcast_threshold))
    if count > MOST:
        raise Whole(
            f"it would take {count} groups to broadcast a side of each, and more than {MOST} were "
            "slower where it was measured: see what Spark needs to join them part by part by "
            f"itself, or write them by --groups {count} and measure by verify"
        )
    return max(2, count)
