"""The commands over files of Python and notebooks: as of any other file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sqlrewrite.cli.commands import program
from tests.text.hosts.test_notebooks import CALL, SQL, cell, jupyter, notebook
from tests.text.hosts.test_python import MARKER

DDL = """\
CREATE TABLE sales (item INT, amt DOUBLE, day INT) PARTITIONED BY (day);
CREATE TABLE dates (day INT, season STRING, name STRING);
"""
FILES = {
    "job.py": f"def f():\n    {CALL}\n    spark.sql(text)\n",
    "cells.py": notebook(cell(SQL), "x = 1\n"),
    "n.ipynb": jupyter(f"%%sql\n{SQL}\n"),
    "q.sql": f"{SQL};\n",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPP_REWRITE_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "ddl").mkdir()
    (tmp_path / "ddl" / "t.sql").write_text(DDL)
    (tmp_path / "src").mkdir()
    for name, text in FILES.items():
        (tmp_path / "src" / name).write_bytes(text.encode())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str, **more: str) -> Result:
    command, *rest = arguments
    return CliRunner().invoke(program, [command, "-c", "ddl", *rest], **more)  # type: ignore[arg-type]


def test_a_folder_is_searched_for_python_where_that_is_asked_for(folder: Path) -> None:
    assert run("rewrite", "--check", "src").stderr.count("would rewrite ") == 1
    assert "4 would be rewritten" in run("rewrite", "--check", "--include-python", "src").stderr
    (folder / "pyproject.toml").write_text("[tool.dpp-rewrite]\ninclude-python = true\n")
    assert "4 would be rewritten" in run("rewrite", "--check", "src").stderr


def test_files_are_written_and_stripped_and_say_what_changes(folder: Path) -> None:
    paths = [f"src/{name}" for name in FILES]
    diff = run("rewrite", "--diff", *paths).stdout
    assert diff.count(f"{MARKER}") == 4
    assert run("rewrite", "-w", *paths).exit_code == 0
    texts = {name: (folder / "src" / name).read_text() for name in FILES}
    assert [text.count(MARKER) for text in texts.values()] == [1, 1, 1, 1]
    assert run("rewrite", "--check", *paths).exit_code == 0
    assert run("rewrite", "-w", "--strip", *paths).exit_code == 0
    assert {name: (folder / "src" / name).read_text() for name in FILES} == FILES


def test_lint_names_the_places_of_the_file(folder: Path) -> None:
    report = json.loads(run("lint", "--format", "json", "src/job.py", "src/n.ipynb").stdout)
    places = [
        (Path(finding["path"]).name, finding["code"], finding["line"], finding["column"])
        for finding in report["findings"]
    ]
    lines = FILES["n.ipynb"].splitlines()
    line = next(n for n, line_text in enumerate(lines, 1) if "FROM sales s" in line_text)
    assert places == [
        ("job.py", "DPP001", 2, FILES["job.py"].split("\n")[1].index("sales") + 1),
        ("job.py", "DPP000", 3, 5),
        ("n.ipynb", "DPP001", line, lines[line - 1].index("sales") + 1),
    ]


def test_a_fix_is_what_stands_in_the_file() -> None:
    (load,) = json.loads(run("lint", "--format", "json", "src/n.ipynb").stdout)["findings"]
    (edit,) = load["fix"]["edits"]
    assert edit["text"].startswith('\\n",\n    "    AND s.day IN (SELECT')


def test_the_report_has_the_statements_of_the_file() -> None:
    file = json.loads(run("rewrite", "--format", "json", "src/cells.py").stdout)["files"][0]
    assert [(statement["line"], statement["understood"]) for statement in file["statements"]] == [
        (3, True)
    ]
    assert file["candidates"][0]["fact"]["line"] == 4
    assert file["rewritten"].count("# MAGIC     AND s.day IN") == 1


@pytest.mark.parametrize(
    "text",
    [
        FILES["cells.py"].replace("sales s", "sales s -- dpp-rewrite: ignore\n# MAGIC"),
        FILES["cells.py"].replace("SELECT", "-- dpp-rewrite: off\n# MAGIC SELECT"),
        notebook(cell("-- dpp-rewrite: ignore-file"), cell(SQL), f"{CALL}\n"),
    ],
)
def test_comments_in_the_sql_are_heeded(folder: Path, text: str) -> None:
    (folder / "src" / "job.py").write_text(text)
    assert run("rewrite", "--check", "src/job.py").exit_code == 0
    findings = json.loads(run("lint", "--format", "json", "src/job.py").stdout)["findings"]
    shown = [finding["code"] for finding in findings if not finding["suppressed"]]
    assert "DPP001" not in shown
    assert "DPP008" not in shown


def test_a_name_tells_the_language_of_stdin_and_of_what_is_remembered(folder: Path) -> None:
    result = run("rewrite", "-", "--stdin-filename", "x.py", input=FILES["job.py"])
    assert result.stdout.count(MARKER) == 1
    for number in range(30):  # so many that a cache is asked; each text under two names
        text = f"# {number}\n{CALL}\n"
        (folder / "src" / f"a{number}.py").write_text(text)
        (folder / "src" / f"a{number}.sql").write_text(text)
    for _ in range(2):
        result = run("rewrite", "--check", "--include-python", "src")
        assert "34 would be rewritten" in result.stderr


def test_definitions_in_a_notebook_are_read(folder: Path) -> None:
    (folder / "ddl.py").write_text(notebook(cell(DDL)))
    (folder / "ddl" / "t.sql").unlink()
    (folder / "ddl" / "u.sql").write_text("CREATE TABLE u (a INT)")
    assert run("rewrite", "--check", "-c", "ddl.py", "src/q.sql").exit_code == 1
    broken = notebook(cell(f"{DDL}CREATE TABLE (;\n"))
    (folder / "ddl.py").write_text(broken)
    shown = CliRunner().invoke(program, ["catalog", "show", "-c", "ddl.py"])
    assert "partitioned by day" in shown.stdout or "sales" in shown.stdout
    alone = notebook(cell(DDL), cell(SQL))
    (folder / "src" / "job.py").write_text(alone)
    result = CliRunner().invoke(program, ["rewrite", "--check", "src/job.py"])
    assert result.exit_code == 1
