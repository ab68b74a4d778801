"""The pure parts of ``benchmarks.tpcds``: the log, what its runs come to, the reports."""

from __future__ import annotations

import io
import json
from argparse import ArgumentTypeError
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.regimes import (
    REGIMES,
    SAME,
    Run,
    Setup,
    Side,
    append,
    begin_log,
    current,
    digest,
    read_log,
)
from benchmarks.tpcds import rewritten_texts
from benchmarks.tpcds_data import PARTITION_COLUMN, query_numbers
from benchmarks.tpcds_report import TRINO, TRINO_SUMS, as_json, compared, mean_ratio, plot, show
from benchmarks.warehouse import generate_data
from sqlrewrite.spark.plans.scans import TableScan

SETUP = Setup("4.3.0", 1, {"store_sales": 1824, "inventory": 261})
TEXTS = digest("SELECT 1", "SELECT 2")


def scan(table: str, partitions: int, pruned: bool = False) -> TableScan:
    return TableScan(table, partitions, 1, 2, pruned, 10 * partitions, 0, f"tpcds.{table}")


def run(number: int, seconds: float, faster: float, query: int = 59, rows: str = SAME) -> Run:
    old = Side(seconds, (scan("store_sales", 1824), scan("store_sales", 1823)))
    new = Side(faster, (scan("store_sales", 30, pruned=True),))
    return Run("default", query, number, TEXTS, rows, old, new)


RUNS = [run(0, 9.0, 1.0), run(1, 2.0, 3.0), run(2, 4.0, 2.0)]


def shown(runs: list[Run]) -> str:
    stream = io.StringIO()
    show(Console(file=stream, width=160), SETUP, runs)
    return stream.getvalue()


def test_medians_and_sums() -> None:
    (query,) = compared(RUNS)["default"]
    assert (query.original.median, query.rewritten.median, query.ratio) == (4.0, 2.0, 0.5)
    assert query.original.seconds == (9.0, 2.0, 4.0)
    assert (query.original.partitions, query.rewritten.partitions) == (3647, 30)
    assert query.original.reads["store_sales"].scans == 2
    assert not query.original.reads["store_sales"].pruned
    assert query.rewritten.reads["store_sales"].pruned


def test_faster_and_slower_mean_by_more_than_noise() -> None:
    within, faster, slower = (
        compared([run(0, 2.0, first), run(1, 4.0, second)])["default"][0]
        for first, second in ((3.0, 1.0), (1.5, 1.9), (4.1, 5.0))
    )
    assert [(comparison.faster, comparison.slower) for comparison in (within, faster, slower)] == [
        (False, False),
        (True, False),
        (False, True),
    ]


def test_the_mean_of_ratios_is_geometric() -> None:
    queries = compared([run(0, 1.0, 4.0, 1), run(0, 4.0, 1.0, 2)])["default"]
    assert mean_ratio(queries) == pytest.approx(1.0)


def test_the_tables_tell_both_sides() -> None:
    text = shown([*RUNS, run(0, 1.0, 1.5, query=72)])
    for part in ("3,647 → 30", "7,294 → 60", "q72", "1.50", "Spark's defaults"):
        assert part in text
    (line,) = (line for line in shown(RUNS).splitlines() if line.strip().startswith("q75"))
    assert line.split() == ["q75", "57%", "58%", "–"]


def test_how_many_got_faster_by_how_much() -> None:
    runs = [run(0, 4.0, seconds, query) for query, seconds in enumerate((1.0, 1.5, 2.5, 3.9), 1)]
    shares = shown(runs).partition("bytes less")[2]
    (line,) = (line for line in shares.splitlines() if line.strip().startswith("Spark's defaults"))
    assert line.split()[2:] == ["2", "(99%)", "1", "(99%)", "0"]


def test_one_run_tells_no_noise() -> None:
    (query,) = compared(RUNS[:1])["default"]
    assert not query.faster
    assert shown(RUNS[:1]).split("0.11")[1].split()[:2] == ["?", "?"]


def test_other_rows_are_told_first() -> None:
    assert shown([run(0, 1.0, 1.0, rows="1 differ")]).startswith(
        "default q59, other rows: 1 differ"
    )


def test_trino_s_figures_are_those_it_sums_up() -> None:
    """18 queries over 50 % faster, 7 by 30 to 50 %; they sum up more queries below than they
    list."""
    faster = [1 - after / before for before, after, *_ in TRINO.values()]
    assert sum(comparison > 0.5 for comparison in faster) == 18 == TRINO_SUMS["over 50 %"][0]
    assert all(comparison > 0.2 for comparison in faster)


def test_the_json_report() -> None:
    report = json.loads(as_json(SETUP, compared([*RUNS, run(0, 1.0, 1.0, query=2)])))
    assert report["partitions"] == SETUP.partitions
    (regime,) = report["regimes"]
    assert regime["name"] == "default"
    assert [query["query"] for query in regime["queries"]] == [2, 59]
    assert regime["queries"][1]["original"]["seconds"] == [9.0, 2.0, 4.0]
    assert regime["queries"][1]["rewritten"]["reads"]["store_sales"]["pruned"] is True


@pytest.mark.long  # for which .ci/run installs matplotlib
def test_the_plot(tmp_path: Path) -> None:
    runs = [run(0, 2.0, 1.0 + query / 10, query) for query in range(1, 20)]
    plot(compared(runs), SETUP, tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text("utf-8")
    assert "Spark's defaults" in text
    assert "q1<" in text


def test_a_log_goes_on_where_it_stopped(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    assert read_log(log) == (None, [])
    assert begin_log(log, SETUP) == []
    append(log, RUNS[0])
    with log.open("a") as file:
        file.write('{"regime": "defau')  # cut off in the middle of a line
    assert begin_log(log, SETUP) == RUNS[:1]
    append(log, RUNS[1])
    assert read_log(log) == (SETUP, RUNS[:2])
    with pytest.raises(SystemExit, match="at scale 1: name another"):
        begin_log(log, Setup("5.0.0", 1, SETUP.partitions))


def test_runs_of_other_texts_are_passed_over() -> None:
    assert current(RUNS, {("default", 59): ("SELECT 1", "SELECT 2")}) == RUNS
    assert current(RUNS, {("default", 59): ("SELECT 1", "SELECT 3")}) == []
    assert current(RUNS, {("no-dpp", 59): ("SELECT 1", "SELECT 2")}) == []


def test_each_regime_has_its_texts() -> None:
    facts = {
        "store_sales": "CREATE TABLE store_sales (ss_sold_date_sk BIGINT) USING parquet "
        "PARTITIONED BY (ss_sold_date_sk)",
        "date_dim": "CREATE TABLE date_dim (d_date_sk BIGINT, d_year INT) USING parquet",
    }
    others = [table for table in PARTITION_COLUMN if table not in facts]
    ddl = {**facts, **{table: f"CREATE TABLE {table} (x INT)" for table in others}}
    sql = "SELECT 1 FROM store_sales, date_dim WHERE ss_sold_date_sk = d_date_sk AND d_year = 2000"
    texts = rewritten_texts(ddl, {3: sql, 4: "SELECT 1"})
    assert set(texts) == {(name, 3) for name in REGIMES if name != "missed"}
    assert "collect_set" in texts["no-dpp", 3][1]


def test_data_of_another_scale_is_not_taken_for_it(tmp_path: Path) -> None:
    (tmp_path / "_COMPLETE").write_text("10", "utf-8")
    generate_data(tmp_path, 10)
    with pytest.raises(SystemExit, match="holds TPC-DS at scale 10, not 1: name another folder"):
        generate_data(tmp_path, 1)


def test_query_numbers() -> None:
    assert query_numbers("2, 59,72") == [2, 59, 72]
    for text in ("", "x", "0", "100", "2;3"):
        with pytest.raises(ArgumentTypeError):
            query_numbers(text)
