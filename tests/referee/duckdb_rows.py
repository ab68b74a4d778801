"""``python -m tests.referee.duckdb_rows --seed S --from N --count M``: the random queries of
``rows``, judged by DuckDB.

It is the second judge beside Spark: another planner, with other bugs, and no JVM to start. A query
that DuckDB does not run as it stands is not judged, nor one whose rows differ from run to run, nor
one with a star over USING or NATURAL, whose columns Spark has in another order, nor a world in
which keys of two types are compared, which DuckDB does by rules of its own.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import duckdb

from sqlrewrite import rewrite
from sqlrewrite.plan.facts.type_text import parse
from tests.support.duckdb_text import as_duckdb, spark_like

from . import numbered
from .generator_merges import random_merge
from .generator_world import DOUBLE_QUOTED, World, random_world
from .rows import BATCH, catalog_of, query_of
from .shrink import shrunk

Bag = Counter[str]

JUDGED_BY_SPARK = (
    duckdb.NotImplementedException,
    duckdb.InternalException,
    duckdb.ConversionException,
    duckdb.OutOfRangeException,
)
"""What DuckDB cannot run, and errors of values: where a query raises one, each engine decides."""


@dataclass(slots=True)
class Count:
    """What became of the queries of a run."""

    queries: int = 0
    rewritten: int = 0
    judged: int = 0
    wrong: list[str] = field(default_factory=list)


class Database:
    """A DuckDB with the tables of a world."""

    def __init__(self, world: World) -> None:
        self._connection = spark_like()
        for table in world.tables:
            columns = ", ".join(f"{column.name} {column.type}" for column in table.columns)
            self._connection.execute(f"CREATE TABLE {table.name} ({columns})")
            if table.rows:
                rows = ", ".join(f"({', '.join(row)})" for row in table.rows)
                self._connection.execute(f"INSERT INTO {table.name} VALUES {rows}")

    def bag(self, spark_sql: str) -> Bag:
        """The rows of a Spark query, or of the table that a MERGE leaves, with how often each
        occurs. Raises duckdb.Error."""
        text = as_duckdb(spark_sql)
        target = _MERGE.match(text)
        if target is None:
            return _bag(self._connection.execute(text).fetchall())
        self._connection.execute("BEGIN")
        try:
            self._connection.execute(text)
            return _bag(self._connection.execute(f"SELECT * FROM {target[1]}").fetchall())
        finally:
            self._connection.execute("ROLLBACK")


_MERGE = re.compile(r"\s*MERGE\s+INTO\s+(\w+)")


_MERGES_COLUMNS = re.compile(r"\bNATURAL\b|\bUSING\s*\((?!\s*(?:SELECT|WITH)\b)", re.IGNORECASE)


def _bag(rows: Iterable[tuple[Any, ...]]) -> Bag:
    return Counter(repr(tuple(map(_shown, row))) for row in rows)


def _shown(value: Any) -> Any:
    """The last digits of a float depend on the order of a sum."""
    return f"{value:.9g}" if isinstance(value, float) else value


def fits(world: World) -> bool:
    """Whether DuckDB reads the world's queries as Spark does."""
    settings = dict(world.settings)
    kinds = {
        kind
        for table in world.tables
        for column in table.columns
        if column.name in ("p", "k")
        if (kind := parse(column.type)) is not None
    }
    return settings[DOUBLE_QUOTED] == "false" and len(kinds) == 1


def judge(database: Database, sql: str, catalog: Any, manner: Mapping[str, Any]) -> str | None:
    """What is wrong with the rewritten text; empty if nothing is, None if it cannot be judged."""
    try:
        if "*" in (text := as_duckdb(sql)) and _MERGES_COLUMNS.search(text):
            return None
        before = database.bag(sql)
        if database.bag(sql) != before:
            return None
    except (duckdb.Error, TypeError, ValueError):  # or calls that are cut off, in a shrunk text
        return None
    text = rewrite(sql, catalog, **manner).sql
    try:
        after = database.bag(text)
    except JUDGED_BY_SPARK:
        return None
    except duckdb.Error as error:
        return f"the rewritten text fails: {error}"
    lost, more = before - after, after - before
    return f"lost {dict(lost)}, more {dict(more)}" if lost or more else ""


def run(seed: int, first: int, count: int, merges: bool = False) -> Count:
    """Judges ``count`` queries from ``first``, or so many ``merges``."""
    counted, batch = Count(), -1
    for index in range(first, first + count):
        if index // BATCH != batch:
            batch = index // BATCH
            world = random_world(random.Random(f"{seed}/world/{batch}"))
            fitting = fits(world)
            database, catalog = Database(world), catalog_of(world.ddl())
        if not fitting:
            continue
        sql, manner = query_of(seed, index, world)
        if merges:
            sql = random_merge(random.Random(f"{seed}/merge/{index}"), world)
        counted.queries += 1
        result = rewrite(sql, catalog, **manner)
        if not result.changed:
            continue
        counted.rewritten += 1
        problem = judge(database, sql, catalog, manner)
        counted.judged += problem is not None
        if problem:
            fails = partial(judge, database, catalog=catalog, manner=manner)
            small = shrunk(sql, lambda text, fails=fails: bool(fails(text)))  # type: ignore[misc]
            counted.wrong.append(
                f"--seed {seed} --from {index} --count 1: {problem}\n{sql}\n--- rewritten\n"
                f"{result.sql}\n--- shrunk\n{small}\n"
            )
    return counted


def main() -> int:
    """Runs what the arguments ask for and returns the exit status."""
    parser = numbered.options("duckdb_rows", __doc__, 1000)
    parser.add_argument("--merges", action="store_true", help="MERGEs in place of queries")
    args = parser.parse_args()
    counted = run(args.seed, args.first, args.count, args.merges)
    print(*counted.wrong, sep="\n")
    print(
        f"queries {counted.queries}, rewritten {counted.rewritten}, of these judged "
        f"{counted.judged}, wrong {len(counted.wrong)}"
    )
    return bool(counted.wrong)


if __name__ == "__main__":
    sys.exit(main())
