"""Where a long run is: a bar or a spinner in a terminal, lines on stderr where none can move.

Rich is imported where a terminal is drawn on, and not before: some benchmarks keep their own
process small.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

INTERVAL = 30.0
"""Seconds from one line to the next."""

T = TypeVar("T")

Advance = Callable[[str, int], None]
"""Takes a note on what is done, and how many are done since it was last called."""


@dataclass(slots=True)
class ProgressLines:
    """``12 of 99 queries in 2.0 min: q13``, of a run that began when this was made."""

    total: int
    unit: str
    interval: float = INTERVAL
    count: int = 0
    _began: float = field(default_factory=time.monotonic)
    _printed: float = field(default_factory=time.monotonic)

    def advance(self, note: str = "", by: int = 1) -> None:
        """Counts what was done, and prints a line if the last one is old enough."""
        self.count += by
        now = time.monotonic()
        if now - self._printed >= self.interval:
            self._printed = now
            minutes = (now - self._began) / 60
            line = f"{self.count:,} of {self.total:,} {self.unit} in {minutes:.1f} min"
            print(f"{line}: {note}" if note else line, file=sys.stderr, flush=True)


def with_progress(items: Collection[T], unit: str, interval: float = INTERVAL) -> Iterator[T]:
    """The items, one after the other, with a line now and then on how many are done."""
    lines = ProgressLines(len(items), unit, interval)
    for item in items:
        yield item
        lines.advance(str(item))


@contextmanager
def progress_bar(total: int, unit: str, interval: float = INTERVAL) -> Iterator[Advance]:
    """A bar in a terminal, lines elsewhere; what it gives is called for each step."""
    if not sys.stderr.isatty():
        yield ProgressLines(total, unit, interval).advance
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(unit, total=total)

        def advance(note: str, by: int) -> None:
            bar.update(task, description=note, advance=by)

        yield advance


def say(what: str) -> None:
    """Says what a run is at, by a line: what is measured next shares its processor with no bar."""
    print(f"{time.strftime('%H:%M:%S')} {what} …", file=sys.stderr, flush=True)


@contextmanager
def stage(what: str) -> Iterator[None]:
    """Says what a run is at: a spinner in a terminal, a line elsewhere."""
    if not sys.stderr.isatty():
        say(what)
        yield
        return
    from rich.console import Console

    with Console(stderr=True, highlight=False).status(f"{what} …"):
        yield
