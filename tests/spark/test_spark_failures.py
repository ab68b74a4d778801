"""A Spark that goes away, is not there, or lacks a table: one clear sentence, status 2, in bounded
time, and nothing half-written."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from click.testing import CliRunner

from sqlrewrite.cli import program
from sqlrewrite.spark import session
from sqlrewrite.spark.target import SparkGoneError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DDL = """CREATE TABLE sold (amount INT, day INT) USING parquet PARTITIONED BY (day);
CREATE TABLE days (day INT, season STRING) USING parquet"""
ENDLESS = """SELECT s.day, (SELECT count(*) FROM range(0, 1000000000000, 1, 2) WHERE id % 7 = 3)
FROM sold s JOIN days d ON s.day = d.day WHERE d.season = 'winter'
"""


@pytest.mark.parametrize(
    "command",
    ["verify", "explain", "rewrite --explain spark -w", "rewrite --explain spark --when missed -w"],
)
@pytest.mark.parametrize("option", ["--remote=sc://127.0.0.1:", "--master=spark://127.0.0.1:"])
def test_nobody_is_there(command: str, option: str, tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    if option.startswith("--remote"):
        pytest.importorskip("grpc")
    query = ENDLESS.encode()
    (tmp_path / "ddl.sql").write_text(DDL, "utf-8")
    (tmp_path / "q.sql").write_bytes(query)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    args = [*command.split(), "-c", str(tmp_path / "ddl.sql"), f"{option}{port}"]
    done = CliRunner().invoke(program, [*args, str(tmp_path / "q.sql")], catch_exceptions=False)
    assert done.exit_code == 2, done.output
    url = option.partition("=")[2]
    assert f"{url}{port}: nobody answers there (Connection refused)" in done.stderr
    assert (tmp_path / "q.sql").read_bytes() == query


def test_a_connect_server_that_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told from one that refuses, and in bounded time."""
    pytest.importorskip("grpc")
    pytest.importorskip("pandas")
    if pytest.importorskip("pyspark").__version__ < "4":
        pytest.skip("Spark 3's client wants more than a plan")
    from pyspark.sql.connect.client import SparkConnectClient
    from pyspark.sql.connect.plan import Range

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    client = SparkConnectClient(f"sc://127.0.0.1:{port}")
    monkeypatch.setitem(session._RETRIES, "max_retries", 2)
    session._bound(cast(Any, SimpleNamespace(client=client)))
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
        done = CliRunner().invoke(program, [*args, *sample], catch_exceptions=False)
        assert (done.exit_code, done.stdout) == (2, "")
        assert "[TABLE_OR_VIEW_NOT_FOUND]" in done.stderr
        assert "never_made" in done.stderr
        assert "give --master or --remote" in done.stderr
