"""A random MERGE into a partitioned table, whose source says by constants which keys it has.

By conditions, by values that it gives or lists, in the branches of a UNION; and by what only looks
so: an OR with another column, a NULL, the key of another table that it joins.
"""

from __future__ import annotations

import random

from sqlrewrite.copies import replace

from .generator import subquery, with_ctes
from .generator_expressions import Pen, condition, names_for, selective, stored
from .generator_relations import Block
from .generator_scope import Scope, Source, family, written
from .generator_text import dressed, plainly
from .generator_world import Column, Table, World

# The column of each table that its partition column is compared with, and one beside it.
_KEYS = {
    "sales": ("p", "item"),
    "visits": ("k", "item"),
    "days": ("k", "y"),
    "items": ("p", "item"),
    "shops": ("k", "y"),
}


def random_merge(rng: random.Random, world: World) -> str:
    """One MERGE; what it changes does not depend on the order of rows."""
    pen = Pen(rng, world, lambda scope, kind: subquery(pen, scope, kind), [])
    table = rng.choice(world.facts)
    key, other = _KEYS[table.name]
    columns = (Column("z", _type(table, key)), Column("w", "INT"))
    target, source = Source("t", table.columns), Source("s", columns)
    both, of_target, of_source = (
        Scope(sources, bare=False) for sources in ((target, source), (target,), (source,))
    )
    on = [pen.one(f"t.{key} = s.z", f"t.{key} = s.z", f"s.z = t.{key}")]
    if pen.chance(0.6):
        on.append(f"t.{other} = s.w")
    if pen.chance(0.2):
        on.append(selective(pen, both, source))
    if pen.chance(0.15):
        on.append(f"( {selective(pen, both, source)} OR t.{other} = 1 )")
    rng.shuffle(on)
    ends = [
        f"WHEN MATCHED{_and(pen, both)} THEN {pen.one('DELETE', f'UPDATE SET {other} = 7')}",
        f"WHEN NOT MATCHED{_and(pen, of_source)} THEN INSERT ( {other} , {key} ) "
        "VALUES ( s.w , s.z )",
        f"WHEN NOT MATCHED BY SOURCE{_and(pen, of_target)} THEN DELETE",
    ]
    chosen = [end for end, share in zip(ends, (0.8, 0.6, 0.1), strict=True) if pen.chance(share)]
    query = _source(pen, columns)
    text = f"MERGE INTO {table.name} AS t USING ( {with_ctes(pen)}{query} ) AS s "
    text += f"ON {' AND '.join(on)} {' '.join(chosen or ends[:1])}"
    return dressed(rng, text) if pen.chance(0.3) else plainly(text)


def _and(pen: Pen, scope: Scope) -> str:
    return f" AND {selective(pen, scope, pen.rng.choice(scope.sources))}" if pen.chance(0.3) else ""


def _type(table: Table, column: str) -> str:
    return next(one.type for one in table.columns if one.name == column)


def _source(pen: Pen, columns: tuple[Column, ...]) -> str:
    """The query behind USING, of the columns ``z`` and ``w``; each row of it once."""
    shape = pen.rng.random()
    if shape < 0.15:
        rows = " , ".join(
            f"( {_constant(pen, columns[0]) if pen.chance(0.8) else 'NULL'} , {pen.one('1', '2')} )"
            for _ in range(pen.rng.randint(1, 3))
        )
        return f"SELECT DISTINCT z , w FROM ( VALUES {rows} ) AS v( z , w )"
    query = _query(pen, columns)
    if shape < 0.4:
        query += f" {pen.one('UNION ALL', 'UNION', 'EXCEPT', 'INTERSECT')} {_query(pen, columns)}"
    if shape > 0.8:
        outer = Source("q", columns)
        where = f" WHERE {selective(pen, Scope((outer,)), replace(outer, columns=columns[:1]))}"
        query = f"SELECT q.z , q.w FROM ( {query} ) AS q( z , w ){where if pen.chance(0.6) else ''}"
    return f"SELECT DISTINCT z , w FROM ( {query} ) AS u( z , w )" if shape < 0.6 else query


def _query(pen: Pen, columns: tuple[Column, ...]) -> str:
    """One SELECT DISTINCT of ``z`` and ``w``."""
    table = pen.rng.choice(pen.world.tables)
    block = Block(pen, names_for(pen.rng, None))
    block.start(table)
    if pen.chance(0.3):
        block.join(pen.rng.choice(pen.world.dimensions))
    scope = block.scope()
    keys = [
        (source, column)
        for source, column in scope.columns()
        if column.name.lower() in ("p", "k") and family(column.type) == family(columns[0].type)
    ]
    numbers = scope.columns("number")
    z = _constant(pen, columns[0])
    if keys and pen.chance(0.85):
        source, column = pen.rng.choice(keys)
        z = written(pen.rng, scope, source, column)
        for _ in range(pen.rng.choice((0, 1, 1, 1, 2))):
            text = selective(pen, scope, replace(source, columns=(column,)))
            block.where.append(f"( {text} )" if " OR " in text else text)
    if pen.chance(0.3):
        block.where.append(f"( {condition(pen, scope, 1)} )")
    w = written(pen.rng, scope, *pen.rng.choice(numbers)) if numbers else "1"
    where = f" WHERE {' AND '.join(block.where)}" if block.where else ""
    if pen.chance(0.15):
        return f"SELECT {z} AS z , max( {w} ) AS w FROM {block.text}{where} GROUP BY 1"
    return f"SELECT DISTINCT {z} AS z , {w} AS w FROM {block.text}{where}"


def _constant(pen: Pen, column: Column) -> str:
    """A constant of the key's type, as a rewrite may repeat it."""
    text = stored(pen, replace(column, origin="sales.p"))
    return text if pen.chance(0.7) else f"CAST( {text} AS {column.type} )"
