"""What a program in Python does to names: all ways of PySpark, and the order that they run in."""

from __future__ import annotations

import json
import random

import pytest

from sqlrewrite import Catalog, embedded
from sqlrewrite.settings.options import make_options
from sqlrewrite.text.hosts import host_of
from tests.text.hosts.programs import TABLES, random_program
from tests.text.hosts.test_python import CALL, MARKER, QUERY, SCHEMA

HIDE_OR_MOVE = (
    'spark.sql("CREATE OR REPLACE TEMP VIEW dates AS " + build())\n',
    'spark.sql(f"CREATE OR REPLACE TEMP VIEW dates AS {build()}")\n',
    'spark.sql("CREATE OR REPLACE TEMP VIEW " + name() + " AS SELECT 1")\n',
    'spark.sql(f"CREATE OR REPLACE TEMP VIEW {name()} AS SELECT 1")\n',
    'spark.sql(f"CREATE OR REPLACE TEMP VIEW {n} AS SELECT 1")\n',
    'spark.sql("CREATE OR REPLACE TEMP VIEW {} AS SELECT 1".format(n))\n',
    'spark.sql("CREATE OR REPLACE TEMP VIEW %s AS SELECT 1" % n)\n',
    'spark.sql("CREATE OR REPLACE TEMP VIEW %s AS SELECT 1" % ("dates",))\n',
    'spark.sql(textwrap.dedent("CREATE OR REPLACE TEMP VIEW dates AS SELECT 1"))\n',
    'ddl = "CREATE OR REPLACE TEMP VIEW dates AS SELECT 1"\nprint(ddl, 1)\nspark.sql(ddl)\n',
    'for q in ["CREATE OR REPLACE TEMP VIEW dates AS SELECT 1"]:\n    spark.sql(q)\n',
    'run("CREATE OR REPLACE TEMP VIEW dates AS SELECT 1")\n',
    'reg = df.createOrReplaceTempView\nreg("dates")\n',
    'getattr(df, "createOrReplaceTempView")("dates")\n',
    'functools.partial(df.createOrReplaceTempView, "dates")()\n',
    "list(map(df.createOrReplaceTempView, names))\n",
    'DataFrame.createOrReplaceTempView(df, "dates")\n',
    "df.createOrReplaceTempView(*a)\n",
    "df.createOrReplaceTempView(**a)\n",
    'df.createOrReplaceTempView(name="dates")\n',
    'df.createOrReplaceTempView(f"{x}")\n',
    'df.createOrReplaceTempView("d" + x)\n',
    'df.createTempView("dates")\n',
    'df.registerTempTable("dates")\n',
    'sqlContext.registerDataFrameAsTable(df, "dates")\n',
    'sqlContext.registerDataFrameAsTable(df, tableName="dates")\n',
    'df.writeTo("dates").create()\n',
    'w = df.writeTo("dates")\nw.replace()\n',
    "df.writeTo(t).create()\n",
    'spark.catalog.createTable("dates", path="/x")\n',
    'spark.catalog.createTable(tableName="dates")\n',
    'spark.catalog.createExternalTable("dates", "/x")\n',
    'spark.catalog.dropTempView("dates")\n',
    'spark.catalog.dropTable("dates")\n',
    'spark.catalog.dropDatabase("retail")\n',
    'df.write.saveAsTable("dates")\n',
    'df.write.mode("overwrite").saveAsTable("retail.dates")\n',
    'df.writeStream.toTable("dates")\n',
    'df.writeStream.format("memory").queryName("dates").start()\n',
    'df.writeStream.format("memory").option("queryName", "dates").start()\n',
    'df.writeStream.start(format="memory", queryName="dates")\n',
    'psdf.to_table("dates")\n',
    'psdf.spark.to_table("dates")\n',
    'ps.sql("CREATE OR REPLACE TEMP VIEW dates AS SELECT 1")\n',
    'ss.sql("USE other")\n',
    'spark.catalog.setCurrentDatabase("other")\n',
    's2 = spark.newSession()\ns2.sql("USE other")\n',
    'SparkConf().set("spark.sql.caseSensitive", "true")\n',
    'SparkConf().setAll([("spark.sql.caseSensitive", "true")])\n',
    'SparkSession.builder.config(map={"spark.sql.caseSensitive": "true"}).getOrCreate()\n',
    's = {"spark.sql.caseSensitive": "true"}\nfor k in s:\n    spark.conf.set(k, s[k])\n',
    'sqlContext.setConf("spark.sql.caseSensitive", "true")\n',
    'spark.conf.unset("spark.sql.caseSensitive")\n',
    'if x:\n    spark.conf.set("spark.sql.caseSensitive", "true")\n',
    'with suppress(Exception):\n    f()\n    spark.sql("USE retail")\n',
    'try:\n    spark.sql("USE retail")\nexcept E:\n    pass\n',
    'assert y, spark.sql("USE retail")\n',
    'a < b() < spark.sql("USE retail")\n',
    'x and spark.sql("USE retail")\n',
    'y = spark.sql("USE retail") if x else 1\n',
    '[spark.sql("USE retail") for x in y]\n',
    'def g():\n    spark.sql("USE retail")\n',
    'def g():\n    yield spark.sql("USE retail")\n',
    '@dec(spark.sql("USE retail"))\ndef g():\n    pass\n',
    'match x:\n    case 1:\n        spark.sql("USE retail")\n',
    'while x:\n    spark.sql("USE retail")\n',
    'for x in y:\n    spark.sql("USE retail")\n',
    'spark.sql("BEGIN IF x THEN CREATE OR REPLACE TEMP VIEW dates AS SELECT 1; END IF; END")\n',
    'spark.sql(q := "CREATE OR REPLACE TEMP VIEW dates AS SELECT 1")\n',
    'spark.sql("CREATE OR REPLACE " + kind + " VIEW dates AS SELECT 1")\n',
    'spark.sql(head + " VIEW dates AS SELECT 1")\n',
    'spark.sql("CREATE OR REPLACE TEMP VIEW IDENTIFIER(:n) AS SELECT 1", args={"n": "dates"})\n',
    'spark._jsparkSession.catalog().dropTempView("dates")\n',
    'DeltaTable.createOrReplace(spark).tableName("dates").execute()\n',
    'spark.sql(f"CREATE OR REPLACE TEMP VIEW dates {rest()}")\n',
    'spark.sql("CREATE OR REPLACE TEMP VIEW dates " + rest)\n',
    'spark.sql("CREATE OR REPLACE TEMP VIEW " + n)\n',
    'spark.sql("CREATE OR REPLACE TEMP VIEW NAME AS SELECT 1".replace("NAME", n))\n',
    'spark.sql("CREATE VIEW A.B AS SELECT 1".replace("A.", "").replace("B", n))\n',
    'spark.sql("CREATE OR REPLACE TEMP VIEW " + n())\n',
    'spark.sql(sqlQuery="CREATE OR REPLACE TEMP VIEW dates AS " + build())\n',
    'spark.sql("""\n  -- make\n CREATE OR REPLACE TEMP VIEW dates AS """ + build())\n',
    'spark.sql("""\n  /* make */\n CREATE OR REPLACE TEMP VIEW dates AS """ + build())\n',
    'reg, x = df.createOrReplaceTempView, 1\nreg("dates")\n',
    'df.createOrReplaceTempView("Dates")\n',
    'df.createOrReplaceTempView("`dates`")\n',
    'df.createOrReplaceTempView("dates" if x else "b")\n',
    'spark.conf.set(f"spark.sql.{x}", "true")\n',
    'KEY = "spark.sql.caseSensitive"\nspark.conf.set(KEY, "true")\n',
    'spark.sql("SET spark.sql.${x} = true")\n',
    'class Q:\n    DDL = "CREATE OR REPLACE TEMP VIEW dates AS SELECT 1"\nspark.sql(Q.DDL)\n',
    'for v in ("dates", "b"):\n    df.createOrReplaceTempView(v)\n',
    'v = {"": "CREATE OR REPLACE TEMP VIEW dates AS SELECT 1"}\n[spark.sql(v[x]) for x in v]\n',
    'spark.sql("CACHE TABLE dates AS " + build())\n',
    'spark.sql("DROP VIEW " + n())\n',
    'spark.sql("ALTER VIEW x RENAME TO " + n())\n',
    'spark.sql("ALTER VIEW x RENAME TO dates")\n',
    'spark.sql("USE " + n())\n',
    'spark.sql("SET CATALOG " + n())\n',
)
"""Programs behind which `dates` or `sales` may mean something else."""

HARMLESS = (
    'spark.sql("CREATE OR REPLACE TEMP VIEW other AS " + build())\n',
    'spark.sql(f"CREATE OR REPLACE TEMP VIEW other AS {build()}")\n',
    'spark.sql(f"CREATE OR REPLACE TEMP VIEW tmp_{n} AS SELECT 1")\n',
    'spark.sql("CREATE OR REPLACE TEMP VIEW tmp_%s AS SELECT 1" % n())\n',
    'spark.sql("CREATE OR REPLACE TEMP VIEW tmp_{} AS SELECT {}".format(n(), m()))\n',
    'run("CREATE OR REPLACE TEMP VIEW other AS SELECT 1")\n',
    'df.createOrReplaceTempView(name="other")\n',
    'df.createOrReplaceTempView(f"tmp_{x}")\n',
    'df.createOrReplaceGlobalTempView("dates")\n',
    "df.createGlobalTempView(x)\n",
    'sqlContext.registerDataFrameAsTable(df, "other")\n',
    'df.writeTo("other").using("iceberg").createOrReplace()\n',
    'spark.catalog.createTable("other", path="/x")\n',
    'spark.catalog.createTable(path="/x", tableName="other")\n',
    'spark.catalog.dropDatabase("other")\n',
    'df.write.saveAsTable("other.dates")\n',
    'df.write.saveAsTable(f"{db}.x_{y}")\n',
    'df.write.insertInto("other")\n',
    'df.writeStream.start("/x")\n',
    "thread.start()\n",
    'spark.catalog.setCurrentDatabase("retail")\n',
    'SparkConf().setAll([("spark.sql.shuffle.partitions", "1")])\n',
    'b.config(map={"spark.sql.legacy.timeParserPolicy": "LEGACY"}).getOrCreate()\n',
    's = {"spark.sql.ansi.enabled": "true"}\nfor k in s:\n    spark.conf.set(k, s[k])\n',
    'spark.conf.get("spark.sql.caseSensitive")\n',
    'spark.sql("USE retail") and x\n',
    'with open("x") as f:\n    pass\nspark.sql("USE retail")\n',
    'print("USE other")\nlog.info("DROP TABLE dates")\n',
    '"""CREATE TABLE dates AS x"""\n',
    'spark.sql("SELECT " + f())\nspark.sql(text)\n',
    'def g(spark):\n    return spark.sql("SELECT 1 AS x")\n',
    't = spark.read.table("dates")\ndf = spark.table("x").filter("a")\ndf.show()\n',
    'df.cache()\ndf.count()\nx.replace("a", "b")\nd = set()\n',
    'spark.sql("INSERT INTO other SELECT 1")\n',
    'spark.sql(f"{head()} dates AS SELECT 1")\n',
    'spark.sql("CREATE OR REPLACE TEMP VIEW other " + n())\n',
    'spark.conf.set(f"spark.sql.catalog.{x}.uri", "true")\n',
    'spark.conf.set(KEY, "true")\n',
    'spark.sql(f"DROP TABLE IF EXISTS tmp_{n()}")\n',
    'spark.sql("INSERT INTO TABLE x " + n())\n',
    'spark.sql(f"INSERT OVERWRITE TABLE {x()} SELECT 1")\n',
    'spark.sql(f"{q()} FROM table")\n',
    'msg = f"created view {x}"\n',
    'parser.add_argument("--x", help="Use dates")\n',
    'df = spark.createDataFrame(rows)\ndf.write.mode("append").parquet("/x")\n',
    'spark.range(10).write.insertInto("sales")\n',
    'df.writeTo("other").append()\n',
    'for t in tables:\n    spark.sql(f"CREATE OR REPLACE TEMP VIEW v_{t} AS SELECT * FROM {t}")\n',
)


def is_rewritten(text: str, path: str = "job.py", catalog: Catalog = SCHEMA) -> bool:
    host = host_of(path, text)
    assert host is not None
    return MARKER in embedded.rewrite(path, host, catalog, make_options()).sql


def test_what_may_change_a_name_is_seen() -> None:
    assert [text for text in HIDE_OR_MOVE if is_rewritten(text + CALL)] == []


def test_what_changes_no_name_of_the_query_is_harmless() -> None:
    assert [text for text in HARMLESS if not is_rewritten(text + CALL)] == []


USE = 'spark.sql("USE retail")'
VIEW = 'spark.sql("CREATE OR REPLACE TEMP VIEW dates AS SELECT 1 AS day")'
ASKS = CALL.strip()
KNOWN = (
    f"{ASKS}.join({VIEW})\n",
    f"with suppress(E):\n    {USE}\n    {CALL}",
    f"try:\n    {USE}\n    {CALL}except E:\n    pass\n",
    f"def f(spark):\n    {USE}\n    {CALL}",
    f"{USE}\ndef f():\n    {CALL}",
    f"class A:\n    def f(self):\n        self.{USE}\n        self.{CALL}",
    f"spark = SparkSession.builder.appName(x).getOrCreate()\n{USE}\n{CALL}",
    f"spark = get_spark()\n{USE}\n{CALL}",
    f"from x import spark\n{USE}\n{CALL}",
    f"spark = spark.newSession()\n{USE}\n{CALL}",
    f'SparkSession.builder.getOrCreate().sql("USE retail")\n{CALL}',
    f"if __name__ == '__main__':\n    spark = B.getOrCreate()\n    {USE}\n    {CALL}",
    f"{CALL}df.createOrReplaceTempView(x)\n",
    f"{USE} and {ASKS}\n",
    f'other = spark.newSession()\nother.sql("CREATE TEMP VIEW others AS SELECT 1")\n{CALL}',
    f'run("CREATE TABLE IF NOT EXISTS dates (day INT, season STRING, name STRING)")\n{CALL}',
)
UNKNOWN = (
    f"{ASKS[:-1]}, args=[{VIEW}])\n",
    f"{VIEW}.join({ASKS})\n",
    f"x[{VIEW}] = {ASKS}\n",
    f"with a as b, c({VIEW}):\n    pass\n{CALL}",
    f"try:\n    {USE}\nexcept E:\n    {CALL}",
    f"{USE}\ndef f(spark):\n    {CALL}",
    f"def f(s_spark, spark):\n    s_{USE}\n    {CALL}",
    f"class A:\n    def f(self):\n        self.{USE}\n        self.spark = x\n        self.{CALL}",
    f"{USE}\nspark = spark.newSession()\n{CALL}",
    f'other = spark.newSession()\nother.sql("USE other")\n{CALL}',
    f"def reset():\n    global spark\n    spark = spark.newSession()\n{USE}\nreset()\n{CALL}",
    f'get_spark().sql("USE retail")\n{CALL}',
    f"for i in x:\n    {CALL}    {VIEW}\n",
    f"while {ASKS}:\n    {VIEW}\n",
    f"{ASKS} if {VIEW} else 1\n",
    f"[{ASKS} for x in {VIEW}]\n",
    f"{VIEW} or {ASKS}\n",
    f'spark.sql("EXECUTE IMMEDIATE v")\n{CALL}',
)


def test_what_ran_before_in_the_same_session_is_known() -> None:
    assert [text for text in KNOWN if not is_rewritten(text)] == []
    assert [text for text in UNKNOWN if is_rewritten(text)] == []


def test_a_temporary_view_that_another_function_makes_anew_is_not_known() -> None:
    """No table has its name: what hides nothing may still replace what the text has made."""
    own = CALL.replace("dates d", "chosen d")
    make = 'spark.sql("CREATE OR REPLACE TEMP VIEW chosen AS SELECT {} FROM dates")\n'
    job = f"def job():\n    {make.format('*')}    helper()\n    {own}"
    anew = make.format("string(day) AS day, season")
    other = f"def helper():\n    {anew.replace('chosen', 'unread')}"
    ways = (
        f"def helper():\n    {anew}",
        "def helper():\n    df.createOrReplaceTempView('chosen')\n",
        f"if x:\n    {anew}",
    )
    assert is_rewritten(job)
    assert is_rewritten(other + job)
    assert is_rewritten(job + other)
    assert [way for way in ways if is_rewritten(way + job)] == []
    assert [way for way in ways if is_rewritten(job + way)] == []


SQL_CELL = f"%%sql\n{QUERY.format(chr(39) + 'w' + chr(39))}"


@pytest.mark.parametrize(
    ("cells", "known"),
    [
        ((USE, CALL), True),
        ((USE, SQL_CELL), True),
        (("spark = get()", USE, CALL), True),
        (("spark = get()", USE, SQL_CELL), False),
        (("spark = B.getOrCreate()", USE, SQL_CELL), True),
        ((USE, "spark = spark.newSession()", CALL), False),
        (("%%sql\nUSE retail", CALL), True),
        (("DDL = 'CREATE TEMP VIEW dates AS SELECT 1'", CALL), False),
        (("register = df.createOrReplaceTempView", "register('dates')", SQL_CELL), False),
        (("%%sql\nCREATE TEMP VIEW {{ n }} AS SELECT 1", SQL_CELL), False),
        (("df = <your code>", SQL_CELL), True),
        (("df = <x>\ndf.createOrReplaceTempView('dates')", SQL_CELL), False),
    ],
)
def test_the_cells_of_a_notebook_are_one_program(cells: tuple[str, ...], known: bool) -> None:
    sources = [{"cell_type": "code", "source": [cell]} for cell in cells]
    text = json.dumps({"cells": sources, "metadata": {}})
    assert is_rewritten(text, "n.ipynb") is known


def test_no_random_program_that_may_hide_a_table_is_rewritten() -> None:
    """Their rows are compared by ``tests/spark/test_spark_hosts.py``."""
    catalog = Catalog.from_ddl(";".join(TABLES))
    for number in range(40):
        text, hides = random_program(random.Random(f"program {number}"))
        assert is_rewritten(text, catalog=catalog) is not hides, text
