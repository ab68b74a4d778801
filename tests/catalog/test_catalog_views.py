"""CREATE VIEW and CACHE TABLE: the query's text, and what temporary views hide."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sqlrewrite.catalog import Catalog
from sqlrewrite.warehouse import Table, View

Follow = Callable[..., Catalog]


def view(catalog: Catalog, *name: str) -> View:
    table = catalog.resolve(name)
    assert isinstance(table, View)
    return table


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
    defined = view(follow(f"USE web; {statement}"), "v")
    assert (defined.query, defined.columns) == (query, columns)
    assert defined.namespace == ("spark_catalog", "web")
    temporary = "TEMP" in statement or "CACHE" in statement
    assert defined.name == (("v",) if temporary else ("spark_catalog", "web", "v"))


def test_a_materialised_view_is_a_table(follow: Follow) -> None:
    catalog = follow("CREATE MATERIALIZED VIEW m PARTITIONED BY (a) AS SELECT 1 AS a")
    table = catalog.resolve(("m",))
    assert isinstance(table, Table)
    assert table.columns == ()


def test_a_view_of_a_file_is_a_table(follow: Follow) -> None:
    table = follow("CREATE TEMPORARY VIEW v USING csv OPTIONS (path 'x')").resolve(("v",))
    assert isinstance(table, Table)


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
        "CREATE TABLE t (a INT); CREATE TEMP VIEW t AS SELECT 1",
        "CREATE TABLE t (a INT); CACHE TABLE t AS SELECT 1",
        "CREATE TEMP VIEW session.t AS SELECT 1; CREATE TABLE t (a INT)",
        "CREATE TEMP VIEW system.session.t AS SELECT 1; CREATE VIEW t AS SELECT 2",
        "CREATE TABLE t (a INT); CREATE TEMP VIEW v AS SELECT 1; ALTER VIEW v RENAME TO t",
        "CREATE TABLE t (a INT); CREATE TEMP VIEW v AS SELECT 1; ALTER TABLE v RENAME TO t",
        "CREATE TEMP VIEW t AS SELECT 1; CREATE TABLE u (a INT); ALTER TABLE u RENAME TO t",
        "CREATE TABLE web.t (a INT); CREATE TEMP VIEW t AS SELECT 1; USE web",
        "CREATE TEMP VIEW t AS SELECT 1; USE web; USE default",
        "CREATE TEMP VIEW t AS SELECT 1; CREATE TABLE t (a INT); DROP TABLE default.t",
    ],
)
def test_a_temporary_view_comes_first(follow: Follow, script: str) -> None:
    catalog = follow(script)
    for name in (("t",), ("session", "t"), ("system", "session", "t")):
        assert view(catalog, *name).query == "SELECT 1"
    assert catalog.resolve(("default", "t")) is not catalog.resolve(("t",))


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TEMP VIEW t AS SELECT 1; DROP VIEW t",
        "CREATE TABLE t (a INT); ALTER VIEW v RENAME TO t",
        "CREATE TEMP VIEW t AS SELECT 1; CREATE TABLE t (a INT); ALTER VIEW t AS SELECT 2",
        "CREATE TABLE t (a INT); CREATE TABLE w (a INT); ALTER VIEW v RENAME TO w; "
        "ALTER VIEW w RENAME TO t",
    ],
)
def test_what_may_hide_a_table_makes_it_unknown(follow: Follow, script: str) -> None:
    assert follow(script).resolve(("t",)) is None


def test_a_schema_may_be_called_session(follow: Follow) -> None:
    catalog = follow("CREATE TABLE session.t (a INT); CREATE TEMP VIEW t AS SELECT 1")
    assert catalog.resolve(("session", "t")) is None  # the table, before Spark 4.3
    assert view(catalog, "t").query == "SELECT 1"
    assert isinstance(catalog.resolve(("spark_catalog", "session", "t")), Table)


@pytest.mark.parametrize(
    ("script", "means"),
    [
        ("CREATE TABLE t (a INT); CREATE TEMP VIEW t AS SELECT * FROM t", "default"),
        ("CREATE TABLE t (a INT); CREATE TEMP VIEW v AS SELECT 1; DROP VIEW v", "default"),
        ("CREATE TABLE t (a INT); CREATE TEMP VIEW t AS SELECT 1; DROP VIEW t", "default"),
        ("CREATE TABLE t (a INT); CREATE TEMP VIEW t AS SELECT 1; DROP TABLE session.t", "default"),
        (
            "CREATE TABLE t (a INT); CREATE TEMP VIEW t AS SELECT 1; ALTER VIEW t RENAME TO u",
            "default",
        ),
    ],
)
def test_a_table_behind_a_temporary_view(follow: Follow, script: str, means: str) -> None:
    catalog = follow(script)
    inner = catalog.relations.get(("t",))
    table = (catalog if inner is None else catalog.within(view(catalog, "t"))).resolve(("t",))
    assert isinstance(table, Table)
    assert table.name == ("spark_catalog", means, "t")


def test_a_view_keeps_the_temporary_views_that_it_was_made_with(follow: Follow) -> None:
    statements = "CREATE TABLE t (a INT); {}CREATE TEMP VIEW v AS SELECT a FROM t; "
    later = follow(statements.format("") + "CREATE TEMP VIEW t AS SELECT 1 AS a")
    assert isinstance(later.within(view(later, "v")).resolve(("t",)), Table)
    first = follow(statements.format("CREATE TEMP VIEW t AS SELECT 1 AS a; "))
    assert view(first.within(view(first, "v")), "t").query == "SELECT 1 AS a"


def test_a_temporary_view_of_any_name_may_hide_each_table(follow: Follow) -> None:
    catalog = follow("CREATE TABLE t (a INT); CREATE TEMP VIEW v AS SELECT 1").any_temporary()
    for name in (("t",), ("v",), ("session", "t")):
        assert catalog.resolve(name) is None
    assert isinstance(catalog.resolve(("default", "t")), Table)


def test_a_schema_that_a_use_names_is_no_other(follow: Follow) -> None:
    assert follow("CREATE TABLE t (a INT); USE web").resolve(("t",)) is None
    assert follow("CREATE TABLE web.t (a INT); USE default").resolve(("t",)) is None
    assert follow("CREATE TABLE web.t (a INT)").resolve(("t",)) is not None
    assert follow("CREATE TABLE web.t (a INT); USE ${db}").resolve(("t",)) is not None


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
    statements = (
        "CREATE TABLE t (a INT); CREATE VIEW v AS SELECT * FROM t; CREATE VIEW w AS TABLE v; "
    )
    catalog = follow(statements + change)
    assert catalog.resolve(("v",)) is catalog.resolve(("w",)) is None
    assert follow(change + "; " + statements).resolve(("w",)) is not None


def test_a_view_without_a_star_lacks_no_column_that_came_later(follow: Follow) -> None:
    statements = "CREATE TABLE t (a INT); CREATE VIEW v AS SELECT a FROM t; "
    assert follow(statements + "ALTER TABLE t ADD COLUMNS (b INT)").resolve(("v",)) is not None
    assert follow(statements + "ALTER TABLE t ALTER COLUMN a TYPE BIGINT").resolve(("v",)) is None


@pytest.mark.parametrize("kind", ["VIEW", "TEMP VIEW", "TABLE"])
def test_a_query_under_a_default_collation_has_texts_of_that_collation(
    follow: Follow, kind: str
) -> None:
    """Spark 4.3: the type of 'a' in such a query is ``string collate UTF8_LCASE``."""
    collated = follow(f"CREATE {kind} v DEFAULT COLLATION UTF8_LCASE AS SELECT 'a' AS k")
    assert collated.resolve(("v",)) is None
    plain = follow(f"CREATE {kind} v DEFAULT COLLATION utf8_binary AS SELECT 'a' AS k")
    assert plain.resolve(("v",)) is not None
