"""Blocks of the shapes beyond a plain star: chains, tuples, equality chains, ORs, lone booleans.

In: a ``Writer``. Out: a ``Block``, made of the same joins as a star is.
"""

from __future__ import annotations

from .computed import computed
from .facts import fact
from .joins import Block, another, attach, equality, star
from .ranges import ranges
from .relations import Source, Writer
from .schema import DIMENSION_VIEWS, DIMENSIONS, FACTS, Column

PARTED_TWICE = tuple(t for t in FACTS if len(t.keys) > 1)


def join_tree(w: Writer) -> Block:
    """One block's relations, joined in one of the shapes."""
    kind = w.pick(
        star=46, snowflake=16, range=8, tuple=6, computed=10, chain=6, either=7, boolean=3
    )
    w.shapes.add(kind)
    match kind:
        case "snowflake":
            block = _snowflake(w)
        case "range":
            block = ranges(w)
        case "tuple":
            block = _tuple(w)
        case "computed":
            block = computed(w)
        case "chain":
            block = _equality_chain(w)
        case "either":
            block = _either(w)
        case "boolean":
            block = _boolean(w)
        case _:
            return star(w)
    if w.chance(0.12):
        attach(w, block, another(w, block))
    return block


def _snowflake(w: Writer) -> Block:
    """Fact, dimension, neighbour, neighbour: joined in any order, filtered at the far end."""
    first = fact(w, 1)
    line = [first, w.dimension(w.join_family(first.keys))]
    for _ in range(w.rng.choices((1, 2, 3), (60, 32, 8))[0]):
        line.append(w.dimension(w.join_family(line[-1].columns)))
    if w.chance(0.3):  # a branch beside the line, which makes the far end another one
        line.insert(2, w.dimension(w.join_family(line[1].columns)))
    start = w.rng.randrange(len(line))
    block, low, high = Block(line[start].text, [line[start]]), start, start
    while high - low + 1 < len(line):
        outward = low == 0 or (high + 1 < len(line) and w.chance(0.5))
        at, beside = (high + 1, high) if outward else (low - 1, low)
        low, high = min(low, at), max(high, at)
        # A relation that a USING or a semi-join has hidden cannot be named: another stands in.
        there = next((s for s in block.visible if s.alias == line[beside].alias), None)
        tie = equality(w, [there], line[at]) if there else None
        attach(w, block, line[at], tie if w.chance(0.5) else None, there)
    far = next((s for s in block.visible if s.alias == line[-1].alias), None)
    for source in block.visible:
        if source is far or w.chance(0.12):
            block.where.append(w.condition(source))
    return block


def _tuple(w: Writer) -> Block:
    """A fact parted by two columns, both tied to columns of one dimension."""
    first = w.base(w.rng.choice(PARTED_TWICE))
    if w.chance(0.25):
        first = w.wrapped(first)
    families = {k.family for k in first.keys}
    pool = [t for t in (*DIMENSIONS, *DIMENSION_VIEWS) if families <= {c.family for c in t.columns}]
    second = w.base(w.rng.choice(pool))
    if w.chance(0.25):
        second = w.wrapped(second)
    pairs = [(k, _fitting(w, second, k)) for k in first.keys]
    condition = [w.condition(second)] if w.chance(0.85) else []
    if w.chance(0.25):
        left = ", ".join(first.ref(k) for k, _ in pairs)
        right = ", ".join(second.ref(c) for _, c in pairs)
        where = f" WHERE {' AND '.join(condition)}" if condition else ""
        test = f"({left}) IN (SELECT {right} FROM {second.text}{where})"
        return Block(first.text, [first], [test])
    ties = [w.equal(first.ref(k), second.ref(c)) for k, c in pairs]
    return _joined(w, first, second, ties, condition)


def _fitting(w: Writer, source: Source, key: Column) -> Column:
    return w.rng.choice([c for c in source.columns if c.family == key.family])


def _joined(w: Writer, first: Source, second: Source, ties: list[str], rest: list[str]) -> Block:
    """Two relations, either first, some ties in ON and some in WHERE, or all in an EXISTS."""
    w.rng.shuffle(ties)
    if w.chance(0.15):
        word = "NOT EXISTS" if w.chance(0.25) else "EXISTS"
        given = " AND ".join([*ties, *rest])
        return Block(first.text, [first], [f"{word} (SELECT 1 FROM {second.text} WHERE {given})"])
    one, other = (first, second) if w.chance(0.5) else (second, first)
    block = Block(one.text, [one])
    apart = ties.pop() if len(ties) > 1 and w.chance(0.2) else None
    attach(w, block, other, " AND ".join(ties))
    visible = {s.alias for s in block.visible}
    if apart and {one.alias, other.alias} <= visible:
        block.where.append(apart)
    if second.alias in visible:
        block.where += rest
    return block


def _equality_chain(w: Writer) -> Block:
    """``f.p = g.p AND g.p = d.k`` between two facts and a dimension, in any order."""
    family = w.pick(int=50, date=30, str=20)
    pool = [t for t in FACTS if any(c.family == family and c.name in t.keys for c in t.columns)]
    two = [w.base(w.rng.choice(pool)) for _ in range(2)]
    facts = [w.wrapped(s) if w.chance(0.2) else s for s in two]
    columns = [_one_of(w, [c for c in s.keys if c.family == family], s, family) for s in facts]
    dimension = w.dimension(family)
    key = _fitting(w, dimension, Column("", family))
    tied = [*zip(facts, columns, strict=True), (dimension, key)]
    if w.chance(0.3):
        tied[0], tied[1] = tied[1], tied[0]
    order = w.rng.choice(((0, 1, 2), (1, 0, 2), (1, 2, 0), (2, 1, 0)))
    block = Block(tied[order[0]][0].text, [tied[order[0]][0]])
    done = [tied[order[0]]]
    for source, column in (tied[i] for i in order[1:]):
        # Along the chain: the middle one is tied to both.
        near, theirs = tied[1] if tied[1] in done else done[0]
        if near.alias not in {s.alias for s in block.visible}:
            break
        attach(w, block, source, w.equal(near.ref(theirs), source.ref(column)))
        done.append((source, column))
    for source in block.visible:
        if w.chance(0.9 if source is dimension else 0.1):
            block.where.append(w.condition(source))
    return block


def _one_of(w: Writer, keys: list[Column], source: Source, family: str) -> Column:
    """A partition column, at times another column of its type."""
    others = [c for c in source.columns if c.family == family]
    return w.rng.choice(others if w.chance(0.15) or not keys else keys)


def _either(w: Writer) -> Block:
    """A star whose filter is an OR over several relations, nested, often with a condition on each
    in every branch."""
    first = fact(w, 1)
    second = w.dimension(w.join_family(first.keys))
    block = Block(first.text, [first])
    attach(w, block, second)
    if w.chance(0.4):
        attach(w, block, another(w, block))
    block.where.append(_disjunction(w, block.visible, 2))
    return block


def _disjunction(w: Writer, visible: list[Source], depth: int) -> str:
    branches = []
    for _ in range(w.rng.choices((2, 3), (75, 25))[0]):
        parts = [w.condition(s) for s in visible if w.chance(0.3 if s.fact else 0.85)]
        if depth > 1 and w.chance(0.3):
            parts.append(_disjunction(w, visible, depth - 1))
        w.rng.shuffle(parts)
        parts = parts or [w.condition(w.rng.choice(visible))]
        text = " AND ".join(parts)
        text = f"NOT ({text})" if w.chance(0.05) else text
        branches.append(f"({text})" if len(parts) > 1 and w.chance(0.6) else text)
    return f"({' OR '.join(branches)})"


def _boolean(w: Writer) -> Block:
    """A star whose one filter is a boolean column."""
    table = w.rng.choice([t for t in (*DIMENSIONS, *DIMENSION_VIEWS) if _flag(t.columns)])
    first, second = fact(w, 1), w.base(table)
    second = w.wrapped(second) if w.chance(0.2) else second
    block = Block(first.text, [first])
    attach(w, block, second, equality(w, [first], second))
    flag = _flag(second.columns)
    if flag and second.alias in {s.alias for s in block.visible}:
        ref = second.ref(flag)
        block.where.append(w.rng.choice((ref, ref, f"NOT {ref}", f"({ref})", f"{ref} = FALSE")))
    return block


def _flag(columns: tuple[Column, ...]) -> Column | None:
    return next((c for c in columns if c.family == "bool"), None)
