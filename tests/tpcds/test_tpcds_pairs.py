"""Every fact table that Spark prunes by itself in a TPC-DS query is pruned by the rewriter, and the
four that only a second join or a second reference restricts."""

from __future__ import annotations

import pytest

from benchmarks.native_score import measured_pairs

from .support import queries, rewritten, tables_pruned

NATIVE = sorted(measured_pairs())

# What the rewriter prunes and Spark 4.3 by itself does not, by query.
MORE: dict[int, set[str]] = {
    2: {"web_sales", "catalog_sales"},
    59: {"store_sales"},
    72: {"inventory"},
}


@pytest.mark.parametrize(("number", "table"), NATIVE, ids=[f"q{n}-{t}" for n, t in NATIVE])
def test_what_spark_prunes_is_covered(number: int, table: str) -> None:
    assert table in tables_pruned(rewritten(queries()[number]))


def test_there_are_141_of_them() -> None:
    assert len(NATIVE) == 141


def test_what_is_pruned_beyond_spark() -> None:
    more = {
        number: tables_pruned(rewritten(sql)) - {t for n, t in NATIVE if n == number}
        for number, sql in queries().items()
    }
    assert {number: tables for number, tables in more.items() if tables} == MORE
