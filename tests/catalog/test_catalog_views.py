"""CREATE VIEW and CACHE TABLE: the query's text, and what temporary views hide."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sqlrewrite.catalog import Catalog
from sqlrewrite.warehouse import Table, View

Follow = Callable[..., Catalog]


def view(catalog: Catalog, *name: str) -> View:
    found = catalog.resolve(name)
    assert isinstance(found, View)
    return found


@pytest.mark.parametrize(
    ("statement", "query", "columns"),
    [
        ("CREATE VIEW v AS SELECT 1 AS a", "SELECT 1 AS a", ()),
        ("create or replace view v as\n  select 1 -- end\n;", "select 1", ()),
        ("CREATE VIEW IF NOT EXISTS v AS (SELECT 1)", "(SELECT 1)", ()),
        (
            "CREATE VIEW v AS WITH q AS (SELECT 1) SELECT * FROM q",
            "WITH q AS (SELECT 1) SELECT * FROM q",
            (),
        ),
        ("CREATE VIEW v AS VALUES (1)", "VALUES (1)", ()),
        (
            "CREATE VIEW v (a COMMENT 'AS', `B c`) COMMENT 'AS' TBLPROPERTIES ('as' = 'as')"
            " AS SELECT x, /* kept */ y FROM t",
            "SELECT x, /* kept */ y FROM t",
            ("a", "B c"),
        ),
        ("CREATE VIEW v WITH SCHEMA EVOLUTION AS SELECT 1", "SELECT 1", ()),
        ("CREATE TEMP VIEW v AS SELECT 1", "SELECT 1", ()),
        ("CREATE OR REPLACE TEMPORARY VIEW v (a) AS SELECT 1", "SELECT 1", ("a",)),
        ("CACHE TABLE v AS SELECT 1", "SELECT 1", ()),
        ("CACHE LAZY TABLE v OPTIONS ('storageLevel' 'DISK_ONLY') SELECT 1", "SELECT 1", ()),
        ("CACHE TABLE v WITH q AS (SELECT 1) SELECT 2", "WITH q AS (SELECT 1) SELECT 2", ()),
    ],
)
def test_the_query_is_a_slice(
    follow: Follow, statement: str, query: str, columns: tuple[str, ...]
) -> None:
    found = view(follow(f"USE web; {statement}"), "v")
    assert (found.query, found.columns) == (query, columns)
    assert found.namespace == ("spark_catalog", "web")
    assert found.name == ("spark_catalog", "web", "v")


def test_a_materialised_view_is_a_table(follow: Follow) -> None:
    catalog = follow("CREATE MATERIALIZED VIEW m PARTITIONED BY (a) AS SELECT 1 AS a")
    found = catalog.resolve(("m",))
    assert isinstance(found, Table)
    assert found.columns == ()


def test_a_view_of_a_file_is_a_table(follow: Follow) -> None:
    found = follow("CREATE TEMPORARY VIEW v USING csv OPTIONS (path 'x')").resolve(("v",))
    assert isinstance(found, Table)


def test_a_global_temporary_view(follow: Follow) -> None:
    catalog = follow("CREATE GLOBAL TEMP VIEW v AS SELECT 1")
    assert view(catalog, "global_temp", "v").query == "SELECT 1"
    assert catalog.resolve(("v",)) is None


@pytest.mark.parametrize("change", ["ALTER VIEW v AS SELECT 2", "ALTER VIEW v RENAME TO w"])
def test_an_altered_view_is_unknown(follow: Follow, change: str) -> None:
    assert follow(f"CREATE VIEW v AS SELECT 1; {change}").resolve(("v",)) is None


def test_a_view_with_new_properties_is_the_same(follow: Follow) -> None:
    script = "CREATE VIEW v AS SELECT 1; ALTER VIEW v SET TBLPROPERTIES ('a' = 'b')"
    assert view(follow(script), "v").query == "SELECT 1"


@pytest.mark.parametrize(
    "script",
    [
        # A table is hidden: `t` is the view now, `default.t` is not.
        "CREATE TABLE t (a INT); CREATE TEMP VIEW t AS SELECT 1",
        "CREATE TABLE t (a INT); CACHE TABLE t AS SELECT * FROM default.t",
        "CREATE TABLE t (a INT); CACHE TABLE t SELECT 1; CREATE OR REPLACE TEMP VIEW t AS SELECT 2",
        # Its own name means a table that is not known here.
        "CREATE TEMP VIEW t AS SELECT * FROM t",
        "CREATE TEMP VIEW t AS SELECT * FROM default.t",
        # It hides the table of that name in any schema.
        "CREATE TABLE web.t (a INT); CREATE TEMP VIEW t AS SELECT 1; USE web",
        "CREATE TEMP VIEW t AS SELECT 1; USE web; USE default",
        "CREATE TEMP VIEW t AS SELECT 1; DROP VIEW t",
    ],
)
def test_a_temporary_view_that_cannot_be_told_apart_is_unknown(follow: Follow, script: str) -> None:
    assert follow(script).resolve(("t",)) is None


def test_a_temporary_view_may_be_replaced(follow: Follow) -> None:
    catalog = follow("CREATE TEMP VIEW t AS SELECT 1; CREATE OR REPLACE TEMP VIEW t AS SELECT 2")
    assert view(catalog, "t").query == "SELECT 2"


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE t ADD COLUMNS (b INT)",
        "ALTER TABLE t RENAME COLUMN a TO b",
        "ALTER TABLE t RENAME TO u",
        "CREATE OR REPLACE TABLE t (a STRING)",
        "DROP TABLE t",
    ],
)
def test_a_view_made_before_a_change_of_its_table_is_unknown(follow: Follow, change: str) -> None:
    made = "CREATE TABLE t (a INT); CREATE VIEW v AS SELECT * FROM t; CREATE VIEW w AS TABLE v; "
    catalog = follow(made + change)
    assert catalog.resolve(("v",)) is catalog.resolve(("w",)) is None
    assert follow(change + "; " + made).resolve(("w",)) is not None


def test_a_view_without_a_star_lacks_no_column_that_came_later(follow: Follow) -> None:
    made = "CREATE TABLE t (a INT); CREATE VIEW v AS SELECT a FROM t; "
    assert follow(made + "ALTER TABLE t ADD COLUMNS (b INT)").resolve(("v",)) is not None
    assert follow(made + "ALTER TABLE t ALTER COLUMN a TYPE BIGINT").resolve(("v",)) is None
