"""``outputs``, ``lint`` and ``Catalog.from_ddl`` as a caller uses them."""

from __future__ import annotations

import pickle

import pytest

from sqlrewrite import Catalog, CatalogError, ConfigError, lint, outputs
from tests.support.set_statements import SET_TEXTS, SetText

DDL = """
CREATE TABLE sales (id BIGINT, amount DECIMAL(7,2), tags ARRAY<STRING>, day INT)
  USING parquet PARTITIONED BY (day);
CREATE TABLE days (k INT, year INT, info STRUCT<name: STRING, Nr: INT>) USING parquet;
CREATE VIEW recent AS SELECT day, sum(amount) AS total FROM sales GROUP BY day
"""
CATALOG = Catalog.from_ddl(DDL)


def one(sql: str, **settings: bool) -> object:
    [columns] = outputs(sql, CATALOG, **settings)  # type: ignore[arg-type]
    return columns


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("SELECT * FROM sales", "id bigint, amount decimal(7,2), tags array<string>, day int"),
        ("SELECT s.ID, S.day + 1 FROM sales s", "ID bigint, (day + 1) int"),
        ("SELECT sum(amount), count(*), tags[0] FROM sales GROUP BY ALL",
         "sum(amount) decimal(17,2), count(1) bigint, tags[0] string"),
        ("SELECT info.name, info.nr + 1, d.* EXCEPT (info) FROM days d",
         "name string, (info.nr + 1) int, k int, year int"),
        ("SELECT * FROM recent", "day int, total decimal(17,2)"),
        ("SELECT * FROM (SELECT 1 k, 2 a) l FULL JOIN (SELECT 1L k, 3 b) r USING (k)",
         "k bigint, a int, b int"),
        ("SELECT 1 AS a, a + 1 AS b UNION ALL SELECT 2L, 3", "a bigint, b int"),
        ("SELECT x FROM sales LATERAL VIEW explode(tags) t AS x", "x string"),
        ("WITH c(n) AS (SELECT k FROM days) SELECT n, n IN (SELECT day FROM sales) FROM c",
         "n int, (n IN (listquery())) boolean"),
        ("SELECT CASE WHEN day > 1 THEN 1 ELSE 2.5 END FROM sales",
         "CASE WHEN (day > 1) THEN 1 ELSE 2.5 END decimal(11,1)"),
        ("FROM days |> EXTEND k + 1 AS next |> DROP info |> AS d",
         "k int, year int, next int"),
        ("FROM days |> AGGREGATE count(*) AS n GROUP BY 2, (01) AS `a b`, k + 1, 1L",
         "year int, a b int, (k + 1) int, 1 bigint, n bigint"),
        ("FROM days JOIN VALUES (1, 'x') AS v (k, z) USING (k) |> AGGREGATE GROUP BY 4, 1, 1",
         "z string, k int, k int"),
        ("SELECT a | b & c ^ 1 FROM VALUES (1, 2, 3) t(a, b, c)", "(a | ((b & c) ^ 1)) int"),
    ],
)  # fmt: skip
def test_names_and_types(sql: str, wanted: str) -> None:
    columns = one(sql)
    assert isinstance(columns, tuple)
    assert ", ".join(f"{name} {kind}" for name, kind in columns) == wanted


def test_what_depends_on_a_setting_is_unknown_without_it() -> None:
    sql = "SELECT '1' + 1 AS x, INTERVAL '1' DAY AS y"
    assert one(sql) == (("x", None), ("y", None))
    assert one(sql, ansi=True, legacy_interval=False) == (("x", "bigint"), ("y", "interval day"))
    assert one(sql, ansi=False) == (("x", "double"), ("y", None))


def test_a_timestamp_literal_is_what_the_setting_says() -> None:
    sql = "SELECT TIMESTAMP '2020-01-01' AS t"
    assert outputs(sql, CATALOG) == ((("t", None),),)
    assert outputs(sql, CATALOG, timestamp_type="TIMESTAMP_NTZ") == ((("t", "timestamp_ntz"),),)
    with pytest.raises(ConfigError):
        outputs(sql, CATALOG, timestamp_type="TIMESTAMP")


def test_what_is_not_understood_is_none() -> None:
    for sql in ("SELECT * FROM unknown", "SELECT nowhere FROM sales", "SELEC 1", "SHOW TABLES"):
        assert one(sql) is None
    assert one("SELECT my_udf(id), id FROM sales") == ((None, None), ("id", "bigint"))


@pytest.mark.parametrize("kind", ["RENAME TABLE f TO g", "FROBNICATE f"])
def test_behind_a_statement_of_no_known_kind_all_is_unknown(kind: str) -> None:
    catalog = Catalog.from_ddl("CREATE TABLE f (x INT)")
    assert outputs(f"{kind}; SELECT x FROM f", catalog) == (None, None)
    assert outputs("REFRESH TABLE f; SELECT x FROM f", catalog) == (None, (("x", "int"),))


def test_what_an_earlier_run_wrote_is_read_as_it_stands() -> None:
    """Spark is given the text with it, and refuses it where somebody has broken it."""
    query = "SELECT x FROM f WHERE p IN (SELECT a.k FROM d AS a WHERE %s) /* dpp-rewrite */"
    catalog = Catalog.from_ddl(
        "CREATE TABLE f (p INT, x INT) PARTITIONED BY (p); CREATE TABLE d (k INT, c INT);"
    )
    assert outputs(query % "a.c = 1", catalog) == ((("x", "int"),),)
    assert outputs(query % "", catalog) == (None,)


def test_statements_hold_for_those_behind_them() -> None:
    text = """
    CREATE TEMPORARY VIEW v (a, b) AS SELECT id, day FROM sales;
    SELECT a + 1, b FROM v;
    SET spark.sql.ansi.enabled = true;
    SELECT '1' + 1 AS x;
    DROP VIEW v;
    SELECT * FROM v
    """
    assert outputs(text, CATALOG) == (
        None,
        (("(a + 1)", "bigint"), ("b", "int")),
        None,
        (("x", "bigint"),),
        None,
        None,
    )


@pytest.mark.parametrize(
    ("text", "behind"),
    [
        ("CREATE TABLE t USING parquet PARTITIONED BY (a) AS SELECT 1 a, 2L b; SELECT * FROM t",
         (("b", "bigint"), ("a", "int"))),
        ("CREATE TABLE IF NOT EXISTS days AS SELECT 1 AS x; SELECT k FROM days", (("k", "int"),)),
        ("CREATE VIEW IF NOT EXISTS days AS SELECT 1 AS x; SELECT k FROM days", (("k", "int"),)),
        ("CREATE TEMP VIEW days AS SELECT 1 AS x; SELECT * FROM days", (("x", "int"),)),
        ("CREATE VIEW v(a, b) AS SELECT my_udf(k), k FROM days; SELECT * FROM v",
         (("a", None), ("b", "int"))),
    ],
)  # fmt: skip
def test_what_a_query_makes(text: str, behind: object) -> None:
    assert outputs(text, CATALOG) == (None, behind)


def test_a_text_that_is_run_unread_may_change_anything() -> None:
    text = "EXECUTE IMMEDIATE 'CREATE OR REPLACE TABLE days (x INT)'; SELECT * FROM days"
    assert outputs(text, CATALOG) == (None, None)
    assert outputs("EXECUTE IMMEDIATE 'SELECT 1'; SELECT k FROM days", CATALOG)[1] is not None


def test_a_view_is_typed_when_it_is_made() -> None:
    text = """
    SET spark.sql.ansi.enabled = true;
    CREATE VIEW v AS SELECT '1' + 1 AS x;
    SET spark.sql.ansi.enabled = false;
    SELECT x FROM v
    """
    assert outputs(text, CATALOG) == (None, None, None, (("x", "bigint"),))


@pytest.mark.parametrize(
    ("text", "behind"),
    [
        ("BEGIN SELECT 1; SELECT 2; END; SELECT id FROM sales", (("id", "bigint"),)),
        ("BEGIN END; SELECT id FROM sales", (("id", "bigint"),)),
        ("it: BEGIN SELECT 1; END it; SELECT id FROM sales", (("id", "bigint"),)),
        ("BEGIN DROP TABLE sales; END; SELECT id FROM sales", None),
        ("BEGIN IF 1 = 2 THEN SET spark.sql.ansi.enabled = true; END IF; END; SELECT 1", None),
    ],
)
def test_a_script_is_one_statement(text: str, behind: object) -> None:
    assert outputs(text, CATALOG) == (None, behind)


def test_the_cells_of_a_notebook_are_statements() -> None:
    text = "-- Databricks notebook source\nSELECT 1 AS a\n-- COMMAND ----------\nSELECT 2 AS b"
    assert outputs(text, CATALOG) == ((("a", "int"),), (("b", "int"),))


def test_a_setting_that_may_change_anything_makes_what_follows_unknown() -> None:
    text = "SET spark.sql.legacy.newThing = true; SELECT 1; RESET; SELECT 1"
    assert outputs(text, CATALOG) == (None, None, None, (("1", "int"),))


@pytest.mark.parametrize("it", SET_TEXTS, ids=lambda it: it.text)
def test_what_set_and_reset_change(it: SetText) -> None:
    *_, columns = outputs(f"{it.text}; {it.query}", CATALOG, ansi=True, legacy_interval=False)
    assert (columns and columns[0][1]) == (it.type if it.certain else None)


@pytest.mark.parametrize(
    ("settings", "known"),
    [
        ({"ansi": False}, (None, "string", "interval day", "decimal(38,8)")),
        ({"double_quoted_identifiers": True}, (None, None, "interval day", "decimal(38,8)")),
        ({"legacy_interval": True}, (None, "string", None, "decimal(38,8)")),
        ({"allow_precision_loss": False}, (None, "string", "interval day", None)),
    ],
)
def test_a_reset_may_bring_back_what_is_given_or_the_default(
    settings: dict[str, bool], known: tuple[str | None, ...]
) -> None:
    items = "'1' + 1, \"day\", INTERVAL '1' DAY, CAST(1 AS DECIMAL(38, 10)) * 1.0000"
    text = f"RESET; SELECT {items} FROM sales"
    _, columns = outputs(text, CATALOG, **({"legacy_interval": False} | settings))  # type: ignore[arg-type]
    assert columns is not None
    assert tuple(kind for _, kind in columns) == known


def test_a_reset_takes_back_settings_and_no_function() -> None:
    text = "CREATE TEMPORARY FUNCTION abs AS 'some.Class'; RESET; SELECT abs(k) AS x FROM days"
    assert outputs(text, CATALOG)[2] is None


def test_a_number_in_a_pipe_by_group_names_a_column_unless_a_setting_says_not() -> None:
    text = "SET spark.sql.groupByOrdinal = false; FROM days |> AGGREGATE count(*) GROUP BY 1"
    assert outputs(text, CATALOG) == (None, None)


def test_partition_columns_stand_last_in_a_star() -> None:
    catalog = Catalog.from_ddl("CREATE TABLE t (p INT, a INT) USING parquet PARTITIONED BY (p)")
    assert outputs("SELECT * FROM t", catalog) == ((("a", "int"), ("p", "int")),)


def test_a_catalog_of_text_is_a_value() -> None:
    again = Catalog.from_ddl(DDL)
    assert again == CATALOG
    assert pickle.loads(pickle.dumps(CATALOG)) == CATALOG
    with pytest.raises(CatalogError):
        Catalog.from_ddl("CREATE TABLE broken (")


def test_findings_are_values() -> None:
    sql = "SELECT * FROM sales JOIN days ON day = k WHERE year = 2020"
    findings = lint(sql, CATALOG)
    assert [finding.code for finding in findings] == ["DPP001"]
    assert findings == lint(sql, CATALOG)
    assert pickle.loads(pickle.dumps(findings)) == findings
    assert outputs(sql, CATALOG) == outputs(sql, CATALOG)
