"""TPC-DS as partitioned Parquet in a folder that is kept, and as the tables of a local Spark.

In: a folder and a scale. Out: the tables, each fact partitioned by its date key, made once with
DuckDB; and a Spark session that knows them. Needs duckdb and its extension, pyspark and Java.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from benchmarks.tpcds_data import PARTITION_COLUMN, copy_table, load_tpcds

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHUFFLE_PARTITIONS = 8
"""Spark's 200 are for clusters: at scale 1 on two cores most of the time would go into them."""


def cache_folder(scale: float) -> Path:
    """Where the data of a scale is kept unless an option says otherwise."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "dpp-rewrite" / f"tpcds-sf{scale:g}"


def generate_data(folder: Path, scale: float) -> None:
    """Writes the tables as Parquet, once: the marker file, which tells the scale, comes last.

    Exits where the folder holds the data of another scale.
    """
    marker = folder / "_COMPLETE"
    if marker.exists():
        text = marker.read_text("utf-8")
        if text not in ("", f"{scale:g}"):  # folders made earlier have it in their name only
            sys.exit(f"{folder} holds TPC-DS at scale {text}, not {scale:g}: name another folder")
        return
    folder.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        load_tpcds(connection, scale)
        connection.execute("SET threads = 1")  # one file a partition
        for (table,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            copy_table(connection, table, folder / table)
    marker.write_text(f"{scale:g}", "utf-8")


def start_spark(work: Path, memory: str, name: str, metastore: Path) -> SparkSession:
    """A local Spark on two cores that writes into the folder ``work``, with a Hive metastore in a
    folder that is kept (embedded Derby); exits without PySpark."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        sys.exit("PySpark is not installed: pip install -e '.[dev,spark]' (it needs Java, too)")

    spark = (
        SparkSession.builder.master("local[2]")
        .appName(name)
        .config("spark.driver.memory", memory)
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.extraJavaOptions", f"-Dderby.stream.error.file={work / 'derby.log'}")
        .config("spark.hadoop.javax.jdo.option.ConnectionURL", _derby(metastore))
        .config("spark.sql.shuffle.partitions", SHUFFLE_PARTITIONS)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.local.dir", str(work / "spark"))
        .config("spark.sql.warehouse.dir", str(work / "warehouse"))
        .enableHiveSupport()
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def _derby(folder: Path) -> str:
    return f"jdbc:derby:;databaseName={folder};create=true"


def register_tables(
    spark: SparkSession, ddl: Mapping[str, str], data: Path, database: str
) -> dict[str, int]:
    """Makes the tables known to the metastore, where they are not yet; returns each fact table's
    partitions. No statistics are computed: Spark takes a dimension's size from its file."""
    spark.sql(f"CREATE DATABASE IF NOT EXISTS {database}")
    spark.sql(f"USE {database}")
    registered = {row.tableName for row in spark.sql("SHOW TABLES").collect()}
    facts = [table for table in ddl if table in PARTITION_COLUMN]
    for table, create in ddl.items():
        if table not in registered:
            spark.sql(f"{create}\nLOCATION '{data / table}'")
    for table in facts:
        if not spark.sql(f"SHOW PARTITIONS {table}").isEmpty():
            continue
        spark.sql(f"MSCK REPAIR TABLE {table}")
    return {table: spark.sql(f"SHOW PARTITIONS {table}").count() for table in facts}
