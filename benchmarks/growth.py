"""How does the cost grow? ``python -m benchmarks.growth`` prints it, and asserts nothing.

An axis is something that a repository or a text may have many of: files, tables, statements,
joins, operators. Each is measured at three sizes, each four times the one before or twice, in a
process of its own by seconds of the processor, and the exponent is the slope of the cost over the
size: 1 is as the work grows, 2 is its square. Beside it stands what sqlglot takes to parse the
same texts. A size is left out if the one before took longer than the limit.
"""

import argparse
import json
import logging
import math
import multiprocessing
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.progress import progress_bar

MOST = 1.2
"""The exponent over which an axis grows faster than its work."""
NOISE = 0.02
"""Seconds below which a difference is no measurement."""
LIMIT = 10.0
"""Seconds; no larger size is tried of an axis where one took longer."""
PATIENCE = 6
"""How many times the limit a size may take, all in all, before it is given up."""

DDL = """CREATE TABLE f (x INT, k INT, p INT) PARTITIONED BY (p);
CREATE TABLE d (k INT, c STRING, v INT, w INT);
"""
JOINED = "SELECT f.x FROM f JOIN d ON f.p = d.k WHERE d.c = 'a'"

Prepare = Callable[[Path, int], Callable[[], object]]
"""Writes what is to be measured into a folder, at a size, and returns what is to be timed."""


@dataclass(frozen=True, slots=True)
class Axis:
    """What there may be many of, at which sizes it is measured, and how."""

    name: str
    sizes: tuple[int, ...]
    prepare: Prepare
    most: int | None = None
    """The largest size with ``--full``; the others are a half and a quarter of it."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """Seconds and megabytes at a size; ``parsed``: seconds to parse the same, None if no SQL."""

    size: int
    seconds: float
    parsed: float | None
    memory: float


# Texts


def rewriting(text: Callable[[int], str], ddl: str | Callable[[int], str] = DDL) -> Prepare:
    """Rewriting a text of a size, against a catalog in DDL."""

    def prepare(folder: Path, size: int) -> Callable[[], object]:
        from sqlrewrite import Catalog, rewrite

        catalog = Catalog.from_ddl(ddl if isinstance(ddl, str) else ddl(size))
        sql = text(size)
        (folder / "query.sql").write_text(sql, "utf-8")
        return lambda: rewrite(sql, catalog)

    return prepare


def again(text: Callable[[int], str]) -> Prepare:
    """Rewriting what a first run has written: each predicate is found, and judged again."""

    def prepare(folder: Path, size: int) -> Callable[[], object]:
        from sqlrewrite import Catalog, rewrite

        catalog = Catalog.from_ddl(DDL)
        sql = rewrite(text(size), catalog).sql
        (folder / "query.sql").write_text(sql, "utf-8")
        return lambda: rewrite(sql, catalog)

    return prepare


def each(item: str, separator: str, text: str = "{}", first: str = "") -> Callable[[int], str]:
    """``text`` around an item, ``{n}`` its number, as often as the size says."""

    def build(size: int) -> str:
        return text.format(
            first + separator.join(item.format(n=n, m=n - 1) for n in range(1, size + 1))
        )

    return build


def nested(inner: str, around: str, text: str = "{}") -> Callable[[int], str]:
    """``inner`` in ``around`` in ``around`` …, as often as the size says."""

    def build(size: int) -> str:
        body = inner
        for number in range(size):
            body = around.format(body, n=number)
        return text.format(body)

    return build


def cte_chain(size: int) -> str:
    ctes = ["c0 AS (SELECT k, v FROM d WHERE c = 'a')"]
    ctes += [
        f"c{n} AS (SELECT a.k, b.v FROM c{n - 1} a JOIN d b ON a.k = b.k)" for n in range(1, size)
    ]
    return f"WITH {', '.join(ctes)} SELECT f.x FROM f JOIN c{size - 1} q ON f.p = q.k"


def cte_facts(size: int) -> str:
    ctes = ["c0 AS (SELECT k, v FROM d WHERE c = 'a')"]
    ctes += [
        f"c{n} AS (SELECT c.k, f.x AS v FROM c{n - 1} c JOIN f ON f.p = c.k)"
        for n in range(1, size)
    ]
    return f"WITH {', '.join(ctes)} SELECT * FROM c{size - 1}"


def filtered_chain(size: int, table: str, column: str, query: str) -> str:
    """A query over the last of a chain of CTEs, each of which has a condition on a table."""
    ctes = [f"c0 AS (SELECT k, {column} FROM {table})"]
    ctes += [
        f"c{n} AS (SELECT k, {column} FROM c{n - 1} WHERE {column} <> {n})" for n in range(1, size)
    ]
    return f"WITH {', '.join(ctes)} {query.format(f'c{size - 1}')}"


def fibonacci(size: int) -> str:
    ctes = ["c0 AS (SELECT k, v FROM d)", "c1 AS (SELECT k, v FROM d WHERE c = 'a')"]
    ctes += [
        f"c{n} AS (SELECT a.k, b.v FROM c{n - 1} a JOIN c{n - 2} b ON a.k = b.k)"
        for n in range(2, size)
    ]
    return f"WITH {', '.join(ctes)} SELECT f.x FROM f JOIN c{size - 1} q ON f.p = q.k"


def fact_chain(size: int) -> str:
    joins = " ".join(f"JOIN f f{n} ON f{n}.p = f{n - 1}.p" for n in range(1, size))
    return f"SELECT f0.x FROM f f0 {joins} JOIN d ON f0.p = d.k WHERE d.c = 'a'"


def star_of_facts(size: int) -> str:
    facts = " ".join(
        f"JOIN f f{n} ON f{n}.x = f0.x JOIN d d{n} ON f{n}.p = d{n}.k AND d{n}.c = '{n}'"
        for n in range(1, size)
    )
    return f"SELECT f0.x FROM f f0 JOIN d d0 ON f0.p = d0.k AND d0.c = 'a' {facts}"


def using(size: int) -> str:
    joins = " ".join(f"JOIN d d{n} USING (k)" for n in range(size))
    return f"SELECT * FROM f {joins} WHERE d0.c = 'a'"


def multi_insert(size: int) -> str:
    inserts = " ".join(
        f"INSERT INTO t{n} SELECT f.x WHERE d.v = {n} AND d.c = 'a'" for n in range(size)
    )
    return f"FROM f JOIN d ON f.p = d.k {inserts}"


def altered(size: int) -> str:
    """As many statements: half of them make a table, half change one."""
    tables = (
        f"CREATE TABLE t{n} (k INT, p INT) PARTITIONED BY (p);\n"
        f"ALTER TABLE t{n} ADD COLUMNS (c STRING);\n"
        for n in range(size // 2)
    )
    return "".join(tables)


TEXTS = (
    Axis("statements", (500, 1000, 2000), rewriting(each(JOINED, ";\n"))),
    Axis("statements that join nothing", (5000, 10000, 20000),
         rewriting(each("SELECT k, v FROM d WHERE k = {n}", ";\n"))),
    Axis("columns of a SELECT list", (500, 1000, 2000), rewriting(
        each("d.v + {n} AS c{n}", ", ", "SELECT {} FROM f JOIN d ON f.p = d.k WHERE d.c = 'a'"))),
    Axis("columns of a table", (1000, 2000, 4000), rewriting(
        lambda _: "SELECT * FROM wide JOIN d ON wide.p = d.k WHERE d.c = 'a' AND c0 > 1",
        each("c{n} INT", ", ", "CREATE TABLE wide ({}) PARTITIONED BY (p);" + DDL, "p INT, "))),
    Axis("joins with ON", (50, 100, 200), rewriting(
        each("JOIN d d{n} ON f.k = d{n}.k AND d{n}.c = 'a'", " ",
             "SELECT f.x FROM f JOIN d ON f.p = d.k {}"))),
    Axis("joins with USING", (37, 75, 150), rewriting(using)),
    Axis("NATURAL joins", (20, 40, 80), rewriting(
        each("NATURAL JOIN (SELECT k, v AS v{n} FROM d) d{n}", " ",
             "SELECT * FROM f JOIN d ON f.p = d.w {}"))),
    Axis("joined facts in a chain", (37, 75, 150), rewriting(fact_chain)),
    Axis("facts, each with a dimension", (15, 30, 60), rewriting(star_of_facts)),
    Axis("derived tables in derived tables", (25, 50, 100), rewriting(
        nested("SELECT k, v FROM d WHERE c = 'a'", "SELECT k, v FROM ({}) t{n} WHERE v > {n}",
               "SELECT f.x FROM f JOIN ({}) q ON f.p = q.k"))),
    Axis("EXISTS in EXISTS", (15, 30, 60), rewriting(
        nested("d.c = 'a'", "EXISTS (SELECT 1 FROM d e{n} WHERE e{n}.k = d.k AND {})",
               "SELECT f.x FROM f JOIN d ON f.p = d.k WHERE {}"))),
    Axis("EXISTS beside each other", (250, 500, 1000), rewriting(
        each("EXISTS (SELECT 1 FROM d d{n} WHERE d{n}.k = f.p AND d{n}.v = {n})", " AND ",
             f"{JOINED} AND {{}}"))),
    Axis("INs of one column", (250, 500, 1000), rewriting(
        each("f.p IN (SELECT d{n}.k FROM d d{n} WHERE d{n}.v = {n})", " AND ",
             f"{JOINED} AND {{}}"))),
    Axis("LATERAL joins", (50, 100, 200), rewriting(
        each("JOIN LATERAL (SELECT * FROM d e{n} WHERE e{n}.k = f.p AND e{n}.v = {n}) q{n} ON true",
             " ", "SELECT f.x FROM f JOIN d ON f.p = d.k {} WHERE d.c = 'a'"))),
    Axis("parentheses", (50, 100, 200), rewriting(
        nested("d.v > 1", "({} OR d.w > {n})", f"{JOINED} AND {{}}"))),
    Axis("operators over columns", (80, 160, 320), rewriting(
        each("d.w", " + ", f"{JOINED} AND 10 < {{}}"))),
    Axis("operators over constants", (80, 160, 320), rewriting(
        each("{n}", " + ", f"{JOINED} AND d.w > {{}}"))),
    Axis("OR of ANDs", (600, 1200, 2400), rewriting(
        each("(d.v = {n} AND d.w = 1)", " OR ", f"{JOINED} AND ({{}})"))),
    Axis("AND of conditions", (500, 1000, 2000), rewriting(
        each("d.v <> {n}", " AND ", f"{JOINED} AND {{}}"))),
    Axis("literals of an IN", (25000, 50000, 100000), rewriting(
        each("{n}", ", ", f"{JOINED} AND d.v IN ({{}})"))),
    Axis("rows of VALUES", (5000, 10000, 20000), rewriting(
        each("({n}, 'a')", ", ", "SELECT f.x FROM f JOIN (VALUES {}) AS d(k, c) ON f.p = d.k"))),
    Axis("UNION ALL", (125, 250, 500), rewriting(each(JOINED, " UNION ALL "))),
    Axis("readers of one CTE", (60, 120, 240), rewriting(
        each("SELECT f.x FROM f JOIN q ON f.p = q.k", " UNION ALL ",
             "WITH q AS (SELECT k FROM d WHERE c = 'a') {}"))),
    Axis("INSERTs of one FROM", (60, 120, 240), rewriting(multi_insert)),
    Axis("CTEs in a chain, each with a fact", (25, 50, 100), rewriting(cte_facts)),
    Axis("CTEs that each read the two before", (10, 20, 40), rewriting(fibonacci)),
    Axis("FULL joins with USING", (37, 75, 150), rewriting(
        each("FULL JOIN d d{n} USING (k)", " ", "SELECT * FROM f {} WHERE d1.c = 'a'"))),
    Axis("RIGHT joins in a chain", (40, 80, 160), rewriting(
        each("RIGHT JOIN d d{n} ON d{n}.k = d{m}.k", " ",
             "SELECT f.x FROM f RIGHT JOIN d d0 ON f.p = d0.k {} WHERE d0.c = 'a'"))),
    Axis("EXTENDs in a pipe", (40, 80, 160), rewriting(
        each("|> EXTEND f.x + {n} AS e{n}", " ",
             "FROM f |> JOIN d ON f.p = d.k |> WHERE d.c = 'a' {}"))),
    Axis("conditions on a fact, down a chain of CTEs", (50, 100, 200), rewriting(
        lambda size: filtered_chain(
            size, "f", "p", "SELECT q.k FROM {} q JOIN d ON q.p = d.k WHERE d.c = 'a'"))),
    Axis("conditions on a dimension, down a chain of CTEs", (50, 100, 200), rewriting(
        lambda size: filtered_chain(
            size, "d", "v", "SELECT f.x FROM f JOIN {} q ON f.p = q.k"))),
    Axis("subqueries over one column", (50, 100, 200), rewriting(
        each("(SELECT max(f{n}.x) FROM f f{n} WHERE f{n}.p = d.k) AS c{n}", ", ",
             "SELECT {} FROM d WHERE d.c = 'a'"))),
    Axis("markers of the author's in one clause", (400, 800, 1600), rewriting(
        each("d.v <> {n} /* dpp-rewrite */", " AND ", f"{JOINED} AND {{}}"))),
    Axis("schemas that are dropped", (250, 500, 1000), rewriting(
        each("DROP SCHEMA s{n} CASCADE", ";\n"),
        each("CREATE TABLE s{n}.t (k INT)", ";\n", DDL + "{}"))),
    Axis("blocks of Jinja that set a name", (500, 1000, 2000), rewriting(
        each("{{% set a{n} %}}x{{% endset %}}", "\n", f"{{}}\n{JOINED}"))),
    Axis("CTEs in a chain, with joins", (62, 125, 250), rewriting(cte_chain)),
    Axis("BETWEEN over two keys", (250, 500, 1000), rewriting(
        each("f.p BETWEEN d.v AND d.w + {n}", " AND ",
             "SELECT f.x FROM f JOIN d ON {} WHERE d.c = 'a'"))),
    Axis("markers", (250, 500, 1000), again(each(JOINED, ";\n"))),
    Axis("CREATE TABLE in the text", (500, 1000, 2000, 4000), rewriting(
        each("CREATE TABLE t{n} (k INT, c STRING)", ";\n"))),
    Axis("TEMP VIEW in the text", (500, 1000, 2000, 4000), rewriting(
        each("CREATE TEMP VIEW v{n} AS SELECT k, v FROM d WHERE v = {n}", ";\n"))),
    Axis("TEMP VIEW made again", (500, 1000, 2000), rewriting(
        lambda size: 2 * each(
            "CREATE OR REPLACE TEMP VIEW v{n} AS SELECT k FROM d;\n", "")(size // 2))),
    Axis("CREATE, ALTER in the text", (500, 1000, 2000, 4000), rewriting(altered)),
    Axis("USE and SET in the text", (500, 1000, 2000), rewriting(
        each("USE s{n}; SET x.y = {n}", ";\n"),
        each("CREATE TABLE t{n} (k INT, c STRING)", ";\n", DDL + "{}"))),
)  # fmt: skip


# Commands over files


def command(*words: str) -> Callable[[], object]:
    """A run of the program in this process; what it prints goes nowhere."""

    def run() -> None:
        from sqlrewrite.cli import main

        with (
            open(os.devnull, "w", encoding="utf-8") as nowhere,
            redirect_stdout(nowhere),
            redirect_stderr(nowhere),
            suppress(SystemExit),
        ):
            main(words)

    return run


def linting(text: Callable[[int], str], form: str) -> Prepare:
    """``lint`` of a file, and the report of its findings in a form."""

    def prepare(folder: Path, size: int) -> Callable[[], object]:
        (folder / "query.sql").write_text(text(size), "utf-8")
        (folder / "ddl").write_text(DDL, "utf-8")
        (folder / "ddl").rename(folder / "ddl.sql")
        options = ("--no-cache", "--format", form, "-c", str(folder / "ddl.sql"))
        return command("lint", *options, str(folder / "query.sql"))

    return prepare


def typing(folder: Path, size: int) -> Callable[[], object]:
    """A keystroke in a file of so many lines that a language server has open."""
    from sqlrewrite.server.analysis import Workspace, analyse

    lines = [f"{JOINED} AND d.v = {n};\n" for n in range(size)]
    (folder / "ddl.sql").write_text(DDL, "utf-8")
    settings = '[tool.dpp-rewrite]\ncatalog = ["ddl.sql"]\n'
    (folder / "pyproject.toml").write_text(settings, "utf-8")
    path = str(folder / "query.sql")
    project = Workspace(None, {}, isolated=False).of(path)
    Path(path).write_text("".join(lines), "utf-8")
    analyse(path, "".join(lines), project)
    lines[size // 2] = lines[size // 2].replace("f.x", "f.k")
    return lambda: analyse(path, "".join(lines), project)


def auditing(folder: Path, size: int) -> Callable[[], object]:
    """Judging the queries of a history, each of another shape."""
    from sqlrewrite import Catalog
    from sqlrewrite.audit.judged_text import folded, judged
    from sqlrewrite.settings.options import make_options

    texts = [f"SELECT * FROM ({JOINED}) AS q{n}" for n in range(size)]
    (folder / "queries.sql").write_text(";\n".join(texts), "utf-8")
    catalog, options = Catalog.from_ddl(DDL), make_options()
    return lambda: [(folded(text), judged(text, None, catalog, options, 60)) for text in texts]


def checking(
    files: Callable[[Path, int], None], *, warm: bool = False, touched: bool = True
) -> Prepare:
    """``--check`` of a folder of files; ``warm``: again, after they were all ``touched``."""

    def prepare(folder: Path, size: int) -> Callable[[], object]:
        queries = folder / "queries"
        queries.mkdir()
        files(queries, size)
        ddl = queries if files is definition_files else folder / "ddl.sql"
        if files is not definition_files:
            ddl.write_text(DDL, "utf-8")
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
        cache = () if warm else ("--no-cache",)
        words = ("--check", "-q", *cache, "-c", str(ddl), str(queries))
        check = command(*words)
        if warm:
            check()
            for path in queries.rglob("*.sql") if touched else ():
                os.utime(path, (1, 1))
        return check

    return prepare


def query_files(folder: Path, count: int) -> None:
    for number in range(count):
        below = folder / str(number // 100)
        below.mkdir(exist_ok=True)
        text = f"SELECT k, v FROM d WHERE k = {number}"
        (below / f"q{number}.sql").write_text(text, "utf-8")


def definition_files(folder: Path, count: int) -> None:
    """Tables, a file each, each AS a query over the one before, in chains of fifty."""
    for number in range(count):
        before = f"SELECT k, c, p FROM t{number - 1}" if number % 50 else "SELECT 1 k, 'a' c, 2 p"
        (folder / f"t{number:05}.sql").write_text(f"CREATE TABLE t{number} AS {before}", "utf-8")


def other_files(folder: Path, count: int) -> None:
    (folder / "query.sql").write_text(JOINED, "utf-8")
    for number in range(count):
        below = folder / "data" / str(number // 1000)
        below.mkdir(parents=True, exist_ok=True)
        (below / f"part-{number}.parquet").touch()


def hosted(name: str, text: Callable[[int], str]) -> Prepare:
    """``--check`` of a file in another language that holds so many texts of SQL."""

    def prepare(folder: Path, size: int) -> Callable[[], object]:
        (folder / name).write_text(text(size), "utf-8")
        (folder / "tables.ddl").write_text(DDL, "utf-8")
        options = ("--check", "-q", "--no-cache", "-c", str(folder / "tables.ddl"))
        return command(*options, str(folder / name))

    return prepare


def notebook(size: int) -> str:
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None,
         "source": ["%%sql\n", f"{JOINED} AND d.v = {n}"]}
        for n in range(size)
    ]  # fmt: skip
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def proposing(folder: Path, size: int) -> Callable[[], object]:
    """``init`` of a repository that has its own definitions."""
    query_files(folder, size)
    (folder / "ddl.sql").write_text(DDL, "utf-8")
    return command("init", str(folder))


# Catalogs


def loading(text: Callable[[int], str], *, files: bool = False) -> Prepare:
    """Reading a catalog in DDL: one file, or a file for each definition."""

    def prepare(folder: Path, size: int) -> Callable[[], object]:
        from sqlrewrite import Catalog

        ddl = text(size)
        if not files:
            (folder / "ddl.sql").write_text(ddl, "utf-8")
            return lambda: Catalog.load(str(folder / "ddl.sql"))
        for number, definition in enumerate(ddl.split(";\n")):
            (folder / f"t{number:06}.sql").write_text(definition, "utf-8")
        return lambda: Catalog.load(str(folder))

    return prepare


def snapshot(folder: Path, size: int) -> Callable[[], object]:
    """Reading a snapshot, a schema a table."""
    from sqlrewrite import Catalog
    from sqlrewrite.catalog.snapshot import write
    from sqlrewrite.warehouse import Column, Table

    columns = (Column("k", "int"), Column("c", "string"))
    tables = [Table(("lake", f"s{n}", f"t{n}"), columns) for n in range(size)]
    text = write(Catalog().with_relations({table.name: table for table in tables}))
    (folder / "tables.json").write_text(text, "utf-8")
    return lambda: Catalog.load(str(folder / "tables.json"))


def manifest(folder: Path, size: int) -> Callable[[], object]:
    """Reading a manifest of dbt's."""
    from sqlrewrite import Catalog

    nodes = {
        f"model.shop.m{n}": {
            "resource_type": "model", "name": f"m{n}", "database": "lake", "schema": "dw",
            "alias": f"m{n}", "relation_name": f"lake.dw.m{n}",
            "config": {"materialized": "table", "partition_by": ["day"]},
            "columns": {"day": {"name": "day", "data_type": "date"}},
        }
        for n in range(size)
    }  # fmt: skip
    version = "https://schemas.getdbt.com/dbt/manifest/v12.json"
    text = json.dumps({"metadata": {"dbt_schema_version": version}, "nodes": nodes, "sources": {}})
    (folder / "manifest.json").write_text(text, "utf-8")
    return lambda: Catalog.load(str(folder / "manifest.json"))


TABLE = "CREATE TABLE t{n} (k INT, c STRING, p INT) PARTITIONED BY (p)"
SELECTED = "CREATE TABLE a{n} AS SELECT t.k, t.c, count(*) AS n FROM t{n} t GROUP BY t.k, t.c"
CATALOGS = (
    Axis("tables in one file", (1000, 2000, 4000), loading(each(TABLE, ";\n"))),
    Axis("tables, a file each", (500, 1000, 2000), loading(each(TABLE, ";\n"), files=True)),
    Axis("tables, each LIKE the one before", (500, 1000, 2000), loading(
        each("CREATE TABLE t{n} LIKE t{m}", ";\n", TABLE.format(n=0) + ";\n{}"), files=True)),
    Axis("views over one table", (500, 1000, 2000), loading(
        each("CREATE VIEW v{n} AS SELECT k, v FROM d WHERE v = {n}", ";\n", DDL + "{}"),
        files=True)),
    Axis("tables AS a query", (250, 500, 1000), loading(
        each(f"{SELECTED};\n{TABLE}", ";\n"), files=True)),
    Axis("tables, each AS a query over the one before", (250, 500, 1000), loading(
        each("CREATE TABLE t{n} AS SELECT k, c, p FROM t{m}", ";\n",
             TABLE.format(n=0) + ";\n{}"), files=True)),
    Axis("partitions of a table of PostgreSQL", (500, 1000, 2000), loading(
        each("CREATE TABLE p{n} PARTITION OF p FOR VALUES IN ({n})", ";\n",
             "CREATE TABLE p (k int) PARTITION BY LIST (k);\n{}"))),
    Axis("tables of a snapshot", (5000, 10000, 20000), snapshot),
    Axis("models of a dbt manifest", (1000, 2000, 4000), manifest),
)  # fmt: skip

FOUND = "SELECT f.x FROM f JOIN d ON f.p = d.k WHERE d.c = 'a'"
FILES = (
    Axis("files", (500, 1000, 2000), checking(query_files)),
    Axis("files that were touched", (2500, 5000, 10000), checking(query_files, warm=True)),
    Axis("other files in the folder", (50000, 100000, 200000), checking(other_files)),
    Axis("files of CREATE TABLE AS", (250, 500, 1000), checking(definition_files), 2000),
    Axis("files of CREATE TABLE AS, again", (250, 500, 1000),
         checking(definition_files, warm=True, touched=False), 2000),
    Axis("findings of lint", (250, 500, 1000), linting(each(FOUND, ";\n"), "text"), 20_000),
    Axis("findings as JSON", (250, 500, 1000), linting(each(FOUND, ";\n"), "json"), 20_000),
    Axis("findings as SARIF", (250, 500, 1000), linting(each(FOUND, ";\n"), "sarif"), 20_000),
    Axis("lines of an open file", (250, 500, 1000), typing, 5000),
    Axis("shapes of an audit", (250, 500, 1000), auditing, 16_000),
    Axis("cells of a notebook", (250, 500, 1000), hosted("notebook.ipynb", notebook)),
    Axis("f-strings in a Python file", (250, 500, 1000), hosted(
        "job.py", each(f'spark.sql(f"{JOINED} AND d.v = {{{{day}}}} AND d.w = {{n}}")', "\n"))),
    Axis("views in a Python file", (250, 500, 1000), hosted(
        "job.py", each(
            'spark.sql("CREATE TEMP VIEW v{n} AS SELECT k, v FROM v{m} WHERE v <> {n}")', "\n",
            'spark.sql("CREATE TEMP VIEW v0 AS SELECT k, v FROM d")\n{}\n'))),
    Axis("files that `init` reads", (1250, 2500, 5000), proposing),
)  # fmt: skip

AXES = {axis.name: axis for axis in (*CATALOGS, *FILES, *TEXTS)}


# Measuring


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--axis", action="append", help="only those with this in their name")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds (%(default)s)")
    parser.add_argument("--full", action="store_true", help="up to the largest sizes: an hour")
    parser.add_argument("--list", action="store_true", help="only list the axes")
    options = parser.parse_args()
    names = [name.lower() for name in options.axis or ("",)]
    axes = [axis for axis in AXES.values() if any(name in axis.name.lower() for name in names)]
    if options.list or not axes:
        print("\n".join(axis.name for axis in axes or AXES.values()))
        sys.exit(0 if axes else f"no axis has {' or '.join(options.axis)} in its name")
    rows = []
    with progress_bar(len(axes), "axes", interval=0) as advance:
        for axis in axes:
            if options.full and axis.most is not None:
                axis = replace(axis, sizes=(axis.most // 4, axis.most // 2, axis.most))
            rows.append((axis, settled(axis, options.limit)))
            advance(axis.name, 1)
    console = Console()
    console.print(growth_table(rows))
    fast = [axis.name for axis, taken in rows if (exponent(taken) or 0) > MOST]
    console.print(f"{len(fast)} of {len(rows)} grow faster than n^{MOST}: {', '.join(fast)}")


def settled(axis: Axis, limit: float) -> list[Measurement]:
    """``measured``; where that seems to grow fast, twice, of which the less counts: other work on
    the machine only adds."""
    first = measured(axis, limit)
    if (exponent(first) or 0) <= MOST:
        return first
    pairs = zip(first, measured(axis, limit), strict=False)
    return [min(pair, key=lambda one: one.seconds) for pair in pairs]


def measured(axis: Axis, limit: float = LIMIT) -> list[Measurement]:
    """An axis at its sizes, up to the first that takes longer than the limit."""
    measurements: list[Measurement] = []
    for size in axis.sizes:
        measurement = in_process(axis, size, limit)
        if measurement is None:
            break
        measurements.append(measurement)
        if measurement.seconds > limit:
            break
    return measurements


def in_process(axis: Axis, size: int, limit: float) -> Measurement | None:
    """One size of an axis, in a process of its own: nothing is remembered from another. None if it
    takes far longer than the limit."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=measure, args=(axis, size, theirs))
    process.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(PATIENCE * limit) else None
    except EOFError:
        raise RuntimeError(f"{axis.name}, {size}: the process ended early") from None
    finally:
        process.kill()
        process.join()


def measure(axis: Axis, size: int, answer: Connection) -> None:
    """Sends the measurement of one size. What is imported on the way is imported before."""
    with tempfile.TemporaryDirectory() as small, tempfile.TemporaryDirectory() as large:
        axis.prepare(Path(small), 2)()
        timed = axis.prepare(Path(large), size)
        before = processor_seconds()
        timed()
        seconds = processor_seconds() - before
        unit = 1 if sys.platform == "darwin" else 1024
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
        answer.send(Measurement(size, seconds, parsed_seconds(Path(large)), memory))


def processor_seconds() -> float:
    """Seconds that this process and those it has ended have taken from the processors."""
    of_children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + of_children.ru_utime + of_children.ru_stime


def parsed_seconds(folder: Path) -> float | None:
    """Seconds that sqlglot takes to parse all SQL in a folder; None if there is none."""
    import sqlglot
    from sqlglot.errors import ErrorLevel, SqlglotError

    logging.disable()  # of each statement that it cannot parse
    texts = [path.read_text("utf-8") for path in folder.rglob("*.sql")]
    sys.setrecursionlimit(20_000)
    before = time.process_time()
    for text in texts:
        try:
            sqlglot.parse(text, read="spark", error_level=ErrorLevel.IGNORE)
        except (SqlglotError, RecursionError):
            return None
    return time.process_time() - before if texts else None


def exponent(measurements: Sequence[Measurement]) -> float | None:
    """The slope of the logarithm of the cost over that of the size, by least squares; None where
    too little time was taken to tell."""
    sizes = [math.log(each.size) for each in measurements]
    costs = [math.log(max(each.seconds, 1e-6)) for each in measurements]
    if len(sizes) < 2 or measurements[-1].seconds < NOISE:
        return None
    return statistics.linear_regression(sizes, costs).slope


def growth_table(rows: Sequence[tuple[Axis, Sequence[Measurement]]]) -> Table:
    """A line for each axis: its sizes, what the largest took, and how that grows."""
    table = Table("axis", title="How the cost grows", title_justify="left")
    for heading in ("sizes", "seconds", "grows as", "of parsing", "peak MB"):
        table.add_column(heading, justify="right")
    for axis, taken in rows:
        if not taken:
            table.add_row(axis.name, f"{axis.sizes[0]:,}", "too long")
            continue
        slope, last = exponent(taken), taken[-1]
        grows = "" if slope is None else f"n^{slope:.2f}"
        table.add_row(
            axis.name,
            " → ".join(f"{each.size:,}" for each in (taken[0], last)),
            " → ".join(f"{each.seconds:.2f}" for each in (taken[0], last)),
            f"[bold red]{grows}[/]" if (slope or 0) > MOST else grows,
            f"{last.seconds / last.parsed:.1f} ×" if last.parsed else "",
            f"{last.memory:.0f}",
        )
    return table


if __name__ == "__main__":
    main()
