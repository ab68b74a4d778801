"""``dpp-rewrite init``: what it finds, what it writes, and that it overwrites nothing."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sqlrewrite.catalog import Catalog, snapshot
from tests.cli.conftest import Ran, invoke

TABLE = "CREATE TABLE {} (id INT, day DATE) USING parquet PARTITIONED BY (day);\n"
QUERY = "SELECT s.id FROM sales s CROSS JOIN days d WHERE s.day = d.day AND d.id = 1;\n"
PROJECT = Path(__file__).parents[2] / "fixtures" / "dbt"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Ran]:
    """Runs the program in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return invoke


def write(**texts: str) -> None:
    for name, text in texts.items():
        path = Path(*name.split("__")).with_suffix(".sql")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def written() -> dict[str, Any]:
    """The settings that were written, without the one that always is."""
    settings = tomllib.loads(Path("dpp-rewrite.toml").read_text())
    assert settings.pop("when") == "missed"
    return settings


@pytest.mark.parametrize(
    ("texts", "catalog"),
    [
        ({"ddl__a": TABLE, "ddl__b": TABLE, "etl__q": QUERY}, ["ddl"]),
        ({"a": TABLE, "b": TABLE, "q": QUERY}, ["."]),
        ({"etl__a": TABLE, "etl__q": QUERY, "etl__r": QUERY, "etl__s": QUERY}, ["etl/a.sql"]),
        (
            {"x__ddl__a": TABLE, "y__ddl__b": TABLE, **{f"q{n}": QUERY for n in range(9)}},
            ["x/ddl", "y/ddl"],
        ),
        (
            {f"d{n}__{name}": text for n in range(9) for name, text in
             {"t": TABLE, "q": QUERY, "r": QUERY, "s": QUERY}.items()},
            ["."],
        ),
        ({"q": f"-- CREATE TABLE a (b INT)\n{QUERY}"}, None),
        ({"l": "CREATE OR REFRESH STREAMING TABLE a AS SELECT 1", "q": "", "r": ""}, ["l.sql"]),
        ({}, None),
    ],
)  # fmt: skip
def test_init_finds_the_definitions(
    run: Callable[..., Ran], texts: dict[str, str], catalog: object
) -> None:
    write(**{name: text.format(f"t{n}") for n, (name, text) in enumerate(texts.items())})
    ran = run("init")
    assert (ran.status, ran.out) == (0, b"")
    assert written().get("catalog") == catalog
    assert f"{len(texts)} file{'s' * (len(texts) != 1)} of SQL\n" in ran.err
    assert ("next: dpp-rewrite catalog pull" in ran.err) == (catalog is None)


def test_what_was_found_is_reported_and_works(run: Callable[..., Ran]) -> None:
    write(ddl__t=TABLE.format("sales") + "CREATE TABLE days (id INT, day DATE);\n", etl__q=QUERY)
    ran = run("init")
    assert ran.err.splitlines() == [
        "2 files of SQL",
        "found ddl: 2 tables, 1 partitioned",
        "dpp-rewrite.toml written",
        "next: dpp-rewrite lint .",
    ]
    assert run("lint", "--select", "DPP001", ".").status == 1
    assert "# 2 tables, 1 partitioned" in Path("dpp-rewrite.toml").read_text()


@pytest.mark.parametrize("beside", [False, True])
def test_files_of_python(run: Callable[..., Ran], beside: bool) -> None:
    """Where nothing else holds SQL they are what is linted next; else that is said."""
    texts = (TABLE.format("sales"), "CREATE TABLE days (id INT, day DATE)", QUERY)
    Path("job.py").write_text("".join(f"spark.sql({text.strip(' ;')!r})\n" for text in texts))
    Path("other.py").write_text("print()\n")
    if beside:
        write(q="SELECT 1")
    assert "SQL in 1 file of Python and notebooks\n" in run("init").err
    assert written().get("include-python") is (None if beside else True)
    assert run("lint", "--select", "DPP001", ".").status == (2 if beside else 1)  # no table


def test_a_dbt_project_without_its_manifest(run: Callable[..., Ran]) -> None:
    Path("models").mkdir()
    Path("models/sold.sql").write_text("{{ config(materialized='table', partition_by='dt') }}")
    Path("dbt_project.yml").write_text("name: shop\n")
    ran = run("init")
    assert written() == {"catalog": ["dbt_project.yml"]}
    assert "dbt_project.yml: dbt: 1 table, 1 partitioned; `dbt parse` writes" in ran.err


def test_dbt_a_snapshot_and_spark(run: Callable[..., Ran]) -> None:
    shutil.copytree(PROJECT / "target", "shop/target")
    Path("shop/dbt_project.yml").write_text("name: shop\n")
    Path("other").mkdir()
    Path("other/dbt_project.yml").write_text("name: other\n")
    catalog = Catalog.from_ddl(TABLE.format("sales"))
    Path("lake.json").write_text(snapshot.write(catalog, {"by": "dpp-rewrite 0.1.0"}))
    Path("package.json").write_text("{}")
    Path("conf").mkdir()
    Path("conf/spark-defaults.conf").write_text(
        "# none\nspark.sql.ansi.doubleQuotedIdentifiers  false\nspark.master yarn\n"
        "spark.sql.optimizer.dynamicPartitionPruning.enabled=false\n"
        "spark.sql.catalog.spark_catalog.defaultDatabase  lake\n"
    )
    ran = run("init")
    assert ran.status == 0
    assert written() == {
        "catalog": ["lake.json", "shop/target/manifest.json"],
        "schema": "lake",
        "double-quoted-identifiers": False,
        "predicate": "set",
        "spark-conf": {"spark.sql.optimizer.dynamicPartitionPruning.enabled": "false"},
    }
    assert "found shop/target/manifest.json: dbt: 11 tables, 5 partitioned, 3 views" in ran.err
    assert "not usable yet other/dbt_project.yml: no source, and no model" in ran.err
    assert "spark.master" not in ran.err


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("spark.sql.ansi.doubleQuotedIdentifiers true\nspark.sql.ansi.enabled true", True),
        ("spark.sql.ansi.doubleQuotedIdentifiers true\nspark.sql.ansi.enabled false", False),
        ("spark.sql.ansi.doubleQuotedIdentifiers true", None),  # Spark 3 and 4 differ
        ("spark.sql.optimizer.dynamicPartitionPruning.enabled true", None),
    ],
)
def test_init_reads_what_double_quotes_are(
    run: Callable[..., Ran], lines: str, said: bool | None
) -> None:
    Path("spark-defaults.conf").write_text(lines)
    assert run("init").status == 0
    assert written().get("double-quoted-identifiers") is said
    assert "predicate" not in written()


def test_a_manifest_of_another_engine(run: Callable[..., Ran]) -> None:
    Path("target").mkdir()
    Path("dbt_project.yml").write_text("name: shop\n")
    manifest = json.loads((PROJECT / "target" / "manifest.json").read_text())
    manifest["metadata"]["adapter_type"] = "bigquery"
    Path("target/manifest.json").write_text(json.dumps(manifest))
    ran = run("init")
    assert "not usable yet target/manifest.json: of dbt's bigquery adapter" in ran.err
    assert "catalog" not in written()


@pytest.mark.parametrize(
    "text", ["[tool.black]\nline-length = 100", "[project]\r\nname = 'x'\r\n", ""]
)
def test_what_stands_in_pyproject_stays(run: Callable[..., Ran], text: str) -> None:
    Path("pyproject.toml").write_bytes(text.encode())
    write(ddl__t=TABLE.format("sales"))
    assert run("init").status == 0
    assert not Path("dpp-rewrite.toml").exists()
    after = Path("pyproject.toml").read_bytes().decode()
    assert after.startswith(text)
    assert tomllib.loads(after)["tool"]["dpp-rewrite"] == {"catalog": ["ddl"], "when": "missed"}


@pytest.mark.parametrize(
    ("name", "text"),
    [("pyproject.toml", "[tool.dpp-rewrite]\ndepth = 1\n"), ("dpp-rewrite.toml", "")],
)
def test_nothing_is_overwritten(run: Callable[..., Ran], name: str, text: str) -> None:
    """What would have been written is printed."""
    Path(name).write_text(text)
    write(ddl__t=TABLE.format("sales"))
    ran = run("init")
    assert ran.status == 2
    assert f"{name} has settings already, so nothing is written; " in ran.err
    assert "written; catalog, when are missing in it or differ: copy the lines" in ran.err
    assert Path(name).read_text() == text
    assert tomllib.loads(ran.out.decode()) == {"catalog": ["ddl"], "when": "missed"}


def test_a_second_time_there_is_nothing_to_write(run: Callable[..., Ran]) -> None:
    write(ddl__t=TABLE.format("sales"))
    run("init")
    before = Path("dpp-rewrite.toml").read_text()
    ran = run("init")
    assert (ran.status, ran.out) == (0, b"")
    assert "has all of these settings already" in ran.err
    assert "next: dpp-rewrite lint ." in ran.err
    assert Path("dpp-rewrite.toml").read_text() == before


PROFILE = "{}: {{target: {}, outputs: {{dev: {{type: {}}}, prod: {{type: {}}}}}}}\n"


@pytest.mark.parametrize(
    ("profile", "dialect"),
    [
        (PROFILE.format("shop", "dev", "trino", "trino"), "trino"),
        (PROFILE.format("shop", "dev", "athena", "duckdb"), "trino"),
        (PROFILE.format("shop", "dev", "duckdb", "trino"), "trino"),
        (PROFILE.format("shop", "prod", "trino", "databricks"), None),
        (PROFILE.format("shop", '"{{ env_var(1) }}"', "trino", "databricks"), None),
        (PROFILE.format("other", "dev", "trino", "trino"), None),
        ("shop: {target: {{ x }}, outputs", None),
        (None, None),
    ],
)
@pytest.mark.parametrize("above", [False, True])
def test_the_dialect_of_a_dbt_project(
    run: Callable[..., Ran], profile: str | None, dialect: str | None, above: bool
) -> None:
    """By the adapter of its profile, beside it or in the folder above."""
    write(shop__models__t="select 1 as id")
    Path("shop/dbt_project.yml").write_text(
        "name: shop\nprofile: shop\nmodels: {+materialized: table}\n"
    )
    if profile is not None:
        Path("profiles.yml" if above else "shop/profiles.yml").write_text(profile)
    ran = run("init")
    assert ran.status == 0
    settings = written()
    assert (settings.get("dialect"), settings.get("engine")) == (dialect, dialect)
    assert ("found shop: dbt on Trino" in ran.err) == (dialect is not None)


def test_dbt_projects_of_two_dialects(run: Callable[..., Ran]) -> None:
    """Each needs settings of its own, which is said."""
    for name, adapter in (("a", "trino"), ("b", "spark")):
        write(**{f"{name}__models__t": "select 1 as id"})
        Path(name, "dbt_project.yml").write_text(
            f"name: {name}\nprofile: p\nmodels: {{+materialized: table}}\n"
        )
        Path(name, "profiles.yml").write_text(PROFILE.format("p", "dev", adapter, adapter))
    assert run("init").status == 0
    assert "dialect" not in written()
    text = Path("dpp-rewrite.toml").read_text()
    assert "# a is written for Trino: give it a dpp-rewrite.toml of its own with dialect" in text
    assert "# b is" not in text


def test_a_dbt_project_of_another_adapter(run: Callable[..., Ran]) -> None:
    write(models__t="select 1 as id")
    Path("dbt_project.yml").write_text("name: p\nprofile: p\nmodels: {+materialized: table}\n")
    Path("profiles.yml").write_text(PROFILE.format("p", "dev", "bigquery", "bigquery"))
    ran = run("init")
    assert "not usable yet dbt_project.yml: of dbt's bigquery adapter; these are read" in ran.err


def test_init_of_another_folder_stays_in_it(run: Callable[..., Ran]) -> None:
    write(a__ddl__t=TABLE.format("sales"), a__q=QUERY, b__t=TABLE.format("other"))
    assert run("init", "a").status == 0
    assert tomllib.loads(Path("a/dpp-rewrite.toml").read_text())["catalog"] == ["ddl"]
    assert run("init", "none").status == 2


def test_a_pyproject_that_cannot_be_read(run: Callable[..., Ran]) -> None:
    Path("pyproject.toml").write_text("x = ")
    ran = run("init")
    assert (ran.status, "pyproject.toml: not valid TOML" in ran.err) == (2, True)
    assert Path("pyproject.toml").read_text() == "x = "


@pytest.mark.parametrize("text", ["tool = 3\n", "tool = { ruff = {} }\n", "x = 1\ntool = []\n"])
def test_a_file_that_no_table_can_be_added_to_stays(run: Callable[..., Ran], text: str) -> None:
    write(t=TABLE.format("t"))
    Path("pyproject.toml").write_text(text)
    ran = run("init")
    assert ran.status == 2
    assert "pyproject.toml: a table [tool.dpp-rewrite] cannot be added" in ran.err
    assert "write the settings into a dpp-rewrite.toml beside it" in ran.err
    assert Path("pyproject.toml").read_text() == text


def test_line_ends_of_the_file_are_kept(run: Callable[..., Ran]) -> None:
    write(t=TABLE.format("t"))
    Path("pyproject.toml").write_bytes(b'[project]\r\nname = "x"\r\n')
    assert run("init").status == 0
    written = Path("pyproject.toml").read_bytes()
    assert b"\r\n\r\n[tool.dpp-rewrite]\r\n" in written
    assert written.count(b"\n") == written.count(b"\r\n")


@pytest.mark.parametrize(("value", "count"), [("trunc(s.d, 'MM')", 1), ("DATE '2024-01-01'", 0)])
def test_proposes_computed_columns(run: Callable[..., Ran], value: str, count: int) -> None:
    write(
        ddl="CREATE TABLE o (d DATE, m DATE) USING parquet PARTITIONED BY (m);\n",
        load=f"INSERT INTO o SELECT s.d, {value} FROM s;\n",
    )
    run("init")
    text = Path("dpp-rewrite.toml").read_text()
    line = "# m = \"trunc(d, 'MM')\"  # load.sql:1\n"
    assert text.count('# [derived."default.o"]\n' + line) == count
    assert "derived" not in written()
    assert run("catalog", "infer", ".").out.decode().count(f"-- {line[2:]}") == count
