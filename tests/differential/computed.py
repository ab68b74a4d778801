"""Computed keys: an expression over the partition column, the dimension's key, or both.

In: a ``Writer``. Out: a ``Block`` whose tie compares expressions, at the join or in a derived table
or CTE below it, where what looks like a column is computed.
"""

from __future__ import annotations

from .facts import fact
from .joins import Block, attach
from .relations import Select, Source, Writer
from .schema import Column

_OF: dict[str, dict[str, tuple[str, ...]]] = {
    # What is made of what; most are total, and some give NULL.
    "int": {
        "int": (
            "{0} + 1",
            "- {0}",
            "CAST({0} + 1 AS INT)",
            "CAST({0} * 2 AS INT)",
            "CAST({0} % 2 AS INT)",
            "CAST({0} AS BIGINT)",
            "COALESCE({0}, {1})",
            "COALESCE({0}, {1})",
            "ABS({0})",
            "NULLIF({0}, {1})",
            "CASE WHEN {0} > 2 THEN {0} ELSE 1 END",
            "CASE WHEN {0} IS NULL THEN 1 ELSE {0} END",
        ),
    },
    "date": {
        "date": (
            "DATE_ADD({0}, 1)",
            "DATE_SUB({0}, 1)",
            "COALESCE({0}, {1})",
            "CAST({0} AS TIMESTAMP)",
            "CASE WHEN {0} > {1} THEN {0} ELSE {1} END",
        ),
        "str": ("DATE_FORMAT({0}, 'yyyy-MM-dd')", "DATE_FORMAT({0}, 'dd')"),
        "int": ("DAY({0})", "DAY({0}) + 1"),
    },
    "str": {
        "str": (
            "CONCAT({0}, 'x')",
            "{0} || 'x'",
            "UPPER({0})",
            "COALESCE({0}, {1})",
            "SUBSTRING({0}, 1, 1)",
            "CASE WHEN {0} = {1} THEN 'a' ELSE {0} END",
        ),
    },
}


def computed(w: Writer) -> Block:
    """A fact and a dimension whose tie is computed."""
    first = fact(w, 1)
    keys = [k for k in first.keys if k.family in _OF] or list(first.keys)
    key = w.rng.choice(keys)
    second = w.dimension(key.family if key.family in _OF else "int")
    inside = w.pick(at=46, fact=32, dimension=12, over=10)
    if inside == "fact" and key.family in _OF:
        first, key = _below(w, first, key)
    columns = [c for c in second.columns if c.family == key.family] or list(second.columns)
    other = w.rng.choice(columns)
    if inside == "dimension" and other.family in _OF:
        second, other = _below(w, second, other)
    left, right = first.ref(key), second.ref(other)
    if inside == "at":
        left, right = _tied(w, first, key, second, other)
    if inside == "over" and (block := _over(w, first, key, second, other)):
        return block
    tie = w.equal(left, right)
    block = Block(first.text, [first])
    if w.chance(0.5):
        first, second = second, first
        block = Block(first.text, [first])
    attach(w, block, second, tie)
    for source in block.visible:
        if w.chance(0.08 if source.fact else 0.85):
            block.where.append(w.condition(source))
    return block


def _over(w: Writer, one: Source, key: Column, two: Source, other: Column) -> Block | None:
    """A key that is made of two relations, none of which has it."""
    three = w.dimension(w.join_family(two.columns))
    fitting = [c for c in three.columns if c.family == key.family]
    if not fitting or other.family != key.family:
        return None
    block = Block(two.text, [two])
    attach(w, block, three, beside=two)
    if {two.alias, three.alias} - {s.alias for s in block.visible}:
        return None
    made = f"COALESCE({two.ref(other)}, {three.ref(w.rng.choice(fitting))})"
    attach(w, block, one, w.equal(one.ref(key), made))
    block.where.append(w.condition(two))
    return block


def _tied(w: Writer, one: Source, key: Column, two: Source, other: Column) -> tuple[str, str]:
    """Both sides of a tie, one or both of them computed, of one type."""
    left, right = one.ref(key), two.ref(other)
    if key.family not in _OF or other.family != key.family:
        return left, right
    target = w.rng.choice(list(_OF[key.family]))
    if target != key.family:  # both, to the other type; or, an int, a column of that type
        fitting = [c for c in two.columns if c.family == target]
        if fitting and w.chance(0.5):
            return _made(w, left, key, target), two.ref(w.rng.choice(fitting))
        form = w.rng.choice(_OF[key.family][target])
        return form.format(left, w.literal(key)), form.format(right, w.literal(key))
    match w.pick(fact=45, dimension=40, both=15):
        case "fact":
            return _made(w, left, key, target), right
        case "dimension":
            if key.family == "int" and w.chance(0.2):
                numbers = [c for c in two.columns if c.family == "int"]
                return left, f"{right} + {two.ref(w.rng.choice(numbers))}"
            return left, _made(w, right, other, target)
        case _:
            return _made(w, left, key, target), _made(w, right, other, target)


def _made(w: Writer, ref: str, column: Column, target: str) -> str:
    return w.rng.choice(_OF[column.family][target]).format(ref, w.literal(column))


def _below(w: Writer, source: Source, column: Column) -> tuple[Source, Column]:
    """A derived table or CTE that computes a column, grouped by it at times."""
    made = _made(w, source.ref(column), column, column.family)
    name = Column(w.rng.choice(("p", "k", column.name)), column.family)
    others = [c for c in source.columns if c.name != name.name]
    kept = w.rng.sample(others, min(2, len(others)))
    where = f" WHERE {w.condition(source)}" if w.chance(0.3) else ""
    match w.pick(plain=60, distinct=12, group=14, window=14):
        case "group":
            count = Column("n", "int")
            items = f"{made} AS {name.name}, COUNT(*) AS n"
            text = f"SELECT {items} FROM {source.text}{where} GROUP BY {made}"
            return _source(w, Select(text, (name, count), (name,)), source.fact), name
        case "window":
            count = Column("n", "int")
            window = f"COUNT(*) OVER (PARTITION BY {made})"
            text = f"SELECT {made} AS {name.name}, {window} AS n FROM {source.text}{where}"
            return _source(w, Select(text, (name, count), (name,)), source.fact), name
        case kind:
            word = "SELECT DISTINCT" if kind == "distinct" else "SELECT"
            items = ", ".join([f"{made} AS {name.name}", *map(source.ref, kept)])
            text = f"{word} {items} FROM {source.text}{where}"
            return _source(w, Select(text, (name, *kept), (name,)), source.fact), name


def _source(w: Writer, select: Select, fact: bool) -> Source:
    return w.exactly(select, w.pick(derived=70, cte=30), fact)
