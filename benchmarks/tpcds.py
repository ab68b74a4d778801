"""The 99 queries of TPC-DS on Spark, original against rewritten: rows, partitions, bytes, seconds.

    python -m benchmarks.tpcds [--regimes default,sort-merge] [--queries 2,59,72] [--runs 3]
                               [--scale 1] [--data FOLDER] [--report]

The tables are partitioned Parquet in a Hive metastore (embedded Derby), the facts by their date
key; both are made once, with DuckDB, and kept. In each regime (see --help) both texts of a query
run in turn, the one first and then the other, --runs times; their rows are compared, without the
LIMIT of the whole where that leaves open which of several equal rows it keeps. Queries in which
nothing is inserted are not run. The log beside the data holds every run: what was cut off goes on
where it stopped, and --report shows what there is without running anything.

Writes docs/tpcds.json and docs/tpcds.svg, or into --output; the exit status is 1 if rows differ.
Needs the extras dev and spark, and Java.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
from rich.console import Console

from benchmarks.progress import progress_bar, stage
from benchmarks.regimes import (
    NARROW,
    REGIMES,
    SAME,
    Regime,
    Run,
    Setup,
    Side,
    append,
    begin_log,
    current,
    digest,
    read_log,
)
from benchmarks.tpcds_data import (
    FIXTURES,
    load_tpcds,
    narrow_keys,
    query_numbers,
    spark_queries,
    table_ddl,
    without_limit,
    write_ddl,
)
from benchmarks.tpcds_report import save, show
from benchmarks.warehouse import cache_folder, generate_data, register_tables, start_spark
from sqlrewrite import Catalog, rewrite
from sqlrewrite.spark.plans.scans import fact_scans
from tests.support.compare_rows import difference

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Texts = Mapping[tuple[str, int], tuple[str, str]]
"""The original and the rewritten text, by regime and query."""

DOCS = FIXTURES.parent.parent / "docs"


def main() -> None:
    options = parse_options()
    data: Path = (options.data or cache_folder(options.scale)).resolve()
    log = data.with_name(data.name + ".jsonl")
    with duckdb.connect() as tpcds:
        load_tpcds(tpcds, 0)
        ddl, queries = table_ddl(tpcds), spark_queries(tpcds)
    texts = rewritten_texts(ddl, queries)
    if not options.report:
        chosen = {
            (name, number): texts[name, number]
            for name in options.regimes
            for number in options.queries or queries
            if (name, number) in texts
        }
        _measure(options, data, log, ddl, chosen)
    setup, runs = read_log(log)
    if setup is None:
        sys.exit(f"nothing has been measured yet: {log} is not there")
    runs = current(runs, texts)
    show(Console(highlight=False), setup, runs)
    save(options.output, setup, runs)
    sys.exit(any(run.rows != SAME for run in runs))


def parse_options() -> argparse.Namespace:
    regimes = "\n".join(f"  {regime.name:<12}{regime.title}" for regime in REGIMES.values())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.tpcds",
        description=__doc__,
        epilog=f"regimes:\n{regimes}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--queries", type=query_numbers, metavar="2,59,…", help="default: all")
    parser.add_argument(
        "--regimes", type=_regimes, default=list(REGIMES), metavar="NAME,…", help="default: all"
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
    parser.add_argument("--report", action="store_true", help="run nothing")
    parser.add_argument(
        "--output",
        type=Path,
        default=DOCS,
        metavar="FOLDER",
        help="where tpcds.json and tpcds.svg go (default: docs)",
    )
    return parser.parse_args()


def _regimes(text: str) -> list[str]:
    names = text.split(",")
    if not set(names) <= set(REGIMES):
        raise argparse.ArgumentTypeError(f"names of {', '.join(REGIMES)} are wanted, not {text!r}")
    return names


def rewritten_texts(ddl: Mapping[str, str], queries: Mapping[int, str]) -> Texts:
    """Both texts of each query that is rewritten, regime by regime."""
    texts = {}
    with tempfile.TemporaryDirectory(prefix="dpp-rewrite-") as folder:
        for regime in REGIMES.values():
            path = Path(folder) / "ddl.sql"
            write_ddl(_declared(ddl, regime.database), path)
            catalog = Catalog.load(str(path))
            for number, sql in queries.items():
                result = rewrite(sql, catalog, **regime.choices)
                if result.changed:
                    texts[regime.name, number] = (sql, result.sql)
    return texts


def _declared(ddl: Mapping[str, str], database: str) -> Mapping[str, str]:
    return narrow_keys(ddl) if database == NARROW else ddl


# --- measuring ------------------------------------------------------------------------------------


def _measure(
    options: argparse.Namespace, data: Path, log: Path, ddl: Mapping[str, str], texts: Texts
) -> None:
    with stage(f"TPC-DS at scale {options.scale:g} in {data}"):
        generate_data(data, options.scale)
    metastore = data.with_name(data.name + "-metastore")
    with tempfile.TemporaryDirectory(prefix="dpp-rewrite-") as work:
        spark = start_spark(Path(work), options.memory, "tpcds", metastore)
        try:
            for database in dict.fromkeys(REGIMES[name].database for name, _ in texts):
                with stage(f"registering the tables of {database}"):
                    tables = _declared(ddl, database)
                    partitions = register_tables(spark, tables, data, database)
            setup = Setup(spark.version, options.scale, partitions)
            measured = {
                (run.regime, run.query, run.number, run.texts) for run in begin_log(log, setup)
            }
            todo = [
                (number, REGIMES[name], query)
                for number in range(options.runs)
                for name, query in texts
                if (name, query, number, digest(*texts[name, query])) not in measured
            ]
            for database in {regime.database for _, regime, _ in todo}:
                with stage(f"warming up {database}"):
                    warm_up(spark, database, partitions)
            with progress_bar(len(todo), "runs") as advance:
                for number, regime, query in todo:
                    advance(f"{regime.name} q{query}, run {number + 1}", 1)
                    append(log, run(spark, regime, query, number, *texts[regime.name, query]))
        finally:
            spark.stop()


def warm_up(spark: SparkSession, database: str, facts: Iterable[str]) -> None:
    """Has Spark list the files of each fact table: whoever reads it first would pay for that."""
    for table in facts:
        spark.table(f"{database}.{table}").inputFiles()


def run(
    spark: SparkSession, regime: Regime, query: int, number: int, original: str, rewritten: str
) -> Run:
    """Both texts, once; which of them comes first changes with the query and with the run."""
    sides: dict[str, Side] = {}
    rows: dict[str, list[Any]] = {}
    with settings(spark, regime):
        texts = (original, rewritten) if (query + number) % 2 == 0 else (rewritten, original)
        for text in texts:
            start = time.perf_counter()
            frame = spark.sql(text)
            rows[text] = frame.collect()
            seconds = round(time.perf_counter() - start, 3)
            sides[text] = Side(seconds, tuple(fact_scans(frame)))
        wrong = difference(rows[original], rows[rewritten])
        if wrong and without_limit(original) != original:
            whole = [spark.sql(without_limit(text)).collect() for text in (original, rewritten)]
            wrong = difference(*whole)
    texts_name = digest(original, rewritten)
    return Run(
        regime.name, query, number, texts_name, wrong or SAME, sides[original], sides[rewritten]
    )


@contextmanager
def settings(spark: SparkSession, regime: Regime) -> Iterator[None]:
    """The settings and the tables of a regime; the settings as they were before when it is over."""
    before = {name: spark.conf.get(name) for name in regime.settings}
    spark.sql(f"USE {regime.database}")
    for name, value in regime.settings.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, was in before.items():
            spark.conf.set(name, str(was))


if __name__ == "__main__":
    main()
