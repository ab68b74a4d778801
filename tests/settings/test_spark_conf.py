"""Settings of Spark's sessions decide which predicates are worthwhile."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sqlrewrite import Candidate, Catalog, lint, rewrite
from sqlrewrite.catalog import snapshot
from sqlrewrite.rulebook import engine
from sqlrewrite.run.catalogs import load_catalog
from sqlrewrite.settings.config import load
from sqlrewrite.settings.spark_conf import engine_under
from sqlrewrite.warehouse import Table

DDL = """
CREATE TABLE sales (id INT, qty INT, day DATE) USING parquet PARTITIONED BY (day);
CREATE TABLE calendar (day DATE, year INT, label STRING) USING parquet;
"""
JOIN = "SELECT s.id FROM sales s JOIN calendar c ON s.day = c.day WHERE c.year = 2024"
DPP = "spark.sql.optimizer.dynamicPartitionPruning.enabled"
THRESHOLD = "spark.sql.autoBroadcastJoinThreshold"
REUSE = "spark.sql.exchange.reuse"
DEFAULTS = {DPP: "true"}


def known(settings: dict[str, str], sizes: dict[str, int] | None = None) -> Catalog:
    """The tables, with the sizes that are given, under settings."""
    catalog = replace(Catalog.from_ddl(DDL), settings=settings)
    for name, size in (sizes or {}).items():
        table = catalog.resolve((name,))
        assert isinstance(table, Table)
        catalog = catalog.with_relation(replace(table, size_in_bytes=size))
    return catalog


SIZES = {"sales": 10**9, "calendar": 10**6}


def only(sql: str, catalog: Catalog, when: str) -> Candidate:
    (candidate,) = rewrite(sql, catalog, when=when).candidates
    return candidate


@pytest.mark.parametrize(
    ("when", "settings", "sizes", "written"),
    [
        # Nothing is known: eligible writes all, the others assume Spark's defaults.
        ("eligible", {}, {}, "in"),
        ("missed", {}, {}, ""),
        ("auto", {}, {}, ""),
        # Not said is eligible, and auto where settings are known.
        (None, {}, SIZES, "in"),
        (None, DEFAULTS, {}, ""),
        (None, {DPP: "false"}, {}, "set"),
        # Spark surely prunes by itself: nobody writes what saves nothing.
        ("eligible", DEFAULTS, SIZES, ""),
        ("auto", DEFAULTS, SIZES, ""),
        # The size of the dimension is not known, so that is not sure.
        ("eligible", DEFAULTS, {}, "in"),
        ("auto", DEFAULTS, {}, ""),
        # No broadcast joins: Spark prunes nothing.
        ("eligible", {THRESHOLD: "-1"}, SIZES, "in"),
        ("missed", {THRESHOLD: "-1"}, SIZES, "in"),
        ("auto", {THRESHOLD: "-1b"}, {}, "in"),
        ("auto", {THRESHOLD: "900k"}, SIZES, "in"),
        ("auto", {THRESHOLD: "1m"}, SIZES, ""),
        # No dynamic pruning: an IN would prune nothing either.
        ("auto", {DPP: "false"}, SIZES, "set"),
        ("auto", {REUSE: "FALSE"}, {}, "set"),
        ("missed", {DPP: "false"}, SIZES, ""),
        ("eligible", {DPP: "false"}, {}, ""),
        # A value that is none is passed over.
        ("auto", {DPP: "perhaps", THRESHOLD: "much"}, SIZES, ""),
    ],
)
def test_what_is_written(
    when: str | None, settings: dict[str, str], sizes: dict[str, int], written: str
) -> None:
    result = rewrite(JOIN, known(settings, sizes), when=when)
    form = "set" if "collect_set" in result.sql else "in" if result.changed else ""
    assert form == written
    assert rewrite(result.sql, known(settings, sizes), when=when).sql == result.sql


def test_assumed_settings_are_reported() -> None:
    reason = only(JOIN, known({}), "auto").reason
    assert reason is not None
    assert reason.message == (
        "Spark prunes by the join with `calendar` by itself (assumed: Spark's settings are its "
        "defaults, `calendar` is small enough to be broadcast)"
    )
    reason = only(JOIN, known(DEFAULTS, SIZES), "auto").reason
    assert reason is not None
    assert reason.message == "Spark prunes by the join with `calendar` by itself"


def test_what_to_do_without_dynamic_pruning() -> None:
    off = known({DPP: "false"})
    reason = only(JOIN, off, "eligible").reason
    assert reason is not None
    assert reason.code == "DPP123"
    assert "`--predicate auto` writes a set" in reason.message
    assert "collect_set" in rewrite(JOIN, off, when="eligible", predicate="auto").sql


def test_a_predicate_that_does_not_pay_is_not_needed_and_no_error() -> None:
    """DPP003, of a text from before the settings were known, and not DPP002."""
    text = rewrite(JOIN, known({})).sql
    (finding,) = lint(text, known(DEFAULTS, SIZES))
    assert (finding.code, finding.severity.value) == ("DPP003", "warning")
    assert rewrite(text, known(DEFAULTS, SIZES)).sql == JOIN


def test_a_set_of_the_text_is_followed() -> None:
    text = f"SET {THRESHOLD}=-1;\n{JOIN};\nSET {THRESHOLD} = 10m;\n{JOIN}"
    result = rewrite(text, known({}), when="auto")
    assert [candidate.verdict.value for candidate in result.candidates] == ["rewritten", "rejected"]


@pytest.mark.parametrize("reset", ["RESET", f"RESET {THRESHOLD}", f"RESET `{THRESHOLD}`"])
@pytest.mark.parametrize(("given", "verdict"), [({}, "rejected"), ({THRESHOLD: "-1"}, "rewritten")])
def test_a_reset_brings_back_what_is_given(reset: str, given: dict[str, str], verdict: str) -> None:
    value = "10m" if given else "-1"
    result = rewrite(f"SET {THRESHOLD} = {value};\n{reset};\n{JOIN}", known(given), when="auto")
    assert [candidate.verdict.value for candidate in result.candidates] == [verdict]


def test_a_snapshot_and_the_settings_say_what_pays(tmp_path: Path) -> None:
    text = snapshot.write(known({THRESHOLD: "-1", DPP: "true"}))
    assert snapshot.read(text, "here").settings == {THRESHOLD: "-1", DPP: "true"}
    Path(tmp_path, "warehouse.json").write_text(text)
    settings = f'catalog = ["warehouse.json"]\n[spark-conf]\n"{DPP.lower()}" = false\n'
    Path(tmp_path, "dpp-rewrite.toml").write_text(settings)
    loaded = load_catalog(load(str(tmp_path), environment={}))
    assert loaded.settings == {THRESHOLD: "-1", DPP: "false"}


def test_another_engine_has_none_of_them() -> None:
    trino = engine("trino")
    assert engine_under(trino, {THRESHOLD: "-1"}) is trino


CALENDAR = """
CREATE TABLE sales (id INT, qty INT, day DATE) USING parquet PARTITIONED BY (day) TBLPROPERTIES (
  'spark.sql.statistics.totalSize' = '8000',
  'spark.sql.statistics.colStats.day.distinctCount' = '1000');
CREATE TABLE calendar (day DATE, year INT, label STRING) USING parquet TBLPROPERTIES (
  'spark.sql.statistics.totalSize' = '2800', 'spark.sql.statistics.numRows' = '2000',
  'spark.sql.statistics.colStats.day.distinctCount' = '2000',
  'spark.sql.statistics.colStats.year.distinctCount' = '20');
"""


@pytest.mark.parametrize(
    ("condition", "share", "basis"),
    [
        # 2,000 / 20 = 100 keys, in no more than 100 of 1,000 partitions.
        ("c.year = 2024", 0.9, "the filter's statistics"),
        ("c.year IN (2023, 2024)", 0.8, "the filter's statistics"),
        ("(c.year = 2023 OR c.year = 2024)", 0.8, "the filter's statistics"),
        # More keys than partitions: so many of them as of the dimension's rows.
        ("c.year IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)", 0.25, "the filter's"),
        ("c.year = 2024 AND c.label LIKE 'a%'", 0.9, "the filter's statistics"),
        # Nothing is known of the condition: Spark's own ratio, as there are more keys than values.
        ("c.label = 'a'", 0.5, "Spark's ratio"),
        ("(c.year = 2024 OR c.label = 'a')", 0.5, "Spark's ratio"),
    ],
)
def test_a_condition_keeps_its_share(condition: str, share: float, basis: str) -> None:
    sql = f"SELECT s.id FROM sales s JOIN calendar c ON s.day = c.day WHERE {condition}"
    estimate = only(sql, Catalog.from_ddl(CALENDAR), "eligible").estimate
    assert estimate is not None
    assert estimate.share == pytest.approx(share)
    assert estimate.basis.startswith(basis)
    # Of sales half is read, id of id and qty; of calendar day and year, or all with the label.
    assert (estimate.scans, estimate.rows) == (4000, 2000)
    assert estimate.reads == (
        2800 if "label" in condition and "year" in condition else estimate.reads
    )
    assert estimate.saves == round(share * 4000)


def test_an_estimate_of_what_is_not_known() -> None:
    estimate = only(JOIN, known({}), "eligible").estimate
    assert estimate is not None
    assert (estimate.reads, estimate.rows, estimate.scans, estimate.saves) == (
        None,
        None,
        None,
        None,
    )


def _counted(table: str, columns: str, size: int, rows: int, **distinct: int) -> str:
    """A table with statistics as Spark's metastore shows them."""
    counts = "".join(
        f", 'spark.sql.statistics.colStats.{name}.distinctCount' = '{count}'"
        for name, count in distinct.items()
    )
    partitioned = "PARTITIONED BY (day)" if "day" in columns else ""
    return (
        f"CREATE TABLE {table} ({columns}) USING parquet {partitioned} "
        f"TBLPROPERTIES ('spark.sql.statistics.totalSize' = '{size}', "
        f"'spark.sql.statistics.numRows' = '{rows}'{counts});"
    )


SALES = _counted("sales", "id INT, day INT", 10**9, 10**7, day=1000)
DAYS = _counted("days", "d INT, week INT, year INT", 12_000, 1000, d=1000, week=140, year=3)
THROUGH = (
    "SELECT s.id FROM sales s JOIN days c ON s.day = c.d JOIN visits v ON c.week = v.week "
    "WHERE v.kind = 7"
)


def _visits(size: int, **distinct: int) -> str:
    return _counted("visits", "week INT, kind INT, day INT", size, 10**4, **distinct)


@pytest.mark.parametrize(
    ("visits", "where", "through"),
    [
        # One of its 10,000 rows is left: one week of 140.
        (_visits(10**6, week=140, kind=10**4), "", True),
        # 1,000 rows are left, in any of the weeks.
        (_visits(10**6, week=140, kind=10), "", False),
        # Reading it costs more than all of the fact.
        (_visits(10**10, week=140, kind=10**4), "", False),
        # Beside what the dimension's own filter leaves, the rest is worth so much and no more.
        (_visits(10**6, week=140, kind=10**4), " AND c.year = 2024", True),
        (_visits(9 * 10**8, week=140, kind=10**4), " AND c.year = 2024", False),
        # How many values there are is not known.
        (_visits(10**6), "", False),
    ],
)
def test_neighbours_are_followed_through_facts_where_it_pays(
    visits: str, where: str, through: bool
) -> None:
    catalog, sql = Catalog.from_ddl(SALES + DAYS + visits), THROUGH + where
    assert ("FROM visits AS" in rewrite(sql, catalog).sql) == through
    assert "FROM visits AS" not in rewrite(sql, catalog, through_facts=False).sql


def test_what_follows_without_a_fact_is_kept_where_the_fact_is_too_large() -> None:
    """Through a fact of no known size nothing follows, but from the dimension alone."""
    plain = Catalog.from_ddl(
        "CREATE TABLE sales (id INT, day INT) USING parquet PARTITIONED BY (day);"
        "CREATE TABLE days (d INT, week INT, year INT) USING parquet;"
        "CREATE TABLE visits (week INT, kind INT, day INT) USING parquet PARTITIONED BY (day);"
    )
    sql = f"{THROUGH} AND c.year = 2024"
    assert rewrite(sql, plain).changed
    assert rewrite(sql, plain, through_facts=True).sql == rewrite(sql, plain).sql
