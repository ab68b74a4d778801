"""DESCRIBE's rows to tables and views: what a live catalog without its jars cannot show here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sqlrewrite.catalog import Catalog, snapshot
from sqlrewrite.spark.catalog import Partial
from sqlrewrite.spark.describe import (
    NotDescribedError,
    description_of,
    size_in_plan,
    table,
    view,
)
from sqlrewrite.warehouse import Column, PartitionField, Table, View

NAME = ("lake", "raw", "clicks")

ICEBERG = [
    ("ts", "timestamp"),
    ("User", "bigint"),
    ("country", "string"),
    ("", ""),
    ("# Partitioning", ""),
    ("Part 0", "days(ts)"),
    ("Part 1", "bucket(16, User)"),
    ("Part 2", "truncate(2, country)"),
    ("Part 3", "country"),
    ("Part 4", "zorder(ts, country)"),
    ("", ""),
    ("# Metadata Columns", ""),
    ("_file", "string"),
    ("", ""),
    ("# Detailed Table Information", ""),
    ("Name", "lake.raw.clicks"),
    ("Provider", "ICEBERG"),
    ("Statistics", "1234 bytes"),
]


def test_transforms_of_a_v2_table() -> None:
    read = table(NAME, description_of(ICEBERG), {"columns": [{"name": "USER", "nullable": False}]})
    assert read == Table(
        NAME,
        (Column("ts", "timestamp"), Column("User", "bigint", False), Column("country", "string")),
        (
            PartitionField("ts", "days"),
            PartitionField("User", "bucket", 16),
            PartitionField("country", "truncate", 2),
            PartitionField("country"),
            PartitionField("zorder(ts, country)", "unknown"),
        ),
        provider="iceberg",
        size_in_bytes=1234,
    )


def test_what_is_pulled_can_be_read_again() -> None:
    read = table(NAME, description_of(ICEBERG), None)
    text = snapshot.write(Catalog().with_relations({NAME: read}))
    assert snapshot.read(text, "x").relations[NAME].name == NAME


def _view(text: str, outputs: str) -> View:
    rows = [
        ("a", "int"),
        ("b", "int"),
        ("", ""),
        ("# Detailed Table Information", ""),
        ("Type", "VIEW"),
        ("View Text", text),
        ("View Catalog and Namespace", "spark_catalog.Mart"),
        ("View Query Output Columns", outputs),
    ]
    return view(("spark_catalog", "default", "v"), description_of(rows))


def test_a_view_keeps_the_schema_its_names_are_looked_up_in() -> None:
    read = _view("SELECT * FROM t", "[`a`, `b`]")
    assert (read.columns, read.namespace) == ((), ("spark_catalog", "mart"))
    assert _view("SELECT x, y FROM t", "[x, y]").columns == ("a", "b")


def test_a_star_behind_other_names_is_not_guessed_at() -> None:
    with pytest.raises(NotDescribedError, match="renames the columns"):
        _view("SELECT * FROM t", "[x, y]")


@pytest.mark.parametrize(
    ("said", "size"),
    [("1996.0 B", 1996), ("61.9 KiB", 63386), ("1.0 GiB, rowCount=3", 1 << 30), ("8.0 EiB", None)],
)
def test_sizes_of_a_plan(said: str, size: int | None) -> None:
    leaf = f"Relation default.d[k#1] parquet, Statistics(sizeInBytes={said})"
    project = "Project [k#1], Statistics(sizeInBytes=12.0 B)"
    plan = f"== Optimized Logical Plan ==\n{project}\n+- {leaf}\n\n== Physical Plan ==\n1 B"
    assert size_in_plan(plan) == size


def test_a_pull_that_was_cut_off_goes_on(tmp_path: Path) -> None:
    first, second = Table(("c", "s", "a")), Table(("c", "s", "b"))
    partial = Partial(tmp_path / "w.json.partial", "sc://host")
    assert partial.read() == {}
    partial.begin([first])
    partial.add(second)
    with partial.path.open("a") as file:
        file.write('{"version": 1, "tab')  # killed while it wrote
    assert list(partial.read()) == [first.name, second.name]
    assert Partial(partial.path, "sc://elsewhere").read() == {}
    partial.end()
    assert not partial.path.exists()


def test_what_made_a_snapshot() -> None:
    text = snapshot.write(Catalog(), {"by": "x", "at": "y"})
    assert snapshot.generated(text) == {"by": "x", "at": "y"}
    assert snapshot.generated(json.dumps([1])) == snapshot.generated("no") == {}


@pytest.mark.parametrize(
    ("name", "value", "columns"),
    [
        ("Table Properties", '[clusteringColumns=[["a"],["B"]],delta.minReaderVersion=1]', "a b"),
        (
            "Table Properties",
            "[format-version=2,sort-order=a ASC NULLS FIRST, b DESC NULLS LAST,write.x=y]",
            "a",
        ),
        ("Sort Columns", "[`a`, `b`]", "a"),
        ("Table Properties", "[format-version=2]", ""),
    ],
)
def test_what_orders_the_rows(name: str, value: str, columns: str) -> None:
    rows = [("a", "int"), ("", ""), ("# Detailed Table Information", ""), (name, value)]
    read = table(NAME, description_of(rows), None)
    assert read.clustered_by == tuple(columns.split())
