"""What may stand between a fact's scan and the join: each operator of docs/soundness.md, both ways.

In: a ``Writer``. Out: a ``Source`` whose key is, or only looks like, the partition column.
"""

from __future__ import annotations

from .relations import Select, Source, Writer
from .schema import FACT_VIEWS, FACTS, Column


def fact(w: Writer, depth: int = 3) -> Source:
    """A fact, bare or under up to ``depth`` operators, inline or in a CTE."""
    known = [s for s in w.shared if s[2]]
    kind = w.pick(
        base=70 if w.tame else 55,
        derived=26 if depth else 0,
        cte=12 if depth else 0,
        known=12 if known else 0,
    )
    if kind == "known":
        name, select, _ = w.rng.choice(known)
        return w.reference(name, select, True)
    if kind == "base":
        return w.base(w.rng.choice((*FACTS, *FACTS, *FACT_VIEWS)))
    return w.named(fact_select(w, depth), kind, True)


def fact_select(w: Writer, depth: int) -> Select:
    """One operator over a fact."""
    kind = w.pick(
        union=18,
        plain=22,
        whole=8,
        group=10,
        coarse=4,
        total=4,
        grouping=5,
        distinct=6,
        window=13,
        limit=5,
    )
    if kind == "union":
        return _set_operation(w)
    inner = _local(w, depth)
    match kind:
        case "whole":
            text = f"SELECT * FROM {inner.text}{_where(w, inner)}"
            return Select(text, inner.columns, inner.keys)
        case "group" | "coarse" | "total":
            return _aggregate(w, inner, kind)
        case "grouping":
            return _grouping(w, inner)
        case "window":
            return _window(w, inner)
        case _:
            return _projection(w, inner, kind)


def _local(w: Writer, depth: int) -> Source:
    if depth > 1 and w.chance(0.35):
        return fact(w, depth - 1)
    return w.base(w.rng.choice(FACTS), local=True)


def _where(w: Writer, source: Source, share: float = 0.3) -> str:
    return f" WHERE {w.condition(source)}" if w.chance(share) else ""


def _projection(w: Writer, inner: Source, kind: str) -> Select:
    others = [c for c in inner.columns if c not in inner.keys]
    picked = [*inner.keys, *w.rng.sample(others, min(len(others), 2))]
    w.rng.shuffle(picked)
    names = w.renamed(picked)
    items = ", ".join(
        f"{inner.ref(c)} AS {n.name}" if n.name != c.name else inner.ref(c)
        for c, n in zip(picked, names, strict=True)
    )
    keys = tuple(n for c, n in zip(picked, names, strict=True) if c in inner.keys)
    distinct = "DISTINCT " if kind == "distinct" else ""
    if kind == "distinct" and w.chance(0.3) and len(names) > 1:
        return _expression_key(w, inner)
    text = f"SELECT {distinct}{items} FROM {inner.text}{_where(w, inner)}"
    if kind == "limit":
        text += f" ORDER BY {w.total_order(', '.join(inner.ref(c) for c in picked))}"
        text += f" LIMIT {w.rng.randint(3, 20)}"
        text += f" OFFSET {w.rng.randint(1, 5)}" if w.chance(0.2) else ""
    return Select(text, tuple(names), keys)


def _expression_key(w: Writer, inner: Source) -> Select:
    """The key is computed from the partition column: it is not the column any more."""
    key = w.rng.choice(inner.keys)
    ref = inner.ref(key)
    made = f"{ref} + 1" if key.family == "int" else f"COALESCE({ref}, {w.literal(key)})"
    name = Column("p", key.type)
    return Select(
        f"SELECT {made} AS p, {ref} AS v FROM {inner.text}", (name, Column("v", key.type)), (name,)
    )


def _aggregate(w: Writer, inner: Source, kind: str) -> Select:
    key = w.rng.choice(inner.keys)
    other = w.rng.choice(inner.columns)
    p, o, n = Column("p", key.type), Column("o", other.type), Column("n", "int")
    where = _where(w, inner)
    having = " HAVING COUNT(*) > 1" if w.chance(0.3) else ""
    measure = f"{w.rng.choice(('MAX', 'MIN'))}({inner.ref(other)}) AS o, COUNT(*) AS n"
    if kind == "group":
        grouped = inner.ref(key) + (f", {inner.ref(other)}" if w.chance(0.3) else "")
        text = f"SELECT {inner.ref(key)} AS p, {measure} FROM {inner.text}{where}"
        text += f" GROUP BY {grouped}{having}"
        return Select(text, (p, o, n), (p,))
    text = f"SELECT MAX({inner.ref(key)}) AS p, {measure} FROM {inner.text}{where}"
    if kind == "coarse":
        rest = [c for c in inner.columns if c not in inner.keys] or [other]
        text += f" GROUP BY {inner.ref(w.rng.choice(rest))}{having}"
    return Select(text, (p, o, n), (p,))


def _grouping(w: Writer, inner: Source) -> Select:
    key = w.rng.choice(inner.keys)
    other = w.rng.choice([c for c in inner.columns if c != key])
    p, o = inner.ref(key), inner.ref(other)
    clause = w.rng.choice(
        (
            f"ROLLUP({p}, {o})",
            f"CUBE({o}, {p})",
            f"GROUPING SETS (({p}), ({p}, {o}), ())",
            f"GROUPING SETS (({p}, {o}), ({p}))",
            f"{p}, {o} WITH ROLLUP",
        )
    )
    columns = (Column("p", key.type), Column("o", other.type), Column("n", "int"))
    text = f"SELECT {p} AS p, {o} AS o, COUNT(*) AS n FROM {inner.text}{_where(w, inner)}"
    text += f" GROUP BY {clause}"
    return Select(text, columns, columns[:1])


def _window(w: Writer, inner: Source) -> Select:
    """With the partition column in PARTITION BY or without; row_number has a total order."""
    key = w.rng.choice(inner.keys)
    other = w.rng.choice([c for c in inner.columns if c != key])
    parts: list[Column] = w.rng.choice(([key], [key, other], [other], []))
    by = ", ".join(inner.ref(c) for c in parts)
    partition = f"PARTITION BY {by} " if by else ""
    order = w.total_order(", ".join(inner.ref(c) for c in inner.columns))
    call = w.rng.choice(
        (
            f"ROW_NUMBER() OVER ({partition}ORDER BY {order})",
            f"RANK() OVER ({partition}ORDER BY {inner.ref(other)})",
            f"COUNT(*) OVER ({partition.strip()})",
            f"MAX({inner.ref(other)}) OVER ({partition.strip()})",
        )
    )
    p, o = Column("p", key.type), Column("o", other.type)
    n = Column("n", other.type if call.startswith("MAX") else "int")
    where = _where(w, inner)
    items = f"{inner.ref(key)} AS p, {inner.ref(other)} AS o, {call} AS n"
    text = f"SELECT {items} FROM {inner.text}{where}"
    if n.type == "int" and w.chance(0.4):
        text += f" QUALIFY {call} <= {w.rng.randint(1, 3)}"
    return Select(text, (p, o, n), (p,))


def _set_operation(w: Writer) -> Select:
    """Facts by position, at times a branch with a constant where the others have the column."""
    family = w.pick(int=50, date=35, str=15)
    name = Column(w.rng.choice(("p", "k", "day")), family)
    columns = (name, Column("v", "int"))
    word = w.pick(
        **{"UNION ALL": 62, "UNION": 14, "INTERSECT": 10, "EXCEPT": 8, "EXCEPT ALL": 3, "MINUS": 3}
    )
    count = w.rng.randint(2, 3) if word.startswith("UNION") else 2
    text = f" {word} ".join(_branch(w, family, columns) for _ in range(count))
    return Select(text, columns, columns[:1])


def _branch(w: Writer, family: str, columns: tuple[Column, Column]) -> str:
    fitting = [t for t in FACTS if any(c.family == family and c.name in t.keys for c in t.columns)]
    source = w.base(w.rng.choice(fitting), local=True)
    key = w.rng.choice([c for c in source.keys if c.family == family])
    numbers = [c for c in source.columns if c.family == "int" and c != key]
    value = source.ref(w.rng.choice(numbers)) if w.chance(0.7) else str(w.rng.randint(1, 3))
    expression = w.literal(key) if w.chance(0.15) else source.ref(key)
    items = f"{expression} AS {columns[0].name}, {value} AS v"
    text = f"SELECT {items} FROM {source.text}{_where(w, source)}"
    return f"({text})" if w.chance(0.1) else text
