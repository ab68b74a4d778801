"""The 99 queries of TPC-DS through `enable(spark)`, in three regimes: the same rows? And does what
`dpp-rewrite audit --measure` predicts to be saved come true?

    python -m benchmarks.enabled_rows [--scale 0.01] [--days 1] [--regimes missed,sort-merge,no-dpp]

Each query is given to `spark.sql` with `enable`. Where Spark gets another text, both are run, the
rows compared, and the partitions counted that their scans of facts read. The same 99 texts are
audited as a history, with the regime's settings, and each predicate is asked how many partitions it
keeps. `--days 10` registers every tenth partition alone. The exit status is 1 if any rows differ,
or if the prediction is more than 5 % off. Needs the extras dev and spark, and Java.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from benchmarks.progress import stage, with_progress
from benchmarks.regimes import REGIMES, Regime
from benchmarks.tpcds import settings
from benchmarks.tpcds_data import (
    PARTITION_COLUMN,
    load_tpcds,
    spark_queries,
    table_ddl,
    without_limit,
)
from benchmarks.warehouse import cache_folder, generate_data
from sqlrewrite import Catalog
from sqlrewrite.settings.options import make_options
from sqlrewrite.spark import enable
from sqlrewrite.spark.audit import histories, shapes, summary
from sqlrewrite.spark.pipeline.settings import state
from sqlrewrite.spark.plans.scans import fact_scans
from sqlrewrite.spark.session import Session, session
from sqlrewrite.spark.target import Target
from tests.support.compare_rows import difference

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

USUAL = ("missed", "sort-merge", "no-dpp")
# So little data that to compile a query takes longer than to run it.
_SMALL = (
    ("spark.driver.memory", "3g"),
    ("spark.sql.shuffle.partitions", "1"),
    ("spark.sql.codegen.wholeStage", "false"),
    ("spark.sql.codegen.factoryMode", "NO_CODEGEN"),
)
OFF = 0.05
"""By so much may a prediction be wrong, all queries of a regime together."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=0.01)
    parser.add_argument("--days", type=int, default=1)
    parser.add_argument("--regimes", default=",".join(USUAL))
    asked = parser.parse_args()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with duckdb.connect() as tpcds:
        load_tpcds(tpcds, 0)
        ddl, queries = table_ddl(tpcds), spark_queries(tpcds)
    data = cache_folder(asked.scale).resolve()
    with stage(f"TPC-DS at scale {asked.scale:g} in {data}"):
        generate_data(data, asked.scale)
    wrong = 0
    with (
        tempfile.TemporaryDirectory(prefix="dpp-rewrite-") as work,
        session(Target(master="local[2]", conf=_SMALL)) as running,
    ):
        _register(running.spark, ddl, data, asked.days)
        for name in asked.regimes.split(","):
            with settings(running.spark, REGIMES[name]):
                wrong += _regime(running, REGIMES[name], ddl, queries, Path(work))
    sys.exit(wrong > 0)


def _register(spark: SparkSession, ddl: Mapping[str, str], data: Path, days: int) -> None:
    """Makes the tables, with the partitions of every so many days."""
    spark.sql("CREATE DATABASE tpcds")
    spark.sql("USE tpcds")
    for table, create in ddl.items():
        spark.sql(f"{create}\nLOCATION '{data / table}'")
        if key := PARTITION_COLUMN.get(table):
            found = sorted(it.name.partition("=")[2] for it in (data / table).glob(f"{key}=*"))
            some = " ".join(f"PARTITION ({key} = {_value(it)})" for it in found[::days])
            spark.sql(f"ALTER TABLE {table} ADD {some}")


def _value(name: str) -> str:
    return name if name.isdecimal() else "NULL"


def _regime(
    running: Session,
    regime: Regime,
    ddl: Mapping[str, str],
    queries: Mapping[int, str],
    work: Path,
) -> int:
    """One regime, told; how much is wrong with it."""
    with stage(f"auditing the queries of {regime.name}"):
        foretold = _foretold(running, ddl, queries, work / regime.name)
    saved: dict[int, int] = {}
    spark, wrong, read = running.spark, 0, 0
    plain, given = spark.sql, list[str]()

    def listened(text: str, *args: Any) -> DataFrame:
        given.append(text)
        return plain(text, *args)

    vars(spark)["sql"] = listened
    with enable(spark, log=None, budget=60):
        for number in with_progress(queries, f"queries of {regime.name}"):
            text = queries[number]
            ours = spark.sql(text)
            if given[-1] == text:
                continue
            frame = plain(text)
            differ = difference(frame.collect(), ours.collect())
            if differ and without_limit(text) != text:
                whole = [run(without_limit(text)).collect() for run in (plain, spark.sql)]
                differ = difference(*whole)
            if differ:
                wrong += 1
                print(f"{regime.name} q{number}: other rows: {differ}", flush=True)
            read += _partitions(frame)
            saved[number] = _partitions(frame) - _partitions(ours)
            if saved[number] != foretold.get(number, 0):
                said = f"saves {saved[number]:,}, foretold {foretold.get(number, 0):,}"
                print(f"{regime.name} q{number}: {said}", flush=True)
    del vars(spark)["sql"]
    total, really = sum(foretold.values()), sum(saved.values())
    off = abs(total - really) / max(really, 1)
    print(
        f"{regime.title}: {len(saved)} of {len(queries)} queries rewritten, {wrong} with other "
        f"rows; of {read:,} partitions {really:,} saved, {total:,} foretold: {off:.1%} off",
        flush=True,
    )
    return wrong + (off > OFF)


def _partitions(frame: DataFrame) -> int:
    """The partitions of facts that a query has read."""
    return sum(scan.partitions or 0 for scan in fact_scans(frame))


def _foretold(
    running: Session, ddl: Mapping[str, str], queries: Mapping[int, str], place: Path
) -> dict[int, int]:
    """How many partitions an audit of these queries says that each would not read any more."""
    place.mkdir()
    rows = [{"query_text": it, "schema_name": "tpcds"} for it in queries.values()]
    history = place / "history.json"
    history.write_text("".join(json.dumps(it) + "\n" for it in rows), "utf-8")
    catalog = Catalog.from_ddl(";\n".join(ddl.values()), schema="tpcds")
    wanted = make_options(when="missed", predicate="auto")
    wanted = replace(wanted, engine=state(running.spark).engine)
    job = shapes.AuditJob(catalog, wanted, str(place / "out"), timeout=60)
    read = histories.history(running, [str(history)], {}, None)
    counts = shapes.decide_shapes(running, read, job, lambda step: None)
    found = summary.measured(running, summary.summarize(running, job.place, counts, len(queries)))
    numbers = {text: number for number, text in queries.items()}
    return {numbers[it.text]: it.saved_partitions or 0 for it in found.top}


if __name__ == "__main__":
    main()
