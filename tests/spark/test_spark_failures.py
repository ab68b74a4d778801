"""A Spark that goes away, is not there, or lacks a table: one clear sentence, status 2, in bounded
time, and nothing half-written."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from click.testing import CliRunner

from sqlrewrite.cli.commands import program
from sqlrewrite.spark import session
from sqlrewrite.spark.target import SparkGoneError

from .runs import REMOTE, needs_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 150

DDL = """CREATE TABLE sold (amount INT, day INT) USING parquet PARTITIONED BY (day);
CREATE TABLE days (day INT, season STRING) USING parquet"""
# Its left side is counted for hours, also where Spark finds the tables empty.
ENDLESS = """SELECT count(*)
FROM range(0, 1000000000000, 1, 2) r
LEFT JOIN (SELECT s.day FROM sold s JOIN days d ON s.day = d.day WHERE d.season = 'winter') q
  ON r.id = q.day
WHERE r.id % 7 = 3
"""


# A Spark in the same process that is killed while a command has it do something.
KILLED = """
import os, signal, sys, threading
from pyspark import SparkContext
from pyspark.sql import SparkSession
from sqlrewrite.cli import main
from sqlrewrite.spark import catalog as live

builder = SparkSession.builder.config("spark.sql.warehouse.dir", "w")
builder = builder.config("spark.ui.enabled", "false").config("spark.driver.memory", "1g")
when = sys.argv.pop(1)
spark = builder.master("local[2]").getOrCreate()
for statement in open("ddl.sql").read().split(";"):
    spark.sql(statement)
process = SparkContext._gateway.proc.pid

def kill():
    os.kill(process, signal.SIGKILL)

if when == "later":
    threading.Timer(4, kill).start()
else:
    reading = live._relation
    def dying(spark, name):
        kill() if name[-1] == when else None
        return reading(spark, name)
    live._relation = dying
main()
"""


def killed(folder: Path, when: str, *args: str) -> subprocess.CompletedProcess[str]:
    (folder / "ddl.sql").write_text(DDL, "utf-8")
    (folder / "q.sql").write_text(ENDLESS, "utf-8")
    return subprocess.run(
        [sys.executable, "-c", KILLED, when, *args],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )


def test_an_error_whose_text_java_no_longer_tells() -> None:
    class JavaError(ConnectionError):
        def __str__(self) -> str:
            raise ConnectionRefusedError("the process that knows the text is gone")

    with (
        pytest.raises(SparkGoneError, match="q: the Spark process has ended"),
        session.spark_errors("q"),
    ):
        raise JavaError


def _verifying(folder: Path) -> None:
    page = folder / "q.html"
    completed = killed(folder, "later", *f"verify -c ddl.sql --html {page} q.sql".split())
    assert completed.returncode == 2, completed.stderr
    assert completed.stdout == ""
    assert "Error: q.sql:1: " in completed.stderr
    assert "the Spark process has ended" in completed.stderr
    assert "internal error" not in completed.stderr
    assert not page.exists()
    assert (folder / "q.sql").read_text("utf-8") == ENDLESS


def _pulling(folder: Path) -> None:
    completed = killed(folder, "sold", *"catalog pull -o w.json".split())
    assert completed.returncode == 2, completed.stderr
    assert "the Spark process has ended" in completed.stderr
    assert "internal error" not in completed.stderr
    # What had been read is kept for the next pull, under the name that the help tells.
    assert not (folder / "w.json").exists()
    lines = (folder / "w.json.partial").read_text("utf-8").splitlines()
    assert len(lines) == 2
    assert "spark_catalog.default.days" in lines[1]


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.turns(2)
@pytest.mark.parametrize("command", [_verifying, _pulling])
def test_a_killed_spark_is_one_clear_sentence(
    command: Callable[[Path], None], spark: SparkSession, tmp_path: Path
) -> None:
    command(tmp_path)


@pytest.mark.parametrize(
    "command",
    ["verify", "explain", "rewrite --explain spark -w", "rewrite --explain spark --when missed -w"],
)
@pytest.mark.parametrize("option", [REMOTE, "--master=spark://127.0.0.1:"])
def test_nobody_is_there(command: str, option: str, tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    query = ENDLESS.encode()
    (tmp_path / "ddl.sql").write_text(DDL, "utf-8")
    (tmp_path / "q.sql").write_bytes(query)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    args = [*command.split(), "-c", str(tmp_path / "ddl.sql"), f"{option}{port}"]
    result = CliRunner().invoke(program, [*args, str(tmp_path / "q.sql")], catch_exceptions=False)
    assert result.exit_code == 2, result.output
    url = option.partition("=")[2]
    assert f"{url}{port}: nobody answers there (Connection refused)" in result.stderr
    assert (tmp_path / "q.sql").read_bytes() == query


@needs_connect
@pytest.mark.since("4.0", "the client wants more than a plan")
def test_a_connect_server_that_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told from one that refuses, and in bounded time."""
    from pyspark.sql.connect.client import SparkConnectClient
    from pyspark.sql.connect.plan import Range

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    client = SparkConnectClient(f"sc://127.0.0.1:{port}")
    monkeypatch.setitem(session._RETRIES, "max_retries", 2)
    session._limit_retries(cast(Any, SimpleNamespace(client=client)))
    start = time.monotonic()
    gone = pytest.raises(SparkGoneError, match="q: the Spark process has ended")
    with gone, session.tried(), session.spark_errors("q"):
        client.to_table(Range(0, 1, 1, 1).to_proto(client), {})
    assert time.monotonic() - start < 60


@pytest.mark.spark
def test_a_table_that_is_only_in_the_catalog(spark: SparkSession, tmp_path: Path) -> None:
    """The DDL names it, and the Spark that is asked does not have it."""
    (tmp_path / "ddl.sql").write_text(DDL.replace("sold", "never_made"), "utf-8")
    (tmp_path / "q.sql").write_text(ENDLESS.replace("sold", "never_made"), "utf-8")
    args = ["verify", "-c", str(tmp_path / "ddl.sql"), str(tmp_path / "q.sql")]
    for sample in ([], ["--sample", "4"]):
        result = CliRunner().invoke(program, [*args, *sample], catch_exceptions=False)
        assert result.exit_code == 2
        output = result.stderr if sample else result.stdout  # no sample can be taken of it, at all
        assert "[TABLE_OR_VIEW_NOT_FOUND]" in output
        assert "never_made" in output
        assert "give --master or --remote" in output


@pytest.mark.parametrize("behind", ["", "\n SQLSTATE: 38000", "\n\nJVM stacktrace:\nx\n\tat y"])
def test_what_a_python_worker_raised_is_the_reason(behind: str) -> None:
    error = Exception(
        "An exception was thrown from the Python worker: Traceback (most recent call last):\n"
        '  File "a.py", line 7, in f\n    raise KeyError("x")\nKeyError: \'x\'' + behind
    )
    assert session.reason(error) == "a Python worker fails: KeyError: 'x'"


@pytest.mark.spark
def test_of_several_stages_that_failed_at_once_the_first_is_the_reason(spark: SparkSession) -> None:
    """What an adaptive plan raises where the tasks of two stages have failed before it looks."""
    java: Any = spark._jvm
    first = java.org.apache.spark.SparkException(
        "Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times, "
        "most recent failure: Lost task 0.0 in stage 3.0 (TID 3) (host executor driver): "
        "java.lang.RuntimeException: new",
    )
    both = java.org.apache.spark.SparkException(
        "Multiple failures in stage materialization.", first
    )
    error = SimpleNamespace(java_exception=both)
    assert session.reason(cast("Any", error)) == "java.lang.RuntimeException: new"
