"""``--predicate values`` on Spark: keys as literals, what is read with them, and a later run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from sqlrewrite import Catalog, rewrite
from sqlrewrite.cli.commands import program
from sqlrewrite.settings.options import RefusedError, ResolveError
from sqlrewrite.spark.target import SparkError
from sqlrewrite.spark.values import resolve, resolver
from tests.support.compare_rows import difference

from .runs import broadcast_joins, in_database, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

# --- key queries ----------------------------------------------------------------------------------


@pytest.mark.turns(3)
@pytest.mark.parametrize(
    ("keys", "kind", "literals"),
    [
        ("(3), (1), (NULL), (3), (-2)", "int", ("-2", "1", "3")),
        ("('b'), ('a;--'), ('ä')", "string", ("'a;--'", "'b'", "'ä'")),
        (
            "(DATE'2024-02-01'), (DATE'0999-01-01')",
            "date",
            ("DATE '0999-01-01'", "DATE '2024-02-01'"),
        ),
        ("(1.50BD), (-2.25BD)", "decimal(3,2)", ("-2.25", "1.50")),
        ("(-9223372036854775808L), (9223372036854775807L)", "bigint", None),
        ("(CAST(NULL AS INT))", "int", ()),
        ("(-128Y), (127Y)", "tinyint", ("-128", "127")),
        ("(-32768S), (32767S)", "smallint", ("-32768", "32767")),
        (f"({'9' * 38}BD), (-{'9' * 38}BD)", "decimal(38,0)", (f"-{'9' * 38}", "9" * 38)),
        (f"(1.{'0' * 36}1BD), (0BD)", "decimal(38,37)", (f"0.{'0' * 37}", f"1.{'0' * 36}1")),
        ("(DATE'0001-01-01'), (DATE'9999-12-31')", "date", None),
        ("('50%'), ('a}'), ('')", "string", ("''", "'50%'", "'a}'")),
    ],
)
def test_literals(
    spark: SparkSession, keys: str, kind: str, literals: tuple[str, ...] | None
) -> None:
    query = f"SELECT k FROM VALUES {keys} AS t(k)"
    table = resolve(spark, query)
    assert (table.kind, table.collapsed) == (kind, False)
    if literals is not None:
        assert table.literals == literals
    if table.literals:  # they mean to Spark what they were made of
        again = spark.sql(f"{query} WHERE k IN ({', '.join(table.literals)})")
        assert again.distinct().count() == len(table.literals)


@pytest.mark.turns(4)
@pytest.mark.parametrize("limit", [10, 1])
@pytest.mark.parametrize(
    "keys",
    [
        "(DATE'-0001-01-01'), (DATE'2024-01-01')",
        "(DATE'0000-12-31'), (DATE'2024-01-01')",
        "(DATE'+10000-01-01'), (DATE'2024-01-01')",
        f"(CAST('0.1' AS DECIMAL(38,38))), (CAST('-0.{'9' * 38}' AS DECIMAL(38,38)))",
        "('{q}'), ('a')",
        "('%(x)s'), ('a')",
        "('&y'), ('a')",
        "('$x'), ('a')",
        "('/* dpp-rewrite */'), ('+')",
        "(CAST(X'FF' AS STRING)), ('a')",
        "('\u2028'), ('a')",
        "('\u00a0'), ('')",
    ],
)
def test_what_not_every_engine_reads_is_refused(spark: SparkSession, keys: str, limit: int) -> None:
    with pytest.raises(RefusedError):
        resolve(spark, f"SELECT k FROM VALUES {keys} AS t(k)", collapse_over=limit)


def test_caps(spark: SparkSession) -> None:
    query = "SELECT id % 10 AS k FROM range(100)"
    assert len(resolve(spark, query, collapse_over=10).literals) == 10
    table = resolve(spark, query, collapse_over=9)
    assert (table.literals, table.collapsed) == (("0", "9"), True)
    for collapse_over in (5, 50):
        with pytest.raises(RefusedError, match="there are 10, and more than 9 are refused"):
            resolve(spark, query, collapse_over=collapse_over, refuse_over=9)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT 1.5D AS k", "type double"),
        ("SELECT current_timestamp() AS k", "type timestamp"),
        ("SELECT true AS k", "type boolean"),
        ("SELECT 'it\\'s' AS k", "not every engine reads alike"),
        ("SELECT 'a\\\\b' AS k", "not every engine reads alike"),
        ("SELECT 'a{{b' AS k", "not every engine reads alike"),
    ],
)
def test_what_is_refused(spark: SparkSession, query: str, why: str) -> None:
    with pytest.raises(RefusedError, match=why):
        resolve(spark, query)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT 1, 2", "has one column, this one 2"),
        ("SELECT nothing FROM nowhere", "the key query cannot be run: [TABLE_OR_VIEW_NOT_FOUND]"),
    ],
)
def test_what_cannot_be_run(spark: SparkSession, query: str, why: str) -> None:
    with pytest.raises(SparkError) as error:
        resolve(spark, query)
    assert why in str(error.value)
    with pytest.raises(ResolveError) as failure:
        resolver(spark)(query, ())
    assert query in str(failure.value)


# --- queries --------------------------------------------------------------------------------------

DDL = """
CREATE TABLE visits (amount INT, day INT) USING parquet PARTITIONED BY (day);
CREATE TABLE spans (day BIGINT, week INT, label STRING) USING parquet;
"""
ROWS = (
    "INSERT INTO visits SELECT id, id % 20 FROM range(0, 200, 1, 1)",
    "INSERT INTO spans SELECT id, id div 4, IF(id < 3, 'in', 'out') FROM range(0, 23, 1, 1)",
    "INSERT INTO spans VALUES (NULL, 1, 'in')",
)
QUERY = "SELECT v.amount FROM visits v JOIN spans s ON v.day = s.day WHERE s.label = 'in'"
PRUNING = "spark.sql.optimizer.dynamicPartitionPruning.enabled"


@pytest.fixture(scope="module")
def visits(spark: SparkSession) -> Iterator[SparkSession]:
    """The tables, of which no test changes a row."""
    with in_database(spark, "resolved", (*DDL.split(";")[:-1], *ROWS)):
        yield spark


@pytest.fixture
def changing(visits: SparkSession) -> Iterator[SparkSession]:
    """The tables, of which the test changes the dimension."""
    yield visits
    visits.sql("DROP TABLE IF EXISTS spans")
    for statement in (DDL.split(";")[1], *ROWS[1:]):
        visits.sql(statement)


@pytest.fixture
def ddl(tmp_path: Path) -> Path:
    path = tmp_path / "ddl.sql"
    path.write_text(DDL, encoding="utf-8")
    return path


@pytest.mark.turns(3)
@pytest.mark.parametrize(
    ("sql", "holds", "partitions"),
    [
        pytest.param(QUERY, "v.day IN (0, 1, 2)", 3, id="in"),
        pytest.param(QUERY.replace("'in'", "'out'"), "v.day BETWEEN 3 AND 22", 17, id="between"),
        pytest.param(QUERY.replace("v.day =", "v.day <"), "v.day < 2 /*", 2, id="below"),
        pytest.param(
            "SELECT s.day, v.amount FROM spans s LEFT JOIN visits v ON v.day = s.day "
            "WHERE s.label = 'in'",
            "ON v.day = s.day AND v.day IN (0, 1, 2)",
            3,
            id="null-extended",
        ),
        pytest.param(
            "SELECT s.day FROM spans s LEFT ANTI JOIN visits v ON v.day = s.day AND v.amount = 181 "
            "WHERE s.week = 0",
            "AND v.day IN (0, 1, 2, 3)",
            4,
            id="anti-join",
        ),
        pytest.param(
            "WITH c AS (SELECT amount, day FROM visits) "
            "SELECT c.amount FROM c JOIN spans s ON c.day = s.day WHERE s.label = 'in' UNION ALL "
            "SELECT c.amount FROM c JOIN spans s ON c.day = s.day WHERE s.week = 1",
            "visits.day IN (0, 1, 2, 4, 5, 6, 7)",
            7,
            id="shared-cte",
        ),
    ],
)
def test_partitions(visits: SparkSession, ddl: Path, sql: str, holds: str, partitions: int) -> None:
    """Literals prune with and without dynamic pruning, with and without broadcast joins."""
    ask = resolver(visits, collapse_over=10)
    written = rewrite(
        sql, Catalog.load(str(ddl), schema="resolved"), predicate="values", resolve=ask
    ).sql
    assert holds.replace("visits.", "") in written.replace("visits.", "")
    before = run(visits, sql)
    assert before.rows
    for pruning, broadcast in product(("true", "false"), (True, False)):
        visits.conf.set(PRUNING, pruning)
        try:
            with broadcast_joins(visits, broadcast):
                after = run(visits, written)
        finally:
            visits.conf.unset(PRUNING)
        assert difference(before.rows, after.rows) is None
        scans = sum(scan.table.endswith("visits") for scan in after.scans)
        read, most = after.partitions("visits"), partitions * max(1, scans)
        # Dynamic pruning may tell the references of a CTE apart, where the literals are for both.
        assert read <= most if pruning == "true" else read == most


def test_a_later_run_refreshes(changing: SparkSession, ddl: Path) -> None:
    catalog = Catalog.load(str(ddl), schema="resolved")

    def again(sql: str) -> str:  # each time with a resolver that has asked nothing yet
        return rewrite(sql, catalog, predicate="values", resolve=resolver(changing)).sql

    once = again(QUERY)
    stamp = once.partition("as of ")[2][:20]
    older = once.replace(stamp, "2001-01-01T00:00:00Z")
    assert older != once
    assert again(older) == older  # the same keys: the time stays, too
    changing.sql("INSERT INTO spans VALUES (7, 0, 'in')")
    refreshed = again(older)
    assert "v.day IN (0, 1, 2, 7) /* dpp-rewrite */ /* keys as of 2" in refreshed
    assert "2001" not in refreshed
    assert difference(run(changing, QUERY).rows, run(changing, refreshed).rows) is None
    assert difference(run(changing, QUERY).rows, run(changing, older).rows) is not None
    changing.sql("TRUNCATE TABLE spans")
    assert again(refreshed) == QUERY  # nothing is written that is never true


# --- commands -------------------------------------------------------------------------------------


def invoke(*args: str) -> Result:
    return CliRunner().invoke(program, args, prog_name="dpp-rewrite", catch_exceptions=False)


def test_the_commands(
    changing: SparkSession, ddl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = tmp_path / "q.sql"
    query.write_text(QUERY + ";\n", encoding="utf-8")
    always = ("-c", str(ddl), "--schema", "resolved")
    values = ("--predicate", "values")
    result = invoke("rewrite", *always, *values, "-w", str(query))
    assert result.exit_code == 0, result.stderr
    text = query.read_text(encoding="utf-8")
    assert "v.day IN (0, 1, 2) /* dpp-rewrite */ /* keys as of " in text
    for options in ((), values, (*values, "--conf", "spark.sql.ansi.enabled=true")):
        assert invoke("rewrite", *always, *options, "--check", str(query)).exit_code == 0
        assert invoke("lint", *always, *options[:2], str(query)).exit_code == 0
    changing.sql("INSERT INTO spans VALUES (9, 0, 'in')")
    conf = ("--conf", "spark.sql.ansi.enabled=true")
    # Who asks nobody cannot know; who asks does.
    assert invoke("rewrite", *always, *values, "--check", str(query)).exit_code == 0
    assert invoke("rewrite", *always, *values, *conf, "--check", str(query)).exit_code == 1
    monkeypatch.setenv("DPP_REWRITE_COLLAPSE_OVER", "3")
    collapsed = invoke("rewrite", *always, *values, str(query))
    assert "v.day BETWEEN 0 AND 9 /*" in collapsed.stdout
    monkeypatch.setenv("DPP_REWRITE_REFUSE_OVER", "3")
    refused = invoke("rewrite", *always, *values, str(query))
    assert refused.stdout == QUERY + ";\n"
    assert "there are 4, and more than 3 are refused" in refused.stderr


def test_verify_and_explain(visits: SparkSession, ddl: Path, tmp_path: Path) -> None:
    query = tmp_path / "q.sql"
    query.write_text(QUERY + ";\n", encoding="utf-8")
    options = ("-c", str(ddl), "--schema", "resolved", "--predicate", "values")
    result = invoke("verify", *options, "--format", "json", str(query))
    assert result.exit_code == 0, result.stdout + result.stderr
    shown = invoke("explain", *options, "--format", "json", str(query))
    assert shown.exit_code == 0, shown.stdout + shown.stderr
    assert json.loads(shown.stdout)
    beside = invoke("rewrite", *options, "--explain", "spark", str(query))
    assert beside.exit_code == 0, beside.stderr


def test_what_spark_cannot_run_leaves_the_statement(
    changing: SparkSession, ddl: Path, tmp_path: Path
) -> None:
    """A key query that fails says nothing of the query: what an earlier run wrote stays."""
    query = tmp_path / "q.sql"
    options = ("-c", str(ddl), "--schema", "resolved", "--predicate", "values")
    query.write_text(QUERY + ";\nSELECT 1;\n", encoding="utf-8")
    assert invoke("rewrite", *options, "-w", str(query)).exit_code == 0
    text = query.read_text(encoding="utf-8")
    changing.sql("DROP TABLE spans")
    result = invoke("rewrite", *options, str(query))
    assert result.exit_code == 2
    assert result.stdout == text
    assert "DPP126 the key query cannot be run: [TABLE_OR_VIEW_NOT_FOUND]" in result.stderr
    assert "--master or --remote" in result.stderr
