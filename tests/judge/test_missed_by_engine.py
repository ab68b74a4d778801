"""``when = missed``: what the engine is taken to prune by itself, and what it is taken to miss.

The 99 TPC-DS queries, on which Spark was measured, are in ``tpcds/test_tpcds_predictions``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlrewrite import Candidate, Catalog, ConfigError, rewrite
from sqlrewrite.copies import replace
from sqlrewrite.document import read
from sqlrewrite.judge.benefit import already_pruned
from sqlrewrite.judge.planners import build_side, flink, join_order
from sqlrewrite.plan.algebra import Derived, SetOperation
from sqlrewrite.rulebook import rules_folder
from sqlrewrite.text.limits import Limits
from sqlrewrite.warehouse import Table
from tests.spark import test_spark_placements as placements

DDL = """
CREATE TABLE sales (id INT, store INT, amount INT, day DATE) USING parquet PARTITIONED BY (day);
CREATE TABLE returns (id INT, store INT, day DATE) USING parquet PARTITIONED BY (day);
CREATE TABLE old (id INT, store INT, day TIMESTAMP) USING parquet PARTITIONED BY (day);
CREATE TABLE hours (day TIMESTAMP, year INT) USING parquet;
CREATE TABLE calendar (day DATE, year INT, week INT, holiday BOOLEAN, label STRING) USING parquet;
CREATE TABLE stores (store INT, city STRING, opened DATE) USING parquet;
"""

PRUNED = {
    "join": "SELECT s.id FROM sales s JOIN calendar c ON s.day = c.day WHERE c.year = 2024",
    "dimension first": "SELECT s.id FROM calendar c JOIN sales s ON s.day = c.day "
    "WHERE c.year = 2024",
    "comma": "SELECT s.id FROM sales s, calendar c WHERE s.day = c.day AND c.year = 2024",
    "comma before a derived table": "SELECT s.id FROM calendar c, (SELECT id, day FROM sales) s "
    "WHERE s.day = c.day AND c.year = 2024",
    "the planner joins the dimension last": "SELECT s.id FROM calendar c, stores t, sales s "
    "WHERE s.day = c.day AND s.store = t.store AND c.year = 2024",
    "using": "SELECT s.id FROM sales s JOIN calendar c USING (day) WHERE c.year = 2024",
    "semi": "SELECT s.id FROM sales s LEFT SEMI JOIN calendar c ON s.day = c.day AND c.year = 2024",
    "exists": "SELECT s.id FROM sales s "
    "WHERE EXISTS (SELECT 1 FROM calendar c WHERE c.day = s.day AND c.year = 2024)",
    "an outer join that is none": "SELECT s.id FROM sales s LEFT JOIN calendar c "
    "ON s.day = c.day WHERE c.year = 2024",
    "inferred over an equality": "SELECT s.id FROM sales s JOIN calendar c ON s.day = c.day "
    "JOIN calendar w ON c.week = w.week WHERE w.week = 5",
    "a subquery as the filter": "SELECT s.id FROM sales s JOIN calendar c ON s.day = c.day "
    "WHERE c.week IN (SELECT w.week FROM calendar w WHERE w.year = 2024)",
    "filtered inside": "SELECT s.id FROM sales s "
    "JOIN (SELECT day FROM calendar WHERE year = 2024) c ON s.day = c.day",
    "union of the same types": "SELECT u.id FROM (SELECT id, day FROM sales UNION ALL "
    "SELECT id, day FROM returns) u JOIN calendar c ON u.day = c.day WHERE c.year = 2024",
    "hinted to broadcast it": "SELECT /*+ MAPJOIN(C) */ s.id FROM sales s "
    "JOIN calendar c ON s.day = c.day WHERE c.year = 2024",
    "a union of dimensions": "SELECT s.id FROM sales s JOIN (SELECT day FROM calendar "
    "WHERE year = 2024 UNION SELECT day FROM hours WHERE year = 2023) c ON s.day = c.day",
    "a range": "SELECT s.id FROM sales s JOIN (SELECT date_add(DATE '2024-01-01', CAST(id AS INT)) "
    "AS day FROM range(9) WHERE id > 3) c ON s.day = c.day",
    "the last rows of a window": "SELECT s.id FROM sales s JOIN (SELECT day, rank() OVER "
    "(ORDER BY week) AS r FROM calendar) c ON s.day = c.day WHERE c.r > 2",
    "another type": "SELECT o.id FROM old o JOIN calendar c ON o.day = c.day WHERE c.year = 2024",
}

MISSED = {
    "the first rows of a window": (
        "SELECT s.id FROM sales s JOIN (SELECT day, week, rank() OVER (ORDER BY week) AS r "
        "FROM calendar) c ON s.day = c.day WHERE c.r <= 2 AND c.week = 5",
        "`c` keeps only the first rows of a window",
    ),
    "the first rows of a window, inside": (
        "SELECT s.id FROM sales s JOIN (SELECT x.day FROM (SELECT day, rank() OVER (ORDER BY week) "
        "AS r FROM calendar WHERE week = 5) x WHERE x.r <= 2) c ON s.day = c.day",
        "`c` keeps only the first rows of a window",
    ),
    "VALUES, of which an unknown version": (
        "SELECT s.id FROM sales s JOIN (VALUES (DATE'2024-01-01')) c(day) ON s.day = c.day",
        "before 4.3 it does not prune by VALUES",
    ),
    "the filter is one relation further": (
        "SELECT s.id FROM sales s JOIN calendar c ON s.day = c.day "
        "JOIN calendar w ON c.week = w.week WHERE w.year = 2024",
        "nothing filters `calendar` in its join",
    ),
    "the dimension is joined to its neighbour first": (
        "SELECT s.id FROM calendar w, calendar c, sales s "
        "WHERE s.day = c.day AND c.week = w.week AND w.year = 2024",
        "too large to be broadcast",
    ),
    "a neighbour knows more": (
        "SELECT s.id FROM sales s JOIN calendar c ON s.day = c.day "
        "JOIN calendar w ON c.week = w.week WHERE w.year = 2024 AND c.label > 'a'",
        "a neighbour of the dimension restricts the keys further",
    ),
    "the dimension is preserved": (
        "SELECT c.day FROM calendar c LEFT JOIN sales s ON s.day = c.day WHERE c.year = 2024",
        "with the fact ",
    ),
    "anti-join": (
        "SELECT c.day FROM calendar c LEFT ANTI JOIN sales s ON s.day = c.day WHERE c.year = 2024",
        "with the fact ",
    ),
    "inside of an EXISTS": (
        "SELECT c.day FROM calendar c WHERE c.year = 2024 "
        "AND EXISTS (SELECT 1 FROM sales s WHERE s.day = c.day)",
        "with the fact ",
    ),
    "cross join": (
        "SELECT s.id FROM sales s CROSS JOIN calendar c WHERE s.day = c.day AND c.year = 2024",
        "no equality joins the fact",
    ),
    "cross join with a derived table": (
        "SELECT s.id FROM calendar c CROSS JOIN (SELECT id, day FROM sales) s "
        "WHERE s.day = c.day AND c.year = 2024",
        "no equality joins the fact",
    ),
    "a range": (
        "SELECT s.id FROM sales s JOIN calendar c ON s.day >= c.day WHERE c.year = 2024",
        "no equality joins the fact",
    ),
    "a cast over a union": (
        "SELECT u.id FROM (SELECT id, day FROM sales UNION ALL SELECT id, day FROM returns) u "
        "JOIN hours h ON u.day = h.day WHERE h.year = 2024",
        "a cast above the UNION hides the column",
    ),
    "intersect": (
        "SELECT u.id FROM (SELECT id, day FROM sales INTERSECT SELECT id, day FROM returns) u "
        "JOIN calendar c ON u.day = c.day WHERE c.year = 2024",
        "does not reach the join unchanged",
    ),
    "a subquery that filters nothing": (
        "SELECT s.id FROM sales s JOIN calendar c ON s.day = c.day "
        "WHERE c.week IN (SELECT w.week FROM calendar w)",
        "nothing filters `calendar` in its join",
    ),
    "a dimension that is a join": (
        "SELECT s.id FROM sales s JOIN (SELECT a.day FROM calendar a JOIN calendar b "
        "ON a.week = b.week WHERE b.year = 2024) c ON s.day = c.day",
        "too large to be broadcast",
    ),
    "a hint to broadcast the fact too": (
        "SELECT /*+ BROADCAST(c, s) */ s.id FROM sales s JOIN calendar c ON s.day = c.day "
        "WHERE c.year = 2024",
        "a join hint rules out a broadcast",
    ),
    "a hint": (
        "SELECT /*+ MERGE(c) */ s.id FROM sales s JOIN calendar c ON s.day = c.day "
        "WHERE c.year = 2024",
        "a join hint rules out a broadcast",
    ),
}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.from_ddl(DDL)


def _only(sql: str, catalog: Catalog) -> Candidate:
    """The candidate of ``sales`` or ``old`` whose column is bounded, or would be."""
    candidates = rewrite(sql, catalog, when="missed").candidates
    shown = [
        candidate
        for candidate in candidates
        if candidate.verdict.value == "rewritten" or _code(candidate) == "DPP125"
    ]
    assert shown, [(candidate.verdict, candidate.reason) for candidate in candidates]
    return shown[0]


def _code(candidate: Candidate) -> str | None:
    return candidate.reason.code if candidate.reason is not None else None


def _said(candidate: Candidate) -> str:
    return next(rule.message for rule in candidate.rules if rule.code == "DPP125")


@pytest.mark.parametrize("case", PRUNED)
def test_what_the_engine_prunes_is_left_to_it(case: str, catalog: Catalog) -> None:
    sql = PRUNED[case]
    assert rewrite(sql, catalog).changed, "the case shows nothing: no predicate in any case"
    result = rewrite(sql, catalog, when="missed")
    assert result.sql == sql
    assert {_code(candidate) for candidate in result.candidates} == {"DPP125"}


@pytest.mark.parametrize("case", MISSED)
def test_what_the_engine_misses_is_written(case: str, catalog: Catalog) -> None:
    sql, why = MISSED[case]
    result = rewrite(sql, catalog, when="missed")
    assert result.sql == rewrite(sql, catalog).sql != sql
    assert why in _said(_only(sql, catalog))
    assert rewrite(result.sql, catalog, when="missed").sql == result.sql


@pytest.mark.parametrize("case", PRUNED)
def test_a_predicate_of_an_earlier_run_goes_and_comes_again(case: str, catalog: Catalog) -> None:
    eligible = rewrite(PRUNED[case], catalog).sql
    missed = rewrite(eligible, catalog, when="missed")
    assert missed.sql == PRUNED[case]
    assert rewrite(missed.sql, catalog).sql == eligible


@pytest.mark.parametrize("case", placements.CASES.values(), ids=placements.CASES)
def test_what_was_measured_on_spark_is_predicted(case: placements.Case) -> None:
    """``test_spark_placements`` measures ``natively`` on the scans."""
    catalog = Catalog.from_ddl(placements.DDL)
    assert rewrite(case.sql, catalog).changed
    assert rewrite(case.sql, catalog, when="missed").changed is not case.natively


def test_a_limit_in_between_stops_the_engine_too(catalog: Catalog) -> None:
    sql = (
        "SELECT s.id FROM (SELECT id, day FROM sales ORDER BY id LIMIT 9) s "
        "JOIN calendar c ON s.day = c.day WHERE c.year = 2024"
    )
    (candidate,) = rewrite(sql, catalog, when="missed").candidates
    assert _code(candidate) == "DPP105"
    assert "does not reach the join unchanged" in _said(candidate)


def test_eligible_is_what_it_was(catalog: Catalog) -> None:
    for sql in PRUNED.values():
        for candidate in rewrite(sql, catalog).candidates:
            assert all(
                rule.outcome.value == "pass" for rule in candidate.rules if rule.code == "DPP125"
            )


def test_a_cte_with_a_reader_that_the_engine_misses(catalog: Catalog) -> None:
    """The predicate lies in the CTE, so it allows what each reader asks for, or there is none."""
    cte = (
        "WITH f AS (SELECT id, day FROM sales) SELECT f.id FROM f JOIN calendar c ON f.day = c.day "
    )
    where, missed = "WHERE c.year = 2024", "JOIN calendar w ON c.week = w.week WHERE w.year = 2025"
    reader = " UNION ALL SELECT f.id FROM f JOIN calendar c ON f.day = c.day "
    both = f"{cte}{where}{reader}{missed}"
    assert rewrite(both, catalog, when="missed").sql == rewrite(both, catalog).sql != both
    none = f"{cte}{where}{reader}{where.replace('2024', '2025')}"
    assert rewrite(none, catalog).changed
    assert not rewrite(none, catalog, when="missed").changed


def test_sizes_decide_whether_the_dimension_is_broadcast(catalog: Catalog) -> None:
    sql = PRUNED["join"]
    for size, changed in ((10 * 2**20, False), (10 * 2**20 + 1, True)):
        sized = catalog
        for name, bytes_ in (("calendar", size), ("sales", 10**12)):
            table = catalog.resolve((name,))
            assert isinstance(table, Table)
            sized = sized.with_relation(replace(table, size_in_bytes=bytes_))
        assert rewrite(sql, sized, when="missed").changed is changed


def test_an_engine_without_broadcasts_misses_all(tmp_path: Path, catalog: Catalog) -> None:
    text = (rules_folder() / "engines" / "spark.toml").read_text("utf-8")
    path = tmp_path / "spark.toml"
    path.write_text(text.replace("broadcast_threshold = 10485760", "broadcast_threshold = -1"))
    for sql in PRUNED.values():
        hinted = "MAPJOIN" in sql  # a hint makes a broadcast of whatever size
        assert rewrite(sql, catalog, engine=str(path), when="missed").changed is not hinted


def test_a_planner_that_is_not_there_is_an_error(tmp_path: Path, catalog: Catalog) -> None:
    text = (rules_folder() / "engines" / "spark.toml").read_text("utf-8")
    path = tmp_path / "own.toml"
    path.write_text(text.replace("[native]", '[native]\nplanner = "sparc"'))
    with pytest.raises(ConfigError, match="`planner = 'sparc'` is none of spark"):
        rewrite(PRUNED["join"], catalog, engine=str(path), when="missed")


def test_another_word_is_refused(catalog: Catalog) -> None:
    with pytest.raises(
        ConfigError, match=r"when must be 'eligible' or 'missed' or 'auto', not 'mised'"
    ):
        rewrite("SELECT 1", catalog, when="mised")


class Unseen:
    """A kind of node that nothing knows."""


def test_a_kind_of_node_that_a_planner_has_not_met_is_in_the_way() -> None:
    reading = read("SELECT s.id FROM sales s", Catalog.from_ddl(DDL), Limits()).statements[0]
    assert reading.bound is not None
    query = reading.bound.plan.query
    unseen = replace(query, node=Unseen())
    assert flink.passed((), query)
    assert not flink.passed((), unseen)
    assert not build_side.windowed(query)
    assert build_side.windowed(unseen)
    assert join_order.only_unions(query)
    assert not join_order.only_unions(unseen)


def test_a_branch_below_a_kind_of_node_that_is_not_known_may_be_on_the_right() -> None:
    text = "SELECT q.id FROM (SELECT s.id FROM sales s UNION SELECT r.id FROM returns r) q"
    reading = read(text, Catalog.from_ddl(DDL), Limits()).statements[0]
    assert reading.bound is not None
    plan = reading.bound.plan
    (derived,) = (one for one in plan.relations.values() if isinstance(one, Derived))
    assert not already_pruned._right_of_joins(plan)
    for node in (Unseen(), SetOperation(Unseen(), derived.query.node, "union")):  # type: ignore[arg-type]
        unseen = replace(derived, query=replace(derived.query, node=node))
        changed = replace(plan, relations={**plan.relations, derived.relation: unseen}, memo={})
        assert already_pruned._right_of_joins(changed) == {*derived.query.top}
