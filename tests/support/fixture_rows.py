"""Random rows for any DDL of the fixtures, and bags of rows to compare.

In: a DDL file and a seed. Out: a DuckDB with its tables and views, filled from few distinct values
with NULLs, duplicates and, now and then, an empty dimension. A column that the DDL says is NOT NULL
gets NULLs all the same where the format does not enforce it, as in Spark.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from datetime import date
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

import duckdb

from sqlrewrite.catalog import Catalog
from sqlrewrite.warehouse import Column, Table, View

from . import retail_rows
from .cases import RETAIL, catalog, query_texts, read
from .duckdb_text import as_duckdb, behave_as_spark

Bag = Counter[Any]

_ENFORCING = ("delta", "iceberg")
_WORDS = {
    "season": ("winter", "summer", "autumn"),
    "city": ("Oslo", "Bergen", "Ås"),
    "brand": ("acme", "globex", "ajax"),
    "kind": ("flyer", "coupon", "tv"),
}


@lru_cache
def database(ddl: Path, seed: int) -> duckdb.DuckDBPyConnection:
    """A filled database; the same seed gives the same rows."""
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    connection.execute("ATTACH ':memory:' AS spark_catalog")
    connection.execute('CREATE SCHEMA spark_catalog."default"; USE spark_catalog."default"')
    behave_as_spark(connection)
    if ddl.is_relative_to(RETAIL):
        retail_rows.load(connection, seed, 120)
    else:
        rng = random.Random(f"{ddl.parent.name}/{seed}")
        _create(connection, _in_order(catalog(ddl), read(ddl)), rng)
    return connection


def bag(connection: duckdb.DuckDBPyConnection, text: str) -> list[Bag]:
    """The rows of each query of a Spark text, with how often each occurs; a view or table that it
    makes lives as long as the text. Raises duckdb.Error."""
    bags: list[Bag] = []
    connection.execute("BEGIN")
    try:
        for name, query in _queries(text):
            rows = connection.execute(query).fetchall()
            bags.append(Counter(map(_shown, rows)))
            if name is not None:
                connection.execute(f"CREATE TEMPORARY VIEW {name} AS {query}")
    finally:
        connection.execute("ROLLBACK")
    return bags


@lru_cache
def _queries(text: str) -> list[tuple[str | None, str]]:
    """The queries of a text as DuckDB has them, which run on the rows of many seeds."""
    return [(name, as_duckdb(query)) for name, query in query_texts(text)]


def _shown(row: tuple[Any, ...]) -> str:
    """A row to compare by; the last digits of a float depend on the order of a sum."""
    return repr(tuple(f"{v:.9g}" if isinstance(v, float) else v for v in row))


def _in_order(known: Catalog, ddl: str) -> list[Table | View]:
    """The relations as their DDL lists them, in which order rows are drawn: a catalog has none."""
    first: dict[str, int] = {}
    for at, word in enumerate(re.findall(r"[\w.]+", ddl.lower())):
        first.setdefault(word.rpartition(".")[2], at)
    return sorted(known.relations.values(), key=lambda relation: first.get(relation.name[-1], -1))


def _create(
    connection: duckdb.DuckDBPyConnection, relations: list[Table | View], rng: random.Random
) -> None:
    for relation in relations:
        *schema, name = relation.name
        where = ".".join(f'"{part}"' for part in schema)
        if schema[0] != "spark_catalog":
            connection.execute(f"ATTACH IF NOT EXISTS ':memory:' AS \"{schema[0]}\"")
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {where}")
        if isinstance(relation, View):
            body = as_duckdb(relation.query)
            listed = f"({', '.join(relation.columns)})" if relation.columns else ""
            connection.execute(f'CREATE VIEW {where}."{name}"{listed} AS {body}')
            continue
        columns = ", ".join(f'"{c.name}" {_duckdb_type(c)}' for c in relation.columns)
        connection.execute(f'CREATE TABLE {where}."{name}" ({columns})')
        rows = ", ".join(_rows(relation, rng))
        if rows:
            connection.execute(f'INSERT INTO {where}."{name}" VALUES {rows}')


def _duckdb_type(column: Column) -> str:
    kind = column.type or "int"
    if kind.startswith("array<"):
        return f"{kind[6:-1]}[]"
    return {"string": "varchar", "binary": "blob"}.get(kind, kind)


def _rows(table: Table, rng: random.Random) -> list[str]:
    fact = bool(table.partitioned_by)
    nulls = rng.choice((0.0, 0.1, 0.1, 0.3))
    count = rng.randint(15, 30) if fact else rng.randint(4, 9)
    if not fact and rng.random() < 0.06:
        return []
    # A dimension's keys are a part of the domain, so that some facts have no partner.
    size = 4 if fact else rng.choice((2, 3, 3, 4))
    rows: list[str] = []
    for index in range(count if not table.primary_key else min(count, 5)):
        values = []
        for column in table.columns:
            enforced = not column.nullable and table.provider in _ENFORCING
            if column.name in table.primary_key:
                values.append(str(index + 1))
            elif rng.random() < nulls and not enforced:
                values.append("NULL")
            else:
                values.append(_literal(column, rng.randint(1, size)))
        rows.append(f"({', '.join(values)})")
    if rows and not table.primary_key:
        rows += rng.choices(rows, k=2)
    return rows


def _literal(column: Column, n: int) -> str:
    kind = column.type or "int"
    if kind in ("date", "timestamp"):
        return f"{kind.upper()} '{date(2024, 1, n).isoformat()}'"
    if kind.startswith("array<"):
        return f"[{', '.join(map(str, range(n - 1)))}]"
    if kind in ("string", "binary") or kind.startswith(("char", "varchar")):
        words = _WORDS.get(column.name)
        return f"'{words[n % len(words)] if words else date(2024, 1, n).isoformat()}'"
    if kind == "boolean":
        return "TRUE" if n % 2 else "FALSE"
    if kind.startswith("decimal"):
        return str(Decimal(n) + Decimal("0.50"))
    return str(n + 2022 if column.name == "year" else n)
