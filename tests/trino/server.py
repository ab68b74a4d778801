"""Trino in a process beside this one, and tables in it (``Trino.java``)."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import sqlglot

from sqlrewrite import Catalog
from sqlrewrite.warehouse import Table, View
from tests.engines.process import Engine, EngineError, encoded

_JAVA = (os.environ.get("TRINO_JAVA", "java"), "-Xmx1500m", "-XX:TieredStopAtLevel=1")
_VECTORS = "--add-modules=jdk.incubator.vector"
_TYPES = {"string": "varchar", "int": "integer", "binary": "varbinary", "float": "real"}
PARTITIONED = {"hive": "partitioned_by", "iceberg": "partitioning"}
"""The property of a connector's tables that names their partitions."""


@dataclass(frozen=True, slots=True)
class Scans:
    """What Trino's statistics say of a query: of each scan its table, its splits and the rows that
    it read, and of each dynamic filter what is in it."""

    read: tuple[tuple[str, int, int], ...]
    filters: tuple[str, ...]

    def splits(self, table: str) -> int:
        """The splits of the scan of a table that read the most."""
        return max(splits for name, splits, _ in self.read if name == table)


class Trino(Engine):
    """One Trino, asked a statement at a time, with its tables in a folder."""

    def __init__(self, jars: Path, folder: Path) -> None:
        program, data = str(Path(__file__).with_name("Trino.java")), folder / "data"
        data.mkdir()
        command = [*_JAVA, _VECTORS, "-cp", f"{jars}/*", program, str(data)]
        super().__init__(command, folder / "log")

    def session(self, catalog: str, schema: str, *settings: str) -> None:
        """Goes on in a schema, made where it is not there, with settings of a session."""
        self.ask(f"session {catalog} {schema}")
        self.rows(f"CREATE SCHEMA IF NOT EXISTS {catalog}.{schema}")
        self.ask(" ".join(("session", catalog, schema, *settings)))

    def scans(self, sql: str) -> Scans:
        """What its statistics say of a query. Raises EngineError."""
        lines = [line.split("\t") for line in self.ask(f"scans {encoded(sql)}").splitlines()]
        read = tuple((line[0], int(line[1]), int(line[2])) for line in lines if len(line) == 3)
        return Scans(read, tuple(line[0] for line in lines if len(line) == 1))


def fill(trino: Trino, known: Catalog, data: duckdb.DuckDBPyConnection) -> None:
    """Tables of Hive's as DuckDB has them, by the last part of their names, partitioned where they
    are; views as tables of their rows. What Trino has no type for is left out."""
    for name, relation in known.relations.items():
        if isinstance(relation, Table):
            _make(trino, relation, data)
        elif isinstance(relation, View):
            query = sqlglot.transpile(relation.query, read="spark", write="trino")[0]
            listed = f" ({', '.join(relation.columns)})" if relation.columns else ""
            try:
                trino.rows(f'CREATE TABLE "{name[-1]}"{listed} AS {query}')
            except EngineError:
                continue


def _make(trino: Trino, table: Table, data: duckdb.DuckDBPyConnection) -> None:
    where = ".".join(f'"{part}"' for part in table.name)
    by = [
        column.column.lower() for column in table.partitioned_by if column.transform == "identity"
    ]
    columns = sorted(table.columns, key=lambda it: it.name.lower() in by)  # the last ones of Hive's
    kinds = [_type(column.type or "int") for column in columns]
    names = [f'"{column.name}"' for column in columns]
    rows = data.execute(f"SELECT {', '.join(names)} FROM {where}").fetchall()
    values = ", ".join(f"({', '.join(map(_literal, row))})" for row in rows)
    nothing = f"({', '.join('NULL' for _ in kinds)})"
    cast = ", ".join(f"CAST({n} AS {kind}) AS {n}" for n, kind in zip(names, kinds, strict=True))
    query = f"SELECT {cast} FROM (VALUES {values or nothing}) AS v({', '.join(names)})"
    query += "" if rows else " WHERE false"
    listed = ", ".join(f"'{key}'" for key in by)
    properties = f" WITH (partitioned_by = ARRAY[{listed}])" if 0 < len(by) < len(columns) else ""
    for partitions in dict.fromkeys((properties, "")):
        with suppress(EngineError):
            trino.rows(f'CREATE TABLE "{table.name[-1]}"{partitions} AS {query}')
            return


def _type(kind: str) -> str:
    if kind.startswith("array<"):
        return f"array({_type(kind[6:-1])})"
    return _TYPES.get(kind, kind)


def _literal(value: Any) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case datetime():
            return f"TIMESTAMP '{value}'"
        case date():
            return f"DATE '{value}'"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case list():
            return f"ARRAY[{', '.join(map(_literal, value))}]"
        case bytes():
            return f"X'{value.hex()}'"
        case _:
            return str(value)
