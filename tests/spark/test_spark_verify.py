"""``verify``: both texts run, their rows compared as bags, and what the scans read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from sqlrewrite.cli import program
from sqlrewrite.model import Rewrite
from sqlrewrite.schema import Catalog
from sqlrewrite.spark.bags import compare
from sqlrewrite.spark.session import Session
from sqlrewrite.spark.target import SparkError, Target
from sqlrewrite.spark.verify import Outcome, Verified, verify_text

from .runs import in_database

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ROOT = Path(__file__).resolve().parents[2]

DDL = """
CREATE TABLE sold (amount INT, day INT) USING parquet PARTITIONED BY (day);
CREATE TABLE days (day INT, season STRING) USING parquet
"""
ROWS = """
INSERT INTO sold SELECT id, id % 20 FROM range(0, 200, 1, 1);
INSERT INTO days SELECT id, IF(id < 6, 'winter', 'summer') FROM range(0, 20, 1, 1)
"""

QUERY = "SELECT s.day, sum(s.amount) AS total FROM sold s JOIN days d ON s.day = d.day"
WINTER = f"{QUERY} WHERE d.season = 'winter'"


@pytest.fixture(scope="module")
def sold(spark: SparkSession) -> Iterator[SparkSession]:
    with in_database(spark, "verified", f"{DDL};{ROWS}".split(";")):
        yield spark


def verified(spark: SparkSession, before: str, after: str) -> Verified:
    """Two texts, as if one had been made of the other."""
    found: list[Verified] = []
    pretended = Rewrite(before, after, 1, (), (), (), ())
    session = Session(spark, Target("local"), classic=True)
    spark.sql("USE verified")
    verify_text(session, "q.sql", pretended, Catalog(), found.append, timeout=300)
    (one,) = found
    return one


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        ("SELECT 1", "SELECT 1 + 0", Outcome.SAME),
        ("SELECT 1", "SELECT 2", Outcome.DIFFERENT),
        ("SELECT 1 UNION ALL SELECT 1", "SELECT 1", Outcome.DIFFERENT),
        ("SELECT NULL, 1", "SELECT NULL, 1 + 0", Outcome.SAME),
        ("SELECT CAST(NULL AS INT)", "SELECT 0", Outcome.DIFFERENT),
        (
            "SELECT day FROM sold ORDER BY amount DIV 200 LIMIT 3",
            "SELECT day FROM sold ORDER BY amount DIV 200, day DESC LIMIT 3",
            Outcome.TIES,
        ),
        (
            "SELECT day FROM sold ORDER BY amount LIMIT 3",
            "SELECT day FROM sold WHERE day <> 1 ORDER BY amount LIMIT 3",
            Outcome.DIFFERENT,
        ),
        ("SELECT uuid(), 1", "SELECT uuid(), 2", Outcome.UNSTABLE),
        ("INSERT INTO sold VALUES (1, 1)", "INSERT INTO sold VALUES (2, 2)", Outcome.SKIPPED),
        (
            "SELECT map('a', 1), array(1), named_struct('x', 1)",
            "SELECT map('a', 1), array(1 + 0), named_struct('x', 1)",
            Outcome.SAME,
        ),
        ("SELECT map('a', 1, 'b', 2), 1", "SELECT map('b', 2, 'a', 1), 1", Outcome.SAME),
        ("SELECT map('a', 1), 1", "SELECT map('a', 2), 1", Outcome.DIFFERENT),
        ("SELECT map('a', 1), 0.1D + 0.2D", "SELECT map('a', 1), 0.3D", Outcome.SAME),
        ("SELECT 'a' COLLATE UTF8_LCASE", "SELECT 'A' COLLATE UTF8_LCASE", Outcome.DIFFERENT),
    ],
)
def test_outcomes(sold: SparkSession, before: str, after: str, outcome: Outcome) -> None:
    if "COLLATE" in before and sold.version < "4":
        pytest.skip("Spark 3 has no collations")
    found = verified(sold, before, after)
    assert found.outcome is outcome
    assert sold.table("verified.sold").count() == 200


FLOATS = "SELECT * FROM VALUES {} AS t(k, x, y)"


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("('a', 0.1D + 0.2D, 1D)", "('a', 0.3D, 1D)", True),
        ("('a', 0.3001D, 1D)", "('a', 0.3D, 1D)", False),
        ("('a', 1e20D, 1D)", "('a', 1.0000000000001e20D, 1D)", True),
        ("('a', double('NaN'), 1D)", "('a', double('NaN'), 1D)", True),
        ("('a', double('NaN'), 1D)", "('a', 1D, 1D)", False),
        ("('a', double('inf'), 1D)", "('a', 1e308D, 1D)", False),
        ("('a', double('inf'), 1D)", "('a', double('-inf'), 1D)", False),
        ("('a', CAST(NULL AS DOUBLE), 1D)", "('a', 0D, 1D)", False),
        ("('a', 0.1D + 0.2D, 1D), ('b', 7D, 1D)", "('b', 0.3D, 1D), ('a', 7D, 1D)", False),
        ("(NULL, 0.1D + 0.2D, 1D)", "(NULL, 0.3D, 1D)", True),
        ("(NULL, 0.1D + 0.2D, 1D), ('a', 1D, 1D)", "('a', 1D, 1D), (NULL, 0.3D, 1D)", True),
        ("(NULL, 0.1D + 0.2D, 1D), ('a', 1D, 1D)", "(NULL, 1D, 1D), ('a', 0.3D, 1D)", False),
        (
            "('a', 0.1D + 0.2D, 1D), ('a', 0.1D + 0.2D, 1D), ('a', 5D, 2D)",
            "('a', 0.3D, 1D), ('a', 5D, 2D), ('a', 0.3D, 1D)",
            True,
        ),
        ("('a', 0.1D + 0.2D, 5D), ('a', 0.3D, 3D)", "('a', 0.3D, 5D), ('a', 0.3D, 3D)", True),
        (
            "('a', 0.1D + 0.2D, 1D), ('a', 0.1D + 0.2D, 1D)",
            "('a', 0.3D, 1D), ('a', 0.3D, 2D)",
            False,
        ),
    ],
)
def test_floating_point(spark: SparkSession, before: str, after: str, same: bool) -> None:
    old, new = (spark.sql(FLOATS.format(values)) for values in (before, after))
    assert compare(old, new).same == same
    assert compare(new, old).same == same


def test_a_difference_is_shown(spark: SparkSession) -> None:
    old = spark.sql("SELECT id, 'x' AS name FROM range(10)")
    new = spark.sql("SELECT id, 'x' AS name FROM range(1, 8)")
    found = compare(old, new)
    assert (found.before, found.after, found.lost, found.added) == (10, 7, 3, 0)
    assert found.columns == ("id", "name")
    assert sorted(found.lost_rows) == [("0", "x"), ("8", "x"), ("9", "x")]
    with pytest.raises(SparkError, match="other columns"):
        compare(old, spark.sql("SELECT 1"))


# The command


def run(*args: str) -> Result:
    return CliRunner().invoke(program, args, prog_name="dpp-rewrite", catch_exceptions=False)


@pytest.fixture
def files(sold: SparkSession, tmp_path: Path) -> tuple[str, str]:
    """The DDL, and a query that writes nothing, one that writes, and one with nothing to insert."""
    (tmp_path / "ddl.sql").write_text(f"USE verified;{DDL}", "utf-8")
    insert = "INSERT INTO sold SELECT s.amount, s.day FROM sold s JOIN days d ON s.day = d.day "
    text = (
        f"SET spark.sql.autoBroadcastJoinThreshold = -1;\n{WINTER} GROUP BY s.day;\n"
        f"{insert} WHERE d.season = 'winter';\n{QUERY} GROUP BY s.day"
    )
    (tmp_path / "q.sql").write_text(text, "utf-8")
    return str(tmp_path / "ddl.sql"), str(tmp_path / "q.sql")


def test_the_command(sold: SparkSession, files: tuple[str, str], tmp_path: Path) -> None:
    ddl, query = files
    page = tmp_path / "q.html"
    args = ("verify", "-c", ddl, "--schema", "verified", query)
    done = run(*args, "--runs", "2", "--html", str(page))
    assert done.exit_code == 0, done.output
    assert f"{query}:2: same rows (6)" in done.stdout
    assert f"{query}:3: not run: it may write" in done.stdout
    assert sold.table("verified.sold").count() == 200
    words = [line.split() for line in done.stdout.splitlines()]
    assert ["verified.sold", "partitions", "of", "20", "20", "6"] in words
    assert ["files", "20", "6"] in words
    assert ["rows", "200", "60"] in words
    assert "seconds, median of 2" in done.stdout
    html = page.read_text("utf-8")
    assert 'class="bar new" style="width:30.0%"' in html

    data = json.loads(run(*args, "--format", "json").stdout)
    first, second = data["statements"]
    assert (first["outcome"], second["outcome"]) == ("same", "skipped")
    (scan,) = first["scans"]
    assert (scan["partitions"], scan["before"]["files"], scan["after"]["files"]) == (20, 20, 6)
    assert scan["after"]["bytes"] < scan["before"]["bytes"]


def test_a_difference_is_status_1(files: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """With a rewriting that loses rows, as no sound one does."""
    from sqlrewrite.rewriter import rewrite

    def unsound(sql: str, *args: object, **options: object) -> Rewrite:
        done = rewrite(sql, *args, **options)  # type: ignore[arg-type]
        after = done.sql.replace("season = 'winter') /*", "season = 'winter' AND false) /*")
        assert after != done.sql
        return Rewrite(sql, after, done.statements, done.candidates, (), (), ())

    monkeypatch.setattr("sqlrewrite.runner.rewrite", unsound)
    done = run("verify", "-c", files[0], "--schema", "verified", files[1])
    assert done.exit_code == 1
    assert ":2: different rows" in done.stdout
    assert "    6 rows before, 0 after" in done.stdout
    assert "  - 0, 900" in done.stdout or "  - 1, 910" in done.stdout


def test_a_time_limit(files: tuple[str, str]) -> None:
    done = run("verify", "-c", files[0], "--schema", "verified", files[1], "--timeout", "0.01")
    assert done.exit_code == 2
    assert f"{files[1]}:2: stopped after 0.01 s (--timeout)" in done.stderr


def test_a_table_that_is_not_there(spark: SparkSession, tmp_path: Path) -> None:
    text = f"{DDL};\n{WINTER} GROUP BY s.day".replace("sold", "unsold").lstrip()
    (tmp_path / "q.sql").write_text(text, "utf-8")
    done = run("verify", str(tmp_path / "q.sql"))
    assert (done.exit_code, done.stdout) == (2, "")
    assert "q.sql:4: Spark cannot run the query: [TABLE_OR_VIEW_NOT_FOUND]" in done.stderr
    assert "--master" in done.stderr  # an empty Spark of our own was asked


CONNECTED = """
import sys
from pyspark.sql import SparkSession
from sqlrewrite.cli import main

builder = SparkSession.builder.remote("local[2]").config("spark.sql.warehouse.dir", "w")
spark = builder.config("spark.ui.enabled", "false").getOrCreate()
for statement in open("all.sql").read().split(";"):
    spark.sql(statement)
main()
"""


@pytest.mark.parametrize("sample", [(), ("--sample", "8")], ids=["whole", "sample"])
def test_over_connect(spark: SparkSession, tmp_path: Path, sample: tuple[str, ...]) -> None:
    """The scans that the server reports, and where it is too old to, none."""
    if find_spec("grpc") is None or find_spec("pandas") is None:
        pytest.skip("Spark Connect's packages are not installed: pip install -e '.[connect]'")
    rows = ROWS.replace("range(0, 200,", "range(0, 20000,")  # or a sample is not worth pruning
    (tmp_path / "all.sql").write_text(f"{DDL};{rows}", "utf-8")
    (tmp_path / "ddl.sql").write_text(DDL, "utf-8")
    text = f"SET spark.sql.autoBroadcastJoinThreshold = -1;\n{WINTER} GROUP BY s.day"
    (tmp_path / "q.sql").write_text(text, "utf-8")
    args = ("verify", "-c", "ddl.sql", *sample, "--format", "json", "q.sql")
    done = subprocess.run(
        [sys.executable, "-c", CONNECTED, *args],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (statement,) = json.loads(done.stdout)["statements"]
    assert statement["outcome"] == "same"
    kept, read = (4, 8) if sample else (6, 20)
    assert statement["rows"]["before"] == kept
    if spark.version < "4":
        assert statement["scans"] == []
        return
    (scan,) = statement["scans"]
    assert (scan["table"], scan["partitions"]) == ("spark_catalog.default.sold", read)
    assert (scan["before"]["partitions"], scan["before"]["files"]) == (read, read)
    assert (scan["after"]["partitions"], scan["after"]["rows"]) == (kept, kept * 1000)
