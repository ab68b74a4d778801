"""Notebooks of Databricks and Jupyter: their cells of SQL, with the file's own lines and bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sqlrewrite import rewrite
from sqlrewrite.text.hosts import host_of
from tests.text.hosts.test_python import CATALOG, MARKER, QUERY, SCHEMA, done, literal

SQL = QUERY.format("'w'").replace(" FROM", "\nFROM").replace(" WHERE", "\n  WHERE")
CALL = f'spark.sql("{QUERY.format(chr(39) + "w" + chr(39))}")'

# --- Databricks: Python ---------------------------------------------------------------------------


def magic(sql: str, sign: str = "#") -> str:
    return "".join(f"{sign} MAGIC {line}".rstrip() + "\n" for line in sql.split("\n"))


def notebook(*cells: str, sign: str = "#") -> str:
    return f"{sign} Databricks notebook source\n" + f"\n{sign} COMMAND ----------\n\n".join(cells)


def cell(sql: str, sign: str = "#") -> str:
    return magic(f"%sql\n{sql}", sign)


def demagic(text: str) -> list[str]:
    host = host_of("n.py", text)
    assert host is not None
    return [region.text for region in host.regions]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_magic_cell_is_rewritten_in_its_comments(line_end: str) -> None:
    text = notebook("x = 1\n", cell(f"-- a note\n{SQL};\n\nSELECT 1"), cell(SQL))
    text = text.replace("\n", line_end)
    result = done(text, "n.py")
    assert [candidate.fact.line for candidate in result.candidates] == [9, 18]
    new = [part for part in result.sql.split(line_end) if MARKER in part]
    assert len(new) == 2
    assert all(line.startswith("# MAGIC     AND s.day IN (SELECT") for line in new)
    assert demagic(result.sql)[1] == rewrite(demagic(text)[1], CATALOG).sql


def test_sql_on_the_line_of_the_magic_is_read() -> None:
    text = notebook(magic(f"%sql {SQL}"))
    assert done(text, "n.py").sql.count(MARKER) == 1


def test_cells_in_other_languages_are_passed_over() -> None:
    others = [magic(f"%{name}\n{SQL}") for name in ("md", "scala", "r", "sh", "python")]
    text = notebook(*others)
    assert done(text, "n.py").statements == 0


def test_cells_and_calls_are_one_program() -> None:
    setting_up = cell("CREATE OR REPLACE TEMP VIEW sales AS SELECT 1 AS day")
    text = notebook(f"{CALL}\n", setting_up, f"{CALL}\n", cell(SQL))
    result = done(text, "n.py")
    assert result.sql.count(MARKER) == 1
    assert result.sql.index(MARKER) < result.sql.index("CREATE")
    used = notebook("spark.sql('USE elsewhere')\n", cell(SQL), cell("USE retail"), cell(SQL))
    result = done(used, "n.py", SCHEMA)
    assert result.sql.count(MARKER) == 1
    assert result.sql.index(MARKER) > result.sql.index("USE retail")


@pytest.mark.parametrize("other", ["df = <your code>\n", "%pip install x\ny = 'z\n"])
def test_a_cell_of_python_that_cannot_be_read_costs_no_other(other: str) -> None:
    other_cell = f"{other}spark.sql('SELECT 1')\n"
    text = notebook(f"{CALL}\n", other_cell, f"%pip install x\n{CALL}\n", cell(SQL), sign="#")
    result = done(text, "n.py")
    assert result.sql.count(MARKER) == 3
    (problem,) = result.skipped
    assert "not Python that can be read" in problem.message


def test_a_cell_of_python_that_cannot_be_read_may_make_any_view() -> None:
    other = "df = <your code>\ndf.createOrReplaceTempView('sales')\n"
    result = done(notebook(cell(SQL), f"{CALL}\n", other, f"{CALL}\n", cell(SQL)), "n.py")
    assert result.sql.count(MARKER) == 2


# --- Databricks: SQL ------------------------------------------------------------------------------


def test_magic_cells_of_a_notebook_of_sql_are_read_with_the_others() -> None:
    text = notebook(
        f"{SQL}\n",
        cell(SQL, "--"),
        magic(f"%md\n{SQL}", "--"),
        cell("CREATE OR REPLACE TEMP VIEW sales AS SELECT 1 AS day", "--"),
        f"{SQL}\n",
        sign="--",
    )
    result = done(text, "n.sql")
    new = [line for line in result.sql.splitlines() if MARKER in line]
    assert [line.startswith("-- MAGIC     AND") for line in new] == [False, True]
    assert [candidate.fact.line for candidate in result.candidates][:2] == [3, 10]


@pytest.mark.parametrize("head", ["-- Databricks notebook source\n", ""])
@pytest.mark.parametrize(
    "other",
    [
        " %md\nIt isn't SQL\n",
        " %py\nx = {'a': b}\n",
        "-- DBTITLE 1,A title\n-- MAGIC %md it's none\n",
        f"{SQL} AND d.name = 'w\n",
        "/* never closed\n",
        f"{SQL} AND {{{{ x\n",
    ],
)
def test_a_cell_that_cannot_be_read_costs_no_other(head: str, other: str) -> None:
    text = notebook(f" %sql\n{SQL}\n", other, f"{SQL}\n", other, cell(SQL, "--"), sign="--")
    text = head + text.split("\n", 1)[1]
    result = done(text, "n.sql")
    assert result.sql.count(MARKER) == 3
    assert len(result.errors) + len(result.skipped) == (0 if "%" in other else 2)


def test_a_text_that_names_no_language_is_no_notebook() -> None:
    assert host_of("n.sql", f"{SQL}\n-- COMMAND ----------\n{SQL} % 2\n") is None


# --- Jupyter --------------------------------------------------------------------------------------


def jupyter(*sources: str, lines: bool = True, indent: int | None = 1, **metadata: Any) -> str:
    cells: list[dict[str, Any]] = [
        {
            "cell_type": "markdown" if source.startswith("#md") else "code",
            "metadata": {},
            "source": source.splitlines(keepends=True) if lines else source,
            "outputs": [{"text": [f"{SQL}\n"]}],
        }
        for source in sources
    ]
    whole = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=indent, ensure_ascii=True) + "\n"


def sources(text: str) -> list[str]:
    return ["".join(load["source"]) for load in json.loads(text)["cells"]]


@pytest.mark.parametrize("lines", [True, False])
@pytest.mark.parametrize("indent", [1, None])
def test_a_cell_of_a_jupyter_notebook(lines: bool, indent: int | None) -> None:
    cells: tuple[str, ...] = (
        f"%%sql\n{SQL} AND d.name = 'é\\t\"'\n",
        f"#md\n{SQL}",
        f'!pip install x\nif a:\n    %timeit b\ndf = spark.sql("""{SQL}""")\n',
        "print('é')",
        f"%%bash\n{SQL}",
    )
    text = jupyter(*cells, lines=lines, indent=indent)
    result = done(text, "n.ipynb")
    first, second = sources(result.sql)[0], sources(result.sql)[2]
    assert first == "%%sql\n" + rewrite(cells[0].removeprefix("%%sql\n"), CATALOG).sql != cells[0]
    code = second.split("\n", 3)[3]
    assert literal(code) == rewrite(SQL, CATALOG).sql
    for index in (1, 3, 4):
        assert sources(result.sql)[index] == cells[index]
    if indent:  # as the notebook's own programs would write it
        changed = json.loads(result.sql)
        changed["cells"][0]["source"] = first.splitlines(keepends=True) if lines else first
        assert result.sql == json.dumps(changed, indent=indent, ensure_ascii=True) + "\n"
        line = text.splitlines()[result.candidates[0].fact.line - 1]
        assert "sales s" in line


def test_a_cell_of_one_line_gets_another() -> None:
    text = jupyter(f"%%sql\n{QUERY.format(chr(39) + 'w' + chr(39))} -- note")
    assert len(sources(done(text, "n.ipynb").sql)[0].splitlines()) == 3


@pytest.mark.parametrize(
    ("source", "metadata", "count"),
    [
        (SQL, {"language_info": {"name": "sql"}}, 1),
        (SQL, {"application/vnd.databricks.v1+notebook": {"language": "sql"}}, 1),
        (f"%sql\n{SQL}", {}, 1),
        (f"%sql {SQL}", {"application/vnd.databricks.v1+notebook": {"language": "python"}}, 1),
        (f"%python\n{CALL}", {"application/vnd.databricks.v1+notebook": {"language": "sql"}}, 1),
        (f"%md\n{SQL}", {"application/vnd.databricks.v1+notebook": {"language": "sql"}}, 0),
        (f"%%sql -o df -n 10\n{SQL}", {}, 1),
        (f"a = 1\n%sql {QUERY.format(1).replace('= 1', '> `x`')}\n{CALL}", {}, 1),
        (SQL, {"language_info": {"name": "scala"}}, 0),
        (f"%%time\n{CALL}", {}, 1),
        (
            "!ls\n" + 'spark.sql("""' + SQL.replace("WHERE", "WHERE 2 <\n% d.day AND") + '""")',
            {},
            0,
        ),
    ],
)
def test_which_cells_are_sql(source: str, metadata: dict[str, Any], count: int) -> None:
    assert done(jupyter(source, **metadata), "n.ipynb").sql.count(MARKER) == count


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "not a notebook"),
        ("[]", "not a notebook"),
        ('{"cells": [{"cell_type": "code", "source": 1}]}', "not a notebook"),
        ('{"cells": 1}', "not a notebook"),
        ('{"cells": [], }', "not a notebook"),
        ("[" * 100_000, "it is nested too deeply"),
        ("null", "it has no list of cells"),
        ('{"worksheets": [], "nbformat": 3}', "as nbformat 4 has"),
        (jupyter("%%sql duckdb://\nSELECT 1"), "what %%sql means by `duckdb://`"),
    ],
)
def test_what_is_no_notebook_of_spark_is_left_alone(text: str, why: str) -> None:
    result = done(text, "n.ipynb")
    assert result.sql == text
    assert [why in problem.message for problem in result.skipped] == [True]


def test_lines_of_a_cell_may_end_as_on_windows() -> None:
    text = jupyter("%%sql\r\n" + SQL.replace("\n", "\r\n"))
    result = done(text, "n.ipynb")
    assert result.sql.count(MARKER) == 1
    (cell,) = json.loads(result.sql)["cells"]
    source = "".join(cell["source"])
    assert source.count("\n") == source.count("\r\n")


def test_escapes_of_json_are_kept() -> None:
    escapes = "\\u00e9\\ud83d\\ude00"
    text = jupyter(f"%%sql\n{SQL} AND d.name = 'w'").replace("'w'\"", f"'{escapes}\\/'\"")
    result = done(text, "n.ipynb")
    assert result.sql.count(f"{escapes}\\/") == 1
    assert result.sql.count(escapes) == 2
    assert result.sql.isascii()
