"""Which conditions the key query repeats as they are: those that raise an error for no row,
whatever it holds. Each that is not raises one in Spark 4.3 for some row, or in some branch."""

from __future__ import annotations

import pytest

from sqlrewrite import Catalog, rewrite

CATALOG = Catalog.from_ddl(
    "CREATE TABLE f (id INT, p DATE) USING parquet PARTITIONED BY (p);"
    "CREATE TABLE d (k DATE, at TIMESTAMP, t STRING, i INT, b BIGINT, n DECIMAL(9,2), q INT)"
)
REPEATED = [
    *("d.k > current_date() - INTERVAL 30 DAYS", "d.k > current_date - 7", "d.k - i > k"),
    *("d.k > add_months(current_date(), -1)", "d.k < last_day(add_months(now(), 2))"),
    *("d.k + INTERVAL 1 MONTH > now()", "add_months(d.k, 3) > '2024-01-01'"),
    *("d.k > trunc(current_date(), 'MM') - INTERVAL '1' WEEK", "d.i = year(current_date()) - 1"),
    *("d.k > date_trunc('MONTH', now() - INTERVAL '1 10' DAY TO HOUR)", "d.k > '2024-01-01'"),
    *("d.k > to_date('2024-02-29')", "d.k > to_date('20240229', 'yyyyMMdd')"),
    *("d.k >= make_date(2024, 2, 29)", "d.k >= next_day(current_date(), 'MON') - 7"),
    *("d.i div 100 = 3", "d.b % 7 = 3", "d.i / 2 > 3", "pmod(d.b, 4) = 1"),
    *("(d.i, d.t) IN ((1, 'a'), (2, 'b'))", "(d.i, d.i) = (1, 2)"),
    *("CASE WHEN d.i > 1 THEN 'a' ELSE d.t END = 'a'", "CASE d.i WHEN 1 THEN 2 ELSE d.b END = 2"),
    *(
        "CASE d.t WHEN 'a' THEN d.i WHEN 'b' THEN 2 ELSE 3 END = 2",
        "CASE d.i WHEN 1 THEN 2 END = 2",
    ),
    *("CASE WHEN d.i > 1 THEN d.k END > current_date()", "if(d.i > 1, 'a', 'b') = 'a'"),
    *("nvl(d.t, 'x') = 'x'", "extract(year FROM d.k) = 2024", "nullif(d.i, 2) = 1"),
]
LEFT_OUT = [
    *("d.k > DATE'2024-01-01' - INTERVAL '2147483647' MONTH", "d.at > d.at - INTERVAL 1 DAY"),
    *("d.k > add_months(DATE'2024-01-01', 999999999)", "d.k > add_months(d.k, d.i)"),
    *("d.k > 'x' - INTERVAL 1 DAY", "d.k > to_date('2024-02-30')", "d.k > to_date(d.t)"),
    *("d.k > to_date('2024-02-29', 'yyyyMMdd')", "d.k >= make_date(2023, 2, 29)"),
    *("d.k >= next_day(current_date(), 'none')", "d.k >= make_date(d.i, 1, 1)"),
    *("d.i div 0 = 3", "d.b % d.i = 3", "d.i / d.b > 3", "d.n div 3 = 1", "d.b div -1 = 1"),
    *("(d.i, d.t) IN ((1, 2))", "d.i * 3 = 2", "d.k - d.k > INTERVAL 1 DAY"),
    *("CASE WHEN d.i > 1 THEN 'a' ELSE d.i END = 2", "CASE d.t WHEN 1 THEN 2 END = 2"),
    *("CASE d.i WHEN 'a' THEN 2 END = 2", "CASE d.i WHEN 1 THEN 2 WHEN 'a' THEN 3 END = 2"),
    *("CASE WHEN d.i > 1 THEN 'a' ELSE 1 END = 1", "if(d.i > 1, 'a', d.i) = 1"),
    *("coalesce(d.k, 'never') > k", "coalesce(d.i, 'a') = 1", "nvl2(d.t, 'a', 1) = 1"),
    *("CASE WHEN d.t THEN 1 END = 1", "extract(year FROM d.t) = 2024", "nullif(d.i, d.t) = 1"),
]


def _repeated(condition: str) -> bool:
    sql = f"SELECT f.id FROM f JOIN d ON f.p = d.k WHERE {condition} AND d.q = 1"
    result = rewrite(sql, CATALOG)
    assert result.changed, result.candidates
    return result.sql.count("d2.") > 2 and "IS NOT FALSE" not in result.sql


@pytest.mark.parametrize("condition", REPEATED)
def test_repeated(condition: str) -> None:
    assert _repeated(condition)


@pytest.mark.parametrize("condition", LEFT_OUT)
def test_left_out(condition: str) -> None:
    assert not _repeated(condition)


@pytest.mark.parametrize(
    ("joined", "code", "words"),
    [
        ("f.p = d.k WHERE d.i / d.b > 3", "DPP114", "IS NOT FALSE keeps those rows"),
        ("f.p = d.t WHERE d.i = 3", "DPP112", "try_cast gives NULL where the join's own cast"),
        ("f.p = CAST(d.t AS DATE) WHERE d.i = 3", "DPP114", "the key is written in a form that"),
    ],
)
def test_a_form_that_the_author_did_not_write_is_explained(
    joined: str, code: str, words: str
) -> None:
    """For ``-v`` and the hover."""
    (candidate,) = rewrite(f"SELECT f.id FROM f JOIN d ON {joined}", CATALOG).candidates
    assert words in next(rule.message for rule in candidate.rules if rule.code == code)


def test_a_form_of_the_facts_side_is_explained() -> None:
    catalog = Catalog.from_ddl(
        "CREATE TABLE f (id INT, p STRING) USING parquet PARTITIONED BY (p);"
        "CREATE TABLE d (k DATE, y INT)"
    )
    text = "SELECT f.id FROM f JOIN d ON CAST(f.p AS DATE) = d.k WHERE d.y = 2024"
    (candidate,) = rewrite(text, catalog).candidates
    assert candidate.predicate is not None
    assert "try_cast(f.p AS DATE)" in candidate.predicate
    message = next(rule.message for rule in candidate.rules if rule.code == "DPP114")
    assert "the fact's side is written in a form that gives NULL there" in message
