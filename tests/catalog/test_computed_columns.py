"""Partition columns that statements compute from another column: proposed where all of them agree,
and nothing where one does not, or where it cannot be told."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlrewrite import Catalog
from sqlrewrite.catalog.computed_columns import computed_columns

DDL = """
CREATE TABLE orders (id BIGINT, order_date DATE, amount INT, order_month DATE)
USING parquet PARTITIONED BY (order_month);
CREATE TABLE logs (id BIGINT, ts TIMESTAMP, dt STRING) USING parquet PARTITIONED BY (dt);
CREATE TABLE items (code STRING, day DATE, k STRING, y INT) USING parquet PARTITIONED BY (k, y);
CREATE TABLE src (id BIGINT, order_date DATE, amount INT, placed TIMESTAMP, code STRING)
"""
LOAD = """
INSERT OVERWRITE TABLE orders PARTITION (order_month)
SELECT s.id, s.order_date, s.amount, trunc(s.order_date, 'MM') AS order_month FROM src s
"""


def proposed(tmp_path: Path, *texts: str, ddl: str = DDL) -> dict[str, str]:
    files = []
    for number, text in enumerate(texts):
        path = tmp_path / f"f{number}.sql"
        path.write_text(text)
        files.append(str(path))
    derivations = computed_columns(files, Catalog.from_ddl(ddl)).values()
    return {one.column: one.expression for of_table in derivations for one in of_table}


MONTH = {"order_month": "trunc(order_date, 'MM')"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LOAD, MONTH),
        (LOAD.replace("src s", "not_in_the_catalog s"), MONTH),
        (LOAD.replace("TABLE orders", "default.orders"), MONTH),
        (
            "INSERT INTO orders (order_month, order_date) "
            "SELECT trunc(order_date, 'MM'), order_date FROM src",
            MONTH,
        ),
        (
            "INSERT INTO orders BY NAME "
            "SELECT trunc(order_date, 'MM') AS order_month, order_date FROM src",
            MONTH,
        ),
        (
            "WITH x AS (SELECT *, trunc(order_date, 'MM') AS m FROM src) "
            "INSERT INTO orders SELECT id, order_date, amount, m FROM x",
            MONTH,
        ),
        (
            "INSERT INTO orders SELECT id, d, amount, m FROM (SELECT s.id, s.order_date AS d, "
            "s.amount, trunc(s.order_date, 'MM') AS m FROM src s) q",
            MONTH,
        ),
        (
            "INSERT INTO orders SELECT id, order_date, amount, trunc(order_date, 'MM') FROM src "
            "UNION ALL SELECT id, order_date, 1, trunc(order_date, 'MM') FROM src",
            MONTH,
        ),
        (
            "MERGE INTO orders t USING src s ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET amount = s.amount "
            "WHEN NOT MATCHED THEN INSERT (id, order_date, amount, order_month) "
            "VALUES (s.id, s.order_date, s.amount, trunc(s.order_date, 'MM'))",
            MONTH,
        ),
        (
            "MERGE INTO orders t USING (SELECT id, order_date, amount, trunc(order_date, 'MM') AS "
            "order_month FROM src) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * "
            "WHEN NOT MATCHED THEN INSERT *",
            MONTH,
        ),
        (
            "INSERT INTO logs SELECT id, placed, date_format(placed, 'yyyy-MM-dd') FROM src",
            {"dt": "date_format(ts, 'yyyy-MM-dd')"},
        ),
        (  # what is stored is cast to the column's type
            "INSERT INTO logs SELECT id, placed, to_date(placed) FROM src",
            {"dt": "CAST(to_date(ts) AS STRING)"},
        ),
        (
            "INSERT INTO items SELECT code, order_date, substring(code, 1, 2), year(order_date) "
            "FROM src",
            {"k": "substring(code, 1, 2)", "y": "year(day)"},
        ),
    ],
)
def test_a_computed_partition_column_is_proposed(
    tmp_path: Path, text: str, expected: dict[str, str]
) -> None:
    assert proposed(tmp_path, text) == expected


def test_create_table_as(tmp_path: Path) -> None:
    text = (
        "CREATE TABLE m PARTITIONED BY (y) AS SELECT id, order_date, year(order_date) AS y FROM src"
    )
    assert proposed(tmp_path, text, ddl=f"{DDL};{text}") == {"y": "year(order_date)"}


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO orders SELECT id, order_date, amount, trunc(order_date, 'YY') FROM src",
        "INSERT INTO orders VALUES (1, DATE '2024-01-02', 3, DATE '2024-01-01')",
        "INSERT INTO orders PARTITION (order_month = DATE '2024-01-01') SELECT 1, order_date, 2 "
        "FROM src",
        "INSERT INTO orders SELECT * FROM not_in_the_catalog",
        "INSERT INTO orders SELECT id, order_date FROM ((",
        "FROM src INSERT INTO orders SELECT id, order_date, amount, trunc(order_date, 'MM')",
        "LOAD DATA INPATH '/x' INTO TABLE orders PARTITION (order_month = '2024-01-01')",
        "ALTER TABLE orders ADD PARTITION (order_month = '2024-01-01') LOCATION '/x'",
        "COPY INTO orders FROM '/x' FILEFORMAT = PARQUET",
        "UPDATE orders SET order_date = DATE '2024-01-01' WHERE id = 1",
        "UPDATE orders SET order_month = trunc(order_date, 'MM') WHERE id = 1",
        "MERGE INTO orders t USING src s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET order_date = s.order_date",
        "BEGIN INSERT INTO orders SELECT 1, order_date, 2, order_date FROM src; END",
    ],
)
def test_a_statement_that_writes_it_otherwise(tmp_path: Path, text: str) -> None:
    assert proposed(tmp_path, LOAD, text) == {}
    assert proposed(tmp_path, text, LOAD) == {}


@pytest.mark.parametrize(
    "text",
    [
        "UPDATE orders SET amount = 1 WHERE id = 1",
        "DELETE FROM orders WHERE id = 1",
        "ALTER TABLE orders DROP PARTITION (order_month = '2024-01-01')",
        "TRUNCATE TABLE orders",
        "INSERT INTO other SELECT id, order_date, amount, 1 FROM orders",
        "SELECT * FROM orders",
    ],
)
def test_a_statement_that_leaves_it(tmp_path: Path, text: str) -> None:
    assert proposed(tmp_path, LOAD, text) == MONTH


@pytest.mark.parametrize(
    "value",
    [
        "trunc(placed, 'MM')",  # of a column that is not stored
        "trunc(greatest(order_date, placed), 'MM')",
        "trunc(current_date(), 'MM')",
        "trunc(date_add(order_date, CAST(rand() * 3 AS INT)), 'MM')",
        "trunc('MM', order_date)",
        "order_date",
        "DATE '2024-01-01'",
        "trunc(order_date, '{{ unit }}')",
        "my_function(order_date)",
        "(SELECT max(trunc(order_date, 'MM')) FROM src)",
    ],
)
def test_not_computed_from_one_column(tmp_path: Path, value: str) -> None:
    text = f"INSERT INTO orders SELECT id, order_date, amount, {value} FROM src"
    assert proposed(tmp_path, text) == {}


@pytest.mark.parametrize(
    "text",
    [
        # The source is stored as another type than it is computed from.
        "INSERT INTO orders SELECT id, placed, amount, to_date(placed) FROM src",
        # An alias hides the column.
        "INSERT INTO orders SELECT id, placed AS order_date, amount, trunc(order_date, 'MM') "
        "FROM src",
        "INSERT INTO orders SELECT id, order_date, amount, trunc(order_date, 'MM') FROM src "
        "UNION ALL SELECT id, order_date, 1, order_date FROM src",
        "INSERT INTO orders SELECT 1, order_date, 2, trunc(order_date, 'MM') FROM src "
        "GROUP BY GROUPING SETS ((order_date), (trunc(order_date, 'MM')))",
    ],
)
def test_the_source_is_not_what_is_stored(tmp_path: Path, text: str) -> None:
    assert proposed(tmp_path, text) == {}
