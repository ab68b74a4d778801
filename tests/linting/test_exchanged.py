"""DPP013: which joins of tables that lie alike exchange their rows, and what is missing.

What is expected of Iceberg's tables was read off Spark's plans (docs/partition-wise.md); what is
expected of Spark's own is asked of Spark itself in ``tests/spark/test_spark_partition_wise.py``.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from sqlrewrite import Catalog
from sqlrewrite.linting.linter import lint
from sqlrewrite.warehouse import PartitionField, Table

ALL = "requireAllClusterKeysForCoPartition = false"
GROUPING = "preserve-data-grouping = true"
SUBSET = "allowJoinKeysSubsetOfPartitionKeys.enabled = true"
COMPATIBLE = "allowCompatibleTransforms.enabled = true"
COALESCE = "coalesceBucketsInJoin.enabled = true"


def _bucketed(name: str, columns: str, count: int) -> str:
    return (
        f"CREATE TABLE {name} (k INT, j INT, b BIGINT, f DOUBLE, p INT) USING parquet "
        f"PARTITIONED BY (p) CLUSTERED BY ({columns}) INTO {count} BUCKETS;"
    )


def _iceberg(name: str, fields: str) -> str:
    return (
        f"CREATE TABLE {name} (p INT, q INT, b BIGINT, k INT, ts TIMESTAMP) USING iceberg "
        f"PARTITIONED BY ({fields});"
    )


DDL = (
    _bucketed("k8", "k", 8)
    + _bucketed("l8", "k", 8)
    + _bucketed("k4", "k", 4)
    + _bucketed("k1", "k", 1)
    + _bucketed("b8", "b", 8)
    + _bucketed("f8", "f", 8)
    + _bucketed("g8", "f", 8)
    + _bucketed("kj", "k, j", 8)
    + _bucketed("jk", "j, k", 8)
    + _iceberg("ip", "p")
    + _iceberg("iq", "p")
    + _iceberg("ib", "b")
    + _iceberg("ipq", "p, q")
    + _iceberg("irs", "p, q")
    + _iceberg("iqp", "q, p")
    + _iceberg("h8", "bucket(8, k)")
    + _iceberg("i8", "bucket(8, k)")
    + _iceberg("h4", "bucket(4, k)")
    + _iceberg("h3", "bucket(3, k)")
    + _iceberg("d", "days(ts)")
    + _iceberg("h", "hours(ts)")
    + _iceberg("m", "months(ts)")
    + "CREATE TABLE hive1 (k INT) CLUSTERED BY (k) INTO 8 BUCKETS STORED AS ORC;"
    + "CREATE TABLE delta1 (k INT, p INT) USING delta PARTITIONED BY (p);"
    + "CREATE TABLE small (k INT, p INT) USING parquet PARTITIONED BY (p) "
    "TBLPROPERTIES ('spark.sql.statistics.totalSize' = '1000');"
    + "CREATE TABLE v1 (k INT, p INT) USING parquet PARTITIONED BY (p);"
    + "CREATE TABLE v2 (k INT, p INT) USING parquet PARTITIONED BY (p) "
    "TBLPROPERTIES ('spark.sql.statistics.totalSize' = '4000000000');"
    + "CREATE TABLE v3 (k INT, p INT) USING parquet PARTITIONED BY (p) "
    "TBLPROPERTIES ('spark.sql.statistics.totalSize' = '3000000000');"
)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.from_ddl(DDL)


def _help(text: str, catalog: Catalog) -> list[str]:
    findings, failures = lint(text, catalog)
    assert failures == ()
    return [finding.help for finding in findings if finding.code == "DPP013"]


def test_a_transform_that_is_not_known_is_not_taken_for_the_same(catalog: Catalog) -> None:
    text, changed = "SELECT 1 FROM ip x JOIN iq y ON x.p = y.p", catalog
    assert _help(text, changed)
    for name in ("ip", "iq"):
        table = changed.resolve((name,))
        assert isinstance(table, Table)
        unseen = (PartitionField("p", "spiral"),)
        changed = changed.with_relation(replace(table, partitioned_by=unseen))
    assert _help(text, changed) == []


@pytest.mark.parametrize(
    ("tables", "on", "missing"),
    [
        ("k8 x JOIN l8 y", "x.k = y.k", []),
        ("k8 x JOIN l8 y", "x.k = y.k AND x.p = y.p", [ALL]),
        ("k8 x FULL JOIN l8 y", "x.k = y.k AND x.j = y.j", [ALL]),
        ("k8 x JOIN k4 y", "x.k = y.k", [COALESCE]),
        ("kj x JOIN kj y", "x.k = y.k AND x.j = y.j", []),
        ("ip x JOIN iq y", "x.p = y.p", [GROUPING]),
        ("ip x LEFT SEMI JOIN iq y", "x.p <=> y.p", [GROUPING]),
        ("ip x JOIN iq y", "x.p = y.p AND x.k = y.k", [GROUPING, ALL]),
        ("ipq x JOIN irs y", "x.p = y.p AND x.q = y.q", [GROUPING]),
        ("ipq x JOIN irs y", "x.p = y.p", [GROUPING, SUBSET, ALL]),
        ("ip x JOIN irs y", "x.p = y.p", [GROUPING, SUBSET, ALL]),
        ("h8 x JOIN i8 y", "x.k = y.k", [GROUPING]),
        ("h8 x JOIN h4 y", "x.k = y.k", [GROUPING, COMPATIBLE]),
        ("d x FULL JOIN h y", "x.ts = y.ts", [GROUPING, COMPATIBLE]),
        ("v1 x JOIN v2 y", "x.p = y.p AND x.k = y.k", ["v1: CLUSTERED BY (k) INTO n BUCKETS", ALL]),
        ("v2 x JOIN v3 y", "x.p = y.p AND x.k = y.k", ["v3: CLUSTERED BY (k) INTO 32 BUCKETS"]),
        ("v1 x JOIN v2 y", "x.p = y.p", ["v1: USING iceberg PARTITIONED BY (p)", GROUPING]),
        ("small x FULL JOIN v2 y", "x.p = y.p AND x.k = y.k", ["small: CLUSTERED BY (k)"]),
    ],
)
def test_what_is_missing(tables: str, on: str, missing: list[str], catalog: Catalog) -> None:
    helps = _help(f"SELECT 1 FROM {tables} ON {on}", catalog)
    assert len(helps) == bool(missing)
    for row in missing:
        assert row in helps[0]
    settings = [
        kind for kind in (ALL, GROUPING, SUBSET, COMPATIBLE, COALESCE) if kind in "".join(helps)
    ]
    assert set(settings) <= {*missing, ALL, GROUPING}
    assert (ALL in settings) == (ALL in missing) or "CLUSTERED" in helps[0]


@pytest.mark.parametrize(
    ("tables", "on"),
    [
        ("k8 x JOIN k1 y", "x.k = y.k"),  # eight times as many buckets
        ("k4 x JOIN k8 y", "x.k = y.k AND x.j = y.j"),
        ("kj x JOIN kj y", "x.k = y.k"),  # not all of their columns
        ("kj x JOIN jk y", "x.k = y.k AND x.j = y.j"),
        ("k8 x JOIN b8 y", "x.k = y.b"),  # a cast hides the column
        ("f8 x JOIN g8 y", "x.f = y.f"),
        ("ip x JOIN ib y", "x.p = y.b"),
        ("ip x JOIN iq y", "x.p = y.k"),
        ("ipq x JOIN iqp y", "x.p = y.p AND x.q = y.q"),
        ("h8 x JOIN h3 y", "x.k = y.k"),
        ("d x JOIN m y", "x.ts = y.ts"),
        ("ip x JOIN iq y", "x.p < y.p"),
        ("ip x JOIN v1 y", "x.p = y.p"),
        ("delta1 x JOIN delta1 y", "x.p = y.p"),
        ("hive1 x JOIN hive1 y", "x.k = y.k"),
        ("v1 x JOIN small y", "x.p = y.p"),  # which is broadcast
        ("v1 x LEFT ANTI JOIN small y", "x.p = y.p"),
    ],
)
def test_no_help_for_this_join(tables: str, on: str, catalog: Catalog) -> None:
    assert _help(f"SELECT 1 FROM {tables} ON {on}", catalog) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SELECT 1 FROM ip x, iq y WHERE x.p = y.p", 1),
        ("SELECT 1 FROM ip x JOIN iq y USING (p)", 1),
        ("SELECT 1 FROM ip x WHERE EXISTS (SELECT 1 FROM iq y WHERE y.p = x.p)", 1),
        ("SELECT 1 FROM ip x WHERE NOT EXISTS (SELECT 1 FROM iq y WHERE y.p = x.p)", 1),
        ("SELECT 1 FROM ip x WHERE x.p IN (SELECT y.p FROM iq y)", 1),
        ("SELECT 1 FROM ip x WHERE x.p NOT IN (SELECT y.p FROM iq y)", 0),
        ("SELECT 1 FROM ip x WHERE x.k = 1 OR EXISTS (SELECT 1 FROM iq y WHERE y.p = x.p)", 0),
        ("SELECT 1 FROM ip x JOIN (SELECT 1) z JOIN iq y ON x.p = y.p", 1),
        (
            "SET spark.sql.iceberg.planning.preserve-data-grouping = true;\n"
            "SELECT 1 FROM ip x JOIN iq y ON x.p = y.p",
            0,
        ),
        (
            "SET spark.sql.iceberg.planning.preserve-data-grouping = true;\n"
            "SET spark.sql.sources.v2.bucketing.enabled = false;\n"
            "SELECT 1 FROM ip x JOIN iq y ON x.p = y.p",
            1,
        ),
        (
            "SET spark.sql.autoBroadcastJoinThreshold = -1;\n"
            "SELECT 1 FROM v1 x JOIN small y ON x.p = y.p",
            1,
        ),
    ],
)
def test_where_it_is_looked_for(text: str, found: int, catalog: Catalog) -> None:
    assert len(_help(text, catalog)) == found
