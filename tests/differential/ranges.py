"""Range joins: a fact's partition column against one or two columns of a dimension.

In: a ``Writer``. Out: a ``Block``: ``p BETWEEN d.lo AND d.hi``, ``d.k < p``, a dimension whose rows
hold from one day to another, in every join and subquery, at times without a row.
"""

from __future__ import annotations

from .facts import fact
from .joins import Block, attach
from .relations import Source, Writer
from .schema import DIMENSIONS, TABLES, Column

_SPANS = next(t for t in TABLES if t.name == "spans")
_BOUNDS = {"int": ("lo", "hi"), "date": ("since", "until")}
_TURNED = {">": "<", ">=": "<=", "<": ">", "<=": ">="}


def ranges(w: Writer) -> Block:
    """A fact and a dimension that bounds it from one or both sides."""
    first = fact(w, 1)
    keys = [k for k in first.keys if k.family in ("int", "date", "str")] or list(first.keys)
    key = w.rng.choice(keys)
    spans = key.family in _BOUNDS and w.chance(0.7)
    fitting = [t for t in DIMENSIONS if any(c.family == key.family for c in t.columns)]
    if not fitting:
        fitting = [_SPANS]
    second = w.base(_SPANS if spans else w.rng.choice(fitting))
    columns = [c for c in second.columns if c.family == key.family]
    low, high = (
        tuple(c for c in columns if c.name in _BOUNDS[key.family])
        if spans
        else (w.rng.choice(columns or list(second.columns)) for _ in range(2))
    )
    if w.chance(0.25):
        second = w.wrapped(second)
        if low not in second.columns or high not in second.columns:
            same = [c for c in second.columns if c.family == key.family] or list(second.columns)
            low, high = same[0], same[-1]
    tie = _range(w, first.ref(key), second, low, high, key.family)
    if w.chance(0.2):  # the validity of one thing's row, not of all
        pairs = [(a, b) for a in first.columns for b in second.columns if a.family == b.family]
        a, b = w.rng.choice(pairs)
        tie += f" AND {w.equal(first.ref(a), second.ref(b))}"
    rest = [w.condition(second)] if w.chance(0.7) else []
    if w.chance(0.3):
        outer, inner = (first, second) if w.chance(0.6) else (second, first)
        word = "NOT EXISTS" if w.chance(0.3) else "EXISTS"
        inside = rest if inner is second else []
        outside = rest if outer is second else []
        given = " AND ".join([tie, *inside])
        test = f"{word} (SELECT 1 FROM {inner.text} WHERE {given})"
        return Block(outer.text, [outer], [test, *outside])
    one, other = (first, second) if w.chance(0.5) else (second, first)
    block = Block(one.text, [one])
    attach(w, block, other, tie)
    if second.alias in {s.alias for s in block.visible}:
        block.where += rest
    return block


def _range(w: Writer, p: str, source: Source, low: Column, high: Column, family: str) -> str:
    a, b = source.ref(low), source.ref(high)
    if family == "int" and w.chance(0.15):
        b = f"{b} + 1"
    if family == "date" and w.chance(0.1):
        b = f"DATE_ADD({b}, 1)"
    match w.pick(between=45, both=25, one=30):
        case "between":
            return f"{p} BETWEEN {a} AND {b}"
        case "both":
            first = _sided(w, p, w.rng.choice((">", ">=")), a)
            second = _sided(w, p, w.rng.choice(("<", "<=")), b)
            return f"{first} AND {second}"
        case _:
            return _sided(w, p, w.rng.choice(tuple(_TURNED)), w.rng.choice((a, b)))


def _sided(w: Writer, one: str, sign: str, other: str) -> str:
    if w.chance(0.4):
        return f"{other} {_TURNED[sign]} {one}"
    return f"{one} {sign} {other}"
