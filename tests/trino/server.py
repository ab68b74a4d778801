"""Trino in a process beside this one, and tables in it (``Trino.java``)."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import sqlglot

from sqlrewrite import Catalog
from sqlrewrite.warehouse import Table, View
from tests.engines.process import Engine, EngineError

_JAVA = ("java", "-Xmx1g", "-XX:TieredStopAtLevel=1", "-Djdk.attach.allowAttachSelf=true")
_TYPES = {"string": "varchar", "int": "integer", "binary": "varbinary", "float": "real"}


class Trino(Engine):
    """One Trino, asked a statement at a time."""

    def __init__(self, jars: Path, log: Path) -> None:
        program = str(Path(__file__).with_name("Trino.java"))
        super().__init__([*_JAVA, "-cp", f"{jars}/*", program], log)

    def catalog(self, name: str) -> None:
        """Goes on in an empty catalog of that name."""
        self.ask(f"catalog {name}")


def fill(trino: Trino, known: Catalog, data: duckdb.DuckDBPyConnection) -> None:
    """Tables as DuckDB has them, by the last part of their names; views as tables of their rows.
    What Trino has no type for is left out."""
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
    kinds = [_type(column.type or "int") for column in table.columns]
    rows = data.execute(f"SELECT * FROM {where}").fetchall()
    values = ", ".join(f"({', '.join(map(_literal, row))})" for row in rows)
    nothing = f"({', '.join('NULL' for _ in kinds)})"
    names = [f'"{column.name}"' for column in table.columns]
    cast = ", ".join(f"CAST({n} AS {kind}) AS {n}" for n, kind in zip(names, kinds, strict=True))
    made = f"SELECT {cast} FROM (VALUES {values or nothing}) AS v({', '.join(names)})"
    try:
        trino.rows(f'CREATE TABLE "{table.name[-1]}" AS {made}{"" if rows else " WHERE false"}')
    except EngineError:
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
