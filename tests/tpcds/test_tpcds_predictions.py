"""What Spark prunes by itself in the 99 TPC-DS queries is predicted as it was measured."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.native_score import Score, measured_pairs, score, score_in
from benchmarks.tpcds_data import PARTITION_COLUMN
from sqlrewrite import Catalog, rewrite
from sqlrewrite.warehouse import Table

from .support import catalog, queries, tables
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
        number: {
            candidate.fact.table
            for candidate in result.candidates
            if candidate.verdict.value == "rewritten"
        }
        for number, sql in queries().items()
        if (result := rewrite(sql, catalog(), when="missed")).changed
    }
    assert written == MORE


def known(settings: dict[str, str], dimension: int) -> Catalog:
    """The catalog as ``catalog pull`` would write it: with settings, and all sizes."""
    sized = {
        name: replace(relation, size_in_bytes=10**9 if relation.partitioned_by else dimension)
        for name, relation in catalog().relations.items()
        if isinstance(relation, Table)
    }
    return replace(catalog().with_relations(sized), settings=settings)


THRESHOLD = "spark.sql.autoBroadcastJoinThreshold"


@pytest.mark.parametrize(
    ("when", "threshold", "dimension", "changed"),
    [
        # Where all is known, eligible too leaves to Spark what it surely finds by itself.
        ("eligible", "10m", 10**6, set(MORE)),
        ("auto", "10m", 10**6, set(MORE)),
        ("auto", "-1", 10**6, None),
        ("auto", "10m", 2 * 10**7, None),
    ],
)
def test_what_pays_in_a_regime(
    when: str, threshold: str, dimension: int, changed: set[int] | None
) -> None:
    """What Spark prunes by itself, or all of the queries of which a join says anything."""
    pulled, numbers = known({THRESHOLD: threshold}, dimension), range(1, 100, 1 if changed else 9)
    rewritten = {
        number for number in numbers if rewrite(queries()[number], pulled, when=when).changed
    }
    if changed is None:
        changed = {number for number in numbers if rewrite(queries()[number], catalog()).changed}
    assert rewritten == changed


def test_without_broadcasts_nothing_is_pruned() -> None:
    prediction = score_in("sort-merge", queries(), tables())
    assert not prediction.measured
    assert not prediction.predicted


def test_under_int_keys_a_union_hides_the_column(default: Score) -> None:
    """The scans of q5 and q54 that stand below a UNION ALL, and no other."""
    prediction = score_in("int-keys", queries(), tables())
    assert prediction.wrong == []
    queried = {number for number, _ in prediction.uses}
    before = {(number, table) for number, table in default.predicted if number in queried}
    assert before - prediction.predicted == {
        *((5, table) for table in PARTITION_COLUMN if table != "inventory"),
        (54, "catalog_sales"),
        (54, "web_sales"),
    }
