"""Python files: what ``spark.sql`` is given is rewritten where it stands, and all else kept."""

from __future__ import annotations

import ast
import itertools
import json
import os
import random
from pathlib import Path

import pytest

from sqlrewrite import Catalog, embedded, rewrite
from sqlrewrite.results import Rewrite, Verdict
from sqlrewrite.settings.options import make_options
from sqlrewrite.sql.statements.effects import statement_texts
from sqlrewrite.text.hosts import host_of

CATALOG = Catalog.from_ddl(
    "CREATE TABLE sales (item INT, amt DOUBLE, day INT) PARTITIONED BY (day);"
    "CREATE TABLE dates (day INT, season STRING, name STRING);"
)
QUERY = "SELECT s.item FROM sales s JOIN dates d ON d.day = s.day WHERE d.season = {}"
MARKER = "/* dpp-rewrite */"
CALL = f'spark.sql("{QUERY.format(chr(39) + "w" + chr(39))}")\n'


SCHEMA = Catalog.from_ddl(
    "CREATE TABLE retail.sales (item INT, day INT) PARTITIONED BY (day);"
    "CREATE TABLE retail.dates (day INT, season STRING, name STRING);",
    schema="retail",
)


def done(text: str, path: str = "job.py", catalog: Catalog = CATALOG) -> Rewrite:
    host = host_of(path, text)
    assert host is not None
    result = embedded.rewrite(path, host, catalog, make_options())
    again = host_of(path, result.sql)
    assert again is not None
    stripped = embedded.strip(path, again)
    assert stripped.sql == text  # the insertions out, and the file is there again, byte for byte
    assert embedded.rewrite(path, again, catalog, make_options()).sql == result.sql
    return result


def literal(text: str) -> str:
    """The value of the one literal that a call of a text is given."""
    (call,) = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    value = ast.literal_eval(call.args[0])
    assert isinstance(value, str)
    return value


# What may stand in the query, and each way of Python to write it down.
CONDITIONS = ("'winter'", '"winter"', r"'a\'b'", r"'tab\tulator \\'", "'é … \U0001f600'", "'{x}'")
QUOTES = ('"', "'", '"""', "'''")


def written(sql: str, quote: str, raw: bool) -> str | None:
    """A literal of that text, None where there is none between these quotes."""
    body = sql
    if not raw:
        body = sql.replace("\\", "\\\\").replace(quote[0], "\\" + quote[0])
        body = body.replace("\n", "\n" if len(quote) == 3 else "\\n")
    source = f"{'r' if raw else ''}{quote}{body}{quote}"
    try:
        return source if ast.literal_eval(source) == sql else None
    except SyntaxError:
        return None


@pytest.mark.parametrize("quote", QUOTES)
@pytest.mark.parametrize("raw", [False, True])
def test_the_literal_is_just_the_rewritten_query(quote: str, raw: bool) -> None:
    count = 0
    for condition, lines in itertools.product(CONDITIONS, (False, True)):
        sql = QUERY.format(condition)
        if lines:
            sql = "\n" + sql.replace(" FROM", "\n    FROM").replace(" WHERE", "\n    WHERE") + "\n"
        source = written(sql, quote, raw)
        if source is None:
            continue
        text = f"import os\ndf = spark.sql({source}) # é\n"
        plain = rewrite(sql, CATALOG)
        result = done(text)
        count += result.changed
        assert literal(result.sql) == plain.sql != sql
        assert [candidate.predicate for candidate in result.candidates] == [
            candidate.predicate for candidate in plain.candidates
        ]
    assert count


def test_places_are_the_file_s() -> None:
    text = f'def f():\n    é = "é"; spark.sql("{QUERY.format("1")[:-1]}\'w\'")\n'
    (candidate,) = done(text).candidates
    line = text.splitlines()[candidate.fact.line - 1]
    assert line[candidate.fact.column_number - 1 :].startswith("sales s")
    assert line[candidate.join.column_number - 1 :].startswith("d.day = s.day") or line[
        candidate.join.column_number - 1 :
    ].startswith("s.day")


def test_windows_line_ends_are_the_file_s() -> None:
    sql = "\n" + QUERY.format("'w'").replace(" WHERE", "\n  WHERE") + "\n"
    text = f'spark.sql("""{sql}""")\n'.replace("\n", "\r\n")
    result = done(text)
    assert result.changed
    assert "\n" not in result.sql.replace("\r\n", "")
    assert literal(result.sql) == rewrite(sql, CATALOG).sql


def evaluated(text: str, **values: object) -> str:
    """What the one call of a text is given, where its variables have values."""
    (call,) = (
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "sql"
    )
    return str(eval(compile(ast.Expression(call.args[0]), "<test>", "eval"), dict(values)))


@pytest.mark.parametrize(
    "argument",
    [
        'f"{}"',
        'f"""\n{}\n"""',
        "rf'''{} '''",
        '"{}".format(dt=dt)',
        '"{}".format(**names)',
    ],
)
def test_a_hole_is_repeated_as_it_stands(argument: str) -> None:
    sql = QUERY.format("'{dt}' AND d.name <> '{{x}}'")
    text = f"spark.sql({argument.replace('{}', sql)})\n"
    result = done(text)
    assert result.sql.count("{dt}") == 2
    names = {"dt": "winter", "names": {"dt": "winter"}}
    assert evaluated(result.sql, **names) == rewrite(evaluated(text, **names), CATALOG).sql


def test_percent_holes_are_repeated_by_name() -> None:
    sql = QUERY.format("'%(dt)s' AND d.name LIKE 'a%%'")
    text = f"spark.sql('''{sql} ''' % {{'dt': dt}})\n"
    result = done(text)
    assert result.sql.count("%(dt)s") == 2
    assert result.sql.count("'a%%'") == 2
    assert evaluated(result.sql, dt="w") == rewrite(evaluated(text, dt="w"), CATALOG).sql


def test_a_value_under_a_constant_key_is_a_hole() -> None:
    sql = QUERY.format("'{conf['season']}' AND d.name = '{conf['season_']}'")
    text = f'spark.sql(f"{sql}")\n'
    result = done(text)
    assert result.sql.count("{conf['season']}") == result.sql.count("{conf['season_']}") == 2
    names = {"conf": {"season": "winter", "season_": "x"}}
    assert evaluated(result.sql, **names) == rewrite(evaluated(text, **names), CATALOG).sql


def test_holes_with_another_form_are_another_value() -> None:
    sql = QUERY.format("'{dt}' AND d.name = '{dt!r}'")
    result = done(f'spark.sql(f"{sql}")\n')
    assert result.sql.count("{dt}") == result.sql.count("{dt!r}") == 2


@pytest.mark.parametrize(
    ("argument", "why"),
    [
        ('"SELECT 1 " + t()', "`t()` is not a variable"),
        ('t + "SELECT 1"', "no string literal"),
        ('("SELECT 1 " + t).format(u)', "filled into it twice"),
        ("q", "`q` is not a variable that is assigned one text"),
        ('f"SELECT {f()}"', "`{f()}` is not a variable"),
        ('f"SELECT {x=}"', "`{x=}` is not a variable"),
        ('f"SELECT {x[y]}"', "`{x[y]}` is not a variable"),
        ('f"SELECT \\x7bx}} "', "stands for a brace"),
        ('"SELECT {[0]}".format(x)', "`{[0]}` is not a variable"),
        ('"SELECT %*d" % x', "`%` is not a variable"),
        ('f"SELECT ${{a}} {b}"', "it has both Spark's variables"),
    ],
)
def test_what_is_left_alone_says_why(argument: str, why: str) -> None:
    text = f"a = 1\nspark.sql({argument})\n"
    result = done(text)
    assert result.sql == text
    (problem,) = result.skipped
    assert why in problem.message
    assert (problem.line, problem.column) == (2, 1)


NAMED = f"""\
def f(spark, dt):
    query = '''{QUERY.format("'w'")} '''
    rows = spark.sql(query)
"""


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (NAMED, 1),
        (NAMED.replace("query = '", "query: str = f'").replace("= 'w'", "= '{dt}'"), 1),
        (NAMED.replace("= 'w'", "= '{dt}'").replace("(query)", "(query.format(dt=dt))"), 1),
        (NAMED.replace("= 'w'", "= '%(dt)s'").replace("(query)", "(query % vars())"), 1),
        (NAMED + "    print(query)\n    log.info(query)\n", 1),
        (NAMED + "    print(query, rows)\n", 0),
        (NAMED + "    query += ' LIMIT 1'\n", 0),
        (NAMED.replace("spark, dt", "query, spark"), 1),
        (NAMED + "\nfrom x import query\n", 1),
        (NAMED + "    query = g(query)\n", 0),
        (NAMED.replace("rows", "query") + "    g(query)\n", 1),
        (NAMED.replace("rows", "query, x"), 0),
        (NAMED.replace("rows =", "g = lambda: query\n    query ="), 0),
        (NAMED.replace("def", "def g():\n    global query\n    query = 'x'\n\ndef"), 0),
        (NAMED.replace("def f(spark, dt):", "for x in y:").replace("rows", "query"), 1),
        (NAMED.replace("(query)", "(query + ' LIMIT 1')"), 0),
        (NAMED.replace("def f(spark, dt):", "if x:"), 0),
        ("# Databricks notebook source\n" + NAMED.replace("def f(spark, dt):", "if x:"), 1),
    ],
)
def test_a_text_under_a_name_that_is_read_once(text: str, count: int) -> None:
    result = done(text)
    assert result.sql.count(MARKER) == count
    assert len(result.skipped) == 1 - count


# In pieces: a text, and the values of what it is filled with.
PIECES = [
    ("""spark.sql("{0}" "{1}")""", {}),
    ('''spark.sql("""{0}""" # x\n    "{1}" + (r" ")  )''', {}),
    ('''spark.sql(("{0}"\n+ f"""{1}"""))''', {}),
    ("""spark.sql("{2} AND d.name = '" + x + f"' ")""", {"x": "n"}),
    ("""spark.sql(f"{2} AND d.name = '{{x}}'" " AND d.season = '" + str(x) + f"' ")""", {"x": "q"}),
    ("""spark.sql("{2} AND s.item = %s " % 1)""", {}),
    ("""spark.sql("{2} AND s.item = {{}} ".format(1))""", {}),
]


@pytest.mark.parametrize(("text", "values"), PIECES)
def test_a_text_in_pieces(text: str, values: dict[str, object]) -> None:
    whole = QUERY.format("'w'")
    text = text.format(whole[:40], whole[40:], whole)
    result = done(text)
    assert MARKER in result.sql, result.skipped
    assert evaluated(result.sql, **values) == rewrite(evaluated(text, **values), CATALOG).sql


def test_a_text_in_more_pieces_than_python_has_calls() -> None:
    pieces = "".join(f' + " AND s.item <> {n}"' for n in range(1200))
    result = done(f"""spark.sql("{QUERY.format("'w'")}"{pieces})""")
    assert result.sql.count(MARKER) == 1


@pytest.mark.parametrize(
    ("text", "value"),
    [('"{}" % x', "'%s'"), ('"{}".format(x)', "'{}'"), ('"{}" + x', "d.name AND s.item = ")],
)
def test_what_has_no_name_cannot_be_written_again(text: str, value: str) -> None:
    result = done(f"spark.sql({text.replace('{}', QUERY.format(value), 1)})")
    assert not result.changed
    (problem,) = result.skipped
    assert "cannot be written here" in problem.message


def test_a_text_under_a_name_runs_where_it_is_called() -> None:
    text = NAMED.replace("    rows", "    df.createOrReplaceTempView('sales')\n    rows")
    assert not done(text).changed


def test_other_calls_are_no_business_of_ours() -> None:
    text = f'duckdb.sql("{QUERY.format(1)}")\nx = "{QUERY.format(1)}"\n'
    result = done(text)
    assert (result.sql, result.statements, result.skipped) == (text, 0, ())


def test_a_text_that_is_no_python_is_left_alone() -> None:
    text = 'print "x"\nspark.sql("SELECT 1")\n'
    (problem,) = done(text).skipped
    assert "not Python that can be read, line 1" in problem.message


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("# caf\udce9\n{}", "line 1: it is not UTF-8"),
        ("x = 1\n# caf\udce9\n{}", "line 2: it is not UTF-8"),
        ("x = " + "+".join(["1"] * 20_000) + "\n{}", "it is nested too deeply"),
    ],
)
def test_why_a_text_cannot_be_read_is_told_in_words(text: str, why: str) -> None:
    text = text.format(f'spark.sql("{QUERY.format(1)}")\n')
    result = done(text)
    (problem,) = result.skipped
    assert (result.sql, result.changed) == (text, False)
    assert why in problem.message


# --- what a program does to names ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        (CALL, True),
        ("df.createOrReplaceTempView('sales')\n" + CALL, False),
        ("df.createOrReplaceTempView('other')\n" + CALL, True),
        ("df.createOrReplaceTempView(name)\n" + CALL, False),
        (CALL + "df.createOrReplaceTempView('sales')\n", True),
        (f"def f():\n    {CALL}df.createOrReplaceTempView('sales')\n", False),
        ("spark.sql('USE other')\n" + CALL, False),
        ("spark.sql('USE retail')\n" + CALL, True),
        ("if x:\n    spark.sql('USE retail')\n" + CALL, False),
        (f"if x:\n    spark.sql('USE retail')\n    {CALL}", True),
        (f"if x:\n    spark.sql('USE retail')\nelse:\n    {CALL}", False),
        ("spark.catalog.setCurrentDatabase('retail')\n" + CALL, True),
        ("spark.catalog.setCurrentDatabase(db)\n" + CALL, False),
        ("spark.sql('DROP TABLE sales')\n" + CALL, False),
        ("spark.conf.set('spark.sql.caseSensitive', 'true')\n" + CALL, False),
        ("spark.conf.set('spark.sql.legacy.timeParserPolicy', 'EXCEPTION')\n" + CALL, False),
        ("spark.conf.set('spark.sql.legacy.timeParserPolicy', 'LEGACY')\n" + CALL, True),
        ("spark.conf.set('spark.sql.shuffle.partitions', '1')\n" + CALL, True),
        ("spark.conf.set('spark.sql.caseSensitive', flag)\n" + CALL, False),
        ("spark.conf.set(key='spark.sql.caseSensitive', value=True)\n" + CALL, False),
        ("spark.conf.set('spark.sql.shuffle.partitions', n)\n" + CALL, True),
        ("b.config('spark.sql.caseSensitive', 'true').getOrCreate()\n" + CALL, False),
    ],
)
def test_what_names_mean_is_followed(text: str, rewritten: bool) -> None:
    result = done(text, catalog=SCHEMA)
    assert (MARKER in result.sql) is rewritten
    verdicts = [candidate.verdict for candidate in result.candidates]
    assert verdicts == [Verdict.REWRITTEN] * rewritten


def test_what_a_raw_literal_cannot_hold_is_not_written() -> None:
    """Behind a comment the predicate needs a line of its own."""
    sql = QUERY.format('"w" -- note')
    result = done(f"spark.sql(r'{sql}')\n")
    assert not result.changed
    assert ["cannot hold it" in problem.message for problem in result.skipped] == [True]
    assert done(f"spark.sql('{sql}')\n").changed


@pytest.mark.parametrize("seed", range(2))
def test_broken_files_are_kept(seed: int) -> None:
    """Whatever is cut out of a file or put into it: what is inserted can be taken out again, and a
    second run changes nothing."""
    draw = random.Random(seed)
    files = {
        "a.py": f"{NAMED}\nspark.sql(f'{QUERY.format(1)} {{x}}')\n{CALL}",
        "b.py": "# Databricks notebook source\n# MAGIC %sql\n# MAGIC "
        + QUERY.format("'w'").replace(" WHERE", "\n# MAGIC WHERE")
        + f"\n\n# COMMAND ----------\n{CALL}",
        "c.ipynb": json.dumps(
            {
                "cells": [
                    {"cell_type": "code", "source": [f"%%sql\n{QUERY.format(1)} -- \u00e9\\\n"]},
                    {"cell_type": "code", "source": CALL},
                ],
                "metadata": {},
            },
            indent=1,
        ),
    }
    signs = ("'", '"', "\\", "\n", "{", "}", "%", "#", "\r", "$", '"""', "\ud800", "\x00", "é", "(")
    changed = 0
    for path, text in files.items():
        for _ in range(40):
            at = draw.randrange(len(text))
            end = min(len(text), at + draw.choice((0, 0, 1, 1, 9)))
            broken = text[:at] + draw.choice((*signs, "")) + text[end:]
            changed += done(broken, path).changed
    assert changed


def test_our_own_sources_are_read_without_harm() -> None:
    root = Path(__file__).resolve().parents[3]
    for folder in ("tests/spark", "sqlrewrite/spark"):
        for name in sorted(os.listdir(root / folder)):
            if name.endswith(".py"):
                text = (root / folder / name).read_text("utf-8")
                assert done(text, name).errors == ()


def test_spark_is_given_the_texts_of_a_file_in_their_lines() -> None:
    query = QUERY.format("'{x}'")
    text = f'a = 1\nspark.sql("USE retail;")\n\nspark.sql(\n    f"""\n{query}\n""")\n'
    host = host_of("job.py", text)
    assert host is not None
    texts = embedded.as_sql(host, SCHEMA, make_options())
    lines = texts.original.split("\n")
    assert [n for n, line in enumerate(lines, 1) if line.startswith(("USE", "SELECT"))] == [2, 6]
    assert [statement_text.line for statement_text in statement_texts(texts.original)] == [2, 6]
    assert " s.day IN (SELECT" in statement_texts(texts.sql)[1].text
    (candidate,) = texts.candidates
    assert (candidate.statement, candidate.fact.line) == (1, 6)
