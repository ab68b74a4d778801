"""Hidden partitions by the days of a time (Iceberg): read whole, and compared as a text."""

from __future__ import annotations

import pytest

from sqlrewrite import Catalog
from sqlrewrite.linting.linter import lint

DDL = """
CREATE TABLE ice (id INT, ts TIMESTAMP, v INT) USING iceberg PARTITIONED BY (days(ts));
CREATE TABLE bucketed (id INT, v INT) USING iceberg PARTITIONED BY (bucket(16, id));
CREATE TABLE plain (id INT, ts TIMESTAMP, v INT) USING iceberg;
CREATE TABLE d (day DATE, x INT) USING parquet;
"""
RANGE = "`ts >= TIMESTAMP '2024-03-01' AND ts < TIMESTAMP '2024-03-02'` for that day"


@pytest.mark.parametrize(
    ("query", "code", "advice"),
    [
        ("SELECT count(*) FROM ice", "DPP007", "add a condition on `ts`"),
        ("SELECT * FROM ice WHERE v = 3", "DPP007", "add a condition on `ts`"),
        (
            "SELECT * FROM ice "
            "WHERE from_unixtime(unix_timestamp(ts), 'yyyy-MM-dd') = '2024-03-01'",
            "DPP004",
            RANGE,
        ),
        ("SELECT * FROM ice WHERE CAST(date(ts) AS STRING) = '2024-03-01'", "DPP004", RANGE),
        (
            "SELECT * FROM ice WHERE from_unixtime(unix_timestamp(ts), 'yyyyMMdd') = '20240301'",
            "DPP004",
            "with a range of timestamps",
        ),
    ],
)
def test_what_reads_all_days_is_told(query: str, code: str, advice: str) -> None:
    (finding,) = lint(query, Catalog.from_ddl(DDL))[0]
    assert finding.code == code
    assert advice in finding.help


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM ice WHERE ts >= TIMESTAMP '2024-03-01'",
        "SELECT * FROM ice WHERE CAST(ts AS DATE) = DATE '2024-03-01'",
        "SELECT v FROM ice WHERE ts > DATE '2024-1-1' AND CAST(date(ts) AS STRING) = '2024-03-01'",
        "SELECT count(*) FROM bucketed",
        "SELECT count(*) FROM plain",
        "SELECT * FROM plain WHERE CAST(date(ts) AS STRING) = '2024-03-01'",
    ],
)
def test_what_chooses_days_or_has_none_is_not(query: str) -> None:
    assert lint(query, Catalog.from_ddl(DDL))[0] == ()
