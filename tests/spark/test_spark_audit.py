"""`audit` on Spark: a history counted by shape, decided once, added up, and gone on with."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from sqlrewrite import Catalog
from sqlrewrite.cli.commands import program
from sqlrewrite.settings.options import make_options
from sqlrewrite.spark import audit, histories
from sqlrewrite.spark.session import Session
from sqlrewrite.spark.target import SparkError, Target

from .runs import ROOT, in_connect_session, needs_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

DDL = """
CREATE TABLE audited.sales (v INT, day INT) USING parquet PARTITIONED BY (day);
CREATE TABLE audited.days (day INT, month INT);
"""
GOOD = "SELECT s.v FROM sales s JOIN days d ON s.day = d.day WHERE d.month = {}"
BAD = "SELECT s.v FROM sales s LEFT JOIN days d ON s.day = d.day AND d.month = {}"
COLUMNS = (
    "query_text string, schema_name string, user_name string, bytes_scanned bigint, "
    "total_elapsed_time bigint"
)


@pytest.fixture
def session(spark: SparkSession) -> Iterator[Session]:
    """A session whose Python workers find this package, wherever the JVM was started."""
    context = spark.sparkContext
    before = context.pythonExec, dict(context.environment)
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    context.pythonExec = sys.executable
    context.environment["PYTHONPATH"] = path
    own = spark.newSession()
    own.conf.set("spark.sql.shuffle.partitions", "1")
    yield Session(own, Target(), classic=True)
    context.pythonExec, context.environment = before


def _write(session: Session, texts: list[str], place: Path, files: int = 1) -> str:
    rows = [(text, "audited", f"u{n % 2}", 100 + n, 1000) for n, text in enumerate(texts)]
    frame = session.spark.createDataFrame(rows, COLUMNS).repartition(files)
    frame.write.mode("overwrite").parquet(str(place))
    return str(place)


def _job(place: Path, **more: Any) -> audit.AuditJob:
    return audit.AuditJob(Catalog.from_ddl(DDL), make_options(), str(place), **more)


def _shapes(session: Session, place: Path) -> list[Any]:
    rows = session.spark.read.parquet(f"{place}/shapes").drop("stands")
    return sorted(map(repr, rows.collect()))


HISTORY = [GOOD.format(n) for n in range(1, 9)] + [BAD.format(3), "", "SELECT (", "SHOW TABLES"]
MORE = (BAD.format(4), "SELECT 1 FROM sales")


def test_a_history_is_counted_and_gone_on_with(session: Session, tmp_path: Path) -> None:
    def run(count: int) -> audit.Counts:
        place = _write(session, [*HISTORY, *MORE[:count]], tmp_path / "history")
        history = histories.history(session, [place], {}, None)
        return audit.decide_shapes(session, history, _job(tmp_path / "out"), lambda line: None)

    assert run(0) == audit.Counts(shapes=3, decided=3)
    assert run(2) == audit.Counts(shapes=4, decided=1)
    summary = audit.summarize(session, str(tmp_path / "out"), audit.Counts(4, 1), 5)
    totals = {total.what: (total.shapes, total.runs) for total in summary.totals}
    assert totals == {
        "rewritten": (1, 8), "rejected": (1, 2), "nothing": (1, 1), "error": (1, 1),
        "empty": (1, 1), "other": (1, 1),
    }  # fmt: skip
    (top,) = summary.top
    assert (top.runs, top.users, top.bytes, top.micros) == (8, 2, 828, 8_000_000)
    assert "IN (SELECT" in top.rewritten
    (fact,) = summary.facts
    assert (fact.name, fact.rewritten, fact.rejected) == ("spark_catalog.audited.sales", 8, 2)
    assert fact.bounded_by == (("days", 8),)
    (reason,) = summary.reasons
    assert (reason.column, reason.code, reason.runs) == ("day", "DPP101", 2)


@pytest.mark.long
def test_rounds_and_files_change_nothing(session: Session, tmp_path: Path) -> None:
    lines: list[str] = []
    for out, files, more in (("one", 1, {}), ("other", 3, {"per_round": 2})):
        place = _write(session, [*HISTORY, *MORE], tmp_path / "history", files)
        history = histories.history(session, [place], {}, None)
        counts = audit.decide_shapes(session, history, _job(tmp_path / out, **more), lines.append)
        assert counts == audit.Counts(shapes=4, decided=4)
    assert "deciding 4 shapes, round 2 of 2" in lines
    assert _shapes(session, tmp_path / "one") == _shapes(session, tmp_path / "other")


@pytest.mark.long
def test_an_interrupted_run_goes_on(session: Session, tmp_path: Path) -> None:
    texts = [f"SELECT {number} FROM sales" for number in range(4)]
    history = histories.history(session, [_write(session, texts, tmp_path / "h")], {}, None)

    def cut(step: str) -> None:
        if "round 2 of 4" in step:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        audit.decide_shapes(session, history, _job(tmp_path / "out", per_round=1), cut)
    first = session.spark.read.parquet(str(tmp_path / "out" / "decided")).count()
    again = audit.decide_shapes(session, history, _job(tmp_path / "out"), lambda step: None)
    assert 0 < first < 4
    assert again == audit.Counts(shapes=4, decided=4 - first)


@pytest.mark.long
def test_rows_in_another_order_each_time(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql import functions as f

    numbered, moved = audit._numbered, iter((0, 1))

    def other(history: Any) -> Any:
        return numbered(history).withColumn("row", f.col("row") + next(moved))

    monkeypatch.setattr(audit, "_numbered", other)
    place = _write(session, [GOOD.format(1), GOOD.format(2), BAD.format(1)], tmp_path / "h")
    history = histories.history(session, [place], {}, None)
    audit.decide_shapes(session, history, _job(tmp_path / "out"), lambda step: None)
    shapes = session.spark.read.parquet(str(tmp_path / "out" / "shapes"))
    assert sorted(row.outcome for row in shapes.collect()) == ["rejected", "rewritten"]


def test_what_predicates_keep_is_asked(session: Session, tmp_path: Path) -> None:
    spark = session.spark
    for statement in (
        "DROP DATABASE IF EXISTS audited CASCADE",
        "CREATE DATABASE audited",
        "CREATE TABLE audited.sales USING parquet PARTITIONED BY (day) AS "
        "SELECT 1 v, CAST(id AS INT) day FROM range(8)",
        "CREATE TABLE audited.days USING parquet AS "
        "SELECT CAST(id AS INT) day, CAST(id DIV 3 AS INT) month FROM range(20)",
    ):
        spark.sql(statement)
    twice = f"WITH q AS ({GOOD.format(2)}) SELECT a.v FROM q a JOIN q b ON a.v = b.v"
    history = histories.history(
        session, [_write(session, [GOOD.format(1), twice], tmp_path / "h")], {}, None
    )
    counts = audit.decide_shapes(session, history, _job(tmp_path / "out"), lambda step: None)
    summary = audit.measured(session, audit.summarize(session, str(tmp_path / "out"), counts, 5))
    other, top = summary.top
    assert [(scan.total, scan.kept) for scan in top.scans] == [(8, 3)]
    assert (top.saved_bytes, top.saved_partitions) == (round(100 * 5 / 8), 5)
    assert [(scan.total, scan.kept) for scan in other.scans] == [(8, 2)]
    assert (other.saved, other.saved_partitions) == (6 / 8, 6)
    spark.sql("DROP DATABASE audited CASCADE")
    assert all("not measured" in query.how for query in audit.measured(session, summary).top)


def test_the_command(session: Session, tmp_path: Path) -> None:
    (tmp_path / "ddl.sql").write_text(DDL, "utf-8")
    folder = tmp_path / "queries"
    folder.mkdir()
    text = f"USE audited;\n{GOOD.format(1)};\n{GOOD.format(2)}"
    (folder / "a.sql").write_text(
        text.replace("sales", "audited.sales").replace("days", "audited.days"), "utf-8"
    )
    args = ["audit", "-c", str(tmp_path / "ddl.sql"), "--format", "json", "--html"]
    args += [str(tmp_path / "out.html"), "--apply", str(tmp_path / "new"), str(folder)]
    (tmp_path / "new").mkdir()
    for name in (f"007-{'0a' * 6}.sql", "mine.sql"):  # of a run before, and of somebody else
        (tmp_path / "new" / name).touch()
    session.spark.sql("SELECT 1")  # the session that is active is the one that is used
    result = CliRunner().invoke(program, args)
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert [(total["what"], total["runs"]) for total in report["totals"]] == [
        ("rewritten", 2),
        ("other", 1),
    ]
    assert 'class="bar rewritten"' in (tmp_path / "out.html").read_text("utf-8")
    new, mine = sorted((tmp_path / "new").iterdir())
    assert mine.name == "mine.sql"
    assert "/* dpp-rewrite */" in new.read_text("utf-8")


def test_dbt_and_what_cannot_be_read(session: Session, tmp_path: Path) -> None:
    node = {"compiled_code": GOOD.format(1), "execution_time": 1.5, "adapter_response": {}}
    results = tmp_path / "run_results.json"
    results.write_text(json.dumps({"results": [node, {"compiled_code": None}]}), "utf-8")
    rows = histories.history(session, [str(results)], {}, None).collect()
    assert [(row.text, row.micros) for row in rows] == [(GOOD.format(1), 1_500_000), ("", 0)]
    results.write_text("{}", "utf-8")
    with pytest.raises(SparkError, match="run_results"):
        histories.history(session, [str(results)], {}, None)
    with pytest.raises(SparkError, match="no_such_table"):
        histories.history(session, ["no_such_table"], {}, None)


def test_event_logs(session: Session, tmp_path: Path) -> None:
    def event(kind: str, number: int, filters: str | None, table: str = "c.db.f") -> str:
        leaf = {"nodeName": f"Scan parquet {table}", "children": [], "metadata": {}}
        if filters is not None:
            leaf["metadata"] = {"PartitionFilters": filters}
        plan = {"nodeName": "HashAggregate", "children": [leaf], "metadata": {}}
        return json.dumps({"Event": kind, "executionId": number, "sparkPlanInfo": plan})

    keys = "[isnotnull(dt#9), dynamicpruningexpression(dt#9 IN dynamicpruning#26)]"
    lines = [
        '{"Event":"SparkListenerLogStart","Spark Version":"4.3.0"}',
        event("Start", 1, keys),
        event("Start", 2, keys),
        event("Update", 2, "[isnotnull(dt#9), dynamicpruningexpression(true)]"),
        event("Start", 3, "[isnotnull(dt#9), (dt#9 = 3)]"),
        event("Start", 4, "[]"),
        event("Start", 5, "[]", "c.db.plain"),
        event("Start", 6, None),
        '{"Event": "cut off", "sparkPlanInfo": {"nodeName": "Scan',
    ]
    log = tmp_path / "app-1"
    log.write_text("\n".join(lines), "utf-8")
    rolled = tmp_path / "logs" / "eventlog_v2_app-1"  # as Spark 4 writes them
    rolled.mkdir(parents=True)
    (rolled / "appstatus_app-1").touch()
    jvm: Any = session.spark._jvm
    codec = jvm.org.apache.spark.io.ZStdCompressionCodec(jvm.org.apache.spark.SparkConf())
    for number, some in ((2, lines[:3]), (10, lines[3:])):
        file = jvm.java.io.FileOutputStream(str(rolled / f"events_{number}_app-1.zstd"))
        packed = codec.compressedOutputStream(file)
        packed.write(bytearray("".join(f"{event}\n" for event in some), "utf-8"))
        packed.close()
    session.spark.sql("SELECT 1")
    for name in (log, rolled.parent):
        result = CliRunner().invoke(program, ["audit", "--format", "json", str(name)])
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["tables"] == [
            {"table": "c.db.f", "scans": 4, "static": 1, "dynamic": 1, "dropped": 1, "unpruned": 1}
        ]


def test_columns_in_structs_and_in_csv(session: Session, tmp_path: Path) -> None:
    row = {
        "metadata": {"query": GOOD.format(1)},
        "context": {"user": "me", "schema": "audited"},
        "statistics": {"physicalInputBytes": 7, "wallTime": 2.5},
    }
    spelled = {
        "metadata": row["metadata"],
        "statistics": {"wallTime": "PT1.2S"},
        "createTime": "2026-01-02T03:04:05.1Z",
        "endTime": "2026-01-02T03:04:06.3Z",
    }
    rows = (json.dumps(row), json.dumps(spelled))
    (tmp_path / "trino.json").write_text("\n".join(rows), "utf-8")
    lines = f'QUERY_TEXT,TOTAL_ELAPSED_TIME\n"{GOOD.format(1)}\n-- ""two"" lines",1500\n'
    (tmp_path / "snowflake.csv").write_text(lines, "utf-8")
    times = {"creation_time": "2026-01-02T03:04:05Z", "end_time": "2026-01-02T03:04:07.5Z"}
    (tmp_path / "bigquery.json").write_text(json.dumps({"query": "SELECT 1", **times}), "utf-8")
    inputs = [str(tmp_path / name) for name in ("trino.json", "snowflake.csv", "bigquery.json")]
    one, two, other, third = histories.history(session, inputs, {}, None).collect()
    assert (two.micros, third.micros) == (1_200_000, 2_500_000)
    assert (one.text, one.schema, one.user) == (GOOD.format(1), "audited", "me")
    assert (one.bytes, one.micros) == (7, 2_500_000)
    assert (other.text, other.micros) == (f'{GOOD.format(1)}\n-- "two" lines', 1_500_000)


@pytest.mark.long
def test_broken_rows_cost_their_own_values(session: Session, tmp_path: Path) -> None:
    most = str((1 << 63) - 1)
    rows = [
        {"query": GOOD.format(1), "start_time": "not a time", "bytes": "many", "seconds": "1e300"},
        {"query": GOOD.format(2), "start_time": "2026-01-01", "bytes": most, "seconds": "NaN"},
        {"query": GOOD.format(3), "bytes": most, "seconds": "2", "schema": "a..b.c.d"},
        {"query": "SELECT '" + "x" * (1 << 21) + "'"},
        {"query": "SELECT " + "(" * 10_000 + "1" + ")" * 10_000},
        {"query": GOOD.format("'\x00'")},
    ]
    history = tmp_path / "h.json"
    lines = [json.dumps(row).encode() for row in rows]
    broken = b'{"query": "SELECT \xff\xfe FROM sales"}\n{"query": "cut of'
    history.write_bytes(b"\n".join([*lines, broken]))
    read = histories.history(session, [str(history)], {}, None)
    job = _job(tmp_path / "out")
    counts = audit.decide_shapes(session, read, job, lambda step: None)
    summary = audit.summarize(session, job.place, counts, 5)
    assert {total.what: total.runs for total in summary.totals} == {
        "rewritten": 3, "nothing": 1, "skipped": 2, "empty": 2,
    }  # fmt: skip


CONNECTED = """
from pyspark.sql import SparkSession
from sqlrewrite.cli import main
from sqlrewrite.spark import enable

builder = SparkSession.builder.remote("local[1]").config("spark.sql.warehouse.dir", "w")
builder = builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "1")
spark = builder.getOrCreate()
for statement in open("tables.sql").read().split(";"):
    spark.sql(statement)
bytes_ = "CAST(concat(CAST('SELECT \\"' AS BINARY), X'ff', CAST('\\"' AS BINARY)) AS STRING)"
texts = f"SELECT '{QUERY.format(1)}' query UNION ALL SELECT {bytes_}"
spark.sql(texts).write.parquet("history.parquet")
query = QUERY.format(":month")
with enable(spark, when="eligible") as enabled:
    for given in ({"month": 1}, {"month": 2}, {"month": 1}):
        ours, plain = (run(query, given) for run in (spark.sql, enabled._own_sql))
        assert sorted(ours.collect()) == sorted(plain.collect()), given
main()
"""


@needs_connect
def test_over_connect(tmp_path: Path) -> None:
    """`enable` and then `audit` in a session of Connect, with a text that is no UTF-8."""
    program = (
        "CREATE DATABASE audited; CREATE TABLE audited.sales USING parquet PARTITIONED BY (day) AS "
        "SELECT 1 v, CAST(id AS INT) day FROM range(8); CREATE TABLE audited.days USING parquet AS "
        "SELECT CAST(id AS INT) day, CAST(id DIV 3 AS INT) month FROM range(20)"
    )
    (tmp_path / "tables.sql").write_text(program, "utf-8")
    (tmp_path / "ddl.sql").write_text(DDL, "utf-8")
    query = GOOD.replace("sales s", "audited.sales s").replace("days d", "audited.days d")
    args = ("audit", "-c", "ddl.sql", "-o", "out", "--measure", "--format", "json")
    code = f"QUERY = {query!r}{CONNECTED}"
    out, err = in_connect_session(code, tmp_path, *args, "history.parquet")
    assert err.count("audited.sales.day bounded by audited.days") == 2  # once a value
    report = json.loads(out)
    assert {total["what"]: total["runs"] for total in report["totals"]} == {
        "rewritten": 1,
        "nothing": 1,
    }
    assert [scan["kept"] for scan in report["top"][0]["scans"]] == [3]
