"""What do the predicates save on Spark? Queries of TPC-DS, original against rewritten.

    python -m benchmarks.reducers [--queries 2,59,72] [--regimes broadcast,sort-merge,no-dpp]
                                  [--scale 1] [--data FOLDER] [--runs 3] [--json FILE]

Partitions read by the scans of each fact table, and seconds, in three regimes: with Spark's
defaults, with broadcast joins off (as where the dimensions are large), and with dynamic pruning
off, where the predicate takes the form "set". The two texts take turns, the one first and then the
other; seconds are medians, partitions are those of the last run. Both run without the LIMIT of the
whole, and their rows are compared: where they differ the exit status is 1.

The data is made once, with DuckDB, and kept. Needs the extras dev and spark, and Java.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import duckdb
from rich.console import Console
from rich.table import Table

from benchmarks.tpcds import (
    FIXTURES,
    load_tpcds,
    query_numbers,
    spark_queries,
    table_ddl,
    without_limit,
)
from benchmarks.warehouse import cache_folder, generate_data, register_tables, start_spark
from sqlrewrite import Catalog, ConfigError, rewrite
from sqlrewrite.spark.scans import TableScan, partitioned_scans
from tests.rows import difference

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VERSION = 1


@dataclass(frozen=True, slots=True)
class Regime:
    """Settings of Spark to measure under, and the form of predicate that is to prune there."""

    name: str
    title: str
    predicate: str
    settings: Mapping[str, str]


REGIMES = (
    Regime("broadcast", "broadcast joins on", "in", {}),
    Regime(
        "sort-merge", "broadcast joins off", "in", {"spark.sql.autoBroadcastJoinThreshold": "-1"}
    ),
    Regime(
        "no-dpp",
        "dynamic pruning off",
        "set",
        {"spark.sql.optimizer.dynamicPartitionPruning.enabled": "false"},
    ),
)


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two texts: the seconds of each run, and what the scans of the last one read."""

    seconds: tuple[float, ...]
    scans: tuple[TableScan, ...]

    @property
    def median(self) -> float:
        """The median seconds of a run."""
        return median(self.seconds)

    @property
    def partitions(self) -> Counter[str]:
        """The partitions read by fact table, over all its scans."""
        read: Counter[str] = Counter()
        for scan in self.scans:
            read[scan.table] += scan.partitions
        return read


@dataclass(frozen=True, slots=True)
class Compared:
    """A query in a regime; ``rewritten`` is None where nothing was inserted, ``difference`` says
    how the rows differ."""

    query: int
    original: Side
    rewritten: Side | None
    difference: str | None


@dataclass(frozen=True, slots=True)
class Measured:
    """A regime and its queries; ``skipped`` says why there are none."""

    regime: Regime
    queries: tuple[Compared, ...]
    skipped: str | None = None


def main() -> None:
    options = parse_options()
    console, progress = Console(highlight=False), Console(stderr=True, highlight=False)
    data: Path = (options.data or cache_folder(options.scale)).resolve()
    with progress.status(f"TPC-DS at scale {options.scale:g} in {data} …"):
        generate_data(data, options.scale)
    with duckdb.connect() as tpcds:
        load_tpcds(tpcds, 0)
        ddl, queries = table_ddl(tpcds), spark_queries(tpcds)
    chosen = {number: without_limit(queries[number]) for number in options.queries}
    catalog = Catalog.load(str(FIXTURES / "ddl.sql"))
    with tempfile.TemporaryDirectory(prefix="dpp-rewrite-") as work:
        spark = start_spark(Path(work), options.memory, "reducers")
        try:
            with progress.status("registering the tables …"):
                partitions = register_tables(spark, ddl, data)
            measured = [
                _measure(spark, regime, chosen, catalog, options.runs, progress)
                for regime in REGIMES
                if regime.name in options.regimes
            ]
            version = spark.version
        finally:
            spark.stop()
    console.print(f"Spark {version}, scale {options.scale:g}, medians of {options.runs} runs")
    for regime in measured:
        show(console, regime, partitions)
    if options.json:
        report = as_json(measured, partitions, version, options.scale)
        options.json.write_text(report, "utf-8")
    sys.exit(1 if any(it.difference for regime in measured for it in regime.queries) else 0)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reducers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--queries",
        type=query_numbers,
        default=[2, 59, 72],
        metavar="2,59,…",
        help="default: 2,59,72",
    )
    known = [regime.name for regime in REGIMES]
    parser.add_argument(
        "--regimes",
        type=_regimes,
        default=known,
        metavar="NAME,…",
        help=f"default: {','.join(known)}",
    )
    parser.add_argument("--scale", type=float, default=1.0, help="of TPC-DS (default: 1)")
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        help=f"where the tables are, or go (default: {cache_folder(1)})",
    )
    parser.add_argument("--runs", type=int, default=3, help="of each text (default: 3)")
    parser.add_argument("--memory", default="6g", help="of Spark's driver (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all that was measured")
    options = parser.parse_args()
    if options.runs < 1:
        parser.error(f"--runs {options.runs}: one run at least is needed")
    return options


def _regimes(text: str) -> list[str]:
    names, known = text.split(","), [regime.name for regime in REGIMES]
    if not set(names) <= set(known):
        raise argparse.ArgumentTypeError(f"names of {', '.join(known)} are wanted, not {text!r}")
    return names


# --- measuring ------------------------------------------------------------------------------------


def _measure(
    spark: SparkSession,
    regime: Regime,
    queries: Mapping[int, str],
    catalog: Catalog,
    runs: int,
    progress: Console,
) -> Measured:
    try:
        texts = {
            number: rewrite(sql, catalog, predicate=regime.predicate).sql
            for number, sql in queries.items()
        }
    except ConfigError as error:
        return Measured(regime, (), str(error))
    compared = []
    with settings(spark, regime.settings):
        for number, sql in queries.items():
            with progress.status(f"{regime.title}: q{number} …"):
                compared.append(compare(spark, number, sql, texts[number], runs))
    return Measured(regime, tuple(compared))


@contextmanager
def settings(spark: SparkSession, changed: Mapping[str, str]) -> Iterator[None]:
    """Settings of a session, as they were before when it is over."""
    before = {name: spark.conf.get(name) for name in changed}
    for name, value in changed.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, was in before.items():
            spark.conf.set(name, str(was))


def compare(spark: SparkSession, number: int, sql: str, rewritten: str, runs: int) -> Compared:
    """The two texts in turns; only the original where the other is the same."""
    texts = [sql] if rewritten == sql else [sql, rewritten]
    seconds: dict[str, list[float]] = {text: [] for text in texts}
    rows: dict[str, list[Any]] = {}
    scans: dict[str, tuple[TableScan, ...]] = {}
    for _ in range(runs):
        for text in texts:
            start = time.perf_counter()
            frame = spark.sql(text)
            rows[text] = frame.collect()
            seconds[text].append(round(time.perf_counter() - start, 2))
            scans[text] = tuple(partitioned_scans(frame))
    original, *others = (Side(tuple(seconds[text]), scans[text]) for text in texts)
    return Compared(
        query=number,
        original=original,
        rewritten=others[0] if others else None,
        difference=difference(rows[sql], rows[rewritten]),
    )


# --- reports --------------------------------------------------------------------------------------


def show(console: Console, measured: Measured, partitions: Mapping[str, int]) -> None:
    """One regime as a table: a line for each fact table of each query, with the partitions that it
    has and those that were read, and the seconds of the query."""
    regime = measured.regime
    title = f"{regime.title.capitalize()}, predicate {regime.predicate!r}"
    if measured.skipped:
        console.print(f"\n{title}: skipped, {measured.skipped}")
        return
    table = Table("query", title=title, title_justify="left")
    table.add_column("fact", no_wrap=True)
    for heading in ("of", "Spark", "rewritten", "Spark", "rewritten"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("rows")
    for it in measured.queries:
        for first, fact in _numbered(it.original.partitions):
            reads = it.original.partitions[fact]
            now = it.rewritten.partitions[fact] if it.rewritten else None
            table.add_row(
                f"q{it.query}" if first else "",
                fact,
                f"{partitions[fact]:,}",
                _reads(it.original, fact),
                _reads(it.rewritten, fact) if it.rewritten else "no predicate",
                f"{it.original.median:.1f} s" if first else "",
                f"{it.rewritten.median:.1f} s" if first and it.rewritten else "",
                _verdict(it) if first else "",
                style="green" if now is not None and now < reads else None,
            )
        table.add_section()
    console.print()
    console.print(table)
    for it in measured.queries:
        if it.difference:
            console.print(f"[bold red]q{it.query}, other rows:[/]", it.difference)


def _numbered(facts: Counter[str]) -> Iterator[tuple[bool, str]]:
    return ((number == 0, fact) for number, fact in enumerate(sorted(facts)))


def _reads(side: Side, fact: str) -> str:
    """The partitions read, and by how many scans where it is not one."""
    scans = sum(scan.table == fact for scan in side.scans)
    return f"{side.partitions[fact]:,}" + (f" ({scans} scans)" if scans != 1 else "")


def _verdict(compared: Compared) -> str:
    if compared.rewritten is None:
        return ""
    return "[bold red]differ[/]" if compared.difference else "same"


def as_json(
    measured: Sequence[Measured], partitions: Mapping[str, int], spark: str, scale: float
) -> str:
    """All that was measured, as one object."""
    report = {
        "version": VERSION,
        "spark": spark,
        "scale": scale,
        "partitions": dict(partitions),
        "regimes": [
            {
                **asdict(it.regime),
                "skipped": it.skipped,
                "queries": [
                    {
                        "query": query.query,
                        "difference": query.difference,
                        "original": _side(query.original),
                        "rewritten": _side(query.rewritten) if query.rewritten else None,
                    }
                    for query in it.queries
                ],
            }
            for it in measured
        ],
    }
    return json.dumps(report, indent=2) + "\n"


def _side(side: Side) -> dict[str, object]:
    return {
        "median": side.median,
        "partitions": dict(side.partitions),
        **asdict(side),
    }


if __name__ == "__main__":
    main()
