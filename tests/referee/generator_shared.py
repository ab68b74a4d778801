"""Queries whose shape is in how relations hang together: a CTE that is read several times, and a
line of dimensions with the filter at its far end.

As TPC-DS q2 and q59 have it, an aggregate over a fact and a dimension is read two or three times,
each time under a filter of its own, beside each other or in a union. The line begins at any of its
tables, and a fact stands in it once or twice.
"""

from __future__ import annotations

from .generator_expressions import Pen, stored
from .generator_scope import family
from .generator_text import name
from .generator_world import Column, Table

NEIGHBOURS = (
    *(("days", "k", "shops", "k"), ("days", "y", "shops", "y"), ("days", "k", "items", "p")),
    *(("shops", "k", "items", "p"), ("shops", "k", "days", "k"), ("items", "p", "days", "k")),
    *(("sales", "item", "items", "item"), ("visits", "item", "items", "item")),
    *(("shops", "y", "days", "y"), ("items", "p", "shops", "k")),
)
"""Columns of two tables that compare, beside those that the world joins facts and dimensions on."""


def shared(pen: Pen) -> str:
    """References to a CTE over a fact and a dimension, each bounded by itself."""
    tables = {table.name: table for table in pen.world.tables}
    facts = [join for join in pen.world.joins if join[2] in ("days", "shops")]
    fact, p, dimension, k = pen.rng.choice(facts)
    attribute = pen.rng.choice([_named(tables[dimension], "y"), _named(tables[dimension], k)])
    key = pen.one(f"f_ . {p}", f"d_ . {k}")
    tie = pen.one(f"f_ . {p} = d_ . {k}", f"d_ . {k} = f_ . {p}")
    joined = pen.one(f"{fact} f_ JOIN {dimension} d_ ON {tie}", f"{fact} f_ , {dimension} d_")
    conditions = [] if " ON " in joined else [tie]
    if pen.chance(0.25):
        conditions.append(_filter(pen, tables[dimension], "d_"))
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    a = f"d_ . {attribute.name}"
    of = f"FROM {joined}{where}"
    body = pen.one(
        f"SELECT {a} AS a_ , {key} AS k_ , count( * ) AS n_ {of} GROUP BY {a} , {key}",
        f"SELECT {a} AS a_ , count( * ) AS n_ , max( {key} ) AS k_ {of} GROUP BY {a}",
        f"SELECT {a} AS a_ , {key} AS k_ , f_ . item AS n_ {of}",
    )
    ctes = f"WITH w_ AS ( {body} )"
    read = "w_"
    if pen.chance(0.25):
        again = pen.one("", f" WHERE a_ <= {stored(pen, attribute)}", " UNION ALL SELECT * FROM w_")
        ctes, read = f"{ctes} , v_ AS ( SELECT * FROM w_{again} )", "v_"
    count = pen.rng.choice((2, 2, 2, 3))
    of_key = _named(tables[fact], p)
    references = [_reference(pen, read, f"x{at}", attribute, of_key) for at in range(count)]
    if pen.chance(0.5):
        word = pen.one("UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT")
        arms = [f"SELECT x{at} . * FROM {text}" for at, text in enumerate(references)]
        return f"{ctes} {f' {word} '.join(arms)}"
    first, *others = (
        f"( SELECT x{at} . * FROM {text} ) z{at}" for at, text in enumerate(references)
    )
    text = f"{ctes} SELECT z0 . a_ , z0 . n_ , z1 . n_ AS m_ FROM {first}"
    for at, other in enumerate(others, 1):
        column = pen.one("a_", "k_")
        text += (
            f" {pen.one('JOIN', 'JOIN', 'LEFT JOIN')} {other} ON z0 . {column} = z{at} . {column}"
        )
    return text


def _reference(pen: Pen, read: str, alias: str, attribute: Column, key: Column) -> str:
    """The CTE with a filter of this reference: on its attribute, by a join, an IN, or none."""
    shape = pen.rng.random()
    bound = f"{alias} . a_ {pen.one('=', '=', '<=')} {stored(pen, attribute)}"
    if shape < 0.5:
        return f"{read} {alias} WHERE {bound}"
    tables = {table.name: table for table in pen.world.tables}
    table, column = key.origin.split(".")
    partners = [
        (of, their) for fact, own, of, their in pen.world.joins if (fact, own) == (table, column)
    ]
    of, their = pen.rng.choice(partners)
    condition = _filter(pen, tables[of], "o_")
    if shape < 0.8:
        return f"{read} {alias} JOIN {of} o_ ON {alias} . k_ = o_ . {their} WHERE {condition}"
    if shape < 0.92:
        keys = f"SELECT o_ . {their} FROM {of} o_ WHERE {condition}"
        return f"{read} {alias} WHERE {alias} . k_ IN ( {keys} )"
    return f"{read} {alias}"


def in_line(pen: Pen) -> str:
    """Fact, dimension, neighbour, neighbour, joined from one end or from the middle outward."""
    tables = {table.name: table for table in pen.world.tables}
    fact, p, dimension, k = pen.rng.choice(pen.world.joins)
    line, ties = [fact, dimension], [(p, k)]
    for _ in range(pen.rng.choice((1, 1, 2, 3))):
        if pen.chance(0.2):
            joins = [(of, their, table, own) for table, own, of, their in pen.world.joins]
        else:
            joins = [*NEIGHBOURS]
        fitting = [join for join in joins if join[0] == line[-1]]
        if not fitting:
            break
        _, own, other, their = pen.rng.choice(fitting)
        line.append(other)
        ties.append((own, their))
    start = pen.rng.randrange(len(line))
    low = high = start
    text = f"{line[start]} t{start}"
    while high - low + 1 < len(line):
        outward = low == 0 or (high + 1 < len(line) and pen.chance(0.5))
        at = high + 1 if outward else low - 1
        low, high = min(low, at), max(high, at)
        one, other = ties[at - 1] if outward else ties[at]
        left, right = (at - 1, at) if outward else (at, at + 1)
        tie = f"t{left} . {one} = t{right} . {other}"
        if pen.chance(0.3):
            tie = f"t{right} . {other} = t{left} . {one}"
        how = pen.one(*("JOIN",) * 6, "LEFT JOIN", "RIGHT JOIN")
        text += f" {how} {line[at]} t{at} ON {tie}"
    far = len(line) - 1
    conditions = [_filter(pen, tables[line[far]], f"t{far}")]
    if pen.chance(0.2):
        middle = pen.rng.randrange(len(line))
        conditions.append(_filter(pen, tables[line[middle]], f"t{middle}"))
    return f"SELECT t0 . item , t1 . * FROM {text} WHERE {' AND '.join(conditions)}"


def _filter(pen: Pen, table: Table, alias: str) -> str:
    """A filter of one column of the table, or a column of booleans by itself."""
    kinds = ("number", "string", "date")
    column = pen.rng.choice([column for column in table.columns if family(column.type) in kinds])
    if pen.chance(0.1) and table.name == "days":
        return f"{alias} . holiday"
    sign = pen.one("=", "=", "<=", ">")
    return f"{alias} . {name(pen.rng, column.name)} {sign} {stored(pen, column)}"


def _named(table: Table, column: str) -> Column:
    return next(one for one in table.columns if one.name == column)
