"""Are the rows of two runs the same? As bags: order is not looked at, duplicates are counted.

Floating-point values may differ in their last digits, because a sum depends on its order; anything
else must be equal.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

Row = Sequence[Any]


def difference(before: Iterable[Row], after: Iterable[Row]) -> str | None:
    """How the rows differ, in a few lines; None where they are the same."""
    old, new = _by_exact_values(before), _by_exact_values(after)
    lines: list[str] = []
    for key in [*old, *(key for key in new if key not in old)]:
        was, now = sorted(old.get(key, []), key=_order), sorted(new.get(key, []), key=_order)
        if len(was) != len(now) or not all(map(_close, was, now)):
            lines.append(f"{key}: {len(was)} x {was[:3]}, then {len(now)} x {now[:3]}")
    if not lines:
        return None
    return "\n".join([f"{len(lines)} differ", *lines[:5]])


def _by_exact_values(rows: Iterable[Row]) -> dict[tuple[str, ...], list[tuple[float, ...]]]:
    """The floats of each row, by the other values of it."""
    groups: dict[tuple[str, ...], list[tuple[float, ...]]] = defaultdict(list)
    for row in rows:
        key = tuple("float" if isinstance(value, float) else repr(value) for value in row)
        groups[key].append(tuple(value for value in row if isinstance(value, float)))
    return groups


def _order(floats: tuple[float, ...]) -> tuple[tuple[bool, float], ...]:
    return tuple((math.isnan(value), 0.0 if math.isnan(value) else value) for value in floats)


def _close(was: tuple[float, ...], now: tuple[float, ...]) -> bool:
    return all(
        math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9) or (math.isnan(a) and math.isnan(b))
        for a, b in zip(was, now, strict=True)
    )
