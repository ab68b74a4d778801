"""Derived partition columns on Spark: each case of fixtures/queries/derived, over tables whose
columns are computed by their own expressions, in several time zones and with dates that break
formats; and what follows, for each function and each pair of values.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from sqlrewrite import Catalog
from sqlrewrite.warehouse import Table
from tests.fixtures_support import catalog, query_cases, rewritten

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

CASES = [case for case in query_cases() if case.name.startswith("derived/")]
ZONES = (("America/Los_Angeles", "Asia/Tokyo"), ("Pacific/Auckland", "America/St_Johns"))
"""Of who writes, and who reads."""

VALUES = {
    "timestamp": (
        *(f"TIMESTAMP '{it}Z'" for it in ("2024-02-29 23:30:00", "2024-03-01 00:30:00")),
        *(f"TIMESTAMP '{it}Z'" for it in ("2010-11-07 02:30:00", "2010-11-07 02:40:00")),
        *(f"TIMESTAMP '{it}Z'" for it in ("2024-03-04 12:00:00", "+10000-01-01 05:00:00")),
        f"TIMESTAMP '{datetime.now(UTC) - timedelta(hours=3):%Y-%m-%d %H:%M:%S}Z'",
        "NULL",
    ),
    "date": (
        *(f"DATE '{it}'" for it in ("2024-01-15", "2024-02-29", "2024-03-15", "2024-10-01")),
        *(f"DATE '{it}'" for it in ("0001-01-01", "-0001-03-01", "9999-12-31", "+10000-01-01")),
        "NULL",
    ),
    "string": ("''", "'a'", "'b'", "'bob'", "'cy'", "'é'", "'2024-02-29'", "'2024-02-30'", "'1'"),
    "int": ("-21", "-15", "-14", "-10", "-9", "-1", "0", "1", "9", "10", "11", "NULL"),
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
    session.conf.set("spark.sql.ansi.enabled", "false")
    return session


def _fill(session: SparkSession, known: Catalog, writer: str, reader: str) -> None:
    """Views of the tables' names, with a row for each value of what is computed from, written in
    one time zone and read in another."""
    for table in (it for it in known.relations.values() if isinstance(it, Table)):
        of = {it.column: it.expression for it in table.derived}
        plain = [it for it in table.columns if it.name not in of]
        kinds = [VALUES.get(it.type or "", ("NULL",)) for it in plain]
        rows = [
            ", ".join(
                f"CAST({values[at % len(values)]} AS {column.type}) AS {column.name}"
                for column, values in zip(plain, kinds, strict=True)
            )
            for at in range(max(map(len, kinds)))
        ]
        session.conf.set("spark.sql.session.timeZone", writer)
        # As a partition is stored: a text, and NULL where that is empty.
        stored = [f"nullif(CAST({text} AS STRING), '') AS {name}" for name, text in of.items()]
        made = " UNION ALL ".join(f"SELECT {row}, {at} AS r" for at, row in enumerate(rows))
        shown = session.sql(f"SELECT {', '.join(['r', *stored])} FROM ({made})").collect()
        written = [dict(zip(of, it[1:], strict=True)) for it in sorted(shown)]
        session.conf.set("spark.sql.session.timeZone", reader)
        if of:
            rows = [_read_back(table, *it) for it in zip(rows, written, strict=True)]
        made = " UNION ALL ".join(f"SELECT {row}" for row in rows)
        session.sql(made).createOrReplaceTempView(table.name[-1])


def _read_back(table: Table, row: str, stored: dict[str, str | None]) -> str:
    """A row with what it has as partition columns, read from their texts."""
    texts = {name: "NULL" if text is None else f"'{text}'" for name, text in stored.items()}
    kinds = {it.name: it.type for it in table.columns}
    return ", ".join(
        [row, *(f"CAST({it} AS {kinds[name]}) AS {name}" for name, it in texts.items())]
    )


def _rows(session: SparkSession, text: str) -> Counter[str]:
    """The rows of a text, in which each key of the calendar is one by itself: a bound that is too
    narrow for it would be hidden by those of others."""
    for template, value in RENDERED.items():
        text = text.replace(template, value)
    text = text.replace("c2.season = 'summer'", "c2.r = c.r")
    text = text.replace("c.season = 'summer'", "true")
    arguments = {name: it for name, it in PARAMETERS.items() if f":{name}" in text}
    found = session.sql(text, args=arguments or None)
    return Counter(it[0] for it in found.selectExpr("to_json(struct(*))").collect())


@pytest.mark.parametrize(("writer", "reader"), ZONES)
def test_rows_of_the_fixtures(own: SparkSession, writer: str, reader: str) -> None:
    _fill(own, catalog(CASES[0].ddl), writer, reader)
    own.sql("SELECT id, ts AS happened, dt AS part FROM clicks").createOrReplaceTempView("v_clicks")
    number = "row_number() OVER (ORDER BY day, at, name, n, x) AS r"
    own.sql(f"SELECT *, {number} FROM cal").createOrReplaceTempView("cal")
    lost = []
    for case in CASES:
        text, golden = case.text(), rewritten(case, case.text()).sql
        if text != golden and _rows(own, text) != _rows(own, golden):
            lost.append(golden)
    assert not lost
