"""How near to the limit are our predicates? For each fact scan of the 99 TPC-DS queries, the
partitions that a query needs against those that the inserted predicates keep.

    python -m benchmarks.oracle [--scale 1] [--queries 2,59,72] [--all] [--json FILE]

Computed in DuckDB. A partition is a distinct value of the partition column, NULL too. It is needed
if one of its rows contributes to the result; that is asked three ways, each a part of the one
before, and the gap is what the predicates keep beyond the second:

  block   rows that survive the joins and the WHERE of the scan's own SELECT
  joins   … and the joins and conditions of the query around it, but for conditions on totals
          (HAVING, an average, a rank): no predicate on partitions can follow those, since the
          facts have to be read to know them
  result  … and those

"out to" says how far that was followed: to the whole query, to a SELECT around the scan's
own (whose condition asks for a value from a subquery, where each row around it matters), or not
beyond the block. A partition that is needed for the result and not kept is lost, and the predicate
wrong: it is shown in red, and the exit status is 1. What DuckDB does not answer within the limit is
asked one block further in, which is a bound from above; where that fails as well there is a "?".
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer

import duckdb
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from sqlglot import exp

from benchmarks.probes import Probe, Reach, Scan, fact_scans, kept, outward, own_block, parse
from benchmarks.progress import stage
from benchmarks.totals import joins_only
from benchmarks.tpcds_data import (
    FIXTURES,
    PARTITION_COLUMN,
    load_tpcds,
    query_numbers,
    spark_queries,
)
from sqlrewrite import Candidate, Catalog, ConfigError, rewrite
from sqlrewrite.text.source import Lines

VERSION = 1

UNTIED = "the query compares the partition column with nothing"


class RefusedError(Exception):
    """A probe that DuckDB did not answer; the message says why."""


@dataclass(frozen=True, slots=True)
class Needed:
    """How many partitions are needed, and how far out that was asked."""

    partitions: int
    reach: Reach


@dataclass(frozen=True, slots=True)
class Measured:
    """A fact scan of a query and its partitions; ``None`` was not to be computed.

    ``line`` and ``column`` are its place in the text of the query, as Spark SQL; ``why`` says why
    nothing was inserted there, where nothing was.
    """

    query: int
    table: str
    alias: str
    line: int
    column: int
    partitions: int
    kept: int | None
    block: Needed | None
    joins: Needed | None
    result: Needed | None
    lost: int
    predicates: tuple[str, ...]
    problems: tuple[str, ...]
    why: str = ""

    @property
    def gap(self) -> int | None:
        """The partitions kept that no join asks for."""
        if self.kept is None or self.joins is None:
            return None
        return self.kept - self.joins.partitions


@dataclass(slots=True)
class Database:
    """A DuckDB that gives up on a probe after ``limit`` seconds; each probe is asked once."""

    connection: duckdb.DuckDBPyConnection
    limit: float
    answers: dict[str, frozenset[int] | RefusedError] = field(default_factory=dict)

    def partitions(self, query: exp.Query) -> frozenset[int]:
        """The partitions in a probe's rows. Raises RefusedError."""
        sql = query.sql("duckdb")
        if sql not in self.answers:
            self.answers[sql] = self._ask(sql)
        answer = self.answers[sql]
        if isinstance(answer, RefusedError):
            raise answer
        return answer

    def _ask(self, sql: str) -> frozenset[int] | RefusedError:
        timer = Timer(self.limit, self.connection.interrupt)
        timer.start()
        try:
            rows = self.connection.execute(sql).fetchall()
        except duckdb.InterruptException:
            return RefusedError(f"no answer after {self.limit:g} s")
        except duckdb.Error as error:
            return RefusedError(str(error).partition("\n")[0])
        finally:
            timer.cancel()
        # Where an outer join found no partner there is no row of the fact, and NULL here.
        return frozenset(value for (value,) in rows if value is not None)


def main() -> None:
    options = parse_options()
    console, progress = Console(highlight=False), Console(stderr=True, highlight=False)
    with TemporaryDirectory(prefix="dpp-rewrite-") as spill, duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"SET temp_directory = '{spill}'")  # not .tmp in the current folder
        connection.execute(f"SET memory_limit = '{options.memory}'")
        with stage(f"generating TPC-DS at scale {options.scale:g}"):
            load_tpcds(connection, options.scale)
        database = Database(connection, options.limit)
        queries = spark_queries(connection)
        chosen = {number: queries[number] for number in options.queries or queries}
        measured: list[Measured] = []
        try:
            for number, sql in chosen.items():
                start = time.perf_counter()
                with progress.status(f"q{number} …"):
                    found = list(measure(database, number, sql, options.predicate))
                line = summary_line(number, found, time.perf_counter() - start)
                progress.print(line, soft_wrap=True)
                measured += found
        except ConfigError as error:
            sys.exit(f"--predicate: {error}")
    measured.sort(key=_largest_gap_first)
    show(console, measured, every=options.all)
    if options.json:
        report = as_json(measured, options.scale, options.predicate)
        options.json.write_text(report, "utf-8")
    sys.exit(1 if any(scan.lost for scan in measured) else 0)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.oracle",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--scale", type=float, default=1.0, help="of TPC-DS (default: 1)")
    parser.add_argument(
        "--queries", type=query_numbers, metavar="2,59,…", help="these only (default: all 99)"
    )
    parser.add_argument("--predicate", default="in", help="the form to insert (default: in)")
    parser.add_argument(
        "--limit", type=float, default=30, metavar="SECONDS", help="for one probe (default: 30)"
    )
    parser.add_argument("--memory", default="6GB", help="for DuckDB (default: %(default)s)")
    parser.add_argument("--all", action="store_true", help="show the scans without a gap, too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all that was measured")
    return parser.parse_args()


# --- measuring ------------------------------------------------------------------------------------


def measure(
    database: Database,
    number: int,
    sql: str,
    form: str = "in",
    columns: Mapping[str, str] = PARTITION_COLUMN,
    catalog: Catalog | None = None,
) -> Iterator[Measured]:
    """Each fact scan of one query, in the order of its text; ``columns`` are the partition columns
    of the fact tables. Raises ConfigError for a form of predicate that is not there."""
    catalog = catalog or Catalog.load(str(FIXTURES / "ddl.sql"))
    found = _by_place(rewrite(sql, catalog, predicate=form).candidates)
    tree, lines = parse(sql), Lines(sql)
    for scan in fact_scans(tree, columns):
        place = lines.place(scan.offset)
        here = found.pop(place, [])
        written = tuple(dict.fromkeys(it.predicate for it in here if it.predicate is not None))
        measured = measure_scan(database, number, tree, scan, place, written, columns)
        yield measured if written else replace(measured, why=_why(here))
    assert not found, f"q{number}: candidates for no scan of the text: {found}"


def _by_place(candidates: Iterable[Candidate]) -> dict[tuple[int, int], list[Candidate]]:
    """The candidates by the line and column of their scan."""
    found: dict[tuple[int, int], list[Candidate]] = {}
    for candidate in candidates:
        found.setdefault((candidate.fact.line, candidate.fact.column_number), []).append(candidate)
    return found


def _why(candidates: Sequence[Candidate]) -> str:
    """Why nothing was inserted for a scan."""
    reasons = [it.reason for it in candidates if it.reason is not None]
    return reasons[0].message if reasons else UNTIED


def measure_scan(
    database: Database,
    number: int,
    tree: exp.Query,
    scan: Scan,
    place: tuple[int, int],
    predicates: tuple[str, ...],
    columns: Mapping[str, str],
) -> Measured:
    """One scan with its place in the text and the predicates that were inserted for it."""
    problems: list[str] = []
    every = database.partitions(kept(tree, scan, ()))
    own, ways = own_block(tree, scan), list(outward(tree, scan))
    joins = [[_of_joins(probe, columns) for probe in way] for way in ways]
    block = _asked(database, [[_of_joins(own, columns), *way] for way in joins], problems)
    joined = _asked(database, [way[::-1] for way in joins], problems)
    result = _asked(database, [way[::-1] for way in ways], problems)
    try:
        left = database.partitions(kept(tree, scan, predicates))
    except RefusedError as error:
        problems.append(f"the predicate: {error}")
        left = None
    return Measured(
        query=number,
        table=scan.table,
        alias=scan.alias,
        line=place[0],
        column=place[1],
        partitions=len(every),
        kept=None if left is None else len(left),
        block=_count(block),
        joins=_count(joined),
        result=_count(result),
        lost=len(result[0] - left) if result is not None and left is not None else 0,
        predicates=predicates,
        problems=tuple(dict.fromkeys(problems)),
    )


def _of_joins(probe: Probe, columns: Mapping[str, str]) -> Probe:
    return Probe(joins_only(probe.query, columns), probe.reach)


def _asked(
    database: Database, ways: Sequence[Sequence[Probe]], problems: list[str]
) -> tuple[frozenset[int], Reach] | None:
    """What the first probe with an answer says on each way, together; None where one has none."""
    found: frozenset[int] = frozenset()
    reach = Reach.QUERY
    for way in ways:
        refusals = []
        for probe in way:
            try:
                found |= database.partitions(probe.query)
            except RefusedError as error:
                refusals.append(f"{probe.reach}: {error}")
                continue
            reach = min(reach, probe.reach)
            break
        else:
            problems += refusals
            return None
    return found, reach


def _count(asked: tuple[frozenset[int], Reach] | None) -> Needed | None:
    return None if asked is None else Needed(len(asked[0]), asked[1])


# --- reports --------------------------------------------------------------------------------------


def _largest_gap_first(scan: Measured) -> tuple[int, int, int, int]:
    gap = scan.gap
    return (-scan.lost, -scan.partitions if gap is None else -gap, scan.query, scan.line)


def show(console: Console, measured: Sequence[Measured], *, every: bool) -> None:
    """The scans with a gap, or all, and in sentences how many there are of each kind."""
    table = Table(
        title="Partitions of each fact scan",
        title_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    table.add_column("query")
    table.add_column("scan", no_wrap=True)
    for heading in ("table", "kept", "block", "joins", "result", "gap"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("out to")
    shown = [it for it in measured if every or it.gap != 0 or it.lost]
    for scan in shown:
        name = scan.table if scan.alias == scan.table else f"{scan.table} {scan.alias}"
        needed = [
            _number(it.partitions if it else None) for it in (scan.block, scan.joins, scan.result)
        ]
        table.add_row(
            f"q{scan.query}",
            name,
            f"{scan.partitions:,}",
            _number(scan.kept) if scan.predicates else f"[dim]{_number(scan.kept)}[/]",
            *needed,
            f"[bold]{_number(scan.gap)}[/]",
            str(scan.joins.reach) if scan.joins else "?",
            style="red" if scan.lost else None,
        )
    if shown:
        console.print(table)
    for sentence in sentences(measured):
        console.print(sentence)


def summary_line(number: int, found: Sequence[Measured], seconds: float) -> str:
    """What a person who waits is told of a query."""
    gaps = ", ".join(f"{scan.alias} {_number(scan.gap)}" for scan in found)
    return f"q{number:02}  {seconds:4.0f} s  gap: {gaps or 'no scan'}"


def _number(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def sentences(measured: Sequence[Measured]) -> Iterator[str]:
    """The whole in a few lines; partitions are summed over the scans whose gap is known."""
    known = [scan for scan in measured if scan.gap is not None]
    total = sum(scan.partitions for scan in known)
    left = sum(scan.kept or 0 for scan in known)
    joins = sum(scan.joins.partitions for scan in known if scan.joins)
    written = [scan for scan in known if scan.predicates]
    tight = sum(scan.gap == 0 for scan in known)
    yield (
        f"{len(measured)} scans: {total:,} partitions, of which the predicates keep {left:,} "
        f"and the joins need {joins:,}."
    )
    yield (
        f"{len(written)} have a predicate; {tight} keep just what the joins need, "
        f"{sum(scan.gap == 0 for scan in written)} of them with a predicate."
    )
    yield from _bounds(known)
    for scan in measured:
        for problem in scan.problems:
            yield f"[yellow]q{scan.query} {scan.alias}:[/] {escape(problem)}"
    if lost := [scan for scan in measured if scan.lost]:
        where = ", ".join(f"q{scan.query} {scan.alias} ({scan.lost:,})" for scan in lost)
        yield f"[bold red]Lost partitions, so wrong predicates:[/] {where}"


def _bounds(known: Sequence[Measured]) -> Iterator[str]:
    """What is kept and needed where a predicate bounds the scan, and where none does, and why."""
    for why in sorted({scan.why for scan in known}):
        scans = [scan for scan in known if scan.why == why]
        kept = sum(scan.kept or 0 for scan in scans)
        joins = sum(scan.joins.partitions for scan in scans if scan.joins)
        said = why or "bounded by a predicate"
        yield f"{escape(said)} ({len(scans)} scans): {kept:,} partitions kept, {joins:,} needed."


def as_json(measured: Sequence[Measured], scale: float, form: str) -> str:
    """All that was measured, as one object; a reach is told in words."""
    scans = [{**asdict(scan), "gap": scan.gap} for scan in measured]
    for scan in scans:
        for name in ("block", "joins", "result"):
            if scan[name] is not None:
                scan[name] = {**scan[name], "reach": str(scan[name]["reach"])}
    report = {
        "version": VERSION,
        "scale": scale,
        "predicate": form,
        "duckdb": duckdb.__version__,
        "scans": scans,
    }
    return json.dumps(report, indent=2) + "\n"


if __name__ == "__main__":
    main()
