"""Stars with what Spark copies from one side of a join to the other.

A condition on the fact's key, or a key that is computed, that raises an error for one value. The
world has it in dimensions alone, in rows that the query never tests: no fact has it, nor the
dimension that others are joined to (``generator_world.with_keys_apart``). The conditions stand in
correlated scalar and LATERAL subqueries, in what these read, and for comparison in plain joins.
"""

from __future__ import annotations

from dataclasses import dataclass

from .generator_expressions import Pen, stored
from .generator_scope import family
from .generator_text import kept
from .generator_world import Column, Table

RAISING = {
    "number": (
        *(
            "10 / {p} > 1",
            "10 % {p} >= 0",
            "10 / {p} >= {o}",
            "element_at( array( 1 , 2 , 3 ) , {p} ) > 0",
        ),
        *("24 DIV {p} > {o}", "if( {p} = 0 , raise_error( 'none' ) , true )", "1 < 10 / {p}"),
        *("{p} > 0", "{p} >= {o}", "abs( {p} ) < 4"),
    ),
    "string": (
        *(
            "CAST( {p} AS INT ) > 0",
            "{p} > 0",
            "{p} + 1 > {o}",
            "CAST( {p} AS INT ) IN ( 1 , 2 , {o} )",
        ),
        *("element_at( array( 1 , 2 , 3 ) , nvl( try_cast( {p} AS INT ) , 0 ) ) > 0",),
        *("{p} >= '1'", "length( {p} ) < 3"),
    ),
    "date": (
        *("10 / ( day( {p} ) - 4 ) <> 0", "10 / ( 4 - day( {p} ) ) > {o}", "day( {p} ) >= {o}"),
        *("element_at( array( 1 , 2 , 3 ) , 4 - day( {p} ) ) > 0",),
    ),
}
"""Conditions on the key; ``o`` is a column of the query around, or a number."""

COMPUTED = {
    "string": ("CAST( {k} AS {type} )",),
    "number": ("element_at( array( 1 , 2 , 3 ) , CAST( {k} AS INT ) )", "6 DIV {k}"),
    "date": ("date_add( {k} , 10 DIV ( 4 - day( {k} ) ) )",),
}
"""Keys that are computed, by the family of what they are computed from."""


@dataclass(frozen=True, slots=True)
class _Star:
    """The fact ``f_`` with its key and the dimension ``d_`` with its own, and a filter of it."""

    fact: Table
    key: Column
    dimension: Table
    partner: Column

    def filter(self, pen: Pen, alias: str = "d_") -> str:
        columns = [one for one in self.dimension.columns if one.name in ("y", "label", "city")]
        column = pen.rng.choice(columns)
        return f"{alias} . {column.name} {pen.one('=', '=', '<=')} {stored(pen, column)}"


def copied(pen: Pen) -> str:
    """One query of these kinds; at times a script that makes a view first."""
    star = _star(pen)
    shape = pen.rng.random()
    if shape < 0.25:
        return _of_three(pen, star)
    if shape < 0.4:
        return _narrowed(pen, star)
    if shape < 0.5:
        return _inner_late(pen, star)
    return _correlated(pen, star)


def _star(pen: Pen) -> _Star:
    tables = {one.name: one for one in pen.world.tables}
    pairs = [
        (tables[fact], column, tables[of], their)
        for fact, column, of, their in pen.world.joins
        if of in ("days", "shops") and (fact, column) in (("sales", "p"), ("visits", "k"))
    ]
    fact, column, dimension, their = pen.rng.choice(pairs)
    return _Star(fact, _named(fact, column), dimension, _named(dimension, their))


def _named(table: Table, column: str) -> Column:
    return next(one for one in table.columns if one.name == column)


def _raising(pen: Pen, star: _Star, of: str, outer: str = "1") -> str:
    texts = RAISING.get(family(star.key.type), ("{p} IS NOT NULL",))
    return kept(pen.one(*texts).format(p=of, o=pen.one("1", outer)))


def _correlated(pen: Pen, star: _Star) -> str:
    """A dimension with a subquery that reads the fact for each of its rows."""
    before, inner = _reading(pen, star)
    items, source = f"SELECT d_ . {star.partner.name}", f"FROM {star.dimension.name} d_"
    where, lateral = f"WHERE {star.filter(pen)}", f"LATERAL ( {inner} ) AS l_"
    grouped = f"GROUP BY d_ . {star.partner.name} , d_ . y"
    text = pen.one(
        *(f"{items} , ( {inner} ) AS n {source} {where}",) * 4,
        f"{items} {source} {where} AND ( {inner} ) >= 1",
        f"{items} {source} {where} {grouped} HAVING ( {inner} ) >= 0",
        f"{items} , l_ . n {source} LEFT JOIN {lateral} ON true {where}",
        f"{items} , l_ . n {source} , {lateral} {where}",
        f"{items} , l_ . n {source} JOIN {lateral} ON l_ . n > 0 {where}",
        f"{items} {source} {where} AND EXISTS ( {inner} )",
        f"SELECT * FROM ( {items} , ( {inner} ) AS n {source} {where} ) WHERE n > 0",
    )
    if before and pen.chance(0.3):
        view = f"CREATE OR REPLACE TEMPORARY VIEW seen_ AS {before}"
        return f"BEGIN {view} ; {text} ; END"
    return f"WITH seen_ AS ( {before} ) {text}" if before else text


def _reading(pen: Pen, star: _Star) -> tuple[str, str]:
    """What is read under the name ``seen_``, if anything, and the query inside the subquery."""
    fact, p, k = star.fact.name, f"f_ . {star.key.name}", f"d_ . {star.partner.name}"
    tie = pen.one(f"{p} = {k}", f"{k} = {p}")
    raising = _raising(pen, star, p, pen.one("d_ . y", "f_ . item"))
    alone = _raising(pen, star, star.key.name)
    both = _raising(pen, star, f"g_ . {star.key.name}")
    count = pen.one("count( * )", "max( f_ . item )", "sum( f_ . item )") + " AS n"
    some = f"SELECT f_ . * FROM {fact} f_"
    joined = f"JOIN {star.dimension.name} e_ ON {p} = e_ . {star.partner.name}"
    read = pen.one(
        f"{some} WHERE {_raising(pen, star, p)}",
        f"{some} {joined} WHERE {star.filter(pen, 'e_')} AND {_raising(pen, star, p)}",
        f"SELECT * FROM {fact} WHERE {alone} UNION ALL SELECT * FROM {fact}",
    )
    same = f"{p} = g_ . {star.key.name}"
    texts = (
        *(("", f"SELECT {count} FROM {fact} f_ WHERE {tie} AND {raising}"),) * 3,
        ("", f"SELECT {count} FROM {fact} f_ WHERE {raising} AND {tie} HAVING count( * ) >= 0"),
        ("", f"SELECT {count} FROM ( SELECT * FROM {fact} WHERE {alone} ) f_ WHERE {tie}"),
        ("", f"SELECT {count} FROM {fact} f_ JOIN {fact} g_ ON {same} WHERE {tie} AND {both}"),
        ("", f"SELECT {count} FROM {fact} f_ LEFT JOIN {fact} g_ ON {same} AND {both} WHERE {tie}"),
        ("", f"SELECT {count} FROM ( {read} ) f_ WHERE {tie}"),
        *((read, f"SELECT {count} FROM seen_ f_ WHERE {tie}"),) * 3,
        (read, f"SELECT {count} FROM seen_ f_ JOIN {fact} g_ ON {same} WHERE {tie} AND {both}"),
    )
    return pen.rng.choice(texts)


def _of_three(pen: Pen, star: _Star) -> str:
    """A fact that is joined by a computed key to a dimension that ``items`` narrows."""
    kind = family(star.partner.type)
    key = f"d_ . {star.partner.name}"
    narrow = pen.one(f"i_ . p = {key}", f"{key} = i_ . p")
    computed = kept(pen.one(*COMPUTED.get(kind, ("{k}",))).format(k=key, type=star.key.type))
    p = f"f_ . {star.key.name}"
    shown = f"{p} , f_ . item , d_ . y"
    source, fact = f"{star.dimension.name} d_", f"{star.fact.name} f_"
    where = f"WHERE {star.filter(pen)}"
    how = pen.one("JOIN", "JOIN", "LEFT JOIN")
    exists = f"EXISTS ( SELECT 1 FROM items i_ WHERE {narrow} )"
    among = pen.one(exists, f"{key} IN ( SELECT i_ . p FROM items i_ )")
    query = f"SELECT {computed} AS z , d_ . y FROM {source}"
    inside = f"{query} JOIN items i_ ON {narrow} {where}"
    items, on = f"SELECT {shown} FROM", f"ON {p} = {computed}"
    end = f"SELECT f_ . item , e_ . y FROM {fact} JOIN"
    return pen.one(
        f"{items} items i_ {how} {source} ON {narrow} JOIN {fact} {on} {where}",
        f"{items} {fact} JOIN {source} {on} JOIN items i_ ON {narrow} {where}",
        f"{items} {source} JOIN {fact} {on} {where} AND {among}",
        f"{end} ( {inside} ) e_ ON {p} = e_ . z",
        f"{end} ( {query} {where} AND {among} ) e_ ON {p} = e_ . z",
        f"WITH e_ AS ( {inside} ) {end} e_ ON {p} = e_ . z",
        f"{items} {source} JOIN {fact} {on} {where}",
    )


def _narrowed(pen: Pen, star: _Star) -> str:
    """A fact that is joined by a computed key to a dimension of which a window, a group, a set
    operation, a subquery or a generator leaves rows out."""
    k, of = star.partner.name, star.dimension.name
    computed = pen.one(*COMPUTED.get(family(star.partner.type), ("{k}",)))
    z = kept(computed.format(k=f"e_ . {k}", type=star.key.type))
    keys = "SELECT p FROM items"
    counted = f"( SELECT count( * ) FROM items i_ WHERE i_ . p = d_ . {k} )"
    listed = f"SELECT d_ . {k} , d_ . y"
    windowed = f"max( y ) OVER ( PARTITION BY {k} )"
    rows = pen.one(
        f"SELECT {k} FROM {of} INTERSECT {keys}",
        f"SELECT {k} FROM {of} EXCEPT SELECT {k} FROM {of} WHERE {k} NOT IN ( {keys} )",
        f"SELECT {k} FROM ( SELECT {k} , {windowed} AS n FROM {of} ) WHERE n <= 1",
        f"SELECT {k} FROM ( {listed} , {counted} AS n FROM {of} d_ ) WHERE n > 0",
        f"SELECT {k} FROM {of} d_ GROUP BY {k} HAVING max( {counted} ) > 0",
        f"SELECT {k} FROM {of} d_ LATERAL VIEW explode( array( {counted} ) ) t_ AS n WHERE n > 0",
        f"SELECT DISTINCT {k} FROM {of} d_ WHERE {star.filter(pen)}",
    )
    start, p = f"SELECT f_ . item FROM {star.fact.name} f_ JOIN", f"f_ . {star.key.name}"
    query = f"SELECT {z} AS z FROM ( {rows} ) e_"
    return pen.one(f"{start} ( {rows} ) e_ ON {p} = {z}", f"{start} ( {query} ) g_ ON {p} = g_ . z")


def _inner_late(pen: Pen, star: _Star) -> str:
    """A dimension with the fact beside it, by an outer join that a join behind it makes inner."""
    p, k = f"f_ . {star.key.name}", f"d_ . {star.partner.name}"
    on = f"ON {p} = {k} AND {_raising(pen, star, p)}"
    dimension, fact = f"{star.dimension.name} d_", f"{star.fact.name} f_"
    joined = pen.one(
        f"{dimension} LEFT JOIN {fact} {on}",
        f"{fact} RIGHT JOIN {dimension} {on}",
        f"{dimension} FULL JOIN {fact} {on}",
    )
    behind = pen.one(
        f"JOIN items i_ ON i_ . p = {p} WHERE",
        f", items i_ WHERE i_ . p = {p} AND",
        f"WHERE {p} IN ( SELECT p FROM items ) AND",
        f"JOIN items i_ ON i_ . p = {p} WHERE f_ . item >= 0 AND",
    )
    return f"SELECT {k} , f_ . item FROM {joined} {behind} {star.filter(pen)}"
