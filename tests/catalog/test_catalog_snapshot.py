"""The snapshot: read, written, the same again; and the place of what is wrong in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sqlrewrite.catalog import Catalog, snapshot
from sqlrewrite.warehouse import CatalogError, Column, PartitionField, Table, View

FIXTURES = Path(__file__).parents[2] / "fixtures"
TEXT = (FIXTURES / "catalog" / "snapshot.json").read_text(encoding="utf-8")


def test_a_snapshot_gives_tables_with_their_statistics() -> None:
    catalog = snapshot.read(TEXT, "s.json")
    assert catalog.resolve(("sales",)) == Table(
        ("spark_catalog", "default", "sales"),
        (Column("id", "bigint", False), Column("sold_date_sk", "int", True, 1823)),
        (PartitionField("sold_date_sk"),),
        ("id",),
        provider="parquet",
        size_in_bytes=123456789,
        row_count=0,
        source="s.json",
    )
    assert catalog.resolve(("lake", "web.2", "clicks")) == Table(
        ("lake", "web.2", "clicks"),
        (Column("ts", "timestamp"), Column("payload")),
        (PartitionField("ts", "days"),),
        streaming=True,
        provider="iceberg",
        source="s.json",
    )
    assert catalog.resolve(("v",)) == View(
        ("spark_catalog", "default", "v"),
        'SELECT id FROM "sales"',
        ("key",),
        ("lake", "web"),
        "s.json",
    )


def test_a_written_snapshot_is_written_the_same_again() -> None:
    catalog = snapshot.read(TEXT, "s.json")
    assert snapshot.write(catalog, {"tool": "dpp-rewrite catalog pull"}) == TEXT
    written = snapshot.write(catalog)
    assert snapshot.write(snapshot.read(written, "s.json")) == written


@pytest.mark.parametrize("fixture", ["retail/ddl.sql", "tpcds/ddl.sql", "catalog/warehouse"])
def test_what_ddl_says_survives(fixture: str) -> None:
    catalog = Catalog.load(str(FIXTURES / fixture))
    again = snapshot.read(snapshot.write(catalog), "")
    assert snapshot.write(again) == snapshot.write(catalog)
    assert set(again.relations) == set(catalog.relations)


def test_the_order_is_that_of_the_names() -> None:
    data = {"version": 1, "tables": [{"name": "b"}, {"name": "a"}]}
    written = json.loads(snapshot.write(snapshot.read(json.dumps(data), "")))
    assert [table["name"] for table in written["tables"]] == [
        "spark_catalog.default.a",
        "spark_catalog.default.b",
    ]


def test_the_namespace_completes_names() -> None:
    data = {"version": 1, "namespace": "lake.`a.b`", "tables": [{"name": "T"}, {"name": "x.y.z"}]}
    catalog = snapshot.read(json.dumps(data), "")
    assert set(catalog.relations) == {("lake", "a.b", "t"), ("x", "y", "z")}
    assert json.loads(snapshot.write(catalog))["namespace"] == "lake.`a.b`"


def test_a_temporary_view_is_left_out() -> None:
    catalog = Catalog().with_relation(View(("v",), "SELECT 1"))
    assert json.loads(snapshot.write(catalog)) == {"version": 1, "tables": []}


@pytest.mark.parametrize(
    ("written", "type_"),
    [
        ("INTEGER", "int"),
        ("Decimal(7, 2)", "decimal(7,2)"),
        ("map< string , long >", "map<string,bigint>"),
    ],
)
def test_types_written_by_hand(written: str, type_: str) -> None:
    column = {"name": "a", "type": written}
    data = {"version": 1, "tables": [{"name": "t", "columns": [column]}]}
    (table,) = snapshot.read(json.dumps(data), "").relations.values()
    assert isinstance(table, Table)
    assert table.columns == (Column("a", type_),)


def test_unknown_keys_are_passed_over() -> None:
    data = {"version": 1, "new": 1, "tables": [{"name": "t", "new": [], "columns": []}]}
    assert len(snapshot.read(json.dumps(data), "").relations) == 1


def one(**table: Any) -> dict[str, Any]:
    return {"version": 1, "tables": [{"name": "a"}, {"name": "t", **table}]}


A = {"name": "a"}
FIELD = "expected a string or an object, got a whole number"
NAMES = "separate its parts with dots, quote with `"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "s.json: expected an object, got a list"),
        ({}, 's.json: no "version": this is not a snapshot of dpp-rewrite'),
        ({"version": 2}, "s.json: version 2: this release reads version 1"),
        ({"version": True}, "s.json: version True: this release reads version 1"),
        ({"version": 1, "tables": {}}, "s.json: tables: expected a list, got an object"),
        (
            {"version": 1, "tables": [1]},
            "s.json: tables[0]: expected an object, got a whole number",
        ),
        ({"version": 1, "tables": [{}]}, 's.json: tables[0]: "name" is missing'),
        (
            {"version": 1, "tables": [A, A]},
            "s.json: tables[1]: spark_catalog.default.a is defined twice",
        ),
        (
            {"version": 1, "tables": [{"name": "a..b"}]},
            f"s.json: tables[0].name: not a name: 'a..b'; {NAMES}",
        ),
        (
            {"version": 1, "tables": [{"name": "a`b"}]},
            f"s.json: tables[0].name: not a name: 'a`b'; {NAMES}",
        ),
        (
            {"version": 1, "namespace": 3},
            "s.json: namespace: expected a string, got a whole number",
        ),
        (
            one(columns=[{"name": "a", "type": 3}]),
            "s.json: tables[1].columns[0].type: expected a string, got a whole number",
        ),
        (
            one(columns=[{"name": "a", "nullable": 1}]),
            "s.json: tables[1].columns[0].nullable: expected true or false, got a whole number",
        ),
        (
            one(columns=[{"name": ""}]),
            "s.json: tables[1].columns[0].name: expected a string that is not empty",
        ),
        (one(columns=[A, {"name": "A"}]), "s.json: tables[1]: columns[1]: A is there twice"),
        (
            one(row_count=1.5),
            "s.json: tables[1].row_count: expected a whole number, got a fraction",
        ),
        (
            one(row_count=True),
            "s.json: tables[1].row_count: expected a whole number, got true or false",
        ),
        (
            one(size_in_bytes=-1),
            "s.json: tables[1].size_in_bytes: expected a whole number, 0 or more",
        ),
        (
            one(partitioned_by=[3]),
            f"s.json: tables[1].partitioned_by[0]: {FIELD}",
        ),
        (
            one(columns=[A], partitioned_by=["b"]),
            "s.json: tables[1]: partitioned_by[0]: b is not one of the columns",
        ),
        (
            one(columns=[A], primary_key=["b"]),
            "s.json: tables[1]: primary_key[0]: b is not one of the columns",
        ),
        ({"version": 1, "views": [{"name": "v"}]}, 's.json: views[0]: "query" is missing'),
    ],
)
def test_errors_name_their_place(data: object, message: str) -> None:
    with pytest.raises(CatalogError) as error:
        snapshot.read(json.dumps(data), "s.json")
    assert str(error.value) == message


def test_text_that_is_not_json() -> None:
    with pytest.raises(CatalogError, match=r"s\.json:2:1: not JSON: "):
        snapshot.read('{"version": 1,\n', "s.json")
    with pytest.raises(CatalogError, match="not JSON that can be read"):
        snapshot.read('{"version": 1, "new": ' + "[" * 100_000, "s.json")
