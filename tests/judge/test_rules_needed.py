"""Every soundness rule is needed: switched off, a query goes wrong; switched on, none does.

Named cases for each rule; for what DuckDB does otherwise than Spark see
``tests/spark/test_spark_rules.py``.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import Any

import duckdb
import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.judge.rules import DECIDED, RULES
from sqlrewrite.judge.soundness.join_type import LEGAL
from sqlrewrite.results import Rewrite
from tests.support.duckdb_text import as_duckdb
from tests.support.rule_witnesses import (
    CAUTIOUS,
    DDL,
    JOIN_TYPE,
    WITNESSES,
    Witness,
)

READINGS = 3
"""How often the original is run, to see that it has one answer."""

NO_PLACE, OF_PARTITIONS = "DPP116", "DPP103"
"""Not about rows: what it refuses has no place in the text, whatever the rule says."""

_IN_KEYS = re.compile(r"(\w+\.\w+) IN \(SELECT (/\*.*?\*/ )?(\w+\.\w+) FROM")

Answer = Counter[tuple[Any, ...]] | str
"""The rows of a query, or the error that it raises."""


@lru_cache(maxsize=1)
def _catalog() -> Catalog:
    return Catalog.from_ddl(DDL)


def _rewrite(sql: str, *off: str) -> Rewrite:
    return rewrite(sql, _catalog(), disabled=frozenset(off))


# --- named cases ----------------------------------------------------------------------------------


def _answer(case: Witness, sql: str) -> Answer:
    """What DuckDB says, on a fresh database each time and with the same dice."""
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.execute("SELECT setseed(0.5)").fetchall()
        connection.execute(case.data)
        text = as_duckdb(_as_text(sql) if case.code == "DPP112" else sql)
        try:
            return Counter(connection.execute(text, list(case.parameters)).fetchall())
        except duckdb.Error as error:
            return f"{type(error).__name__}: {error}"


def _as_text(sql: str) -> str:
    """IN over text and a number as Spark computes it without ANSI mode (docs/spark.md)."""
    return _IN_KEYS.sub(r"CAST(\1 AS VARCHAR) IN (SELECT CAST(\3 AS VARCHAR) FROM", sql)


def _original(case: Witness) -> Answer:
    """The one answer of the original, which is no error."""
    first, *others = (_answer(case, case.sql) for _ in range(READINGS))
    assert not isinstance(first, str), first
    assert all(other == first for other in others), "the original has more than one answer"
    return first


@pytest.mark.parametrize("case", WITNESSES, ids=lambda case: f"{case.code}: {case.name}")
def test_switched_off_a_named_case_goes_wrong(case: Witness) -> None:
    original = _original(case)
    off = _rewrite(case.sql, case.code, *case.also)
    assert off.changed, [candidate.reason for candidate in off.candidates]
    assert _answer(case, off.sql) != original
    kept = _rewrite(case.sql, *case.also)  # with this rule, and without those that agree with it
    assert _answer(case, kept.sql) == original
    assert _answer(case, _rewrite(case.sql).sql) == original


def test_every_soundness_rule_has_a_case() -> None:
    soundness = {rule.code for rule in (*RULES, DECIDED) if rule.kind == "soundness"}
    # What is undecided shows in the cases of the rules that leave it so, and an error that files of
    # a partition raise on Spark alone (tests/spark/test_spark_rules.py).
    assert {case.code for case in WITNESSES} == soundness - {NO_PLACE, DECIDED.code, OF_PARTITIONS}


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
