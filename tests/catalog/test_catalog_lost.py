"""A catalog that is missing, or has lost a table, takes no predicate out."""

from __future__ import annotations

import pytest

from sqlrewrite import Catalog, rewrite

FACT = "CREATE TABLE f (a INT) PARTITIONED BY (dt DATE);"
DIMENSION = "CREATE TABLE cal (d DATE, y INT);"
QUERY = "{} SELECT a FROM f JOIN cal c ON f.dt = c.d WHERE c.y = {} AND f.dt IN (SELECT {}"
OURS = "/*+ BROADCAST(c2) */ c2.d FROM cal AS c2 WHERE c2.y = 2024) /* dpp-rewrite */"


@pytest.mark.parametrize(
    "ddl",
    [
        "",
        FACT,
        DIMENSION,
        f"CREATE TABLE f LIKE elsewhere; {DIMENSION}",
        f"{FACT} {DIMENSION} ALTER TABLE f DO SOMETHING NEW",
    ],
)
@pytest.mark.parametrize("target", ["", "INSERT INTO g", "CACHE TABLE g AS"])
def test_what_was_written_stays_without_its_table(ddl: str, target: str) -> None:
    text = QUERY.format(target, 2023, OURS)
    result = rewrite(text, Catalog.from_ddl(ddl))
    assert result.sql == text
    (problem,) = result.skipped
    assert problem.message.endswith("what dpp-rewrite has written in this statement stays as it is")
    assert not result.removed


@pytest.mark.parametrize("target", ["", "INSERT INTO g", "FROM g INSERT INTO h SELECT 1;"])
def test_it_is_refreshed_where_all_are_known(target: str) -> None:
    text = QUERY.format(target, 2023, OURS)
    result = rewrite(text, Catalog.from_ddl(FACT + DIMENSION))
    assert result.sql == text.replace("2024", "2023")


def test_it_goes_where_its_table_is_known_and_not_partitioned() -> None:
    text = QUERY.format("", 2024, OURS)
    catalog = Catalog.from_ddl(f"CREATE TABLE f (a INT, dt DATE); {DIMENSION}")
    assert "dpp-rewrite" not in rewrite(text, catalog).sql
