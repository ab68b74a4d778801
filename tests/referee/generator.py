"""A random query of Spark SQL over a star schema, as text.

It is written from Spark's grammar (SqlBaseParser.g4), with no tree of the rewriter's or of
sqlglot's between: what Spark makes of the text is what it means. Star joins dominate; every other
clause is mixed in with a low probability, so that most queries have few strange things each and
some have many. A query is a function of its dice and its world alone. Its rows do not depend on
the order in which Spark finds them: a LIMIT stands after ORDER BY ALL, and sums are exact.
"""

from __future__ import annotations

import random
import re

from .generator_copied import copied
from .generator_expressions import Pen, aggregate, asked, condition, names_for, selective, value
from .generator_reach import reach
from .generator_relations import SET_OPERATIONS, Block, keyed
from .generator_scope import Names, Scope, Source, written
from .generator_shared import in_line, shared
from .generator_text import JOINT, dressed, kept, name
from .generator_world import DOUBLE_QUOTED, Column, Table, World

HINTS = (
    "BROADCAST(d)",
    "MERGE(f, d)",
    "SHUFFLE_HASH(t)",
    "COALESCE(1)",
    "REPARTITION(1)",
    "NO_SUCH(x)",
)


def random_query(rng: random.Random, world: World) -> str:
    """One query; most of them are accepted by Spark."""
    pen = Pen(rng, world, lambda scope, kind: subquery(pen, scope, kind), [])
    if pen.chance(0.7 if world.apart else 0.02):
        return dressed(rng, copied(pen))
    if pen.chance(0.08):
        return dressed(rng, shared(pen) if pen.chance(0.5) else in_line(pen))
    shape = rng.random()
    if shape < 0.76:
        body = _select(pen)
    elif shape < 0.88:
        body = _set_operation(pen)
    elif shape < 0.97:
        body = _nested(pen)
    else:
        body = _pipes(pen)
    if pen.chance(0.12):
        body += " ORDER BY ALL"
        body += pen.one("", f" LIMIT {pen.one('1', '2', '5')}", " LIMIT 3 OFFSET 1", " OFFSET 1")
    return _wrapped(pen, dressed(rng, with_ctes(pen) + body))


def with_ctes(pen: Pen) -> str:
    if not pen.ctes:
        return ""
    listed = (
        f"{name(pen.rng, cte)} {pen.one('AS ', '', 'AS ')}( {query} )" for cte, query, _ in pen.ctes
    )
    again = any(cte.startswith("rec") for cte, _, _ in pen.ctes)
    return f"WITH {'RECURSIVE ' if again else ''}{' , '.join(listed)} "


def _wrapped(pen: Pen, text: str) -> str:
    """The text with its names in the quotes that a setting asks for; at times in a script."""
    if dict(pen.world.settings)[DOUBLE_QUOTED] == "true":
        text = re.sub(r"`(\w+)`", lambda found: pen.one(found[0], f'"{found[1]}"'), text)
    if pen.chance(0.01):
        declared = pen.one("", "", "DECLARE p INT DEFAULT 2; ", "DECLARE k INT DEFAULT 1; ")
        return f"BEGIN {declared}{text}\n; END"
    return text


# --- one SELECT -----------------------------------------------------------------------------------


def _star(pen: Pen, outer: Scope | None = None) -> Block:
    """FROM with a fact and its dimensions, in any order, and what WHERE has to hold."""
    if pen.chance(0.3):
        return reach(pen, outer)
    rng, world = pen.rng, pen.world
    block = Block(pen, names_for(rng, None), outer)
    fact = rng.choice((world.facts[0], world.facts[0], world.facts[1]))
    count = rng.choice((1, 1, 1, 2, 2, 3))
    joined = rng.sample(world.dimensions, count)
    if pen.chance(0.1):
        joined[rng.randrange(count)] = rng.choice(world.facts)
    tables: list[Table] = [fact, *joined]
    if pen.chance(0.3):
        rng.shuffle(tables)
    block.start(tables[0])
    for table in tables[1:]:
        block.join(table)
    for source in block.scope().visible():
        of_fact = any(one.origin.startswith(("sales.", "visits.")) for one in source.columns)
        share = 0.06 if of_fact else 0.75 if count == 1 else 0.45
        if pen.chance(share / 3 if source.alias in block.filtered else share):
            block.where.append(selective(pen, block.scope(), source))
    if pen.chance(0.15):
        block.where.append(condition(pen, block.scope(), 2))
    rng.shuffle(block.where)
    if block.where and pen.chance(0.04):
        block.where[-1] += _hidden(pen, block.scope())
    return block


def _hidden(pen: Pen, scope: Scope) -> str:
    """A condition that Spark does not see, as it stands in a comment."""
    text = kept(selective(pen, scope, pen.rng.choice(scope.sources))).replace(JOINT, "")
    return kept(
        pen.one(
            f" -- AND {text}\n",
            f" /* AND {text} */ ",
            f" -- c\\\n AND {text}\n",
            f" /* /* */ AND {text} */ ",
            f" /*/ AND {text} */ ",
            f" /* ' */ /* AND {text} ' */ ",
        )
    )


def _lateral(pen: Pen, block: Block) -> None:
    """LATERAL VIEW, or a generator or subquery that is joined laterally."""
    alias = block.names.alias()
    column = pen.one("e", "k", "y", "col")
    scope = block.scope()
    if pen.chance(0.4):
        computed = value(pen, scope, "number", 1)
        before = pen.one(" ,", " JOIN", " LEFT JOIN", " CROSS JOIN")
        on = " ON true" if before == " LEFT JOIN" else ""
        query = pen.one(
            f"( SELECT {computed} AS {column} )", f"explode{JOINT}( array( {computed} , 1 ) )"
        )
        listed = f"{JOINT}( {column} )"
        block.text += f"{before} LATERAL {query} AS {name(pen.rng, alias)}{listed}{on}"
        block.sources.append(Source(alias, (Column(column, "INT"),)))
        return
    generator = pen.one(
        "explode( array( 1 , 2 ) )", "posexplode( array( 1 ) )", "explode( array( 2 ) )"
    )
    columns: tuple[Column, ...] = (Column(column, "INT"),)
    if generator.startswith("pos"):
        columns = (Column("pos", "INT"), Column(column, "INT"))
    listed = " , ".join(one.name for one in columns)
    outer = pen.one("", "", "OUTER ")
    block.text += f" LATERAL VIEW {outer}{generator} {name(pen.rng, alias)} AS {listed}"
    block.sources.append(Source(alias, columns))


def _select(pen: Pen, kinds: tuple[str, ...] = ()) -> str:
    """A SELECT over a star; with ``kinds``, its columns are of these families."""
    block = _star(pen)
    if pen.chance(0.06):
        _lateral(pen, block)
    scope = block.scope()
    where = f" WHERE {' AND '.join(_guarded(block.where))}" if block.where else ""
    hint = f"/*+ {kept(pen.one(*HINTS))} */ " if pen.chance(0.04) else ""
    shape = pen.rng.random()
    if shape < 0.3:
        return f"SELECT {hint}" + _grouped(pen, scope, kinds, f" FROM {block.text}{where}")
    distinct = "DISTINCT " if pen.chance(0.08) else ""
    items = _items(pen, scope, kinds)
    end = ""
    if not kinds and pen.chance(0.12):
        items, end = _windowed(pen, scope, items)
    return f"SELECT {hint}{distinct}{items} FROM {block.text}{where}{end}"


def _guarded(conditions: list[str]) -> list[str]:
    """Conditions that can stand beside AND."""
    return [
        f"( {one} )" if " OR " in one and not one.startswith("(") else one for one in conditions
    ]


def _items(pen: Pen, scope: Scope, kinds: tuple[str, ...]) -> str:
    if kinds:
        return " , ".join(
            f"{_cast(value(pen, scope, kind, 1), kind)} AS {pen.one('a', 'b', 'c')}{at}"
            for at, kind in enumerate(kinds)
        )
    if pen.chance(0.3):
        return _starred(pen, scope)
    items = []
    for at in range(pen.rng.randint(1, 4)):
        if pen.chance(0.7):
            items.append(written(pen.rng, scope, *pen.rng.choice(scope.columns())))
            if pen.chance(0.2):
                items[-1] += f" {pen.one('AS ', '')}{name(pen.rng, f'c{at}')}"
        else:
            kind = pen.rng.choice([one for one in scope.kinds() if one != "struct"])
            if pen.chance(0.12) and kind != "boolean":
                items.append(f"( {subquery(pen, scope, kind)} ) AS s{at}")
                continue
            items.append(f"{value(pen, scope, kind, 3)} AS v{at}")
            if kind == "number" and pen.chance(0.08):
                items.append(f"v{at} + 1 AS w{at}")
            if kind == "number" and pen.chance(0.06):
                alias = pen.one("p", "k", "y", "item")
                items[-1] = f"{value(pen, scope, kind, 1)} AS {alias} , {alias} + 1 AS x{at}"
    return " , ".join(items)


def _cast(text: str, kind: str) -> str:
    """The text as the one type that stands for its family."""
    types = {"number": "DECIMAL(12,3)", "string": "STRING", "boolean": "BOOLEAN"}
    return f"CAST( {text} AS {types.get(kind, kind.upper())} )"


def _starred(pen: Pen, scope: Scope) -> str:
    """A form of the star."""
    named = [source for source in scope.visible() if source.alias]
    shape = pen.rng.randrange(6)
    if shape < 3 or not named:
        return pen.one("*", "*", "* , 1 AS one_", "2 AS two , *")
    source = pen.rng.choice(named)
    star = f"{name(pen.rng, source.alias)}{JOINT}.{JOINT}*"
    if shape == 3:
        return f"{star} EXCEPT{JOINT}( {pen.rng.choice(source.columns).name} )"
    other = pen.rng.choice(named)
    if shape == 4 and other is not source:
        return f"{star} , {name(pen.rng, other.alias)}.*"
    return pen.one(star, f"struct( {star} ) AS s", f"{star} , count( * ) OVER ( ) AS n")


def _windowed(pen: Pen, scope: Scope, items: str) -> tuple[str, str]:
    """A window function among the items, and perhaps QUALIFY on it or a WINDOW clause."""
    by = written(pen.rng, scope, *pen.rng.choice(scope.columns()))
    order = " , ".join(
        written(pen.rng, scope, *pair) + pen.one("", " DESC", " NULLS LAST")
        for pair in pen.rng.sample(scope.columns(), 1)
    )
    call, _ = aggregate(pen, scope)
    if "DISTINCT" in call or "approx" in call or "collect" in call or " = 1" in call:
        call = "count( 1 )"
    spec = pen.one(f"PARTITION BY {by}", "", f"PARTITION BY {by} ORDER BY {order}")
    ranked = pen.one("rank( )", "dense_rank( )", "percent_rank( )", "cume_dist( )")
    if pen.chance(0.4):
        call, spec = ranked, f"PARTITION BY {by} ORDER BY {order}"
    shape = pen.rng.random()
    if shape < 0.2:
        return f"{items} , {call} OVER win AS w_", f" WINDOW win AS ( {spec} )"
    item = f"{call} OVER{JOINT}( {spec} )"
    if shape < 0.5:
        compared = f"{item} IS NOT NULL" if "any" in call or "max" in call else f"{item} <= 1"
        return items, f" QUALIFY {compared}"
    return f"{items} , {item} AS w_", ""


def _grouped(pen: Pen, scope: Scope, kinds: tuple[str, ...], rest: str) -> str:
    """Items, the given FROM and WHERE, and GROUP BY in one of its spellings with HAVING."""
    columns = scope.columns()
    keys = [written(pen.rng, scope, *one) for one in pen.rng.sample(columns, min(2, len(columns)))]
    keys = keys[: pen.rng.randint(0, 2)]
    if pen.chance(0.1) and keys:
        keys[0] = value(pen, scope, "number", 1)
        if keys[0].lstrip("-").isdigit():
            keys[0] = f"{keys[0]} + 0"
    calls = [aggregate(pen, scope) for _ in range(pen.rng.randint(1, 2))]
    items = [call for call, _ in calls]
    if kinds:
        items = [_cast(f"max( {value(pen, scope, kind, 1)} )", kind) for kind in kinds]
        return " , ".join(items) + rest + (f" GROUP BY {' , '.join(keys)}" if keys else "")
    items = [one + (f" AS m{at}" if pen.chance(0.5) else "") for at, one in enumerate(items)]
    if pen.chance(0.05) and calls[0][1] == "number":
        items.append(f"sum( {calls[0][0]} ) OVER{JOINT}( ) AS total")
    shown = list(keys) if pen.chance(0.9) else []
    having = _having(pen, scope) if pen.chance(0.15) else ""
    head = " , ".join([*shown, *items])
    if not keys:
        return (
            head
            + rest
            + pen.one("", "", "", " GROUP BY ALL", " GROUP BY GROUPING SETS ( ( ) )")
            + having
        )
    return head + rest + _group_by(pen, keys, shown) + having


def _group_by(pen: Pen, keys: list[str], shown: list[str]) -> str:
    listed = " , ".join(keys)
    shape = pen.rng.random()
    if shape < 0.6:
        return f" GROUP BY {listed}"
    if shape < 0.7 and shown:
        return f" GROUP BY {' , '.join(str(at + 1) for at in range(len(keys)))}"
    if shape < 0.78 and shown:
        return " GROUP BY ALL"
    return pen.one(
        f" GROUP BY ROLLUP{JOINT}( {listed} )",
        f" GROUP BY {listed} WITH ROLLUP",
        f" GROUP BY CUBE{JOINT}( {listed} )",
        f" GROUP BY {listed} WITH CUBE",
        f" GROUP BY GROUPING SETS{JOINT}( ( {listed} ) , ( ) )",
        f" GROUP BY {listed} GROUPING SETS ( ( {listed} ) , ( {keys[0]} ) )",
        f" GROUP BY GROUPING SETS ( ( {listed} ) , ( {keys[-1]} ) )",
        f" GROUP BY {keys[0]} , GROUPING SETS ( ( {listed} ) )",
    )


def _having(pen: Pen, scope: Scope) -> str:
    call, kind = aggregate(pen, scope)
    if kind != "number":
        return f" HAVING {call} IS NOT NULL"
    return f" HAVING {call} {pen.one('>', '<>', '>=')} {pen.one('0', '1')}"


# --- queries of queries ---------------------------------------------------------------------------


def _kinds(pen: Pen) -> tuple[str, ...]:
    return tuple(
        pen.one("number", "string", "date", "number") for _ in range(pen.rng.randint(1, 3))
    )


def _set_operation(pen: Pen) -> str:
    if pen.chance(0.2):
        both = _starred_block(pen)
        return (
            f"{both} {pen.one(*SET_OPERATIONS)} {both.replace(' WHERE ', ' WHERE 1 = 1 AND ', 1)}"
        )
    kinds = _kinds(pen)
    text = _select(pen, kinds)
    for _ in range(pen.rng.choice((1, 1, 2))):
        other = _select(pen, kinds)
        text += f" {pen.one(*SET_OPERATIONS)} {pen.one(other, f'( {other} )')}"
    return text


def _starred_block(pen: Pen) -> str:
    """A star with all its columns, as they come."""
    block = _star(pen)
    where = f" WHERE {' AND '.join(_guarded(block.where))}" if block.where else ""
    return f"SELECT {_starred(pen, block.scope())} FROM {block.text}{where}"


def _nested(pen: Pen) -> str:
    """A star as a derived table, perhaps joined again."""
    kinds = ("number", *_kinds(pen))
    inner = _select(pen, kinds) if pen.chance(0.7) else _set_operation_of(pen, kinds)
    columns = tuple(Column(f"z{at}", _type(kind)) for at, kind in enumerate(kinds))
    listed = " , ".join(one.name for one in columns)
    block = Block(pen, names_for(pen.rng, None))
    alias = block.names.alias()
    block.text = f"( {inner} ) AS {name(pen.rng, alias)}{JOINT}( {listed} )"
    block.sources.append(Source(alias, columns))
    if pen.chance(0.4):
        block.join(pen.rng.choice(pen.world.tables))
    if pen.chance(0.5):
        block.where.append(condition(pen, block.scope(), 1))
    if pen.chance(0.2):  # true of one of the types that a UNION makes one, and not of the other
        text = f"CAST( {name(pen.rng, alias)}.z0 AS STRING )"
        block.where.append(pen.one(f"{text} LIKE '%.%'", f"length( {text} ) > 2"))
    where = f" WHERE {' AND '.join(_guarded(block.where))}" if block.where else ""
    return f"SELECT {_items(pen, block.scope(), ())} FROM {block.text}{where}"


def _set_operation_of(pen: Pen, kinds: tuple[str, ...]) -> str:
    return f"{_select(pen, kinds)} {pen.one(*SET_OPERATIONS)} {_select(pen, kinds)}"


def _type(kind: str) -> str:
    return {"number": "DECIMAL(12,3)"}.get(kind, kind.upper())


def _pipes(pen: Pen) -> str:
    """Spark's pipe syntax."""
    block = _star(pen)
    scope = block.scope()
    text = f"FROM {block.text}"
    for one in block.where:
        text += f" |> WHERE {one}"
    shape = pen.rng.randrange(6)
    if shape == 0:
        call, _ = aggregate(pen, scope)
        by = written(pen.rng, scope, *pen.rng.choice(scope.columns()))
        return f"{text} |> AGGREGATE {call} AS n GROUP BY {by}"
    if shape == 1:
        call, _ = aggregate(pen, scope)
        return f"{text} |> AGGREGATE {call} AS n"
    if shape == 2:
        return f"{text} |> EXTEND 1 AS one_ |> SELECT one_ , {_items(pen, scope, ())}"
    if shape == 3:
        return f"{text} |> ORDER BY ALL |> LIMIT 2" if pen.chance(0.3) else text
    return f"{text} |> SELECT {_items(pen, scope, ())}"


def subquery(pen: Pen, scope: Scope, kind: str) -> str:
    """A subquery with one column of the family (one row, too, where the shape asks for it)."""
    table = pen.rng.choice(pen.world.tables)
    block = Block(pen, Names(pen.rng, {one.alias.lower() for one in scope.sources}), scope)
    if pen.chance(0.15):
        block.names.used.clear()
    block.start(table)
    inner = block.scope()
    if pen.chance(0.5):
        block.where.append(keyed(pen, Scope(scope.sources), block.sources[0]))
    if pen.chance(0.6):
        block.where.append(selective(pen, inner, block.sources[0]))
    where = f" WHERE {' AND '.join(_guarded(block.where))}" if block.where else ""
    if kind == "exists":
        items, end = asked(pen)
        return f"SELECT {items} FROM {block.text}{where}{end}"
    column = value(pen, Scope(inner.sources), kind, 1)
    return f"SELECT {pen.one('max', 'min', 'MAX')}( {column} ) FROM {block.text}{where}"
