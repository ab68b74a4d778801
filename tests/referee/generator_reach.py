"""Stars as the rewriter reaches for them: keys that are computed, filters that can raise an error,
dimensions that something else narrows, the latest partition.

In: the pen. Out: a ``Block`` like any other, its joins and its WHERE written. What can raise an
error stands by itself, behind a guard (AND, CASE, if) and in a subquery; the world has some values
at the ends of their ranges, so that it does at times.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlrewrite.copies import replace

from .generator_expressions import Pen, literal, names_for, selective, stored
from .generator_relations import Block, comparable, paired, relation
from .generator_scope import Scope, Source, family, written
from .generator_text import JOINT, kept, name
from .generator_world import Column, Table

Write = Callable[[Block, Table], None]


def reach(pen: Pen, outer: Scope | None = None) -> Block:
    """A fact with one dimension or two, and conditions of these kinds."""
    block = Block(pen, names_for(pen.rng, None), outer)
    block.start(pen.rng.choice(pen.world.facts))
    for table in pen.rng.sample(pen.world.dimensions, pen.rng.choice((1, 1, 1, 2))):
        pen.rng.choice(JOINS)(block, table)
    fact, *dimensions = block.scope().visible()
    for source in dimensions:
        if pen.chance(0.45):
            block.where.append(_attempted(pen, block, source))
        elif pen.chance(0.4):
            block.where.append(_narrowed(pen, block, source))
        elif pen.chance(0.5):
            block.where.append(selective(pen, block.scope(), source))
    if pen.chance(0.15):
        block.where.append(_of_the_key(pen, block, fact))
    if pen.chance(0.06):
        block.where.append(_latest(pen, block, fact))
    pen.rng.shuffle(block.where)
    return block


# --- joins ----------------------------------------------------------------------------------------


def _tie(block: Block, source: Source) -> str:
    """The condition that joins a source on its key, which may be computed on either side."""
    pen = block.pen
    changed = replace(block.scope(), bare=False)
    both = replace(changed, sources=(*changed.sources, source))
    pairs = paired(pen)
    choices = [
        (before, column, one)
        for before, column in changed.columns()
        for one in source.columns
        if (column.origin, one.origin) in pairs and comparable(column, one)
    ]
    if not choices:
        return "true"
    before, column, one = pen.rng.choice(choices)
    a, b = written(pen.rng, both, before, column), written(pen.rng, both, source, one)
    shapes = TIES.get(family(column.type), ()) if family(one.type) == family(column.type) else ()
    shape = pen.one(*shapes) if shapes and pen.chance(0.5) else "{a} = {b}"
    if pen.chance(0.3):
        a, b = b, a
    return shape.format(a=a, b=b)


TIES = {
    "number": (
        *("{a} + 1 = {b} + 1", "{a} = {b} - 1 + 1", "CAST( {a} AS BIGINT ) = {b}", "- {a} = - {b}"),
        *("{a} = CAST( {b} AS BIGINT )", "CAST( {a} AS STRING ) = CAST( {b} AS STRING )"),
        *("{a} * 2 = {b} * 2", "{a} % 2 = {b} % 2", "{a} = abs( {b} )", "{a} = CAST( {b} AS INT )"),
        *("{a} = {b} DIV 1", "{a} = array( {b} )[0]", "{a} = pmod( {b} , 7 )", "{a} + 0 = {b}"),
        *("{a} = named_struct( 'a' , {b} ) . a", "{a} = element_at( array( {b} , 1 ) , 1 )"),
        *("{a} = try_add( {b} , 0 )", "{a} = CAST( CAST( {b} AS STRING ) AS INT )"),
    ),
    "string": (
        *("CAST( {a} AS INT ) = CAST( {b} AS INT )", "{a} = trim( {b} )", "trim( {a} ) = {b}"),
        *(
            "{a} = CAST( TRY_CAST( {b} AS INT ) AS STRING )",
            "{a} = {b} || ''",
            "{a} = upper( {b} )",
        ),
    ),
    "date": (
        *("date_add( {a} , 1 ) = date_add( {b} , 1 )", "{a} = to_date( CAST( {b} AS STRING ) )"),
        *(
            "CAST( {a} AS TIMESTAMP ) = {b}",
            "{a} = CAST( {b} AS DATE )",
            "{a} = {b} + INTERVAL 0 DAY",
        ),
        *("{a} = date_trunc( 'DAY' , {b} )", "{a} = add_months( {b} , 0 )"),
    ),
}


def _plain(block: Block, table: Table) -> None:
    text, source = relation(block, table)
    how = block.pen.one("JOIN", "JOIN", "JOIN", "INNER JOIN", "LEFT SEMI JOIN", "RIGHT JOIN")
    block.text += f" {how} {text} ON {_tie(block, source)}"
    block.sources.append(replace(source, hidden="SEMI" in how))


def _listed(block: Block, table: Table) -> None:
    """A few rows as VALUES, with no filter or one."""
    pen = block.pen
    alias = block.names.alias()
    listed = f"{JOINT}( {' , '.join(one.name for one in table.columns)} )"
    rows = " , ".join(f"( {kept(' , '.join(row))} )" for row in table.rows[: pen.rng.randint(1, 4)])
    if not rows or pen.world.files:
        return _plain(block, table)
    source = Source(alias, table.columns)
    text = pen.one(f"( VALUES {rows} )", f"VALUES {rows}")
    block.text += f" JOIN {text} AS {name(pen.rng, alias)}{listed} ON {_tie(block, source)}"
    block.sources.append(source)
    return None


def _lateral(block: Block, table: Table) -> None:
    """A subquery that is joined laterally and refers to the fact by the key."""
    pen = block.pen
    inner = Source("i_", table.columns)
    on = _tie(block, inner)
    where = selective(pen, Scope((inner,), bare=False), inner)
    alias = block.names.alias()
    shown = pen.rng.choice(table.columns)
    query = f"( SELECT i_ . {shown.name} FROM {table.name} i_ WHERE {on} AND {where} )"
    before = pen.one(" ,", " JOIN", " CROSS JOIN", " LEFT JOIN")
    end = " ON true" if before == " LEFT JOIN" else ""
    block.text += f"{before} LATERAL {query} AS {name(pen.rng, alias)}{end}"
    block.sources.append(Source(alias, (shown,)))


def _of_structs(block: Block, table: Table) -> None:
    """The columns of the table as fields of one."""
    pen = block.pen
    alias = block.names.alias()
    fields = " , ".join(f"'{one.name}' , {one.name}" for one in table.columns)
    of = tuple(replace(one, name=f"s_.{one.name}") for one in table.columns)
    source = Source(alias, of)
    query = f"( SELECT named_struct( {fields} ) AS s_ FROM {table.name} )"
    on = _tie(block, source).replace("`s_.", "s_.`")
    block.text += f" JOIN {query} {name(pen.rng, alias)} ON {on}"
    block.sources.append(replace(source, hidden=True))


def _computed(block: Block, table: Table) -> None:
    """A derived table or CTE that computes the key, and perhaps a condition's column."""
    pen = block.pen
    keys = [one for one in table.columns if one.name in ("k", "p", "item", "shop")]
    items = []
    for one in table.columns:
        text = one.name
        if one in keys and pen.chance(0.6):
            text = pen.one(*MADE.get(family(one.type), ("{}",))).format(one.name)
        elif family(one.type) == "number" and pen.chance(0.3):
            text = pen.one("{} + 1", "10 / {}", "{} % 2", "{} * 3").format(one.name)
        items.append(text if text == one.name else f"{text} AS {one.name}")
    query = f"SELECT {' , '.join(items)} FROM {table.name}"
    if pen.chance(0.3):
        inner = Source(table.name, table.columns)
        query += f" WHERE {selective(pen, Scope((inner,)), inner)}"
    alias = block.names.alias()
    source = Source(alias, table.columns)
    text = f"( {query} )"
    if pen.chance(0.4):
        text = f"made{len(pen.ctes) + 1}"
        pen.ctes.append((text, query, ()))
    block.text += f" JOIN {text} AS {name(pen.rng, alias)} ON {_tie(block, source)}"
    block.sources.append(source)


MADE = {
    "number": ("{} + 1", "{} + 1 - 1", "CAST( {} AS INT )", "CAST( {} AS BIGINT )", "abs( {} )"),
    "string": ("trim( {} )", "CAST( CAST( {} AS INT ) AS STRING )", "substring( {} , 1 , 1 )"),
    "date": ("date_add( {} , 1 )", "CAST( CAST( {} AS STRING ) AS DATE )", "last_day( {} )"),
}


def _among(block: Block, table: Table) -> None:
    """The dimension without the rows that have a partner, or none, elsewhere."""
    pen = block.pen
    other = pen.rng.choice(pen.world.tables)
    shared = [
        (one, their)
        for one in table.columns
        for their in other.columns
        if family(one.type) == family(their.type) and one.type == their.type
    ]
    if not shared:
        return _plain(block, table)
    one, their = pen.rng.choice(shared)
    how = pen.one("LEFT ANTI JOIN", "LEFT SEMI JOIN", "ANTI JOIN", "SEMI JOIN")
    theirs = Source("o_", other.columns)
    where = selective(pen, Scope((theirs,), bare=False), theirs)
    query = f"SELECT i_ . * FROM {table.name} i_ {how} {other.name} o_"
    query += f" ON i_ . {one.name} = o_ . {their.name} AND {where}"
    alias = block.names.alias()
    source = Source(alias, table.columns)
    block.text += f" JOIN ( {query} ) AS {name(pen.rng, alias)} ON {_tie(block, source)}"
    block.sources.append(source)
    return None


def _with_the_last(block: Block, table: Table) -> None:
    """A join with a maximum, of the dimension or of the fact itself."""
    pen = block.pen
    fact = block.sources[0]
    keys = [one for one in table.columns if one.name in ("k", "p")]
    of, column = table, pen.rng.choice(keys)
    own = [one for one in fact.columns if one.origin in ("sales.p", "visits.k")]
    if own and pen.chance(0.5):
        column = own[0]
        of = next(table for table in pen.world.facts if column.origin.startswith(f"{table.name}."))
        column = replace(column, name=column.origin.split(".")[1])
    alias = block.names.alias()
    changed = replace(column, name="last_")
    query = f"SELECT {pen.one('max', 'min')}( {column.name} ) AS last_ FROM {of.name}"
    source = Source(alias, (changed,))
    if own and column.origin == own[0].origin:
        on = f"{written(pen.rng, block.scope(), fact, own[0])} = {name(pen.rng, alias)} . last_"
    else:
        on = _tie(block, source)
    block.text += f" JOIN ( {query} ) AS {name(pen.rng, alias)} ON {on}"
    block.sources.append(source)


JOINS: tuple[Write, ...] = (
    *(_plain, _plain, _plain, _listed, _lateral, _of_structs),
    *(_computed, _computed, _among, _with_the_last),
)


# --- conditions -----------------------------------------------------------------------------------


def _attempted(pen: Pen, block: Block, source: Source) -> str:
    """A filter of the source that can raise an error."""
    scope = replace(block.scope(), bare=False)

    def of(kind: str) -> str:
        columns = source.of(kind)
        return (
            written(pen.rng, scope, source, pen.rng.choice(columns))
            if columns
            else (literal(pen, kind))
        )

    kind = pen.one(*("number",) * 5, "string", "date", "subquery", "subquery")
    table = pen.rng.choice(pen.world.tables)
    numbers = [one.name for one in table.columns if family(one.type) == "number"]
    x, y = pen.rng.choice(numbers), pen.rng.choice(numbers)
    where = pen.one("", "", f" WHERE {x} > 0", f" WHERE {x} + 1 > 2", f" WHERE {y} % {x} = 1")
    text = pen.one(*ATTEMPTS[kind]).format(
        a=of("number"),
        b=of("number"),
        s=of("string"),
        t=of("date"),
        n=literal(pen, "number"),
        d=literal(pen, "date"),
        u=table.name,
        x=x,
        y=y,
        w=where,
    )
    return f"NOT ( {text} )" if pen.chance(0.12) else f"( {text} )"


ATTEMPTS = {
    "number": (
        *("{a} + {b} < 60", "{a} * {b} >= {n}", "{a} - {n} <= {b}", "{b} <> 0 AND 24 / {b} > 2"),
        *("24 / {b} > {n}", "{a} % {b} = 1", "{b} = 0 OR {a} % {b} = 1", "{a} DIV {b} = {n}"),
        *("CASE WHEN {b} <> 0 THEN {a} / {b} END >= {n}", "if( {b} = 0 , NULL , 5 % {b} ) = 1"),
        *("coalesce( {a} + 1 , 0 ) <> 0", "{a} + 1 <=> {b}", "nvl( {a} % {b} , 1 ) = 1"),
        *("CASE {a} + 1 WHEN 2 THEN 1 WHEN 3 THEN 2 END = {n}", "( {a} + {b} ) IS NOT NULL"),
        *("{a} + 1 IN ( 2 , 3 , {n} )", "{a} + 1 BETWEEN {n} AND {b} + 3", "abs( {a} - {b} ) < 2"),
        *("array( {a} , {b} )[ {b} ] = {n}", "element_at( array( {a} , 1 ) , 2 ) >= {b}"),
        *("pmod( {a} , {b} ) IN ( 0 , 1 )", "CAST( {a} * 100 AS TINYINT ) > {n}", "- {a} < {n}"),
        *("( {a} + {b} ) * 2 > 4 AND ( {a} = {n} OR {a} * {a} > {b} )", "{a} * 1.5 + {b} > {n}"),
        *("CASE WHEN {a} + {b} > 3 THEN 'x' ELSE 'y' END = 'x'", "{a} + 1 + 1 > {b} * 2"),
    ),
    "string": (
        *("CAST( {s} AS INT ) = {n}", "{s} = {n}", "{s} > {a}", "NOT CAST( {s} AS INT ) >= {n}"),
        *("{s} RLIKE '^[0-9]+$' AND CAST( {s} AS INT ) > 0", "CAST( {s} AS DATE ) = {d}"),
        *("CASE WHEN {s} LIKE '1%' THEN CAST( {s} AS INT ) END = {n}", "{s} + 1 > {n}"),
        *(
            "to_date( {s} ) >= {d}",
            "coalesce( CAST( {s} AS INT ) , 1 ) = 1",
            "length( {s} ) + {a} > 2",
        ),
    ),
    "date": (
        *(
            "add_months( {t} , {a} ) >= {d}",
            "date_add( {t} , {a} ) > {d}",
            "{t} + INTERVAL 1 DAY > {d}",
        ),
        *(
            "datediff( {t} , {d} ) + {a} >= 0",
            "CAST( {t} AS STRING ) > '2024'",
            "{t} > '2024-01-01'",
        ),
    ),
    "subquery": (
        *(
            "{a} > ( SELECT max( {x} + 1 ) - 2 FROM {u}{w} )",
            "{a} IN ( SELECT {x} + 1 FROM {u}{w} )",
        ),
        *("{a} <= ( SELECT max( {x} ) + 1 FROM {u}{w} )", "{a} + 1 IN ( SELECT {x} FROM {u}{w} )"),
        *(
            "EXISTS ( SELECT 1 FROM {u} u_ WHERE u_ . {x} + 1 = {a} )",
            "{a} >= ( SELECT {x} FROM {u}{w} )",
        ),
        *("{a} NOT IN ( SELECT {x} * {y} FROM {u} WHERE {x} * {y} IS NOT NULL )",),
        *("{a} >= ( SELECT DISTINCT {x} - {x} + 1 FROM {u} WHERE {x} IS NOT NULL )",),
        *("{a} <= ( SELECT sum( {x} % {y} ) FROM {u} HAVING count( * ) > 0 )",),
        *("{a} IN ( SELECT {x} FROM {u} WHERE {y} <= ( SELECT max( {y} + 1 ) FROM {u} ) )",),
    ),
}


def _narrowed(pen: Pen, block: Block, source: Source) -> str:
    """What another table says of the source's rows, as a subquery in WHERE."""
    scope = replace(block.scope(), bare=False)
    table = pen.rng.choice(pen.world.tables)
    columns = [
        (one, their) for one in source.columns for their in table.columns if one.type == their.type
    ]
    if not columns:
        return "true"
    theirs = Source("o_", table.columns)
    where = selective(pen, Scope((theirs,), bare=False), theirs)
    one, their = pen.rng.choice(columns)
    own = written(pen.rng, scope, source, one)
    query = f"FROM {table.name} o_ WHERE"
    word = pen.one("EXISTS", "NOT EXISTS")
    return pen.one(
        f"{word} ( SELECT 1 {query} o_ . {their.name} = {own} AND {where} )",
        f"{own} IN ( SELECT o_ . {their.name} {query} {where} )",
        f"{own} NOT IN ( SELECT o_ . {their.name} {query} {where} )",
        f"{own} NOT IN ( SELECT nvl( o_ . {their.name} , {own} ) {query} {where} )",
    )


def _of_the_key(pen: Pen, block: Block, fact: Source) -> str:
    """A filter of the fact's own key, or its author's own IN, of one column or two."""
    scope = replace(block.scope(), bare=False)
    keys = [one for one in fact.columns if one.origin in ("sales.p", "visits.k", "sales.q")]
    if not keys:
        return "true"
    key = pen.rng.choice(keys)
    a = written(pen.rng, scope, fact, key)
    low, high = stored(pen, key), stored(pen, key)
    shops = {one.origin: one for one in fact.columns}
    pairs = [pair for pair in pen.world.joins if f"{pair[0]}.{pair[1]}" == key.origin]
    texts = [f"{a} >= {low}", f"{a} BETWEEN {low} AND {high}", f"{a} IN ( {low} , {high} )"]
    for _, _, table, column in pairs[:2]:
        of = next(shape for shape in pen.world.tables if shape.name == table)
        theirs = Source("o_", of.columns)
        where = selective(pen, Scope((theirs,), bare=False), theirs)
        texts.append(f"{a} IN ( SELECT o_ . {column} FROM {table} o_ WHERE {where} )")
        if table == "shops" and {"sales.p", "sales.q"} <= set(shops):
            p, q = (written(pen.rng, scope, fact, shops[name]) for name in ("sales.p", "sales.q"))
            texts.append(
                f"( {p} , {q} ) IN ( SELECT o_ . k , o_ . shop FROM shops o_ WHERE {where} )"
            )
    return pen.one(*texts)


def _joined(pen: Pen, name_of: str) -> str:
    """The table as ``o_``, with a filter, and joined by a comparison with another."""
    tables = {table.name: table for table in pen.world.tables}
    of, other = tables[name_of], pen.rng.choice(pen.world.tables)
    theirs = Source("o_", of.columns)
    where = f"WHERE {selective(pen, Scope((theirs,), bare=False), theirs)}"
    ties = [
        f"o_ . {one.name} {pen.one('=', '<', '>=')} n_ . {their.name}"
        for one in of.columns
        for their in other.columns
        if one.type == their.type
    ]
    if not ties or pen.chance(0.3):
        return f"{name_of} o_ {where}"
    return f"{name_of} o_ JOIN {other.name} n_ ON {pen.one(*ties)} {where}"


def _latest(pen: Pen, block: Block, fact: Source) -> str:
    """The fact's key is the last there is, of its own or of a dimension's."""
    keys: list[Column] = [one for one in fact.columns if one.origin in ("sales.p", "visits.k")]
    if not keys:
        return "true"
    a = written(pen.rng, replace(block.scope(), bare=False), fact, keys[0])
    table, _, column = keys[0].origin.partition(".")
    others = [
        (join[2], join[3]) for join in pen.world.joins if (join[0], join[1]) == (table, column)
    ]
    of, named = pen.rng.choice([(table, column), (table, column), *others])
    call = pen.one("max", "max", "min")
    return pen.one(
        f"{a} = ( SELECT {call}( {named} ) FROM {of} )",
        f"{a} IN ( SELECT {call}( {named} ) FROM {of} )",
        f"{a} IN ( SELECT {call}( o_ . {named} ) FROM {_joined(pen, of)} )",
        f"{a} >= ( SELECT {call}( {named} ) FROM {of} )",
        f"{a} = ( SELECT DISTINCT {named} FROM {of} ORDER BY {named} DESC LIMIT 1 )",
    )
