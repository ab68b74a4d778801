"""What Trino prunes by itself, and by what we write: the splits of Hive's tables and of Iceberg's
that it says it has read."""

from __future__ import annotations

import re

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.rulebook import engine
from sqlrewrite.settings.options import Keys

from ..engines.trino_plans import CHAINED, DDL, FLOATS, MISSED, NO_TIE, PRUNED
from .server import PARTITIONED, Scans, Trino

pytestmark = pytest.mark.trino

KNOWN = Catalog.from_ddl(DDL)
PARTITIONS = 20
CONNECTORS = ("hive", "iceberg")
_KEYS = {
    "f": "x % 20",
    "fi": "CAST(x % 20 AS integer)",
    "fd": "CAST(x % 20 AS double)",
    "fc": "CAST(x % 20 AS decimal(9, 2))",
    "fs": "CAST(x % 20 AS varchar)",
    "ft": "DATE '2024-01-01' + (x % 20) * INTERVAL '1' DAY",
}
_DIMENSION = """SELECT x AS k, CAST(x AS varchar) AS n, x IN (3, 5) AS b, x - 3 AS m,
CAST(x AS integer) AS i, CAST(x AS double) AS r, CAST(x AS decimal(9, 2)) AS c,
DATE '2024-01-01' + x * INTERVAL '1' DAY AS p,
CAST(TIMESTAMP '2024-01-01 00:00:00' + x * INTERVAL '1' DAY AS timestamp({})) AS t
FROM UNNEST(sequence(0, 19)) AS t(x)"""
_PRECISION = {"hive": 3, "iceberg": 6}


@pytest.fixture(scope="module", params=CONNECTORS)
def tables(request: pytest.FixtureRequest, trino: Trino) -> tuple[Trino, str]:
    """The tables of the plans under a connector."""
    connector = request.param
    trino.session(connector, "plans")
    by = f"WITH ({PARTITIONED[connector]} = ARRAY['k'])"
    for name, key in _KEYS.items():
        of = f"SELECT x AS v, x % 3 AS x, {key} AS k FROM UNNEST(sequence(1, 200)) AS t(x)"
        trino.rows(f"CREATE TABLE {name} {by} AS {of}")
    for name in "de":
        trino.rows(f"CREATE TABLE {name} AS {_DIMENSION.format(_PRECISION[connector])}")
    trino.rows("CREATE TABLE g AS SELECT k FROM d WHERE b")
    return trino, connector


def _session(tables: tuple[Trino, str], *settings: str) -> Trino:
    """A session of the connector, one whose scans wait for the keys and know no statistics, unless
    it says so."""
    trino, connector = tables
    usual = (f"{connector}.dynamic_filtering_wait_timeout=10s", f"{connector}.statistics_enabled=")
    named = (setting.replace("CONNECTOR", connector) for setting in settings)
    trino.session(connector, "plans", usual[0], f"{usual[1]}false", *named)
    return trino


def _read(scans: Scans) -> int:
    """The splits of a fact, a partition each."""
    return max(scans.splits(table) for table, _, _ in scans.read if table.startswith("f"))


def test_splits(tables: tuple[Trino, str]) -> None:
    """What is left to Trino it prunes by itself; what it is said to miss it reads whole; and what
    is written for that it prunes by, but where its own cast hides the column from any keys. Rows
    stay."""
    trino, wrong = _session(tables), list[tuple[str, object]]()
    for query in (*PRUNED, *MISSED, *NO_TIE, CHAINED, FLOATS):
        result = rewrite(query, KNOWN, dialect="trino", engine="trino")
        before = _read(trino.scans(query))
        after = _read(trino.scans(result.sql)) if result.changed else None
        print(f"{tables[1]}: {before} {after or '':2} {query}")
        hidden = "ft.k = d.t" in query
        if (before < PARTITIONS) != (query in (*PRUNED, CHAINED, FLOATS)):
            wrong.append((query, before))
        if after is not None and (after < PARTITIONS) == hidden:
            wrong.append((result.sql, after))
        if result.changed and trino.rows(result.sql) != trino.rows(query):
            wrong.append((result.sql, "rows"))
    assert wrong == []


BUILT, PROBING = "SELECT * FROM d JOIN f ON f.k = d.k WHERE d.b", PRUNED[0]
OUTER = "SELECT * FROM d LEFT JOIN f ON f.k = d.k WHERE d.b"


def test_statistics_turn_an_inner_join(tables: tuple[Trino, str]) -> None:
    """With the statistics that Trino writes it builds the smaller side of an inner join; of an
    outer one it does not."""
    trino = _session(tables, "CONNECTOR.statistics_enabled=true")
    assert [_read(trino.scans(query)) for query in (BUILT, OUTER)] == [2, PARTITIONS]


def test_sizes_alone_do_not(tables: tuple[Trino, str]) -> None:
    """However a join is distributed, without statistics the right side of the text is built."""
    for how in ("join_distribution_type=PARTITIONED", "join_max_broadcast_table_size=1kB"):
        trino = _session(tables, how)
        assert [_read(trino.scans(query)) for query in (BUILT, PROBING)] == [PARTITIONS, 2]


def _constants(trino: Trino, query: str) -> str:
    def resolve(keys: str, namespace: tuple[str, ...]) -> Keys:
        names = sorted(set(re.findall(r"\[(\d+)\]", trino.rows(keys))))
        return Keys(tuple(names), "bigint", "2026-01-31T09:30:00Z", False)

    written = rewrite(
        query, KNOWN, dialect="trino", engine="trino", predicate="values", resolve=resolve
    )
    assert "f.k IN (3, 5)" in written.sql
    return written.sql


def test_without_dynamic_filters_constants_prune(tables: tuple[Trino, str]) -> None:
    """Where the setting is off no subquery prunes; constants do, as they do where a scan waits for
    no keys, or (Iceberg's, a second) not long enough for those of a busy machine."""
    trino = _session(tables, "enable_dynamic_filtering=false")
    written = rewrite(BUILT, KNOWN, dialect="trino", engine="trino").sql
    constants = _constants(trino, BUILT)
    reads = [_read(trino.scans(query)) for query in (PROBING, BUILT, written, constants)]
    assert reads == [PARTITIONS, PARTITIONS, PARTITIONS, 2]
    trino.session(tables[1], "plans")
    reads = [_read(trino.scans(query)) for query in (PROBING, written, constants)]
    print(f"{tables[1]}, its own wait: {reads}")
    assert reads[-1] == 2


def test_defaults(tables: tuple[Trino, str]) -> None:
    """The values that the engine's file and docs/engines.md tell."""
    trino, connector = tables
    trino.session(connector, "plans")
    settings = (
        line.strip("[]").split(", ")[:2] for line in trino.rows("SHOW SESSION").splitlines()
    )
    defaults = {line[0]: line[-1] for line in settings}
    assert defaults["enable_dynamic_filtering"] == "true"
    assert defaults["join_distribution_type"] == defaults["join_reordering_strategy"] == "AUTOMATIC"
    assert defaults["join_max_broadcast_table_size"] == "100MB"
    assert engine("trino").broadcast_threshold == 100 * 1024 * 1024
    waits = {
        connector: defaults[f"{connector}.dynamic_filtering_wait_timeout"]
        for connector in CONNECTORS
    }
    assert waits == {"hive": "0.00m", "iceberg": "1.00s"}


# --- how much a filter holds ----------------------------------------------------------------------

LIMITS = {
    ("BROADCAST", 45): "ranges=45000,",
    ("BROADCAST", 60): "ranges=1,",
    ("BROADCAST", 120): "ALL",
    ("PARTITIONED", 15): "ranges=15000,",
    ("PARTITIONED", 25): "ranges=1,",
    ("PARTITIONED", 35): "ALL",
}
"""What a filter holds of so many thousand keys, all of which one driver builds."""


def test_limits(trino: Trino) -> None:
    reads = {}
    for how, count in LIMITS:
        trino.session("hive", "limits", f"join_distribution_type={how}", "task_concurrency=1")
        both = f"UNNEST(sequence(1, {count})) AS t(a), UNNEST(sequence(0, 999)) AS u(b)"
        make = f"SELECT a * 1000 + b AS k FROM {both}"
        trino.rows(f"CREATE TABLE IF NOT EXISTS d{count} AS {make}")
        query = f"SELECT count(*) FROM d{count} AS f JOIN d{count} AS d ON f.k = d.k"
        (reads[how, count],) = trino.scans(query).filters
        print(how, count, reads[how, count])
    assert all(limit in reads[name] for name, limit in LIMITS.items())


# --- Iceberg's transforms -------------------------------------------------------------------------

TRANSFORMS = {
    "day(t)": ("t", "TIMESTAMP '2024-01-01 10:00:00' + x * INTERVAL '1' DAY"),
    "truncate(n, 1)": ("n", "chr(CAST(97 + x AS bigint)) || 'x'"),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_transforms_prune(trino: Trino, transform: str) -> None:
    """Keys that have arrived by the first batch of splits prune by Iceberg's own transforms."""
    column, of = TRANSFORMS[transform]
    trino.session("iceberg", "transforms")
    table = f"f_{re.sub(r'[^a-z]', '', transform)}"
    make = f"SELECT x AS v, {of} AS {column} FROM UNNEST(sequence(0, 19)) AS s(x)"
    trino.rows(f"CREATE TABLE {table} WITH (partitioning = ARRAY['{transform}']) AS {make}")
    trino.rows(f"CREATE TABLE d_{table} AS SELECT {column} FROM {table} WHERE v = 3")
    query = f"SELECT * FROM {table} JOIN d_{table} d ON {table}.{column} = d.{column}"
    splits = trino.scans(query).splits(table), trino.scans(f"SELECT * FROM {table}").splits(table)
    print(transform, splits)
    assert splits[0] <= 2 < splits[1]
