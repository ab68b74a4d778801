"""Random draws from files that more files do not change.

``random.choice`` picks by number, so that one more fixture gives every draw behind it another
file, and a test fails on texts that have nothing to do with what was added. Here each file has
places of its own on a ring, by its name, and a draw takes the file behind a random place: one more
file takes the draws that fall before its own places, and all others stay.
"""

from __future__ import annotations

import hashlib
import random
from bisect import bisect
from collections.abc import Mapping
from typing import Generic, TypeVar

T = TypeVar("T")

_PLACES = 8
"""Of each file: the more, the more alike are the shares of all."""


class Draws(Generic[T]):
    """Values under names, from which to draw."""

    def __init__(self, named: Mapping[str, T]) -> None:
        ring = sorted((_place(f"{n}/{name}"), name) for name in named for n in range(_PLACES))
        self._places = [place for place, _ in ring]
        self._names = [name for _, name in ring]
        self._named = named

    def draw(self, rng: random.Random) -> T:
        at = bisect(self._places, rng.getrandbits(64))
        return self._named[self._names[at % len(self._names)]]


def _place(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest())
