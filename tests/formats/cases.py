"""The tables and the statements that are run on both formats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

SCHEMAS = {"delta": "lake", "iceberg": "ice.lake"}

_ROWS = "CAST(id AS INT) AS id, CAST({} AS INT) AS {}, CAST(id AS INT) AS a FROM range({}, {})"
_KEYS = (
    "SELECT * FROM VALUES (1, 1, 1), (2, 22, 1), (3, 4003, 2), (2, 9002, 1), "
    "(CAST(NULL AS INT), 5, 1) AS v(k, id, x)"
)

_MOMENT = "timestamp_seconds(1704067200 + id * 864)"
_DAYS = (
    "SELECT * FROM VALUES (DATE '2024-01-03', 210, 1), (DATE '2024-01-04', 9001, 1), "
    "(DATE '2024-02-01', 3110, 2) AS v(day, id, x)"
)


def made(kind: str, table: str, name: str) -> Iterator[str]:
    """The statements that make a table of a format anew: ``f`` has 20 partitions of one file each,
    ``c`` four files in the order of its keys, of which each is 100 rows, ``g`` 20 partitions of a
    generated column, or 16 hidden ones, ``m`` 40 hidden days, or four files of ten days each."""
    yield f"DROP TABLE IF EXISTS {name}"
    match table:
        case "f":
            rows = f"SELECT {_ROWS.format('id % 20', 'p', 0, 4000)}"
            yield f"CREATE TABLE {name} USING {kind} PARTITIONED BY (p) AS {rows}"
        case "t":
            yield f"CREATE TABLE {name} USING {kind} AS SELECT {_ROWS.format(0, 'z', 0, 100)}"
        case "d":
            yield f"CREATE TABLE {name} USING {kind} AS {_KEYS}"
        case "c":
            clustered = " CLUSTER BY (k)" if kind == "delta" else ""
            yield f"CREATE TABLE {name} (id INT, k INT, a INT) USING {kind}{clustered}"
            if kind == "iceberg":
                yield f"ALTER TABLE {name} WRITE ORDERED BY k"
            for start in range(0, 4000, 1000):
                rows = _ROWS.format("id DIV 100", "k", start, start + 1000)
                yield f"INSERT INTO {name} SELECT {rows}"

        case "g" if kind == "delta":
            yield GENERATED
            rows = "SELECT CAST(id AS INT) AS id, CAST(id AS INT) AS a FROM range(4000)"
            yield f"INSERT INTO {name} (id, a) {rows}"
        case "g":
            yield (
                f"CREATE TABLE {name} (id INT, k INT, a INT) USING iceberg "
                "PARTITIONED BY (bucket(16, k))"
            )
            yield f"INSERT INTO {name} SELECT {_ROWS.format('id % 200', 'k', 0, 4000)}"

        case "m":
            hidden = "PARTITIONED BY (days(ts))" if kind == "iceberg" else "CLUSTER BY (ts)"
            yield f"CREATE TABLE {name} (id INT, ts TIMESTAMP, a INT) USING {kind} {hidden}"
            for start in range(0, 4000, 1000 if kind == "delta" else 4000):
                end = start + 1000 if kind == "delta" else 4000
                rows = f"CAST(id AS INT), {_MOMENT}, CAST(id AS INT) FROM range({start}, {end})"
                yield f"INSERT INTO {name} SELECT {rows}"
        case "w":
            yield f"CREATE TABLE {name} USING {kind} AS {_DAYS}"


GENERATED = "a table with a generated column"
"""Delta makes one by its own interface alone: of ``id``, ``a``, and ``p`` as ``id DIV 200``."""

TABLES = ("f", "t", "d", "c", "g", "m", "w")

_JOIN = "FROM {f} f JOIN {d} d ON f.p = d.k WHERE d.x = 1"
_ITS_OWN = "EXISTS (SELECT 1 FROM {d} d WHERE d.k = f.p AND d.x = 1) AND f.a >= 100"
_ORDERED = "SELECT sum(c.a) FROM {c} c JOIN {d} d ON c.k = d.k WHERE d.x = 1"
_FEBRUARY = "year(m.ts) = 2024 AND month(m.ts) = 2"
_ICEBERG, _DELTA = ("iceberg",), ("delta",)


class Case(NamedTuple):
    """A statement, which table it changes (none for a query), of which table the scans are counted,
    the form of the predicate, and the formats: those that take it, and count what it reads."""

    name: str
    text: str
    changes: str = ""
    counted: str = "f"
    form: str = "in"
    formats: tuple[str, ...] = ("delta", "iceberg")


CASES = (
    Case("SELECT with a join", f"SELECT sum(f.a) {_JOIN}"),
    Case("SELECT, literals", f"SELECT sum(f.a) {_JOIN}", form="values"),
    Case("rows in an order: the ends of the keys", _ORDERED, counted="c", formats=_DELTA),
    Case("rows in an order: literals", _ORDERED, counted="c", form="values"),
    Case(
        "a column that the partition is generated from",
        "SELECT sum(g.a) FROM {g} g JOIN {d} d ON g.id = d.id WHERE d.x = 1",
        counted="g",
        formats=_DELTA,
    ),
    Case(
        "keys of a wider type",
        "SELECT sum(f.a) FROM {f} f JOIN (SELECT CAST(k AS BIGINT) AS k, x FROM {d}) d "
        "ON f.p = d.k WHERE d.x = 1",
        formats=_ICEBERG,
    ),
    Case(
        "a column that has hidden partitions",
        "SELECT sum(g.a) FROM {g} g JOIN {d} d ON g.k = d.k WHERE d.x = 1",
        counted="g",
        formats=_ICEBERG,
    ),
    Case(
        "the latest partition, a join with max",
        "SELECT sum(f.a) FROM {f} f JOIN (SELECT max(p) AS m FROM {f}) x ON f.p = x.m",
        formats=_ICEBERG,
    ),
    Case(
        "the last key of a table",
        "SELECT sum(f.a) FROM {f} f WHERE f.p IN (SELECT max(k) FROM {d})",
        formats=_ICEBERG,
    ),
    Case(
        "the last two keys of a table",
        "SELECT sum(f.a) FROM {f} f WHERE f.p IN (SELECT DISTINCT k FROM {d} ORDER BY k DESC "
        "LIMIT 2)",
        formats=_ICEBERG,
    ),
    Case("a month of a time", f"SELECT sum(m.a) FROM {{m}} m WHERE {_FEBRUARY}", counted="m"),
    Case(
        "the day of a time, literals",
        "SELECT sum(m.a) FROM {m} m JOIN {w} w ON CAST(m.ts AS DATE) = w.day WHERE w.x = 1",
        counted="m",
        form="values",
    ),
    Case(
        "MERGE, its source",
        f"MERGE INTO {{t}} t USING (SELECT DISTINCT f.id, f.a {_JOIN}) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET a = s.a",
        changes="t",
    ),
    Case("INSERT", f"INSERT INTO {{t}} SELECT f.id, f.p, f.a {_JOIN}", changes="t"),
    Case(
        "UPDATE, a value that it sets",
        f"UPDATE {{t}} SET a = (SELECT max(f.a) {_JOIN})",
        changes="t",
        formats=_ICEBERG,
    ),
    Case(
        "DELETE, the IN in its condition",
        f"DELETE FROM {{t}} WHERE id IN (SELECT f.id {_JOIN})",
        changes="t",
        formats=_ICEBERG,
    ),
    Case(
        "DELETE, its condition",
        f"DELETE FROM {{f}} f WHERE {_ITS_OWN}",
        changes="f",
        formats=_ICEBERG,
    ),
    Case(
        "DELETE, the last key of a table",
        "DELETE FROM {f} f WHERE f.p IN (SELECT max(k) FROM {d}) AND f.a >= 100",
        changes="f",
        formats=_ICEBERG,
    ),
    Case(
        "UPDATE, its condition",
        f"UPDATE {{f}} f SET a = -1 WHERE {_ITS_OWN}",
        changes="f",
        formats=_ICEBERG,
    ),
    Case(
        "MERGE, literals for its target",
        "MERGE INTO {f} t USING {d} s ON t.p = s.k AND t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET a = -s.x "
        "WHEN NOT MATCHED THEN INSERT (id, p, a) VALUES (s.id, s.k, s.x)",
        changes="f",
        form="values",
    ),
    Case(
        "MERGE, constants of its source",
        "MERGE INTO {f} t USING (SELECT * FROM VALUES (3, 3, 7), (24, 4, 8) AS v(id, k, x)) s "
        "ON t.p = s.k AND t.id = s.id WHEN MATCHED THEN UPDATE SET a = -s.x "
        "WHEN NOT MATCHED THEN INSERT (id, p, a) VALUES (s.id, s.k, s.x)",
        changes="f",
    ),
    Case(
        "DELETE, a month of a time",
        f"DELETE FROM {{m}} AS m WHERE {_FEBRUARY} AND day(m.ts) = 3 AND m.a > 0",
        changes="m",
        counted="m",
        formats=_ICEBERG,
    ),
    Case(
        "UPDATE, a month of a time",
        f"UPDATE {{m}} AS m SET a = -1 WHERE {_FEBRUARY} AND day(m.ts) = 3 AND m.a > 0",
        changes="m",
        counted="m",
        formats=_ICEBERG,
    ),
    Case(
        "INSERT OVERWRITE",
        f"INSERT OVERWRITE {{t}} SELECT f.id, f.p, f.a {_JOIN}",
        changes="t",
    ),
)
