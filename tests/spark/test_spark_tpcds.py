"""Five TPC-DS queries on a local Spark, original and rewritten, one of them also as `enable` has it
run: same rows, fewer partitions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.tpcds_data import PARTITION_COLUMN, copy_table, table_ddl, without_limit
from sqlrewrite.spark import enable
from tests.support.compare_rows import difference
from tests.tpcds.support import database, queries, rewritten

from .runs import broadcast_joins, in_database, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.long]

# A comma join; five dimensions; a snapshot; a fact that a LEFT JOIN preserves; a union of three.
CASES = {
    3: ("store_sales",),
    7: ("store_sales",),
    21: ("inventory",),
    40: ("catalog_sales",),
    60: ("store_sales", "catalog_sales", "web_sales"),
}
TABLES = """
    catalog_returns catalog_sales customer_address customer_demographics date_dim inventory item
    promotion store_sales warehouse web_sales
""".split()

# A part of the rows is enough: each partition is a file to write, to list and to open.
KEPT = {
    "catalog_returns": "cr_returned_date_sk % 10 = 0",
    "catalog_sales": "cs_sold_date_sk % 10 = 0",
    "inventory": "inv_item_sk % 2 = 0 AND inv_date_sk % 2 = 0",
    "store_sales": "ss_sold_date_sk % 10 = 0",
    "web_sales": "ws_sold_date_sk % 10 = 0",
}


@pytest.fixture(scope="module")
def tpcds(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The tables that the queries need, the facts partitioned by day, in Spark's own catalog."""
    folder = tmp_path_factory.mktemp("tpcds")
    ddl = table_ddl(database())
    with in_database(spark, "tpcds", ()):
        for table in TABLES:
            _register(spark, ddl[table], table, folder)
        yield spark


def _register(spark: SparkSession, create: str, table: str, folder: Path) -> None:
    location = folder / table
    copy_table(database(), table, location, KEPT.get(table, "true"))
    spark.sql(f"{create}\nLOCATION '{location.as_uri()}'")
    if table in PARTITION_COLUMN:
        spark.sql(f"MSCK REPAIR TABLE {table}")


@pytest.mark.turns(3)
@pytest.mark.parametrize("number", CASES, ids=lambda number: f"q{number}")
def test_same_rows_fewer_partitions(tpcds: SparkSession, number: int) -> None:
    query = queries()[number]
    tpcds.sql("USE tpcds")
    before = run(tpcds, without_limit(query))
    assert before.rows
    for broadcast in (True, False):
        with broadcast_joins(tpcds, broadcast):
            after = run(tpcds, without_limit(rewritten(query).sql))
        problem = difference(before.rows, after.rows)
        assert problem is None, problem
        for table in CASES[number]:
            if broadcast:  # Spark prunes by itself, and our predicate must not stand in its way
                assert after.partitions(table) <= before.partitions(table)
            else:  # the author's text reads all of it then
                scans = sum(scan.table == table for scan in after.scans)
                every = scans * tpcds.sql(f"SHOW PARTITIONS {table}").count()
                assert 0 < after.partitions(table) < every


def test_enable_gives_the_rewritten_text(tpcds: SparkSession) -> None:
    query = queries()[7]
    tpcds.sql("USE tpcds")
    with broadcast_joins(tpcds, False):
        after = run(tpcds, without_limit(rewritten(query).sql))
        with enable(tpcds, log=None):
            through = run(tpcds, without_limit(query))
    assert difference(after.rows, through.rows) is None
    assert through.partitions("store_sales") == after.partitions("store_sales")
