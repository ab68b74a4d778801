"""What stands in FROM: facts and dimensions, bare or under derived tables, CTEs and set operations.

In: a ``random.Random``. Out: ``Source`` values whose ``keys`` follow the partition column upwards
as far as a join may be tempted to use it, also where pushing a predicate below would be wrong.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from .schema import (
    DIMENSION_VIEWS,
    DIMENSIONS,
    FACTS,
    STARS,
    Column,
    Table,
    random_literal,
)

JOINABLE = ("int", "date", "str")
"""The families that facts and dimensions have keys of."""

NAMES = ("id", "qty", "dk", "day", "grp", "yr", "k", "v", "w", "x", "p", "city", "n")


@dataclass(frozen=True, slots=True)
class Options:
    """What the generator may write; ``ties`` lets an inner LIMIT depend on the engine's mood."""

    ties: bool = False


DEFAULT = Options()
"""Only queries that have one answer."""


@dataclass(frozen=True, slots=True)
class Source:
    """A FROM item with its alias; ``keys`` are the columns that a join should use."""

    text: str
    alias: str
    columns: tuple[Column, ...]
    keys: tuple[Column, ...]
    fact: bool = False

    def ref(self, column: Column) -> str:
        """The column by its qualified name; a USING column has no qualifier."""
        return f"{self.alias}.{column.name}" if self.alias else column.name


@dataclass(frozen=True, slots=True)
class Select:
    """A query expression and what it gives."""

    text: str
    columns: tuple[Column, ...]
    keys: tuple[Column, ...] = ()


@dataclass(slots=True)
class Writer:
    """The state while one query is written: its dice, the names taken, the CTEs so far, and the
    shapes it has, for the statistics.

    A ``tame`` query leans to plain filters and inner joins, so that enough of all are rewritten.
    """

    rng: random.Random
    options: Options = DEFAULT
    tame: bool = False
    ctes: list[tuple[str, str]] = field(default_factory=list)
    shared: list[tuple[str, Select, bool]] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    shapes: set[str] = field(default_factory=set)
    serial: int = 0

    def chance(self, share: float) -> bool:
        """True with that probability."""
        return self.rng.random() < share

    def pick(self, **weights: float) -> str:
        """One of the names, by weight."""
        return self.rng.choices(list(weights), list(weights.values()))[0]

    def fresh(self, stem: str) -> str:
        """An alias that nothing else in the query has."""
        self.serial += 1
        return f"{stem}{self.serial}"

    def literal(self, column: Column) -> str:
        """A value that the column may well have."""
        return random_literal(self.rng, column.family)

    def parens(self, text: str) -> str:
        """The condition, at times in parentheses that it does not need."""
        return f"({text})" if self.chance(0.12) else text

    def equal(self, left: str, right: str) -> str:
        """An equality, either side first, at times null-safe."""
        if self.chance(0.5):
            left, right = right, left
        sign = "<=>" if self.chance(0.03 if self.tame else 0.1) else "="
        return self.parens(f"{left} {sign} {right}")

    # --- conditions -------------------------------------------------------------------------

    def predicate(self, ref: str, column: Column) -> str:
        """A comparison on one column; some do not reject NULL."""
        value, family, odd = self.literal(column), column.family, 0.3 if self.tame else 1.0
        if family == "bool":
            return self.rng.choice((ref, f"NOT {ref}", f"{ref} = TRUE", f"{ref} IS NULL"))
        if family == "str" and self.chance(0.15):
            return f"{ref} LIKE '{value[1]}%'"
        kind = self.pick(
            eq=26,
            many=20,
            less=20,
            between=8,
            ne=5 * odd,
            no=5 * odd,
            fill=6 * odd,
            null=4 * odd,
            full=4 * odd,
            safe=2 * odd,
        )
        match kind:
            case "eq":
                return f"{ref} = {value}" if self.chance(0.8) else f"{value} = {ref}"
            case "many":
                return f"{ref} IN ({value}, {self.literal(column)}, {self.literal(column)})"
            case "less":
                return f"{ref} {self.rng.choice(('<', '<=', '>', '>='))} {value}"
            case "between":
                low, high = sorted((value, self.literal(column)))
                return f"{ref} BETWEEN {low} AND {high}"
            case "ne":
                return f"{ref} <> {value}"
            case "fill":
                return f"COALESCE({ref}, {value}) = {value}"
            case "null":
                return f"{ref} IS NULL"
            case "full":
                return f"{ref} IS NOT NULL"
            case "no":
                return f"NOT ({ref} = {value})"
            case _:
                return f"{ref} <=> {value}"

    def condition(self, source: Source) -> str:
        """A condition on one relation: what a WHERE clause says of a dimension."""

        def one() -> str:
            column = self.rng.choice(source.columns)
            return self.predicate(source.ref(column), column)

        match self.pick(one=78, either=11, both=3, scalar=4, member=4):
            case "either":
                return f"({one()} OR {one()})"
            case "both":
                return f"({one()} AND {one()})"
            case "scalar" | "member" as kind:
                column = self.rng.choice(source.columns)
                return self._uncorrelated(kind, source.ref(column), column)
            case _:
                return self.parens(one())

    def _uncorrelated(self, kind: str, ref: str, column: Column) -> str:
        other = self.base(self.rng.choice(DIMENSIONS), local=True)
        matching = [c for c in other.columns if c.family == column.family]
        if not matching or column.family == "bool":
            return self.predicate(ref, column)
        inner = other.ref(self.rng.choice(matching))
        where = f" WHERE {self.condition(other)}" if self.chance(0.6) else ""
        if kind == "scalar":
            agg = self.rng.choice(("MIN", "MAX"))
            sign = self.rng.choice(("=", ">=", "<"))
            return f"{ref} {sign} (SELECT {agg}({inner}) FROM {other.text}{where})"
        return f"{ref} IN (SELECT {inner} FROM {other.text}{where})"

    # --- base tables ------------------------------------------------------------------------

    def base(self, table: Table, local: bool = False) -> Source:
        """A table under an alias, under its own name, or qualified with its namespace."""
        keys = tuple(c for c in table.columns if c.name in table.keys) or table.columns
        name, fact = table.name, table in STARS
        if table.name not in self.used and self.chance(0.2):
            self.used.add(name)
            return Source(name, name, table.columns, keys, fact)
        # In a block of its own a relation may have an alias that means another one outside.
        alias = self.rng.choice(("t", "f1", "d2", "d1")) if local else self.fresh("fd"[not fact])
        if self.chance(0.06):
            name = self.rng.choice(("default.", "spark_catalog.default.")) + name
        text = f"{name} {'AS ' if self.chance(0.8) else ''}{alias}"
        # Alone in its block, it need not qualify its columns.
        qualifier = "" if local and self.chance(0.3) else alias
        return Source(text, qualifier, table.columns, keys, fact)

    def join_family(self, columns: Sequence[Column]) -> str:
        """The family of one of the columns that a dimension has a key for."""
        fitting = [c.family for c in columns if c.family in JOINABLE]
        return self.rng.choice(fitting) if fitting else "int"

    def dimension(self, family: str, depth: int = 2) -> Source:
        """A dimension with a key of that family, bare or derived."""
        pool = (*DIMENSIONS, *DIMENSIONS, *DIMENSION_VIEWS)
        fitting = [t for t in pool if _family(t.columns, family)]
        known = [s for s in self.shared if not s[2] and _family(s[1].columns, family)]
        kind = self.pick(base=68, derived=18 if depth else 0, cte=8, known=6 if known else 0)
        if kind == "known":
            name, select, _ = self.rng.choice(known)
            return self.reference(name, select, False, family)
        source = self.base(self.rng.choice(fitting), local=kind != "base")
        if kind == "base":
            return _keyed(source, family)
        select = self.dimension_select(source)
        if not _family(select.columns, family):
            select = Select(f"SELECT * FROM {source.text}", source.columns)
        return self.named(select, kind, False, family)

    def dimension_select(self, source: Source) -> Select:
        """A dimension under its own filter, aggregate, DISTINCT, or LIMIT."""
        where = f" WHERE {self.condition(source)}" if self.chance(0.8) else ""
        picked = self.rng.sample(source.columns, self.rng.randint(2, min(4, len(source.columns))))
        listed = ", ".join(source.ref(c) for c in picked)
        columns = tuple(picked)
        match self.pick(plain=45, group=18, distinct=12, limit=15, star=10):
            case "group":
                key, other = picked[0], picked[1]
                by = source.ref(key)
                items = f"{by} AS {key.name}, MAX({source.ref(other)}) AS {other.name}"
                text = f"SELECT {items}, COUNT(*) AS n FROM {source.text}{where} GROUP BY {by}"
                return Select(text, (key, other, Column("n", "int")))
            case "distinct":
                return Select(f"SELECT DISTINCT {listed} FROM {source.text}{where}", columns)
            case "limit":
                order = self.total_order(listed)
                rows = self.rng.randint(1, 5)
                return Select(
                    f"SELECT {listed} FROM {source.text}{where} ORDER BY {order} LIMIT {rows}",
                    columns,
                )
            case "star":
                return Select(f"SELECT * FROM {source.text}{where}", source.columns)
            case _:
                return Select(f"SELECT {listed} FROM {source.text}{where}", columns)

    def total_order(self, listed: str) -> str:
        """All the columns given: rows that tie are equal. With ``ties``, only the first."""
        return listed.split(", ")[0] if self.options.ties else listed

    # --- naming a query expression ----------------------------------------------------------

    def named(self, select: Select, kind: str, fact: bool, family: str | None = None) -> Source:
        """A query expression in FROM: as a derived table, or as a CTE for later references too."""
        if kind == "cte":
            name = self.cte(select, fact)
            return self.reference(name, select, fact, family)
        alias = self.fresh("q")
        text, columns, keys = select.text, select.columns, select.keys
        if self.chance(0.08):
            text = f"WITH c AS ({text}) SELECT * FROM c"
        names = ""
        if self.chance(0.1):
            fresh = {c.name: Column(f"r{i}", c.type) for i, c in enumerate(columns)}
            columns, keys = tuple(fresh.values()), tuple(fresh[k.name] for k in keys)
            names = f"({', '.join(c.name for c in columns)})"
        source = Source(f"({text}) AS {alias}{names}", alias, columns, keys or columns, fact)
        return _keyed(source, family) if family else source

    def exactly(self, select: Select, kind: str, fact: bool) -> Source:
        """A query expression in FROM whose columns keep their names."""
        if kind == "cte":
            return self.reference(self.cte(select, fact), select, fact)
        alias = self.fresh("q")
        keys = select.keys or select.columns
        return Source(f"({select.text}) AS {alias}", alias, select.columns, keys, fact)

    def wrapped(self, source: Source) -> Source:
        """The relation in a derived table or a CTE, all its columns under their names."""
        where = f" WHERE {self.condition(source)}" if self.chance(0.2) else ""
        select = Select(f"SELECT * FROM {source.text}{where}", source.columns, source.keys)
        return self.exactly(select, self.pick(derived=60, cte=40), source.fact)

    def cte(self, select: Select, fact: bool) -> str:
        """Puts a query into WITH; at times under the name of a table, which it then shadows."""
        name = self.fresh("c")
        shadowed = [t for t in (*FACTS, *DIMENSIONS) if t.columns == select.columns]
        if shadowed and self.chance(0.5) and shadowed[0].name not in dict(self.ctes):
            name = shadowed[0].name
        self.ctes.append((name, select.text))
        self.shared.append((name, select, fact))
        return name

    def reference(self, name: str, select: Select, fact: bool, family: str | None = None) -> Source:
        """One use of a CTE."""
        alias = self.fresh("u")
        source = Source(
            f"{name} AS {alias}", alias, select.columns, select.keys or select.columns, fact
        )
        return _keyed(source, family) if family else source

    def renamed(self, columns: Sequence[Column]) -> list[Column]:
        """New names for them, at times each other's: a trap for whoever matches by name."""
        if self.chance(0.4):
            return list(columns)
        names = self.rng.sample(NAMES, len(columns))
        return [Column(n, c.type) for n, c in zip(names, columns, strict=True)]


def _family(columns: Sequence[Column], family: str) -> bool:
    return any(c.family == family for c in columns)


def _keyed(source: Source, family: str) -> Source:
    keys = tuple(c for c in source.columns if c.family == family) or source.columns
    return Source(source.text, source.alias, source.columns, keys, source.fact)
