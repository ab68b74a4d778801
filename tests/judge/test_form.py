"""What statistics and options make of a predicate: its form, DISTINCT, or none at all."""

from __future__ import annotations

import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.copies import replace
from sqlrewrite.results import Rewrite
from sqlrewrite.settings.options import Keys
from sqlrewrite.warehouse import Table

DDL = """
CREATE TABLE sales (id INT, customer BIGINT) USING parquet PARTITIONED BY (customer);
CREATE TABLE customers (customer BIGINT, country STRING, vip BOOLEAN, city INT) USING parquet;
CREATE TABLE cities (city INT, region INT) USING parquet;
CREATE TABLE regions (region INT, name STRING) USING parquet;
CREATE TABLE visits (city INT, day INT) USING parquet PARTITIONED BY (day);
"""
QUERY = (
    "SELECT s.id FROM sales s JOIN customers c ON s.customer = c.customer WHERE c.country = 'NL'"
)


@pytest.fixture
def catalog() -> Catalog:
    return Catalog.from_ddl(DDL)


def with_counts(
    catalog: Catalog, rows: int, distinct: int | None = None, key: tuple[str, ...] = ()
) -> Catalog:
    """The catalog with statistics of the dimension."""
    table = catalog.resolve(("customers",))
    assert isinstance(table, Table)
    first, *others = table.columns
    columns = (replace(first, distinct_count=distinct), *others)
    return catalog.with_relation(replace(table, row_count=rows, columns=columns, primary_key=key))


def failing(result: Rewrite) -> list[str]:
    return [candidate.reason.code for candidate in result.candidates if candidate.reason]


def test_more_keys_than_the_limit(catalog: Catalog) -> None:
    # Half of ten million keys of eight bytes: 40 MB, and the limit is 32 MB.
    large = with_counts(catalog, 10_000_000)
    assert failing(rewrite(QUERY, large)) == ["DPP124"]
    assert rewrite(QUERY, large, predicate="range").changed
    assert rewrite(QUERY, large, key_limit=40_000_000).changed
    assert failing(rewrite(QUERY, large, key_limit=39_999_999)) == ["DPP124"]
    assert rewrite(QUERY, with_counts(catalog, 8_000_000)).changed
    # Of many rows few keys.
    assert rewrite(QUERY, with_counts(catalog, 10_000_000, 1_000)).changed


def test_a_set_of_too_many_becomes_its_range(catalog: Catalog) -> None:
    few, many = with_counts(catalog, 20_000), with_counts(catalog, 20_002)
    assert "collect_set" in rewrite(QUERY, few, predicate="set").sql
    assert "max(c2.customer)" in rewrite(QUERY, many, predicate="set").sql
    assert " IN (SELECT" in rewrite(QUERY, many, predicate="auto").sql


def test_keys_that_repeat_are_selected_distinct(catalog: Catalog) -> None:
    distinct = "SELECT /*+ BROADCAST(c2) */ DISTINCT c2.customer"
    assert distinct in rewrite(QUERY, with_counts(catalog, 1000, 500)).sql
    assert distinct not in rewrite(QUERY, with_counts(catalog, 1000, 501)).sql
    assert distinct not in rewrite(QUERY, with_counts(catalog, 1000, 500, ("customer",))).sql
    assert distinct not in rewrite(QUERY, catalog).sql


@pytest.mark.parametrize("condition", ["c.vip", "c.vip = true", "NOT c.vip <> true"])
def test_a_boolean_alone(catalog: Catalog, condition: str) -> None:
    sql = QUERY.replace("c.country = 'NL'", condition)
    assert failing(rewrite(sql, catalog)) == ["DPP120"]
    assert "array_contains((SELECT collect_set(" in rewrite(sql, catalog, predicate="auto").sql
    nothing = QUERY.replace("c.country = 'NL'", "c.country IS NOT NULL")
    assert failing(rewrite(nothing, catalog, predicate="auto")) == ["DPP120"]


CHAIN = (
    "SELECT s.id FROM sales s JOIN customers c ON s.customer = c.customer "
    "JOIN cities t ON c.city = t.city JOIN regions r ON t.region = r.region WHERE r.name = 'n'"
)


@pytest.mark.parametrize(("depth", "bounded"), [(0, False), (1, False), (2, True), (3, True)])
def test_depth(catalog: Catalog, depth: int, bounded: bool) -> None:
    assert rewrite(CHAIN, catalog, depth=depth).changed == bounded


def test_through_facts(catalog: Catalog) -> None:
    sql = (
        "SELECT s.id FROM sales s JOIN customers c ON s.customer = c.customer "
        "JOIN visits v ON c.city = v.city WHERE v.day = 7"
    )
    assert failing(rewrite(sql, catalog)) == ["DPP120"]
    through = rewrite(sql, catalog, through_facts=True).sql
    assert "c2.city IN (SELECT v2.city FROM visits AS v2 WHERE v2.day = 7)" in through


@pytest.mark.parametrize("first", ["in", "set", "range", "auto"])
@pytest.mark.parametrize("second", ["in", "set", "range", "auto"])
def test_another_form_takes_the_place_of_the_first(
    catalog: Catalog, first: str, second: str
) -> None:
    written = rewrite(QUERY, catalog, predicate=first).sql
    assert rewrite(written, catalog, predicate=second).sql == (
        rewrite(QUERY, catalog, predicate=second).sql
    )


@pytest.mark.parametrize("predicate", ["set", "range", "values"])
@pytest.mark.parametrize(
    ("condition", "written"),
    [("10 / v.day > 1", False), ("v.day > 1", True)],
    ids=["can fail", "cannot fail"],
)
def test_only_an_in_over_a_join_that_spark_takes_for_an_outer_one(
    predicate: str, condition: str, written: bool
) -> None:
    text = (
        "SELECT v.city FROM regions r LEFT JOIN visits v ON v.day = r.region "
        f"AND {condition} JOIN cities c ON v.city = c.city WHERE r.name = 'N'"
    )
    keys = Keys(("1", "2"), "int", "2026-01-31T09:30:00Z")
    resolve = (lambda *_: keys) if predicate == "values" else None
    catalog = Catalog.from_ddl(DDL)
    assert " IN (SELECT" in rewrite(text, catalog).sql
    assert rewrite(text, catalog, predicate=predicate, resolve=resolve).changed is written
