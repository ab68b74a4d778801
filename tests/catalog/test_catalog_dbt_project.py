"""A dbt project without a manifest, as a catalog."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sqlrewrite import Catalog, CatalogError, rewrite
from sqlrewrite.run.file_rewriting import Request, run
from sqlrewrite.warehouse import Table, View

FILES = {
    "dbt_project.yml": """\
name: shop
model-paths: [models]
models:
  +file_format: delta
  shop:
    marts: {+materialized: table, small: {materialized: view}}
vars: {year: 2024}
""",
    "models/schema.yml": """\
sources:
  - name: raw
    database: lake
    schema: landing
    tables:
      - name: clicks
        identifier: clicks_v1
        external: {partitions: [{name: dt, data_type: date}]}
        columns: [{name: item, data_type: int}]
models:
  - name: fct_sales
    config: {partition_by: day}
    columns: [{name: day, data_type: date, data_tests: [not_null]}, {name: id, data_type: int}]
  - name: dim_dates
    config: {contract: {enforced: true}}
    columns: [{name: day, data_type: date}, {name: year, data_type: int}]
""",
    "models/marts/fct_sales.sql": "select 1 as id, current_date() as day",
    "models/marts/dim_dates.sql": "{{ config(alias='dates') }} select 1",
    "models/marts/small/stg.sql": "select day from {{ ref('fct_sales') }}",
    "models/later.sql": "{{ config(materialized=var('how'), partition_by='day') }} select 1",
    "models/off.sql": "{{ config(enabled=false) }} select 1",
    "models/inc.sql": "{{ config(materialized='incremental', partition_by=['a', 'b']) }} select 1",
    "seeds/regions.csv": "region\nnorth\n",
}
QUERY = """\
select s.id from {{ ref('fct_sales') }} s join {{ ref('dim_dates') }} d on d.day = s.day
where d.year = {{ var('year') }}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path / "dbt_project.yml"


@pytest.fixture
def catalog(project: Path) -> Catalog:
    return Catalog.load(str(project))


def loaded(project: Path) -> str:
    """Nothing where the project can be read, else the file that the error names."""
    try:
        Catalog.load(str(project))
    except CatalogError as error:
        return Path(str(error).partition(": ")[0]).name
    return ""


def referred(catalog: Catalog, *reference: str) -> Table | View | None:
    name = catalog.refer(reference)
    return None if name is None else catalog.resolve(name)


def test_models_are_rewritten(catalog: Catalog) -> None:
    result = rewrite(QUERY, catalog)
    assert (
        "and s.day in (select /*+ broadcast(d2) */ d2.day from {{ ref('dim_dates') }} as"
        in result.sql
    )


@pytest.mark.parametrize(
    ("reference", "partitions", "columns"),
    [
        (("ref", "fct_sales"), ["day"], {"day": "date", "id": "int"}),
        (("ref", "dim_dates"), [], {"day": "date", "year": "int"}),
        (("ref", "inc"), ["a", "b"], {}),
        (("ref", "regions"), [], {}),
        (("source", "raw", "clicks"), ["dt"], {"item": "int", "dt": "date"}),
    ],
)
def test_a_reference_has_its_partitions_and_columns(
    catalog: Catalog, reference: tuple[str, ...], partitions: list[str], columns: dict[str, str]
) -> None:
    relation = referred(catalog, *reference)
    assert isinstance(relation, Table)
    assert [column.column for column in relation.partitioned_by] == partitions
    assert {column.name: column.type for column in relation.columns if column.type} == columns
    complete = reference == ("ref", "dim_dates")  # else what is documented is some of them
    assert relation.names == (tuple(columns) if complete else ())


CALL = "{{{{ config({}) }}}} select 1 as id, current_date() as day"
NAMES = {
    "mart_upd": "schema='mart', alias='upd', partition_by='day'",
    "platform_upd": "schema='platform', alias='upd'",
    "of_a_catalog": "database='lake', schema='mart', alias='upd'",
    "of_a_schema": "schema='mart'",
    "plain": "alias='upd'",
    "no_schema_known": "schema=var('s'), alias='upd'",
    "no_alias_known": "schema='mart', alias=var('a')",
    "of_a_template": "schema='{{ target.name }}', alias='upd'",
    "catalog_alone": "database='lake', alias='upd'",
}


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("mart_upd", ("mart", "upd")),
        ("platform_upd", ("platform", "upd")),
        ("of_a_catalog", ("lake", "mart", "upd")),
        ("of_a_schema", ("mart", "of_a_schema")),
        ("plain", ("upd",)),
        ("no_schema_known", None),
        ("no_alias_known", None),
        ("of_a_template", None),
        ("catalog_alone", None),
        ("in_a_folder", ("finance", "in_a_folder")),
        ("in_yaml", ("hr", "people")),
    ],
)
def test_a_model_is_the_table_of_its_schema_and_alias(
    project: Path, model: str, name: tuple[str, ...] | None
) -> None:
    for other, config in NAMES.items():
        text = CALL.format(f"materialized='table', {config}")
        (project.parent / f"models/{other}.sql").write_text(text)
    (project.parent / "models/schema").mkdir()
    (project.parent / "models/schema/in_a_folder.sql").write_text("select 1 as id")
    (project.parent / "models/marts/in_yaml.sql").write_text("select 1 as id")
    properties = "models: [{name: in_yaml, config: {schema: hr, alias: people}}]"
    (project.parent / "models/more.yml").write_text(properties)
    folder = "    schema: {schema: finance, materialized: table}\nvars:"
    project.write_text(FILES["dbt_project.yml"].replace("vars:", folder))
    ddl = project.parent / "ddl.sql"
    ddl.write_text("CREATE TABLE platform.upd (id INT, day DATE) PARTITIONED BY (day);")
    catalog = Catalog.load(str(ddl), str(project))
    assert catalog.refer(("ref", model)) == name
    if model == "mart_upd":
        relation = referred(catalog, "ref", model)
        assert isinstance(relation, Table)
        assert relation.name == ("spark_catalog", "mart", "upd")


def test_views_and_what_is_not_known(catalog: Catalog) -> None:
    assert isinstance(referred(catalog, "ref", "stg"), View)
    assert referred(catalog, "ref", "off") is None
    assert referred(catalog, "ref", "later") is None  # what it is made as is not written there
    assert catalog.refer(("source", "raw", "clicks")) == ("lake", "landing", "clicks_v1")


def test_without_a_parser_of_yaml(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(CatalogError, match=r"pip install pyyaml.*manifest.json"):
        Catalog.load(str(project))


@pytest.mark.parametrize(
    "text",
    ["models: [", "- 1", "", "models: {shop: 1}", "model-paths: 3", "name: !!python/name:os.x 1"],
)
def test_a_broken_project(project: Path, text: str) -> None:
    """It is an error that names the file, or as if nothing were said."""
    project.write_text(text)
    assert loaded(project) in ("", "dbt_project.yml")


@pytest.mark.parametrize(
    "text",
    ["models: [1, {columns: 1}, {name: [1]}]", "sources: [{tables: [{}]}]", "models: {a: b}", "\t"],
)
def test_broken_properties_are_passed_over_or_named(project: Path, text: str) -> None:
    (project.parent / "models" / "schema.yml").write_text(text)
    assert loaded(project) in ("", "schema.yml")


@pytest.mark.parametrize(
    ("text", "why"),
    [("- 1", "not a dbt project"), ("name: x", "no source, and no model that is stored as a")],
)
def test_a_project_that_says_nothing_of_tables(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "dbt_project.yml"
    path.write_text(text)
    with pytest.raises(CatalogError, match=f"dbt_project.yml: {why}"):
        Catalog.load(str(path))


def test_this_is_the_table_of_the_model(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the model's own file, and in no other."""
    text = "select * from {{ this }} t join {{ ref('fct_sales') }} s on s.day = t.b"
    (project.parent / "models/inc.sql").write_text(f"{{{{ config(partition_by='b') }}}} {text}")
    (project.parent / "other.sql").write_text(text)
    monkeypatch.chdir(project.parent)
    catalog = Catalog.load(str(project))
    named = [
        statement.relations
        for path in ("models/inc.sql", "other.sql")
        for statement in run(
            path, Path(path).read_bytes(), Request(catalog), with_statements=True
        ).statements
    ]
    assert named == [
        (("inc", True), ("fct_sales", True)),
        (("{{ this }}", False), ("fct_sales", True)),
    ]


def test_a_view_whose_query_only_dbt_knows(project: Path) -> None:
    (project.parent / "models/marts/small/stg.sql").write_text("select {{ f() }} as day, 1 as id")
    query = "select 1 from {{ ref('fct_sales') }} s join {{ ref('stg') }} d on d.day = s.day"
    (candidate,) = rewrite(query, Catalog.load(str(project))).candidates
    assert "the query of the view `stg` is not known: dbt writes it to target/manifest.json" in str(
        candidate.rules
    )
