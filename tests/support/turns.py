"""Of what is too much for each run, the part whose turn it is today.

All parts have had their turn after so many days, and all runs of one day are alike. ``TURN`` in the
environment is the number of another day. Of the cases of a parametrized test, the mark ``turns(n)``
takes every n-th; all of them run with ``--all-turns``, or chosen by name (``-k``, ``::``).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import date
from typing import TypeVar

T = TypeVar("T")

TODAY = int(os.environ.get("TURN", date.today().toordinal()))


def turn(items: Sequence[T], parts: int) -> Sequence[T]:
    """Every item at a distance of ``parts``, from today's on."""
    return items[TODAY % parts :: parts]
