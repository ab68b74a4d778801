"""What `enable(spark)` costs: the first sight of each TPC-DS query, and the second.

    python -m benchmarks.enable

The tables of TPC-DS stand empty in a local Spark. Each query is given to `spark.sql`, which
analyzes it and runs nothing: without `enable`, with it for the first time (its tables are looked up
and it is decided), and again. What is ours of the second time is measured with a Spark that answers
nothing. What both processes use of the processor is told beside: of the first time it has the
questions that Spark is asked, in Spark. Needs the extras dev and spark, and Java.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.progress import say
from benchmarks.tpcds_data import load_tpcds, spark_queries, table_ddl
from sqlrewrite.spark import enable
from sqlrewrite.spark.session import session
from sqlrewrite.spark.target import Target

REPEATED = 2_000


def main() -> None:
    with duckdb.connect() as tpcds:
        load_tpcds(tpcds, 0)
        ddl, queries = table_ddl(tpcds), list(spark_queries(tpcds).values())
    with session(Target()) as running:
        spark = running.spark
        for statement in ddl.values():
            spark.sql(statement)
        say("warming up Spark")
        _each(spark.sql, queries)
        say("the 99 queries without enable")
        used = [_used(spark)]
        without = _each(spark.sql, queries)
        used.append(_used(spark))
        with enable(spark, log=None, ttl=3600) as enabled:
            say("the 99 queries with enable, twice")
            first = _each(spark.sql, queries)
            used.append(_used(spark))
            second = _each(spark.sql, queries)
            say("known texts, with a Spark that answers nothing")
            own = _own(spark, enabled, queries[:1] * REPEATED)
            named = _own(spark, enabled, ["SELECT :a"] * REPEATED, {"a": 1})
        for what, begun, ended in zip(
            ("not enabled", "first time"), used[:2], used[1:], strict=True
        ):
            python, java = (after - before for before, after in zip(begun, ended, strict=True))
            print(f"{what:26} {python:10.2f} s of the processor in Python {java:10.2f} s in Spark")
        _show("spark.sql, not enabled", without)
        _show("enabled, the first time", first)
        _show("enabled, the second time", second)
        _show("ours of the second time", own)
        _show("the same with parameters", named)


def _each(run: Callable[..., Any], texts: Sequence[str], *args: Any) -> list[float]:
    """The seconds that each text takes."""
    times = []
    for text in texts:
        begun = time.perf_counter()
        run(text, *args)
        times.append(time.perf_counter() - begun)
    return times


def _used(spark: Any) -> tuple[float, float]:
    """The seconds of the processor that Python and Spark have used (on Linux)."""
    fields = Path(f"/proc/{spark.sparkContext._gateway.proc.pid}/stat").read_text("utf-8")
    user, system = fields.rpartition(")")[2].split()[11:13]
    return time.process_time(), (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _own(spark: Any, enabled: Any, texts: Sequence[str], *args: Any) -> list[float]:
    """What a known text takes where Spark takes nothing."""
    spark.sql(texts[0], *args)
    original, enabled._own_sql = enabled._own_sql, lambda *given: None
    try:
        return _each(spark.sql, texts, *args)
    finally:
        enabled._own_sql = original


def _show(what: str, seconds: Sequence[float]) -> None:
    median, mean = statistics.median(seconds) * 1e3, statistics.mean(seconds) * 1e3
    print(f"{what:26} {median:10.4f} ms in the median {mean:10.4f} ms in the mean")


if __name__ == "__main__":
    main()
