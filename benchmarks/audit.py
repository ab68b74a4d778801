"""A history of queries audited: texts a second, shapes a second, and what the driver holds.

    python -m benchmarks.audit [--queries 1000000] [--shapes 50000] [--cores 2] [--keep FOLDER]

The history is made of the 99 queries of TPC-DS and of the queries in fixtures/queries: each shape
is one of these as a derived table with a name of its own, each text has other values in the place
of its years. Then the whole job runs on a local Spark of so many cores, twice: the second time
nothing is new. Last, what judging a sample of the texts takes in one process is set against
sqlglot's parse of the same. Needs the extras dev and spark, and Java.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import duckdb
import sqlglot

from benchmarks.progress import say
from benchmarks.tpcds_data import load_tpcds, spark_queries
from sqlrewrite import Catalog
from sqlrewrite.audit.judged_text import folded, judged
from sqlrewrite.settings.options import make_options
from sqlrewrite.spark import audit, histories
from sqlrewrite.spark.session import session
from sqlrewrite.spark.target import Target
from sqlrewrite.sql.statements.fingerprint import shape

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
SAMPLE = 400
_NUMBER = re.compile(r"(?<=[=<>] )[1-9]\d{3}(?=\)|\s+(?i:and|or)\b|\s*$)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=1_000_000)
    parser.add_argument("--shapes", type=int)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="make the history here, and use the one there")
    arguments = parser.parse_args()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    made_of = list(bases())
    shapes = arguments.shapes or max(1, arguments.queries // 20)
    catalog = known_tables()
    with tempfile.TemporaryDirectory() as folder:
        place = arguments.keep or Path(folder)
        texts = place / f"history-{arguments.queries}-{shapes}.json"
        if not texts.exists():
            say(f"writing a history of {arguments.queries:,} queries")
            write_history(texts, made_of, arguments.queries, shapes)
        _run(catalog, texts, folder, arguments)
    say("parsing and judging a sample in one process")
    _parse(catalog, made_of)


def known_tables() -> Catalog:
    """The tables that the queries read."""
    return Catalog.load(str(FIXTURES / "tpcds" / "ddl.sql"), str(FIXTURES / "queries" / "ddl.sql"))


def bases() -> Iterator[str]:
    """The texts that shapes are made of: queries, one a text."""
    with duckdb.connect() as tpcds:
        load_tpcds(tpcds, 0)
        yield from spark_queries(tpcds).values()
    for path in sorted((FIXTURES / "queries").rglob("*.sql")):
        text = path.read_text("utf-8", "replace").strip()
        one = ";" not in text and "--" not in text
        if one and text[:6].lower() in ("select", "with a", "with d"):
            yield text


def write_history(path: Path, texts: Sequence[str], queries: int, shapes: int) -> None:
    """The history, JSON a row a line: shapes as often as one over their rank."""
    path.parent.mkdir(parents=True, exist_ok=True)
    chance = random.Random(queries)
    with path.open("w", encoding="utf-8") as file:
        for number in range(queries):
            rank = (
                number if number < shapes else min(int(chance.paretovariate(0.5)) - 1, shapes - 1)
            )
            text = f"SELECT * FROM ({texts[rank % len(texts)].rstrip(';')}) AS q_{rank}"
            replaced: dict[str, str] = {}

            def other(match: re.Match[str], replaced: dict[str, str] = replaced) -> str:
                old = match.group()
                new = str(chance.randint(10 ** (len(old) - 1), 10 ** len(old) - 1))
                return replaced.setdefault(old, new)

            row = {
                "statement_text": _NUMBER.sub(other, text),
                "executed_by": f"user{chance.randrange(50)}",
                "read_bytes": chance.randrange(1 << 40),
                "total_duration_ms": chance.randrange(100_000),
            }
            file.write(json.dumps(row) + "\n")


def _run(catalog: Catalog, texts: Path, folder: str, asked: argparse.Namespace) -> None:
    partitions = ("spark.sql.shuffle.partitions", str(2 * asked.cores))
    conf = (("spark.driver.memory", "2g"), partitions)
    with session(Target(master=f"local[{asked.cores}]", conf=conf)) as running:
        job = audit.AuditJob(catalog, make_options(when="missed"), f"{folder}/out")
        history = histories.history(running, [str(texts)], {}, None)
        for when in ("the first time", "the second time"):
            steps: list[tuple[str, float]] = []

            def told(what: str, steps: list[tuple[str, float]] = steps, when: str = when) -> None:
                steps.append((what, time.perf_counter()))
                if what:
                    say(f"{when}: {what}")

            counts = audit.decide_shapes(running, history, job, told)
            told("adding up")
            summary = audit.summarize(running, job.place, counts, 10)
            told("")
            for (what, begun), (_, ended) in pairwise(steps):
                print(f"{what:45} {ended - begun:8.1f} s")
            counting = steps[1][1] - steps[0][1]
            print(f"{asked.queries / counting:,.0f} texts a second are counted")
            for total in summary.totals:
                print(f"    {total.what:10} {total.shapes:8,} shapes {total.runs:10,} runs")
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"the driver's Python held {used:,.0f} MB at most")


def _parse(catalog: Catalog, queries: Sequence[str]) -> None:
    """Judging against parsing, and folding, in processor time of one process."""
    texts = random.Random(1).sample(list(queries), min(SAMPLE, len(queries)))
    options = make_options(when="missed")
    readable = [
        text for text in texts if judged(text, None, catalog, options, 60).outcome != "error"
    ]

    def parse(text: str) -> None:
        with suppress(sqlglot.errors.SqlglotError):
            sqlglot.parse(text, read="spark")

    times = {}
    measured: Sequence[tuple[str, Callable[[str], object]]] = (
        ("parsing", parse),
        ("judging", lambda it: judged(it, None, catalog, options, 60)),
        ("the shape", shape),
        ("a known text", folded),
    )
    for name, work in measured:
        times[name] = min(_took(work, readable) for _ in range(3))
        print(f"{name:18} {times[name] / len(readable) * 1e6:8.0f} µs a text")
    print(f"judging takes {times['judging'] / times['parsing']:.2f} × sqlglot's parse")


def _took(work: Callable[[str], object], texts: Sequence[str]) -> float:
    begun = time.process_time()
    for text in texts:
        work(text)
    return time.process_time() - begun


if __name__ == "__main__":
    main()
