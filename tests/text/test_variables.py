"""Values of variables that a project gives: a name with one is the table so named, and the text
keeps the variable."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from sqlrewrite import Catalog, rewrite
from sqlrewrite.cli.commands import program
from sqlrewrite.embedded import rewrite as rewrite_host
from sqlrewrite.settings.options import make_options
from sqlrewrite.settings.table import named
from sqlrewrite.text.hosts import host_of
from sqlrewrite.text.variables import in_force

# Two schemas have the same tables, of which only one is partitioned: which of them a variable
# means decides whether there is anything to write.
DDL = """
CREATE TABLE prod.sales (id INT, amt INT) PARTITIONED BY (day INT);
CREATE TABLE dev.sales (id INT, amt INT, day INT);
CREATE TABLE prod.dates (day INT, year INT);
CREATE TABLE dev.dates (day INT, year INT);
"""
QUERY = "SELECT s.id FROM {0}.sales s JOIN {0}.dates d ON s.day = d.day WHERE d.year = 2024"
STYLES = [
    "${db}",
    "${hiveconf:db}",
    "${hivevar:db}",
    "`${db}`",
    "$db",
    "{{ db }}",
    "{{ var('db') }}",
    "{{ var('db', 'dev') }}",
    "@db@",
    "#{db}",
]


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return loaded(tmp_path, DDL, {"db": "prod", "env": "od"})


def loaded(folder: Path, ddl: str, variables: dict[str, str]) -> Catalog:
    path = folder / "ddl.sql"
    path.write_text(ddl)
    return Catalog.load(str(path), variables=variables)


def written(sql: str, catalog: Catalog) -> list[str]:
    return [
        candidate.predicate for candidate in rewrite(sql, catalog).candidates if candidate.predicate
    ]


@pytest.mark.parametrize("style", STYLES)
def test_a_variable_is_the_schema_that_it_names(style: str, catalog: Catalog) -> None:
    (predicate,) = written(QUERY.format(style), catalog)
    assert f"FROM {style}.dates".lower() in predicate.lower()
    assert not written(QUERY.format(style), Catalog.from_ddl(DDL))  # it may be either


@pytest.mark.parametrize("style", ["pr${env}", "pr{{ env }}"])
def test_a_variable_is_a_part_of_a_name(style: str, catalog: Catalog) -> None:
    (predicate,) = written(QUERY.format(style), catalog)
    assert f"FROM {style}.dates".lower() in predicate.lower()


def test_a_variable_is_a_whole_table(tmp_path: Path) -> None:
    catalog = loaded(tmp_path, DDL, {"facts": "sales", "dim": "dates"})
    text = QUERY.format("prod").replace(".sales", ".${facts}").replace(".dates", ".${dim}")
    (predicate,) = written(text, catalog)
    assert "prod.${dim}" in predicate


def test_a_table_is_the_cte_of_that_name(tmp_path: Path) -> None:
    catalog = loaded(tmp_path, f"USE prod; {DDL}", {"facts": "sales"})
    catalog = catalog.use("prod")
    query = "SELECT s.id FROM ${facts} s JOIN dates d ON s.day = d.day WHERE d.year = 2024"
    assert written(query, catalog)
    assert not written(f"WITH sales AS (SELECT 1 AS id, 2 AS day) {query}", catalog)


@pytest.mark.parametrize("style", ["${db}", "`${hivevar:db}`", "{{ db }}", "pr${env}"])
def test_ddl_and_queries_name_one_table(style: str, tmp_path: Path) -> None:
    ddl = DDL.replace("prod.", f"{style}.")
    catalog = loaded(tmp_path, ddl, {"db": "prod", "env": "od"})
    assert ("spark_catalog", "prod", "sales") in catalog.relations
    assert written(QUERY.format("prod"), catalog)
    assert not written(QUERY.format("dev"), catalog)
    assert written(f"USE {style}; {QUERY.replace('{0}.', '')}", catalog)


def test_use_of_a_variable_holds_in_ddl(tmp_path: Path) -> None:
    ddl = "USE ${db};\nCREATE TABLE sales (id INT) PARTITIONED BY (day INT);"
    catalog = loaded(tmp_path, ddl, {"db": "prod"})
    assert ("spark_catalog", "prod", "sales") in catalog.relations


@pytest.mark.parametrize(
    "sets",
    [
        "SET hivevar:db='dev';",
        "SELECT 1; SET db = dev;",
        "set\n  hiveconf:db=dev.x;",
        "SET ${name}=dev;",
        "RESET;",
        "RESET db;",
        "source other.hql;",
        "{% set db = 'dev' %}",
        "{% set a, db = 'a', 'dev' %}",
    ],
)
def test_what_a_text_sets_itself_is_not_in_force(sets: str, catalog: Catalog) -> None:
    assert "db" not in in_force(catalog, f"{sets}\n{QUERY}").variables
    assert not written(f"{sets}\n{QUERY.format('${db}')}", catalog)


# Spark 4.3: `SET x = v` and `SET hivevar:x = v` give `${x}`, `${hivevar:x}` and `${hiveconf:x}` the
# value, as text. `SET hiveconf:x = v` gives none; Hive's gives `${hiveconf:x}` one.
@pytest.mark.parametrize("style", ["${db}", "${hiveconf:db}", "`${hivevar:db}`"])
@pytest.mark.parametrize("head", ["SET db = prod;", "-- x\nUSE a;\nset hivevar:db=prod;\n"])
def test_a_text_gives_a_variable_its_value_at_its_head(style: str, head: str) -> None:
    query, without = QUERY.format(style), Catalog.from_ddl(DDL)
    assert written(head + query, without)
    assert written(head + query, replace(without, variables={"db": "dev"}))
    assert not written(head.replace("prod", "dev") + query, without)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1; SET db = prod; {0}",
        "/* /* */ SET db = prod; */ {0}",
        "-- SET db = prod;\n{0}",
        "SET db = prod;\nSET db = dev;\n{0}",
        "SET db = prod; {0}; SET db = dev; {0}",
        "SET db = prod; {0}; RESET db; {0}",
        "USE ${{db}}; SET db = prod; {0}",
        "SET db = prod; SELECT * FROM $db.t; {0}",
        "-- Databricks notebook source\nSET db = prod;\n{0}",
        "SET db = 'prod'; {0}",
        "SET x = 'SET db = prod;'; {0}",
        "SET db = prod; SET ${{x}} = dev; {0}",
    ],
)
def test_what_may_be_set_otherwise_has_no_value(text: str) -> None:
    assert not written(text.format(QUERY.format("${db}")), Catalog.from_ddl(DDL))


@pytest.mark.parametrize(
    "harmless",
    [
        "SET other=1;",
        "SET mydb=dev;",
        "UPDATE t SET t.db = 1;",
        "SELECT\n  source_id\nFROM\n  source s;",
        "ALTER TABLE x SET LOCATION '/${db}/x';",
        "{% set other = db %}",
    ],
)
def test_another_set_leaves_it_in_force(harmless: str, catalog: Catalog) -> None:
    assert in_force(catalog, f"{harmless}\n{QUERY}") is catalog
    assert written(f"{harmless}\n{QUERY.format('${db}')}", catalog)


def test_what_a_text_makes_under_the_variable_is_no_other_table(catalog: Catalog) -> None:
    statements = "DROP TABLE ${db}.sales; CREATE TABLE ${db}.sales (id INT, day INT);"
    assert not written(f"{statements} {QUERY.format('prod')}", catalog)
    assert written(f"{statements.replace('db', 'tb')} {QUERY.format('prod')}", catalog)


@pytest.mark.parametrize(
    ("before", "count"),
    [("", 1), ('spark.conf.set("db", "dev")\n', 0), ('spark.sql("SET db=dev")\n', 0)],
)
def test_in_a_program(before: str, count: int, catalog: Catalog) -> None:
    text = f'{before}spark.sql("""{QUERY.format("${db}")}""")\n'
    host = host_of("job.py", text)
    assert host is not None
    result = rewrite_host("job.py", host, catalog, make_options())
    assert sum(candidate.predicate is not None for candidate in result.candidates) == count


@pytest.mark.parametrize("style", STYLES)
def test_what_is_written_is_known_again(style: str, catalog: Catalog) -> None:
    once = rewrite(QUERY.format(style), catalog).sql
    assert rewrite(once, catalog).sql == once != QUERY.format(style)
    assert rewrite(once.replace("2024", "2023"), catalog).sql == once.replace("2024", "2023")


@pytest.mark.parametrize(("value", "status"), [("prod", 1), ("dev", 0)])
def test_a_project_gives_the_value(
    value: str, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ddl.sql").write_text(DDL)
    (tmp_path / "q.hql").write_text(QUERY.format("${db}"))
    (tmp_path / "dpp-rewrite.toml").write_text(
        f'catalog = "ddl.sql"\nvariables = {{db = "{value}"}}'
    )
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(program, ["rewrite", "--check", "q.hql"]).exit_code == status


@pytest.mark.parametrize("value", ["a.b", "1", "a b", "", "d; DROP TABLE t"])
def test_a_value_is_a_word(value: str) -> None:
    with pytest.raises(ValueError, match="a name of letters"):
        named("variables").kind.read({"db": value})


def test_a_variable_of_the_program_is_its_own(catalog: Catalog) -> None:
    assert not written(QUERY.format("{db}"), catalog)


def test_a_value_stays_unknown(catalog: Catalog) -> None:
    text = QUERY.format("prod").replace("2024", "${db}")
    (predicate,) = written(text, catalog)
    assert "= ${db}" in predicate


COMPUTED = (
    "SELECT s.id FROM IDENTIFIER({0}) s JOIN IDENTIFIER({1}) d ON s.day = d.day WHERE d.year = 2"
)


@pytest.mark.parametrize(
    ("fact", "dimension"),
    [
        ("'prod.sales'", "'prod' || '.dates'"),
        (":db || '.sales'", ":db || '.' || 'dates'"),
        ("'${db}.sales'", "'prod.dates'"),
    ],
)
def test_a_computed_name_is_the_name(fact: str, dimension: str, catalog: Catalog) -> None:
    (predicate,) = written(COMPUTED.format(fact, dimension), catalog)
    assert f"FROM IDENTIFIER({dimension}) AS d2 WHERE d2.year = 2" in predicate


@pytest.mark.parametrize(
    "fact",
    ["concat(:db, '.sales')", "x || '.sales'", "'prod' '.sales'", "'prod..sales'", '"prod.sales"'],
)
def test_what_is_computed_otherwise_is_not_known(fact: str, catalog: Catalog) -> None:
    assert not written(COMPUTED.format(fact, "'prod.dates'"), catalog)


def test_definitions_under_computed_names() -> None:
    sales, dates = ":db || '.sales'", ":db || '.dates'"
    catalog = Catalog.from_ddl(
        f"CREATE TABLE IDENTIFIER({sales}) (id INT) PARTITIONED BY (day INT);"
        f"CREATE TABLE IF NOT EXISTS IDENTIFIER({dates}) (day INT, year INT);"
        f"ALTER TABLE IDENTIFIER({sales}) ADD COLUMNS (amt INT)"
    )
    assert ("spark_catalog", "${db}", "sales") in catalog.relations
    assert written(COMPUTED.format(sales, dates), catalog)


@pytest.mark.parametrize(
    "condition",
    ["d.year IS DISTINCT FROM IDENTIFIER('d.day')", "extract(day FROM IDENTIFIER('d.day')) = 1"],
)
def test_a_computed_column_is_no_relation(condition: str, catalog: Catalog) -> None:
    text = QUERY.format("prod").replace("d.year = 2024", condition)
    assert not written(text, catalog)
