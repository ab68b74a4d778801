"""The pure parts of ``benchmarks.reducers``: a run's sums, the table, the report."""

from __future__ import annotations

import io
import json
from argparse import ArgumentTypeError
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.reducers import REGIMES, Compared, Measured, Side, as_json, show
from benchmarks.tpcds import query_numbers
from benchmarks.warehouse import generate_data
from sqlrewrite.spark.scans import TableScan

PARTITIONS = {"store_sales": 1824, "inventory": 261}


def scan(table: str, partitions: int) -> TableScan:
    return TableScan(table, partitions, partitions, partitions, False, 0, 0, table)


BEFORE = Side((9.0, 2.0, 4.0), (scan("store_sales", 1824), scan("store_sales", 1823)))
AFTER = Side((1.0, 3.0, 2.0), (scan("store_sales", 30),))
PRUNED = Compared(59, BEFORE, AFTER, None)
ALONE = Compared(72, Side((5.0,), (scan("inventory", 261),)), None, None)
WRONG = Compared(2, BEFORE, AFTER, "1 differ")


def shown(measured: Measured) -> str:
    stream = io.StringIO()
    show(Console(file=stream, width=120), measured, PARTITIONS)
    return stream.getvalue()


def test_a_side_adds_up_its_scans_and_takes_the_median() -> None:
    assert BEFORE.partitions == {"store_sales": 3647}
    assert BEFORE.median == 4.0


def test_the_table_tells_both_sides() -> None:
    text = shown(Measured(REGIMES[0], (PRUNED, ALONE)))
    for part in ("q59", "3,647 (2 scans)", "30", "4.0 s", "2.0 s", "same", "no predicate"):
        assert part in text


def test_other_rows_are_told() -> None:
    text = shown(Measured(REGIMES[0], (WRONG,)))
    assert "differ" in text
    assert "q2, other rows: 1 differ" in text


def test_a_regime_that_cannot_be_measured_says_why() -> None:
    text = shown(Measured(REGIMES[2], (), "no predicate form is called 'set'"))
    assert text.strip().endswith("skipped, no predicate form is called 'set'")


def test_the_json_report() -> None:
    measured = [Measured(REGIMES[0], (PRUNED, ALONE)), Measured(REGIMES[2], (), "why")]
    report = json.loads(as_json(measured, PARTITIONS, "4.3.0", 1))
    assert report["partitions"] == PARTITIONS
    first, second = report["regimes"]
    assert (first["name"], first["predicate"], first["skipped"]) == ("broadcast", "in", None)
    pruned, alone = first["queries"]
    assert pruned["original"]["partitions"] == {"store_sales": 3647}
    assert pruned["rewritten"]["seconds"] == [1.0, 3.0, 2.0]
    assert pruned["rewritten"]["median"] == 2.0
    assert alone["rewritten"] is None
    assert (second["skipped"], second["queries"]) == ("why", [])


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
