"""``catalog pull`` from a local Spark, and over Connect; what goes wrong with Spark."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from sqlrewrite import Catalog, rewrite
from sqlrewrite.cli.commands import program
from sqlrewrite.settings.spark_conf import ALL_KEYS, PRUNING, SETTINGS, VERSION
from sqlrewrite.text.markers import MARKER
from sqlrewrite.warehouse import Column, PartitionField, Table, View

from .runs import REMOTE, in_connect_session, in_database, needs_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DDL = """
CREATE TABLE fact (amount DECIMAL(10,2), code CHAR(3), tags ARRAY<STRING>, day DATE, Region STRING)
    USING parquet PARTITIONED BY (day, Region);
CREATE TABLE days (day DATE, year INT) USING parquet;
CREATE VIEW renamed (d, r) AS SELECT day, region FROM fact;
CREATE VIEW star AS SELECT * FROM days;
CREATE VIEW renamed_star (a, b) AS SELECT * FROM days;
INSERT INTO fact VALUES (1, 'a', NULL, DATE'2024-01-01', 'x/y=z'), (2, 'b', NULL, DATE'2024-01-02',
    'n'), (3, 'c', NULL, DATE'2024-01-02', NULL);
INSERT INTO days VALUES (DATE'2024-01-01', 2024);
ANALYZE TABLE fact COMPUTE STATISTICS FOR COLUMNS amount, code
"""


def run(*args: str) -> Result:
    return CliRunner().invoke(program, args, prog_name="dpp-rewrite", catch_exceptions=False)


@pytest.fixture(scope="module")
def pulled(spark: SparkSession) -> Iterator[SparkSession]:
    with in_database(spark, "pulled", DDL.split(";")):
        spark.sql("CREATE TEMPORARY VIEW passing AS SELECT 1")
        yield spark


@pytest.mark.spark
def test_pull(pulled: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "w.json"
    result = run("catalog", "pull", "pulled.*", "-o", str(file))
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "4 relations written" in result.stderr
    assert "skipped spark_catalog.pulled.renamed_star: " in result.stderr
    assert os.listdir(tmp_path) == ["w.json"]

    catalog = Catalog.load(str(file))
    fact = catalog.resolve(("pulled", "fact"))
    assert isinstance(fact, Table)
    assert fact.columns == (
        Column("amount", "decimal(10,2)", distinct_count=3),
        Column("code", "char(3)", distinct_count=3),
        Column("tags", "array<string>"),
        Column("day", "date", distinct_count=2),
        Column("Region", "string", distinct_count=2),
    )
    assert fact.partitioned_by == (PartitionField("day"), PartitionField("Region"))
    assert (fact.row_count, fact.partition_count) == (3, 3)
    days = catalog.resolve(("pulled", "days"))
    assert isinstance(days, Table)
    assert days.size_in_bytes  # of its files: nobody has analysed it
    view = catalog.resolve(("pulled", "renamed"))
    assert isinstance(view, View)
    assert view.columns == ("d", "r")
    assert view.namespace == ("spark_catalog", "pulled")

    query = "SELECT 1 FROM pulled.renamed f JOIN pulled.days d ON f.d = d.day WHERE d.year = 2024"
    assert {*PRUNING, ALL_KEYS, VERSION} <= set(catalog.settings) <= {*SETTINGS, VERSION}
    assert catalog.settings["spark.sql.autoBroadcastJoinThreshold"].startswith("10485760")
    (candidate,) = rewrite(query, catalog).candidates
    assert candidate.reason is not None
    assert candidate.reason.message == "Spark prunes by the join with `pulled.days` by itself"
    assert MARKER in rewrite(query, replace(catalog, settings={})).sql

    shown = run("catalog", "show", "-c", str(file)).stdout
    assert "day, Region (3 partitions)" in shown
    assert "pulled from local[*], just now" in shown


@pytest.mark.spark
def test_a_second_pull_differs_in_nothing_but_its_time(
    pulled: SparkSession, tmp_path: Path
) -> None:
    texts = []
    for name in ("a.json", "b.json"):
        assert run("catalog", "pull", "pulled.*", "-o", str(tmp_path / name)).exit_code == 0
        data = json.loads((tmp_path / name).read_text("utf-8"))
        assert data["generated"].pop("at")
        texts.append(json.dumps(data))
    assert texts[0] == texts[1]


@pytest.mark.spark
def test_a_pull_goes_on_where_it_stopped(pulled: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "w.json"
    kept = {"version": 1, "tables": [{"name": "spark_catalog.pulled.days", "row_count": 7}]}
    partial = tmp_path / "w.json.partial"
    partial.write_text(f'{{"pulled from": "local[*]"}}\n{json.dumps(kept)}\n', "utf-8")
    result = run("catalog", "pull", "pulled.*", "-o", str(file))
    assert "w.json.partial: 1 read already" in result.stderr
    days = Catalog.load(str(file)).resolve(("pulled", "days"))
    assert isinstance(days, Table)
    assert days.row_count == 7  # as it stood there: it was not read again
    assert os.listdir(tmp_path) == ["w.json"]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("pulled.d*", ["days"]),
        ("spark_catalog.pull?d.r*", ["renamed"]),
        ("PULLED.Days", ["days"]),
    ],
)
def test_patterns(pulled: SparkSession, pattern: str, names: list[str]) -> None:
    result = run("catalog", "pull", pattern)
    data = json.loads(result.stdout)
    listed = [table["name"] for table in [*data["tables"], *data.get("views", ())]]
    assert listed == [f"spark_catalog.pulled.{name}" for name in names]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (("--schema", "pulled"), {"fact", "days", "renamed", "star"}),
        (("--schema", "pulled", "--include", "ren*"), {"renamed"}),
        (("--include", "day?", "--include", "renamed"), {"days", "renamed"}),
    ],
)
@pytest.mark.spark
def test_schemas_and_names(pulled: SparkSession, options: tuple[str, ...], names: set[str]) -> None:
    result = run("catalog", "pull", *options)
    data = json.loads(result.stdout)
    listed = {table["name"] for table in [*data.get("tables", ()), *data.get("views", ())]}
    assert {name.rpartition(".")[2] for name in listed} == names


@pytest.mark.spark
def test_a_schema_that_may_not_be_listed(
    pulled: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It costs only itself, and is told; asked for by name alone it is an error."""
    from sqlrewrite.spark import catalog as live

    listed = live._relations

    def relations(spark: SparkSession, schema: tuple[str, ...]) -> set[str]:
        if schema[-1] == "default":
            spark.sql("SELECT assert_true(false, 'no rights')").collect()
        return listed(spark, schema)

    monkeypatch.setattr(live, "_relations", relations)
    file = tmp_path / "w.json"
    result = run("catalog", "pull", "--include", "days", "-o", str(file))
    assert result.exit_code == 0
    assert "skipped spark_catalog.default: cannot be listed: " in result.stderr
    assert "no rights" in result.stderr
    assert Catalog.load(str(file)).resolve(("pulled", "days")) is not None
    alone = run("catalog", "pull", "--schema", "default")
    assert alone.exit_code == 2
    assert "no rights" in alone.stderr
    pulled.sql("CREATE TABLE default.named (a INT) USING parquet")
    try:
        assert run("catalog", "pull", "default.named").exit_code == 0  # needs no list
    finally:
        pulled.sql("DROP TABLE default.named")


@pytest.mark.spark
def test_a_pull_of_nothing_leaves_the_snapshot_of_before(
    pulled: SparkSession, tmp_path: Path
) -> None:
    file = tmp_path / "w.json"
    file.write_text("before")
    result = run("catalog", "pull", "pulled.renamed_star", "-o", str(file))
    assert result.exit_code == 2
    assert "skipped spark_catalog.pulled.renamed_star: " in result.stderr
    assert "nothing is written" in result.stderr
    assert file.read_text() == "before"
    assert os.listdir(tmp_path) == ["w.json"]


@pytest.mark.spark
def test_a_pattern_that_fits_nothing(pulled: SparkSession, tmp_path: Path) -> None:
    result = run("catalog", "pull", "pulled.zzz*", "-o", str(tmp_path / "w.json"))
    assert result.exit_code == 2
    assert "no table or view fits 'pulled.zzz*'" in result.stderr
    assert os.listdir(tmp_path) == []


@pytest.mark.spark
@needs_connect
def test_over_connect(tmp_path: Path) -> None:
    code = (
        "import sys; from pyspark.sql import SparkSession;"
        "s = SparkSession.builder.remote('local')"
        f".config('spark.sql.warehouse.dir', {str(tmp_path / 'w')!r}).getOrCreate();"
        "s.sql('CREATE TABLE t (a CHAR(2), day DATE) USING orc PARTITIONED BY (day)').collect();"
        "s.sql(\"INSERT INTO t VALUES ('a', DATE'2024-01-01')\").collect();"
        "from sqlrewrite.spark.session import Session, Target;"
        "from sqlrewrite.spark import catalog as live;"
        "found = live.read_relations(Session(s, Target(remote='local'), False), [('spark_catalog',"
        " 'default', 't')]);"
        "print([it.relation for it in found]); s.stop()"
    )
    out, _ = in_connect_session(code, tmp_path)
    assert "Column(name='a', type='char(2)'" in out
    assert "partition_count=1" in out


# What goes wrong


def test_no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    spark = pytest.importorskip("pyspark")
    oldest = 8 if spark.__version__.startswith("3.") else 17
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    result = run("catalog", "pull", "--master", "local[1]")
    assert result.exit_code == 2
    assert f"Spark needs Java {oldest} or later, and there is none in JAVA_HOME ({tmp_path})" in (
        result.stderr
    )
    assert "apt-get install openjdk-17-jre-headless" in result.stderr


def test_no_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlrewrite.spark.session.find_spec", lambda name: None)
    result = run("catalog", "pull")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "pip install 'pyspark>=3.5'" in result.stderr


@pytest.mark.parametrize("option", [REMOTE, "--master=spark://127.0.0.1:"])
def test_a_cluster_that_refuses(option: str, tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    result = run("catalog", "pull", f"{option}{port}", "-o", str(tmp_path / "w.json"))
    assert result.exit_code == 2
    assert "nobody answers there (Connection refused)" in result.stderr
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (("--remote", "sc://x", "--master", "yarn"), "--master cannot go with --remote"),
        (("--conf", "spark.x"), "--conf 'spark.x': write KEY=VALUE"),
    ],
)
def test_options_that_contradict(args: tuple[str, ...], why: str) -> None:
    result = run("catalog", "pull", *args)
    assert result.exit_code == 2
    assert why in result.stderr
