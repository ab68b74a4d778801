"""``verify --sample``: both texts on the same few partitions of each fact, and a wrong predicate
found there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from sqlrewrite import Catalog, Rewrite, rewrite
from sqlrewrite.cli.commands import program
from sqlrewrite.spark.rows.sample import Sampled, sampled
from sqlrewrite.spark.rows.verify import How, Verified, VerifyOutcome, verify_text
from sqlrewrite.spark.script import pairs
from sqlrewrite.spark.session import Session
from sqlrewrite.spark.target import Target
from sqlrewrite.sql.statements.effects import references, renamed
from tests.spark.runs import THRESHOLD, in_database, temporary_views

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAYS, WINTER = 24, 8
ROWS_A_DAY = 500  # a sample as small as the dimension would not be worth pruning to Spark

DDL = """
CREATE TABLE sold (amount INT, day INT) USING parquet PARTITIONED BY (day);
CREATE TABLE returned (amount INT, day INT) USING parquet PARTITIONED BY (day);
CREATE TABLE visits (visitor INT, day DATE, place STRING) USING parquet
    PARTITIONED BY (day, place);
CREATE TABLE days (day INT, season STRING) USING parquet;
CREATE TABLE dates (day DATE, season STRING) USING parquet;
CREATE VIEW sales AS SELECT day AS sold_on, amount FROM sold;
CREATE VIEW sales_above (sold_on, euros) AS SELECT sold_on, amount FROM sales WHERE amount > 3
"""
ROWS = f"""
INSERT INTO sold SELECT id, id % {DAYS} FROM range(0, {ROWS_A_DAY * DAYS}, 1, 1);
INSERT INTO sold VALUES (7, NULL);
INSERT INTO returned SELECT id, id % {DAYS} FROM range(0, {ROWS_A_DAY * DAYS}, 1, 1);
INSERT INTO visits SELECT id, DATE'2024-01-01' + INT(id % 5),
    element_at(array('a/b=c', 'it\\'s', 'x y', NULL), INT(id % 4) + 1)
    FROM range(0, {ROWS_A_DAY * 20}, 1, 1);
INSERT INTO days SELECT id, IF(id < {WINTER}, 'winter', 'summer') FROM range(0, {DAYS}, 1, 1);
INSERT INTO dates SELECT DATE'2024-01-01' + INT(id), IF(id < 2, 'winter', 'summer')
    FROM range(0, 5, 1, 1)
"""

INNER = "SELECT s.day, s.amount FROM sold s JOIN days d ON s.day = d.day WHERE d.season = 'winter'"


@pytest.fixture(scope="module")
def warehouse(spark: SparkSession) -> Iterator[SparkSession]:
    with in_database(spark, "sampled", f"{DDL};{ROWS}".split(";")):
        yield spark


@pytest.fixture(scope="module")
def known() -> Catalog:
    return Catalog.from_ddl(f"USE sampled; {DDL}").use("sampled")


def verified(spark: SparkSession, rewritten: Rewrite, known: Catalog, count: int) -> Verified:
    pairs: list[Verified] = []
    session = Session(spark.newSession(), Target("local"), classic=True)
    session.spark.conf.set(THRESHOLD, "-1")  # or Spark would prune by itself
    session.spark.conf.set("spark.sql.adaptive.enabled", "false")  # a fifth of the time
    verify_text(session, "q.sql", rewritten, known, pairs.append, How(timeout=300, sample=count))
    assert not [
        temporary_view
        for temporary_view in temporary_views(session.spark)
        if temporary_view.startswith("dpp")
    ]
    return pairs[-1]


def wrong(done: Rewrite, old: str, new: str) -> Rewrite:
    """A rewriting whose predicate says something else."""
    problems = []
    sql = done.sql
    for candidate in done.candidates:
        if candidate.predicate is not None:
            assert old in candidate.predicate
            sql = sql.replace(candidate.predicate, candidate.predicate.replace(old, new))
            candidate = replace(candidate, predicate=candidate.predicate.replace(old, new))
        problems.append(candidate)
    assert sql != done.sql
    return replace(done, sql=sql, candidates=tuple(problems))


def _case(name: str, sql: str, *facts: str, long: bool = False) -> Any:
    """A query, and the facts of which ten partitions are taken, of which five are kept."""
    return pytest.param(sql, facts, id=name, marks=[pytest.mark.long] if long else [])


@pytest.mark.spark
@pytest.mark.turns(2)
@pytest.mark.parametrize(
    ("sql", "facts"),
    [
        _case("plain", INNER, "sold"),
        _case(
            "with-catalog",
            INNER.replace("sold s", "Spark_Catalog.sampled.`sold`").replace("s.", "sold."),
            "sold",
            long=True,
        ),
        _case(
            "view",
            "SELECT v.euros FROM sales_above v JOIN days d ON v.sold_on = d.day "
            "WHERE d.season = 'winter'",
            "sold",
        ),
        _case(
            "cte",
            "WITH sold AS (SELECT * FROM sampled.sold WHERE amount > 2) "
            f"{INNER} ORDER BY s.amount LIMIT 5",
            "sold",
        ),
        _case(
            "two-facts",
            "SELECT s.amount, r.amount FROM sold s JOIN days d ON s.day = d.day "
            "JOIN returned r ON r.day = s.day AND r.amount < 400 WHERE d.season = 'winter'",
            "sold",
            "returned",
        ),
        _case(
            "outer",
            "SELECT d.day, s.amount FROM days d LEFT JOIN sold s ON s.day = d.day "
            "WHERE d.season = 'winter'",
            "sold",
            long=True,
        ),
        _case(
            "two-columns",
            "SELECT v.visitor FROM visits v JOIN dates d ON v.day = d.day "
            "WHERE d.season = 'winter'",
            "visits",
            long=True,
        ),
        _case(
            "temporary",
            "CREATE TEMPORARY VIEW mine AS SELECT * FROM sold; SELECT s.amount FROM mine s "
            "JOIN days d ON s.day = d.day WHERE d.season = 'winter'",
            "sold",
            long=True,
        ),
    ],
)
def test_both_sides_read_the_sample(
    warehouse: SparkSession, known: Catalog, sql: str, facts: tuple[str, ...]
) -> None:
    result = rewrite(sql, known)
    assert result.changed
    verdicts = verified(warehouse, result, known, 10)
    assert verdicts.outcome in (VerifyOutcome.SAME, VerifyOutcome.TIES)
    assert verdicts.comparison is not None
    assert verdicts.comparison.before > 0
    read = {
        table.table.rpartition(".")[2]: (len(table.taken), table.kept) for table in verdicts.sample
    }
    assert read == dict.fromkeys(facts, (10, 5))
    for scan in verdicts.scans:
        assert scan.partitions == 10
        assert scan.before is not None
        assert scan.after is not None
        assert 0 < (scan.after.partitions or 0) <= 5
        assert 9 <= (scan.before.partitions or 0) <= 10


@pytest.mark.spark
@pytest.mark.parametrize(
    "keeps",
    ["< 6", *(pytest.param(text, marks=pytest.mark.long) for text in ("> 5", "% 2 = 0", "<> 7"))],
)
def test_a_wrong_predicate_is_found(warehouse: SparkSession, known: Catalog, keeps: str) -> None:
    """Winter is the first days of all, each wrong predicate leaves out at least one of them."""
    unsound = wrong(rewrite(INNER, known), "= 'winter'", f"= 'winter' AND d2.day {keeps}")
    verdicts = verified(warehouse, unsound, known, 20)
    assert verdicts.sample[0].partitions == DAYS + 1
    assert verdicts.outcome is VerifyOutcome.DIFFERENT


@pytest.mark.spark
@pytest.mark.long
def test_one_kind_of_partition_would_find_nothing(warehouse: SparkSession, known: Catalog) -> None:
    """The wrong predicate shows in the partitions that it drops, and in those alone."""
    unsound = wrong(rewrite(INNER, known), "= 'winter'", "= 'winter' AND d2.day < 6")
    verdicts = verified(warehouse, unsound, known, 12)
    (sample,) = verdicts.sample
    assert (sample.kept, sample.taken[1]) == (6, "day=NULL")
    assert {"day=6", "day=7"} & set(sample.taken) == {"day=6"}
    assert verdicts.outcome is VerifyOutcome.DIFFERENT
    assert verdicts.comparison is not None
    assert verdicts.comparison.lost == ROWS_A_DAY

    # What no partition of the sample shows is not found: so it is called a sample's outcome.
    unsound = wrong(rewrite(INNER, known), "= 'winter'", "= 'winter' AND d2.day <> 7")
    assert verified(warehouse, unsound, known, 12).outcome is VerifyOutcome.SAME


@pytest.mark.spark
def test_the_same_sample_each_time(warehouse: SparkSession, known: Catalog) -> None:
    session = Session(warehouse, Target("local"), classic=True)
    (pair,) = pairs("q.sql", rewrite(INNER, known))

    def taken(count: int) -> tuple[str, ...]:
        with sampled(session, pair, known, count) as (_, (rows,)):
            return rows.taken

    first = taken(6)
    assert taken(6) == first
    assert len(first) == 6
    assert set(first) <= set(taken(8))


@pytest.mark.spark
def test_what_is_read_whole(warehouse: SparkSession, known: Catalog) -> None:
    sql = INNER.replace("s.amount", "s._metadata.file_path")
    verdicts = verified(warehouse, rewrite(sql, known), known, 10)
    assert verdicts.outcome is VerifyOutcome.SAME
    assert "files" in verdicts.sample[0].whole
    assert verdicts.sample[0].taken == ()
    assert verdicts.scans[0].partitions == DAYS + 1

    small = verified(warehouse, rewrite(INNER, known), known, 100)
    assert small.sample[0].kept == WINTER
    assert small.scans[0].before is not None
    assert small.scans[0].before.partitions == DAYS  # all but that of NULL


@pytest.mark.spark
def test_the_command(warehouse: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "ddl.sql").write_text(f"USE sampled;{DDL}", "utf-8")
    (tmp_path / "q.sql").write_text(f"SET {THRESHOLD} = -1;\n{INNER}", "utf-8")
    args = ["verify", "-c", str(tmp_path / "ddl.sql"), "--schema", "sampled", "--sample", "8"]
    run = CliRunner()
    result = run.invoke(program, [*args, str(tmp_path / "q.sql")], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert (
        f"q.sql:2: same rows ({4 * ROWS_A_DAY:,}) on a sample of 8 of {DAYS + 1} partitions"
        in result.stdout
    )
    kept = "8 of 25 partitions, 4 that a predicate keeps and 4 that it does not (day="
    assert f"    sampled.sold: {kept}" in result.stdout
    words = [line.split() for line in result.stdout.splitlines()]
    assert ["sampled.sold", "partitions", "of", "8", "7", "4"] in words

    args += ["--format", "json"]
    result = run.invoke(program, [*args, str(tmp_path / "q.sql")], catch_exceptions=False)
    (sample,) = json.loads(result.stdout)["statements"][0]["sample"]
    assert (sample["table"], sample["partitions"], sample["kept"]) == (
        "spark_catalog.sampled.sold",
        25,
        4,
    )
    assert len(sample["taken"]) == 8


# Without a Spark


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("SELECT t.a FROM t", "SELECT t.a FROM x AS `t`"),
        ("SELECT a FROM A.`b c` AS t, u", "SELECT a FROM x AS t, x AS `u`"),
        ("WITH t AS (SELECT 1 FROM t) SELECT 1 FROM t", "WITH t AS (SELECT 1 FROM x AS `t`) SELECT "
         "1 FROM t"),
        ("WITH t AS (SELECT 1) SELECT 1 FROM s.t JOIN t", "WITH t AS (SELECT 1) SELECT 1 FROM x AS "
         "`t` JOIN t"),
        ("SELECT 1 WHERE EXISTS (WITH t AS (SELECT 1) SELECT 1 FROM t) AND 1 IN (SELECT a FROM t)",
         "SELECT 1 WHERE EXISTS (WITH t AS (SELECT 1) SELECT 1 FROM t) AND 1 IN (SELECT a FROM x AS"
         " `t`)"),
        ("SELECT /*+ BROADCAST(t) */ 1 FROM range(3)", None),
        ("SELECT 1; SELECT 1 FROM t", None),
    ],
)  # fmt: skip
def test_names_in_place_of_names(text: str, after: str | None) -> None:
    assert renamed(text, [(reference, "x") for reference in references(text)]) == (after or text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1 FROM t VERSION AS OF 3",
        "SELECT 1 FROM t TABLESAMPLE (3 ROWS)",
        "SELECT s.t.a FROM s.t",
        "SELECT t._metadata.file_name FROM t",
    ],
)
def test_what_only_a_table_takes(text: str) -> None:
    assert [reference.plain for reference in references(text)] == [False]


def test_what_is_said_of_a_sample() -> None:
    from sqlrewrite.report.verify import verified_page

    pair = Verified(
        "q.sql", 1, VerifyOutcome.SAME, sample=(Sampled("a.b", 1823, ("p=1", "p=2"), 2),)
    )
    assert "same rows on a sample of 2 of 1,823 partitions" in verified_page([pair])
