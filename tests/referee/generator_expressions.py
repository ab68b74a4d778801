"""Expressions and conditions over a scope, as text of Spark SQL.

Most are plain; calls, CASE, casts, structs, subqueries and what may raise an error come in with low
probability each. Each function takes a ``Pen`` and gives text with one blank a gap.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from sqlrewrite.copies import replace

from .generator_scope import Names, Scope, Source, family, written
from .generator_text import JOINT, dotted, kept, string
from .generator_world import Column, World, plain


@dataclass(frozen=True, slots=True)
class Pen:
    """What all that write share: the dice, the world, how a subquery is written (for the scope
    around it and the family of its column, or ``exists``), and the CTEs so far: name, query and
    columns."""

    rng: random.Random
    world: World
    subquery: Callable[[Scope, str], str]
    ctes: list[tuple[str, str, tuple[Column, ...]]]

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def one(self, *choices: str) -> str:
        return self.rng.choice(choices)


# --- values ---------------------------------------------------------------------------------------


def literal(pen: Pen, kind: str) -> str:
    """A constant of the family."""
    if kind == "number":
        likely = pen.one("1", "1", "1", "2", "2", "3")
        odd = pen.one("0", "-1", "1.5", "2L", "1S", "2Y", "3BD", "1e0", "2000", "1.00")
        return likely if pen.chance(0.88) else odd
    if kind == "string":
        return string(pen.rng) if pen.chance(0.12) else kept(plain(pen.rng, "STRING"))
    written = plain(pen.rng, kind.upper())
    return kept(written) if "'" in written else written


def value(pen: Pen, scope: Scope, kind: str, depth: int = 2) -> str:
    """An expression of the family."""
    columns = scope.columns(kind)
    if scope.outer is not None and pen.chance(0.1):
        outer = correlated(pen, scope, kind)
        if outer:
            return outer
    if columns and (depth <= 0 or pen.chance(0.72)):
        return written(pen.rng, scope, *pen.rng.choice(columns))
    if depth <= 0 or pen.chance(0.3):
        return literal(pen, kind)
    return _composed(pen, scope, kind, depth - 1)


def correlated(pen: Pen, scope: Scope, kind: str) -> str:
    """A reference to a column of the query around; empty if none can be written."""
    assert scope.outer is not None
    names = {one.name.lower() for _, one in scope.columns()}
    aliases = {source.alias.lower() for source in scope.sources} | names
    pairs = [pair for pair in scope.outer.columns(kind) if pair[0].alias.lower() not in aliases]
    if not pairs:
        return ""
    source, column = pen.rng.choice(pairs)
    bare = column.name.lower() not in names and scope.outer.named(column.name) == 1
    if (bare and pen.chance(0.4)) or not source.alias:
        return dotted(pen.rng, column.name) if bare else ""
    return dotted(pen.rng, source.alias, column.name)


def _composed(pen: Pen, scope: Scope, kind: str, depth: int) -> str:
    def of(wanted: str) -> str:
        return value(pen, scope, wanted, depth)

    if pen.chance(0.35):
        return _any_kind(pen, scope, kind, depth)
    if kind == "boolean":
        return f"( {condition(pen, scope, depth)} )"
    if kind == "number":
        return _number(pen, of)
    if kind == "string":
        return _string(pen, of)
    if kind == "date":
        return _date(pen, of)
    return f"CAST( {of('date')} AS TIMESTAMP )"


def _any_kind(pen: Pen, scope: Scope, kind: str, depth: int) -> str:
    """What is the same for all families."""
    a, b = value(pen, scope, kind, depth), value(pen, scope, kind, depth)
    when = condition(pen, scope, depth - 1)
    shape = pen.rng.randrange(12)
    if shape == 0:
        return f"CASE WHEN {when} THEN {a} ELSE {b} END"
    if shape == 1:
        return f"if( {when} , {a} , {b} )"
    if shape == 2:
        return f"nvl2( {b} , {a} , {literal(pen, kind)} )"
    if shape == 3:
        return f"named_struct( 'a' , {a} , 'b' , {b} ){JOINT}.{JOINT}a"
    if shape == 4:
        return f"array( {a} , {b} )[{JOINT}0{JOINT}]"
    if shape == 5 and kind != "boolean" and pen.chance(0.4):
        return f"( {pen.subquery(scope, kind)} )"
    if shape == 6:
        return f"element_at( map( 1 , {a} , 2 , {b} ) , 1 )"
    if shape == 7:
        return f"CASE {a} WHEN {b} THEN {a} END"
    call = pen.one("coalesce", "nvl", "ifnull", "nullif", "least", "greatest", "COALESCE")
    return f"{call}{JOINT}( {a} , {b} )"


def _number(pen: Pen, of: Callable[[str], str]) -> str:
    shape = pen.rng.randrange(16)
    a = of("number")
    if shape < 6:
        return f"( {a} {pen.one('+', '-', '*', '+')} {of('number')} )"
    if shape == 6:
        return f"( {a} {pen.one('/', '%', 'DIV')} {of('number')} )"
    if shape == 7:
        return f"{pen.one('abs', 'sign', 'bround', 'ceil')}( {a} )"
    if shape == 8:
        return f"{pen.one('length', 'char_length', 'ascii')}( {of('string')} )"
    if shape == 9:
        return f"{pen.one('year', 'month', 'day', 'dayofweek', 'quarter')}( {of('date')} )"
    if shape == 10:
        return f"{pen.one('TRY_CAST', 'try_cast', 'CAST')}( {of('string')} AS INT )"
    if shape == 11:
        return f"CAST( {a} AS {pen.one('INT', 'BIGINT', 'DECIMAL(10,2)', 'SMALLINT')} )"
    if shape == 12:
        return f"( {a} ){JOINT}::{JOINT}{pen.one('int', 'BIGINT', 'decimal(12,3)')}"
    if shape == 13:
        return f"datediff( {of('date')} , {of('date')} )"
    return f"( - {a} )" if shape == 14 else f"( {a} )"


def _string(pen: Pen, of: Callable[[str], str]) -> str:
    shape = pen.rng.randrange(9)
    a = of("string")
    if shape < 3:
        return f"{pen.one('upper', 'lower', 'trim', 'reverse', 'rtrim', 'initcap')}( {a} )"
    if shape == 3:
        return f"( {a} || {of('string')} )"
    if shape == 4:
        return f"concat( {a} , {of('string')} )"
    if shape == 5:
        return f"substr( {a} , {pen.one('1', '1 , 1', '-1')} )"
    if shape == 6:
        return f"CAST( {of('number')} AS STRING )"
    if shape == 7:
        return f"date_format( {of('date')} , 'yyyy-MM-dd' )"
    return f"substring( {a} FROM 1 FOR 1 )"


def _date(pen: Pen, of: Callable[[str], str]) -> str:
    shape = pen.rng.randrange(6)
    a = of("date")
    if shape < 2:
        return f"date_add( {a} , {pen.one('0', '1', '-1')} )"
    if shape == 2:
        return f"( {a} + INTERVAL {pen.one(kept(chr(39) + '1' + chr(39)), '1')} DAY )"
    if shape == 3:
        return f"to_date( {kept(pen.one(repr('2024-01-02'), repr('2024-01-03')))} )"
    if shape == 4:
        return f"CAST( {of('timestamp')} AS DATE )"
    return f"last_day( {a} )"


# --- conditions -----------------------------------------------------------------------------------


def condition(pen: Pen, scope: Scope, depth: int = 2) -> str:
    """Something true, false or NULL of a row."""
    if depth > 0 and pen.chance(0.25):
        return _connected(pen, scope, depth - 1)
    kinds = [kind for kind in scope.kinds() if kind != "struct"] or ["number"]
    kind = pen.rng.choice(kinds)
    if kind == "boolean" and pen.chance(0.3):
        return value(pen, scope, kind, 0)
    a = value(pen, scope, kind, depth)
    shape = pen.rng.randrange(24)
    if shape < 11:
        operator = pen.one("=", "=", "=", "<", ">", "<=", ">=", "<>", "!=", "==", "<=>")
        return f"{a} {operator} {value(pen, scope, kind, depth - 1)}"
    if shape < 14:
        items = " , ".join(literal(pen, kind) for _ in range(pen.rng.randint(1, 3)))
        return f"{a} {pen.one('IN', 'IN', 'in', 'NOT IN')} ( {items} )"
    if shape < 17:
        low, high = literal(pen, kind), literal(pen, kind)
        return f"{a} {pen.one('BETWEEN', 'between', 'NOT BETWEEN')} {low} AND {high}"
    if shape < 20:
        return f"{a} IS {pen.one('NULL', 'NOT NULL', 'NOT NULL')}"
    if shape == 20:
        return _text_matches(pen, scope)
    if shape == 21 and depth > 0:
        return f"{a} {pen.one('IN', 'IN', 'NOT IN')} ( {pen.subquery(scope, kind)} )"
    if shape == 22 and depth > 0:
        return f"{pen.one('EXISTS', 'NOT EXISTS')} ( {pen.subquery(scope, 'exists')} )"
    return f"{a} IS {pen.one('NOT DISTINCT', 'DISTINCT')} FROM {literal(pen, kind)}"


def _connected(pen: Pen, scope: Scope, depth: int) -> str:
    a, b = condition(pen, scope, depth), condition(pen, scope, depth)
    shape = pen.rng.randrange(6)
    if shape < 2:
        return f"{a} AND {b}"
    if shape < 4:
        return f"( {a} OR {b} )"
    if shape == 4:
        return f"{pen.one('NOT', '!')} ( {a} )"
    return f"( {a} AND {b} )"


def _text_matches(pen: Pen, scope: Scope) -> str:
    a = value(pen, scope, "string", 0)
    how = pen.one(
        "LIKE 'a%'", "RLIKE '[a-z]'", "NOT LIKE '_'", "LIKE ANY ( 'a' , '0%' )", "ILIKE 'A'"
    )
    return f"{a} {how}"


def stored(pen: Pen, column: Column) -> str:
    """A constant to hold against the column: most often one that it has."""
    table, _, name = column.origin.partition(".")
    tables = [one for one in pen.world.tables if one.name == table]
    kind = family(column.type)
    if pen.chance(0.03):  # of another type, which Spark casts, or to which it casts the column
        return kept(pen.one(*OTHERS.get(kind, ("NULL",))))
    if not tables or pen.chance(0.25):
        return literal(pen, kind)
    values = tables[0].values(name) or (literal(pen, kind),)
    return kept(max(values, key=values.count) if pen.chance(0.6) else pen.rng.choice(values))


BOUNDS = (*("<=", ">=") * 5, "<", ">", "<>")


def selective(pen: Pen, scope: Scope, source: Source) -> str:
    """A filter of one relation that an author would write: a column against constants."""
    columns = [one for one in source.columns if family(one.type) in ("number", "string", "date")]
    if not columns:
        return condition(pen, scope, 1)
    column: Column = pen.rng.choice(columns)
    kind = family(column.type)
    a = written(pen.rng, scope, source, column)
    shape = pen.rng.randrange(14)
    if shape < 4:
        b = stored(pen, column)
        return f"{a} = {b}" if pen.chance(0.8) else f"{b} = {a}"
    if shape in (4, 5):
        return f"{a} IN ( {stored(pen, column)} , {stored(pen, column)} )"
    if shape == 6:
        low, high = sorted((stored(pen, column), stored(pen, column)))
        return f"{a} BETWEEN {low} AND {high}"
    if shape == 7 or shape > 9:
        return f"{a} {pen.one(*BOUNDS)} {stored(pen, column)}"
    if shape == 8:
        only = replace(scope, sources=(source,), beside=scope.sources)
        return f"{value(pen, only, kind, 2)} = {stored(pen, column)}"
    return f"( {a} = {stored(pen, column)} OR {selective(pen, scope, source)} )"


# --- aggregates -----------------------------------------------------------------------------------


def aggregate(pen: Pen, scope: Scope) -> tuple[str, str]:
    """An aggregate whose value does not depend on the order of rows, and its family."""
    kinds = [kind for kind in scope.kinds() if kind not in ("struct", "boolean")] or ["number"]
    kind = pen.rng.choice(kinds)
    a = value(pen, scope, kind, 1)
    number = f"CAST( {value(pen, scope, 'number', 1)} AS DECIMAL(12,3) )"
    if pen.chance(0.5) and scope.columns("number"):
        number = written(pen.rng, scope, *pen.rng.choice(scope.columns("number")))
    when = condition(pen, scope, 0)
    shapes = (
        *(("count( * )", "number"), (f"count( {a} )", "number"), ("count( 1 )", "number")),
        *((f"sum( {number} )", "number"), (f"min( {a} )", kind), (f"max( {a} )", kind)),
        *((f"count( DISTINCT {a} )", "number"), (f"COUNT( DISTINCT {a} , {number} )", "number")),
        *((f"any( {when} )", "boolean"), (f"every( {when} )", "boolean")),
        *((f"bool_or( {when} )", "boolean"), (f"count_if( {when} )", "number")),
        *((f"max_by( {a} , {a} )", kind), (f"some( {when} )", "boolean")),
        (f"sum( {number} ) FILTER{JOINT}( WHERE {when} )", "number"),
        (f"count( * ) FILTER ( WHERE {when} )", "number"),
        (f"array_join( sort_array( collect_set( CAST( {a} AS STRING ) ) ) , ',' )", "string"),
        (f"array_size( collect_list( {a} ) )", "number"),
        (f"approx_count_distinct( {a} )", "number"),
        (f"avg( CAST( {number} AS INT ) ) = 1", "boolean"),
    )
    if pen.chance(0.6):
        return pen.rng.choice(shapes[:6])
    return pen.rng.choice(shapes)


def asked(pen: Pen) -> tuple[str, str]:
    """What EXISTS selects, and what stands behind its WHERE: it is true of each row, and a global
    aggregate gives one from nothing."""
    if pen.chance(0.75):
        return pen.one("1", "*", "NULL"), ""
    call = pen.one(*AGGREGATES)
    end = pen.one(
        "", "", " GROUP BY ALL", " GROUP BY GROUPING SETS ( ( ) )", " HAVING true", " LIMIT 1"
    )
    return call, end


AGGREGATES = (
    *("count( * )", "max( 1 )", "sum( sum( 1 ) ) OVER ( )", "sum( count( * ) ) OVER ( )"),
    *("some( true )", "any( false )", "every( true )", "bool_or( false )", "bool_and( true )"),
    *("count_if( true )", "max_by( 1 , 2 )", "min_by( 1 , 2 )", "listagg( 'a' )", "mode( 1 )"),
    *("histogram_numeric( 1 , 2 )", "any_value( 1 )", "collect_list( 1 )", "bit_and( 1 )"),
    *("string_agg( 'a' )", "percentile( 1 , 0.5 )", "approx_percentile( 1 , 0.5 )", "first( 1 )"),
    *("regr_count( 1 , 1 )", "try_sum( 1 )", "kurtosis( 1 )", "count( * ) FILTER ( WHERE false )"),
)
OTHERS = {
    "number": ("'1'", "'01'", "' 1'", "1.0", "1e0", "'a'", "TRUE"),
    "string": ("1", "01", "1.0", "DATE'2024-01-01'"),
    "date": ("'2024-01-02'", "'2024-1-2'", "TIMESTAMP'2024-01-02 00:00:00'", "'2024'"),
}
"""Constants of other types that a column of the family may be held against."""


def names_for(rng: random.Random, outer: Names | None) -> Names:
    """Names for a block; most do not shadow those around it."""
    used = set(outer.used) if outer is not None and rng.random() < 0.85 else set()
    return Names(rng, used)
