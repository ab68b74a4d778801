"""Flink in a process beside this one, and tables of files for it (``Flink.java``)."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb

from sqlrewrite import Catalog
from sqlrewrite.warehouse import Table, View
from tests.engines.process import Engine, EngineError

_JAVA = ("java", "-Xmx1200m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_OPENS = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in ("lang", "util", "time")]
_PLAIN = re.compile(r"[\w.-]+")
_TYPES = {"binary": "BYTES", "timestamp": "TIMESTAMP(6)", "timestamp_ntz": "TIMESTAMP(6)"}


class Flink(Engine):
    """One Flink, asked a statement at a time."""

    def __init__(self, jars: str, log: Path) -> None:
        program = str(Path(__file__).with_name("Flink.java"))
        super().__init__([*_JAVA, *_OPENS, "-cp", jars, program], log)

    def session(self) -> None:
        """Goes on without tables."""
        self.ask("session")


def fill(flink: Flink, known: Catalog, data: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Tables of the rows that DuckDB has, by the last part of their names, as JSON in folders of
    their partitions; and views. What Flink has no type for is left out."""
    for name, relation in known.relations.items():
        try:
            if isinstance(relation, Table):
                _make(flink, relation, data, folder / ".".join(name))
            elif isinstance(relation, View):
                listed = f" (`{'`, `'.join(relation.columns)}`)" if relation.columns else ""
                flink.rows(f"CREATE TEMPORARY VIEW `{name[-1]}`{listed} AS {relation.query}")
        except EngineError:
            continue


def _make(flink: Flink, table: Table, data: duckdb.DuckDBPyConnection, folder: Path) -> None:
    where = ".".join(f'"{part}"' for part in table.name)
    columns = ", ".join(
        f"`{column.name}` {_type(column.type or 'int')}" for column in table.columns
    )
    names = [column.name for column in table.columns]
    by = [column.column for column in table.partitioned_by if column.transform == "identity"]
    rows = [
        dict(zip(names, row, strict=True))
        for row in data.execute(f"SELECT * FROM {where}").fetchall()
    ]
    if not all(
        _PLAIN.fullmatch("" if row[key] is None else str(row[key])) for row in rows for key in by
    ):
        by = []  # NULL, of which Flink 2.3 makes no path, and what a path has in other words
    folder.mkdir(parents=True)
    for row in rows:
        place = folder.joinpath(*(f"{key}={row.pop(key)}" for key in by))
        place.mkdir(parents=True, exist_ok=True)
        with (place / "rows.json").open("a") as file:
            file.write(json.dumps(row, default=_json) + "\n")
    partitions = f" PARTITIONED BY (`{'`, `'.join(by)}`)" if by else ""
    flink.rows(
        f"CREATE TEMPORARY TABLE `{table.name[-1]}` ({columns}){partitions} WITH ("
        f"'connector' = 'filesystem', 'path' = '{folder.as_uri()}', 'format' = 'json')"
    )


def _type(kind: str) -> str:
    if kind.startswith("array<"):
        return f"ARRAY<{_type(kind[6:-1])}>"
    return _TYPES.get(kind, kind.upper())


def _json(value: Any) -> Any:
    match value:
        case datetime():
            return str(value.replace(tzinfo=None))
        case date():
            return str(value)
        case Decimal():
            return float(value) if value.as_tuple().exponent else int(value)
        case bytes():
            return b64encode(value).decode()
        case _:
            return str(value)
