"""Where a long run is, told on stderr for who looks at a log, where no bar can move.

In: how much there is to do, and each time what has been done. Out: a line every half minute.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

EVERY = 30.0
"""Seconds from one line to the next."""

T = TypeVar("T")


@dataclass(slots=True)
class Lines:
    """``12 of 99 queries in 2 min: q13``, of a run that began when this was made."""

    total: int
    unit: str
    every: float = EVERY
    done: int = 0
    _began: float = field(default_factory=time.monotonic)
    _told: float = field(default_factory=time.monotonic)

    def advance(self, by: int = 1, note: str = "") -> None:
        """Counts what was done, and says so if it is time."""
        self.done += by
        now = time.monotonic()
        if now - self._told >= self.every:
            self._told = now
            told = (
                f"{self.done:,} of {self.total:,} {self.unit} in {(now - self._began) / 60:.1f} min"
            )
            print(f"{told}: {note}" if note else told, file=sys.stderr, flush=True)


def watched(items: Collection[T], unit: str, every: float = EVERY) -> Iterator[T]:
    """The items, one after the other; how many are done is said while they are worked on."""
    lines = Lines(len(items), unit, every)
    for item in items:
        yield item
        lines.advance(note=str(item))
