"""What stands in FROM: tables, derived tables, CTEs and other relations, joined in every spelling.

A ``Block`` collects one SELECT's relations and the conditions that its WHERE has to hold. Joins of
a fact to a dimension on their keys dominate: that is what the rewriter is for.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlrewrite.copies import replace

from .generator_expressions import Pen, aggregate, asked, condition, literal, selective, value
from .generator_rare import rare, star_of_a_join
from .generator_scope import Names, Scope, Source, alike, family, written
from .generator_text import JOINT, name
from .generator_world import Column, Table


@dataclass(slots=True)
class Block:
    """The relations of one SELECT: their text, what can be named, and conditions for its WHERE.
    ``filtered`` are those that the ON of their join filters."""

    pen: Pen
    names: Names
    outer: Scope | None = None
    text: str = ""
    sources: list[Source] = field(default_factory=list)
    merged: set[str] = field(default_factory=set)
    where: list[str] = field(default_factory=list)
    since_comma: int = 0
    filtered: set[str] = field(default_factory=set)

    def scope(self) -> Scope:
        return Scope(tuple(self.sources), frozenset(self.merged), self.outer)

    def start(self, table: Table) -> None:
        self.text, source = relation(self, table)
        self.sources.append(source)

    def join(self, table: Table) -> None:
        """Adds the table in one spelling of a join."""
        pen = self.pen
        text, source = relation(self, table)
        shape = pen.rng.random()
        if shape < 0.16:
            return self._comma(text, source)
        if 0.16 <= shape < 0.27 and self._using(text, source):
            return None
        if 0.27 <= shape < 0.31 and self._natural(text, source):
            return None
        if 0.31 <= shape < 0.38:
            return self._semi(text, source)
        return self._on(text, source)

    def _comma(self, text: str, source: Source) -> None:
        cross = self.pen.chance(0.3)
        self.text += f" CROSS JOIN {text}" if cross else f" , {text}"
        keys = keyed(self.pen, replace(self.scope(), bare=False), source)
        if not cross:
            self.since_comma = len(self.sources)
        self.sources.append(source)
        self.where.append(keys)

    def _on(self, text: str, source: Source) -> None:
        pen = self.pen
        first = self._left()
        how = pen.one(*("JOIN",) * 9, *("INNER JOIN", "join") * 3, *OUTER, *OUTER)
        on = [keyed(pen, first, source)]
        both = joined(first, source)
        while pen.chance(0.5 if how in OUTER else 0.15):
            on.append(selective(pen, both, pen.rng.choice((source, source, *first.visible()))))
            self.filtered.add(source.alias)
        if pen.chance(0.05):
            on.append(condition(pen, both, 1))
        pen.rng.shuffle(on)
        word = f"{how} LATERAL" if text.startswith("( SELECT") and pen.chance(0.02) else how
        if "LATERAL" in word and "RIGHT" in word + "FULL":
            word = how
        self.text += f" {word} {text} ON {' AND '.join(on)}"
        self.sources.append(source)

    def _using(self, text: str, source: Source) -> bool:
        changed = self.scope()
        if self.since_comma:
            changed = replace(self._left(), beside=())
        common = [one for one in alike(changed, source) if changed.named(one) == 1]
        keys = [one for one in common if one in ("p", "k")] or common
        if not keys:
            return False
        chosen = self.pen.rng.choice(keys)
        how = self.pen.one(*("JOIN",) * 4, *OUTER, "LEFT SEMI JOIN", "LEFT ANTI JOIN")
        self.text += f" {how} {text} USING{JOINT}( {name(self.pen.rng, chosen)} )"
        hidden = "SEMI" in how or "ANTI" in how
        once = self.scope().named(chosen) <= 1
        self.merged |= {chosen.lower()} if once and not hidden else set()
        self.sources.append(replace(source, hidden=hidden))
        return True

    def _natural(self, text: str, source: Source) -> bool:
        changed = replace(self._left(), beside=())
        common = [one.name for one in source.columns if changed.named(one.name)]
        if (
            not common
            or common != alike(changed, source)
            or any(changed.named(one) > 1 for one in common)
        ):
            return False
        how = self.pen.one(*("JOIN",) * 3, "LEFT JOIN", "INNER JOIN", "RIGHT OUTER JOIN")
        self.text += f" NATURAL {how} {text}"
        self.merged |= {one.lower() for one in common}
        self.sources.append(source)
        return True

    def _left(self) -> Scope:
        """What the condition of the next join can name beside its own relation: behind a comma, and
        unless a setting binds JOIN more tightly, also what is before it."""
        wide = self.since_comma and not tight(self.pen) and self.pen.chance(0.4)
        sources = tuple(self.sources[0 if wide else self.since_comma :])
        return Scope(sources, frozenset(self.merged), self.outer, tuple(self.sources))

    def _semi(self, text: str, source: Source) -> None:
        """A semi-join or an anti-join, as a join or as a subquery."""
        pen = self.pen
        changed = replace(self._left(), bare=False)
        keys = keyed(pen, changed, source)
        inner = selective(pen, Scope((source,), bare=False), source)
        shape = pen.rng.randrange(4)
        if shape == 0:
            self.text += f" {pen.one('LEFT SEMI', 'SEMI', 'LEFT ANTI', 'ANTI')} JOIN {text}"
            self.text += f" ON {keys} AND {inner}"
            self.sources.append(replace(source, hidden=True))
        elif shape == 1:
            word = pen.one("EXISTS", "EXISTS", "NOT EXISTS", "exists")
            items, end = asked(pen)
            self.where.append(
                f"{word} ( SELECT {items} FROM {text} WHERE {keys} AND {inner}{end} )"
            )
        else:
            columns = [one for one in source.columns if one.name in ("k", "p", "item", "shop")]
            column = pen.rng.choice(columns or source.columns)
            own = value(pen, changed, family(column.type), 0)
            matching = [
                one for one in changed.columns() if (one[1].origin, column.origin) in paired(pen)
            ]
            if matching:
                own = written(pen.rng, changed, *pen.rng.choice(matching))
            inside = written(pen.rng, Scope((source,)), source, column)
            around = [one.name for _, one in changed.columns() if changed.named(one.name) == 1]
            if pen.chance(0.1) and around:
                inside = pen.rng.choice(around)  # the query's own, where the relation lacks it
            word = pen.one("IN", "IN", "IN", "in", "NOT IN")
            self.where.append(f"{own} {word} ( SELECT {inside} FROM {text} WHERE {inner} )")


OUTER = tuple(f"{one} JOIN" for one in ("LEFT", "LEFT OUTER", "RIGHT", "RIGHT OUTER", "FULL OUTER"))


def tight(pen: Pen) -> bool:
    """Whether a JOIN binds more tightly than a comma."""
    settings = dict(pen.world.settings)
    keys = ("spark.sql.ansi.enabled", "spark.sql.ansi.relationPrecedence")
    return all(settings[key] == "true" for key in keys)


def paired(pen: Pen) -> set[tuple[str, str]]:
    """The pairs of columns that are made to be joined, both ways."""
    pairs = {(f"{a}.{x}", f"{b}.{y}") for a, x, b, y in pen.world.joins}
    return pairs | {(b, a) for a, b in pairs} | {("sales.item", "items.item")}


def comparable(one: Column, other: Column) -> bool:
    """Whether a comparison is likely to be accepted: types of one family, or in a mixed world."""
    kinds = {family(one.type), family(other.type)}
    return len(kinds) == 1 or kinds <= {"date", "timestamp"} or "string" in kinds


def joined(left: Scope, source: Source) -> Scope:
    """The scope of a condition over the left side and the source."""
    return replace(left, sources=(*left.sources, source))


def keyed(pen: Pen, left: Scope, source: Source) -> str:
    """The condition that joins the source to what stands before it."""
    right = Scope((source,), beside=left.sources, bare=left.bare)
    both = joined(left, source)
    pairs = paired(pen)
    columns = [
        (pair, one)
        for pair in left.columns()
        for one in source.columns
        if (pair[1].origin, one.origin) in pairs and comparable(pair[1], one)
    ]
    if not columns:
        return condition(pen, both, 1)
    partitioned = [pair for pair in columns if pair[0][1].name != "item"]
    (before, column), one = pen.rng.choice(
        partitioned if pen.chance(0.9) and partitioned else columns
    )
    a, b = written(pen.rng, both, before, column), written(pen.rng, both, source, one)
    shape = pen.rng.random()
    if shape < 0.18:
        kinds = family(column.type), family(one.type)
        if pen.chance(0.5):
            a, b = _computed(pen, both, a, b, *kinds)
        else:
            b, a = _computed(pen, both, b, a, *reversed(kinds))
    elif shape < 0.20:
        return f"{a} BETWEEN {b} AND {value(pen, right, family(one.type), 1)}"
    elif shape < 0.22:
        return f"{a} {pen.one('<', '>=', '<=')} {b}"
    elif shape < 0.25:
        c = value(pen, both, family(column.type), 0)
        return f"( {a} = {b} OR {a} = {c} AND {selective(pen, right, source)} )"
    equals = pen.one(*("=",) * 30, "==", "==", "<=>")
    if pen.chance(0.3):
        a, b = b, a
    found_text = f"{a} {equals} {b}"
    return f"( {found_text} )" if pen.chance(0.06) else found_text


def _computed(pen: Pen, both: Scope, a: str, b: str, left: str, right: str) -> tuple[str, str]:
    """Keys that are expressions."""
    shape = pen.rng.randrange(9)
    if shape == 0 and left == right == "number":
        return f"{a} + 1", f"{b} + 1" if pen.chance(0.5) else b
    if shape in (1, 6, 7):
        call = pen.one("coalesce", "coalesce", "nvl", "ifnull", "greatest", "least")
        return a, f"{call}( {b} , {literal(pen, right)} )"
    if shape == 8:
        return a, f"if( {condition(pen, both, 0)} , {b} , {literal(pen, right)} )"
    if shape == 2:
        kind = pen.one("STRING", "INT", "BIGINT") if left == right == "number" else "STRING"
        return f"CAST( {a} AS {kind} )", f"CAST( {b} AS {kind} )"
    if shape == 3 and right == "string":
        return a, f"{pen.one('trim', 'upper', 'lower')}( {b} )"
    if shape == 4:
        return a, f"CASE WHEN {condition(pen, both, 0)} THEN {b} END"
    return a, value(pen, both, right, 2)


# --- one relation ---------------------------------------------------------------------------------


def relation(block: Block, table: Table) -> tuple[str, Source]:
    """A table as it may stand in FROM, and what it offers there."""
    pen = block.pen
    if pen.chance(0.05):
        return _aliased(block, *rare(pen, table))
    if pen.chance(0.03):
        return _aliased(block, *star_of_a_join(pen, table), listed=True)
    shape = pen.rng.random()
    if shape < 0.62:
        return _table(block, table)
    if shape < 0.82:
        query, columns = derived(pen, table)
        return _aliased(block, f"( {query} )", columns, must=pen.chance(0.9))
    if shape < 0.96:
        return _cte(block, table)
    if shape < 0.97:
        return _aliased(block, f"{table.name} TABLESAMPLE{JOINT}( 100 PERCENT )", table.columns)
    if shape < 0.98:
        return _aliased(block, f"( {name(pen.rng, table.name)} )", table.columns)
    if shape < 0.983:
        return _aliased(block, f"( TABLE {name(pen.rng, table.name)} )", table.columns)
    if shape < 0.996:
        return _aliased(block, f"IDENTIFIER{JOINT}( '{table.name}' )", table.columns)
    return _aliased(block, f"( FROM {table.name} |> WHERE true )", table.columns)


def _table(block: Block, table: Table) -> tuple[str, Source]:
    pen = block.pen
    text = name(pen.rng, table.name)
    if pen.world.files and pen.chance(0.1):
        text = f"{pen.one('spark_catalog . ', '')}{pen.world.database} . {text}"
    if table.name not in block.names.used and pen.chance(0.4):
        block.names.used.add(table.name)
        return text, Source(table.name, table.columns)
    return _aliased(block, text, table.columns)


def _aliased(
    block: Block, text: str, of: tuple[Column, ...], *, must: bool = True, listed: bool = False
) -> tuple[str, Source]:
    """The text with an alias, at times with one for each column."""
    pen = block.pen
    if not must:
        return text, Source("", of)
    alias = block.names.alias()
    word = pen.one("AS ", "", "as ")
    if alias.lower() in ("window", "set", "filter", "rows", "row"):
        word = "AS "
    shown = f"{text} {word}{name(pen.rng, alias)}"
    if listed or pen.chance(0.03):
        of = tuple(replace(one, name=f"c{at}") for at, one in enumerate(of))
        shown += f"{JOINT}( {' , '.join(one.name for one in of)} )"
    return shown, Source(alias, of)


def _cte(block: Block, table: Table) -> tuple[str, Source]:
    """A reference to a CTE over the table: a new one, or one that is there already."""
    pen = block.pen
    there = [one for one in pen.ctes if one[2] and one[2][0].origin.startswith(f"{table.name}.")]
    if there and pen.chance(0.7):
        cte, _, columns = pen.rng.choice(there)
    else:
        query, columns = derived(pen, table)
        cte = f"{pen.one('cte', 'w', 'base')}{len(pen.ctes) + 1}"
        if pen.chance(0.04) and all(one[0] != table.name for one in pen.ctes):
            cte = table.name
        pen.ctes.append((cte, query, columns))
    text = name(pen.rng, cte)
    if pen.chance(0.05):
        text = pen.one(
            f"IDENTIFIER( '{cte}' )", f"( TABLE {cte} )", f"IDENTIFIER( 'c' || '{cte}' )"
        )
        text = text.replace("'c' || ", "'' || ")
    return _aliased(block, text, columns)


def derived(pen: Pen, table: Table) -> tuple[str, tuple[Column, ...]]:
    """A query over the table alone, with its columns, some renamed or computed."""
    source = Source(table.name, table.columns)
    scope = Scope((source,))
    where = f" WHERE {selective(pen, scope, source)}" if pen.chance(0.2) else ""
    shape = pen.rng.random()
    if shape < 0.25:
        return f"SELECT * FROM {table.name}{where}", table.columns
    if shape < 0.37:
        return _aggregated(pen, scope, table, where)
    if shape < 0.43:
        columns = table.columns
        listed = " , ".join(one.name for one in columns)
        both = f" {pen.one(*SET_OPERATIONS)} SELECT {listed} FROM {table.name}"
        return f"SELECT {listed} FROM {table.name}{where}{both}", columns
    items, columns_ = [], []
    for one in table.columns:
        if pen.chance(0.12):
            continue
        if pen.chance(0.15):
            new = replace(one, name=f"{one.name}_{pen.one('1', 'x')}")
            items.append(f"{one.name} {pen.one('AS ', '')}{new.name}")
        elif pen.chance(0.06):
            new = replace(one, origin=one.origin)
            expression = value(pen, scope, family(one.type), 2)
            items.append(f"{expression} AS {one.name}")
        else:
            new = one
            items.append(written(pen.rng, scope, source, one))
        columns_.append(new)
    if not columns_:
        return f"SELECT * FROM {table.name}{where}", table.columns
    return _finished(pen, scope, table, items, columns_, where)


def _aggregated(pen: Pen, scope: Scope, table: Table, where: str) -> tuple[str, tuple[Column, ...]]:
    """The table with an aggregate: grouped by its key, by nothing, or with subtotals."""
    source = scope.sources[0]
    key = pen.rng.choice([one for one in table.columns if one.name in ("p", "q", "k", "item")])
    by = written(pen.rng, scope, source, key)
    call, kind = aggregate(pen, scope)
    types = {"number": "DECIMAL(12,3)"}
    extra = Column("m_", types.get(kind, kind.upper()))
    if pen.chance(0.15):
        call, extra = "sum( sum( 1 ) ) OVER ( )", Column("m_", "BIGINT")
    shape = pen.rng.random()
    if shape < 0.4:
        end = pen.one("", " GROUP BY ALL", " GROUP BY GROUPING SETS ( ( ) )")
        item = f"max( {by} ) AS {key.name}"
    else:
        item = f"{by} AS {key.name}"
        end = f" GROUP BY {pen.one(by, by, by, 'ALL', f'ROLLUP( {by} )', f'{by} WITH CUBE')}"
        if pen.chance(0.1):
            end = f" GROUP BY GROUPING SETS ( ( {by} ) , ( ) )"
    if pen.chance(0.15):
        end += " HAVING count( * ) >= 0"
    return f"SELECT {item} , {call} AS m_ FROM {table.name}{where}{end}", (key, extra)


SET_OPERATIONS = (
    *("UNION ALL", "UNION ALL", "UNION", "EXCEPT", "INTERSECT", "MINUS ALL", "UNION DISTINCT"),
)


def _finished(
    pen: Pen, scope: Scope, table: Table, items: list[str], columns: list[Column], where: str
) -> tuple[str, tuple[Column, ...]]:
    """The derived table's SELECT, with what may stand at its end."""
    shape = pen.rng.random()
    begin, end = "SELECT", ""
    if shape < 0.1:
        begin = "SELECT DISTINCT"
    elif shape < 0.2:
        end = f" GROUP BY {pen.one('ALL', ' , '.join(str(at + 1) for at in range(len(items))))}"
    elif shape < 0.28:
        end = f" ORDER BY ALL LIMIT {pen.one('1', '3', '100')}"
    elif shape < 0.40:
        by = written(pen.rng, scope, *pen.rng.choice(scope.columns()))
        call = pen.one("count( * )", "max( 1 )", "sum( 1 )")
        items.append(f"{call} OVER{JOINT}( PARTITION BY {by} ) AS n_")
        columns.append(Column("n_", "BIGINT"))
    elif shape < 0.44:
        source, column = pen.rng.choice(scope.columns())
        by = written(pen.rng, scope, source, column)
        query = f"SELECT {by} AS g_ , count( * ) AS n_ FROM {table.name}{where} GROUP BY {by}"
        return query, (replace(column, name="g_"), Column("n_", "BIGINT"))
    return f"{begin} {' , '.join(items)} FROM {table.name}{where}{end}", tuple(columns)
