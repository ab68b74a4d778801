"""Relations that few people write, and that a reader of SQL easily takes for something else.

VALUES, a CTE that refers to itself, PIVOT, UNPIVOT, columns with a collation, keys out of a
VARIANT, subtotals, stars of joins: each over a table of the world, in its place. In: the pen and
the table. Out: the text as it stands before an alias, and its columns.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlrewrite.copies import replace

from .generator_expressions import Pen
from .generator_scope import Scope, Source, alike, family
from .generator_text import JOINT, kept
from .generator_world import Column, Table

Relation = tuple[str, tuple[Column, ...]]


def rare(pen: Pen, table: Table) -> Relation:
    """One of them; the table itself where it has not the columns for it."""
    form: Callable[[Pen, Table], Relation] = pen.rng.choice(
        (_values, _recursive, _pivot, _unpivot, _collated, _variant, _exploded, _rolled)
    )
    return form(pen, table)


def _values(pen: Pen, table: Table) -> Relation:
    """Some of the table's rows, written out."""
    if not table.rows or pen.world.files:
        return table.name, table.columns
    rows = " , ".join(f"( {kept(' , '.join(row))} )" for row in table.rows[:8])
    listed = " , ".join(one.name for one in table.columns)
    return f"( SELECT * FROM VALUES {rows} AS v{JOINT}( {listed} ) )", table.columns


def _recursive(pen: Pen, table: Table) -> Relation:
    """The numbers from 1 to 3, as a key of the table."""
    keys = [one for one in table.columns if one.name in ("k", "item") and _whole(one)]
    if not keys:
        return table.name, table.columns
    cte = f"rec{len(pen.ctes) + 1}"
    step = f"SELECT n_ + 1 FROM {cte} WHERE n_ < {pen.one('2', '3')}"
    column = Column("n_", "INT", keys[0].origin)
    pen.ctes.append((cte, f"SELECT 1 AS n_ UNION ALL {step}", (column,)))
    return cte, (column,)


def _pivot(pen: Pen, table: Table) -> Relation:
    """A number of the table, a column for each of two values of another; the rest are groups."""
    numbers = _numbers(table)
    if len(numbers) < 2:
        return table.name, table.columns
    measure, by = pen.rng.sample(numbers, 2)
    rest = [one for one in table.columns if one.name in ("p", "k", "q", "shop")]
    listed = " , ".join(one.name for one in (*rest, measure, by))
    call = pen.one("sum", "max", "count")
    columns = (Column("one_v", "BIGINT"), Column("two_v", "BIGINT"))
    text = (
        f"( SELECT * FROM ( SELECT {listed} FROM {table.name} ) "
        f"PIVOT{JOINT}( {call}( {measure.name} ) FOR {by.name} IN ( 1 AS one_v , 2 AS two_v ) ) )"
    )
    return text, (*rest, *columns)


def _unpivot(pen: Pen, table: Table) -> Relation:
    """Two numbers of the table, one below the other."""
    numbers = _numbers(table)
    if len(numbers) < 2:
        return table.name, table.columns
    nulls = pen.one("", "INCLUDE NULLS ", "EXCLUDE NULLS ")
    listed = " , ".join(one.name for one in numbers[:2])
    rest = tuple(one for one in table.columns if one not in numbers[:2])
    text = f"{table.name} UNPIVOT {nulls}( v_ FOR u_ IN ( {listed} ) )"
    if pen.chance(0.5):
        text = f"( SELECT * FROM {text} )"
    return text, (*rest, Column("u_", "STRING"), Column("v_", "INT"))


def _collated(pen: Pen, table: Table) -> Relation:
    """The table, its strings compared without regard to case or to spaces at the end."""
    collation = pen.one("UTF8_LCASE", "UNICODE_CI", "UTF8_BINARY_RTRIM", "UNICODE")
    items = [
        f"{one.name} COLLATE {collation} AS {one.name}" if one.type == "STRING" else one.name
        for one in table.columns
    ]
    return f"( SELECT {' , '.join(items)} FROM {table.name} )", table.columns


def _variant(pen: Pen, table: Table) -> Relation:
    """The table with its key read out of a VARIANT, or out of a document."""
    keys = [one for one in table.columns if one.name in ("k", "p", "item") and _whole(one)]
    if not keys:
        return table.name, table.columns
    key = pen.rng.choice(keys)
    read = pen.one(
        f"CAST( CAST( {key.name} AS VARIANT ) AS {key.type} )",
        f"variant_get( to_variant_object( named_struct( 'a' , {key.name} ) ) , '$.a' , 'INT' )",
        f"( parse_json( concat( '{{\"a\":' , {key.name} , '}}' ) ) ) : a :: INT",
    )
    items = [f"{read} AS {one.name}" if one is key else one.name for one in table.columns]
    columns = tuple(replace(one, type="INT") if one is key else one for one in table.columns)
    return f"( SELECT {' , '.join(items)} FROM {table.name} )", columns


def _exploded(pen: Pen, table: Table) -> Relation:
    """The table with what LATERAL VIEW makes in place of one of its columns."""
    key = pen.rng.choice([one for one in table.columns if one.name in ("k", "p", "q", "item")])
    name = pen.one(key.name, "n_", "v_")
    items = [f"v_.{name} AS {one.name}" if one is key else one.name for one in table.columns]
    if name == key.name:
        items = [f"t_.{one.name}" if one is not key else f"v_.{name}" for one in table.columns]
    other = f"CAST( {pen.one('1', '2', 'NULL')} AS {key.type} )" if _whole(key) else key.name
    outer = pen.one("", "OUTER ")
    made_of = f"explode( array( t_.{key.name} , {other} ) )"
    text = f"FROM {table.name} t_ LATERAL VIEW {outer}{made_of} v_ AS {name}"
    return f"( SELECT {' , '.join(items)} {text} )", table.columns


def _rolled(pen: Pen, table: Table) -> Relation:
    """The table's key with subtotals, in each spelling; what it is for all is another value."""
    key = pen.rng.choice([one for one in table.columns if one.name in ("k", "p", "q", "item")])
    by = pen.one(
        f"{key.name} WITH ROLLUP",
        f"{key.name} WITH CUBE",
        f"ROLLUP{JOINT}( {key.name} )",
        f"CUBE( {key.name} )",
        f"GROUPING SETS ( ( {key.name} ) , ( ) )",
        f"{key.name} GROUPING SETS ( ( {key.name} ) , ( ) )",
    )
    shown = key.name
    if _whole(key):
        shown = pen.one(
            key.name,
            f"{pen.one('coalesce', 'nvl', 'ifnull')}( {key.name} , 1 ) AS {key.name}",
            f"if( grouping( {key.name} ) = 1 , 1 , {key.name} ) AS {key.name}",
        )
    text = f"( SELECT {shown} , count( * ) AS n_ FROM {table.name} GROUP BY {by} )"
    return text, (key, Column("n_", "BIGINT"))


def star_of_a_join(pen: Pen, table: Table) -> Relation:
    """All columns of a join of the table, in the order that Spark gives them; they need new names,
    as some are there twice."""
    first = Scope((Source(table.name, table.columns),))
    others = [
        (one, shared)
        for one in pen.world.tables
        if one is not table and (shared := alike(first, Source(one.name, one.columns)))
    ]
    if not others:
        return f"( SELECT * FROM {table.name} )", table.columns
    other, shared = pen.rng.choice(others)
    names = [
        one.name for one in other.columns if one.name in {column.name for column in table.columns}
    ]
    keys = [pen.rng.choice(shared)]
    how = pen.one("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN")
    on = f"{how} {other.name} USING{JOINT}( {keys[0]} )"
    if names == shared and pen.chance(0.5):
        keys = [one.name for one in table.columns if one.name in shared]
        on = f"NATURAL {how} {other.name}"
    sides = (other, table) if how == "RIGHT JOIN" else (table, other)
    columns = [one for key in keys for one in sides[0].columns if one.name == key]
    columns += [one for one in table.columns if one.name not in keys]
    if "SEMI" not in how:
        columns += [one for one in other.columns if one.name not in keys]
    return f"( SELECT * FROM {table.name} {on} )", tuple(columns)


def _numbers(table: Table) -> list[Column]:
    return [
        one
        for one in table.columns
        if one.name not in ("p", "k", "q", "shop") and _whole(one) and family(one.type) == "number"
    ]


def _whole(column: Column) -> bool:
    return column.type in ("TINYINT", "SMALLINT", "INT", "BIGINT")
