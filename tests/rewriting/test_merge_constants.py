"""Constants of a MERGE's source in its ON: the same table comes of it, over random rows in DuckDB.

Which texts are written and which are not is in ``fixtures/queries/merges``.
"""

from __future__ import annotations

import random

import duckdb
import pytest

from sqlrewrite import Catalog, rewrite
from sqlrewrite.linting.linter import lint
from sqlrewrite.stripping import stripped
from sqlrewrite.text.markers import MARKER

DDL = """
CREATE TABLE f (id INT, p INT, a INT) USING delta PARTITIONED BY (p);
CREATE TABLE d (id INT, k INT, x INT) USING delta;
"""
SOURCES = (
    "(SELECT * FROM d WHERE k = 2)",
    "(SELECT * FROM d WHERE k IN (1, 3))",
    "(SELECT * FROM d WHERE k BETWEEN 2 AND 3)",
    "(SELECT * FROM d WHERE k > 1 AND 4 > k)",
    "(SELECT id, 2 AS k, x FROM d)",
    "(SELECT id, 1 AS k, x FROM d WHERE x > 1 UNION ALL SELECT id, 3, x FROM d WHERE x = 1)",
    "(VALUES (1, 2, 3), (2, NULL, 4), (3, 4, 1)) AS v(id, k, x)",
    "(SELECT id, c AS k, x FROM (SELECT id, k AS c, max(x) AS x FROM d WHERE k < 3 GROUP BY 1, 2))",
    "(SELECT d.id, d.k, d.x FROM d LEFT JOIN d AS e ON d.id = e.id AND e.k = 1 WHERE d.k >= 3)",
)
ENDS = (
    "WHEN MATCHED THEN UPDATE SET a = s.x "
    "WHEN NOT MATCHED THEN INSERT (id, p, a) VALUES (s.id, s.k, s.x)",
    "WHEN MATCHED AND t.a > 2 THEN DELETE",
    "WHEN NOT MATCHED AND s.x > 1 THEN INSERT (id, p, a) VALUES (s.id, s.k, s.x)",
)


def _merge(source: str, end: str) -> str:
    """A MERGE from rows that are unique by their key, as DuckDB and Spark ask for."""
    unique = f"(SELECT id, k, min(x) AS x FROM {source} GROUP BY id, k)"
    return f"MERGE INTO f AS t USING {unique} AS s ON t.id = s.id AND t.p = s.k {end}"


@pytest.mark.turns(3)
@pytest.mark.parametrize("source", SOURCES)
def test_the_same_table_comes_of_it(source: str) -> None:
    catalog = Catalog.from_ddl(DDL)
    for seed in range(12):
        pick = random.Random(seed)
        text = _merge(source, ENDS[seed % len(ENDS)])
        result = rewrite(text, catalog)
        assert not result.errors
        assert MARKER in result.sql
        assert rewrite(result.sql, catalog).sql == result.sql
        assert stripped(result.sql).sql == text
        rows = [
            [tuple(pick.choice((None, 1, 2, 3, 4)) for _ in range(3)) for _ in range(8)]
            for _ in range(2)
        ]
        assert _table_after(text, rows) == _table_after(result.sql, rows)


def _table_after(merge: str, rows: list[list[tuple[int | None, ...]]]) -> list[str]:
    with duckdb.connect() as database:
        database.execute("CREATE TABLE f (id INT, p INT, a INT)")
        database.execute("CREATE TABLE d (id INT, k INT, x INT)")
        database.executemany("INSERT INTO f VALUES (?, ?, ?)", rows[0])
        database.executemany("INSERT INTO d VALUES (?, ?, ?)", rows[1])
        database.execute(merge)
        return sorted(map(str, database.execute("SELECT * FROM f").fetchall()))


def test_lint_tells_of_it_once_with_its_fix() -> None:
    catalog = Catalog.from_ddl(DDL)
    text = _merge(SOURCES[0], ENDS[0])
    (finding,) = lint(text, catalog)[0]
    assert finding.code == "DPP010"
    assert "add `t.p = 2` to the ON" in finding.help
    assert finding.fix is not None
    assert lint(rewrite(text, catalog).sql, catalog)[0] == ()


def test_rows_of_the_target_that_match_nothing_are_told() -> None:
    text = _merge(SOURCES[0], "WHEN NOT MATCHED BY SOURCE THEN DELETE")
    (finding,) = lint(text, Catalog.from_ddl(DDL))[0]
    assert (finding.code, finding.severity.value) == ("DPP010", "note")
    assert "WHEN NOT MATCHED BY SOURCE" in finding.message
    assert "DELETE FROM" in finding.help


def test_what_follows_no_more_is_replaced() -> None:
    catalog = Catalog.from_ddl(DDL)
    text = rewrite(_merge(SOURCES[0], ENDS[1]), catalog).sql
    changed = text.replace("WHERE k = 2", "WHERE k = 3")
    assert [finding.code for finding in lint(changed, catalog)[0]] == ["DPP002"]
    assert "AND t.p = 3 /*" in rewrite(changed, catalog).sql
    assert (
        "AND t.p" not in rewrite(text.replace("WHERE k = 2", ""), catalog).sql.split("t.p = s.k")[1]
    )
