"""``verify``: both texts run, their rows compared as bags, and what the scans read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from sqlrewrite.catalog import Catalog
from sqlrewrite.cli.commands import program
from sqlrewrite.results import Rewrite
from sqlrewrite.rewriting import DocumentObserver
from sqlrewrite.settings.options import Options
from sqlrewrite.spark.rows.bags import compare
from sqlrewrite.spark.rows.verify import How, Verified, VerifyOutcome, verify_text
from sqlrewrite.spark.session import Session
from sqlrewrite.spark.target import Target
from tests.referee.harness import spark_since
from tests.spark.runs import in_connect_session, in_database, needs_connect, temporary_views

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

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


def verified(spark: SparkSession, before: str, after: str, tolerance: float = 0.0) -> Verified:
    """The last statement of two texts, as if one had been made of the other."""
    pairs: list[Verified] = []
    pretended = Rewrite(before, after, 1, (), (), (), ())
    session = Session(spark, Target("local"), classic=True)
    spark.sql("USE verified")
    how = How(timeout=300, tolerance=tolerance)
    verify_text(session, "q.sql", pretended, Catalog(), pairs.append, how)
    return pairs[-1]


@pytest.mark.turns(3)
@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        ("SELECT 1 AS a", "SELECT 1 + 0 AS a", VerifyOutcome.SAME),
        ("SELECT 1 AS a", "SELECT 2 AS a", VerifyOutcome.DIFFERENT),
        ("SELECT 1 UNION ALL SELECT 1", "SELECT 1", VerifyOutcome.DIFFERENT),
        ("SELECT NULL, 1 AS a", "SELECT NULL, 1 + 0 AS a", VerifyOutcome.SAME),
        (
            "SELECT day FROM sold ORDER BY amount DIV 200 LIMIT 3",
            "SELECT day FROM sold ORDER BY amount DIV 200, day DESC LIMIT 3",
            VerifyOutcome.TIES,
        ),
        (
            "SELECT day FROM sold ORDER BY amount LIMIT 3",
            "SELECT day FROM sold WHERE day <> 1 ORDER BY amount LIMIT 3",
            VerifyOutcome.DIFFERENT,
        ),
        ("SELECT uuid(), 1 AS a", "SELECT uuid(), 2 AS a", VerifyOutcome.UNSTABLE),
        ("INSERT INTO sold VALUES (1, 1)", "INSERT INTO sold VALUES (2, 2)", VerifyOutcome.SKIPPED),
        ("SELECT 1 AS a", "SELECT 1 AS b", VerifyOutcome.COLUMNS),
        ("SELECT 1 AS a", "SELECT 1L AS a", VerifyOutcome.COLUMNS),
        ("SELECT 1 AS a", "SELECT 1 AS a, 2 AS b", VerifyOutcome.COLUMNS),
        ("SELECT 1", "SELECT raise_error('new')", VerifyOutcome.NEW_ERROR),
        ("SELECT raise_error('old')", "SELECT 1", VerifyOutcome.ERROR_GONE),
        ("SELECT raise_error('old')", "SELECT raise_error('new')", VerifyOutcome.FAILED),
        ("SELECT no_such", "SELECT 1", VerifyOutcome.ERROR_GONE),
    ],
)
def test_outcomes(sold: SparkSession, before: str, after: str, outcome: VerifyOutcome) -> None:
    """Which values differ is ``test_spark_bags.py``'s."""
    verdicts = verified(sold, before, after)
    assert verdicts.outcome is outcome
    if outcome is VerifyOutcome.SKIPPED:
        assert sold.table("verified.sold").count() == 200


def test_a_difference_is_shown(spark: SparkSession) -> None:
    old = spark.sql("SELECT id, 'x' AS name FROM range(10)")
    new = spark.sql("SELECT id, 'x' AS name FROM range(1, 8)")
    comparison = compare(old, new)
    assert (comparison.before, comparison.after, comparison.lost, comparison.added) == (10, 7, 3, 0)
    assert comparison.columns == ("id", "name")
    assert sorted(comparison.lost_rows) == [("0", "x"), ("8", "x"), ("9", "x")]


RAISED = "[USER_RAISED_EXCEPTION] new" if spark_since("4.0") else "java.lang.RuntimeException: new"


def test_the_message_names_the_column_or_the_error(sold: SparkSession) -> None:
    old = "SELECT 1 AS a, named_struct('x', 1) AS s"
    verdicts = verified(sold, old, "SELECT 1 AS a, named_struct('X', 1) AS s")
    assert verdicts.error == "column 2 was s struct<x:int> and is s struct<X:int>"
    assert verified(sold, old, "SELECT 1 AS a").error == "2 columns before, 1 after"
    error = verified(sold, "SELECT 1", "SELECT raise_error('new')").error
    assert error.startswith(RAISED)


def test_rounding_is_reported_and_a_tolerance_forgives_it(sold: SparkSession) -> None:
    texts = ("SELECT 'a' AS k, 0.1D + 0.2D AS x", "SELECT 'a' AS k, 0.3D AS x")
    verdicts = verified(sold, *texts)
    assert verdicts.outcome is VerifyOutcome.DIFFERENT
    assert verdicts.comparison is not None
    assert verdicts.comparison.rounding == 1e-9
    assert verified(sold, *texts, tolerance=1e-9).outcome is VerifyOutcome.SAME


# What the session has


VIEW = "CREATE OR REPLACE TEMPORARY VIEW early AS SELECT day FROM days WHERE day < {}"


def test_a_temporary_view_of_the_text(sold: SparkSession) -> None:
    """It is made, as those behind it read it; where it was changed its own rows are compared."""
    query = "SELECT count(*) AS n FROM early{}"
    own = sold.newSession()
    old, new = VIEW.format(3), VIEW.format(4)
    one = verified(own, f"{old};\n{query.format('')}", f"{old};\n{query.format(' WHERE true')}")
    assert (one.outcome, one.line) == (VerifyOutcome.SAME, 2)
    other = verified(
        sold.newSession(), f"{old};\n{query.format('')}", f"{new};\n{query.format('')}"
    )
    assert (other.outcome, other.line) == (VerifyOutcome.DIFFERENT, 1)
    assert other.comparison is not None
    assert other.comparison.added_rows == (("3",),)


@pytest.mark.since("4.0", "there are no functions in SQL")
def test_a_variable_and_a_function_of_the_text(sold: SparkSession) -> None:
    statements = (
        "DECLARE OR REPLACE least_day INT DEFAULT 17; CREATE TEMPORARY FUNCTION one() RETURN 1"
    )
    query = "SELECT day + one() FROM days WHERE day > least_day"
    verdicts = verified(
        sold.newSession(), f"{statements}; {query}", f"{statements}; {query} AND true"
    )
    assert verdicts.outcome is VerifyOutcome.SAME
    assert verdicts.comparison is not None
    assert verdicts.comparison.before == 2


def test_the_session_s_own_views_and_settings_are_there(
    sold: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a session of a notebook the command sees what was made there, and leaves it as it was."""
    own = sold.newSession()
    own.sql("USE verified")
    own.sql("CREATE TEMP VIEW winter AS SELECT day, season FROM days WHERE season = 'winter'")
    own.conf.set("spark.sql.ansi.enabled", "false")
    monkeypatch.setattr(type(own), "getActiveSession", classmethod(lambda cls: own))
    text = (
        "SET spark.sql.ansi.enabled = false; CREATE TEMP VIEW more AS SELECT 1 AS one;"
        "SELECT w.day, int('none') AS x FROM sold s JOIN winter w ON s.day = w.day "
        "WHERE w.season > 'a'"
    )
    (tmp_path / "ddl.sql").write_text(
        f"{DDL}; CREATE TABLE winter (day INT, season STRING) USING parquet", "utf-8"
    )
    (tmp_path / "q.sql").write_text(text, "utf-8")
    result = run("verify", "-c", str(tmp_path / "ddl.sql"), str(tmp_path / "q.sql"))
    assert (result.exit_code, result.stderr) == (0, "")
    assert ": same rows (60)" in result.stdout
    assert temporary_views(own) == {"winter"}


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
    result = run(*args, "--runs", "2", "--html", str(page))
    assert result.exit_code == 0, result.output
    assert f"{query}:2: same rows (6)" in result.stdout
    assert f"{query}:3: not run: it may write" in result.stdout
    assert sold.table("verified.sold").count() == 200
    words = [line.split() for line in result.stdout.splitlines()]
    assert ["verified.sold", "partitions", "of", "20", "20", "6"] in words
    assert ["files", "20", "6"] in words
    assert ["rows", "200", "60"] in words
    assert "seconds, median of 2" in result.stdout
    assert result.stdout.endswith("1 rewritten: 1 read less\n")
    assert f"{query}:4:43: rejected sold s.day" in result.stderr  # why it was not run
    html = page.read_text("utf-8")
    assert 'class="bar new" style="width:30.0%"' in html

    data = json.loads(run(*args, "--format", "json").stdout)
    first, second = data["statements"]
    assert (first["outcome"], second["outcome"]) == ("same", "skipped")
    (scan,) = first["scans"]
    assert (scan["partitions"], scan["before"]["files"], scan["after"]["files"]) == (20, 20, 6)
    assert scan["after"]["bytes"] < scan["before"]["bytes"]


def test_a_folder(files: tuple[str, str], tmp_path: Path) -> None:
    """Each file by itself: a temporary view of one is none of another. One that cannot be read does
    not stop the others."""
    folder = tmp_path / "queries"
    folder.mkdir()
    view = "CREATE TEMPORARY VIEW days AS SELECT 1 AS day, 'winter' AS season;\n"
    good = f"{WINTER} GROUP BY s.day"
    for name, text in (("a", view), ("b", good), ("c", f"SELEC 1;\n{good}")):
        (folder / f"{name}.sql").write_text(text, "utf-8")
    result = run("verify", "-c", files[0], "--schema", "verified", str(folder))
    assert result.exit_code == 2
    assert "b.sql:1: same rows (6)" in result.stdout
    assert "c.sql:1:1: error DPP000 no statement begins with 'SELEC'" in result.stderr
    assert "c.sql:2: same rows (6)" in result.stdout
    explained = run("explain", "-c", files[0], "--schema", "verified", str(folder))
    assert explained.exit_code == 2
    assert "b.sql:1" in explained.stdout
    assert "c.sql:2" in explained.stdout


def _unsound(monkeypatch: pytest.MonkeyPatch, condition: str) -> None:
    """Has the program rewrite with another condition in the key query, as no sound one does."""
    from sqlrewrite.rewriting import rewrite_with_options

    def unsound(
        sql: str, catalog: Catalog, options: Options, observe: DocumentObserver | None = None
    ) -> Rewrite:
        result = rewrite_with_options(sql, catalog, options)
        after = result.sql.replace("season = 'winter') /*", f"{condition}) /*")
        assert after != result.sql
        return Rewrite(sql, after, result.statements, result.candidates, (), (), ())

    monkeypatch.setattr("sqlrewrite.run.file_rewriting.rewrite_with_options", unsound)


def test_a_difference_is_status_1(files: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    _unsound(monkeypatch, "season = 'winter' AND false")
    result = run("verify", "-c", files[0], "--schema", "verified", files[1])
    assert result.exit_code == 1
    assert ":2: different rows" in result.stdout
    assert "    6 rows before, 0 after" in result.stdout
    assert "  - 0, 900" in result.stdout or "  - 1, 910" in result.stdout


def test_a_new_error_is_status_1(files: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    _unsound(monkeypatch, "day = raise_error('new')")
    result = run("verify", "-c", files[0], "--schema", "verified", files[1])
    assert result.exit_code == 1
    assert ":2: the rewritten query raises an error, the query does not\n" in result.stdout
    assert RAISED in result.stdout, result.stdout
    assert ":3: not run: it may write" in result.stdout


def test_a_time_limit(files: tuple[str, str]) -> None:
    result = run("verify", "-c", files[0], "--schema", "verified", files[1], "--timeout", "0.01")
    assert result.exit_code == 2
    assert f"{files[1]}:2: stopped after 0.01 s (--timeout)" in result.stderr


def test_a_table_that_is_not_there(spark: SparkSession, tmp_path: Path) -> None:
    text = f"{DDL};\n{WINTER} GROUP BY s.day".replace("sold", "unsold").lstrip()
    (tmp_path / "q.sql").write_text(text, "utf-8")
    result = run("verify", str(tmp_path / "q.sql"))
    assert result.exit_code == 2
    assert (
        "q.sql:4: not compared\n    Spark cannot run the query: [TABLE_OR_VIEW_NOT_FOUND]"
        in result.stdout
    )
    assert "--master" in result.stdout  # an empty Spark of our own was asked
    assert result.stderr == f"Error: could not be compared: {tmp_path / 'q.sql'}:4\n"


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


@needs_connect
@pytest.mark.parametrize("sample", [(), ("--sample", "8")], ids=["whole", "sample"])
def test_over_connect(spark: SparkSession, tmp_path: Path, sample: tuple[str, ...]) -> None:
    """The scans that the server reports, and where it is too old to, none."""
    rows = ROWS.replace("range(0, 200,", "range(0, 20000,")  # or a sample is not worth pruning
    (tmp_path / "all.sql").write_text(f"{DDL};{rows}", "utf-8")
    (tmp_path / "ddl.sql").write_text(DDL, "utf-8")
    text = f"SET spark.sql.autoBroadcastJoinThreshold = -1;\n{WINTER} GROUP BY s.day"
    (tmp_path / "q.sql").write_text(text, "utf-8")
    args = ("verify", "-c", "ddl.sql", *sample, "--format", "json", "q.sql")
    out, _ = in_connect_session(CONNECTED, tmp_path, *args)
    (statement,) = json.loads(out)["statements"]
    assert statement["outcome"] == "same"
    kept, read = (4, 8) if sample else (6, 20)
    assert statement["rows"]["before"] == kept
    if not spark_since("4.0"):
        assert statement["scans"] == []
        return
    (scan,) = statement["scans"]
    assert (scan["table"], scan["partitions"]) == ("spark_catalog.default.sold", read)
    assert (scan["before"]["partitions"], scan["before"]["files"]) == (read, read)
    assert (scan["after"]["partitions"], scan["after"]["rows"]) == (kept, kept * 1000)
