"""Folders as they are: what cannot be read costs only itself, and is listed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from sqlrewrite.catalog import Catalog
from sqlrewrite.warehouse import Table

GOOD = "CREATE TABLE good (a INT) PARTITIONED BY (dt STRING);\n"


def of(tmp_path: Path, files: Mapping[str, str | bytes]) -> Catalog:
    """The catalog of a folder with these files."""
    for name, text in files.items():
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return Catalog.load(str(tmp_path))


def names(catalog: Catalog) -> set[str]:
    return {name[-1] for name in catalog.relations}


def left_out(catalog: Catalog) -> list[str]:
    return [f"{Path(problem.where).name}: {problem.why}" for problem in catalog.left_out]


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (
            "CREATE TABLE bad (a INT",
            "1:1: default.bad cannot be read: a parenthesis is not closed",
        ),
        (
            "CREATE TABLE IDENTIFIER(lower(:c) || '.x') (a INT)",
            "a.sql:1:1: a table whose name is missing or computed: write it out",
        ),
        ("CREATE TABLE (a INT)", "a.sql:1:1: a table whose name is missing or computed: write it"),
        ("USE IDENTIFIER(:c)", "a.sql:1:1: a USE that cannot be read: write the schema's name"),
        (
            "CREATE TABLE bad (a FOO.BAR)",
            "a.sql:1:1: default.bad: Spark has no such type as that of column `a FOO.BAR`: nothing "
            "is written that depends on it",
        ),
        (
            "CREATE TABLE bad (a INT) PARTITIONED BY (dya)",
            "default.bad: partitioned by dya, which is not one of its columns: declare it",
        ),
        (
            "CREATE TABLE bad LIKE elsewhere",
            "a.sql:1:1: default.bad: its columns are not known: the statement does not list all of "
            "them",
        ),
        (
            "CREATE TABLE bad AS SELECT * FROM elsewhere",
            "a.sql:1:1: default.bad: its columns are not known: its query is not understood, or "
            "reads an unknown table",
        ),
        (
            "ALTER TABLE good DO SOMETHING NEW; CREATE TABLE good (a INT)",
            "a.sql:1:1: good is not known after this statement",
        ),
        ("{% macro m() %} it's {% endmacro %}", None),
        (
            "CREATE TABLE m (id int(11) NOT NULL AUTO_INCREMENT, KEY k (id)) ENGINE=InnoDB",
            "default.m: Spark has no such type",
        ),
        (
            "CREATE TABLE p (a IPADDRESS) WITH (format = 'ORC')",
            "default.p: Spark has no such type as that of column `a IPADDRESS`",
        ),
        ("SET x = '", None),
        ("-- a path: C:\\\nCREATE TABLE after (a INT)", None),
        ("// it's a note\nCREATE TABLE after (a INT)", None),
        ("# it's a note\nCREATE TABLE after (a INT)", None),
        ("SELECT 1 WHERE x = 'no end\n;", None),
        ("/* no end\n", None),
        ("not SQL at all (", None),
    ],
)
def test_a_statement_costs_only_itself(tmp_path: Path, trouble: str, said: str | None) -> None:
    (tmp_path / "0.sql").write_text(GOOD)
    catalog = of(tmp_path, {"a.sql": f"{trouble}\n;\n{GOOD.replace('good', 'behind')}"})
    assert {"good", "behind"} <= names(catalog)
    assert {"after"} <= names(catalog) or "after" not in trouble
    statements = left_out(catalog)
    assert statements == [] if said is None else any(said in line for line in statements), (
        statements
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("-- 表\n".encode("gbk") + GOOD.encode(), ["a.sql: not UTF-8: read as GB18030"]),
        ("-- été \n".encode("latin-1") + GOOD.encode(), ["a.sql: not UTF-8: read as LATIN-1"]),
        (GOOD.encode("utf-16"), []),
        (b"\xef\xbb\xbf" + GOOD.encode(), []),
    ],
)
def test_what_its_encoding_hides_is_left_out(tmp_path: Path, text: bytes, said: list[str]) -> None:
    catalog = of(tmp_path, {"a.sql": text})
    assert names(catalog) == {"good"}
    assert left_out(catalog) == said


NOTEBOOK = """-- Databricks notebook source
 %md
 # It isn't SQL; CREATE TABLE no (a INT)

-- COMMAND ----------

-- DBTITLE 1,Tables
 %sql
 CREATE TABLE $db.one (a INT)

-- COMMAND ----------

 %py
 spark.sql("CREATE TABLE no (a INT)")

-- COMMAND ----------

-- MAGIC %sql
-- MAGIC CREATE TABLE $db.two (a INT,
-- MAGIC   b DATE)

-- COMMAND ----------

CREATE TABLE $db.three (a INT)
"""


def test_the_cells_of_a_notebook_are_read(tmp_path: Path) -> None:
    catalog = of(tmp_path, {"a.sql": NOTEBOOK})
    assert names(catalog) == {"one", "two", "three"}
    assert catalog.left_out == ()


def test_what_a_statement_before_did_not_end(tmp_path: Path) -> None:
    script = "use gmall\ncreate table one (a int)\n\ncreate table two (a int)\ninsert into one x"
    assert names(of(tmp_path, {"a.hql": script})) == {"one", "two"}


def test_every_kind_of_file(tmp_path: Path) -> None:
    kinds = ("sql", "hql", "ddl", "sparksql", "sql.j2")
    files = {f"{n}.{kind}": f"CREATE TABLE t{n} (a INT)" for n, kind in enumerate(kinds)}
    assert len(of(tmp_path, {**files, "a.txt": "CREATE TABLE no (a INT)"}).relations) == 5


def test_a_drop_in_another_file_takes_nothing_out(tmp_path: Path) -> None:
    files = {"a.sql": GOOD, "b.sql": "DROP TABLE good; DROP SCHEMA default CASCADE"}
    assert names(of(tmp_path, files)) == {"good"}


def test_tables_that_are_made_of_others(tmp_path: Path) -> None:
    files = {
        "a.sql": "CREATE TABLE copied LIKE src; CREATE TABLE again AS SELECT * FROM made;"
        "CREATE TABLE made PARTITIONED BY (dt) AS SELECT dt, a + 1 AS b, '${x}' AS c FROM src s",
        "b.sql": "CREATE TABLE src (a INT) PARTITIONED BY (dt DATE)",
    }
    catalog = of(tmp_path, files)
    shown = {
        name[-1]: " ".join(f"{c.name}:{c.type}" for c in table.columns)
        for name, table in catalog.relations.items()
        if isinstance(table, Table)
    }
    assert shown == {
        "src": "a:int dt:date",
        "copied": "a:int dt:date",
        "made": "b:int c:string dt:date",
        "again": "b:int c:string dt:date",
    }
    assert catalog.left_out == ()


@pytest.mark.parametrize(
    ("first", "second", "columns", "fields", "said"),
    [
        ("(a INT, d DATE)", "(a INT) PARTITIONED BY (d DATE)", "a:int d:date", "d", False),
        ("(a INT) PARTITIONED BY (d DATE)", "(a INT, d DATE)", "a:int d:date", "d", False),
        ("(a INT, d DATE)", "PARTITIONED BY (d) AS SELECT * FROM x.t", "a:int d:date", "d", False),
        ("AS SELECT * FROM x.t", "(a INT, d DATE)", "a:int d:date", "", False),
        ("(a INT, d DATE)", "(a BIGINT, d DATE)", "a:None d:date", "", True),
        ("(a INT)", "(b INT)", "b:int", "", False),
    ],
)
def test_a_table_that_is_defined_twice(
    tmp_path: Path, first: str, second: str, columns: str, fields: str, said: bool
) -> None:
    files = {"a.sql": f"CREATE TABLE t {first}", "b.sql": f"CREATE TABLE IF NOT EXISTS t {second}"}
    catalog = of(tmp_path, files)
    table = catalog.resolve(("t",))
    assert isinstance(table, Table)
    assert " ".join(f"{c.name}:{c.type}" for c in table.columns) == columns
    assert " ".join(field.column for field in table.partitioned_by) == fields
    assert bool(catalog.left_out) is said


def test_a_name_in_one_pair_of_backquotes_is_as_hive_prints_it(tmp_path: Path) -> None:
    """Spark 4.3 refuses a table of such a name, and makes a temporary view of it."""
    text = "CREATE EXTERNAL TABLE `Dw.T` (a INT); ALTER TABLE `dw.t` ADD COLUMNS (b INT);"
    catalog = of(tmp_path, {"a.sql": text})
    for name in (("dw", "t"), ("dw.t",)):
        table = catalog.resolve(name)
        assert isinstance(table, Table)
        assert len(table.columns) == 2
    assert not names(Catalog.from_ddl("CREATE TEMPORARY VIEW `dw.t` AS SELECT 1 AS a;")) & {"t"}


def test_a_table_whose_name_is_a_variable_is_another_in_each_file(tmp_path: Path) -> None:
    catalog = of(
        tmp_path, {"a.sql": "CREATE TABLE ${t} (a INT);", "b.sql": "CREATE TABLE u (a INT);"}
    )
    assert names(catalog) == {"u"}
    (message,) = left_out(catalog)
    assert message == "a.sql:1:1: a table whose name is a variable, ${t}: it may be any table"


def test_a_set_of_a_variable_tells_nothing_of_the_value_a_query_runs_with(tmp_path: Path) -> None:
    table = "CREATE TABLE ${hiveconf:db}.t (a INT, b INT) PARTITIONED BY (p INT);"
    other = "CREATE TABLE ${hiveconf:db}.t (a INT, b STRING) PARTITIONED BY (p INT);"
    one = of(tmp_path, {"a.sql": table, "b.sql": "SET hiveconf:db = x;"})
    assert one.resolve(("${hiveconf:db}", "t")) is not None
    both = of(tmp_path, {"a.sql": table, "b.sql": f"SET hiveconf:db = x; {other}"})
    relation = both.resolve(("${hiveconf:db}", "t"))
    assert isinstance(relation, Table)
    assert {column.name: column.type for column in relation.columns} == {
        "a": "int",
        "b": None,
        "p": "int",
    }


def test_a_folder_of_programs_that_define_nothing_is_told_and_refuses_nothing(
    tmp_path: Path,
) -> None:
    catalog = of(tmp_path, {"a.py": "spark.sql('SELECT a FROM f JOIN d ON f.p = d.k')\n"})
    assert not catalog.relations
    (problem,) = catalog.left_out
    assert "no CREATE TABLE" in problem.why
