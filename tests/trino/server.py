"""Trino in a process beside this one, and tables in it (``Trino.java``)."""

from __future__ import annotations

import subprocess
from base64 import b64decode, b64encode
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import sqlglot

from sqlrewrite import Catalog
from sqlrewrite.warehouse import Table, View

_JAVA = ("java", "-Xmx1g", "-XX:TieredStopAtLevel=1", "-Djdk.attach.allowAttachSelf=true")
_TYPES = {"string": "varchar", "int": "integer", "binary": "varbinary", "float": "real"}


class TrinoError(Exception):
    """What Trino says is wrong with a statement."""


class Trino:
    """One Trino, asked a statement at a time."""

    def __init__(self, jars: Path, log: Path) -> None:
        self._log = log.open("w")
        self._process = subprocess.Popen(
            [*_JAVA, "-cp", f"{jars}/*", str(Path(__file__).with_name("Trino.java"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        if self._said() != "up\n":
            raise TrinoError(f"it does not start: {log.read_text()[-2000:]}")

    def catalog(self, name: str) -> None:
        """Goes on in an empty catalog of that name."""
        self._ask(f"catalog {name}")

    def rows(self, sql: str) -> str:
        """The rows of a statement, a line each, sorted. Raises TrinoError."""
        return self._ask(f"run {b64encode(sql.encode()).decode()}")

    def close(self) -> None:
        """Ends it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._log.close()

    def _ask(self, line: str) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        outcome, _, said = self._said().strip().partition(" =")
        told = b64decode(said).decode()
        if outcome != "ok":
            raise TrinoError(told)
        return told

    def _said(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


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
            except TrinoError:
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
    except TrinoError:
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
