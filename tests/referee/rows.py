"""``python -m tests.referee.rows --seed S --from N --count M``: random queries, refereed by Spark.

Each query is run as written and as rewritten, and every row, name and type compared. Query N of
seed S is always the same, whatever ran before; ``BATCH`` of them share a world. ``--seconds`` ends
the run early and prints from where to go on. Exit status 1 if anything was wrong or too few
queries were rewritten to mean something.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlrewrite import Catalog, rewrite
from sqlrewrite.settings.spark_conf import VERSION

from . import numbered
from .generator import random_query
from .generator_world import World, random_world, with_derived, with_extremes, with_keys_apart
from .harness import answer, differ, gone, lay, quick, understands
from .shrink import shrunk

BATCH = 40
FILES = 10
"""Every tenth batch is over partitioned files."""
COMPUTED = 7
"""And one of ten over facts whose partition columns are computed from those that are joined."""
APART = 6
"""And one of ten has keys for which conditions raise an error in dimensions alone."""
EXTREME = (1, 4, 9)
"""Three of ten have values for which sums, divisions and casts raise an error."""
TOLD = 200
"""After so many queries a run says where it is."""
ASKED = 5
"""Of the queries that are not rewritten every fifth is shown to Spark, to count what it refuses."""
MANNERS: tuple[dict[str, Any], ...] = (
    *({"predicate": "in"}, {"predicate": "in", "hint": False}, {"predicate": "auto"}),
    *({"predicate": "set"}, {"predicate": "range"}, {"predicate": "in", "through_facts": True}),
)
JVM = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m"
"""Few threads beside the one that works; the best code would cost more than it saves."""
SPEED = frozenset({"DPP120", "DPP121", "DPP123", "DPP124", "DPP125"})
"""The rules that are about what is worthwhile; switched off, more is rewritten."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """A query whose rewritten text gives something else, and how to run it alone."""

    seed: int
    index: int
    problem: str
    original: str
    rewritten: str
    shrunk: str

    def told(self) -> str:
        return (
            f"\n=== --seed {self.seed} --from {self.index} --count 1: {self.problem}\n"
            f"{self.original}\n--- rewritten\n{self.rewritten}\n--- shrunk\n{self.shrunk}\n"
        )


@dataclass(slots=True)
class Count:
    """What became of the queries of a run."""

    queries: int = 0
    sent: int = 0
    refused: int = 0
    rewritten: int = 0
    errors: int = 0
    gone: int = 0
    empty: int = 0
    wrong: list[Wrong] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=Counter)

    def told(self, seconds: float) -> str:
        return (
            f"queries {self.queries}, rewritten {self.rewritten} "
            f"({self.rewritten / max(1, self.queries):.0%}), in {seconds:.0f} s; refused by Spark "
            f"{self.refused} of {self.sent} ({self.refused / max(1, self.sent):.0%}); of the "
            f"rewritten: error before {self.errors}, gone {self.gone}, no row {self.empty}; "
            f"wrong {len(self.wrong)}"
        )


class Table:
    """The session with the world of one batch laid out in it."""

    def __init__(self, session: Any, seed: int, batch: int) -> None:
        self.session = session
        files = batch % FILES == FILES - 1
        self.world: World = random_world(random.Random(f"{seed}/world/{batch}"), files=files)
        if batch % FILES in EXTREME:
            self.world = with_extremes(random.Random(f"{seed}/extremes/{batch}"), self.world)
        if batch % FILES == COMPUTED:
            rng = random.Random(f"{seed}/derived/{batch}")
            self.world = with_derived(rng, self.world)
        if batch % FILES == APART:
            self.world = with_keys_apart(random.Random(f"{seed}/apart/{batch}"), self.world)
        catalog = catalog_of(self.world.ddl())
        self.catalog = replace(catalog, settings={VERSION: session.version})
        quick(session)
        for table in self.world.tables:
            if files:
                self._file(table.name, table.ddl(), table.insert())
            else:
                lay(session, table.name, table.view())
        quick(session, **dict(self.world.settings))

    def _file(self, name: str, ddl: str, insert: str) -> None:
        self.session.sql(f"CREATE DATABASE IF NOT EXISTS {self.world.database}")
        self.session.sql(f"USE {self.world.database}")
        self.session.catalog.dropTempView(name)
        self.session.sql(f"DROP TABLE IF EXISTS {name}")
        self.session.sql(ddl)
        self.session.sql(insert)


def catalog_of(ddl: str) -> Catalog:
    """The rewriter's catalog of these tables."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ddl.sql")
        path.write_text(ddl, encoding="utf-8")
        return Catalog.load(str(path))


def query_of(seed: int, index: int, world: World) -> tuple[str, dict[str, Any]]:
    """The query with this number, and the manner in which it is rewritten."""
    rng = random.Random(f"{seed}/query/{index}")
    manner = dict(rng.choice(MANNERS))
    if rng.random() < 0.6:
        manner["disabled"] = SPEED
    return random_query(rng, world), manner


def referee(table: Table, seed: int, index: int, count: Count) -> None:
    """Runs one query both ways and counts."""
    sql, manner = query_of(seed, index, table.world)
    count.queries += 1
    result = rewrite(sql, table.catalog, **manner)
    if not result.changed:
        if index % ASKED == 0:
            count.sent += 1
            refusal = understands(table.session, sql)
            count.refused += bool(refusal)
            count.refusals[refusal] += bool(refusal)
        return
    before = answer(table.session, sql)
    refused = not before.columns
    if index % ASKED == 0:
        count.sent += 1
        count.refused += refused
        count.refusals[before.condition] += refused
    if refused:
        return
    after = answer(table.session, result.sql)
    count.rewritten += 1
    count.errors += bool(before.error)
    count.gone += gone(before, after)
    count.empty += not before.rows
    problem = differ(before, after)
    if problem and not differ(before, answer(table.session, sql)):
        small = shrunk(sql, lambda text: bool(mistake(table, text, manner)))
        count.wrong.append(Wrong(seed, index, problem, sql, result.sql, small))


def mistake(table: Table, sql: str, manner: dict[str, Any]) -> str:
    """How the rewritten text gives something else than the text; empty if it does not."""
    result = rewrite(sql, table.catalog, **manner)
    if not result.changed:
        return ""
    before = answer(table.session, sql)
    return differ(before, answer(table.session, result.sql)) if before.columns else ""


def run(
    session: Any, seed: int, first: int, count: int, seconds: float = 1e9, *, tell: bool = False
) -> tuple[Count, int]:
    """Referees ``count`` queries from ``first``, and says from where to go on."""
    counted, table, laid = Count(), None, -1
    until = time.monotonic() + seconds
    index = first
    while index < first + count and time.monotonic() < until:
        if table is None or index // BATCH != laid:
            laid = index // BATCH
            table = Table(session.newSession(), seed, laid)
        before = len(counted.wrong)
        referee(table, seed, index, counted)
        if tell and len(counted.wrong) > before:
            print(counted.wrong[-1].told(), flush=True)
        index += 1
        if tell and index % TOLD == 0:
            print(f"{index}: {counted.told(time.monotonic() - until + seconds)}", flush=True)
    return counted, index


def local(folder: str) -> Any:
    """A small Spark of this process: one core, one thread, what it writes in the folder."""
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "2g")
        .config("spark.driver.extraJavaOptions", JVM)
        .config("spark.buffer.pageSize", "65536")  # each sort takes one: by default 64 MB, zeroed
        .config("spark.local.dir", folder)
        .config("spark.sql.warehouse.dir", f"{folder}/warehouse")
        .config("spark.sql.catalogImplementation", "in-memory")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    return session


def main(arguments: list[str] | None = None) -> int:
    """Runs what the arguments ask for and returns the exit status."""
    parser = numbered.options("rows", __doc__, 1000)
    parser.add_argument("--seconds", type=float, default=1e9)
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        session = local(folder)
        started = time.monotonic()
        counted, index = run(session, args.seed, args.first, args.count, args.seconds, tell=True)
        session.stop()
    print(counted.told(time.monotonic() - started))
    print(f"refusals {counted.refusals.most_common(12)}")
    print(f"go on with --seed {args.seed} --from {index}")
    few = counted.queries >= 300 and counted.rewritten * 3 < counted.queries
    return 1 if counted.wrong or few else 0


if __name__ == "__main__":
    sys.exit(main())
