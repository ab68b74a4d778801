"""Whole queries: blocks over a join tree, subqueries, set operations, outer filters, WITH.

In: a ``random.Random``. Out: Spark SQL whose result is one bag of rows, whichever engine runs it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from .facts import fact, fact_select
from .joins import Block, columns_of
from .relations import DEFAULT, JOINABLE, Options, Select, Source, Writer
from .schema import DIMENSIONS, FACTS, Column
from .shapes import join_tree
from .shared import shared_cte
from .sqltext import styled


@dataclass(frozen=True, slots=True)
class Query:
    """The text of a query, and the shapes it has."""

    text: str
    shapes: frozenset[str]


def random_query(rng: random.Random, options: Options = DEFAULT) -> Query:
    """One query in a random format."""
    query = plain_query(rng, options)
    return Query(styled(rng, query.text), query.shapes)


def plain_query(rng: random.Random, options: Options = DEFAULT) -> Query:
    """One query in canonical text: keywords upper case, names lower, single blanks."""
    w = Writer(rng, options, tame=rng.random() < 0.65)
    kind = w.pick(block=73, outer=10, union=9, shared=10, once=1.5, root=3)
    match kind:
        case "outer":
            select = _outer(w)
        case "union":
            select = _union(w)
        case "shared":
            select = shared_cte(w)
        case "once":
            select = _once(w)
        case "root":
            select = _over(w, fact_select(w, 2))
        case _:
            select = _block(w)
    text = _finish(w, select)
    if w.ctes:
        text = "WITH " + ", ".join(f"{name} AS ({body})" for name, body in w.ctes) + f" {text}"
    return Query(text, frozenset(w.shapes))


def _finish(w: Writer, select: Select) -> str:
    """ORDER BY; with a LIMIT only over every column, so that the bag is the same on any engine."""
    text, names = select.text, [c.name for c in select.columns]
    if names and len(set(names)) == len(names):
        if w.chance(0.12):
            return f"{text} ORDER BY {', '.join(names)} LIMIT {w.rng.randint(1, 12)}"
        if w.chance(0.12):
            return f"{text} ORDER BY {w.rng.choice(names)}"
    return text


# --- what stands around a block -----------------------------------------------------------------


def _outer(w: Writer) -> Select:
    """A filter on a block's output from outside: on a group key, or on a dimension's attribute."""
    return _over(w, _block(w, star=False))


def _over(w: Writer, inner: Select) -> Select:
    if not inner.columns:
        return inner
    source = w.named(inner, w.pick(derived=60, cte=40), True)
    where = " AND ".join(w.condition(source) for _ in range(w.rng.choice((1, 1, 1, 2))))
    if source.text.startswith("c") and w.chance(0.3):
        again = w.reference(source.text.split(" ")[0], inner, True)
        arms = [f"SELECT * FROM {s.text} WHERE {w.condition(s)}" for s in (source, again)]
        return Select(" UNION ALL ".join(arms), source.columns)
    return Select(f"SELECT * FROM {source.text} WHERE {where}", source.columns)


def _union(w: Writer) -> Select:
    """Two blocks under a set operation, each pruned by itself."""
    want = [w.rng.choice(("int", "date", "str")) for _ in range(w.rng.randint(1, 3))]
    word = w.rng.choice(("UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT"))
    first, second = (_wanted(w, want) for _ in range(2))
    return Select(f"{first.text} {word} {second.text}", first.columns)


def _wanted(w: Writer, want: Sequence[str]) -> Select:
    block = _with_subqueries(w, join_tree(w))
    items, columns = [], []
    for index, family in enumerate(want):
        fitting = [s.ref(c) for s, c in columns_of(block.visible) if c.family == family]
        column = Column(f"c{index}", family)
        items.append(f"{w.rng.choice(fitting) if fitting else w.literal(column)} AS c{index}")
        columns.append(column)
    return Select(f"SELECT {', '.join(items)} {_from(block)}", tuple(columns))


def _once(w: Writer) -> Select:
    """A dimension of one random row, read once: some key of the fact, so always a result.

    The one shape where a non-deterministic dimension has one answer; reading it twice loses it.
    """
    text = (
        "SELECT DISTINCT 1 AS c FROM returns AS f JOIN (SELECT g.dk FROM (SELECT DISTINCT r.dk"
        " FROM returns AS r JOIN dates AS e ON e.dk = r.dk WHERE e.yr > 0) AS g"
        " ORDER BY RAND() LIMIT 1) AS d ON f.dk = d.dk WHERE d.dk > 0"
    )
    return Select(text, (Column("c", "int"),))


# --- one block ----------------------------------------------------------------------------------


def _block(w: Writer, star: bool = True) -> Select:
    alone = w.chance(0.18)
    block = _subquery_only(w) if alone else _with_subqueries(w, join_tree(w))
    kind = w.pick(
        plain=44, star=9 if star else 0, group=20, distinct=8, window=8, grouping=5, total=6
    )
    match kind:
        case "star":
            names = [f"{s.alias}.*" for s in block.visible if s.alias]
            items = w.rng.choice(("*", *names))
            return Select(f"SELECT {items} {_from(block)}", ())
        case "group" | "grouping" | "total":
            return _grouped(w, block, kind)
        case "window":
            return _windowed(w, block)
        case _:
            return _plain(w, block, kind == "distinct")


def _from(block: Block) -> str:
    where = f" WHERE {' AND '.join(block.where)}" if block.where else ""
    return f"FROM {block.text}{where}"


def _plain(w: Writer, block: Block, distinct: bool) -> Select:
    named, columns = _items(w, block, w.rng.randint(1, 4))
    if w.chance(0.1):
        named.append(f"{_scalar(w, w.rng.choice(block.visible), counted=True)} AS s")
        columns.append(Column("s", "int"))
    word = "SELECT DISTINCT" if distinct else "SELECT"
    hint = "/*+ BROADCAST(d1) */ " if w.chance(0.03) and not distinct else ""
    return Select(f"{word} {hint}{', '.join(named)} {_from(block)}", tuple(columns))


def _items(w: Writer, block: Block, count: int) -> tuple[list[str], list[Column]]:
    pool = columns_of(block.visible)
    picked = w.rng.sample(pool, min(count, len(pool)))
    columns = [Column(f"c{i}", c.type) for i, (_, c) in enumerate(picked)]
    refs = [f"{s.ref(c)} AS c{i}" for i, (s, c) in enumerate(picked)]
    return refs, columns


def _grouped(w: Writer, block: Block, kind: str) -> Select:
    pool = columns_of(block.visible)
    picked = w.rng.sample(pool, min(len(pool), 0 if kind == "total" else w.rng.randint(1, 2)))
    refs = [s.ref(c) for s, c in picked]
    columns = [Column(f"c{i}", c.type) for i, (_, c) in enumerate(picked)]
    items = [f"{r} AS c{i}" for i, r in enumerate(refs)]
    measure, column = _measure(w, pool)
    items += [f"{measure} AS m", "COUNT(*) AS n"]
    columns += [Column("m", column), Column("n", "int")]
    text = f"SELECT {', '.join(items)} {_from(block)}"
    if refs:
        keys = ", ".join(refs)
        sets = (
            f"ROLLUP({keys})",
            f"CUBE({keys})",
            f"GROUPING SETS (({keys}), ())",
            f"{keys} WITH CUBE",
        )
        text += f" GROUP BY {w.rng.choice(sets) if kind == 'grouping' else keys}"
    if w.chance(0.2):
        text += " HAVING " + w.rng.choice(
            (f"COUNT(*) > {w.rng.randint(0, 3)}", f"{measure} IS NOT NULL")
        )
    return Select(text, tuple(columns))


def _measure(w: Writer, pool: Sequence[tuple[Source, Column]]) -> tuple[str, str]:
    source, column = w.rng.choice(pool)
    ref = source.ref(column)
    if column.family == "bool":
        return f"COUNT({ref})", "int"
    if column.family in ("int", "dec") and w.chance(0.5):
        return f"SUM({ref})", column.type
    if w.chance(0.3):
        return f"COUNT(DISTINCT {ref})", "int"
    return f"{w.rng.choice(('MIN', 'MAX'))}({ref})", column.type


def _windowed(w: Writer, block: Block) -> Select:
    """Only window functions whose value is the same for rows that tie."""
    named, columns = _items(w, block, w.rng.randint(1, 3))
    by = [s.ref(c) for s, c in w.rng.sample(columns_of(block.visible), 2)]
    partition = f"PARTITION BY {by[0]}" if w.chance(0.75) else ""
    call = w.rng.choice(
        (
            f"COUNT(*) OVER ({partition})",
            f"MIN({by[1]}) OVER ({partition})",
            f"DENSE_RANK() OVER ({partition} ORDER BY {by[1]})",
        )
    )
    text = f"SELECT {', '.join(named)}, {call} AS n {_from(block)}"
    if not call.startswith("MIN") and w.chance(0.3):
        text += f" QUALIFY {call} <= {w.rng.randint(1, 4)}"
    return Select(text, tuple(columns))


# --- subqueries ---------------------------------------------------------------------------------


def _with_subqueries(w: Writer, block: Block) -> Block:
    if w.chance(0.14):
        outer = w.rng.choice(block.visible)
        block.where.append(_logical(w, _member(w, outer, not outer.fact or w.chance(0.3)), outer))
    return block


def _subquery_only(w: Writer) -> Block:
    """A block of one relation that a subquery ties to the other: a join in disguise."""
    over_fact = w.chance(0.4)
    outer = w.dimension(w.rng.choice(("int", "date", "str"))) if over_fact else fact(w)
    where = [_logical(w, _member(w, outer, over_fact), outer)]
    if w.chance(0.7 if over_fact else 0.2):
        where.append(w.condition(outer))
    w.rng.shuffle(where)
    return Block(outer.text, [outer], where)


def _logical(w: Writer, test: str, outer: Source) -> str:
    """The test as it is, or where it is no longer a conjunct."""
    match w.pick(plain=80, either=10, no=10):
        case "either":
            return f"({test} OR {w.condition(outer)})"
        case "no":
            return f"NOT ({test})"
        case _:
            return test


def _member(w: Writer, outer: Source, over_fact: bool) -> str:
    """IN, EXISTS and comparisons with a scalar subquery, correlated or not."""
    found = _inner(w, outer, over_fact)
    if found is None:
        return w.condition(outer)
    inner, left, right, family = found
    rest = [w.condition(inner)] if w.chance(0.35 if over_fact else 0.8) else []
    if w.chance(0.2):
        pairs = [(a, b) for a in outer.columns for b in inner.columns if a.family == b.family]
        a, b = w.rng.choice(pairs)
        rest.append(f"{inner.ref(b)} = {outer.ref(a)}")
    where = f" WHERE {' AND '.join(rest)}" if rest else ""
    match w.pick(member=45, exists=30, pair=6, scalar=15):
        case "member":
            word = "NOT IN" if w.chance(0.2) else "IN"
            below = f"SELECT {right} FROM {inner.text}{where}"
            return f"{left} {word} ({_combined(w, below, family)})"
        case "exists":
            word = "NOT EXISTS" if w.chance(0.3) else "EXISTS"
            given = " AND ".join([f"{right} = {left}", *rest])
            return (
                f"{word} (SELECT {w.rng.choice(('1', '*', right))} FROM {inner.text} WHERE {given})"
            )
        case "pair":
            one, two = f"{left}, {left}", f"{right}, {right}"
            return f"({one}) IN (SELECT {two} FROM {inner.text}{where})"
        case _:
            sign = w.rng.choice((">", "=", "<="))
            return f"{_scalar(w, outer, over_fact)} {sign} {w.rng.randint(0, 3)}"


def _combined(w: Writer, query: str, family: str) -> str:
    """A query of one column, at times with another one under a set operation: then neither decides
    alone which values there are."""
    if w.chance(0.85):
        return query
    other = w.dimension(family, 0)
    fitting = [c for c in other.columns if c.family == family]
    where = f" WHERE {w.condition(other)}" if w.chance(0.6) else ""
    arms = [query, f"SELECT {other.ref(w.rng.choice(fitting))} FROM {other.text}{where}"]
    w.rng.shuffle(arms)
    return f" {w.rng.choice(('UNION ALL', 'UNION', 'INTERSECT', 'EXCEPT'))} ".join(arms)


def _inner(w: Writer, outer: Source, over_fact: bool) -> tuple[Source, str, str, str] | None:
    """The relation of a subquery, both sides of what ties it to the outer one, their family."""
    choices = outer.keys if outer.fact else outer.columns
    choices = tuple(c for c in choices if c.family in JOINABLE)
    if not choices:
        return None
    column = w.rng.choice(choices)
    if not over_fact:
        inner = w.dimension(column.family, 1)
        fitting = [c for c in inner.columns if c.family == column.family]
        if not fitting:
            return None
        return inner, outer.ref(column), inner.ref(w.rng.choice(fitting)), column.family
    pairs = [
        (t, k) for t in FACTS for k in t.columns if k.name in t.keys and k.family == column.family
    ]
    if not pairs:
        return None
    table, key = w.rng.choice(pairs)
    inner = w.base(table)
    return inner, outer.ref(column), inner.ref(key), column.family


def _scalar(w: Writer, outer: Source, counted: bool) -> str:
    """A correlated aggregate: COUNT is 0 from nothing, so it is where a lost row shows."""
    tables = FACTS if counted or w.chance(0.5) else DIMENSIONS
    inner = w.base(w.rng.choice(tables))
    pairs = [(a, b) for a in outer.columns for b in inner.keys if a.family == b.family]
    where = [w.condition(inner)] if w.chance(0.3) or not pairs else []
    if pairs:
        a, b = w.rng.choice(pairs)
        where.append(f"{inner.ref(b)} = {outer.ref(a)}")
    numbers = [c for c in inner.columns if c.family == "int"] or [inner.columns[0]]
    agg = w.rng.choice(("COUNT(*)", f"MAX({inner.ref(w.rng.choice(numbers))})"))
    return f"(SELECT {agg} FROM {inner.text} WHERE {' AND '.join(where)})"
