"""Files to a catalog: DDL, directories, snapshots, all of them merged, and their errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlrewrite.catalog.load import load
from sqlrewrite.sql.ddl import definitions
from sqlrewrite.sql.parse import statements as parse
from sqlrewrite.warehouse import CatalogError, Table, View, Warehouse

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
WAREHOUSE = FIXTURES / "catalog" / "warehouse"
CORPUS = sorted((Path(__file__).resolve().parents[3] / "shared" / "corpus").glob("*/*.sql"))


def table(catalog: Warehouse, *name: str) -> Table:
    relation = catalog.resolve(name)
    assert isinstance(relation, Table)
    return relation


def test_a_directory_gives_the_relations_of_its_files() -> None:
    catalog = load([str(WAREHOUSE)])
    assert sorted(".".join(name) for name in catalog.relations) == [
        "lake.web.clicks",
        "spark_catalog.default.date_dim",
        "spark_catalog.default.inbox",
        "spark_catalog.default.recent_days",
        "spark_catalog.default.sales",
        "spark_catalog.staging.sales",
    ]
    assert catalog.namespace == ("spark_catalog", "default")
    assert catalog.sources == (str(WAREHOUSE),)
    days = table(catalog, "date_dim")
    assert (days.size_in_bytes, days.row_count, days.primary_key) == (73049, 2000, ("d_date_sk",))
    assert days.source.endswith("01_dimensions.sql")
    view = catalog.resolve(("recent_days",))
    assert isinstance(view, View)
    assert view.query == "SELECT d_date_sk, d_date FROM date_dim WHERE d_year >= 2020"
    assert table(catalog, "staging", "sales").columns == table(catalog, "sales").columns
    assert not table(catalog, "inbox").streaming  # a plain read of it is one of a table


@pytest.mark.parametrize(
    ("fixture", "fact", "column"),
    [("retail/ddl.sql", "sales", "day"), ("tpcds/ddl.sql", "store_sales", "ss_sold_date_sk")],
)
def test_the_other_fixtures(fixture: str, fact: str, column: str) -> None:
    relation = table(load([str(FIXTURES / fixture)]), fact)
    assert [field.column for field in relation.partitioned_by] == [column]
    assert all(c.type is not None for c in relation.columns)


def test_the_schema_is_that_of_short_names(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("CREATE TABLE t (a INT); USE other; CREATE TABLE u (a INT)")
    (tmp_path / "b.sql").write_text("CREATE TABLE v (a INT)")
    catalog = load([str(tmp_path)], schema="lake.retail")
    assert set(catalog.relations) == {
        ("lake", "retail", "t"),
        ("lake", "other", "u"),
        ("lake", "retail", "v"),
    }
    assert catalog.namespace == ("lake", "retail")


def test_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_bytes(b"\xef\xbb\xbfCREATE TABLE t (a INT);\r\n")
    assert table(load([str(tmp_path / "a.sql")]), "t").columns[0].name == "a"


SNAPSHOT = (
    '{"version": 1, "tables": [{"name": "t", "row_count": 7, "size_in_bytes": 9,'
    ' "columns": [{"name": "A", "type": "bigint", "distinct_count": 5}]}]}'
)


@pytest.mark.parametrize(
    ("order", "type_"), [(["s.json", "d.sql"], "int"), (["d.sql", "s.json"], "bigint")]
)
def test_later_definitions_win_and_counts_complete(
    tmp_path: Path, order: list[str], type_: str
) -> None:
    (tmp_path / "s.json").write_text(SNAPSHOT)
    (tmp_path / "d.sql").write_text("CREATE TABLE t (a INT)")
    relation = table(load([str(tmp_path / name) for name in order]), "t")
    assert (relation.row_count, relation.size_in_bytes) == (7, 9)
    assert (relation.columns[0].type, relation.columns[0].distinct_count) == (type_, 5)


def test_a_snapshot_of_sizes_alone_keeps_the_columns(tmp_path: Path) -> None:
    (tmp_path / "d.sql").write_text("CREATE TABLE t (a INT)")
    (tmp_path / "s.json").write_text('{"version": 1, "tables": [{"name": "t", "row_count": 7}]}')
    relation = table(load([str(tmp_path / "d.sql"), str(tmp_path / "s.json")]), "t")
    assert (relation.row_count, len(relation.columns)) == (7, 1)


def test_what_a_file_says_of_itself_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(SNAPSHOT)
    (tmp_path / "d.sql").write_text(
        "CREATE TABLE t (a INT) TBLPROPERTIES ('spark.sql.statistics.numRows' = '1')"
    )
    relation = table(load([str(tmp_path / "s.json"), str(tmp_path / "d.sql")]), "t")
    assert relation.row_count == 1


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", b"\xff", r"a\.json: not UTF-8"),
        ("a.json", b'{"metadata": {"dbt_schema_version": "v12"}}', "not a dbt manifest but v12"),
        ("a.toml", b"", r"a\.toml: not a kind of file that is read; a catalog is a DDL file"),
    ],
)
def test_a_broken_file_is_told_with_its_mistake(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(CatalogError, match=message):
        load([str(path)])


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="no such file or directory"):
        load([str(tmp_path / "none.sql")])
    with pytest.raises(CatalogError, match=r"no file with SQL \(\*\.sql"):
        load([str(tmp_path)])


def test_nothing_that_could_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("SELECT 1; CREATE TABLE (a INT)")
    message = "no CREATE TABLE or CREATE VIEW that could be read"
    with pytest.raises(CatalogError, match=message):
        load([str(tmp_path / "a.sql")])
    catalog = load([str(tmp_path)])
    assert not catalog.relations
    assert [problem.why.startswith(message) for problem in catalog.left_out] == [False, True]


def test_a_folder_without_definitions_is_known_by_what_it_writes(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("INSERT INTO dw.t PARTITION (dt = '1') SELECT 1")
    catalog = load([str(tmp_path)])
    assert [column.column for column in table(catalog, "dw", "t").partitioned_by] == ["dt"]
    assert "no type is known" in catalog.left_out[0].why


def test_files_are_an_account_and_no_script(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text(
        "CREATE TABLE dw.next (a INT, p INT) PARTITIONED BY (p); DROP TABLE IF EXISTS dw.t;"
        "INSERT INTO dw.next SELECT 1, 1; ALTER TABLE dw.next RENAME TO dw.t"
    )
    catalog = load([str(tmp_path)])
    assert {name[-1] for name in catalog.relations} == {"next", "t"}
    assert not catalog.left_out


def test_a_name_with_a_variable_in_it_is_that_name_as_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text(
        "CREATE TABLE dw.log_${JOB} (a INT, p INT) PARTITIONED BY (p);"
        "CREATE TABLE dw.log_${day} (a INT); CREATE TABLE dw.log_{{ x }} AS SELECT 1 AS b"
    )
    catalog = load([str(tmp_path)])
    assert {name[-1] for name in catalog.relations} == {"log_${job}", "log_${day}", "log_{{ x }}"}
    assert table(catalog, "dw", "log_${job}").partitioned_by
    assert not table(catalog, "dw", "log_${day}").partitioned_by
    assert table(load([str(tmp_path)], variables={"JOB": "a"}), "dw", "log_a").partitioned_by


def test_a_dbt_project_in_a_folder_is_read_too(tmp_path: Path) -> None:
    for name in ("shop", "broken", "dbt_packages"):
        (tmp_path / name / "models").mkdir(parents=True)
        (tmp_path / name / "dbt_project.yml").write_text(f"name: {name}")
        (tmp_path / name / "models" / f"of_{name}.sql").write_text(
            "{{ config(materialized='table', partition_by='dt') }} SELECT 1"
        )
    (tmp_path / "broken" / "dbt_project.yml").write_text('name: "broken')
    (tmp_path / "shop" / "models" / "no.yml").write_text("- [")
    (tmp_path / "ddl.sql").write_text("CREATE TABLE t (a INT)")
    catalog = load([str(tmp_path)])
    assert {name[-1] for name in catalog.relations} == {"t", "of_shop"}
    assert [problem.where for problem in catalog.left_out] == [
        str(tmp_path / "broken" / "dbt_project.yml"),
        str(tmp_path / "shop" / "models" / "no.yml"),
    ]


def test_other_statements_that_do_not_parse_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("SELECT FROM FROM; FOO BAR; CREATE TABLE t (a INT); DROP ((;")
    assert table(load([str(tmp_path / "a.sql")]), "t")


@pytest.mark.skipif(not CORPUS, reason="the foreign corpus is not here")
def test_no_foreign_statement_raises() -> None:
    catalog = Warehouse()
    for path in CORPUS:
        text = path.read_text(encoding="utf-8")
        for statement in parse.statements(text):
            catalog = definitions.apply(statement, text, catalog, str(path))
    assert catalog.relations
