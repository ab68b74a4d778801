"""What Spark prunes by itself in the 99 TPC-DS queries is predicted as it was measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.native_score import Score, measured_pairs, score
from benchmarks.tpcds import FIXTURES, PARTITION_COLUMN
from sqlrewrite import Catalog, rewrite
from sqlrewrite.rulebook import rules_folder

from .support import catalog, queries
from .test_tpcds_pairs import MORE


@pytest.fixture(scope="module")
def default() -> Score:
    return score(queries(), catalog(), measured_pairs())


def test_no_prediction_is_wrong(default: Score) -> None:
    """All fact tables that a query reads: 47 of them Spark reads whole."""
    assert default.counts() == {
        (True, True): 141,
        (True, False): 0,
        (False, True): 0,
        (False, False): 47,
    }
    assert default.wrong == []


def test_a_wrong_prediction_is_seen(default: Score) -> None:
    other = score({2: queries()[2], 3: queries()[3]}, catalog(), frozenset({(2, "web_sales")}))
    assert other.wrong == [(2, "web_sales"), (3, "store_sales")]
    assert other.counts()[True, False] == other.counts()[False, True] == 1


def test_what_is_missed_is_what_is_written() -> None:
    """Of all predicates those remain that prune what Spark by itself reads whole."""
    written = {
        number: {it.fact.table for it in done.candidates if it.verdict.value == "rewritten"}
        for number, sql in queries().items()
        if (done := rewrite(sql, catalog(), when="missed")).changed
    }
    assert written == MORE


def test_without_broadcasts_nothing_is_pruned(tmp_path: Path) -> None:
    """SPARK_FACTS.md: with broadcast joins off, not one of 215 scans is pruned."""
    text = (rules_folder() / "engines" / "spark.toml").read_text("utf-8")
    path = tmp_path / "spark.toml"
    path.write_text(text.replace("broadcast_threshold = 10485760", "broadcast_threshold = -1"))
    assert not score(queries(), catalog(), frozenset(), str(path)).predicted


def test_under_int_keys_a_union_hides_the_column(tmp_path: Path, default: Score) -> None:
    """SPARK_FACTS.md: INT partition columns against a BIGINT d_date_sk lose the eight scans of q5
    and q54 that stand below a UNION ALL, and no other."""
    text = (FIXTURES / "ddl.sql").read_text("utf-8")
    for column in PARTITION_COLUMN.values():
        assert f"{column} BIGINT" in text
        text = text.replace(f"{column} BIGINT", f"{column} INT")
    path = tmp_path / "ddl.sql"
    path.write_text(text)
    narrow = score(queries(), Catalog.load(str(path)), frozenset())
    assert narrow.predicted < default.predicted
    assert default.predicted - narrow.predicted == {
        *((5, table) for table in PARTITION_COLUMN if table != "inventory"),
        (54, "catalog_sales"),
        (54, "web_sales"),
    }
