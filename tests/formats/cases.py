"""The statements that are run on both formats, as they are and as they are rewritten."""

from __future__ import annotations

from typing import NamedTuple

TABLES = {
    "f": "{partitioned} AS SELECT CAST(id AS INT) AS id, CAST(id % 20 AS INT) AS p, "
    "CAST(id AS INT) AS a FROM range(4000)",
    "t": "{plain} AS SELECT CAST(id AS INT) AS id, CAST(0 AS INT) AS a FROM range(100)",
    "d": "{plain} AS SELECT * FROM VALUES (1, 1, 1), (2, 22, 1), (3, 4003, 2), (2, 9002, 1), "
    "(CAST(NULL AS INT), 5, 1) AS v(k, id, x)",
}
"""Each table, and how it is made; ``f`` has 20 partitions of one file each."""

LAYOUTS = {
    "delta": {"plain": "USING delta", "partitioned": "USING delta PARTITIONED BY (p)"},
    "iceberg": {"plain": "USING iceberg", "partitioned": "USING iceberg PARTITIONED BY (p)"},
}
SCHEMAS = {"delta": "lake", "iceberg": "ice.lake"}

_JOIN = "FROM {f} f JOIN {d} d ON f.p = d.k WHERE d.x = 1"


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
    Case(
        "MERGE, its source",
        f"MERGE INTO {{t}} t USING (SELECT DISTINCT f.id, f.a {_JOIN}) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET a = s.a",
        changes="t",
    ),
    Case("INSERT", f"INSERT INTO {{t}} SELECT f.id, f.a {_JOIN}", changes="t"),
    Case(
        "UPDATE, a value",
        f"UPDATE {{t}} SET a = (SELECT max(f.a) {_JOIN})",
        changes="t",
        formats=("iceberg",),
    ),
    Case(
        "DELETE, its IN",
        f"DELETE FROM {{t}} WHERE id IN (SELECT f.id {_JOIN})",
        changes="t",
        formats=("iceberg",),
    ),
    Case(
        "MERGE, literals for the target",
        "MERGE INTO {f} t USING {d} s ON t.p = s.k AND t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET a = -s.x "
        "WHEN NOT MATCHED THEN INSERT (id, p, a) VALUES (s.id, s.k, s.x)",
        changes="f",
        form="values",
    ),
)
