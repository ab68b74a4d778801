"""`enable(spark)`: what Spark is given in place of a text, and when it is given the text itself."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from sqlrewrite.cli.commands import program
from sqlrewrite.results import ConfigError
from sqlrewrite.spark import enable
from sqlrewrite.spark.pipeline import enable as enable_module
from sqlrewrite.spark.pipeline.live import state_of
from sqlrewrite.text.markers import MARKER

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERY = "SELECT s.v FROM sales s JOIN days d ON s.day = d.day WHERE d.month = 2 ORDER BY 1"
MADE = (
    "DROP DATABASE IF EXISTS enabled CASCADE",
    "CREATE DATABASE enabled",
    "DROP DATABASE IF EXISTS enabled_too CASCADE",
    "CREATE DATABASE enabled_too",
    "USE enabled",
    "CREATE TABLE sales USING parquet PARTITIONED BY (day) AS "
    "SELECT CAST(id AS INT) v, CAST(id % 8 AS INT) day FROM range(16)",
    "CREATE TABLE days USING parquet AS "
    "SELECT CAST(id AS INT) day, CAST(id DIV 3 AS INT) month FROM range(8)",
    "CREATE VIEW large AS SELECT v, day FROM sales WHERE v > 3",
)
NO_BROADCAST = ("spark.sql.autoBroadcastJoinThreshold", "-1")


@pytest.fixture(scope="module")
def made(spark: SparkSession) -> SparkSession:
    for statement in MADE:
        spark.sql(statement)
    spark.sql("USE default")
    return spark


@pytest.fixture
def session(made: SparkSession) -> SparkSession:
    """A session of its own in which Spark does not prune by itself."""
    own = made.newSession()
    own.conf.set(*NO_BROADCAST)
    own.sql("USE enabled")
    return own


class Given(list[str]):
    """The texts that Spark itself is given, ours and the author's."""

    @property
    def last(self) -> str:
        """The last one that is no question of ours."""
        return next(
            text for text in reversed(self) if "sales" in text or "large" in text or "mine" in text
        )


@pytest.fixture
def given(session: SparkSession) -> Given:
    texts, run = Given(), session.sql

    def sql(text: str, *args: Any, **kwargs: Any) -> Any:
        texts.append(text)
        return run(text, *args, **kwargs)

    vars(session)["sql"] = sql
    return texts


pytestmark = pytest.mark.spark


def test_a_text_is_rewritten_until_it_is_disabled(session: SparkSession, given: Given) -> None:
    from pyspark.sql.conf import RuntimeConfig

    before, setter = vars(session)["sql"], RuntimeConfig.set
    rows = session.sql(QUERY).collect()
    disable = enable(session, log=None)
    assert session.sql(QUERY).collect() == rows
    assert MARKER in given.last
    count = len(given)
    session.sql(QUERY)
    assert len(given) == count + 1  # nothing is asked the second time
    disable()
    disable()
    assert (vars(session)["sql"], RuntimeConfig.set) == (before, setter)
    assert not hasattr(type(session).sql, "__wrapped__")
    session.sql(QUERY)
    assert given.last == QUERY


@pytest.mark.parametrize(
    ("text", "args"),
    [
        (QUERY.replace("= 2", "= :month"), {"month": 2}),
        (QUERY.replace("= 2", "= ? AND s.v >= ?"), [2, 0]),
    ],
    ids=["named", "positional"],
)
def test_parameters_stay_and_the_predicate_has_their_values(
    session: SparkSession, given: Given, text: str, args: Any
) -> None:
    rows = session.sql(QUERY).collect()
    with enable(session, log=None):
        assert session.sql(text, args).collect() == rows
    assert MARKER in given.last
    assert "month = (2)" in given.last


def test_names_mean_what_they_mean_now(session: SparkSession, given: Given) -> None:
    with enable(session, log=None):
        session.sql(QUERY)
        assert MARKER in given.last
        session.range(1).selectExpr("1 v", "1 day").createOrReplaceTempView("sales")
        session.sql(QUERY)
        assert given.last == QUERY
        session.catalog.dropTempView("sales")
        session.sql(QUERY)
        assert MARKER in given.last
        session.sql("CREATE TEMP VIEW mine AS SELECT v, day FROM sales WHERE v > 1")
        session.sql(QUERY.replace("sales", "mine"))
        assert MARKER in given.last
        session.sql(QUERY.replace("sales", "large"))
        assert MARKER in given.last
        session.catalog.setCurrentDatabase("enabled_too")
        session.sql("CREATE TABLE sales (v INT, day INT) USING parquet")
        session.sql("CREATE TABLE days (day INT, month INT) USING parquet")
        session.sql(QUERY)
        assert given.last == QUERY
        session.sql("DROP TABLE sales")
        session.sql("CREATE TABLE sales (v INT, day INT) USING parquet PARTITIONED BY (day)")
        session.sql(QUERY)
        assert MARKER in given.last
        session.sql("DROP DATABASE enabled_too CASCADE")


@pytest.mark.since("4.2", "the schema of temporary views has no name")
def test_temporary_views_of_any_name(session: SparkSession, given: Given) -> None:
    """They come before the table of the short name, renamed or qualified, and behind ``session.``;
    the table's own schema still names the table."""
    random = "AS SELECT CAST(8 * rand() AS INT) day, 2 month"
    temporary = QUERY.replace("days", "session.days")
    table = QUERY.replace("sales s", "enabled.sales s").replace("days d", "enabled.days d")
    with enable(session, log=None):
        for create in (
            f"CREATE TEMP VIEW session.days {random}",
            f"CREATE TEMP VIEW system.session.days {random}",
            f"CREATE TEMP VIEW some {random}; ALTER VIEW some RENAME TO days",
            f"CREATE TEMP VIEW some {random}; ALTER TABLE IDENTIFIER('some') RENAME TO days",
        ):
            for statement in create.split("; "):
                session.sql(statement)
            for text in (QUERY, temporary, temporary.replace("session", "system.session")):
                session.sql(text)
                assert given.last == text
            session.sql(table)
            assert MARKER in given.last
            session.sql("DROP VIEW session.days")
            session.sql(QUERY)
            assert MARKER in given.last


def test_settings_are_those_of_the_session(session: SparkSession, given: Given) -> None:
    with enable(session, log=None):
        session.sql(QUERY)
        assert "IN (SELECT" in given.last
        session.conf.set("spark.sql.optimizer.dynamicPartitionPruning.enabled", "false")
        session.sql(QUERY)
        assert MARKER in given.last
        assert "s.day IN (SELECT" not in given.last  # as a set, which needs no dynamic pruning
        session.sql("SET spark.sql.optimizer.dynamicPartitionPruning.enabled = true")
        session.sql("SET spark.sql.autoBroadcastJoinThreshold = 10MB")
        session.sql(QUERY)
        assert given.last == QUERY  # Spark prunes by itself
        session.conf.set(*NO_BROADCAST)
        session.conf.set("spark.sql.caseSensitive", "true")
        session.sql(QUERY)
        assert given.last == QUERY


def test_what_another_object_of_the_session_does_is_seen(
    session: SparkSession, given: Given
) -> None:
    kind = type(session)
    with enable(session, log=None):
        session.sql(QUERY)
        other = kind(session.sparkContext, session._jsparkSession)
        other.sql("CREATE TEMP VIEW days AS SELECT CAST(8 * rand() AS INT) day, 2 month")
        session.sql(QUERY)
        assert given.last == QUERY
        other.sql("DROP VIEW days")
        session.sql(QUERY)
        assert MARKER in given.last
        count = len(given)
        other.sql("SELECT 1")
        session.sql(QUERY)
        assert len(given) == count + 1
        session._jsparkSession.conf().set("spark.sql.caseSensitive", "true")
        kind.builder.getOrCreate()  # which may have set it
        session.sql(QUERY)
        assert given.last == QUERY


def test_keys_are_those_of_the_moment(made: SparkSession, session: SparkSession) -> None:
    session.sql("DROP TABLE IF EXISTS chosen")
    session.sql("CREATE TABLE chosen (day INT, kind STRING) USING parquet")
    session.sql("INSERT INTO chosen VALUES (1, 'a')")
    text = "SELECT s.v FROM sales s JOIN chosen c ON s.day = c.day WHERE c.kind = 'a' ORDER BY 1"
    with enable(session, predicate="values", log=None):
        assert [row.v for row in session.sql(text).collect()] == [1, 9]
        made.sql("INSERT INTO enabled.chosen VALUES (2, 'a')")
        session._jsparkSession.catalog().refreshTable("chosen")
        # of none of which we hear
        assert [row.v for row in session.sql(text).collect()] == [1, 2, 9, 10]


def test_what_spark_keeps_the_text_of_is_the_authors(session: SparkSession, given: Given) -> None:
    statement = f"CREATE TEMPORARY VIEW mine AS {QUERY}"
    with enable(session, log=None):
        session.sql(statement)
    assert given.last == statement


@pytest.mark.since("4.0", "a view that spark.table reads is left as it is")
def test_the_text_of_a_view_that_is_asked_for_as_a_table(session: SparkSession) -> None:
    session.sql(
        "CREATE OR REPLACE VIEW enabled.joined (what COMMENT 'v', c) AS SELECT s.v, CAST(d.day AS "
        "BIGINT) FROM sales s JOIN days d ON s.day = d.day WHERE d.month = 2"
    )
    session.sql("USE default")  # in which nobody has sales
    session.range(3).selectExpr("id v", "id day").createOrReplaceTempView("sales")

    def scan(frame: Any) -> int:
        plan = frame._jdf.queryExecution().executedPlan().toString()
        return int(plan.count("LeftSemi") > 0)

    plain = session.table("enabled.joined")
    names, tables = sorted(plain.collect()), session.sql("SHOW TABLES").collect()
    with enable(session, log=None):
        ours = session.table("Enabled.joined")
        assert (scan(plain), scan(ours)) == (0, 1)
        assert (sorted(ours.collect()), ours.schema.json()) == (names, plain.schema.json())
        assert ours.select("enabled.joined.what", "joined.c").count() == len(names)
        assert ours.join(session.table("enabled.joined"), "what").count() == len(names)
        assert session.sql("SHOW TABLES").collect() == tables
        session.catalog.cacheTable("enabled.joined")
        assert "InMemory" in session.table("enabled.joined")._jdf.queryExecution().toString()
        session.catalog.uncacheTable("enabled.joined")
        session.sql("CREATE OR REPLACE VIEW enabled.joined AS SELECT 1 one")
        assert session.table("enabled.joined").columns == ["one"]
        session.sql("DROP VIEW enabled.joined")
        with pytest.raises(Exception, match="joined"):
            session.table("enabled.joined")
        session.sql("USE enabled")
        text = "SELECT s.v, d.day FROM enabled.sales s JOIN days d USING (day) WHERE d.month = 2"
        session.sql(f"CREATE TEMP VIEW passing AS {text}")
        session.sql(f"CREATE TEMP VIEW over_one AS {text.replace('enabled.', '')}")
        session.sql("USE default")
        assert (scan(session.table("passing")), scan(session.table("over_one"))) == (1, 0)
        assert session.table("passing").select("passing.v").count() == len(names)
        assert session.table("enabled.days").count() == 8
    assert "table" not in vars(session)
    session.catalog.dropTempView("sales")


def test_a_failure_runs_the_original_and_is_logged_once(
    session: SparkSession,
    given: Given,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(*args: Any) -> Any:
        raise KeyError("a mistake of ours")

    monkeypatch.setattr(enable_module, "decide", broken)
    with enable(session), caplog.at_level(logging.INFO, "sqlrewrite.spark"):
        for text in (QUERY, QUERY, f"{QUERY} DESC"):
            session.sql(text).collect()
            assert given.last == text
    (record,) = caplog.records
    assert "a mistake of ours" in record.getMessage()
    assert "test_spark_enable.py" in record.getMessage()


def test_what_spark_does_not_take_is_run_as_written(
    session: SparkSession, given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "sqlrewrite.spark.pipeline.enable.Enabled._rewritten",
        lambda *args: f"{QUERY} /* */ nonsense (",
    )
    rows = session.sql(QUERY).collect()
    with enable(session, log=None):
        assert session.sql(QUERY).collect() == rows
        with pytest.raises(Exception, match="no_such"):
            session.sql("SELECT no_such FROM sales")


@pytest.mark.parametrize(
    "text", ["('" + "x" * (2 << 20) + "')", "(" * 3_000 + "1" + ")" * 3_000, "CAST(1 AS \udcff)"]
)
def test_poisoned_texts_are_sparks_own_to_refuse(
    session: SparkSession, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    texts = list[str]()
    with enable(session, log=None, budget=5) as enabled:
        monkeypatch.setattr(enabled, "_own_sql", lambda text, args=None: texts.append(text))
        session.sql(f"SELECT {text} IN (1) FROM sales")
    assert texts[-1] == f"SELECT {text} IN (1) FROM sales"


def test_over_the_budget_a_text_is_run_as_written(
    session: SparkSession, given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = threading.Event()
    monkeypatch.setattr(enable_module, "decide", lambda *args: ended.wait(30))
    with enable(session, log=None, budget=0.1):
        session.sql(QUERY)
    ended.set()
    assert given.last == QUERY


def test_a_line_a_rewritten_query_with_its_verdicts(
    session: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    with enable(session), caplog.at_level(logging.INFO, "sqlrewrite.spark"):
        session.sql(QUERY)
        session.sql("SELECT 1")
    (record,) = caplog.records
    assert "sales.day bounded by days" in record.getMessage()
    assert vars(record)["dpp_verdicts"] == ("sales.day by days: rewritten",)


def test_many_threads(session: SparkSession) -> None:
    texts = [QUERY.replace("= 2", f"= {month}") for month in range(3)] * 2
    expected = [session.sql(text).collect() for text in texts]
    with enable(session, log=None), ThreadPoolExecutor(6) as pool:
        assert list(pool.map(lambda text: session.sql(text).collect(), texts)) == expected


def test_a_form_that_is_not_there(session: SparkSession) -> None:
    with pytest.raises(ConfigError, match="predicate"):
        enable(session, predicate="nonsense")
    assert "sql" not in vars(session)


@pytest.fixture
def ran(made: SparkSession, tmp_path: Path) -> Iterator[Any]:
    """What runs a file with `dpp-rewrite run`, in a copy of the session that is active."""
    made.sql("USE enabled")
    made.conf.set(*NO_BROADCAST)
    file = tmp_path / "job.sql"

    def run(text: str) -> Any:
        file.write_text(text, "utf-8")
        return CliRunner().invoke(program, ["run", "-q", str(file)])

    yield run
    made.conf.unset(NO_BROADCAST[0])
    made.sql("USE default")


def test_run_prints_the_rows_and_stops_at_an_error(
    ran: Any, caplog: pytest.LogCaptureFixture
) -> None:
    there = f"USE enabled; SET {' = '.join(NO_BROADCAST)}; SET a.b = c;"
    text = f"{there}\n-- first; not the end\n{QUERY};\nSELECT array(1), NULL, 'a;b';\n"
    result = ran(f"{text}SELECT nothing;\nSELECT 1")
    rows = ["\t".join(NO_BROADCAST), "a.b\tc", *"6 7 14 15".split(), "[1]\tNULL\ta;b"]
    assert result.stdout.splitlines() == rows, result.stderr
    assert result.exit_code == 2
    assert "job.sql:5: " in result.stderr
    assert "sales.day bounded by days" in caplog.messages[0]


def test_run_refuses_what_it_would_split_wrongly(ran: Any) -> None:
    for text in (
        "SELECT 1;\nBEGIN SELECT 2; END",
        "SELECT 1;\n!ls",
        f"SELECT 1;\nSELECT '{'x' * (4 << 20)}'",
    ):
        result = ran(text)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "spark-sql" in result.stderr


def test_run_reads_the_files_that_a_file_names(
    ran: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("inner.sql").write_text("SELECT 2;\nSELECT nothing")
    result = ran("SELECT 1;\nsource inner.sql;\nSELECT 3")
    assert (result.exit_code, result.stdout) == (2, "1\n2\n")
    assert "inner.sql:2: " in result.stderr
    Path("inner.sql").write_text("SELECT 2;\nquit;\nSELECT nothing")
    result = ran("SELECT 1;\nSOURCE inner.sql;\nSELECT 3")
    assert (result.exit_code, result.stdout) == (0, "1\n2\n"), result.stderr
    for name in ("job.sql", "nowhere.sql"):
        Path("inner.sql").write_text(f"source {name}")
        Path("job.sql").write_text("SELECT 1;\nsource inner.sql")
        result = CliRunner().invoke(program, ["run", "-q", "job.sql"])
        assert (result.exit_code, result.stdout) == (2, "")
        assert f"inner.sql:1: source {name}: " in result.stderr


@pytest.mark.parametrize(
    ("said", "dynamic", "threshold", "obstacle"),
    [
        ({}, True, 10 << 20, ""),
        ({"spark.sql.autobroadcastjointhreshold": "1g"}, True, 1 << 30, ""),
        ({"spark.sql.autobroadcastjointhreshold": "-1"}, True, -1, ""),
        ({"spark.sql.exchange.reuse": "false"}, False, 10 << 20, ""),
        ({"spark.sql.timestamptype": "TIMESTAMP_NTZ"}, True, 10 << 20, "timestamptype"),
        ({"spark.sql.legacy.timeparserpolicy": "LEGACY"}, True, 10 << 20, ""),
        ({"spark.sql.legacy.timeparserpolicy": "EXCEPTION"}, True, 10 << 20, "timeparserpolicy"),
        ({"spark.sql.legacy.parser.new": "true"}, True, 10 << 20, "parser.new"),
    ],
)
def test_what_settings_mean(
    said: dict[str, str], dynamic: bool, threshold: int, obstacle: str
) -> None:
    state = state_of(("spark_catalog", "default"), said)
    assert (state.engine.enabled, state.engine.broadcast_threshold) == (dynamic, threshold)
    assert obstacle in state.obstacle
    assert bool(state.obstacle) == bool(obstacle)
