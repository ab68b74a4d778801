"""``--predicate values`` for MERGE, which prunes its target by constants only: literals in the ON.

A MERGE reads the target as ``source LEFT JOIN target ON …`` does, so that what the equality implies
may be added to the ON, wherever no row of the target is looked at for matching nothing.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

import duckdb
import pytest

from sqlrewrite import Catalog, Verdict, rewrite
from sqlrewrite.linting.linter import lint
from sqlrewrite.results import Rewrite
from sqlrewrite.settings.options import Keys
from sqlrewrite.stripping import stripped
from sqlrewrite.text.markers import MARKER

DDL = """
CREATE TABLE f (id INT, p INT, a INT) USING delta PARTITIONED BY (p);
CREATE TABLE g (id INT, p INT, k INT) USING delta PARTITIONED BY (p);
CREATE TABLE d (k INT, id INT, x INT) USING delta;
CREATE TABLE flat (id INT, p INT, a INT) USING delta;
"""
AT = "2026-01-31T09:30:00Z"
END = (
    "WHEN MATCHED THEN UPDATE SET a = s.x "
    "WHEN NOT MATCHED THEN INSERT (id, p, a) VALUES (s.id, s.k, s.x)"
)
NOTE = f"{MARKER} /* keys as of {AT}: SELECT d2.k FROM d AS d2 */"


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.from_ddl(DDL)


def values(sql: str, catalog: Catalog, *keys: str) -> Rewrite:
    resolved = Keys(keys or ("1", "2"), "int", AT, False)
    return rewrite(sql, catalog, predicate="values", resolve=lambda query, namespace: resolved)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "MERGE INTO f AS t USING d AS s ON t.p = s.k AND t.id = s.id",
            f" AND t.p IN (1, 2) {NOTE}",
            id="a table",
        ),
        pytest.param(
            "merge into f t using d s\non t.id = s.id\n  and s.k = t.p",
            f"\n  and t.p in (1, 2) {MARKER} /* keys as of {AT}: select d2.k from d as d2 */",
            id="in the author's case and lines",
        ),
        pytest.param(
            "MERGE INTO f USING (SELECT k, id, x FROM d WHERE x > 1) AS s "
            "ON f.p = s.k AND f.id = s.id",
            f" AND f.p IN (1, 2) {MARKER} /* keys as of {AT}: "
            "SELECT s2.k FROM (SELECT k, id, x FROM d WHERE x > 1) AS s2 */",
            id="a query",
        ),
        pytest.param(
            "MERGE INTO f t USING (SELECT k, id, x FROM d LIMIT 5) s ON t.p = s.k",
            f" AND t.p IN (1, 2) {NOTE}",
            id="some rows of a table: the keys of all of them",
        ),
    ],
)
def test_literals_in_the_on(catalog: Catalog, before: str, after: str) -> None:
    result = values(f"{before} {END}", catalog)
    assert result.sql == f"{before}{after} {END}"
    assert not result.errors
    assert values(result.sql, catalog).sql == result.sql
    assert stripped(result.sql).sql == f"{before} {END}"
    # Nobody is asked: it stays while its key query follows, under whatever form is set.
    assert rewrite(result.sql, catalog).sql == result.sql
    assert not [
        finding for finding in lint(result.sql, catalog)[0] if finding.code in ("DPP002", "DPP003")
    ]


def test_what_follows_no_more(catalog: Catalog) -> None:
    before = "MERGE INTO f t USING (SELECT k, id, x FROM d WHERE x > 1) s ON t.p = s.k"
    sql = values(f"{before} {END}", catalog).sql
    changed = sql.replace("x > 1) s", "x > 2) s", 1)
    assert rewrite(changed, catalog).sql == f"{before} {END}".replace("x > 1", "x > 2")
    assert [finding.code for finding in lint(changed, catalog)[0] if finding.code != "DPP010"] == [
        "DPP002"
    ]
    assert "IN (7) " in values(changed, catalog, "7").sql


@pytest.mark.parametrize(
    "sql",
    [
        pytest.param(
            f"MERGE INTO f t USING d s ON t.p = s.k {END} WHEN NOT MATCHED BY SOURCE THEN DELETE",
            id="a row of the target counts for matching nothing",
        ),
        pytest.param(f"MERGE INTO f t USING d s ON t.p = s.k OR t.id = s.id {END}", id="an OR"),
        pytest.param(f"MERGE INTO f t USING d s ON t.p <> s.k {END}", id="another comparison"),
        pytest.param(f"MERGE INTO f t USING d s ON NOT t.p = s.k {END}", id="a negation"),
        pytest.param(
            f"MERGE INTO f t USING d s ON t.p = CASE WHEN s.x > 1 THEN s.k END {END}",
            id="CASE, whose WHEN could be taken for that of the MERGE",
        ),
        pytest.param(f"MERGE INTO flat t USING d s ON t.p = s.k {END}", id="no partitions"),
        pytest.param(
            f"MERGE INTO f t USING (SELECT p AS k, id, a AS x FROM f) s ON t.p = s.k {END}",
            id="the source reads what the MERGE changes",
        ),
        pytest.param(
            "MERGE INTO f t USING (SELECT k, id, x FROM d WHERE rand() > 0.5) s ON t.p = s.k "
            + END,
            id="a source that is another each time",
        ),
        pytest.param(
            f"MERGE INTO f t USING g s ON t.id = s.id AND s.p = t.a {END.replace('s.k', 's.p')}",
            id="the source's own partitions: each of its rows counts",
        ),
    ],
)
def test_a_merge_that_needs_other_rows_is_left_alone(catalog: Catalog, sql: str) -> None:
    result = values(sql, catalog)
    assert result.sql == sql
    assert not result.errors


@pytest.mark.parametrize("form", ["in", "set", "range", "auto"])
def test_no_subquery_is_written(catalog: Catalog, form: str) -> None:
    """Delta takes none in the condition of a MERGE."""
    sql = f"MERGE INTO f t USING (SELECT * FROM d WHERE x = 1) s ON t.p = s.k {END}"
    assert rewrite(sql, catalog, predicate=form).sql == sql
    stale = values(sql, catalog).sql.replace("x = 1) s", "x = 2) s", 1)
    assert rewrite(stale, catalog, predicate=form).sql == sql.replace("x = 1", "x = 2")


def test_a_query_behind_it_is_read_as_ever(catalog: Catalog) -> None:
    query = (
        "SELECT f.a FROM f JOIN d ON CASE WHEN f.id = 1 THEN f.p END = d.k AND f.p = d.k "
        "WHERE d.x = 1"
    )
    merge = f"MERGE INTO g t USING d s ON t.p = s.k {END.replace('a = s.x', 'k = s.x')}"
    alone = rewrite(query, catalog).sql
    assert MARKER in alone
    assert rewrite(f"{merge};\n{query}", catalog).sql == f"{merge};\n{alone}"


MERGES = (
    "MERGE INTO f AS t USING d AS s ON t.p = s.k AND t.id = s.id",
    "MERGE INTO f AS t USING (SELECT k, min(id) AS id, max(x) AS x FROM d GROUP BY k) AS s "
    "ON t.p = s.k",
    "MERGE INTO f AS t USING (SELECT DISTINCT k, id, 7 AS x FROM d WHERE x > 1) AS s "
    "ON t.id = s.id AND t.p = s.k AND (s.x > 2 OR t.a > 1)",
)
ENDS = (
    END,
    "WHEN MATCHED AND t.a > 2 THEN DELETE",
    "WHEN NOT MATCHED AND s.x > 1 THEN INSERT (id, p, a) VALUES (s.id, s.k, s.x)",
    "WHEN MATCHED AND s.x > 1 THEN UPDATE SET a = 9 WHEN MATCHED THEN DELETE",
)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("merge", MERGES)
def test_the_same_table_comes_of_it(catalog: Catalog, merge: str, seed: int) -> None:
    """DuckDB runs both, over random rows with NULL keys."""
    pick = random.Random(seed)
    number = partial(pick.choice, ("NULL", "1", "2", "3", "4"))
    rows = [
        f"INSERT INTO f SELECT DISTINCT * FROM (VALUES {_rows(8, number)}) AS v(id, p, a)",
        f"INSERT INTO d SELECT k, id, min(x) FROM (VALUES {_rows(6, number)}) AS v(k, id, x) "
        "GROUP BY 1, 2",
    ]
    sql = f"{merge} {ENDS[seed % len(ENDS)]}"

    def resolve(query: str, namespace: tuple[str, ...]) -> Keys:
        with _database(rows) as connection:
            distinct = connection.execute(
                f"SELECT DISTINCT k FROM ({query}) AS q(k) WHERE k IS NOT NULL"
            )
            return Keys(tuple(str(key) for (key,) in distinct.fetchall()), "int", AT, False)

    result = rewrite(sql, catalog, predicate="values", resolve=resolve)
    assert not result.errors
    results = []
    for text in (sql, result.sql):
        with _database(rows) as connection:
            connection.execute(text)
            results.append(sorted(map(str, connection.execute("SELECT * FROM f").fetchall())))
    assert results[0] == results[1]
    if {candidate.verdict for candidate in result.candidates} == {Verdict.REWRITTEN}:
        assert MARKER in result.sql


def _rows(count: int, number: Callable[[], str]) -> str:
    return ", ".join(f"({number()}, {number()}, {number()})" for _ in range(count))


def _database(rows: list[str]) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE f (id INT, p INT, a INT); CREATE TABLE d (k INT, id INT, x INT)"
    )
    for statement in rows:
        connection.execute(statement)
    return connection
