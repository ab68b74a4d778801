"""A dbt manifest as a catalog: what it tells, and what stays unknown."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from sqlrewrite import Catalog, CatalogError, rewrite
from sqlrewrite.warehouse import PartitionField, Table, View

TARGET = Path(__file__).parents[2] / "fixtures" / "dbt" / "target"
MANIFEST = TARGET / "manifest.json"


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.load(str(MANIFEST))


def table(catalog: Catalog, *name: str) -> Table:
    relation = catalog.resolve(name)
    assert isinstance(relation, Table)
    return relation


def fields(catalog: Catalog, *name: str) -> list[tuple[str, str]]:
    return [(field.column, field.transform) for field in table(catalog, *name).partitioned_by]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fct_sales", [("day", "identity")]),
        ("fct_clicks", [("dt", "identity"), ("region", "identity")]),
        ("fct_events", [("ts", "days"), ("user_id", "bucket")]),
        ("fct_returns", [("day", "identity")]),
        ("dim_dates", []),
    ],
)
def test_partitions_are_those_of_the_config(
    catalog: Catalog, name: str, expected: list[tuple[str, str]]
) -> None:
    assert fields(catalog, "lake", "mart", name) == expected


def test_the_partitions_of_an_external_source(catalog: Catalog) -> None:
    relation = table(catalog, "lake", "raw", "clicks_v1")
    assert relation.partitioned_by == (PartitionField("dt"),)
    assert {column.name: column.type for column in relation.columns} == {
        "item": "int",
        "dt": "date",
    }
    assert not relation.complete


def test_columns_under_a_contract_are_all_there_are(catalog: Catalog) -> None:
    relation = table(catalog, "lake", "mart", "fct_sales")
    assert relation.names == ("id", "item", "amt", "day")
    assert [column.type for column in relation.columns] == ["bigint", "int", "decimal(7,2)", "date"]


def test_columns_that_are_documented_are_only_some(catalog: Catalog) -> None:
    relation = table(catalog, "lake", "mart", "dim_items")
    assert relation.names == ()
    column = relation.column("item")
    assert column is not None
    assert column.type == "int"


def test_the_catalog_beside_a_manifest_has_all_columns(catalog: Catalog, tmp_path: Path) -> None:
    assert table(catalog, "lake", "mart", "fct_clicks").names == ("id", "note", "dt", "region")
    alone = Catalog.load(str(shutil.copy(MANIFEST, tmp_path / "manifest.json")))
    relation = table(alone, "lake", "mart", "fct_clicks")
    assert relation.names == ()
    assert [column.name for column in relation.columns] == ["dt"]  # of `note` there is no type


def test_views_are_their_compiled_queries(catalog: Catalog) -> None:
    relation = catalog.resolve(("lake", "mart", "stg_sales"))
    assert isinstance(relation, View)
    assert relation.query.startswith("select day")
    unbuilt = catalog.resolve(("lake", "mart", "stg_unbuilt"))
    assert isinstance(unbuilt, View)
    assert not unbuilt.query


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        (("ref", "fct_sales"), ("lake", "mart", "fct_sales")),
        (("ref", "shop", "fct_sales"), ("lake", "mart", "fct_sales")),
        (("ref", "dim_dates"), ("lake", "mart", "dim_dates")),
        (("ref", "calendar", "dim_dates"), ("lake", "calendar", "dim_dates")),
        (("ref", "dim_stores"), ("lake", "mart", "dim_stores_v2")),
        (("ref", "dim_stores.v1"), ("lake", "mart", "dim_stores_v1")),
        (("ref", "dim_stores.v2"), ("lake", "mart", "dim_stores_v2")),
        (("ref", "recent_dates"), ("__dbt__cte__recent_dates",)),
        (("source", "raw", "clicks"), ("lake", "raw", "clicks_v1")),
        (("source", "raw", "other"), None),
        (("ref", "nobody"), None),
        (("ref", "not_null_day"), None),
        (("ref", "fct_events"), ("lake", "mart", "fct_events")),
    ],
)
def test_a_reference_names_its_relation(
    catalog: Catalog, reference: tuple[str, ...], name: tuple[str, ...] | None
) -> None:
    assert catalog.refer(reference) == name


def test_without_a_manifest_a_reference_is_the_one_table_of_that_name(tmp_path: Path) -> None:
    ddl = tmp_path / "ddl.sql"
    ddl.write_text("CREATE TABLE a.t (x INT); CREATE TABLE a.u (x INT); CREATE TABLE b.u (x INT);")
    loaded = Catalog.load(str(ddl))
    assert loaded.refer(("ref", "T")) == ("spark_catalog", "a", "t")
    assert loaded.refer(("ref", "u")) is None


def test_a_star_over_columns_that_are_only_some_is_unknown(tmp_path: Path) -> None:
    """`SELECT *` of a table whose columns are partly documented must not be taken for these."""
    manifest = Catalog.load(str(shutil.copy(MANIFEST, tmp_path / "manifest.json")))
    query = """SELECT x.note FROM (SELECT * FROM lake.mart.fct_clicks) x
        JOIN lake.mart.dim_dates d ON x.dt = d.day WHERE d.year = 2024"""
    assert not rewrite(query, manifest).changed
    assert rewrite(query, Catalog.load(str(MANIFEST))).changed
    direct = """SELECT c.note FROM lake.mart.fct_clicks c
        JOIN lake.mart.dim_dates d ON c.dt = d.day WHERE d.year = 2024"""
    assert rewrite(direct, manifest).changed


def test_a_snapshot_of_it_says_the_same(catalog: Catalog, tmp_path: Path) -> None:
    from sqlrewrite.catalog import snapshot

    path = tmp_path / "snapshot.json"
    path.write_text(snapshot.write(catalog))
    again = Catalog.load(str(path))
    for name, relation in catalog.relations.items():
        if isinstance(relation, Table):
            assert table(again, *name).names == relation.names
            assert table(again, *name).columns == relation.columns


def test_what_does_not_know_the_columns_takes_none_away(tmp_path: Path) -> None:
    ddl = tmp_path / "ddl.sql"
    ddl.write_text(
        "CREATE TABLE lake.mart.dim_items (item INT, brand STRING) USING delta;"
        "CREATE TABLE lake.mart.dim_dates (day DATE) USING delta;"
    )
    loaded = Catalog.load(str(ddl), str(MANIFEST))
    assert table(loaded, "lake", "mart", "dim_items").names == ("item", "brand")
    assert table(loaded, "lake", "mart", "dim_dates").names == ("day", "year", "season")
    assert loaded.refer(("ref", "dim_items")) == ("lake", "mart", "dim_items")


def manifest(**changes: Any) -> str:
    metadata = {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"}
    return json.dumps({"metadata": metadata, "nodes": {}, "sources": {}} | changes)


NODE = {"resource_type": "model", "name": "m", "relation_name": "s.m", "config": {}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (manifest(nodes=[]), r"m\.json: nodes: expected an object of objects"),
        (manifest(sources={"a": 1}), r"m\.json: sources: expected an object of objects"),
        (
            manifest(nodes={"model.p.m": NODE | {"relation_name": "a..b"}}),
            r"m\.json: model\.p\.m: not a name: relation_name 'a\.\.b'",
        ),
        (
            manifest(metadata={"dbt_schema_version": "x/manifest/v12", "adapter_type": "bigquery"}),
            r"m\.json: of dbt's bigquery adapter; these are read: athena, databricks",
        ),
        (manifest(metadata={"dbt_schema_version": "x/catalog/v1.json"}), "give target/manifest"),
    ],
)
def test_what_is_no_manifest_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "m.json"
    path.write_text(text)
    with pytest.raises(CatalogError, match=message):
        Catalog.load(str(path))


@pytest.mark.parametrize(
    ("raw", "query"),
    [
        ("{{ config(a=1) }}\nselect * from {{ ref('t') }} {# all #}", "select * from `s`.`t`"),
        ("select 1", "select 1"),
        ("select * from {{ ref('nobody') }}", ""),
        ("select * from {{ ref('t') }} where a = {{ var('a') }}", ""),
        ("select * from {{ ref('t') }} where a = '{{ var(\"a\") }}'", ""),
        ("select * from {{ ref('t') }} {% if x %} where a = 1 {% endif %}", ""),
        ("", ""),
    ],
)
def test_a_view_that_dbt_has_only_parsed(tmp_path: Path, raw: str, query: str) -> None:
    path = tmp_path / "m.json"
    view = NODE | {"config": {"materialized": "view"}, "raw_code": raw}
    other = NODE | {"name": "t", "relation_name": "s.t"}
    path.write_text(manifest(nodes={"model.p.m": view, "model.p.t": other}))
    relation = Catalog.load(str(path)).resolve(("s", "m"))
    assert isinstance(relation, View)
    assert relation.query.rstrip() == query


@pytest.mark.parametrize(
    "node",
    [
        pytest.param({"config": None, "columns": None}, id="nulls"),
        pytest.param({"config": {"partition_by": {"field": "d"}}}, id="BigQuery's form"),
        pytest.param({"config": {"partition_by": [1, None]}}, id="not names"),
        pytest.param({"config": {"partition_by": "a b (("}}, id="not SQL"),
        pytest.param({"config": {"file_format": "a b"}}, id="no format"),
        pytest.param({"columns": {"c": {"name": "c", "data_type": "no such"}}}, id="no type"),
    ],
)
def test_what_cannot_be_read_is_not_known(tmp_path: Path, node: dict[str, Any]) -> None:
    path = tmp_path / "m.json"
    path.write_text(manifest(nodes={"model.p.m": NODE | node}))
    relation = Catalog.load(str(path)).resolve(("s", "m"))
    assert relation is None or (isinstance(relation, Table) and not relation.names)


def test_a_short_name_is_in_the_session_catalog(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(manifest(nodes={"model.p.m": NODE}))
    assert table(Catalog.load(str(path)), "s", "m").name == ("spark_catalog", "s", "m")


def changed(tmp_path: Path, key: str, **config: Any) -> Catalog:
    """The project with another configuration of a model."""
    manifest = json.loads(MANIFEST.read_text())
    manifest["nodes"][key]["config"].update(config)
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    return Catalog.load(str(tmp_path / "manifest.json"))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"field": "day", "data_type": "date"}, [("day", "identity")]),
        ({"field": "day", "data_type": "date", "granularity": "day"}, [("day", "identity")]),
        ({"field": "day", "data_type": "date", "granularity": "month"}, [("day", "months")]),
        ({"field": "day", "data_type": "timestamp"}, [("day", "days")]),
        ([{"field": "day"}, "id"], [("day", "identity"), ("id", "identity")]),
        ({"granularity": "day"}, []),
    ],
)
def test_partition_by_as_a_table(tmp_path: Path, given: object, expected: object) -> None:
    table = changed(tmp_path, "model.shop.fct_sales", partition_by=given)
    assert fields(table, "lake", "mart", "fct_sales") == expected


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"partitioned_by": ["region", "day(ts)"]}, [("region", "identity"), ("ts", "days")]),
        (
            {"properties": {"format": "'ORC'", "partitioning": "ARRAY['month(ts)', 'region']"}},
            [("ts", "months"), ("region", "identity")],
        ),
        ({"properties": {"partitioned_by": "ARRAY['day']"}}, [("day", "identity")]),
        ({"properties": {"partitioning": None}}, []),
        ({"properties": "{{ layout() }}"}, []),
    ],
)
def test_partitions_of_trino_and_athena(
    tmp_path: Path, config: dict[str, Any], expected: object
) -> None:
    """dbt-athena's list, and what dbt-trino copies into WITH."""
    key = "model.shop.fct_clicks"
    catalog = changed(tmp_path, key, partition_by=None, **config)
    assert fields(catalog, "lake", "mart", "fct_clicks") == expected


def test_a_manifest_of_trino(tmp_path: Path) -> None:
    node = {**NODE, "relation_name": '"lake"."s"."m"'}
    metadata = {"dbt_schema_version": "x/manifest/v12", "adapter_type": "trino"}
    path = tmp_path / "m.json"
    path.write_text(manifest(metadata=metadata, nodes={"model.p.m": node}))
    assert table(Catalog.load(str(path)), "lake", "s", "m").name == ("lake", "s", "m")


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1024, 1024), (2048.0, 2048), ("4096", 4096), (True, None), ("many", None), (None, None)],
)
def test_statistics_of_the_catalog(tmp_path: Path, value: object, expected: int | None) -> None:
    """What dbt-spark and dbt-databricks write of sizes and rows, as numbers or as texts."""
    shutil.copy(MANIFEST, tmp_path)
    stored = json.loads((TARGET / "catalog.json").read_text())
    stats = {"bytes": {"id": "bytes", "value": value}, "rows": {"id": "rows", "value": value}}
    stored["nodes"]["model.shop.fct_clicks"]["stats"] = stats
    (tmp_path / "catalog.json").write_text(json.dumps(stored))
    relation = table(Catalog.load(str(tmp_path / "manifest.json")), "lake", "mart", "fct_clicks")
    assert (relation.size_in_bytes, relation.row_count) == (expected, expected)
