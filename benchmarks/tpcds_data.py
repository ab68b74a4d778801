"""TPC-DS from PyPI alone: DuckDB's generator and its 99 queries, as Spark's tables and Spark SQL.

Needs duckdb, duckdb-extensions and duckdb-extension-tpcds (the dev extra); no network, no Spark.
"""

import re
from argparse import ArgumentTypeError
from collections.abc import Mapping
from pathlib import Path

import duckdb
import sqlglot
from duckdb_extensions import import_extension
from sqlglot import exp

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "tpcds"

PARTITION_COLUMN = {
    "catalog_returns": "cr_returned_date_sk",
    "catalog_sales": "cs_sold_date_sk",
    "inventory": "inv_date_sk",
    "store_returns": "sr_returned_date_sk",
    "store_sales": "ss_sold_date_sk",
    "web_returns": "wr_returned_date_sk",
    "web_sales": "ws_sold_date_sk",
}

_LAST_LIMIT = re.compile(r"\s+LIMIT \d+\s*\Z")


def load_tpcds(connection: duckdb.DuckDBPyConnection, scale: float) -> None:
    """Fills a database with TPC-DS of that scale factor; 0 makes the tables and no rows."""
    import_extension("tpcds")
    connection.execute("LOAD tpcds")
    connection.execute(f"CALL dsdgen(sf={scale})")


def query_numbers(text: str) -> list[int]:
    """The numbers in ``2,59,72``, for an option. Raises ArgumentTypeError, which argparse shows."""
    numbers = [int(part) if part.strip().isdecimal() else 0 for part in text.split(",")]
    if not all(1 <= number <= 99 for number in numbers):
        raise ArgumentTypeError(f"numbers from 1 to 99 with commas are wanted, not {text!r}")
    return numbers


def spark_queries(connection: duckdb.DuckDBPyConnection) -> dict[int, str]:
    """The 99 queries by number, in Spark's dialect."""
    rows = connection.execute("SELECT query_nr, query FROM tpcds_queries() ORDER BY 1").fetchall()
    return {
        number: sqlglot.transpile(sql, read="duckdb", write="spark", pretty=True)[0]
        for number, sql in rows
    }


def without_limit(sql: str) -> str:
    """A query without the LIMIT of the whole: which of several equal rows it keeps is open."""
    return _LAST_LIMIT.sub("", sql)


def table_ddl(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Each table's CREATE TABLE for Spark, by name in alphabetical order."""
    columns: dict[str, list[str]] = {}
    for table, column, duckdb_type in connection.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns() "
        "WHERE NOT internal ORDER BY table_name, column_index"
    ).fetchall():
        spark_type = exp.DataType.build(duckdb_type, dialect="duckdb").sql("spark")
        columns.setdefault(table, []).append(f"  {column} {spark_type}")
    return {table: create_table(table, lines) for table, lines in columns.items()}


def create_table(table: str, columns: list[str]) -> str:
    """A table's CREATE TABLE, a fact's partitioned by its date key."""
    text = f"CREATE TABLE {table} (\n" + ",\n".join(columns) + "\n)\nUSING parquet"
    if key := PARTITION_COLUMN.get(table):
        text += f"\nPARTITIONED BY ({key})"
    return text


def narrow_keys(ddl: Mapping[str, str]) -> dict[str, str]:
    """The same tables, each fact's partition column INT where the calendar's key is BIGINT."""
    narrow = dict(ddl)
    for table, key in PARTITION_COLUMN.items():
        narrow[table] = ddl[table].replace(f" {key} BIGINT", f" {key} INT")
    return narrow


def write_ddl(ddl: Mapping[str, str], path: Path) -> None:
    """The tables as one file of Spark DDL."""
    path.write_text("\n\n".join(f"{create};" for create in ddl.values()) + "\n", "utf-8")


def copy_table(
    connection: duckdb.DuckDBPyConnection, table: str, folder: Path, where: str = "true"
) -> None:
    """Writes a table as Parquet, a fact with one folder a day; ``where`` leaves rows out."""
    rows = f"FROM {table} WHERE {where}"
    if key := PARTITION_COLUMN.get(table):
        connection.execute(
            f"COPY ({rows} ORDER BY {key}) TO '{folder}' "
            f"(FORMAT parquet, PARTITION_BY ({key}), OVERWRITE)"
        )
    else:
        folder.mkdir(exist_ok=True)
        connection.execute(f"COPY ({rows}) TO '{folder / 'data.parquet'}' (FORMAT parquet)")
