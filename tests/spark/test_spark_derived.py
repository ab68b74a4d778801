"""Derived partition columns on Spark: each case of fixtures/queries/derived, over tables whose
columns are computed by their own expressions, in several time zones and with dates that break
formats; how many partitions are read; and what ``catalog check`` and ``catalog pull`` say of rows.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from sqlrewrite import Catalog, rewrite
from sqlrewrite.cli.commands import program
from sqlrewrite.spark.values import resolver
from sqlrewrite.warehouse import Table
from tests.referee.harness import Answer, answer, differ, lay, quick
from tests.support.cases import catalog, query_cases, rewritten

from .runs import in_database
from .runs import run as read_by

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

CASES = [case for case in query_cases() if case.name.startswith("derived/")]
ZONES = (("America/Los_Angeles", "Asia/Tokyo"), ("Pacific/Auckland", "America/St_Johns"))
"""The time zones of who writes, and who reads."""

VALUES = {
    "timestamp": (
        *(f"TIMESTAMP '{text}Z'" for text in ("2024-02-29 23:30:00", "2024-03-01 00:30:00")),
        *(f"TIMESTAMP '{text}Z'" for text in ("2010-11-07 02:30:00", "2010-11-07 02:40:00")),
        *(f"TIMESTAMP '{text}Z'" for text in ("2024-03-04 12:00:00", "+10000-01-01 05:00:00")),
        f"TIMESTAMP '{datetime.now(UTC) - timedelta(hours=3):%Y-%m-%d %H:%M:%S}Z'",
        "NULL",
    ),
    "timestamp_ntz": (
        *(f"TIMESTAMP_NTZ '{text}'" for text in ("2024-02-29 23:30:00", "2024-03-01 00:00:00")),
        *(f"TIMESTAMP_NTZ '{text}'" for text in ("2018-11-04 00:30:00", "-0001-12-31 23:59:59")),
        "NULL",
    ),
    "date": (
        *(f"DATE '{text}'" for text in ("2024-01-15", "2024-02-29", "2024-03-15", "2024-10-01")),
        *(f"DATE '{text}'" for text in ("0001-01-01", "-0001-03-01", "9999-12-31", "+10000-01-01")),
        "NULL",
    ),
    "string": (
        *("''", "'a'", "'b'", "'bob'", "'cy'", "'é'", "'2024-02-29'", "'2024-02-30'", "'1'"),
        *("'br'", "'dan'", "'ab'", "'abcd'", "'abyde'", "'aé'", "'b b'", "'_b'", "'éa'", "NULL"),
    ),
    "int": ("-21", "-15", "-14", "-10", "-9", "-1", "0", "1", "9", "10", "11", "NULL"),
    "bigint": ("-15", "0", "9", "15", "21474836500", "42949672999", "NULL"),
    "double": ("0.0D", "-0.0D", "1.5D", "double('NaN')"),
}
PARAMETERS = {"since": "2024-03-01"}
RENDERED = {
    "'{{ ds }}'": "'2024-03-01'",
    "'{{ next_ds }}'": "'2024-03-02'",
    "${since}": "'2024-03-01'",
    "${until}": "'2024-03-05'",
}


@pytest.fixture(scope="module")
def own(spark: SparkSession) -> SparkSession:
    """A session of its own, without ANSI mode: what is no date is NULL there."""
    session = spark.newSession()
    quick(session, **{"spark.sql.ansi.enabled": "false"})
    return session


def _fill(session: SparkSession, known: Catalog, writer: str, reader: str) -> None:
    """Views of the tables' names, with a row for each value of what is computed from, written in
    one time zone and read in another."""
    for table in known.tables:
        of = {column.column: column.expression for column in table.derived}
        plain = [column for column in table.columns if column.name not in of]
        kinds = [VALUES.get(text.type or "", ("NULL",)) for text in plain]
        names = [text.name for text in plain]
        rows = [
            [
                f"CAST({values[at % len(values)]} AS {column.type})"
                for column, values in zip(plain, kinds, strict=True)
            ]
            for at in range(max(map(len, kinds)))
        ]
        session.conf.set("spark.sql.session.timeZone", writer)
        # As a partition is stored: a text, and NULL where that is empty.
        stored = [f"nullif(CAST({text} AS STRING), '') AS {name}" for name, text in of.items()]
        if of:
            numbered = [[*row, str(at)] for at, row in enumerate(rows)]
            rows_sql = _values(numbered, [*names, "r"])
            shown = session.sql(f"SELECT {', '.join(['r', *stored])} FROM {rows_sql}").collect()
            texts = [row[1:] for row in sorted(shown)]
            rows = [
                [*row, *_read_back(table, of, text)] for row, text in zip(rows, texts, strict=True)
            ]
        session.conf.set("spark.sql.session.timeZone", reader)
        lay(session, table.name[-1], f"SELECT * FROM {_values(rows, [*names, *of])}")


def _values(rows: list[list[str]], names: list[str]) -> str:
    listed = ", ".join(f"({', '.join(row)})" for row in rows)
    return f"VALUES {listed} AS t({', '.join(names)})"


def _read_back(table: Table, of: Collection[str], stored: Sequence[str | None]) -> list[str]:
    """The partition columns, read from the texts that are stored of them."""
    kinds = {column.name: column.type for column in table.columns}
    texts = ("NULL" if text is None else f"'{text}'" for text in stored)
    return [f"CAST({text} AS {kinds[name]})" for name, text in zip(of, texts, strict=True)]


def _answer(session: SparkSession, text: str) -> Answer:
    """The rows of a text, in which each key of the calendar is one by itself: a bound that is too
    narrow for it would be hidden by those of others."""
    for template, value in RENDERED.items():
        text = text.replace(template, value)
    text = text.replace("c2.season = 'summer'", "c2.r = c.r")
    text = text.replace("c.season = 'summer'", "true")
    for name, value in PARAMETERS.items():
        text = text.replace(f":{name}", f"'{value}'")
    result = answer(session, text)
    assert not result.error, result.error
    return result


@pytest.mark.turns(2)
@pytest.mark.long
@pytest.mark.parametrize(("writer", "reader"), ZONES)
def test_rows_of_the_fixtures(own: SparkSession, writer: str, reader: str) -> None:
    _fill(own, catalog(CASES[0].ddl), writer, reader)
    own.sql("SELECT id, ts AS happened, dt AS part FROM clicks").createOrReplaceTempView("v_clicks")
    number = "row_number() OVER (ORDER BY day, at, name, n, x) AS r"
    lay(own, "cal", f"SELECT *, {number} FROM cal")
    lost = []
    for case in CASES:
        text, golden = case.text(), rewritten(case, case.text()).sql
        if text != golden and differ(_answer(own, text), _answer(own, golden)):
            lost.append(golden)
    assert not lost


def test_days_that_are_constants(own: SparkSession) -> None:
    """A day that begins twice: Spark takes it to end where the next one begins first."""
    own.conf.set("spark.sql.session.timeZone", "America/St_Johns")
    tables = catalog(CASES[0].ddl)
    moments = [[moment, str(at)] for at, moment in enumerate(VALUES["timestamp"])]
    lay(own, "moments", f"SELECT CAST(id AS INT) AS id, ts FROM {_values(moments, ['ts', 'id'])}")
    shown = "SELECT DISTINCT CAST(ts AS DATE) AS day, CAST(CAST(ts AS DATE) AS STRING) AS name"
    lay(own, "cal", f"{shown} FROM moments WHERE ts < TIMESTAMP '9998-01-01 00:00:00'")
    for condition in ("c.name = '2010-11-06'", "c.name LIKE '2010%'", "c.name < '2025'"):
        text = "SELECT m.id FROM moments m JOIN cal c ON CAST(m.ts AS DATE) = c.day WHERE "
        result = rewrite(text + condition, tables, predicate="values", resolve=resolver(own))
        assert " BETWEEN DATE " in result.sql
        assert not differ(answer(own, text + condition), answer(own, result.sql))


SKIPPED = """
date_trunc('DAY', {0}) = TIMESTAMP '2011-12-30 00:00:00'
date_trunc('DAY', {0}) = '2011-12-31'
date_trunc('DAY', {0}) = DATE '2018-05-05'
date_format({0}, 'yyyy-MM-dd') = '2011-12-31'
date_format({0}, 'yyyy-MM-dd') = '2018-05-05'
trunc({0}, 'MM') = TIMESTAMP '2011-12-01 00:00:00'
"""


@pytest.mark.parametrize("zone", ["Pacific/Apia", "Asia/Pyongyang"])
def test_times_that_a_clock_skips(own: SparkSession, zone: str) -> None:
    """What is no time of the session's is read as a later one, of the next day: Apia had no
    2011-12-30, and Pyongyang no last half of an hour of 2018-05-04."""
    own.conf.set("spark.sql.session.timeZone", zone)
    tables = catalog(CASES[0].ddl)
    around = ("2011-12-30", "2018-05-05")
    hours = " UNION ALL ".join(
        f"SELECT explode(sequence(TIMESTAMP_NTZ '{name} 00:30:00' - INTERVAL 3 DAYS, "
        f"TIMESTAMP_NTZ '{name} 00:30:00' + INTERVAL 3 DAYS, INTERVAL 1 HOUR)) AS ts"
        for name in around
    )
    number = "CAST(row_number() OVER (ORDER BY ts) AS INT) AS id"
    lay(own, "ordered", f"SELECT {number}, ts FROM ({hours})")
    lay(own, "terms", "SELECT max(id) AS id, CAST(ts AS DATE) AS day FROM ordered GROUP BY 2")
    for table, column in (("ordered", "ts"), ("terms", "day")):
        for condition in SKIPPED.format(column).strip().splitlines():
            text = f"SELECT id FROM {table} WHERE {condition}"
            result = rewrite(text, tables)
            assert result.changed
            assert not differ(answer(own, text), answer(own, result.sql)), result.sql


# --- catalog check and pull -----------------------------------------------------------------------

CHECKED = """
CREATE TABLE held (id INT, ts TIMESTAMP, dt STRING, y INT) USING parquet PARTITIONED BY (dt, y);
CREATE TABLE broken (id INT, d DATE, m INT) USING parquet PARTITIONED BY (m);
CREATE TABLE escaped (name STRING, p STRING) USING parquet PARTITIONED BY (p);
INSERT INTO escaped VALUES ('ab:cdefg', 'ab:c'), ('x/y zuvw', 'x/y ');
INSERT INTO held VALUES (1, TIMESTAMP '2024-01-31 10:00:00', '2024-01-31', 2024),
    (2, TIMESTAMP '2023-02-28 23:00:00', '2023-02-28', 2023), (3, NULL, NULL, NULL);
INSERT INTO broken VALUES (1, DATE '2024-01-31', 1), (2, DATE '2024-02-28', 3)
"""


@pytest.fixture(scope="module")
def checked(spark: SparkSession) -> Iterator[SparkSession]:
    with in_database(spark, "checked", CHECKED.split(";")):
        yield spark


def _command(*args: str) -> Result:
    return CliRunner().invoke(program, args, prog_name="dpp-rewrite", catch_exceptions=False)


def _settings(folder: Path, **tables: str) -> None:
    lines = [f'["derived"."checked.{name}"]\n{text}' for name, text in tables.items()]
    (folder / "dpp-rewrite.toml").write_text("\n".join(["time-zone = 'UTC'", *lines]))


@pytest.mark.usefixtures("checked")
def test_check_counts_the_rows_that_do_not_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    good = "dt = \"date_format(ts, 'yyyy-MM-dd')\"\ny = 'year(ts)'"
    _settings(tmp_path, held=good)
    command = _command("catalog", "check")
    _settings(tmp_path, held=good, broken="m = 'month(d)'")
    wrong, one = _command("catalog", "check"), _command("catalog", "check", "checked.held")
    _settings(tmp_path, held="dt = 'no_such(ts)'\ny = 'year(ts)'")
    unknown = _command("catalog", "check")
    assert [completed.exit_code for completed in (command, one, wrong, unknown)] == [0, 0, 1, 2]
    assert "checked.held: dt = date_format(ts, 'yyyy-MM-dd'): 3 rows" in command.stdout
    assert "checked.broken: m = month(d): does not hold for 1 of 2 rows" in wrong.stdout
    assert "checked.held: y = year(ts): 3 rows" in unknown.stdout
    assert "unknown checked.held: dt = no_such(ts): " in unknown.stdout


@pytest.mark.usefixtures("checked")
def test_pull_proposes_what_the_rows_show(tmp_path: Path) -> None:
    file = tmp_path / "w.json"
    command = _command("catalog", "pull", "checked.*", "-o", str(file))
    tables = {
        load["name"].rpartition(".")[2]: load for load in json.loads(file.read_text())["tables"]
    }
    assert tables["held"]["proposed"] == [
        {"column": "dt", "expression": "date_format(ts, 'yyyy-MM-dd')"},
        {"column": "y", "expression": "year(ts)"},
    ]
    assert "proposed" not in tables["broken"]
    # The names of its folders are p=ab%3Ac and p=x%2Fy .
    assert tables["escaped"]["proposed"] == [{"column": "p", "expression": "substring(name, 1, 4)"}]
    assert '# [tool.dpp-rewrite.derived."checked.held"]\n# dt = "date_format(' in command.stderr
    loaded = Catalog.load(str(file))
    assert all(table.derived == () for table in loaded.tables)
    assert not rewrite("SELECT id FROM checked.held WHERE ts > '2024-01-01'", loaded).changed


PARTITIONS = """
CREATE TABLE days USING parquet PARTITIONED BY (dt) AS SELECT id, date_add(DATE '2024-01-01',
    CAST(id AS INT)) AS d, date_format(date_add(DATE '2024-01-01', CAST(id AS INT)), 'yyyyMMdd')
    AS dt FROM range(8);
CREATE TABLE wanted USING parquet AS SELECT DATE '2024-01-03' AS d, 'x' AS kind
"""
JOINED = "SELECT t.id FROM days t JOIN wanted w ON t.d {} w.d WHERE w.kind = 'x'"


@pytest.fixture(scope="module")
def partitions(spark: SparkSession) -> Iterator[SparkSession]:
    with in_database(spark, "derived_days", PARTITIONS.split(";")):
        yield spark


@pytest.mark.parametrize(
    ("text", "form", "least"),
    [
        (JOINED.format("="), "in", 1),
        (JOINED.format("="), "set", 1),
        (JOINED.format("<="), "in", 3),
        ("SELECT id FROM days WHERE d BETWEEN '2024-01-02' AND '2024-01-03'", "in", 2),
    ],
)
def test_partitions_read(partitions: SparkSession, text: str, form: str, least: int) -> None:
    ddl = "CREATE TABLE days (id BIGINT, d DATE, dt STRING) USING parquet PARTITIONED BY (dt);"
    tables = Catalog.from_ddl(ddl + "CREATE TABLE wanted (d DATE, kind STRING) USING parquet")
    tables = tables.deriving({"days": {"dt": "date_format(d, 'yyyyMMdd')"}})
    before = read_by(partitions, text)
    after = read_by(partitions, rewrite(text, tables, predicate=form).sql)
    assert sorted(before.rows) == sorted(after.rows)
    assert (before.partitions("days"), after.partitions("days")) == (8, least)
