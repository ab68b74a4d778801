"""Joins: every type, either side, conditions in ON or in WHERE; and the plain star made of them.

In: a ``Writer``. Out: a ``Block``: the text of FROM, the relations that can still be named above,
and what is left for WHERE.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from .facts import fact
from .relations import Source, Writer
from .schema import Column

_ON_JOINS = (
    "INNER JOIN",
    "LEFT JOIN",
    "RIGHT JOIN",
    "FULL JOIN",
    "LEFT SEMI JOIN",
    "LEFT ANTI JOIN",
)
_USING_JOINS = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN")
_WORDS = {
    "LEFT JOIN": ("LEFT JOIN", "LEFT OUTER JOIN"),
    "RIGHT JOIN": ("RIGHT JOIN", "RIGHT OUTER JOIN"),
    "FULL JOIN": ("FULL JOIN", "FULL OUTER JOIN"),
    "INNER JOIN": ("JOIN", "INNER JOIN"),
}


@dataclass(slots=True)
class Block:
    """FROM and WHERE as they grow; ``visible`` are the relations that may be referred to.

    After a comma, ON sees only what stands to its right: ``visible`` from ``comma`` on.
    """

    text: str
    visible: list[Source]
    where: list[str] = field(default_factory=list)
    comma: int = 0


def star(w: Writer) -> Block:
    """A fact, a dimension, and at times more of both."""
    first = fact(w)
    family = w.join_family(first.keys)
    second = w.dimension(family)
    if w.chance(0.5):
        block = Block(first.text, [first])
        attach(w, block, second)
    else:
        block = Block(second.text, [second])
        attach(w, block, first)
    for _ in range(w.rng.choices((0, 1, 2), (66, 27, 7))[0]):
        attach(w, block, another(w, block))
    if w.chance(0.15):
        block.visible = [_unqualified(s, block.visible) for s in block.visible]
    for source in block.visible:
        if w.chance(0.08 if source.fact else 0.93 if w.tame else 0.6):
            block.where.append(w.condition(source))
    if len(block.visible) > 1 and w.chance(0.1):
        block.where.append(_across(w, block.visible))
    return block


def _unqualified(source: Source, visible: Sequence[Source]) -> Source:
    """The relation with the columns that only it has: these need no qualifier."""
    others = {c.name for s in visible if s is not source for c in s.columns}
    alone = tuple(c for c in source.columns if c.name not in others)
    keys = tuple(c for c in source.keys if c in alone) or alone
    return Source(source.text, "", alone, keys, source.fact) if alone else source


def another(w: Writer, block: Block) -> Source:
    """A second role of a dimension, the next in a chain, or (once) a second fact."""
    if w.chance(0.25) and sum(s.fact for s in block.visible) < 2:
        return fact(w, 1)
    partner = w.rng.choice(block.visible)
    return w.dimension(w.join_family(partner.columns))


def _across(w: Writer, visible: Sequence[Source]) -> str:
    """An OR over two relations: at most what both branches imply may be taken from it."""
    a, b = w.rng.sample(list(visible), 2)
    one = f"{w.condition(a)} AND {w.condition(b)}" if w.chance(0.5) else w.condition(a)
    return f"({one} OR {w.condition(b)})"


# --- one more relation --------------------------------------------------------------------------


def attach(
    w: Writer,
    block: Block,
    new: Source,
    tie: str | None = None,
    beside: Source | None = None,
) -> None:
    """Joins one more relation, by the condition given, or by an equality with any relation of the
    block, or with the one ``beside`` it. The condition names relations that the block shows."""
    kind = w.pick(on=70, cross=8, comma=8, using=7, natural=3, lateral=5)
    there = block.visible if beside is None else [s for s in block.visible if s is beside]
    if kind not in ("cross", "comma"):
        # After a comma, ON does not see what stands before it.
        seen = [s for s in there if s in block.visible[block.comma :]]
        kind = kind if seen or not there else "cross"
        there = seen if seen or not there else there
        if tie is not None and block.comma:
            kind = "cross"
    equal = tie or equality(w, there, new)
    if kind in ("using", "natural") and not tie and _merge(w, block, new, kind):
        return
    if kind == "lateral" and equal and not new.fact:
        _lateral(w, block, new, equal)
    elif kind in ("cross", "comma") and equal:
        _product(w, block, new, kind)
        block.where.append(equal)
    else:
        _join_on(w, block, new, equal)


def _product(w: Writer, block: Block, new: Source, kind: str) -> None:
    """A product whose join condition stands in WHERE."""
    if kind == "comma" and w.chance(0.5):
        block.text = f"{new.text}, {block.text}"
        block.visible.insert(0, new)
        block.comma += 1
        return
    if kind == "comma":
        block.comma = len(block.visible)
    block.text += (", " if kind == "comma" else " CROSS JOIN ") + new.text
    block.visible.append(new)


def _join_on(w: Writer, block: Block, new: Source, equal: str | None) -> None:
    word = w.rng.choices(_ON_JOINS, (76, 7, 7, 1, 7, 2) if w.tame else (40, 18, 18, 7, 9, 8))[0]
    if equal is None or (word in ("INNER JOIN",) and w.chance(0.1)):
        # The key stays out of ON where the join's meaning lets it.
        on = ["1 = 1"] if equal is None else [w.condition(new)]
        word = "INNER JOIN" if equal else word
        block.where += [equal] if equal else []
    else:
        on = [equal]
        if w.chance(0.45):
            on.append(w.condition(new))
        if w.chance(0.12):
            on.append(w.condition(w.rng.choice(block.visible[block.comma :])))
    w.rng.shuffle(on)
    condition = w.parens(" AND ".join(on))
    text = new.text
    if word not in ("LEFT SEMI JOIN", "LEFT ANTI JOIN") and w.chance(0.08):
        text = _nested(w, new)
    join = f"{w.rng.choice(_WORDS.get(word, (word,)))} {text} ON {condition}"
    block.text = f"{block.text} {join}"
    if ", " not in block.text and w.chance(0.06):
        block.text = f"({block.text})"
    if word not in ("LEFT SEMI JOIN", "LEFT ANTI JOIN"):
        block.visible.append(new)


def _nested(w: Writer, new: Source) -> str:
    """``a JOIN (b JOIN c ON …) ON …``: the inner join comes first, whatever the outer one is."""
    other = w.dimension(w.join_family(new.columns))
    equal = equality(w, [new], other) or "1 = 1"
    on = f"{equal} AND {w.condition(other)}" if w.chance(0.6) else equal
    word = w.rng.choice(("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN"))
    return f"({new.text} {word} {other.text} ON {on})"


def equality(w: Writer, visible: Sequence[Source], new: Source) -> str | None:
    """The join condition, preferably on a partition column; at times not a plain equality."""
    pairs = [
        (s, a, b)
        for s in visible
        for a in (s.keys if s.fact else s.columns)
        for b in (new.keys if new.fact else new.columns)
        if a.family == b.family != "bool"
    ]
    if not pairs:
        return None
    facts = [p for p in pairs if p[0].fact]
    source, a, b = w.rng.choice(facts if facts and w.chance(0.95 if w.tame else 0.75) else pairs)
    left, right = source.ref(a), new.ref(b)
    if w.chance(0.5):
        left, right = right, left
    first = _comparison(w, left, right, a.family)
    if w.chance(0.1):
        second, c, d = w.rng.choice(pairs)
        return f"{first} AND {second.ref(c)} = {new.ref(d)}"
    return first


def _comparison(w: Writer, left: str, right: str, family: str) -> str:
    match w.pick(equal=250 if w.tame else 84, safe=6, less=3, between=3, computed=3):
        case "safe":
            return f"{left} <=> {right}"
        case "less":
            return f"{left} < {right}"
        case "between" if family == "int":
            return f"{left} BETWEEN {right} AND {right} + 1"
        case "computed" if family == "int":
            return f"{left} = {right} + 1"
        case _:
            return w.parens(f"{left} = {right}")


def _merge(w: Writer, block: Block, new: Source, kind: str) -> bool:
    """USING and NATURAL; their column has no qualifier, and one relation on the left has it."""
    if block.comma or any(not s.alias for s in block.visible):
        return False
    if kind == "natural" and len(block.visible) > 1:
        return False
    names = Counter(c.name for s in block.visible for c in s.columns)
    both = {c.name for c in new.columns if names[c.name] == 1}
    having = [s for s in block.visible if both & {c.name for c in s.columns}]
    if not having:
        return False
    left = w.rng.choice(having)
    shared = [c for c in left.columns if c.name in both]
    word = w.rng.choices(_USING_JOINS, (60, 14, 14, 6, 6))[0]
    if kind == "natural":
        word = "JOIN" if word == "LEFT SEMI JOIN" else word
        block.text = f"{block.text} NATURAL {word} {new.text}"
    else:
        preferred = [c for c in shared if c in left.keys or c in new.keys] or shared
        shared = [w.rng.choice(preferred)]
        block.text = f"{block.text} {word} {new.text} USING ({shared[0].name})"
    merged = Source("", "", tuple(shared), tuple(shared))
    if word == "LEFT SEMI JOIN":
        return True
    gone = {c.name for c in shared} if w.chance(0.7) else set[str]()
    others = [s for s in block.visible if s is not left]
    block.visible = [*others, _without(left, gone), _without(new, gone), merged]
    return True


def _without(source: Source, names: set[str]) -> Source:
    columns = tuple(c for c in source.columns if c.name not in names) or source.columns
    keys = tuple(k for k in source.keys if k in columns) or columns
    return Source(source.text, source.alias, columns, keys, source.fact)


def _lateral(w: Writer, block: Block, new: Source, equal: str) -> None:
    """``JOIN LATERAL (SELECT … WHERE inner = outer)``: a correlated derived table. Never after a
    comma: where it is joined with one more relation, DuckDB 1.5 forgets the correlation."""
    where = " AND ".join([equal, *([w.condition(new)] if w.chance(0.7) else [])])
    columns = tuple(w.rng.sample(new.columns, 2))
    alias = w.fresh("l")
    listed = ", ".join(map(new.ref, columns))
    inner = f"LATERAL (SELECT {listed} FROM {new.text} WHERE {where}) AS {alias}"
    word = w.rng.choice(("CROSS JOIN", "JOIN", "LEFT JOIN"))
    block.text += f" {word} {inner}" + ("" if word == "CROSS JOIN" else " ON TRUE")
    block.visible.append(Source(inner, alias, columns, columns))


def columns_of(visible: Sequence[Source]) -> list[tuple[Source, Column]]:
    """Every column that can be named."""
    return [(s, c) for s in visible for c in s.columns]
