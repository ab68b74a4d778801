"""The table of functions, ``rules/functions/spark.toml``: its form, and how it is asked."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.find import implied_ranges
from sqlrewrite.find.derived_columns import decided_by_weeks
from sqlrewrite.judge.partition_wise import aggregates
from sqlrewrite.plan.algebra import Call, ColumnRef, Literal
from sqlrewrite.plan.facts.constants import row_count
from sqlrewrite.plan.facts.functions import (
    AGAIN,
    KINDS,
    RAISES,
    Function,
    function,
    names,
    tagged,
)
from sqlrewrite.results import ConfigError
from sqlrewrite.rulebook import rules_folder

_NULLS = re.compile(r"all|never|-|[1-9](,[1-9])*")
_SINCE = re.compile(r"[1-4]\.\d+")


def test_a_row_says_what_the_head_of_the_table_explains() -> None:
    for name in names():
        row = function(name)
        assert row is not None, name
        assert row.name == name
        assert row.kind in KINDS, name
        assert row.again in AGAIN, name
        assert row.raises in RAISES, name
        assert _NULLS.fullmatch(row.nulls), name
        assert _SINCE.fullmatch(row.since), name
        assert "->" in row.signature, name


def test_each_name_has_one_row_and_rows_are_in_order() -> None:
    text = (rules_folder() / "functions" / "spark.toml").read_text(encoding="utf-8")
    sections = re.findall(r"^(\w+) = '''\n(.*?)'''$", text, re.MULTILINE | re.DOTALL)
    assert [kind for kind, _ in sections] == [*KINDS, "tags", "groups", "part", "zone", "attempt"]
    sections = sections[:-5]
    listed = [[row.split()[0] for row in rows.splitlines()] for _, rows in sections]
    assert all(names == sorted(names) for names in listed)
    assert [
        name for name, count in Counter(row for rows in listed for row in rows).items() if count > 1
    ] == []


def test_more_is_said_of_functions_alone_and_asked_by_words_that_are_there() -> None:
    words = {
        "each",
        "clock",
        "near",
        "year",
        "days",
        "hours",
        "beginning",
        "given",
        "divided",
        "whole",
    }
    assert {word for word in words if tagged(word)} == words
    assert [name for word in words for name in tagged(word) if function(name) is None] == []
    assert not tagged("unheard")


def test_a_name_behind_a_qualifier_is_the_users_own_but_for_sparks() -> None:
    assert function("upper") == function("builtin.upper") == function("system.builtin.upper")
    assert function("mine.upper") is None
    assert function("session.upper") is None
    assert function("no_such_function") is None


def test_properties_follow_from_the_columns() -> None:
    rows = [function(name) for name in ("rand", "sum", "first", "upper")]
    assert [row and row.deterministic for row in rows] == [False, True, True, True]
    assert [row and row.repeatable for row in rows] == [False, False, False, True]
    assert [row and row.aggregate for row in rows] == [False, True, True, False]
    assert [row and row.null_from(0) for row in rows] == [False, True, True, True]


DDL = """
CREATE TABLE sales (id INT, day INT) PARTITIONED BY (day);
CREATE TABLE dates (day INT, year INT, name STRING, at TIMESTAMP);
"""
QUERY = "SELECT s.id FROM sales s JOIN dates d ON s.day = d.day WHERE d.year = 2024 AND {}"


def _copied(condition: str, functions: dict[str, str] | None = None) -> bool:
    """Whether a condition on the dimension stands in the key query too."""
    result = rewrite(DDL + QUERY.format(condition), Catalog(), functions=functions)
    return result.sql.count(condition.rpartition("d.")[2]) == 2


@pytest.mark.parametrize(
    ("condition", "copied"),
    [
        ("date_format(d.at, 'yyyy-MM') = '2024-01'", True),
        ("date_format(d.at, 'qqqqqq') = '1'", False),
        ("date_format(d.at, d.name) = '1'", False),
        ("d.name RLIKE ('^a.*b$')", True),
        ("d.name RLIKE ('(')", False),
        ("upper(d.name) = 'A'", True),
        ("split_part(d.name, ',', d.year) = 'A'", False),
        ("make_date(d.year, 2, 30) = DATE '2024-01-01'", False),
        ("nvl(d.name, 'x') = 'A'", True),
        ("db.upper(d.name) = 'A'", False),
        ("regexp_extract(d.name, 'a.*') = 'a'", False),
        ("regexp_replace(d.name, 'a', '$9') = 'a'", False),
        ("d.name LIKE 'a/' ESCAPE '/'", False),
        ("d.name LIKE 'a$' ESCAPE '$'", False),
        ("d.name LIKE 'a$_%' ESCAPE '$'", True),
        ("d.year > 1200 + 11", True),
        ("d.year > 2147483647 + 1", False),
        ("d.year % 0 = 1", False),
        ("d.year > 7 % 2", True),
        ("d.year > 7 % 0", False),
        ("year(d.at) > 2000", True),
        ("d.name LIKE 'a%'", True),
        ("year(d.name) > 2000", False),
    ],
)
def test_a_condition_is_copied_only_if_it_cannot_raise(condition: str, copied: bool) -> None:
    assert _copied(condition) is copied


def test_a_users_function_is_copied_only_if_it_is_declared_total() -> None:
    condition = "length(db.clean(d.name)) > 3"
    assert not _copied(condition)
    assert not _copied(condition, {"db.clean": "deterministic"})
    assert _copied(condition, {"DB.Clean": "total"})


@pytest.mark.parametrize("given", [{"upper": "total"}, {"mine": "quick"}])
def test_a_declaration_that_says_nothing_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="function"):
        rewrite("SELECT 1", Catalog(), functions=given)


def test_a_function_that_no_rule_has_met_is_no_value_and_no_beginning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A row more in the table must not be taken for what the rules know by name."""
    new = Function("new", "syntax", "same", "-", "never", "", "1.0", "any -> any")
    monkeypatch.setattr(aggregates, "function", lambda name: new)
    assert not aggregates._is_row_function("new")
    text, one, two = ColumnRef(1, "x", None), Literal("number", "1"), Literal("number", "2")
    assert implied_ranges._prefix_length(Call("new", (text, one, two))) is None
    assert implied_ranges._prefix_length(Call("substring", (text, one, two))) == 2


def test_what_a_day_decides_of_a_week_is_told_by_name() -> None:
    """A letter of a pattern that no rule has met may say something of the day."""
    time = ColumnRef(1, "ts", None)
    for name, args, by_weeks in (
        ("date_format", (time, Literal("string", "yyyy-MM")), True),
        ("date_format", (time, Literal("string", "yyyy-DDD")), False),
        ("month", (time,), True),
        ("new", (time,), False),
    ):
        assert decided_by_weeks(Call(name, args)) is by_weeks


def test_a_number_of_rows_has_few_digits() -> None:
    assert [row_count(text) for text in ("3", "9" * 5000, "1.5", "-1", "²", "")] == [
        3,
        0,
        0,
        0,
        0,
        0,
    ]
    known_tables = Catalog.from_ddl(
        "CREATE TABLE f (a INT, p INT) USING parquet PARTITIONED BY (p)"
    )
    query = "SELECT a FROM f QUALIFY rank() OVER (ORDER BY p DESC) = {}"
    assert rewrite(query.format(3), known_tables).changed
    result = rewrite(query.format("9" * 5000), known_tables)
    assert not result.changed
    assert not result.errors
