"""Names and types of outputs, as Spark's own tests have them, by ``outputs`` and by the plan."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sqlrewrite import Catalog
from sqlrewrite.output_columns import SessionState
from sqlrewrite.plan.facts.types import ExactSettings
from sqlrewrite.sql.outputs.output_binder import query_output
from tests.referee.names import CORPUS, agrees, behind, files, plan_types, run
from tests.support.turns import turn

EXPRESSIONS = Path(__file__).with_name("typed_expressions.sql")
NUMBERS = Path(__file__).parents[2] / "docs" / "numbers.md"
COLUMNS = """
CREATE TABLE t (y TINYINT, s SMALLINT, i INT, l BIGINT, f FLOAT, b DOUBLE, d3 DECIMAL(3,0),
d DECIMAL(10,2), w DECIMAL(38,18), c STRING, h CHAR(5), v VARCHAR(7), u STRING COLLATE UTF8_LCASE,
x BINARY, z BOOLEAN, dt DATE, ts TIMESTAMP, n TIMESTAMP_NTZ, a ARRAY<INT>,
m MAP<STRING, INT>, st STRUCT<A: INT, b: STRING>) USING parquet
"""
CATALOG = Catalog.from_ddl(COLUMNS)


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is not beside the checkout")
@pytest.mark.parametrize("parts", [12, pytest.param(1, marks=pytest.mark.longest)])
def test_no_name_and_no_type_is_wrong(parts: int) -> None:
    score, planned, created = run(turn(files(), parts))
    assert score.wrong == []
    assert planned.wrong == []
    assert created.wrong == []
    if parts == 1:
        assert score.answered >= 0.9 * score.queries
        assert score.types >= 0.9 * score.columns
        assert created.types >= 0.7 * planned.types
        [counted] = re.findall(r"the bound plan types ([\d,]+) columns", NUMBERS.read_text("utf-8"))
        assert planned.types >= int(counted.replace(",", ""))
        assert planned.types >= 0.9 * planned.columns


@pytest.mark.parametrize("ansi", [True, False])
def test_both_readings_give_the_types_that_spark_gives(ansi: bool) -> None:
    settings = ExactSettings(ansi, legacy_interval=False)
    state = SessionState(CATALOG, (settings,), (settings,))
    for line in EXPRESSIONS.read_text("utf-8").splitlines():
        expression, _, answers = line.partition(" -- ")
        expected = answers.split(" | ")[not ansi and " | " in answers]
        select = f"SELECT {expression} AS e FROM t"
        for first, sql in (
            ("", select),
            ("", f"SELECT e FROM ({select})"),
            ("", f"WITH q AS ({select}) SELECT * FROM q"),
            (f"CREATE TABLE default.q USING parquet AS {select}", "SELECT (*) FROM default.q"),
            (f"CREATE VIEW default.q AS {select}", "SELECT e FROM default.q"),
        ):
            planned = plan_types(sql, behind(first, state))
            assert planned in (((None, expected),), ((None, None),)), sql
            types = None if first else query_output(sql, CATALOG, (settings,))
            assert types is None or types[0][1] in (expected, None), sql


def test_an_answer_is_compared_in_number_names_and_types() -> None:
    answer = "struct<a:int,f(x, y):decimal(3,1)>"
    assert agrees((("a", "int"), ("f(x, y)", "decimal(3,1)")), answer)
    assert agrees((("a", None), (None, "decimal(3,1)")), answer)
    assert not agrees((("a", "int"),), answer)
    assert not agrees((("b", "int"), (None, None)), answer)
    assert not agrees((("a", "bigint"), (None, None)), answer)
