"""A random star schema: types of keys, rows, and how Spark and the rewriter are told of them.

In: a random number generator. Out: a ``World``. Its tables have column names in common, so that
NATURAL, USING and names that could be the outer query's all occur. A table is a view of
VALUES, which Spark keeps in one partition and reads without a file; in the catalog of the
rewriter it is a partitioned table. Some worlds are real files, partitioned as they say.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from sqlrewrite.copies import replace

SAME: tuple[str, ...] = (
    *("INT", "INT", "INT", "INT", "BIGINT", "SMALLINT", "TINYINT", "STRING", "STRING", "DATE"),
    *("DATE", "TIMESTAMP", "DECIMAL(10,2)", "BOOLEAN"),
)
MIXED = (
    *(("INT", "BIGINT"), ("BIGINT", "INT"), ("SMALLINT", "BIGINT"), ("INT", "TINYINT")),
    *(("STRING", "INT"), ("INT", "STRING"), ("DATE", "STRING"), ("STRING", "DATE")),
    *(("DATE", "TIMESTAMP"), ("TIMESTAMP", "DATE"), ("DECIMAL(10,2)", "DECIMAL(12,4)")),
    *(("INT", "DECIMAL(10,2)"), ("BOOLEAN", "INT"), ("BIGINT", "STRING"), ("STRING", "BOOLEAN")),
)
FILES_ONLY = (
    *(("CHAR(3)", "CHAR(3)"), ("CHAR(3)", "VARCHAR(5)"), ("VARCHAR(5)", "STRING")),
    *(("CHAR(3)", "CHAR(5)"), ("CHAR(3)", "STRING")),
)
"""Types that a column of a view cannot have."""

LAZY = "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation"
"""Switched off, a condition is evaluated where it stands, as over files, and not beforehand."""

DOUBLE_QUOTED = "spark.sql.ansi.doubleQuotedIdentifiers"
"""It needs ANSI mode to hold."""

NULLS = 0.08
"""The share of NULLs among the values of a column."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name as it is, its type in DDL, and the table's column that it comes from."""

    name: str
    type: str
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its rows, each the literals of SQL in order."""

    name: str
    columns: tuple[Column, ...]
    partitioned: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    derived: tuple[str, str, str] | None = None
    """A partition column behind the others, its type, and what it is computed by."""

    def ddl(self) -> str:
        """CREATE TABLE as the rewriter reads it, and Spark where the table is one of files."""
        columns = ", ".join(f"{one.name} {one.type}" for one in self.columns)
        if self.derived is not None:
            name, kind, text = self.derived
            computed = f"{columns}, {name} {kind} GENERATED ALWAYS AS ({text})"
            return f"CREATE TABLE {self.name} ({computed}) USING delta PARTITIONED BY ({name})"
        by = f" PARTITIONED BY ({', '.join(self.partitioned)})" if self.partitioned else ""
        return f"CREATE TABLE {self.name} ({columns}) USING parquet{by}"

    def view(self) -> str:
        """The SELECT that gives the rows."""
        rows = ", ".join(f"({', '.join(row)})" for row in self.rows or (self._nulls(),))
        items = ", ".join(
            f"CAST(col{at + 1} AS {one.type}) AS {one.name}" for at, one in enumerate(self.columns)
        )
        empty = "" if self.rows else " WHERE false"
        if self.derived is not None:
            name, kind, text = self.derived
            inner = f"SELECT {items} FROM VALUES {rows}{empty}"
            # As it is written without ANSI mode: what is no date is NULL.
            text = text.replace("to_date", "try_to_date")
            return f"SELECT *, CAST({text} AS {kind}) AS {name} FROM ({inner})"
        return f"SELECT {items} FROM VALUES {rows}{empty}"

    def insert(self) -> str:
        """INSERT with the rows."""
        return f"INSERT INTO {self.name} {self.view()}"

    def values(self, column: str) -> tuple[str, ...]:
        """The literals in the column that are not NULL, each as often as it is there."""
        at = [one.name for one in self.columns].index(column)
        matches = (re.fullmatch(r"CAST\((.*) AS [A-Z]+(?:\(.*\))?\)", row[at]) for row in self.rows)
        return tuple(one[1] for one in matches if one is not None and one[1] != "NULL")

    def _nulls(self) -> tuple[str, ...]:
        return tuple(f"CAST(NULL AS {one.type})" for one in self.columns)


@dataclass(frozen=True, slots=True)
class World:
    """Two facts and three dimensions; columns that are made to be joined; Spark's settings."""

    facts: tuple[Table, ...]
    dimensions: tuple[Table, ...]
    joins: tuple[tuple[str, str, str, str], ...]
    settings: tuple[tuple[str, str], ...]
    files: bool
    apart: bool = False
    """Whether dimensions alone have a key for which conditions raise an error."""
    database: str = "referee"

    @property
    def tables(self) -> tuple[Table, ...]:
        return self.facts + self.dimensions

    def ddl(self) -> str:
        """All tables, as the rewriter's catalog."""
        return ";\n".join(one.ddl() for one in self.tables) + ";\n"


def random_world(rng: random.Random, *, files: bool = False) -> World:
    """A schema, its rows and the settings of Spark under which it is queried."""
    fact_key, key = _key_types(rng, files)
    visit_key = key if rng.random() < 0.8 else rng.choice(SAME)
    shop = rng.choice(("INT", "BIGINT", "STRING"))
    facts = (
        _table(
            rng,
            "sales",
            f"qty INT, item INT, amount DECIMAL(8,2), note STRING, p {fact_key}, q {shop}",
            ("p", "q") if rng.random() < 0.6 else ("p",),
            36,
        ),
        _table(rng, "visits", f"item INT, tag STRING, k {visit_key}", ("k",), 20),
    )
    dimensions = (
        _table(rng, "days", f"k {key}, y INT, m SMALLINT, label STRING, holiday BOOLEAN", (), 16),
        _table(rng, "items", f"item INT, cat STRING, price DECIMAL(8,2), p {key}", (), 16),
        _table(rng, "shops", f"shop {shop}, city STRING, k {key}, y INT, opened DATE", (), 16),
    )
    joins = (
        *(("sales", "p", "days", "k"), ("sales", "p", "days", "k"), ("sales", "p", "items", "p")),
        *(
            ("sales", "p", "shops", "k"),
            ("visits", "k", "days", "k"),
            ("visits", "k", "shops", "k"),
        ),
        *(("sales", "q", "shops", "shop"), ("visits", "k", "items", "p")),
        *(("sales", "p", "visits", "k"), ("visits", "k", "sales", "p")),
    )
    return World(facts, dimensions, joins, _settings(rng), files)


DERIVED: dict[str, tuple[tuple[str, str], ...]] = {
    "DATE": (
        *(
            ("STRING", "date_format({}, 'yyyy-MM')"),
            ("INT", "year({})"),
            ("DATE", "trunc({}, 'MM')"),
        ),
        *(("INT", "month({})"), ("INT", "CAST(date_format({}, 'yyyyMMdd') AS INT)")),
        *(("STRING", "date_format({}, 'dd/MM/yyyy')"), ("STRING", "CAST({} AS STRING)")),
    ),
    "TIMESTAMP": (
        *(("DATE", "CAST({} AS DATE)"), ("STRING", "date_format({}, 'yyyyMMdd')")),
        *(("STRING", "date_format({}, 'yyyy-MM-dd-HH')"), ("INT", "hour({})")),
    ),
    "STRING": (("STRING", "substring({}, 1, 1)"), ("DATE", "to_date({})"), ("INT", "length({})")),
    "INT": (("BIGINT", "{} DIV 3"), ("BIGINT", "floor({} / 2)"), ("INT", "pmod({}, 3)")),
    "BIGINT": (("BIGINT", "{} DIV 3"), ("BIGINT", "floor({} / 2)"), ("BIGINT", "{} % 3")),
}
"""What a partition column is computed by, and its type, by the type of what it is computed from."""


EXTREMES = {
    "INT": ("2147483647", "-2147483648", "0", "0"),
    "SMALLINT": ("32767", "0"),
    "BIGINT": ("9223372036854775807", "0"),
    "STRING": ("'x'", "'1.5'", "' 2 '", "'2024-01-02'", "'0'"),
}
"""Values for which sums, divisions and casts raise an error."""


def with_extremes(rng: random.Random, world: World) -> World:
    """The world with some values that sums, divisions and casts fail at."""

    def extreme(table: Table) -> Table:
        rows = tuple(
            tuple(
                f"CAST({rng.choice(EXTREMES[one.type])} AS {one.type})"
                if one.type in EXTREMES and rng.random() < 0.05
                else cell
                for one, cell in zip(table.columns, row, strict=True)
            )
            for row in table.rows
        )
        return replace(table, rows=rows)

    facts, dimensions = (tuple(map(extreme, table)) for table in (world.facts, world.dimensions))
    return replace(world, facts=facts, dimensions=dimensions)


APART = {
    "INT": (("1", "2", "3"), "0"),
    "BIGINT": (("1", "2", "3"), "0"),
    "STRING": (("'1'", "'2'", "'3'"), "'x'"),
    "DATE": (("DATE'2024-01-01'", "DATE'2024-01-02'", "DATE'2024-01-03'"), "DATE'2024-01-04'"),
}
"""Values of keys, and one for which conditions raise an error, by type."""


def with_keys_apart(rng: random.Random, world: World) -> World:
    """The world, its keys of such types; some rows of days and shops have the value that fails."""
    kind = rng.choice(tuple(APART))
    of_fact = rng.choice(("INT", "BIGINT", "STRING")) if kind == "STRING" else kind

    def apart(table: Table) -> Table:
        its = of_fact if table in world.facts else kind
        keys = [one.name in ("p", "k") for one in table.columns]
        values, failing = APART[its]
        odd = (failing,) if table.name in ("days", "shops") else ()
        columns = tuple(
            replace(one, type=its) if key else one
            for one, key in zip(table.columns, keys, strict=True)
        )
        rows = tuple(
            tuple(
                f"CAST({rng.choice((*values, *odd))} AS {its})" if key else cell
                for cell, key in zip(row, keys, strict=True)
            )
            for row in table.rows
        )
        return replace(table, columns=columns, rows=rows)

    facts, dimensions = (tuple(map(apart, table)) for table in (world.facts, world.dimensions))
    return replace(world, facts=facts, dimensions=dimensions, apart=True)


def with_derived(rng: random.Random, world: World) -> World:
    """The world, its facts partitioned by what is computed from the columns that are joined."""
    facts = []
    for fact, name in zip(world.facts, ("part", "slice"), strict=True):
        source = next(one for one in fact.columns if one.name == fact.partitioned[0])
        kind, text = rng.choice(DERIVED.get(source.type, (("INT", "hash({})"),)))
        derived = (name, kind, text.replace("{}", source.name))
        facts.append(replace(fact, partitioned=(), derived=derived))
    return replace(world, facts=tuple(facts))


def _key_types(rng: random.Random, files: bool) -> tuple[str, str]:
    """Of the fact's partition column and of the dimension's key."""
    if files and rng.random() < 0.3:
        return rng.choice(FILES_ONLY)
    if rng.random() < 0.25:
        return rng.choice(MIXED)
    same = rng.choice(SAME)
    return same, same


def _settings(rng: random.Random) -> tuple[tuple[str, str], ...]:
    def sometimes(key: str, chance: float, value: str, other: str) -> tuple[str, str]:
        return key, value if rng.random() < chance else other

    return (
        sometimes("spark.sql.ansi.enabled", 0.4, "false", "true"),
        sometimes("spark.sql.autoBroadcastJoinThreshold", 0.15, "10485760", "-1"),
        sometimes("spark.sql.optimizer.excludedRules", 0.8, LAZY, ""),
        sometimes("spark.sql.ansi.relationPrecedence", 0.1, "true", "false"),
        sometimes(DOUBLE_QUOTED, 0.05, "true", "false"),
        sometimes("spark.sql.session.timeZone", 0.2, "America/Los_Angeles", "UTC"),
        sometimes("spark.sql.constraintPropagation.enabled", 0.1, "false", "true"),
        sometimes("spark.sql.caseSensitive", 0.01, "true", "false"),
    )


def _table(
    rng: random.Random, name: str, columns: str, partitioned: tuple[str, ...], most: int
) -> Table:
    pairs = (one.split(" ", 1) for one in columns.split(", "))
    own_columns = [Column(column, kind, f"{name}.{column}") for column, kind in pairs]
    declared = tuple(sorted(own_columns, key=lambda one: one.name in partitioned))  # as Spark does
    count = 0 if rng.random() < 0.03 else rng.randint(most // 2, most)
    rows = tuple(tuple(_value(rng, one.type) for one in declared) for _ in range(count))
    return Table(name, declared, partitioned, rows)


def _value(rng: random.Random, kind: str) -> str:
    """A literal of the type, out of few, so that joins find partners."""
    literal = "NULL" if rng.random() < NULLS else plain(rng, kind)
    return f"CAST({literal} AS {_stored(kind)})"


def plain(rng: random.Random, kind: str) -> str:
    """A literal of the small domain of a type; of a string, one that may look like a number."""
    number = rng.choice((1, 1, 1, 2, 2, 3))
    base = kind.partition("(")[0]
    if base == "BOOLEAN":
        return rng.choice(("TRUE", "FALSE"))
    if base == "DATE":
        return f"DATE'2024-01-0{number}'"
    if base == "TIMESTAMP":
        return f"TIMESTAMP'2024-01-0{number} 0{rng.choice((0, 0, 0, 6))}:00:00'"
    if base == "DECIMAL":
        return f"{number}.{rng.choice(('00', '00', '50'))}"
    if base == "STRING":
        digits = (f"'{number}'",) * 9 + (f"'0{number}'", f"'{number} '")
        return rng.choice((*digits, "'a'", "''"))
    if base in ("CHAR", "VARCHAR"):
        return rng.choice((f"'{number}'", f"'{number}'", f"'{number} '", "'a'"))
    return str(number)


def _stored(kind: str) -> str:
    """The type that a value of a view can be cast to."""
    return "STRING" if kind.startswith(("CHAR", "VARCHAR")) else kind
