"""The warehouse that the queries by hand run on: its shape is fixed, its rows are random.

In: a ``random.Random``. Out: the Spark DDL for the catalog, and a DuckDB whose tables have rows of
few distinct values with NULLs and duplicates, so that joins hit, filters select, and a lost row
shows.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any

import duckdb

from sqlrewrite import Catalog
from sqlrewrite.settings.options import Keys

from .duckdb_text import as_duckdb, spark_like

Value = int | str | bool | date | Decimal | None
Row = tuple[Value, ...]
Data = Mapping[str, Sequence[Row]]

Bag = Counter[tuple[Any, ...]]

DOMAIN = 4
"""Distinct values of each type at most; literals of the queries come from the same few."""

MOST_KEYS = 2
"""More keys than this are written as their range, with ``values``."""

BEYOND_DUCKDB = (duckdb.NotImplementedException, duckdb.InternalException)
"""Raised for a query that is right and that DuckDB cannot run."""

STRINGS = ("a", "b", "c", "ü")
SQL_TYPES = {
    "int": "INT",
    "long": "BIGINT",
    "date": "DATE",
    "str": "STRING",
    "dec": "DECIMAL(7,2)",
    "bool": "BOOLEAN",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column as the generator sees it: ``type`` is a key of SQL_TYPES."""

    name: str
    type: str
    required: bool = False

    @property
    def family(self) -> str:
        """Types of one family compare with each other: INT and BIGINT are one."""
        return "int" if self.type == "long" else self.type


@dataclass(frozen=True, slots=True)
class Table:
    """A base table; ``keys`` are its partition columns, ``primary`` its declared primary key. Or a
    view, with its ``query``; its keys are the partition columns that come through."""

    name: str
    columns: tuple[Column, ...]
    keys: tuple[str, ...] = ()
    primary: str | None = None
    query: str | None = None

    def ddl(self) -> str:
        """The table in Spark's DDL, as a warehouse's repository would have it."""
        if self.query is not None:
            return f"CREATE VIEW {self.name} AS {self.query}"
        lines = [
            f"{c.name} {SQL_TYPES[c.type]}{' NOT NULL' if c.required else ''}" for c in self.columns
        ]
        if self.primary:
            lines.append(f"CONSTRAINT {self.name}_pk PRIMARY KEY ({self.primary})")
        parted = f"\nPARTITIONED BY ({', '.join(self.keys)})" if self.keys else ""
        return (
            f"CREATE TABLE {self.name} (\n  " + ",\n  ".join(lines) + f"\n) USING parquet{parted}"
        )


def _table(
    name: str, columns: str, keys: str = "", primary: str | None = None, query: str | None = None
) -> Table:
    parsed = []
    for item in columns.split():
        column, kind = item.split(":")
        parsed.append(Column(column, kind.rstrip("!"), kind.endswith("!")))
    return Table(name, tuple(parsed), tuple(keys.split()), primary, query)


# Names overlap on purpose: a rewriter that matches by name alone, or forgets to qualify, is caught.
FACTS = (
    _table("sales", "id:int qty:int grp:int tag:str day:date", "day"),
    _table("returns", "id:int qty:int amt:dec dk:int", "dk"),
    _table("clicks", "id:int hits:int grp:int city:str", "city"),
    _table("stock", "id:int qty:int tag:str day:date dk:int", "day dk"),
    _table("orders", "id:int amt:dec tag:str lk:long", "lk"),
    _table("visits", "id:int grp:int city:str sk:int", "city sk"),
)
DIMENSIONS = (
    _table("dates", "day:date dk:int yr:int moy:int name:str holiday:bool"),
    _table("stores", "sk:int city:str grp:int size:int"),
    _table("items", "ik:int! name:str! cls:int brand:str", primary="ik"),
    _table("promos", "dk:int rate:int day:date kind:str", "kind"),
    _table("regions", "rk:int city:str zone:int label:str"),
    _table("spans", "grp:int lo:int hi:int since:date until:date live:bool"),
)
TABLES = (*FACTS, *DIMENSIONS)

FACT_VIEWS = (
    _table("sold", "id:int n:int day:date", "day", query="SELECT id, qty AS n, day FROM sales"),
    _table(
        "moves",
        "id:int k:int qty:int",
        "k",
        query="SELECT id, dk AS k, qty FROM returns UNION ALL SELECT id, dk, qty FROM stock",
    ),
)
DIMENSION_VIEWS = (
    _table(
        "weeks",
        "day:date dk:int wk:int holiday:bool",
        query="SELECT day, dk, yr AS wk, holiday FROM dates WHERE moy IS NOT NULL",
    ),
    _table(
        "places",
        "sk:int city:str zone:int",
        query="SELECT s.sk, s.city, r.zone FROM stores AS s JOIN regions AS r ON r.city = s.city",
    ),
)
VIEWS = (*FACT_VIEWS, *DIMENSION_VIEWS)


@cache
def warehouse() -> Catalog:
    """The catalog of all tables and views."""
    return Catalog.from_ddl(";\n\n".join(table.ddl() for table in (*TABLES, *VIEWS)))


_EMPTY = {"regions": 0.25, "spans": 0.15}
"""How often a table has no rows."""


def random_data(rng: random.Random) -> Data:
    """Fresh rows for every table; how dense NULLs and duplicates are is drawn once for each."""
    data: dict[str, list[Row]] = {}
    for table in TABLES:
        count = rng.randint(30, 60) if table in FACTS else rng.randint(5, 12)
        if rng.random() < _EMPTY.get(table.name, 0.02):
            count = 0
        data[table.name] = _rows(rng, table, count)
    return data


def _rows(rng: random.Random, table: Table, count: int) -> list[Row]:
    nulls = rng.choice((0.0, 0.05, 0.1, 0.3))
    # A dimension's values come from a part of the domain: then some fact rows have no partner.
    size = rng.choice((2, 3, 3, 4, 4, 4))
    start = rng.randint(1, DOMAIN - size + 1)
    unique = rng.sample(range(1, 13), 12)
    rows: list[Row] = []
    for index in range(count):
        row: list[Value] = []
        for column in table.columns:
            if column.name == table.primary:
                row.append(unique[index])
            elif not column.required and rng.random() < nulls:
                row.append(None)
            else:
                row.append(_VALUES[column.family](rng.randint(start, start + size - 1)))
        rows.append(tuple(row))
    if rows and table.primary is None and rng.random() < 0.5:
        rows[-1] = rows[0]
    return rows


def day(n: int) -> date:
    """The n-th date of the domain."""
    return date(2024, 1, n)


_VALUES: Mapping[str, Callable[[int], Value]] = {
    "int": lambda n: n,
    "date": day,
    "str": lambda n: STRINGS[n - 1],
    "dec": lambda n: Decimal(n) + Decimal("0.50"),
    "bool": lambda n: n % 2 == 0,
}


def literal(value: Value) -> str:
    """A value as a literal that Spark and DuckDB read alike."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case date():
            return f"DATE '{value.isoformat()}'"
        case str():
            return f"'{value}'"
        case _:
            return str(value)


def inserts(data: Data) -> str:
    """The rows as INSERT statements, for a person to paste and for DuckDB to load."""
    return "\n".join(
        f"INSERT INTO {name} VALUES "
        + ", ".join(f"({', '.join(map(literal, row))})" for row in rows)
        + ";"
        for name, rows in data.items()
        if rows
    )


class Database:
    """A DuckDB with the tables under Spark's names."""

    def __init__(self, data: Data) -> None:
        self._connection = spark_like()
        for table in TABLES:
            columns = ", ".join(f"{c.name} {SQL_TYPES[c.type]}" for c in table.columns)
            self._connection.execute(f"CREATE TABLE {table.name} ({columns})")
        for view in VIEWS:
            self._connection.execute(as_duckdb(view.ddl()))
        self._connection.execute(inserts(data))

    def bag(self, spark_sql: str) -> Bag:
        """The rows of a Spark query, with how often each occurs."""
        return Counter(self._connection.execute(as_duckdb(spark_sql)).fetchall())

    def keys(self, query: str, namespace: tuple[str, ...]) -> Keys:
        """The keys of a key query, as ``--predicate values`` asks for them; more than a few
        collapse."""
        result = self._connection.execute(as_duckdb(query))
        ((_, kind, *_),) = result.description
        keys = sorted({key for (key,) in result.fetchall() if key is not None})
        collapsed = len(keys) > MOST_KEYS
        literals = tuple(map(literal, (keys[0], keys[-1]) if collapsed else keys))
        spark_type = {"integer": "int", "varchar": "string"}.get(str(kind).lower(), str(kind))
        return Keys(literals, spark_type.lower(), "2026-01-31T09:30:00Z", collapsed)

    def difference(self, before: Bag, rewritten: str) -> str | None:
        """What the rewritten query gives and the original did not; None where both are the same.
        Raises those of BEYOND_DUCKDB."""
        try:
            after = self.bag(rewritten)
        except BEYOND_DUCKDB:
            raise
        except duckdb.Error as error:
            return f"the rewritten query fails: {error}"
        lost, more = before - after, after - before
        return f"lost {dict(lost)}, more {dict(more)}" if lost or more else None
