"""Of what Spark prunes by itself, what do we write? Queries after the shapes of Spark's own
DynamicPartitionPruningSuite, and others, over small partitioned tables, each run on Spark.

    python -m benchmarks.pruning_suite [--only WORD] [--predicate auto] [--json FILE]

`benchmarks/pruning/` has the tables, their rows and the queries. Each query runs as it is and,
where a predicate is written, rewritten; with Spark's defaults and without broadcast joins. Of the
scans of partitioned tables it is counted how many partitions they read. The exit status is 1 if a
rewritten query gives other rows, or reads more. Names that begin with "no pruning" are neighbours
in which nothing is to be pruned. Plans alone are compared by `benchmarks.versions`. Needs PySpark.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.progress import with_progress
from sqlrewrite import Catalog, Verdict, rewrite
from sqlrewrite.spark.plans.scans import class_name, has_metric, metric, plan_nodes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FOLDER = Path(__file__).resolve().parent / "pruning"
DATABASE = "pruning_suite"

_THRESHOLDS = (
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.adaptive.autoBroadcastJoinThreshold",
)
_QUERY = re.compile(r"^-- name: ([^\n]+)\n(.*?);\s*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Read:
    """The partitions that the scans of a table read, the fewest first; ``pruned`` says that a
    filter that is only known at run time has spared one of them a file."""

    table: str
    partitions: tuple[int, ...]
    pruned: bool


@dataclass(frozen=True, slots=True)
class Ran:
    """A query that has run: its rows as texts, sorted, and what was read. ``error`` is the first
    line of one that it raised."""

    rows: tuple[str, ...]
    reads: tuple[Read, ...]
    error: str = ""

    @property
    def pruned(self) -> bool:
        """Whether some scan was pruned."""
        return any(read.pruned for read in self.reads)


@dataclass(frozen=True, slots=True)
class Result:
    """A query with what each reading of it read, by defaults and without broadcast joins; of one
    that is not rewritten, why."""

    name: str
    spark: Ran
    spark_sorted: Ran
    ours: Ran | None
    ours_sorted: Ran | None
    why: str

    @property
    def written(self) -> bool:
        """Whether a predicate was written."""
        return self.ours is not None

    @property
    def wrong(self) -> str:
        """What is wrong with the rewritten query, if something is."""
        for before, after in ((self.spark, self.ours), (self.spark_sorted, self.ours_sorted)):
            if after is None or before.error:
                continue
            if after.error:
                return after.error
            if after.rows != before.rows:
                return f"other rows: {len(before.rows)}, {len(after.rows)}"
            if _more(before, after):
                return "reads more"
        return ""

    @property
    def gains(self) -> bool:
        """Whether the rewritten query reads less without broadcast joins."""
        return self.ours_sorted is not None and _more(self.ours_sorted, self.spark_sorted)


def _more(before: Ran, after: Ran) -> bool:
    """Whether the scans of a table read more than before; a further scan, of the key query, is none
    of them."""
    later = {read.table: read.partitions for read in after.reads}
    for read in before.reads:
        counts = later.get(read.table, ())
        number = min(len(counts), len(read.partitions))
        if sum(counts[:number]) > sum(read.partitions[:number]):
            return True
    return False


def queries() -> dict[str, str]:
    """The queries by their names."""
    text = (FOLDER / "queries.sql").read_text("utf-8")
    return {match[1]: match[2] for match in _QUERY.finditer(text)}


def prepare(spark: SparkSession) -> None:
    """Makes the tables anew, in a database of their own."""
    spark.sql(f"DROP DATABASE IF EXISTS {DATABASE} CASCADE")
    spark.sql(f"CREATE DATABASE {DATABASE}")
    spark.sql(f"USE {DATABASE}")
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "static")
    for name in ("tables.sql", "rows.sql"):
        for statement in (FOLDER / name).read_text("utf-8").split(";\n"):
            if statement.strip():
                spark.sql(statement)


def run(spark: SparkSession, sql: str) -> Ran:
    """Runs a query and looks at its executed plan."""
    try:
        frame = spark.sql(sql)
        rows = tuple(sorted(map(str, frame.collect())))
    except Exception as error:
        return Ran((), (), str(error).splitlines()[0][:200])
    return Ran(rows, tuple(reads(frame)))


def reads(frame: DataFrame) -> Iterator[Read]:
    """What the scans of each partitioned table read, in the plan of a DataFrame that has run."""
    counts: dict[str, list[tuple[int, bool]]] = defaultdict(list)
    for node in plan_nodes(frame._jdf.queryExecution().executedPlan(), set()):
        if class_name(node) != "FileSourceScanExec" or not has_metric(node, "numPartitions"):
            continue
        late = has_metric(node, "staticFilesNum")  # counted where a filter holds a subquery
        pruned = late and metric(node, "numFiles") < metric(node, "staticFilesNum")
        table = str(node.tableIdentifier().get().table())
        counts[table].append((metric(node, "numPartitions"), pruned))
    for table, scans in sorted(counts.items()):
        scans.sort()
        partitions, pruned_ones = zip(*scans, strict=True)
        yield Read(table, partitions, any(pruned_ones))


def measure(
    spark: SparkSession, catalog: Catalog, only: str, options: dict[str, Any]
) -> list[Result]:
    """All queries whose names hold a word, as they are and rewritten."""
    results = []
    chosen = {name: sql for name, sql in queries().items() if only in name}
    for name in with_progress(chosen, "queries"):
        sql = chosen[name]
        result = rewrite(sql, catalog, **options)
        why = "; ".join(str(error.message) for error in result.errors)
        for candidate in result.candidates:
            failing = [rule for rule in candidate.rules if rule.outcome.value != "pass"]
            if candidate.verdict is not Verdict.REWRITTEN and failing and not why:
                why = f"{failing[0].code} {failing[0].message}"
        alone, alone_sorted = _in_both(spark, sql)
        ours, ours_sorted = _in_both(spark, result.sql) if result.changed else (None, None)
        results.append(Result(name, alone, alone_sorted, ours, ours_sorted, why))
    return results


def _in_both(spark: SparkSession, sql: str) -> tuple[Ran, Ran]:
    for setting in _THRESHOLDS:
        spark.conf.unset(setting)
    broadcast = run(spark, sql)
    for setting in _THRESHOLDS:
        spark.conf.set(setting, "-1")
    return broadcast, run(spark, sql)


def show(console: Console, results: list[Result]) -> None:
    """The table, query by query, and its sums."""
    table = Table(box=SIMPLE_HEAD)
    for heading in ("query", "Spark reads", "we", "Spark, no broadcast", "we", "Spark", "we", ""):
        table.add_column(heading)
    for result in results:
        table.add_row(
            result.name,
            *(
                _shown(ran)
                for ran in (result.spark, result.ours, result.spark_sorted, result.ours_sorted)
            ),
            "prunes" if result.spark.pruned else "",
            "[green]write[/]" if result.written else "[red]—[/]" if result.spark.pruned else "—",
            f"[red]{escape(result.wrong)}[/]"
            if result.wrong
            else escape("" if result.written else result.why[:150]),
        )
    console.print(table)
    prunes = [result for result in results if result.spark.pruned]
    console.print(
        f"{len(results)} queries; Spark prunes {len(prunes)}, of these we write "
        f"{sum(prune.written for prune in prunes)}; of all we write "
        f"{sum(result.written for result in results)}, "
        f"{sum(result.gains for result in results)} read less without broadcast joins; "
        f"{sum(bool(result.wrong) for result in results)} wrong"
    )


def _shown(ran: Ran | None) -> str:
    if ran is None:
        return ""
    shown = (f"{read.table} {' '.join(map(str, read.partitions))}" for read in ran.reads)
    return ran.error[:30] or ", ".join(shown)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pruning_suite", description=__doc__)
    parser.add_argument("--only", default="", help="only queries whose names hold this")
    parser.add_argument("--predicate", default="in", help="default: %(default)s")
    parser.add_argument("--when", default="eligible", help="default: %(default)s")
    parser.add_argument("--json", type=Path, help="where the results go, too")
    arguments = parser.parse_args()
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    )
    prepare(spark)
    catalog = Catalog.load(str(FOLDER / "tables.sql"))
    options = {"predicate": arguments.predicate, "when": arguments.when}
    results = measure(spark, catalog, arguments.only, options)
    spark.sql("USE default")
    spark.sql(f"DROP DATABASE {DATABASE} CASCADE")
    show(Console(width=250 if not sys.stdout.isatty() else None), results)
    if arguments.json:
        arguments.json.write_text(
            json.dumps([asdict(result) for result in results], indent=1), "utf-8"
        )
    sys.exit(any(result.wrong for result in results))


if __name__ == "__main__":
    main()
