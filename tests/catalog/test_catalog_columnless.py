"""Tables that take their columns from others: the same in each order of the definitions."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from sqlrewrite import Catalog
from sqlrewrite.catalog import columnless
from sqlrewrite.warehouse import Table


def columns(catalog: Catalog, name: str) -> str:
    """``a int, b ?`` of a table; empty where its columns are not known."""
    table = catalog.resolve((name,))
    assert isinstance(table, Table)
    return ", ".join(f"{column.name} {column.type or '?'}" for column in table.columns)


CHAIN = ["CREATE TABLE t0 (k INT, c STRING)"]
CHAIN += [f"CREATE TABLE t{n} AS SELECT * FROM t{n - 1}" for n in range(1, 40)]
MIXED = [
    "CREATE TABLE base (k INT, v DOUBLE)",
    "CREATE VIEW v1 AS SELECT k, v FROM a1",
    "CREATE TABLE a1 AS SELECT k, v FROM base",
    "CREATE TABLE a2 LIKE a1",
    "CREATE VIEW v2 AS SELECT k + 1 AS k FROM v1",
    "CREATE TABLE a3 AS SELECT v2.k, a2.v FROM v2 JOIN a2 ON v2.k = a2.k",
    "CREATE TABLE `a-4` AS SELECT * FROM a3",
    "CREATE TABLE a5 AS SELECT * FROM {{ ref('a-4') }}",
]


@pytest.mark.parametrize("definitions", [CHAIN, CHAIN[::-1]], ids=["down", "up"])
def test_a_chain_of_any_length(definitions: list[str]) -> None:
    catalog = Catalog.from_ddl(";\n".join(definitions))
    assert columns(catalog, "t39") == "k int, c string"
    assert not catalog.left_out


@pytest.mark.parametrize("definitions", [CHAIN, CHAIN[::-1], MIXED[::-1]])
def test_each_is_read_once(definitions: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    queries: list[str] = []
    read = columnless.query_columns

    def counted(query: str, *rest: Any) -> Any:
        queries.append(query)
        return read(query, *rest)

    monkeypatch.setattr(columnless, "query_columns", counted)
    Catalog.from_ddl(";\n".join(definitions))
    tables = [text for text in definitions if text.startswith("CREATE TABLE") and " AS " in text]
    assert len(queries) == len(set(queries)) == len(tables)


@pytest.mark.parametrize("seed", range(12))
def test_the_order_of_files_does_not_matter(seed: int, tmp_path: Path) -> None:
    definitions = [*MIXED]
    random.Random(seed).shuffle(definitions)
    for number, definition in enumerate(definitions):
        (tmp_path / f"{number}.sql").write_text(definition)
    catalog = Catalog.load(str(tmp_path))
    assert not catalog.left_out
    assert columns(catalog, "a3") == "k int, v double"
    assert columns(catalog, "a5") == "k int, v double"


@pytest.mark.parametrize(
    ("ddl", "expected"),
    [
        # They read each other.
        ("CREATE TABLE a AS SELECT k FROM b; CREATE TABLE b AS SELECT k FROM a", ""),
        ("CREATE TABLE a AS SELECT * FROM a", ""),
        ("CREATE TABLE a LIKE b; CREATE TABLE b LIKE a", ""),
        # Which `a` the staging table was made of cannot be told from what exists in the end.
        ("CREATE TABLE stage AS SELECT * FROM a; DROP TABLE a;"
         " CREATE TABLE a AS SELECT *, 1 AS one FROM stage", ""),
        # Two definitions, of which only one can hold.
        ("CREATE TABLE a AS SELECT 1 AS k; CREATE OR REPLACE TABLE a AS SELECT 1 AS k, 2 AS l", ""),
        ("USE x; CREATE TABLE a AS SELECT k FROM d; USE y; CREATE TABLE d (k INT);"
         " USE x; CREATE TABLE d (l INT)", ""),
        ("CREATE TABLE a AS SELECT * FROM nowhere", ""),
        # A column of a table's name is no reading of that table.
        ("CREATE TABLE a AS SELECT day FROM d; CREATE TABLE day AS SELECT day AS z FROM a;"
         " CREATE TABLE d (day INT)", "day int"),
        ("CREATE TABLE a AS SELECT b.k, 1 AS c FROM b; CREATE TABLE b AS SELECT c AS k FROM c;"
         " CREATE TABLE c (c INT)", "k int, c int"),
        # Part of it is known.
        ("CREATE TABLE a AS SELECT n.k, 1 AS c FROM nowhere n", "k ?, c int"),
    ],
)  # fmt: skip
def test_what_can_be_told(ddl: str, expected: str) -> None:
    catalog = Catalog.from_ddl(ddl)
    (name,) = (name for name in catalog.relations if name[-1] == "a")
    assert columns(catalog.use(name[-2]), "a") == expected


def test_of_tables_that_seem_to_read_each_other_all_is_known_that_can_be() -> None:
    """``k`` is a column and a table: which is read first is not seen in the names."""
    definitions = [
        "CREATE TABLE k AS SELECT m.k FROM m",
        "CREATE TABLE m AS SELECT d.k FROM d",
        "CREATE TABLE d (k INT)",
        "CREATE TABLE n AS SELECT k.k, 1 AS m FROM k",
    ]
    for seed in range(24):
        random.Random(seed).shuffle(definitions)
        catalog = Catalog.from_ddl(";".join(definitions))
        assert [columns(catalog, name) for name in ("k", "m", "n")] == [
            "k int", "k int", "k int, m int",
        ], definitions  # fmt: skip
