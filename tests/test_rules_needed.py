"""Every soundness rule is needed: switched off, a query goes wrong; switched on, none does.

Named cases for each rule, the random queries for those that they reach, and Spark itself for what
DuckDB does otherwise.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from functools import lru_cache
from typing import Any

import duckdb
import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.judge import DECIDED, RULES
from sqlrewrite.judge.join_type import LEGAL
from sqlrewrite.results import Rewrite
from sqlrewrite.rulebook import pages
from tests.differential.check import BATCH, Manner, Rewritten, run, without
from tests.differential.duckdbtext import respelled
from tests.rule_cases import (
    CASES,
    CAUTIOUS,
    DDL,
    IN_OF_AN_OUTER_JOIN,
    JOIN_TYPE,
    TEXT_AGAINST_NUMBER,
    Needed,
    catalog_of,
)

READINGS = 3
"""How often the original is run, to see that it has one answer."""

SEED, BATCHES = 11, 12
FROM = {
    "DPP101": 0,
    "DPP102": 5150,
    "DPP103": 850,
    "DPP104": 150,
    "DPP105": 200,
    "DPP106": 500,
    "DPP113": 50,
    "DPP114": 350,
}
"""The rules whose absence the random queries show, and the index to begin at, to be quick."""

NO_PLACE = "DPP116"
"""Not about rows: what it refuses has no place in the text, whatever the rule says."""

_IN_KEYS = re.compile(r"(\w+\.\w+) IN \(SELECT (/\*.*?\*/ )?(\w+\.\w+) FROM")

Answer = Counter[tuple[Any, ...]] | str
"""The rows of a query, or the error that it raises."""


@lru_cache(maxsize=1)
def _catalog() -> Catalog:
    return catalog_of(DDL)


def _rewrite(sql: str, *off: str) -> Rewrite:
    return rewrite(sql, _catalog(), disabled=frozenset(off))


# --- named cases ----------------------------------------------------------------------------------


def _answer(case: Needed, sql: str) -> Answer:
    """What DuckDB says, on a fresh database each time and with the same dice."""
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.execute("SELECT setseed(0.5)").fetchall()
        connection.execute(case.data)
        text = respelled(_as_text(sql) if case.code == "DPP112" else sql)
        try:
            return Counter(connection.execute(text, list(case.parameters)).fetchall())
        except duckdb.Error as error:
            return f"{type(error).__name__}: {error}"


def _as_text(sql: str) -> str:
    """IN over text and a number as Spark computes it without ANSI mode (docs/spark.md)."""
    return _IN_KEYS.sub(r"CAST(\1 AS VARCHAR) IN (SELECT CAST(\3 AS VARCHAR) FROM", sql)


def _original(case: Needed) -> Answer:
    """The one answer of the original, which is no error."""
    first, *others = (_answer(case, case.sql) for _ in range(READINGS))
    assert not isinstance(first, str), first
    assert all(other == first for other in others), "the original has more than one answer"
    return first


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.code}: {case.name}")
def test_switched_off_a_named_case_goes_wrong(case: Needed) -> None:
    original = _original(case)
    off = _rewrite(case.sql, case.code, *case.also)
    assert off.changed, [candidate.reason for candidate in off.candidates]
    assert _answer(case, off.sql) != original
    kept = _rewrite(case.sql, *case.also)  # with this rule, and without those that agree with it
    assert _answer(case, kept.sql) == original
    assert _answer(case, _rewrite(case.sql).sql) == original


def test_every_soundness_rule_has_a_case() -> None:
    soundness = {page.code for page in pages() if page.kind == "soundness"}
    benefit = {"DPP120", "DPP121", "DPP122", "DPP123", "DPP124", "DPP125"}
    assert soundness - {DECIDED.code} == {rule.code for rule in RULES} - benefit
    # What is undecided shows in the cases of the rules that leave it so.
    assert {case.code for case in CASES} == soundness - {NO_PLACE, DECIDED.code}


def test_every_refusal_of_the_join_table_has_a_case() -> None:
    refused = {key for key, place in LEGAL.items() if place is None}
    assert refused == set(JOIN_TYPE) | CAUTIOUS | {("in (not required)", "outside")}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM dim AS d LEFT JOIN (facts AS f JOIN other AS o USING (v)) "
        "ON d.k = f.p WHERE d.x = 1",
        "SELECT * FROM other AS d LEFT JOIN texts USING (v) WHERE name = 'one'",
    ],
)
def test_what_has_no_place_is_not_written_with_the_rule_off_either(sql: str) -> None:
    assert _rewrite(sql, NO_PLACE).sql == _rewrite(sql).sql


# --- random queries -------------------------------------------------------------------------------


@pytest.mark.parametrize("code", FROM)
def test_switched_off_a_random_query_goes_wrong(code: str) -> None:
    def off(sql: str, manner: Manner) -> Rewritten:
        return without(frozenset({code}), sql, manner)

    for batch in range(BATCHES):
        first = FROM[code] + batch * BATCH
        report = run(SEED, BATCH, off, first=first)
        if report.wrong:
            index = report.wrong[0].index
            assert not run(SEED, 1, first=index).wrong, f"--seed {SEED} --index {index}"
            return
    pytest.fail(f"nothing wrong in {BATCHES * BATCH} queries from {FROM[code]}: begin elsewhere")


# --- on Spark -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def spark() -> Any:
    """A session of its own in this process's local Spark, over the rows of the named cases."""
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        message = "Spark needs Java 17 or later, and there is none"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(message)
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    builder = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate().newSession()
    for name, columns, rows in (
        ("facts", "p, v", "(1, 10), (2, 20), (3, 30), (NULL, 50)"),
        ("texts", "p, v", "('1', 10), ('01', 20), ('2', 30)"),
        ("dim", "k, x, label", "(1, 1, '7'), (2, 2, 'none'), (3, 1, '8')"),
        ("other", "v, name", "(1, 'one'), (3, 'three')"),
    ):
        values = session.sql(f"SELECT * FROM VALUES {rows} AS t({columns})")
        values.createOrReplaceTempView(name)
    session.conf.set("spark.sql.ansi.enabled", "false")
    return session


@pytest.mark.spark
@pytest.mark.parametrize(
    ("sql", "code", "also"),
    [
        pytest.param(TEXT_AGAINST_NUMBER, "DPP112", (), id="DPP112: text against a number"),
        pytest.param(
            IN_OF_AN_OUTER_JOIN, "DPP101", ("DPP122",), id="DPP101: in (not required), outside"
        ),
    ],
)
def test_switched_off_spark_goes_wrong(
    spark: Any, sql: str, code: str, also: tuple[str, ...]
) -> None:
    def rows(text: str) -> Counter[tuple[Any, ...]]:
        return Counter(map(tuple, spark.sql(text).collect()))

    off = _rewrite(sql, code, *also)
    assert off.changed, [candidate.reason for candidate in off.candidates]
    assert rows(off.sql) != rows(sql)
    assert rows(_rewrite(sql, *also).sql) == rows(sql)
